"""Reports: the numbers of runs computed once, and pages made of them.

Reads the store, never the engine. `subject` says what a report is about, `measure` asks the store, `write_reports` writes
pages and files.
"""

from tracelens.report.about import Subject, subject, zone_of
from tracelens.report.measure import BY, measure
from tracelens.report.numbers import Numbers
from tracelens.report.write import json_bytes, put, write_reports

__all__ = ["BY", "Numbers", "Subject", "json_bytes", "measure", "put", "subject", "write_reports", "zone_of"]
