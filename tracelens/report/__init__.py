"""Reports: the numbers of runs computed once, and pages made of them.

Reads the store, never the engine.
"""
