"""The *hostile* workload: deep nesting, escapes, huge strings, and a tool whose every call is invalid."""

from random import Random
from typing import Any

Call = tuple[str, str]

TOOLS: dict[str, dict[str, Any]] = {
    "nest": {"type": "object", "properties": {"tree": {"type": "object"}}, "required": ["tree"]},
    "write": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "text": {"type": "string", "maxLength": 10_000_000}},
        "required": ["path", "text"],
        "additionalProperties": False,
    },
    "never_right": {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "mode": {"enum": ["a", "b"]}},
        "required": ["id", "reason"],
        "additionalProperties": False,
    },
}

_ESCAPES = ('\\"', "\\\\", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\t", "é", "😀", "\\u0000", "\\/", " ", "a", "\\u2028")


def _nest(rng: Random) -> Call:
    depth = rng.randrange(1, 120)
    inner = f'{{"leaf":{rng.getrandbits(62)}}}'
    for level in range(depth):
        inner = f'{{"k{level % 3}":[{inner}]}}' if level % 2 else f'{{"k{level % 3}":{inner},"x":null}}'
    return "nest", f'{{"tree":{inner}}}'


def _write(rng: Random) -> Call:
    size = 200_000 if rng.random() < 0.01 else rng.randrange(1, 200)
    text = "".join(rng.choices(_ESCAPES, k=min(size, 300)))
    return "write", f'{{"path":"/tmp/{rng.getrandbits(32)}","text":"{text * max(1, size // 300)}"}}'


def _never_right(rng: Random) -> Call:
    return "never_right", f'{{"id":"{rng.getrandbits(40)}","mode":"{rng.choice("cdef")}","extra":[1e400,-0.0,1E5]}}'


_MAKERS = (_nest, _write, _never_right)


def trace(rng: Random) -> tuple[list[Call], list[Call]]:
    """One trace: the actual calls and the expected ones.

    Example:
        >>> actual, expected = trace(Random(1))
        >>> len(expected)
        3
    """
    expected = [rng.choice(_MAKERS)(rng) for _ in range(3)]
    actual = [call if rng.random() < 0.8 else rng.choice(_MAKERS)(rng) for call in expected]
    rng.shuffle(actual)
    return actual, expected
