"""Google ADK: eval sets of three generations, results of evaluations, and sessions.

A case is a trace, and its calls are its reference too, because an eval set records what the agent should do. In a
result of an evaluation the actual invocations are the trace and the expected ones its reference. Ids of calls are
often null, so responses find their calls by id, else by name and order. A response with an ``error`` failed. Keys are
read in snake case and in camel case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, TRACES, one_chunk, table
from tracelens.projection import ARRAY, NUMBER, OBJECT, STRING, TRUE, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables, some_inside
from tracelens.sources.chats.messages import Steps
from tracelens.sources.evaluations.alike import (
    column_tags,
    expected_rows,
    file_stem,
    first_of,
    joined,
    json_texts,
    origin,
    put_together,
    seconds,
    tags_of,
    trace_names,
)
from tracelens.sources.evaluations.steps import at_steps, step_spans
from tracelens.sources.nested import Nested, NestedSource
from tracelens.sources.talk import Asked, Results, call_table, is_in

I64 = npt.NDArray[np.int64]

NO_CALL = "a tool use has no name"


def both(*paths: str) -> tuple[str, ...]:
    """Paths in snake case, and in camel case where that is another one.

    Example:
        >>> both("tool_uses[*]", "name")
        ('tool_uses[*]', 'name', 'toolUses[*]')
    """
    return tuple(dict.fromkeys([*paths, *map(_camel, paths)]))


def _camel(path: str) -> str:
    first, *words = path.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in words)


def event_rows(name: str, *at: str) -> Row:
    """Events (with calls, responses and texts among their parts), tool uses and tool responses, as they stand."""
    plain = {"call_id": "id", "name": "name", "arguments": "args", "response": "response", "failed": "response.error"}
    parts = {
        "call": both("function_call"),
        "call_id": both("function_call.id", "function_response.id"),
        "name": both("function_call.name", "function_response.name"),
        "arguments": both("function_call.args"),
        "response": both("function_response.response"),
        "failed": both("function_response.response.error"),
        "text": "text",
        "thought": "thought",
    }
    said = {
        "author": "author",
        "created": "timestamp",
        "partial": "partial",
        "model": both("model_version"),
        "input_tokens": both("usage_metadata.prompt_token_count"),
        "output_tokens": both("usage_metadata.candidates_token_count"),
    }
    return Row(name, both(*at), {**said, **plain}, [Row(f"{name}_part", "content.parts[*]", parts)])


def turn_rows(name: str, *at: str) -> Row:
    """Invocations: what the agent did and answered."""
    data = "intermediate_data"
    steps = [f"{data}.tool_uses[*]", f"{data}.tool_responses[*]", f"{data}.invocation_events[*]"]
    answer = Row(f"{name}_answer", both("final_response.parts[*]"), {"text": "text"})
    captured = {"created": both("creation_timestamp")}
    return Row(name, both(*at), captured, [event_rows(f"{name}_event", *steps), answer])


def asked_in(event: Found, part: Found, trace: I64) -> Asked:
    """The calls of events.

    Args:
        event: The events.
        part: Their parts.
        trace: int64[events].
    """
    plain = event.has("name", STRING) & ~event.has("response", OBJECT, ARRAY, STRING)
    of_parts = part.has("call", OBJECT)
    parts = []
    for rows, there, at in ((event, plain, _together(event, plain)), (part, of_parts, part.parent)):
        arguments, form = rows.arguments("arguments")
        columns = {
            "name": rows.text("name"),
            "malformed": pa.array(~rows.has("name", STRING)),
            "arguments": arguments,
            "arguments_form": pa.array(form),
            "call_id": rows.text("call_id", STRING, NUMBER),
        }
        keep = pa.array(there)
        parts.append(
            (at[there].astype(np.int64), {name: one_chunk(each.filter(keep)) for name, each in columns.items()})
        )
    at, columns = put_together(*parts)
    agent = event.text("author").take(pa.array(at))
    grouped = np.zeros(event.n, np.bool_)
    grouped[part.parent[of_parts]] = True
    return Asked(trace[at], at, _turns(at, trace, grouped), {**columns, "agent": agent})


def _together(event: Found, plain: npt.NDArray[np.bool_]) -> I64:
    """int64[events]: the first of the tool uses that an invocation lists in a row; they are answered in their order."""
    begins = np.ones(event.n, np.bool_)
    begins[1:] = ~(plain[1:] & plain[:-1] & (event.parent[1:] == event.parent[:-1]))
    return np.maximum.accumulate(np.where(begins, np.arange(event.n), 0)) if event.n else np.arange(0)


def _turns(at: I64, trace: I64, grouped: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """int32[calls]: the number of the call's event among those of its trace that call; -1 where events are not kept."""
    begins = np.ones(at.size, np.int64)
    begins[1:] = at[1:] != at[:-1]
    count = np.cumsum(begins)
    first = np.searchsorted(trace[at], trace[at])
    turn = count - count[first]
    return np.where(grouped[at], turn, -1).astype(np.int32)


