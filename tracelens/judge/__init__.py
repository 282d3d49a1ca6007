"""The judge's queue: what goes to a judge, and the answers that come back. Reads the store, never the engine.

May import the store, the suite, the safety patterns (for masks) and what lies below.
"""

from tracelens.judge.answers import Read, read_answers
from tracelens.judge.queue import FORMS, Form, Queued, write_queue

__all__ = ["FORMS", "Form", "Queued", "Read", "read_answers", "write_queue"]
