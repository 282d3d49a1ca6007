"""Invented production traffic: days of traces of two agents, in which version 1.5 of one begins to go wrong."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

FIRST = datetime(2026, 10, 5, tzinfo=UTC)

SUITE = {
    "name": "travel desk",
    "tools": {
        "search_flights": {
            "price": 0.002,
            "schema": {
                "type": "object",
                "required": ["origin", "destination", "date"],
                "properties": {"origin": {"type": "string", "pattern": "^[A-Z]{3}$"}},
            },
        },
        "book_flight": {
            "price": 0.01,
            "schema": {
                "type": "object",
                "required": ["flight_id"],
                "properties": {"flight_id": {"type": "string"}, "seat": {"type": "string"}},
                "additionalProperties": False,
            },
        },
        "refund": {"schema": {"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}},
    },
    "invariants": {"max_calls": 6, "after": [["book_flight", "search_flights"]]},
    "safety": {"packs": ["shell", "paths"]},
    "judge": {"questions": ["Is the answer polite?"], "price_per_1k_tokens": 0.003},
}


def trace(number: int, at: datetime, chance: random.Random, *, onset: datetime | None = None) -> dict:
    """One trace; from the onset on, bookings of version 1.5 bring a field that the schema does not know."""
    agent = "booker" if chance.random() < 0.7 else "refunds"
    version = "1.5" if onset is not None and at >= onset and chance.random() < 0.8 else "1.4"
    origin = "sfo" if chance.random() < 0.03 else "SFO"
    date = "2026-11-03" if chance.random() < 0.06 else "2026-11-02"
    search = {"name": "search_flights", "arguments": {"origin": origin, "destination": "JFK", "date": date}}
    if agent == "booker":
        book = {"flight_id": f"UA-{number % 90 + 10}"}
        if version == "1.5" and chance.random() < 0.6:
            book["meal"] = "vegan"
        calls = [search, {"name": "book_flight", "arguments": book}]
        expected = [
            {"name": "search_flights", "arguments": search["arguments"] | {"origin": "SFO", "date": "2026-11-02"}},
            {"name": "book_flight", "arguments": {"flight_id": book["flight_id"]}},
        ]
    else:
        calls = [{"name": "refund", "arguments": {"amount": 12.5 if chance.random() > 0.04 else "12.50"}}]
        expected = [{"name": "refund", "arguments": {"amount": 12.5}}]
    for call in calls:
        call |= {"status": "error" if chance.random() < 0.02 else "ok", "duration_ms": chance.randrange(50, 900)}
    return {
        "trace_id": f"t{number:06d}", "case_id": f"{agent}-{number % 40}", "agent": agent, "tags": {"version": version},
        "started_at": at.isoformat(), "tool_calls": calls, "expected": expected, "final_answer": "Done.",
        "usage": {"llm_calls": 2, "input_tokens": 900, "output_tokens": 120, "cost": 0.004},
    }  # fmt: skip


def traffic(days: int, a_day: int, *, onset_day: int | None = None, seed: int = 1) -> list[list[dict]]:
    """Traces day by day."""
    chance = random.Random(seed)
    onset = None if onset_day is None else FIRST + timedelta(days=onset_day)
    found, number = [], 0
    for day in range(days):
        rows = []
        for _ in range(a_day):
            at = FIRST + timedelta(days=day, seconds=chance.randrange(86_400))
            rows.append(trace(number, at, chance, onset=onset))
            number += 1
        found.append(sorted(rows, key=lambda row: row["started_at"]))
    return found


def write(path: Path, rows: list[dict]) -> Path:
    """A file of native JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path
