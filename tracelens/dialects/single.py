"""One pair of lists of calls, in plain Python: the reference for everything that is computed for many."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

from tracelens.dialects.equality import OF_VALUE, by_value, of_arguments
from tracelens.dialects.reading import NOT_GIVEN, Reading
from tracelens.dialects.similar import similarity
from tracelens.dialects.view import Equality, Mode, Overrides, RefusedError
from tracelens.dialects.view import Sequence as Compared
from tracelens.library import load

BROKEN = object()
"""The arguments of a call that the library fails because they are no JSON; equal to nothing."""


class SingleCall:
    """A call as a library reads it.

    Attributes:
        name: The tool.
        alone: What it goes by where only names are compared.
        given: The arguments as they were passed; None where they were not.
        missing: Whether they were not passed at all.
        output: The result, where one was passed.
    """

    def __init__(self, entry: Any, reading: Reading) -> None:
        inner = entry.get("function") if isinstance(entry, Mapping) else None
        whole = entry
        entry = {"name": entry} if isinstance(entry, str) else inner if isinstance(inner, Mapping) else entry
        name = entry.get("name") if isinstance(entry, Mapping) else None
        if not isinstance(name, str):
            raise RefusedError("malformed call: it has no name")
        self.name = self.given_name = self.alone = name
        if reading.whole_entries and entry is inner:
            self.alone = whole.get("name", whole.get("action", str(whole)))
        self.given = entry.get("arguments")
        self.missing = "arguments" not in entry
        self.output = entry.get("output")
        self.unknown = entry.get("arguments_state") in {"not_captured", "truncated"}
        self._reading = reading
        if not isinstance(self.given, dict) and not self.missing and self._refuses():
            raise RefusedError(self._reading.complaint)

    @cached_property
    def arguments(self) -> Any:
        """The arguments as the library compares them."""
        if self.missing:
            return {"none": {}, "null": None, "apart": NOT_GIVEN, "fails": BROKEN}[self._reading.missing]
        if self.given is None:
            return {} if self._reading.null == "none" else None
        read, others = self._read(), self._reading.others
        nothing = not isinstance(read, dict) and (others == "none" or (others == "empties" and not read))
        return {} if nothing else read

    def _refuses(self) -> bool:
        """Whether the library does not take such arguments, which are no object, at all."""
        if self.given is None:
            return self._reading.null == "refuses"
        if self._reading.text == "refuses" or self._reading.others != "refuses":
            return self._reading.text == "refuses"
        try:
            return not isinstance(json.loads(self.given) if isinstance(self.given, str) else self.given, dict)
        except ValueError:
            return False

    def _read(self) -> Any:
        """What was passed, text read as JSON where the library does that."""
        if self._reading.text != "parses" or not isinstance(self.given, str):
            return self.given
        try:
            return json.loads(self.given)
        except ValueError as error:
            if self._reading.broken == "refuses":
                raise RefusedError(self._reading.broken_complaint or f"JSONDecodeError: {error}") from None
            return self.given if self._reading.broken == "keeps" else BROKEN

    def named_within(self) -> SingleCall:
        """The same call with the name that its arguments give it, where they do."""
        name = self.arguments
        for key in self._reading.named_by:
            name = name.get(key) if isinstance(name, dict) else None
        call = copy(self)
        call.name = call.alone = name if isinstance(name, str) else self.name
        return call

    def trimmed(self) -> SingleCall:
        """The same call with its name trimmed."""
        call = copy(self)
        call.name = call.alone = self.name.strip()
        return call


class SingleView:
    """Two lists of calls; see `tracelens.dialects.view.View` for what the members mean."""

    def __init__(self, actual: Sequence[Any], expected: Sequence[Any], reading: Reading) -> None:
        self.messages = _messages(actual, reading), _messages(expected, reading)
        self.a = _calls(actual, self.messages[0], reading)
        self.e = _calls(expected, self.messages[1], reading)
        if reading.named_by:
            self.a = [call.named_within() for call in self.a]
        self.entries = list(actual)
        self.all = self.a
        self.n, self.m = len(self.a), len(self.e)

    def without_failed(self) -> SingleView:
        """The same without actual calls that ended in an error."""
        view = self._copy()
        failed = [isinstance(each, Mapping) and each.get("status") == "error" for each in self.entries]
        view.a = [call for call, bad in zip(self.a, failed, strict=True) if not bad]
        view.n = len(view.a)
        return view

    @cached_property
    def names(self) -> Compared:
        """The names compared."""
        return compared([call.alone for call in self.a], [call.alone for call in self.e])

    def _look(self) -> None:
        """Look at arguments: none of the actual ones may be unknown."""
        if any(call.unknown for call in self.a):
            raise RefusedError("arguments_not_captured")

    def calls(self, equality: Equality, *, last_given: bool = False) -> Compared:
        """The calls compared."""
        self._look()
        last = {call.given_name: call for call in self.e}
        made = [(call.name, of_arguments(equality, call.arguments)) for call in self.a]
        asked = [call.arguments for call in self.e] if not last_given else [_last(last, call.name) for call in self.e]
        wanted = [(call.name, of_arguments(equality, each)) for call, each in zip(self.e, asked, strict=True)]
        return compared(made, wanted)

    def best_unused(self, equality: Equality) -> tuple[int, int]:
        """Exact and name-only pairs."""
        self._look()
        made = [(call.name, of_arguments(equality, call.arguments)) for call in self.a]
        left = [(call.name, of_arguments(equality, call.arguments)) for call in self.e]
        exact = named = 0
        for call in made:
            partners = [j for j, other in enumerate(left) if other == call]
            if partners:
                exact += 1
            else:
                partners = [j for j, other in enumerate(left) if other[0] == call[0]]
                named += bool(partners)
            if partners:
                del left[partners[0]]
        return exact, named

    def agreeing(self, equality: Equality, mode: Mode, overrides: Overrides = None) -> int:
        """Positions that agree, up to the first that does not."""
        self._look()
        for count, (made, wanted) in enumerate(zip(self.a, self.e, strict=False)):
            if made.name != wanted.name or not fits(equality, mode, overrides, made.name)(
                made.arguments, wanted.arguments
            ):
                return count
        return min(self.n, self.m)

    def fitted(
        self,
        equality: Equality,
        mode: Mode,
        overrides: Overrides = None,
        *,
        of: str = "expected",
        swapped: bool = False,
    ) -> int:
        """Calls of one side that find a partner, until one does not."""
        self._look()
        seekers, others = (self.e, list(self.a)) if of == "expected" else (self.a, list(self.e))
        for count, seeker in enumerate(seekers):
            fit = fits(equality, mode, overrides, seeker.name)
            for at, other in enumerate(others):
                made, wanted = (other, seeker) if of == "expected" else (seeker, other)
                if swapped:
                    made, wanted = wanted, made
                if other.name == seeker.name and fit(made.arguments, wanted.arguments):
                    del others[at]
                    break
            else:
                return count
        return len(seekers)

    def found(self, equality: Equality, keys: Any = None) -> list[bool]:
        """Whether each expected call was made."""
        self._look()
        mode = fits(equality, "subset", None, "") if keys is None else _on_members(equality, keys)
        return [any(a.name == e.name and mode(a.arguments, e.arguments) for a in self.a) for e in self.e]

    def reached(self, found: list[bool]) -> int:
        """How many were found."""
        return sum(found)

    def matched_arguments(self, equality: Equality) -> float:
        """Shares of equal expected arguments, added up over positions."""
        self._look()
        key, total = OF_VALUE[equality], 0.0
        for a, e in zip(self.a, self.e, strict=False):
            made, wanted = a.arguments, e.arguments
            if a.name != e.name or not (wanted or not made):
                continue
            equal = sum(name in made and key(made[name]) == key(value) for name, value in wanted.items())
            total += equal / len(wanted) if wanted else 1.0
        return total

    def unlike_calls(self, equality: Equality) -> int:
        """Overlap of names without repeated calls."""
        self._look()
        made = {(call.name, of_arguments(equality, call.arguments), by_value(call.output)) for call in self.a}
        return sum((Counter(name for name, *_ in made) & Counter(call.name for call in self.e)).values())

    def similarity(self, *, ordered: bool, inputs: bool, outputs: bool) -> float:
        """Similarities of pairs added up."""
        return similarity(self.a, self.e, ordered=ordered, inputs=inputs, outputs=outputs)

    @property
    def same_outputs(self) -> bool:
        """Whether results are equal by position."""
        return all(by_value(a.output) == by_value(e.output) for a, e in zip(self.a, self.e, strict=False))

    def with_trimmed_names(self) -> SingleView:
        """The same with names that are trimmed."""
        view = self._copy()
        view.a, view.e = [call.trimmed() for call in self.a], [call.trimmed() for call in self.e]
        return view

    def in_text_order(self) -> SingleView:
        """Both lists sorted."""
        view = self._copy()
        view.a, view.e = sorted(self.a, key=_text_order), sorted(self.e, key=_text_order)
        return view

    def _copy(self) -> SingleView:
        view = object.__new__(SingleView)
        view.__dict__.update({name: value for name, value in self.__dict__.items() if name != "names"})
        return view

    def first_expected(self, equality: Equality, mode: Mode, occurrence: str | int) -> bool:
        """Whether a call of the first expected tool has its arguments."""
        self._look()
        wanted = {} if self.e[0].missing else self.e[0].given
        made = [call.arguments for call in self.a if call.name == self.e[0].name]
        at = {"first": 0, "last": len(made) - 1}.get(str(occurrence), occurrence)
        if not isinstance(at, int) or not 0 <= at < len(made) or not isinstance(made[at], dict):
            return False
        if not isinstance(wanted, dict):
            raise RefusedError(_no_items(wanted))
        key = OF_VALUE[equality]
        equal = all(name in made[at] and key(made[at][name]) == key(value) for name, value in wanted.items())
        return equal and (mode == "subset" or made[at].keys() <= wanted.keys())

    def called(self, tool: str) -> bool:
        """Whether a tool was called."""
        return any(call.name == tool for call in self.a)

    def positions(self, equality: Equality) -> list[Any]:
        """Verdicts by position."""
        self._look()
        verdicts: list[Any] = [
            a.name == e.name and of_arguments(equality, a.arguments) == of_arguments(equality, e.arguments)
            for a, e in zip(self.a, self.e, strict=False)
        ]
        return verdicts + ["extra"] * (self.n - self.m) + ["missing"] * (self.m - self.n)

    def read_met(self) -> None:
        """Read the arguments of calls that meet a call of their name.

        Raises:
            RefusedError: Some are no object.
        """
        for a, e in zip(self.a, self.e, strict=False):
            for arguments in (a.arguments, e.arguments) if a.name == e.name else ():
                if not isinstance(arguments, dict):
                    raise RefusedError(_no_items(arguments))

    def schema_errors(self, schemas: Mapping[str, Any] | None) -> int:
        """Errors of the schemas."""
        if schemas is None:
            raise RefusedError("no schemas")
        validator_for = load().validators.validator_for
        total = 0
        for call in self.a:
            schema = schemas.get(call.name)
            kind = validator_for(schema) if schema is not None else None
            checker = None if kind is None else kind(schema, format_checker=kind.FORMAT_CHECKER)
            total += 1 if checker is None else sum(1 for _ in checker.iter_errors(call.arguments))
        return total

    @property
    def all_given(self) -> bool:
        """Whether every expected call has arguments."""
        return all(call.given is not None for call in self.e)

    @property
    def last_odd(self) -> str | None:
        """The first expected tool whose last call has arguments that are no object."""
        last = {call.given_name: call for call in self.e}
        odd = (name for name, call in last.items() if not (call.missing or isinstance(call.given, dict)))
        return next(odd, None)

    @property
    def odd(self) -> tuple[list[SingleCall], list[SingleCall]]:
        """Calls whose arguments are no object."""
        actual = [call for call in self.a if not isinstance(call.arguments, dict)]
        return actual, [call for call in self.e if not (call.given is None or isinstance(call.given, dict))]

    def read_all(self, *, expected: bool = True) -> None:
        """Read the arguments of all calls, compared or not.

        Raises:
            RefusedError: The library cannot read some.
        """
        for call in (*self.a, *(self.e if expected else ())):
            _ = call.arguments

    def refuse(self, when: bool, reason: str) -> None:
        """Refuse."""
        if when:
            raise RefusedError(reason)


def compared(a: Sequence[Hashable], e: Sequence[Hashable]) -> Compared:
    """Two lists of things that are equal by `==`.

    Example:
        >>> compared("aab", "ab").overlap, compared("aab", "ab").lcs, compared("xab", "ab").prefix
        (2, 2, 0)
    """
    prefix = next((i for i, pair in enumerate(zip(a, e, strict=False)) if pair[0] != pair[1]), min(len(a), len(e)))
    followed = 0
    for thing in a:
        followed += followed < len(e) and thing == e[followed]
    in_a, in_e = Counter(a), Counter(e)
    return Compared(
        n=len(a),
        m=len(e),
        prefix=prefix,
        same=sum(x == y for x, y in zip(a, e, strict=False)),
        followed=followed,
        lcs=_common(a, e),
        distinct_a=len(in_a),
        distinct_e=len(in_e),
        both=len(in_a.keys() & in_e.keys()),
        overlap=sum((in_a & in_e).values()),
        known_a=sum(count for thing, count in in_a.items() if thing in in_e),
        known_e=sum(count for thing, count in in_e.items() if thing in in_a),
    )


def fits(equality: Equality, mode: Mode, overrides: Overrides, name: str) -> Callable[[Any, Any], bool]:
    """How the arguments of an actual and an expected call of a tool are held against each other."""
    chosen = (overrides or {}).get(name) or mode
    if callable(chosen):
        return lambda made, wanted: bool(chosen(made, wanted))
    if isinstance(chosen, list | tuple):
        return lambda made, wanted: all(by_value(_at(made, key)) == by_value(_at(wanted, key)) for key in chosen)
    if chosen == "ignore":
        return lambda made, wanted: True  # noqa: ARG005 - that is what it means
    if chosen == "exact":
        return lambda made, wanted: of_arguments(equality, made) == of_arguments(equality, wanted)
    if chosen == "subset":
        return lambda made, wanted: _within(equality, made, wanted)
    return lambda made, wanted: _within(equality, wanted, made)


def _within(equality: Equality, part: Any, whole: Any) -> bool:
    """Whether every argument of the part is in the whole."""
    key = OF_VALUE[equality]
    if not isinstance(part, dict):
        raise RefusedError(_no_items(part))
    for name, value in part.items():
        if not isinstance(whole, dict):
            raise RefusedError(f"TypeError: '{type(whole).__name__}' has no arguments")
        if name not in whole or key(whole[name]) != key(value):
            return False
    return True


def _on_members(equality: Equality, keys: Sequence[str]) -> Callable[[Any, Any], bool]:
    """Equality of those arguments that are listed."""

    def some(arguments: dict[str, Any]) -> Hashable:
        return of_arguments(equality, {name: value for name, value in arguments.items() if name in keys})

    return lambda made, wanted: some(made) == some(wanted)


def _at(arguments: Any, path: str) -> Any:
    """The value at a path of keys, None where there is none."""
    for key in path.split("."):
        arguments = arguments.get(key) if isinstance(arguments, dict) else None
    return arguments


def _last(last: Mapping[str, SingleCall], name: str) -> Any:
    """The arguments of the last call of a name, none where there is none."""
    return last[name].arguments if name in last else {}


def _text_order(call: SingleCall) -> tuple[str, ...]:
    """The name, then names and texts of the arguments."""
    pairs = sorted((name, str(value)) for name, value in call.arguments.items())
    return (call.name, *(text for pair in pairs for text in pair))


def _no_items(arguments: Any) -> str:
    """What Python says where it asks something that is no object for its members."""
    return f"AttributeError: '{type(arguments).__name__}' object has no attribute 'items'"


def _common(a: Sequence[Hashable], e: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(e) + 1)
    for thing in a:
        before = 0
        for j, other in enumerate(e, 1):
            before, row[j] = row[j], before + 1 if thing == other else max(row[j], row[j - 1])
    return row[-1]


def _messages(entries: Sequence[Any], reading: Reading) -> list[tuple[str, list[SingleCall] | None]] | None:
    """Chat messages with the calls in them; None where the entries are calls."""
    if not entries or not all(isinstance(entry, Mapping) and "role" in entry for entry in entries):
        return None
    return [
        (entry["role"], [SingleCall(call, reading) for call in entry["tool_calls"]] if "tool_calls" in entry else None)
        for entry in entries
    ]


def _calls(entries: Sequence[Any], messages: Any, reading: Reading) -> list[SingleCall]:
    """The calls of a list of calls or messages."""
    if messages is not None:
        return [call for _, calls in messages for call in calls or ()]
    return [SingleCall(entry, reading) for entry in entries]
