"""One abstract trace as each tracing backend would record it, built from the formats' descriptions.

A trace is ``{"id", "session", "case", "question", "turns", "answer"}``; a turn is a list of calls that the model asked for
together, ``{"name", "arguments", "id", "result"}`` with ``error`` where it failed and ``inner``, the turns of a sub-agent.
"""

from __future__ import annotations

import base64
import itertools
import json
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


class Clock:
    """Instants a millisecond apart, and ids."""

    def __init__(self, seed):
        self.seed = seed
        self.ticks = itertools.count()
        self.numbers = itertools.count(1)

    def now(self):
        return START + timedelta(milliseconds=next(self.ticks))

    def id(self):
        return f"{self.seed:04x}{next(self.numbers):012x}"

    def uuid(self):
        return f"{self.seed:08x}-0000-4000-8000-{next(self.numbers):012x}"


def iso(moment):
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def nanoseconds(moment):
    return int((moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1)) * 1000


def text(value):
    return json.dumps(value, ensure_ascii=False)


def spans(trace, seed=1, uuid=False):
    """Spans of a trace as dicts: kind, name, parent, start, end, and what models and tools took and gave."""
    clock = Clock(seed)
    new = clock.uuid if uuid else clock.id
    out = []

    def agent(turns, answer, name, parent, question):
        mine = {"kind": "agent", "id": new(), "parent": parent, "name": name, "start": clock.now(), "agent": name}
        mine |= {"input": question, "output": answer}
        out.append(mine)
        history = [{"role": "user", "content": question}]
        for calls in [*turns, None]:
            said = {"role": "assistant", "content": answer if calls is None else ""}
            if calls:
                said["tool_calls"] = [call_of(call) for call in calls]
            model = {"kind": "llm", "id": new(), "parent": mine["id"], "name": "model", "agent": name}
            out.append(model | {"start": clock.now(), "end": clock.now(), "input": list(history), "said": said})
            history.append(said)
            history += [run(call, mine, name) for call in calls or ()]
        mine["end"] = clock.now()

    def run(call, parent, name):
        tool = {"kind": "tool", "id": new(), "parent": parent["id"], "name": call["name"], "agent": name, "call": call}
        tool["start"] = clock.now()
        out.append(tool)
        if call.get("inner"):
            agent(call["inner"], call["result"], "helper", tool["id"], "help")
        tool["end"] = clock.now()
        return {"role": "tool", "tool_call_id": call["id"], "content": call.get("error") or call["result"]}

    agent(trace["turns"], trace["answer"], "main", None, trace["question"])
    return out


def call_of(call):
    """A call as OpenAI writes it."""
    return {
        "id": call["id"],
        "type": "function",
        "function": {"name": call["name"], "arguments": text(call["arguments"])},
    }


def langsmith(trace, seed=1):
    """Runs, a record each."""
    order, out = {}, []
    made = spans(trace, seed, uuid=True)
    root = made[0]["id"]
    for span in made:
        stamp = span["start"].strftime("%Y%m%dT%H%M%S%fZ") + span["id"]
        order[span["id"]] = f"{order[span['parent']]}.{stamp}" if span["parent"] else stamp
        run = {"id": span["id"], "trace_id": root, "parent_run_id": span["parent"], "name": span["name"]}
        run |= {"run_type": {"agent": "chain"}.get(span["kind"], span["kind"]), "dotted_order": order[span["id"]]}
        run |= {"start_time": iso(span["start"]), "end_time": iso(span["end"]), "error": None, "status": "success"}
        run["extra"] = {"metadata": {"lc_agent_name": span["agent"], "thread_id": trace["session"]}}
        run["session_id"] = "the-project"
        if span["kind"] == "agent":
            run |= {"inputs": {"question": span["input"]}, "outputs": {"output": span["output"]}}
        elif span["kind"] == "llm":
            run |= {"inputs": {"messages": span["input"]}, "outputs": {"choices": [{"message": span["said"]}]}}
            run |= {"prompt_tokens": 10, "completion_tokens": 5, "total_cost": 0.001}
        else:
            run |= {"inputs": span["call"]["arguments"], "extra": {**run["extra"], "tool_call_id": span["call"]["id"]}}
            failed = span["call"].get("error")
            run |= {"error": failed, "status": "error"} if failed else {"outputs": {"output": span["call"]["result"]}}
        out.append(run)
    out[0]["extra"]["metadata"]["case_id"] = trace["case"]
    out[0] |= {"tags": ["demo"], "feedback_stats": {"helpful": {"n": 1, "avg": 0.5}}}
    return out


