"""What a formula may ask of two lists of calls, whether it is asked of one pair of lists or of all traces at once.

A formula is a function of a `View`. Over one pair of lists its numbers are Python numbers (`tracelens.dialects.single`),
over a batch they are arrays, an element a trace (`tracelens.run.dialects`); `share`, `where` and the operators of
NumPy serve both. So a formula uses ``&``, ``|`` and ``1 - x`` in place of ``and``, ``or`` and ``not``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Protocol

import numpy as np

Number = Any
"""A number, or an array of them with one element a trace."""

Truth = Any
"""A truth value, or an array of them."""

Mode = Literal["exact", "ignore", "subset", "superset"]
"""How the arguments of an actual call are held against those of an expected one: equal; not at all; every argument
made is expected; every expected argument is made."""


Overrides = Mapping[str, Any] | None
"""What holds for the arguments of some tools: a mode, a list of key paths that must be equal, or a function."""


class Equality(Enum):
    """When two arguments are equal."""

    PYTHON = "Python =="
    """`==` of the values that `json.loads` gives: 1, 1.0 and true are equal, a string equals no number."""
    JSON_TEXT = "JSON text"
    """Equal `json.dumps(value, sort_keys=True)`: 1, 1.0 and true are three values."""
    STR = "str()"
    """Equal `str(value)`, argument by argument: 1 equals "1"; the order of keys counts within nested objects."""
    PLAIN_TEXT = "str() or JSON text"
    """As `STR` for plain values, as `JSON_TEXT` for objects and arrays; a string is its own text."""
    FOLDED = "trimmed, without case"
    """`==`, where strings that are arguments themselves are compared by `value.strip().upper()`."""


class RefusedError(Exception):
    """A library refuses a pair of lists; the text is what it says."""


class ExoticError(Exception):
    """A question that is not answered for all traces at once; it is asked again trace by trace."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """Two lists of things compared, equal things being the same.

    Attributes:
        n: Length of the actual list.
        m: Length of the expected list.
        prefix: Length of the common prefix.
        same: Positions at which both lists have the same.
        followed: How many expected things are found one after the other in the actual list, each as early as possible.
        lcs: Length of the longest common subsequence.
        distinct_a: Different things in the actual list.
        distinct_e: Different things in the expected list.
        both: Different things in both.
        overlap: Size of the multiset intersection.
        known_a: Actual things that occur in the expected list, each as often as it occurs.
        known_e: Expected things that occur in the actual list, likewise.
    """

    n: Number
    m: Number
    prefix: Number
    same: Number
    followed: Number
    lcs: Number
    distinct_a: Number
    distinct_e: Number
    both: Number
    overlap: Number
    known_a: Number
    known_e: Number

    @property
    def longer(self) -> Number:
        """The longer length."""
        return np.maximum(self.n, self.m)

    @property
    def equal(self) -> Truth:
        """Whether both lists are the same, in order."""
        return (self.n == self.m) & (self.same == self.n)


class View(Protocol):
    """Two lists of calls, or many pairs of them."""

    @property
    def n(self) -> Number:
        """Actual calls."""

    @property
    def m(self) -> Number:
        """Expected calls."""

    @property
    def names(self) -> Sequence:
        """The tools' names compared."""

    def calls(self, equality: Equality, *, last_given: bool = False) -> Sequence:
        """The calls compared, by name and arguments.

        Args:
            equality: When arguments are equal.
            last_given: Whether every expected call has the arguments of the last one whose name, as it was given, is
                its name; none where there is no such call.
        """

    def best_unused(self, equality: Equality) -> tuple[Number, Number]:
        """Exact and name-only pairs where each actual call takes the best unused expected one, the first of equals."""

    def agreeing(self, equality: Equality, mode: Mode, overrides: Overrides = None) -> Number:
        """At how many positions both calls have one name and arguments that fit; counted as in `fitted`."""

    def fitted(
        self,
        equality: Equality,
        mode: Mode,
        overrides: Overrides = None,
        *,
        of: str = "expected",
        swapped: bool = False,
    ) -> Number:
        """How many calls of one side find an unused call of the other, each taking the first that fits.

        All of them where each finds one, and any smaller number where one does not.

        Args:
            equality: When arguments are equal.
            mode: How arguments are held against each other.
            overrides: Other modes by tool.
            of: ``expected`` or ``actual``: the side whose calls look for a partner, in order.
            swapped: Whether the sides change places in the mode.
        """

    def found(self, equality: Equality, keys: Any = None) -> Any:
        """For each expected call, whether some actual call of that name fits; calls may fit more than once.

        Args:
            equality: When arguments are equal.
            keys: None: every argument made is expected. Else names of arguments: those are equal on both sides.
        """

    def reached(self, found: Any) -> Number:
        """How many expected calls were found."""

    def matched_arguments(self, equality: Equality) -> Number:
        """Sum over positions with equal names of the share of expected arguments that are equal.

        Where neither call has arguments the share is 1, where only the expected one has none it is 0.
        """

    def unlike_calls(self, equality: Equality) -> Number:
        """Multiset overlap of names, where actual calls equal to an earlier one do not count."""

    def similarity(self, *, ordered: bool, inputs: bool, outputs: bool) -> Number:
        """Sum of the similarities of pairs of calls, greedily or in order; see `dialects.similar`.

        Args:
            ordered: Whether pairs must not cross.
            inputs: Whether arguments count.
            outputs: Whether results must be equal.
        """

    @property
    def same_outputs(self) -> Truth:
        """Whether the results at every position are equal."""

    def with_trimmed_names(self) -> View:
        """The same with names that are trimmed."""

    def in_text_order(self) -> View:
        """Both lists sorted by name, and then by names and texts of arguments."""

    def first_expected(self, equality: Equality, mode: Mode, occurrence: str | int) -> Truth:
        """Whether an actual call of the first expected tool has the arguments expected of it.

        Args:
            equality: When arguments are equal.
            mode: ``exact``, or ``subset``: every expected argument is made.
            occurrence: Which call of that tool: ``first``, ``last`` or its index.
        """

    def called(self, tool: str) -> Truth:
        """Whether the tool was called."""

    def positions(self, equality: Equality) -> Any:
        """By position: whether name and arguments are equal, ``extra`` or ``missing``."""

    def read_met(self) -> None:
        """Read the arguments of calls that stand at one position with a call of their name; each must be an object."""

    @property
    def all_given(self) -> Truth:
        """Whether every expected call has arguments."""

    @property
    def last_odd(self) -> str | None:
        """The first expected tool, by its name as it was given, whose last call has arguments that are no object.

        Over many traces None, and those traces that have such calls are left to the reference.
        """

    @property
    def odd(self) -> tuple[list[Any], list[Any]]:
        """Actual calls whose arguments are no object once they are read, and expected ones that were given none.

        Over many traces both are empty, and those traces that have some are left to the reference.
        """

    def schema_errors(self, schemas: Mapping[str, Any] | None) -> Number:
        """Errors that the tools' schemas find in the actual calls; a tool without one is an error itself."""

    def without_failed(self) -> View:
        """The same without actual calls that ended in an error."""

    def read_all(self, *, expected: bool = True) -> None:
        """Read the arguments of all calls, whether or not they are compared.

        Args:
            expected: Whether those of the expected calls are read, too.
        """

    def refuse(self, when: Truth, reason: str) -> None:
        """Say that the library refuses, and why.

        Raises:
            RefusedError: It refuses the one pair that is looked at.
        """