def results_in(event: Found, part: Found, trace: I64) -> Results:
    """The responses of events, see `asked_in`."""
    parts = []
    for rows, at in ((event, np.arange(event.n)), (part, part.parent)):
        there = rows.has("response", OBJECT, ARRAY, STRING)
        columns = {
            "call_id": rows.text("call_id", STRING, NUMBER),
            "name": rows.text("name"),
            "result": rows.text("response", OBJECT, ARRAY, STRING),
            "error": rows.text("failed", STRING, OBJECT, ARRAY, NUMBER, TRUE),
        }
        keep = pa.array(there)
        parts.append(
            (at[there].astype(np.int64), {name: one_chunk(each.filter(keep)) for name, each in columns.items()})
        )
    at, columns = put_together(*parts)
    status = pc.if_else(pc.is_valid(columns["error"]), pa.scalar("error", TEXT), pa.scalar("ok", TEXT))

    def of(rows: I64) -> dict[str, pa.Array]:
        some = pa.array(rows)
        return {
            "result": columns["result"].take(some),
            "error": columns["error"].take(some),
            "status": status.take(some),
        }

    return Results(trace[at], at, columns["call_id"], columns["name"], of)


def _invocation_calls(found: Projected, name: str, n: int) -> pa.Table:
    """The calls of invocations, by trace."""
    event, part = found[f"{name}_event"], found[f"{name}_event_part"]
    trace = found[name].parent[event.parent].astype(np.int64)
    return call_table(asked_in(event, part, trace), results_in(event, part, trace), n)[0]


