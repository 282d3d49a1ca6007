"""Regular expressions that are searched in bounded time, whatever the pattern and the text.

A backtracking engine decides most patterns fastest, and some of them never: ``^(a+)+$`` takes twice as long for every
further ``a``. How many steps it may take is known from the pattern (`cost`); where that is too much for a text, an
automaton (`linear`) decides, in time that grows with the text alone. Which of the two it is depends on nothing but
pattern and text. Single characters and edges are asked of the engine whose dialect it is (`python`, and that of JSON
Schema), so both ways mean the same.
"""

from tracelens.kernels.reference.patterns.bounded import Pattern, PatternFault
from tracelens.kernels.reference.patterns.python import python_pattern

__all__ = ["Pattern", "PatternFault", "python_pattern"]
