"""TraceLens scores traces of tool-using agents.

The public verbs live here; everything else is reached through them. Importing this package stays cheap: what is heavy
(charts, terminal output, databases) is imported when it is used.
"""

__version__ = "0.1.0"
