"""Reports: the numbers of runs computed once, and pages made of them.

Reads the store, never the engine. `subject` says what a report is about, `numbers` asks the store, `write_reports` writes
pages and files.
"""

from tracelens.report.numbers import BY, Numbers, numbers
from tracelens.report.subject import Subject, subject
from tracelens.report.write import json_bytes, put, write_reports

__all__ = ["BY", "Numbers", "Subject", "json_bytes", "numbers", "put", "subject", "write_reports"]
