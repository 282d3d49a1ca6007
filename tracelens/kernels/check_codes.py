"""Codes of the operations that a checked value goes through, and the arrays that hold compiled schemas."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Operations. What their numbers mean stands where they are compiled.
(
    END, FAIL, CANNOT, INTEGER, ENUM_NUMBER, COMPARE, MULTIPLE, ENUM_STRING, MIN_LENGTH, MAX_LENGTH, TEXT,
    MIN_SIZE, MAX_SIZE, UNIQUE, ENUM_DEEP, APPLY, ITEMS, NAMES, OBJECT, REQUIRED, DEPEND, DEPEND_APPLY,
    ANY_OF, ONE_OF, NOT, IF, CONTAINS,
) = range(27)  # fmt: skip
LAST_NUMBER, LAST_TEXT, LAST_SIZE = MULTIPLE, TEXT, ENUM_DEEP

# A schema that allows no further members or elements, where a node is expected.
CLOSED = -2


class Program(NamedTuple):
    """Compiled schemas.

    Attributes:
        heads: int64[n_nodes, 7], first operation of a node by kind of value.
        ops: int64[n_ops, 6], code and up to five numbers; a list ends with `END`.
        lists: int64, node lists and property lists.
        floats: float64, bounds and enum numbers.
        integers: int64, the same as integers, `check_number.NO_INTEGER` where they are none of at most 18 digits.
        tables: int64, hash tables of texts.
        hashes, begins, ends: per text (property name, enum string), hash and place in ``arena``.
        arena: uint8, padded.
        steps, marks: the automata's states.
    """

    heads: np.ndarray
    ops: np.ndarray
    lists: np.ndarray
    floats: np.ndarray
    integers: np.ndarray
    tables: np.ndarray
    hashes: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    arena: np.ndarray
    steps: np.ndarray
    marks: np.ndarray
