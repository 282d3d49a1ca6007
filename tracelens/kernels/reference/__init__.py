"""The readable specification: every definition once more in plain Python, and the oracle of every fast path.

Nothing here is fast and nothing here is clever. A module of this package may import the standard library, its
siblings and ``tracelens.errors``, no array or table library; the kernels are tested against it.
"""
