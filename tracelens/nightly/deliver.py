"""Posting alerts to a webhook, each set of them once.

What was posted is marked by its digest. A job killed between the post and the mark posts again; the key in the header
`Idempotency-Key` is the same then, so that a receiver can tell.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

import orjson

from tracelens.errors import StoreError
from tracelens.report import put

TRIES = 3
"""Times that a post is tried."""

_SECONDS = 10.0


def deliver(alerts: list[dict[str, Any]], address: str, state: Path, *, pause: float = 1.0) -> bool:
    """Post the alerts, unless these were posted before.

    Args:
        alerts: The alerts of a day.
        address: Where to.
        state: Folder of what the job remembers.
        pause: Seconds before the second try; twice as long before the third.

    Returns:
        Whether something was posted.

    Raises:
        StoreError: Nobody takes them; the next start tries again. The address is not told: it may hold a secret.
    """
    body = orjson.dumps({"source": "tracelens", "alerts": alerts}, option=orjson.OPT_SORT_KEYS)
    key = hashlib.sha256(body).hexdigest()[:32]
    mark = state / "sent" / key
    if mark.exists():
        return False
    problem = ""
    for number in range(TRIES):
        if number:
            time.sleep(pause * 2 ** (number - 1))
        problem = _post(address, body, key)
        if not problem:
            put(mark, b"")
            return True
    raise StoreError(
        f"the webhook did not take the alerts ({problem})", where="alerts.webhook", hint="run the job again"
    )


def _post(address: str, body: bytes, key: str) -> str:
    """Post once; what went wrong, or nothing."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    headers = {"Content-Type": "application/json", "Idempotency-Key": key, "User-Agent": "tracelens"}
    try:
        with urlopen(Request(address, body, headers), timeout=_SECONDS):  # noqa: S310  http or https, checked before
            return ""
    except HTTPError as error:
        return f"HTTP {error.code}"
    except (URLError, OSError, ValueError, HTTPException) as error:
        return type(error).__name__