def langfuse_rows(trace, seed=1):
    """Observations in the names of exports, a record each."""
    out = []
    for span in spans(trace, seed):
        row = {"id": span["id"], "trace_id": trace["id"], "parent_observation_id": span["parent"] or ""}
        row |= {"type": {"llm": "GENERATION"}.get(span["kind"], span["kind"].upper()), "name": span["name"]}
        row |= {"start_time": stamp(span["start"]), "end_time": stamp(span["end"]), "level": "DEFAULT"}
        row |= {"status_message": None, "session_id": trace["session"], "trace_name": "demo", "tags": ["demo"]}
        row |= {"metadata": text({"case_id": trace["case"]}), "tool_calls": [], "tool_call_names": []}
        row |= {"tool_definitions": {}, "usage_details": None, "total_cost": None, "provided_model_name": None}
        if span["kind"] == "agent":
            row |= {"input": span["input"], "output": span["output"]}
        elif span["kind"] == "llm":
            calls = span["said"].get("tool_calls", [])
            row |= {
                "input": text(span["input"]),
                "output": text({"role": "assistant", "content": span["said"]["content"]}),
            }
            row["tool_calls"] = [
                text({"id": c["id"], "arguments": c["function"]["arguments"], "type": "function"}) for c in calls
            ]
            row["tool_call_names"] = [c["function"]["name"] for c in calls]
            row |= {"usage_details": {"input": 10, "output": 5}, "total_cost": 0.001, "provided_model_name": "small-1"}
        else:
            failed = span["call"].get("error")
            row |= {"input": text(span["call"]["arguments"]), "output": None if failed else span["call"]["result"]}
            row |= {"level": "ERROR", "status_message": failed} if failed else {}
        out.append(row)
    return out


def stamp(moment):
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")


CAMEL = {
    "trace_id": "traceId",
    "parent_observation_id": "parentObservationId",
    "start_time": "startTime",
    "end_time": "endTime",
    "status_message": "statusMessage",
    "tool_calls": "toolCalls",
    "tool_call_names": "toolCallNames",
    "tool_definitions": "toolDefinitions",
    "usage_details": "usageDetails",
    "total_cost": "totalCost",
    "provided_model_name": "model",
}


def langfuse(trace, seed=1):
    """A trace with its observations, newest first and with milliseconds."""
    rows = []
    for row in langfuse_rows(trace, seed):
        named = {CAMEL.get(name, name): value for name, value in row.items() if name not in {"session_id", "tags"}}
        named["parentObservationId"] = named["parentObservationId"] or None
        for name in ("startTime", "endTime"):
            named[name] = f"{named[name][:-3]}Z".replace(" ", "T")
        rows.append(named)
    about = {
        "id": trace["id"],
        "timestamp": iso(START),
        "name": "demo",
        "sessionId": trace["session"],
        "tags": ["demo"],
    }
    about |= {"metadata": {"case_id": trace["case"]}, "output": trace["answer"]}
    about["scores"] = [{"name": "helpful", "value": 0.5, "observationId": None}]
    return {"trace": about, "observations": rows[::-1]}


def langfuse_chat(trace, seed=1):
    """Messages in and out by observation."""
    out = {}
    for span in spans(trace, seed):
        if span["kind"] == "llm":
            calls = [c["function"] | {"id": c["id"]} for c in span["said"].get("tool_calls", [])]
            said = {"role": "assistant", "content": span["said"]["content"]} | ({"tool_calls": calls} if calls else {})
            sides = (span["input"], [said])
            out[span["id"]] = {
                side: {"success": True, "data": data} for side, data in zip(("input", "output"), sides, strict=True)
            }
    return out


