"""Reading JSON as columns: a declaration of rows and wanted values, and what it finds in a block of records.

Used by the sources for input records and by `tracelens.flatten` for the arguments of dispatcher calls. May import
`tracelens.columns`, `tracelens.kernels` and `tracelens.errors`.
"""

from tracelens.projection.declare import Projection, Row
from tracelens.projection.rows import (
    ANYTHING,
    ARRAY,
    FALSE,
    FORMS,
    NONE,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    Found,
    Projected,
    reason,
    run,
)

__all__ = [
    "ANYTHING",
    "ARRAY",
    "FALSE",
    "FORMS",
    "NONE",
    "NULL",
    "NUMBER",
    "OBJECT",
    "STRING",
    "TRUE",
    "Found",
    "Projected",
    "Projection",
    "Row",
    "reason",
    "run",
]
