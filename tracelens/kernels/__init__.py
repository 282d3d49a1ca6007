"""NumPy and Numba only: arrays in, arrays out. May import ``tracelens.errors`` and nothing else of the package."""