def openai_agents(trace, seed=1):
    """A trace object and its spans, each when it ended."""
    out = [{"object": "trace", "id": trace["id"], "workflow_name": "demo", "group_id": trace["session"]}]
    out[0]["metadata"] = {"case_id": trace["case"]}
    made = spans(trace, seed)
    for span in sorted(made, key=lambda one: one["end"]):
        record = {"object": "trace.span", "id": span["id"], "trace_id": trace["id"], "parent_id": span["parent"]}
        record |= {"started_at": iso(span["start"]), "ended_at": iso(span["end"]), "error": None}
        if span["kind"] == "agent":
            record["span_data"] = {"type": "agent", "name": span["name"], "handoffs": [], "tools": []}
        elif span["kind"] == "llm":
            record["span_data"] = {"type": "generation", "input": span["input"], "output": [span["said"]]}
            record["span_data"] |= {"model": "small-1", "usage": {"input_tokens": 10, "output_tokens": 5}}
        else:
            call = span["call"]
            record["span_data"] = {"type": "function", "name": call["name"], "input": text(call["arguments"])}
            record["span_data"] |= {"output": None if call.get("error") else call["result"], "mcp_data": None}
            if call.get("error"):
                record["error"] = {"message": "Error running tool", "data": {"error": call["error"]}}
        out.append(record)
    return out


def mlflow(trace, seed=1):
    """A trace with its spans: ids in base64, attributes JSON text each."""

    def coded(one):
        return one and base64.b64encode(bytes.fromhex(one)).decode()

    out = []
    for span in spans(trace, seed):
        kind = {"llm": "CHAT_MODEL"}.get(span["kind"], span["kind"].upper())
        record = {"trace_id": "AAAA", "span_id": coded(span["id"]), "parent_span_id": coded(span["parent"])}
        record |= {"name": span["name"], "start_time_unix_nano": nanoseconds(span["start"])}
        record |= {"end_time_unix_nano": nanoseconds(span["end"]), "events": [], "status": {"code": "STATUS_CODE_OK"}}
        about = {"mlflow.spanType": kind}
        if span["kind"] == "agent":
            about |= {"mlflow.spanInputs": {"q": span["input"]}, "mlflow.spanOutputs": span["output"]}
        elif span["kind"] == "llm":
            about |= {"mlflow.spanInputs": {"messages": span["input"]}}
            about |= {"mlflow.spanOutputs": {"choices": [{"message": span["said"]}]}}
            about |= {"mlflow.chat.tokenUsage": {"input_tokens": 10, "output_tokens": 5}}
        else:
            about |= {"mlflow.spanInputs": span["call"]["arguments"]}
            if span["call"].get("error"):
                record["status"] = {"code": "STATUS_CODE_ERROR", "message": span["call"]["error"]}
            else:
                about["mlflow.spanOutputs"] = span["call"]["result"]
        record["attributes"] = {name: text(value) for name, value in about.items()}
        out.append(record)
    info = {"trace_id": trace["id"], "request_time": iso(START), "state": "OK", "tags": {"mlflow.traceName": "demo"}}
    info["trace_metadata"] = {"mlflow.trace.session": trace["session"], "case_id": trace["case"], "stage": "test"}
    info["assessments"] = [{"assessment_name": "helpful", "feedback": {"value": 0.5}}]
    return {"info": info, "data": {"spans": out}}


def deepeval(trace, seed=1):
    """A trace with its spans by kind."""
    out = {
        "uuid": trace["id"],
        "name": "demo",
        "startTime": iso(START),
        "endTime": iso(START),
        "output": trace["answer"],
    }
    out |= {kind: [] for kind in ("baseSpans", "agentSpans", "llmSpans", "retrieverSpans", "toolSpans")}
    out |= {"threadId": trace["session"], "metadata": {"case_id": trace["case"]}, "tags": ["demo"]}
    for span in spans(trace, seed):
        record = {"uuid": span["id"], "parentUuid": span["parent"], "name": span["name"], "type": span["kind"]}
        record |= {"startTime": iso(span["start"]), "endTime": iso(span["end"]), "status": "SUCCESS"}
        if span["kind"] == "llm":
            calls = [
                {"id": c["id"], "name": c["function"]["name"], "args": json.loads(c["function"]["arguments"])}
                for c in span["said"].get("tool_calls", [])
            ]
            said = {"role": "AI", "content": span["said"]["content"], "toolCalls": calls}
            record |= {"input": span["input"], "output": said, "inputTokenCount": 10, "outputTokenCount": 5}
        elif span["kind"] == "tool":
            failed = span["call"].get("error")
            record |= {"input": span["call"]["arguments"]}
            record |= {"status": "ERRORED", "error": failed} if failed else {"output": span["call"]["result"]}
        else:
            record |= {"input": span["input"], "output": span["output"]}
        out[f"{span['kind']}Spans"].append(record)
    out["metricsData"] = [{"name": "Helpful", "score": 0.5, "threshold": 0.5, "success": True}]
    return out


