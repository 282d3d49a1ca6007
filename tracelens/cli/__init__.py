"""The command line. A thin face: it reads arguments, calls the Python API and prints; imports are made when needed."""

from tracelens.cli.program import main

__all__ = ["main"]
