"""The *flights* workload: the worked example with varied values.

Expected: one search and one booking. Actual: the search once or twice, on the right day or the next, then the booking, now
and then with a seat that the tool does not know.
"""

from random import Random
from typing import Any

from benchmarks.texts import airport, date

Call = tuple[str, str]

_AIRPORT = {"type": "string", "pattern": "^[A-Z]{3}$"}

TOOLS: dict[str, dict[str, Any]] = {
    "search_flights": {
        "type": "object",
        "properties": {"origin": _AIRPORT, "destination": _AIRPORT, "date": {"type": "string", "format": "date"}},
        "required": ["origin", "destination", "date"],
        "additionalProperties": False,
    },
    "book_flight": {
        "type": "object",
        "properties": {"flight_id": {"type": "string"}},
        "required": ["flight_id"],
        "additionalProperties": False,
    },
}


def trace(rng: Random) -> tuple[list[Call], list[Call]]:
    """One trace: the actual calls and the expected ones.

    Example:
        >>> actual, expected = trace(Random(1))
        >>> [name for name, _ in expected]
        ['search_flights', 'book_flight']
    """
    route = f'"origin":"{airport(rng)}","destination":"{airport(rng)}"'
    search = ("search_flights", f'{{{route},"date":"{date(rng)}"}}')
    flight = f"UA-{rng.randrange(100, 1000)}"
    book = ("book_flight", f'{{"flight_id":"{flight}"}}')
    made = ("search_flights", f'{{{route},"date":"{date(rng)}"}}') if rng.random() < 0.3 else search
    booked = ("book_flight", f'{{"flight_id":"{flight}","seat":"{rng.randrange(1, 40)}A"}}')
    last = booked if rng.random() < 0.3 else book
    return [made] * (2 if rng.random() < 0.3 else 1) + [last], [search, book]
