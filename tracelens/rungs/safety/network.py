"""The pack ``network``: data that leaves through the network."""

from __future__ import annotations

import itertools
import re

from tracelens.rungs.safety.commands import LONGEST_TEXT, arguments_of, long_flags
from tracelens.rungs.safety.rules import GAP, SEP, Rule

LONGEST_PLAIN = 100
"""A part of a URL with this many characters of encoded text or more is a payload."""

_SINKS = (
    r"pastebin\.com", r"hastebin\.com", r"paste\.ee", r"dpaste\.(?:com|org)", r"termbin\.com", r"requestbin\.(?:com|net)",
    r"hookbin\.com", r"webhook\.site", r"pipedream\.net", r"\.ngrok(?:-free)?\.(?:io|app|dev)",
    r"transfer\.sh", r"0x0\.st", r"\bfile\.io", r"requestcatcher\.com", r"beeceptor\.com", r"interact\.sh",
    r"oast(?:ify)?\.(?:com|me|pro|live|fun|site|online)", r"burpcollaborator\.net", r"canarytokens\.(?:com|org)",
    r"dnslog\.cn", r"discord(?:app)?\.com/api/webhooks", r"hooks\.slack\.com", r"api\.telegram\.org/bot",
)  # fmt: skip

_SINK_WINDOWS = (
    r"pastebin\.com", r"hastebin\.com", r"paste\.ee", r"dpaste\.", r"termbin\.com", r"requestbin\.", r"hookbin\.com",
    r"webhook\.site", r"pipedream\.net", r"\.ngrok\.", r"\.ngrok-free\.", r"transfer\.sh", r"0x0\.st", r"\bfile\.io",
    r"requestcatcher\.com", r"beeceptor\.com", r"interact\.sh", r"oast\.[cmplfso]", r"oastify\.",
    r"burpcollaborator\.net", r"canarytokens\.", r"dnslog\.cn", r"discord\.com/api/w", r"discordapp\.com/api/w",
    r"hooks\.slack\.com", r"api\.telegram\.org/bot",
)  # fmt: skip

_MOST_WORDS = 60
_DATA = re.compile(
    r"\bopen\(|\benviron\b|\bgetenv\b|\.read(?:_text|_bytes)?\(|process\.env|\bfiles\s*=|readfile|\$\(|`", re.IGNORECASE
)
_SIGNED = re.compile(r"(?i)(?:x-amz-|x-goog-|sig|signature|token|hmac|policy|key-pair-id|credential)")


def _uploads(text: str, found: re.Match[str]) -> bool:
    """``curl`` with a file, a form file, or data made by another command."""
    words = arguments_of(text, found)[:_MOST_WORDS]
    line = re.split(r"[\n;]", text[found.end() : found.end() + LONGEST_TEXT], maxsplit=1)[0]
    computed = bool(re.search(r"""(?:-d|--data[\w-]*|--json)[\s=]*["']?[^\s"']*(?:\$\(|`|<\()""", line))
    for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
        name = word.partition("=")[0]
        if name == "--upload-file" or re.fullmatch(r"-[a-zA-Z]*T.*", word):
            return True
        value = word.partition("=")[2] or following
        if re.match(r"--(?:data(?!-raw)|json|url-query)", name) and ("@" in value[:1] or re.match(r"\w+@", value)):
            return True
        if name.startswith("--form") and name != "--form-string" and re.search(r"=[@<]", word + " " + following):
            return True
        if re.fullmatch(r"-[a-zA-Z]*d", word) and following.startswith("@"):
            return True
        if re.match(r"-d@", word) or (re.fullmatch(r"-[a-zA-Z]*F", word) and re.search(r"=[@<]", following)):
            return True
        if re.match(r"-F\w+=[@<]", word):
            return True
    return computed or "data-binary" in long_flags(words)


def _connects(text: str, found: re.Match[str]) -> bool:
    """``nc HOST PORT``: a host and a port, or a listener."""
    words = arguments_of(text, found)
    if any(re.fullmatch(r"-[a-z]*[el][a-z]*", word) for word in words):
        return True
    plain = [word for word in words if not word.startswith("-")]
    pairs = itertools.pairwise(plain)
    return any(re.fullmatch(r"[\w-]+(?:\.[\w-]+)+|localhost", a) and re.fullmatch(r"\d{1,5}", b) for a, b in pairs)


def _copies_out(text: str, found: re.Match[str]) -> bool:
    """``scp`` or ``rsync`` whose destination, the last plain word, is another machine."""
    plain = [word for word in arguments_of(text, found) if not word.startswith("-")]
    last = plain[-1] if len(plain) >= 2 else ""
    return bool(re.match(r"(?:scp|rsync|sftp)://|(?:[\w.-]+@)?[\w-][\w.-]+::?(?!//)", last))


def _posts_data(text: str, found: re.Match[str]) -> bool:
    return bool(_DATA.search(text, found.end(), found.end() + LONGEST_TEXT))


def _has_payload(_: str, found: re.Match[str]) -> bool:
    """A path segment or a parameter that is long encoded text; signatures of signed URLs are no payload."""
    address, _, fragment = re.split(r"[\"'<>`\\]", found.group())[0].partition("#")
    path, _, query = address.partition("?")
    parts = [("", part) for part in [*path.split("/")[3:], fragment]]
    parts += [(name, value) for name, _, value in (item.partition("=") for item in query.split("&"))]
    return any(not _SIGNED.match(name) and _is_encoded(value) for name, value in parts)


def _is_encoded(part: str) -> bool:
    if len(part) < LONGEST_PLAIN or not re.fullmatch(r"[A-Za-z0-9+/_=%.-]+", part):
        return False
    if part.count("-") + part.count(".") > len(part) // 20:
        return part.count("%") * 3 > len(part) // 2
    return bool(re.search(r"\d", part)) or (bool(re.search("[A-Z]", part)) and bool(re.search("[a-z]", part)))


RULES = (
    Rule("network", "upload by curl", rf"\bcurl(?:\.exe)?{GAP}", (rf"\bcurl{SEP}", rf"\bcurl\.exe{SEP}"), _uploads),
    Rule("network", "upload by wget", rf"\bwget{GAP}.*?--(?:post|body)-(?:file|data)", (rf"\bwget{SEP}",)),
    Rule(
        "network",
        "a raw connection",
        rf"\b(?:nc|ncat|netcat|socat){GAP}",
        tuple(rf"\b{tool}{SEP}" for tool in ("nc", "ncat", "netcat", "socat")),
        _connects,
    ),
    Rule("network", "a raw connection", r"/dev/(?:tcp|udp)/", ("/dev/tcp/", "/dev/udp/")),
    Rule(
        "network", "copy to another machine", rf"\b(?:scp|rsync){GAP}", (rf"\bscp{SEP}", rf"\brsync{SEP}"), _copies_out
    ),
    Rule(
        "network",
        "code that posts files or secrets",
        r"\b(?:requests|httpx|session|client|urllib3?|aiohttp|axios)\.(?:post|put|patch|request)\(|\burlopen\(|\bfetch\(",
        (r"\.post\(", r"\.put\(", r"\.patch\(", r"\.request\(", r"\burlopen\(", r"\bfetch\("),
        _posts_data,
    ),
    Rule("network", "a known drop point for data", "|".join(_SINKS), _SINK_WINDOWS),
    Rule(
        "network",
        "a URL that carries a payload",
        rf"https?://[!-~]{{{LONGEST_PLAIN}}}[!-~]*",
        (rf"https?://[!-~]{{{LONGEST_PLAIN}}}",),
        _has_payload,
    ),
)
"""What the pack looks for."""
