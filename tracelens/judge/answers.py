"""Reading what judges said: plain lines, or the output files of providers' batch interfaces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracelens.errors import InputError, shown_type
from tracelens.judge.items import custom_id
from tracelens.rungs.safety import mask
from tracelens.store.verdicts import digest_of, keep_verdicts, known_answers, next_batch, read_verdicts

if TYPE_CHECKING:
    from tracelens.store import Run

_WORDS = {
    **dict.fromkeys(("pass", "passed", "yes", "true", "good", "ok"), "pass"),
    **dict.fromkeys(("fail", "failed", "no", "false", "bad"), "fail"),
    **dict.fromkeys(("unclear", "unknown", "unsure", "undecided"), "unclear"),
}
_DECODER = json.JSONDecoder()
_TRIES = 100
"""Braces in an answer at which an object is looked for."""
_MOST = 10**15
"""Tokens and cost from which on a number is none that can be meant, and sums would run over."""
_LONGEST = 10_000
"""Characters of a reason that are kept."""


@dataclass(frozen=True)
class Read:
    """What came of a file of answers.

    Attributes:
        n_lines: Lines that are not blank.
        n_usable: Answers with a verdict.
        n_unusable: Answers about known traces without one: an error of the provider, or text that says no verdict.
        n_repeated: Usable answers about traces that had one already; they count as a second opinion.
        n_again: Lines left out because the same file was read before.
        strangers: What cannot be an answer about this run, by line.
        problems: What is wrong with unusable answers, by line.
        n_pending: Traces of the run that still need an answer.
    """

    n_lines: int
    n_usable: int
    n_unusable: int
    n_repeated: int
    n_again: int
    strangers: dict[int, str] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)
    n_pending: int = 0


def read_answers(run: Run, file: Path) -> Read:
    """Read answers about a run and keep them beside it.

    Args:
        run: The run.
        file: JSON lines, each the output line of OpenAI's or Anthropic's batch interface, or an object with
            ``custom_id`` or ``trace_id``, ``verdict``, and perhaps ``reason``, ``answers``, ``judge``, ``cost``,
            ``input_tokens``, ``output_tokens``.

    Returns:
        What came of it. A file that was read before changes nothing.

    Raises:
        InputError: The file cannot be read, or no line of it is about this run.
        StoreError: The answers cannot be kept.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=str(file)) from error
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    judged = _judged(run)
    if digest_of(data) in known_answers(run):
        return Read(len(lines), 0, 0, 0, len(lines), n_pending=_pending(run, judged))
    had = {row["trace_id"] for row in read_verdicts(run).iter_rows(named=True) if row["verdict"] is not None}
    rows, strangers, repeated = _rows(lines, run, judged, had)
    if not rows:
        first = next(iter(strangers.values()), "it is empty")
        raise InputError(
            f"no answer about this run: {first}", where=str(file), hint="give the output file of the batch"
        )
    keep_verdicts(run, rows, digest_of(data))
    problems = {row["line"]: row["problem"] for row in rows if row["problem"] is not None}
    usable = len(rows) - len(problems)
    return Read(len(lines), usable, len(problems), repeated, 0, strangers, problems, _pending(run, judged))


def _judged(run: Run) -> dict[str, str]:
    """Trace ids of the queue by what answers name them by."""
    import polars as pl

    ids = run.scan("traces").filter(pl.col("route").cast(pl.String) == "judge").select("trace_id").collect()
    return {custom_id(run.run_id, trace_id): trace_id for trace_id in ids["trace_id"].to_list()}


def _pending(run: Run, judged: dict[str, str]) -> int:
    said = read_verdicts(run)
    return len(set(judged.values()) - set(said.filter(said["verdict"].is_not_null())["trace_id"].to_list()))


def _rows(
    lines: list[tuple[int, bytes]], run: Run, judged: dict[str, str], had: set[str]
) -> tuple[list[dict[str, Any]], dict[int, str], int]:
    """Rows to keep, lines about something else, and how many are about a trace that had an answer."""
    known, batch = set(judged.values()), next_batch(run)
    price = next(iter(run.read("runs", ["judge_price_per_1k_tokens"])["judge_price_per_1k_tokens"].to_list()), None)
    rows, strangers, repeated = [], {}, 0
    for number, line in lines:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError) as error:
            strangers[number] = f"no JSON: {error}"
            continue
        trace_id = _trace_id(answer, judged, known)
        if trace_id is None:
            an_array = "is an array: write one answer a line"
            strangers[number] = an_array if isinstance(answer, list) else "names no trace of this run's queue"
            continue
        row = {"trace_id": trace_id, "batch": batch, "line": number, **_row(answer, price)}
        repeated += row["verdict"] is not None and trace_id in had
        had |= {trace_id} if row["verdict"] is not None else set()
        rows.append(row)
    return rows, strangers, repeated


