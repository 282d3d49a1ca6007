"""The command line as a module: `python -m tracelens`."""

import sys

from tracelens.cli import main

if __name__ == "__main__":
    sys.exit(main())
