"""The formats TraceLens reads, one module each; a source turns bytes or tables into batches of whole traces.

May import `tracelens.columns`, `tracelens.tables`, `tracelens.kernels` and `tracelens.errors`; nothing else here does.
"""