def _trace_id(answer: Any, judged: dict[str, str], known: set[str]) -> str | None:
    if not isinstance(answer, dict):
        return None
    named, trace_id = answer.get("custom_id"), answer.get("trace_id")
    if isinstance(named, str) and named in judged:
        return judged[named]
    return str(trace_id) if trace_id is not None and str(trace_id) in known else None


def _row(answer: dict[str, Any], price: float | None) -> dict[str, Any]:
    """What one answer says, in the columns of the table."""
    try:
        said, told = _said(answer)
        verdict = _verdict(said.get("verdict", said.get("pass", said.get("passed"))))
    except _UnusableError as error:
        said, told, verdict = {}, _told(answer), None
        problem = _text(str(error))
    else:
        problem = None
    tokens = [_count(told.get(name)) for name in ("input_tokens", "output_tokens")]
    cost = _amount(told.get("cost"))
    if cost is None and price is not None and any(each is not None for each in tokens):
        cost = sum(each or 0 for each in tokens) / 1000 * price
    answers = said.get("answers")
    return {
        "judge": _text(told.get("judge")),
        "verdict": verdict,
        "reason": _text(said.get("reason")),
        "answers": None if answers is None else mask(json.dumps(answers, ensure_ascii=True)),
        "problem": problem,
        "input_tokens": tokens[0],
        "output_tokens": tokens[1],
        "cost": cost,
    }


class _UnusableError(Exception):
    """An answer without a verdict."""


def _said(answer: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The judge's own words as JSON values, and what is told about them."""
    told = _told(answer)
    if "response" in answer or "result" in answer:
        return _parsed(_content(answer)), told
    return answer, told


def _told(answer: dict[str, Any]) -> dict[str, Any]:
    """Judge, tokens and cost, wherever the form has them."""
    inner: Any = answer
    for path in (("response", "body"), ("result", "message")):
        found: Any = answer
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        inner = found if isinstance(found, dict) else inner
    usage = inner.get("usage") if isinstance(inner.get("usage"), dict) else inner
    return {
        "judge": inner.get("judge", inner.get("model")),
        "input_tokens": usage.get("input_tokens", usage.get("prompt_tokens")),
        "output_tokens": usage.get("output_tokens", usage.get("completion_tokens")),
        "cost": inner.get("cost"),
    }


def _content(answer: dict[str, Any]) -> str:
    """The text of the judge in a provider's answer."""
    result = answer.get("result")
    if isinstance(result, dict):
        if result.get("type") != "succeeded":
            raise _UnusableError(f"the request {result.get('type')}: {_short(result.get('error'))}")
        message = result.get("message")
        blocks = message.get("content") if isinstance(message, dict) else None
        texts = [
            each["text"]
            for each in (blocks if isinstance(blocks, list) else ())
            if isinstance(each, dict) and each.get("type") == "text" and isinstance(each.get("text"), str)
        ]
        if not texts:
            raise _UnusableError(f"the answer has no text{_stopped(message)}")
        return "".join(texts)
    response = answer.get("response")
    if answer.get("error") is not None or not isinstance(response, dict) or response.get("status_code", 200) != 200:
        raise _UnusableError(f"the request failed: {_short(answer.get('error') or response)}")
    try:
        message = response["body"]["choices"][0]["message"]
        content = message["content"]
    except (KeyError, IndexError, TypeError):
        raise _UnusableError("the answer has no message") from None
    if not isinstance(content, str):
        raise _UnusableError(f"the answer has no text{_stopped(message)}")
    return content


def _stopped(message: Any) -> str:
    """Why a judge said nothing, where the provider says so."""
    found = (message.get("refusal") or message.get("stop_reason")) if isinstance(message, dict) else None
    return f": {_short(found)}" if found else ""


def _parsed(text: str) -> dict[str, Any]:
    """The JSON object in a judge's text, whatever stands around it: the last one with a verdict, else the last one."""
    found = list(_objects(text))
    if not found:
        raise _UnusableError(f"the answer holds no JSON object: {_short(text)}")
    return next((each for each in reversed(found) if "verdict" in each), found[-1])


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in a text."""
    at, tries = text.find("{"), 0
    while at >= 0 and tries < _TRIES:
        tries += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict):
                yield value
        at = text.find("{", end)


def _verdict(value: Any) -> str:
    if isinstance(value, bool):
        return "pass" if value else "fail"
    if value is None:
        raise _UnusableError("the answer says no verdict")
    word = str(value).strip().strip(".").lower()
    if word not in _WORDS:
        raise _UnusableError(f"{_short(value)} is no verdict")
    return _WORDS[word]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=shown_type)
    return text if len(text) <= 200 else text[:199] + "…"


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    return mask(text.encode("utf-8", "backslashreplace").decode()[:_LONGEST])


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else None


def _amount(value: Any) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST
    return float(value) if good else None