def where(condition: Truth, yes: Number, no: Number) -> Number:
    """``yes`` where the condition holds, else ``no``.

    Example:
        >>> where(True, 1.0, 0.0), where(np.array([True, False]), 1.0, np.array([0.5, 0.25])).tolist()
        (1.0, [1.0, 0.25])
    """
    if isinstance(condition, np.ndarray):
        return np.where(condition, yes, no)
    return yes if condition else no


def share(part: Number, whole: Number, *, of_nothing: float) -> Number:
    """``part / whole``, and ``of_nothing`` where the whole is 0.

    Example:
        >>> share(1, 2, of_nothing=0.0), share(np.array([0, 1]), np.array([0, 4]), of_nothing=1.0).tolist()
        (0.5, [1.0, 0.25])
    """
    if isinstance(part, np.ndarray) or isinstance(whole, np.ndarray):
        whole = np.asarray(whole, np.float64)
        part = np.broadcast_to(np.asarray(part, np.float64), whole.shape)
        return np.divide(part, whole, out=np.full(whole.shape, of_nothing), where=whole > 0)
    return part / whole if whole else of_nothing


def f1(precision: Number, recall: Number) -> Number:
    """The harmonic mean of both, 0 where both are 0.

    Example:
        >>> f1(0.5, 1.0), f1(0.0, 0.0)
        (0.6666666666666666, 0.0)
    """
    return share(2 * precision * recall, precision + recall, of_nothing=0.0)


def true(condition: Truth) -> Truth:
    """The condition as a plain truth value where it is a single one."""
    return condition if isinstance(condition, np.ndarray) else bool(condition)


def number(condition: Truth) -> Number:
    """1.0 where the condition holds, else 0.0."""
    return condition.astype(np.float64) if isinstance(condition, np.ndarray) else float(condition)
