r"""The pack ``secrets``: passwords, tokens and keys with a shape that leaves no doubt, and the masking of them.

A masked secret reads ``[secret:KIND:DIGEST]`` with the first 12 hexadecimal digits of its SHA-256, so that equal
secrets stay recognisable as equal. Masking leaves JSON valid, finds secrets behind JSON escapes (also JSON inside
JSON), masks nothing twice, and a masked secret is found again as the same hit.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

LEVELS = 3
"""How often JSON escapes are undone to look for secrets: text, JSON, JSON in JSON, and once more."""

MASKED = re.compile(r"\[secret:([a-z]+):([0-9a-f]{12})\]")
"""A masked secret."""

NAMES_OF_SECRETS = (
    r"(?:password|passwd|passphrase|pwd|api[_-]?key|(?:access|auth|refresh|session)[_-]?token|client[_-]?secret"
    r"|secret[_-]?(?:access[_-]?)?key|app[_-]?secret)"
)
"""Regular expression: a name whose value is a secret."""

_ASSIGNED = (
    rf"{NAMES_OF_SECRETS}(?P<q>[\"']?)\s*[:=]\s*\[?\s*"
    r"(?:\"(?P<a>(?:[^\"\\]|\\.)+)\"|'(?P<b>[^'\"\\]+)'|(?P<c>[^\s\"'\\,;&<>(){}\[\]]+))"
)
_BEGIN = r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"

# Case never counts: a canonical value is case-folded, and must not give a secret away for that.
_SHAPES: tuple[tuple[str, str], ...] = (
    ("pem", rf"{_BEGIN}(?:[^\"]{{0,8000}}?{_END}|(?:[A-Za-z0-9+/=\s]|\\[nrt])*)"),
    ("jwt", r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),
    ("aws", r"\b(?:AKIA|ASIA|ABIA)[A-Z0-9]{16}\b"),
    ("github", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"),
    ("gitlab", r"\bglpat-[\w-]{20,}"),
    ("slack", r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"),
    ("key", r"\bsk-(?=[\w-]{0,200}\d)[\w-]{20,}"),
    ("google", r"\bAIza[\w-]{35}|\bya29\.[\w-]{20,}"),
    ("stripe", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("npm", r"\bnpm_[A-Za-z0-9]{30,}"),
    ("huggingface", r"\bhf_[A-Za-z0-9]{30,}"),
    ("sendgrid", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    ("basic", r"\bbasic\s+(?P<v>[A-Za-z0-9+/]{12,}={0,2})(?![\w+/=])"),
    ("bearer", r"\bbearer\s+(?P<v>[\w.~+/-]{16,}=*|(?=[A-Za-z_.~+/-]*\d)[\w.~+/-]+=*)(?=[\"'\\\s,;]|\Z)"),
    ("url", r"\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@\"'\\]*:(?P<v>(?!\[secret:)[^\s/@\"'\\]{3,})@"),
    ("assigned", _ASSIGNED),
)
SHAPES = tuple((kind, re.compile(rf"(?<!\\){shape}", re.IGNORECASE | re.ASCII)) for kind, shape in _SHAPES)
"""What secrets look like, by kind."""

_RANK = {kind: rank for rank, (kind, _) in enumerate(_SHAPES)}
_PLACEHOLDER = re.compile(
    r"(?i)\*+|x+|\.+|<.*>|\$.*|\{\{.*|%.*%|null|none|true|false|(?:my|your|the)?[_-]?(?:string|required|optional|password|passwd|"
    r"token|secret|(?:api)?[_-]?key)|redacted|masked|hidden|\[.*",
    re.DOTALL,
)
_LINE_BREAKS = re.compile(r"\\+[nrt]|\s")

_NAMES = (
    *("password", "passwd", "passphrase", "pwd", "api[_-]?key", "client[_-]?secret", "app[_-]?secret"),
    *("secret[_-]?key", "secret[_-]?access[_-]?key"),
    *(f"{kind}[_-]?token" for kind in ("access", "auth", "refresh", "session")),
)

WINDOWS = (
    r"\[secret:", "-----begin ", r"\beyj[a-z0-9_-]{8}", r"\ba[ksb]ia[a-z0-9]{16}\b", r"\bgh[pousr]_[a-z0-9]{20}",
    r"\bgithub_pat_", r"\bglpat-", r"\bxox[abeoprs]-", r"\bxapp-", r"\bsk-[a-z0-9_-]{20}", r"\baiza[a-z0-9_-]{35}",
    r"\bya29\.", r"\b[sr]k_live_[a-z0-9]{16}", r"\b[sr]k_test_[a-z0-9]{16}", r"\bnpm_[a-z0-9]{30}", r"\bhf_[a-z0-9]{30}",
    r"\bsg\.[a-z0-9_-]{16}", r"\bbasic\s+[a-z0-9+/]{12}", r"\bbearer\s+[a-z0-9_.~+/-]",
    r"://[^\s/:@\"'\\]*:[^\s/@\"'\\]+@", *(rf"{name}[\"']?\s*[:=]" for name in _NAMES),
)  # fmt: skip
"""Windows one of which is in every text, or text with JSON escapes undone, that holds a secret."""

NAME_WINDOWS = _NAMES
"""Windows one of which is in every name whose value is a secret."""


class Secret(NamedTuple):
    """A secret in a text.

    Attributes:
        start: Where it starts, in characters.
        end: Where it ends.
        kind: What it is: ``aws``, ``jwt``, ``assigned`` (a value given to a name such as password) …
        digest: First 12 hexadecimal digits of the SHA-256 of its text.
        quote: What to write around the mask so that JSON stays JSON; empty inside a string.
    """

    start: int
    end: int
    kind: str
    digest: str
    quote: str


def digest(secret: str) -> str:
    """The digest that stands for a secret; line breaks inside it do not count.

    Example:
        >>> digest("hunter2")
        'f52fbd32b2b3'
    """
    return hashlib.sha256(_LINE_BREAKS.sub("", secret).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def find_secrets(text: str) -> list[Secret]:
    """All secrets of a text, masked ones too, in order and without overlap.

    Args:
        text: Any text, JSON text included.

    Example:
        >>> [(secret.kind, secret.start) for secret in find_secrets('{"_auth": "Bearer q1"}')]
        [('bearer', 18)]
    """
    found = [*_masked(text), *_in_view(text, text, None, 0)]
    view, places = text, list(range(len(text) + 1))
    for level in range(1, LEVELS + 1):
        if "\\" not in view:
            break
        view, places = _unescaped(view, places)
        found += _in_view(view, text, places, level)
    return _without_overlap(found)


def mask(text: str) -> str:
    """A text with every secret replaced by its mask.

    Args:
        text: Any text; JSON text stays JSON.

    Returns:
        The text, the same object where nothing was found.

    Example:
        >>> mask('{"user": "ann", "password": "hunter2"}')
        '{"user": "ann", "password": "[secret:assigned:f52fbd32b2b3]"}'
        >>> mask(mask("Bearer q1")) == mask("Bearer q1")
        True
    """
    for _ in range(LEVELS):  # a mask may bring out a secret that ran into the one beside it
        shown = _masked_once(text)
        if shown is text:
            break
        text = shown
    return text


def _masked_once(text: str) -> str:
    out: list[str] = []
    at = 0
    for secret in find_secrets(text):
        if MASKED.fullmatch(text, secret.start, secret.end):
            continue
        out += [text[at : secret.start], secret.quote, f"[secret:{secret.kind}:{secret.digest}]", secret.quote]
        at = secret.end
    return "".join([*out, text[at:]]) if out else text


def _masked(text: str) -> Iterator[Secret]:
    for match in MASKED.finditer(text):
        yield Secret(match.start(), match.end(), match[1], match[2], "")


def _in_view(view: str, text: str, places: list[int] | None, level: int) -> Iterator[Secret]:
    """Secrets of an unescaped view of the text, at their places in the text."""
    for kind, shape in SHAPES:
        for match in shape.finditer(view):
            group = match.lastgroup if kind == "assigned" else ("v" if "v" in match.re.groupindex else None)
            start, end = match.span(group or 0)
            if kind == "assigned" and not _is_value(match, group):
                continue
            # a bare JSON value takes quotes along, escaped as often as the text around it is
            bare = group == "c" and match["q"] == '"'
            quote = "\\" * (2**level - 1) + '"' if bare else ""
            value = view[start:end]
            if places is not None:
                start, end = places[start], places[end]
            if text[start:end]:
                yield Secret(start, end, kind, digest(value), quote)


def _is_value(match: re.Match[str], group: str | None) -> bool:
    """Whether what is assigned looks like a secret; an unquoted word needs a digit or a sign to do so."""
    value = match[group] if group else ""
    if _PLACEHOLDER.fullmatch(value) or len(value) < 4 or re.search(r"\s", value):
        return False
    if MASKED.search(value):
        return False
    return group != "c" or not value.isalpha()


def _unescaped(view: str, places: list[int]) -> tuple[str, list[int]]:
    """A view with its JSON escapes undone, and where each of its characters (and the end) stands in the text."""
    chars: list[str] = []
    spots: list[int] = []
    i = 0
    while i < len(view):
        spots.append(places[i])
        step = 1
        char = view[i]
        if char == "\\" and i + 1 < len(view):
            step, char = 2, view[i + 1]
            if char == "u" and re.fullmatch("[0-9a-fA-F]{4}", view[i + 2 : i + 6]):
                step, char = 6, chr(int(view[i + 2 : i + 6], 16))
            else:
                char = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}.get(char, char)
        chars.append(char)
        i += step
    return "".join(chars), [*spots, places[len(view)]]


def _without_overlap(found: list[Secret]) -> list[Secret]:
    """Overlapping secrets as one, named after the first and longest."""
    out: list[Secret] = []
    for secret in sorted(found, key=lambda each: (each.start, -each.end, _RANK.get(each.kind, -1), each.digest)):
        if out and secret.start < out[-1].end:
            last = out[-1]
            out[-1] = last._replace(end=max(last.end, secret.end), quote=last.quote or secret.quote)
        else:
            out.append(secret)
    return out
