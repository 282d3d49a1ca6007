"""The version of the program, in a place that everything may import."""

__version__ = "0.1.0"
