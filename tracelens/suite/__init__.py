"""The suite: what traces are scored against.

`Suite` is light to import; what parses and validates (pydantic, pyarrow) is imported when a suite is read. This package
may import kernels and errors only.
"""

from tracelens.suite.core import Suite
from tracelens.suite.problems import Problem, SuiteProblemsError
from tracelens.suite.references import References
from tracelens.suite.tools import Agent, Tool, tool_definitions

__all__ = ["Agent", "Problem", "References", "Suite", "SuiteProblemsError", "Tool", "tool_definitions"]
