"""The version of the program, which is part of every run's identity. Imports nothing, so that every floor may ask."""

__version__ = "0.1.0"
