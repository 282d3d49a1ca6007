"""How kernels that run once per call or per pair are compiled.

Numba counts references to every array a function touches, with atomic instructions and once per branch; around a
comparison of two calls that costs six times the comparison. A function that allocates nothing and returns no array
needs none of it: its caller keeps the arrays alive.
"""

from __future__ import annotations

from numba import njit

lean = njit(nogil=True, cache=True, _nrt=False)
"""Decorator of functions that neither allocate nor return arrays."""