class AdkEval(NestedSource):
    """Eval sets and results of evaluations."""

    name = "adk-eval"
    title = "Google ADK eval sets and eval results: a case is a trace, its tool uses are its reference"
    seen = True
    sample = "adk-eval.evalset.json"
    inner = "case"
    shared = ("set",)
    projection = Projection(
        Row(
            "line",
            capture={"set": both("eval_set_id"), "result": both("eval_set_result_id")},
            rows=[
                Row(
                    "case",
                    both("eval_cases[*]", "eval_case_results[*]"),
                    capture={
                        "eval_id": both("eval_id"),
                        "session_id": both("session_id"),
                        "created": both("creation_timestamp"),
                        "status": both("final_eval_status"),
                        "conversation": ("conversation", *both("eval_metric_result_per_invocation")),
                    },
                    rows=[
                        turn_rows("turn", "conversation[*]", "eval_metric_result_per_invocation[*].actual_invocation"),
                        turn_rows("wanted", "eval_metric_result_per_invocation[*].expected_invocation"),
                        Row(
                            "metric",
                            both("overall_eval_metric_results[*]"),
                            {"name": both("metric_name"), "score": "score"},
                        ),
                    ],
                )
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``eval_set_id`` and cases."""
        keys = {key for record in head.records if isinstance(record, dict) for key in record}
        named = keys & {"eval_set_id", "evalSetId"}
        cases = keys & {"eval_cases", "evalCases", "eval_case_results", "evalCaseResults"}
        if named and cases:
            return Sniff(98, f"there are {min(named)} and {min(cases)}")
        return Sniff(30 if named or cases else 0, "there is no eval_set_id with eval_cases or eval_case_results")

    def faults(self, found: Projected, whole: Projected) -> Iterator[Fault]:  # noqa: ARG002  traces tell it all
        """A case that is no object, or has no conversation."""
        case = found["case"]
        yield ~case.has("@", OBJECT), "a case is no object"
        yield ~case.has("eval_id", STRING, NUMBER), "a case has no eval_id"
        yield ~case.has("conversation", ARRAY), "a case has no conversation"

    def tables(self, records: Nested) -> Tables:
        """The tables of the good cases."""
        found, case = records.found, records.found["case"]
        n = case.n
        calls = _invocation_calls(found, "turn", n)
        result = records.document.text("result").take(pa.array(records.of))
        of_set = pc.coalesce(result, records.document.text("set").take(pa.array(records.of)))
        is_result = np.bincount(found["wanted"].parent, minlength=n) > 0
        eval_id = case.text("eval_id", STRING, NUMBER)
        session = case.text("session_id")
        turn, answer, metric = found["turn"], found["turn_answer"], found["metric"]
        started = pc.coalesce(first_of(turn.float("created"), turn.parent, n), case.float("created"))
        tags = tags_of(
            n,
            *column_tags(case, "status"),
            (metric.parent.tolist(), metric.text("name").to_pylist(), json_texts(metric, "score")),
        )
        traces = table(
            TRACES,
            n,
            **origin(records),
            **trace_names(records, joined(of_set, eval_id, session, by=":"), unique=True),
            session_id=session,
            case_id=eval_id,
            started_at=seconds(pc.if_else(pc.equal(started, 0.0), None, started)),
            tags=tags,
            has_calls=np.ones(n, np.bool_),
            final_answer=first_of(answer.text("text"), turn.parent[answer.parent], n, last=True),
            n_references=np.ones(n, np.int32),
        )
        return Tables(traces, calls, _references(found, calls, is_result, n))


def _references(found: Projected, calls: pa.Table, is_result: npt.NDArray[np.bool_], n: int) -> pa.Table:
    """The expected calls: the recorded ones of an eval set, those of expected invocations of a result."""
    wanted = _invocation_calls(found, "wanted", n)
    own = calls.filter(pa.array(~is_result[calls["trace"].to_numpy()] & ~calls["malformed"].to_numpy()))
    both_kinds = pa.concat_tables([own, wanted.filter(pc.invert(wanted["malformed"]))]).sort_by("trace")
    return expected_rows(
        both_kinds["trace"].to_numpy(), both_kinds["name"], both_kinds["arguments"], both_kinds["arguments_form"], n
    )


class AdkLegacyEval(JsonSource):
    """Eval files of the first generation."""

    name = "adk-eval-legacy"
    title = "Google ADK eval files of the first generation: turns with query and expected_tool_use"
    seen = True
    sample = "adk-eval-legacy.test.json"
    projection = Projection(
        Row(
            "line",
            capture={"name": "name", "data": "data"},
            rows=[
                Row(
                    "turn",
                    ("[*]", "data[*]"),
                    capture={"query": "query", "uses": "expected_tool_use", "reference": "reference"},
                    rows=[
                        Row("use", "expected_tool_use[*]", {"name": "tool_name", "arguments": "tool_input"}),
                    ],
                )
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Turns with ``query`` and ``expected_tool_use``, in one list or in cases with ``data``."""
        for record in head.records:
            turns = record.get("data") if isinstance(record, dict) else record
            if self.is_record([record]) or (isinstance(turns, list) and self.is_record(turns)):
                return Sniff(97, "turns have query and expected_tool_use")
        return Sniff(0, "no turn has query and expected_tool_use")

    @staticmethod
    def is_record(elements: list[Any]) -> bool:
        """Whether a list is one case: its elements are turns."""
        return len(elements) > 0 and all(
            isinstance(each, dict) and {"query", "expected_tool_use"} <= each.keys() for each in elements
        )

    def faults(self, found: Projected) -> Iterator[Fault]:
        """What is no list of turns with expected tool uses."""
        line, turn, use = found["line"], found["turn"], found["use"]
        yield ~line.has("@", ARRAY) & ~line.has("data", ARRAY), "a case must be a list of turns, or have data"
        yield some_inside(found, "turn", ~turn.has("@", OBJECT)), "a turn is no object"
        yield some_inside(found, "use", ~use.has("name", STRING)), "an expected tool use has no tool_name"

    def tables(self, records: Records) -> Tables:
        """The tables of the good cases."""
        line, turn, use = (records.found[name] for name in ("line", "turn", "use"))
        arguments, form = use.arguments("arguments")
        trace = turn.parent[use.parent].astype(np.int64)
        columns = {"name": use.text("name"), "arguments": arguments, "arguments_form": form}
        nobody = Results(
            np.zeros(0, np.int64), np.zeros(0, np.int64), pa.nulls(0, TEXT), pa.nulls(0, TEXT), lambda _: {}
        )
        at = np.arange(use.n)
        asked = Asked(trace, at, np.full(use.n, -1, np.int32), {**columns, "call_id": pa.nulls(use.n, TEXT)})
        stem = pa.repeat(pa.scalar(file_stem(records.block.source), TEXT), line.n)
        name = pc.coalesce(line.text("name"), stem)
        traces = table(
            TRACES,
            line.n,
            **origin(records),
            **trace_names(records, name),
            case_id=name,
            has_calls=np.ones(line.n, np.bool_),
            final_answer=first_of(turn.text("reference"), turn.parent, line.n, last=True),
            n_references=np.ones(line.n, np.int32),
        )
        expected = expected_rows(trace, columns["name"], arguments, form, line.n)
        return Tables(traces, call_table(asked, nobody, line.n)[0], expected)


class AdkSession(JsonSource):
    """Sessions: the events of a conversation."""

    name = "adk-session"
    title = "Google ADK sessions: events with function calls and responses"
    seen = True
    sample = "adk-session.json"
    projection = Projection(
        Row(
            "line",
            capture={"id": "id", "app": both("app_name"), "updated": both("last_update_time"), "events": "events"},
            rows=[event_rows("event", "events[*]")],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``app_name`` and ``events``."""
        for record in head.records:
            if isinstance(record, dict) and record.keys() & {"app_name", "appName"}:
                if isinstance(record.get("events"), list):
                    return Sniff(96, "there are app_name and events")
                return Sniff(20, "there is app_name, but no list of events")
        return Sniff(0, "there is no app_name with events")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A session without events, or with one that is no object."""
        line, event = found["line"], found["event"]
        yield ~line.has("events", ARRAY), "a session has no list of events"
        yield some_inside(found, "event", ~event.has("@", OBJECT)), "an event is no object"

    def tables(self, records: Records) -> Tables:
        """The tables of the good sessions."""
        found = records.found
        line, event, part = (found[name] for name in ("line", "event", "event_part"))
        n = line.n
        whole = ~event.has("partial", TRUE)
        trace = event.parent.astype(np.int64)
        parts = part.without(whole[part.parent], part.parent[whole[part.parent]])
        asked = asked_in(event, parts, trace)
        said = pc.if_else(pa.array(parts.has("thought", TRUE)), pa.scalar(None, TEXT), parts.text("text"))
        by_user = pc.fill_null(pc.equal(event.text("author"), "user"), False).take(pa.array(parts.parent))
        calls_too = np.zeros(event.n, np.bool_)
        calls_too[asked.at] = True
        said = pc.if_else(pc.or_(by_user, pa.array(calls_too[parts.parent])), pa.scalar(None, TEXT), said)
        created = event.float("created")
        steps, speaking = _steps(event, parts, whole)
        ids = line.text("id", STRING, NUMBER)
        traces = table(
            TRACES,
            n,
            **origin(records),
            **trace_names(records, ids, unique=True),
            session_id=ids,
            agent=line.text("app"),
            started_at=seconds(first_of(created, trace, n)),
            has_calls=np.ones(n, np.bool_),
            final_answer=first_of(said, trace[parts.parent], n, last=True),
            **steps.per_trace(n),
        )
        calls, _ = call_table(asked, results_in(event, parts, trace), n)
        return Tables(traces, calls, spans=step_spans(steps, at_steps(speaking, asked.at), calls, n))


def _steps(event: Found, parts: Found, whole: npt.NDArray[np.bool_]) -> tuple[Steps, I64]:
    """The model's events as its calls, and the event of each: what an agent says that is no result of a tool."""
    results = np.zeros(event.n, np.bool_)
    results[parts.parent[parts.has("response", OBJECT, ARRAY, STRING)]] = True
    some = np.zeros(event.n, np.bool_)
    some[parts.parent] = True
    by_user = is_in(event.text("author"), "user") | ~event.has("author", STRING)
    speaking = np.flatnonzero(whole & ~by_user & ~results & (some | event.has("output_tokens", NUMBER)))
    mine = event.taken(speaking)
    columns = {
        "agent": mine.text("author"),
        "model": mine.text("model"),
        "started_at": seconds(mine.float("created")),
        "input_tokens": mine.integer("input_tokens"),
        "output_tokens": mine.integer("output_tokens"),
    }
    return Steps(mine.parent.astype(np.int64), columns), speaking
