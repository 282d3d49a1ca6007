"""Writes OTLP/JSON: spans from plain values, lines from spans."""

import json

TRACE = "ab" * 16
T0 = 1_793_613_600_000_000_000


class Structured:
    """A value to be written as OTLP values, not as JSON text."""

    def __init__(self, value):
        self.value = value


def any_value(value, *, structured=False):
    if isinstance(value, Structured):
        return any_value(value.value, structured=True)
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    if value is None:
        return {}
    if not structured:
        return {"stringValue": json.dumps(value, ensure_ascii=False)}
    if isinstance(value, dict):
        pairs = [{"key": key, "value": any_value(one, structured=True)} for key, one in value.items()]
        return {"kvlistValue": {"values": pairs}}
    return {"arrayValue": {"values": [any_value(one, structured=True) for one in value]}}


def attributes(values):
    return [{"key": key, "value": any_value(value)} for key, value in values.items()]


def span(number, parent=None, start=0, end=None, *, name="span", trace=TRACE, events=(), status=None, **values):
    """A span; its attributes have ``__`` for dots. Times are in milliseconds."""
    out = {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "name": name,
        "startTimeUnixNano": str(T0 + start * 1_000_000),
        "endTimeUnixNano": str(T0 + (start + 1 if end is None else end) * 1_000_000),
        "attributes": attributes({key.replace("__", "."): value for key, value in values.items()}),
    }
    if parent is not None:
        out["parentSpanId"] = f"{parent:016x}"
    if events:
        out["events"] = [{"name": title, "attributes": attributes(inner)} for title, inner in events]
    if status is not None:
        out["status"] = status
    return out


def tool(number, parent=None, start=0, *, tool, call_id=None, arguments=None, result=None, **more):
    """A tool span of the conventions."""
    own = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": tool}
    for key, value in (("id", call_id), ("arguments", arguments), ("result", result)):
        if value is not None:
            own[f"gen_ai__tool__call__{key}"] = value
    return span(number, parent, start, name=f"execute_tool {tool}", **{**own, **more})


def chat(number, parent=None, start=0, *calls, text=None, **more):
    """A model span of the conventions that asks for calls: ``(id, name, arguments)``."""
    parts = [{"type": "tool_call", "id": i, "name": name, "arguments": args} for i, name, args in calls]
    parts = [{key: value for key, value in part.items() if value is not None} for part in parts]
    parts += [] if text is None else [{"type": "text", "content": text}]
    own = {"gen_ai__operation__name": "chat", "gen_ai__output__messages": [{"role": "assistant", "parts": parts}]}
    return span(number, parent, start, name="chat m", **{**own, **more})


def line(*spans, scope="test", logs=(), **resource):
    """A line of spans of one scope, or of log records."""
    around = {"attributes": attributes({key.replace("__", "."): value for key, value in resource.items()})}
    if logs:
        inner = [{"scope": {"name": scope}, "logRecords": list(logs)}]
        return json.dumps({"resourceLogs": [{"resource": around, "scopeLogs": inner}]}, ensure_ascii=False)
    inner = [{"scope": {"name": scope}, "spans": list(spans)}]
    return json.dumps({"resourceSpans": [{"resource": around, "scopeSpans": inner}]}, ensure_ascii=False)


def log(event, number=None, time=0, *, trace=TRACE, body=None, **values):
    """A log record with an event."""
    out = {
        "traceId": trace,
        "timeUnixNano": str(T0 + time * 1_000_000),
        "eventName": event,
        "attributes": attributes({key.replace("__", "."): value for key, value in values.items()}),
    }
    if number is not None:
        out["spanId"] = f"{number:016x}"
    if body is not None:
        out["body"] = any_value(Structured(body))
    return out
