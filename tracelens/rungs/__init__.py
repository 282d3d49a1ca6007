"""The rungs, one module or folder each.

They may import what lies below (columns, tables, suite, kernels), never each other: they meet in the tables.
"""