def weave(trace, seed=1):
    """Calls of ops, a record each."""
    out = []
    for span in spans(trace, seed, uuid=True):
        op = f"weave:///team/demo/op/{span['name']}:v{seed}"
        record = {"id": span["id"], "project_id": "team/demo", "op_name": op, "trace_id": trace["id"]}
        record |= {"parent_id": span["parent"], "thread_id": trace["session"], "started_at": iso(span["start"])}
        record |= {"ended_at": iso(span["end"]), "exception": None, "summary": {"weave": {"status": "success"}}}
        record["attributes"] = {"weave": {"kind": span["kind"]}}
        if span["kind"] == "agent":
            record |= {"inputs": {"self": "weave:///team/demo/object/Agent:1", "question": span["input"]}}
            record |= {"output": span["output"]}
            record["attributes"]["case_id"] = trace["case"]
        elif span["kind"] == "llm":
            record |= {"inputs": {"messages": span["input"]}, "output": {"choices": [{"message": span["said"]}]}}
            record["summary"]["usage"] = {"small-1": {"prompt_tokens": 10, "completion_tokens": 5}}
        else:
            failed = span["call"].get("error")
            record |= {"inputs": span["call"]["arguments"], "output": None if failed else span["call"]["result"]}
            record |= {"exception": failed, "summary": {"weave": {"status": "error"}}} if failed else {}
        out.append(record)
    return out


def phoenix_rows(trace, seed=1):
    """Spans as rows of a dataframe, newest first: columns ``context.…`` and ``attributes.…``."""
    out = []
    for span in spans(trace, seed):
        kind = span["kind"].upper()
        row = {"context.span_id": span["id"], "context.trace_id": trace["id"], "parent_id": span["parent"]}
        row |= {"name": span["name"], "span_kind": kind, "start_time": iso(span["start"]), "end_time": iso(span["end"])}
        row |= {"status_code": "OK", "status_message": "", "attributes.openinference.span.kind": kind}
        row |= {"attributes.session.id": trace["session"], "attributes.metadata": {"case_id": trace["case"]}}
        if span["kind"] == "agent":
            row |= {"attributes.input.value": span["input"], "attributes.output.value": span["output"]}
            row["attributes.agent.name"] = span["name"]
        elif span["kind"] == "llm":
            said = {"message.role": "assistant", "message.content": span["said"]["content"]}
            said["message.tool_calls"] = [
                {
                    "tool_call.id": c["id"],
                    "tool_call.function.name": c["function"]["name"],
                    "tool_call.function.arguments": c["function"]["arguments"],
                }
                for c in span["said"].get("tool_calls", [])
            ]
            row |= {"attributes.llm.output_messages": [said], "attributes.llm.token_count.prompt": 10}
            row |= {"attributes.llm.token_count.completion": 5, "attributes.llm.model_name": "small-1"}
        else:
            call = span["call"]
            row |= {"attributes.tool.name": call["name"], "attributes.input.value": text(call["arguments"])}
            row["attributes.tool.parameters"] = text({"type": "object", "properties": {}})
            if call.get("error"):
                row |= {"status_code": "ERROR", "status_message": call["error"]}
            else:
                row["attributes.output.value"] = call["result"]
        out.append(row)
    return out[::-1]


def phoenix(trace, seed=1):
    """Spans as the API gives them: a context, and attributes that are flat with dots."""
    out = []
    for row in phoenix_rows(trace, seed):
        plain = {name: value for name, value in row.items() if not name.startswith(("context.", "attributes."))}
        plain["context"] = {"trace_id": row["context.trace_id"], "span_id": row["context.span_id"]}
        plain["attributes"] = {
            name.removeprefix("attributes."): value for name, value in row.items() if name.startswith("attributes.")
        }
        out.append(plain)
    return out


RECORDS = {
    "langsmith": langsmith,
    "langfuse": lambda trace, seed=1: [langfuse(trace, seed)],
    "langfuse-chat": lambda trace, seed=1: [langfuse_chat(trace, seed)],
    "openai-agents": openai_agents,
    "mlflow": lambda trace, seed=1: [mlflow(trace, seed)],
    "deepeval": lambda trace, seed=1: [deepeval(trace, seed)],
    "phoenix": phoenix,
    "weave": weave,
}
"""The records of a trace by format."""

EXTRA = {"langfuse rows": ("langfuse", langfuse_rows), "phoenix rows": ("phoenix", phoenix_rows)}
"""Other forms: the format and the records."""
