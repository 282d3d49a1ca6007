"""Writers of message lists and session files: a trace as each format would hold it.

A trace is a list of `Turn`; a writer makes the record (or the lines of a session) of it. ``CARRIES`` says what a format
has a place for beside names, arguments, turns, results and the final answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: dict[str, Any]
    result: str
    failed: bool


@dataclass(frozen=True)
class Turn:
    text: str
    calls: tuple[Call, ...] = ()


Trace = list[Turn]
ASK = "do it"


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def with_text(text: str, block: dict[str, Any]) -> list[dict[str, Any]]:
    return [block] if text else []


def chat(trace: Trace, name: str) -> Any:
    messages: list[Any] = [{"role": "user", "content": ASK}]
    for turn in trace:
        message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
        if turn.calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": dumps(c.arguments)}}
                for c in turn.calls
            ]
        messages += [message, *({"role": "tool", "tool_call_id": c.id, "content": c.result} for c in turn.calls)]
    return {"id": name, "messages": messages}


def responses(trace: Trace, name: str) -> Any:
    items: list[Any] = [{"role": "user", "content": ASK}]
    for turn in trace:
        items.append({"type": "reasoning", "id": "rs", "summary": []})
        if turn.text:
            part = {"type": "output_text", "text": turn.text}
            items.append({"type": "message", "role": "assistant", "content": [part]})
        items += [
            {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": dumps(c.arguments)}
            for c in turn.calls
        ]
        items += [{"type": "function_call_output", "call_id": c.id, "output": c.result} for c in turn.calls]
    return {"id": name, "items": items}


def anthropic(trace: Trace, name: str) -> Any:
    messages: list[Any] = [{"role": "user", "content": ASK}]
    for turn in trace:
        content = with_text(turn.text, {"type": "text", "text": turn.text})
        content += [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in turn.calls]
        messages.append({"role": "assistant", "content": content})
        if turn.calls:
            results = [
                {"type": "tool_result", "tool_use_id": c.id, "content": c.result, "is_error": c.failed}
                for c in turn.calls
            ]
            messages.append({"role": "user", "content": results})
    return {"id": name, "messages": messages}


def google(trace: Trace, name: str) -> Any:
    contents: list[Any] = [{"role": "user", "parts": [{"text": ASK}]}]
    for turn in trace:
        parts: list[Any] = with_text(turn.text, {"text": turn.text})
        parts += [{"functionCall": {"name": c.name, "args": c.arguments}} for c in turn.calls]
        contents.append({"role": "model", "parts": parts})
        if turn.calls:
            answers = [{"functionResponse": {"name": c.name, "response": {"output": c.result}}} for c in turn.calls]
            contents.append({"role": "user", "parts": answers})
    return {"id": name, "contents": contents}


def _langchain(trace: Trace) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"type": "human", "content": ASK}]
    for turn in trace:
        calls = [{"name": c.name, "args": c.arguments, "id": c.id, "type": "tool_call"} for c in turn.calls]
        raw = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": dumps(c.arguments)}}
            for c in turn.calls
        ]
        extra = {"additional_kwargs": {"tool_calls": raw}} if raw else {}
        messages.append({"type": "ai", "content": turn.text, "tool_calls": calls, "invalid_tool_calls": [], **extra})
        messages += [
            {
                "type": "tool",
                "content": c.result,
                "tool_call_id": c.id,
                "status": "error" if c.failed else "success",
            }
            for c in turn.calls
        ]
    return messages


def langchain_flat(trace: Trace, name: str) -> Any:
    return {"id": name, "messages": _langchain(trace)}


def langchain_dict(trace: Trace, name: str) -> Any:
    return {"id": name, "messages": [{"type": m["type"], "data": m} for m in _langchain(trace)]}


def langchain_constructor(trace: Trace, name: str) -> Any:
    classes = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    messages = [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", classes[m["type"]]],
            "kwargs": {key: value for key, value in m.items() if key != "type"},
        }
        for m in _langchain(trace)
    ]
    return {"id": name, "messages": messages}


def pydantic_ai(trace: Trace, name: str) -> Any:
    messages: list[Any] = [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": ASK}]}]
    for turn in trace:
        parts: list[Any] = with_text(turn.text, {"part_kind": "text", "content": turn.text})
        parts += [
            {
                "part_kind": "tool-call",
                "tool_name": c.name,
                "args": c.arguments if k % 2 else dumps(c.arguments),
                "tool_call_id": c.id,
            }
            for k, c in enumerate(turn.calls)
        ]
        messages.append({"kind": "response", "parts": parts})
        if turn.calls:
            results = [
                {
                    "part_kind": "retry-prompt" if c.failed else "tool-return",
                    "tool_name": c.name,
                    "content": c.result,
                    "tool_call_id": c.id,
                }
                for c in turn.calls
            ]
            messages.append({"kind": "request", "parts": results})
    return {"id": name, "messages": messages}


def azure(trace: Trace, name: str) -> Any:
    response: list[Any] = []
    for turn in trace:
        content = with_text(turn.text, {"type": "text", "text": turn.text})
        content += [
            {"type": "tool_call", "tool_call_id": c.id, "name": c.name, "arguments": c.arguments} for c in turn.calls
        ]
        response.append({"role": "assistant", "content": content})
        response += [
            {"role": "tool", "tool_call_id": c.id, "content": [{"type": "tool_result", "tool_result": c.result}]}
            for c in turn.calls
        ]
    return {"id": name, "query": [{"role": "user", "content": ASK}], "response": response}


def gemini_cli(trace: Trace, name: str) -> Any:
    messages: list[Any] = [{"type": "user", "content": ASK}]
    for turn in trace:
        calls = [
            {
                "id": c.id,
                "name": c.name,
                "args": c.arguments,
                "status": "error" if c.failed else "success",
                "result": [{"functionResponse": {"response": {"output": c.result}}}],
            }
            for c in turn.calls
        ]
        messages.append({"type": "gemini", "content": turn.text, "toolCalls": calls})
    return {"sessionId": name, "projectHash": "0", "messages": messages}


def _clock(k: int) -> str:
    return f"2026-11-03T09:{k // 60 % 60:02d}:{k % 60:02d}.000Z"


def claude_code(trace: Trace, name: str) -> list[Any]:
    lines: list[Any] = []

    def line(kind: str, message: dict[str, Any]) -> None:
        k = len(lines)
        lines.append(
            {"type": kind, "uuid": f"{name}-{k}", "sessionId": name, "timestamp": _clock(k), "message": message}
        )

    line("user", {"role": "user", "content": ASK})
    for number, turn in enumerate(trace):
        content = with_text(turn.text, {"type": "text", "text": turn.text})
        content += [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in turn.calls]
        for block in content or [{"type": "thinking", "thinking": "…"}]:  # one line for each block
            line("assistant", {"id": f"{name}-m{number}", "role": "assistant", "content": [block]})
        for c in turn.calls:
            block = {"type": "tool_result", "tool_use_id": c.id, "content": c.result, "is_error": c.failed}
            line("user", {"role": "user", "content": [block]})
    return lines


def codex(trace: Trace, name: str) -> list[Any]:
    lines: list[Any] = [{"timestamp": _clock(0), "type": "session_meta", "payload": {"id": name}}]

    def item(payload: dict[str, Any], kind: str = "response_item") -> None:
        lines.append({"timestamp": _clock(len(lines)), "type": kind, "payload": payload})

    item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASK}]})
    for turn in trace:
        item({"type": "reasoning", "summary": []})
        if turn.text:
            part = {"type": "output_text", "text": turn.text}
            item({"type": "message", "role": "assistant", "content": [part]})
        for c in turn.calls:
            item({"type": "function_call", "name": c.name, "arguments": dumps(c.arguments), "call_id": c.id})
        for c in turn.calls:
            item({"type": "exec_command_end", "call_id": c.id, "exit_code": int(c.failed)}, "event_msg")
            item({"type": "function_call_output", "call_id": c.id, "output": c.result})
    return lines


def pi(trace: Trace, name: str) -> list[Any]:
    lines: list[Any] = [{"type": "session", "id": name, "cwd": "/w"}]

    def message(body: dict[str, Any]) -> None:
        lines.append({"type": "message", "timestamp": _clock(len(lines)), "message": body})

    message({"role": "user", "content": [{"type": "text", "text": ASK}]})
    for turn in trace:
        content = with_text(turn.text, {"type": "text", "text": turn.text})
        content += [{"type": "toolCall", "id": c.id, "name": c.name, "arguments": c.arguments} for c in turn.calls]
        message({"role": "assistant", "content": content or [{"type": "thinking", "thinking": "…"}]})
        for c in turn.calls:
            text = [{"type": "text", "text": c.result}]
            message({"role": "toolResult", "toolCallId": c.id, "content": text, "isError": c.failed})
    return lines


RECORDS = {
    "chat": chat,
    "responses": responses,
    "anthropic": anthropic,
    "google": google,
    "langchain": langchain_flat,
    "langchain-dict": langchain_dict,
    "langchain-constructor": langchain_constructor,
    "pydantic-ai": pydantic_ai,
    "azure-evaluation": azure,
    "gemini-cli": gemini_cli,
}
"""Formats whose record is a trace; a name is the format's, with a variant behind a hyphen."""

SESSIONS = {"claude-code": claude_code, "codex": codex, "pi": pi}
"""Formats whose file is a trace."""

NO_STATUS = {"chat", "responses", "google", "azure-evaluation"}
"""Formats without a place for success."""

NO_IDS = {"google"}
"""Formats whose calls usually have no id."""
