"""Loops over arrays: NumPy and Numba only, arrays in, arrays out.

Nothing here knows about tables, suites or files. `reference` holds the same definitions in plain Python; every
kernel is tested against it.
"""
