"""The *mixed* workload: six tools with nested objects, arrays, numbers and long text.

On average five expected calls a trace, of which 5 % are dropped, 15 % made wrongly and 5 % made twice. The arguments are
104 bytes on average, a line about 1.5 kB, and no two traces are alike.
"""

import re
from collections.abc import Callable
from random import Random
from typing import Any

from benchmarks.texts import airport, date, money, name, words

Call = tuple[str, str]
"""Tool name and arguments as JSON text."""


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


TOOLS: dict[str, dict[str, Any]] = {
    "search_flights": _object({"legs": {"type": "array"}, "date": {"format": "date"}}, ["legs", "date"]),
    "book_hotel": _object({"stay": {"type": "object"}, "guests": {"type": "array"}}, ["stay"]),
    "create_ticket": _object({"text": {"type": "string"}, "priority": {"enum": ["low", "normal", "high"]}}, ["text"]),
    "query_orders": _object({"filter": {"type": "object"}, "fields": {"type": "array"}}, ["filter"]),
    "transfer_funds": _object(
        {"to": {"pattern": "^DE[0-9]{10}$"}, "payment": {"properties": {"amount": {"minimum": 0}}}}, ["to", "payment"]
    ),
    "get_forecast": _object({"place": {"type": "object"}, "hours": {"type": "array"}}, ["place"]),
}
"""The schemas are small on purpose: they keep the plain-Python peer quick, so that the comparison is fair to it."""


def _flights(rng: Random) -> str:
    legs = ",".join(
        [f'{{"origin":"{airport(rng)}","destination":"{airport(rng)}"}}' for _ in range(int(rng.random() * 3) + 1)]
    )
    return f'{{"legs":[{legs}],"date":"{date(rng)}"}}'


def _hotel(rng: Random) -> str:
    guests = ",".join(
        [f'{{"name":"{name(rng)}","age":{int(rng.random() * 80)}}}' for _ in range(int(rng.random() * 2) + 1)]
    )
    city = ("Köln", "Lisbon", "Osaka", "Quito")[int(rng.random() * 4)]
    return f'{{"stay":{{"city":"{city}","check_in":"{date(rng)}"}},"guests":[{guests}]}}'


def _ticket(rng: Random) -> str:
    priority = ("low", "normal", "high")[int(rng.random() * 3)]
    text = words(rng, int(rng.random() * 14) + 8)
    return f'{{"text":"{text} {rng.getrandbits(24):x}","priority":"{priority}"}}'


def _orders(rng: Random) -> str:
    status = ("open", "paid", "sent")[int(rng.random() * 3)]
    return (
        f'{{"filter":{{"status":"{status}","min_total":{money(rng)},"since":"{date(rng)}"}},'
        f'"fields":["id","total","customer"]}}'
    )


def _transfer(rng: Random) -> str:
    memo = words(rng, int(rng.random() * 8) + 4)
    payment = f'{{"amount":{money(rng)},"memo":"{memo}"}}'
    return f'{{"to":"DE{int(rng.random() * 9e9) + 10**9}","payment":{payment}}}'


def _forecast(rng: Random) -> str:
    first = int(rng.random() * 20)
    lat, lon = rng.random() * 180 - 90, rng.random() * 360 - 180
    return (
        f'{{"place":{{"lat":{lat:.5f},"lon":{lon:.5f},"label":"{words(rng, 3)}"}},'
        f'"hours":[{first},{first + 1},{first + 2},{first + 3}]}}'
    )


_MAKERS: dict[str, Callable[[Random], str]] = {
    "search_flights": _flights,
    "book_hotel": _hotel,
    "create_ticket": _ticket,
    "query_orders": _orders,
    "transfer_funds": _transfer,
    "get_forecast": _forecast,
}
_NAMES = list(_MAKERS)
_FIRST_VALUE = re.compile(r':("[^"]*"|\{[^}]*\})')


def _call(rng: Random) -> Call:
    tool = _NAMES[int(rng.random() * 6)]
    return tool, _MAKERS[tool](rng)


def _wrong(rng: Random, call: Call) -> Call:
    """The same intent gone wrong: other values, a field too many, one renamed, one of another type, another tool."""
    tool, arguments = call
    kind = rng.random()
    if kind < 0.7:
        return tool, _MAKERS[tool](rng)
    if kind < 0.8:
        return tool, f'{arguments[:-1]},"urgent":true}}'
    if kind < 0.85:
        return tool, arguments.replace('"', '"_', 1)
    if kind < 0.9:
        return tool, _FIRST_VALUE.sub(":17", arguments, count=1)
    return _call(rng)


def trace(rng: Random) -> tuple[list[Call], list[Call]]:
    """One trace: the actual calls and the expected ones.

    Example:
        >>> actual, expected = trace(Random(7))
        >>> 3 <= len(expected) <= 7
        True
    """
    expected = [_call(rng) for _ in range(int(rng.random() * 5) + 3)]
    actual: list[Call] = []
    for call in expected:
        fate = rng.random()
        if fate < 0.05:
            continue
        actual.append(_wrong(rng, call) if fate < 0.20 else call)
        if fate >= 0.95:
            actual.append(call)
    return actual, expected
