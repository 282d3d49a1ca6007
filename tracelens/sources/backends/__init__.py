"""Exports of tracing backends: a record is a span, a run or an observation."""
