"""Writers of evaluation files: a trace as each format would hold it, in the data model of `tests.sources.writers.messages`.

What a format has no place for beside names, arguments and results says `CARRIES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.sources.writers.messages import ASK, Trace, Turn, _clock, dumps


def adk_events(trace: Trace, author: str = "desk") -> list[Any]:
    """Events of an agent, with responses in events of their own."""
    out: list[Any] = []
    for turn in trace:
        parts = [{"text": turn.text}] if turn.text else []
        parts += [{"function_call": {"id": c.id, "name": c.name, "args": c.arguments}} for c in turn.calls]
        out.append({"author": author, "content": {"role": "model", "parts": parts}})
        answers = [{"function_response": {"id": c.id, "name": c.name, "response": _response(c)}} for c in turn.calls]
        if answers:
            out.append({"author": author, "content": {"role": "user", "parts": answers}})
    return out


def _response(call: Any) -> dict[str, Any]:
    return {"output": call.result} | ({"error": "it failed"} if call.failed else {})


def _last(trace: Trace) -> str | None:
    return trace[-1].text if trace and not trace[-1].calls else None


def _parts(text: str | None) -> Any:
    return {"role": "model", "parts": [{"text": text}]} if text else None


def adk_eval(trace: Trace, name: str) -> Any:
    invocation = {"intermediate_data": {"invocation_events": adk_events(trace)}, "final_response": _parts(_last(trace))}
    return {"eval_set_id": "set", "eval_cases": [{"eval_id": name, "conversation": [invocation]}]}


def adk_eval_uses(trace: Trace, name: str) -> Any:
    calls = [call for turn in trace for call in turn.calls]
    data = {
        "toolUses": [{"id": c.id, "name": c.name, "args": c.arguments} for c in calls],
        "toolResponses": [{"id": c.id, "name": c.name, "response": _response(c)} for c in calls],
    }
    invocation = {"intermediateData": data, "finalResponse": _parts(_last(trace))}
    return {"evalSetId": "set", "evalCases": [{"evalId": name, "conversation": [invocation]}]}


def adk_legacy(trace: Trace, name: str) -> Any:
    uses = [{"tool_name": c.name, "tool_input": c.arguments} for turn in trace for c in turn.calls]
    return {"name": name, "data": [{"query": ASK, "expected_tool_use": uses, "reference": _last(trace)}]}


def adk_session(trace: Trace, name: str) -> Any:
    asked = {"author": "user", "content": {"role": "user", "parts": [{"text": ASK}]}}
    return {"id": name, "app_name": "shelf", "events": [asked, *adk_events(trace)]}


def inspect(trace: Trace, name: str) -> Any:
    messages: list[Any] = [{"role": "user", "content": ASK, "id": "u"}]
    events: list[Any] = []
    for number, turn in enumerate(trace):
        calls = [{"id": c.id, "function": c.name, "arguments": c.arguments, "type": "function"} for c in turn.calls]
        said = {
            "id": f"m{number}",
            "role": "assistant",
            "content": turn.text,
            "source": "generate",
            "tool_calls": calls,
        }
        usage = {"input_tokens": 7, "output_tokens": 3}
        output = {"model": "small-1", "choices": [{"message": said}], "usage": usage}
        when = _clock(number)
        events.append({"event": "model", "timestamp": when, "working_time": 0.5, "model": "small-1", "output": output})
        messages.append(said)
        for c in turn.calls:
            error = {"error": {"type": "unknown", "message": "it failed"}} if c.failed else {}
            messages.append({"role": "tool", "tool_call_id": c.id, "function": c.name, "content": c.result, **error})
            events.append({"event": "tool", "id": c.id, "function": c.name, "timestamp": when, "working_time": 0.25})
    sample = {"id": 1, "epoch": 1, "uuid": name, "messages": messages, "events": events, "output": {}}
    return {"version": 2, "status": "success", "eval": {"task": "shelf", "model": "small-1"}, "samples": [sample]}


def tau2(trace: Trace, name: str) -> Any:
    messages: list[Any] = [{"role": "user", "content": ASK, "turn_idx": 0}]
    for number, turn in enumerate(trace):
        calls = [{"id": c.id, "name": c.name, "arguments": c.arguments, "requestor": "assistant"} for c in turn.calls]
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        said = {"role": "assistant", "content": turn.text or None, "tool_calls": calls or None, "usage": usage}
        messages.append({**said, "timestamp": _clock(number), "generation_time_seconds": 0.5, "cost": 0.25})
        answers = [
            {"role": "tool", "id": c.id, "content": c.result, "error": c.failed, "requestor": "assistant"}
            for c in turn.calls
        ]
        messages += [{"role": "tool", "tool_messages": answers}] if len(answers) > 1 else answers
    run = {"id": name, "task_id": "a", "trial": 0, "messages": messages}
    task = {"id": "a", "evaluation_criteria": {"actions": None}}
    return {"info": {"agent_info": {"llm": "small-1"}}, "tasks": [task], "simulations": [run]}


def tau_bench(trace: Trace, name: str) -> Any:
    messages: list[Any] = [{"role": "user", "content": ASK}]
    for turn in trace:
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": dumps(c.arguments)}}
            for c in turn.calls
        ]
        messages.append({"role": "assistant", "content": turn.text or None, **({"tool_calls": calls} if calls else {})})
        messages += [
            {
                "role": "tool",
                "tool_call_id": c.id,
                "name": c.name,
                "content": ("Error: " if c.failed else "") + c.result,
            }
            for c in turn.calls
        ]
    return {"task_id": name, "reward": 1.0, "info": {"task": {"actions": []}}, "traj": messages}


def bfcl(trace: Trace, name: str) -> Any:
    responses: list[Any] = [[{c.name: dumps(c.arguments)} for c in turn.calls] or turn.text for turn in trace]
    counts = [[7 for _ in trace]]
    return {"id": name, "result": [responses], "input_token_count": counts, "latency": [[0.5 for _ in trace]]}


def bfcl_python(trace: Trace, name: str) -> Any:
    def written(turn: Turn) -> str:
        calls = [
            f"{c.name}({', '.join(f'{key}={value!r}' for key, value in named(c.arguments).items())})"
            for c in turn.calls
        ]
        return f"[{', '.join(calls)}]" if calls else f"So: {turn.text}"

    return {"id": name, "result": [[written(turn) for turn in trace]], "latency": [[0.5 for _ in trace]]}


def named(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments under names that Python has."""
    return {f"k{number}": value for number, value in enumerate(arguments.values())}


def atif(trace: Trace, name: str) -> Any:
    steps: list[Any] = [{"step_id": 1, "source": "user", "message": ASK}]
    for number, turn in enumerate(trace):
        step = {"step_id": number + 2, "source": "agent", "message": turn.text, "timestamp": _clock(number)}
        step["metrics"] = {"prompt_tokens": 7, "completion_tokens": 3, "cost_usd": 0.25}
        if turn.calls:
            step["tool_calls"] = [
                {"tool_call_id": c.id, "function_name": c.name, "arguments": c.arguments} for c in turn.calls
            ]
            step["observation"] = {"results": [{"source_call_id": c.id, "content": c.result} for c in turn.calls]}
        steps.append(step)
    agent = {"name": "desk", "version": "1", "model_name": "small-1"}
    return {"schema_version": "ATIF-v1.8", "session_id": name, "trajectory_id": name, "agent": agent, "steps": steps}


def swe_agent(trace: Trace, name: str) -> Any:
    history: list[Any] = [{"role": "user", "content": ASK}]
    for turn in trace:
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": dumps(c.arguments)}}
            for c in turn.calls
        ]
        history.append({"role": "assistant", "content": turn.text, "tool_calls": calls or None})
        history += [{"role": "tool", "content": c.result, "tool_call_ids": [c.id]} for c in turn.calls]
    info = {"submission": _last(trace)}
    return {"replay_config": {"problem_statement": {"id": name}}, "trajectory": [], "history": history, "info": info}


def mini_swe_agent(trace: Trace, name: str) -> Any:
    messages: list[Any] = [{"role": "user", "content": ASK}]
    for number, turn in enumerate(trace):
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": dumps(c.arguments)}}
            for c in turn.calls
        ]
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        extra = {"response": {"model": "small-1", "usage": usage}, "cost": 0.25, "timestamp": 1.79e9 + number}
        messages.append({"role": "assistant", "content": turn.text, "tool_calls": calls or None, "extra": extra})
        messages += [
            {
                "role": "tool",
                "tool_call_id": c.id,
                "content": "seen",
                "extra": {"raw_output": c.result, "returncode": int(c.failed)},
            }
            for c in turn.calls
        ]
    info = {"submission": _last(trace)}
    return {"trajectory_format": "mini-swe-agent-1.1", "instance_id": name, "info": info, "messages": messages}


def openhands(trace: Trace, name: str) -> Any:
    events: list[Any] = [{"id": 0, "source": "user", "action": "message", "args": {"content": ASK}}]
    for number, turn in enumerate(trace):
        when = _clock(number)
        if not turn.calls:
            said = {"action": "message", "args": {"content": turn.text}, "timestamp": when}
            events.append({"id": len(events), "source": "agent", **said})
            continue
        calls = [{"id": c.id, "function": {"name": c.name, "arguments": dumps(c.arguments)}} for c in turn.calls]
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        response = {
            "id": f"r{number}",
            "model": "small-1",
            "choices": [{"message": {"tool_calls": calls}}],
            "usage": usage,
        }
        first = len(events)
        for c in turn.calls:
            about = {"function_name": c.name, "tool_call_id": c.id, "model_response": response}
            doing = {"action": "call_tool_mcp", "args": {}, "timestamp": when}
            events.append({"id": len(events), "source": "agent", **doing, "tool_call_metadata": about})
        for k, c in enumerate(turn.calls):
            gave = {"observation": "mcp", "content": c.result, "success": not c.failed, "cause": first + k}
            events.append({"id": len(events), "source": "agent", **gave})
    waited = [{"response_id": f"r{number}", "latency": 0.5} for number in range(len(trace))]
    return {"instance_id": name, "history": events, "metrics": {"response_latencies": waited}}


def openclaw(trace: Trace, name: str) -> list[Any]:
    about = {"sessionKey": "agent:main:main", "agentId": "main"}
    lines: list[Any] = [{"type": "agent.start", "prompt": f"{ASK} {name}", **about}]
    for turn in trace:
        lines += [{"type": "tool.start", "toolName": c.name, "params": c.arguments, **about} for c in turn.calls]
        lines += [
            {"type": "tool.end", "toolName": c.name, "result": c.result, "success": not c.failed, **about}
            for c in turn.calls
        ]
        if not turn.calls:
            lines.append({"type": "message.out", "content": turn.text})
    return lines


def codex_exec(trace: Trace, name: str) -> list[Any]:
    lines: list[Any] = [{"type": "thread.started", "thread_id": name}]
    for turn in trace:
        for c in turn.calls:
            status = "failed" if c.failed else "completed"
            call = {"type": "mcp_tool_call", "server": "s", "tool": c.name, "arguments": c.arguments, "status": status}
            lines.append({"type": "item.completed", "item": {"id": c.id, **call, "result": c.result}})
        if not turn.calls:
            lines.append({"type": "item.completed", "item": {"type": "agent_message", "text": turn.text}})
    return lines


@dataclass(frozen=True)
class Carries:
    """What a format carries: ids, success, turns, results (in a member ``output``, if any), final answers as words."""

    ids: bool = True
    status: bool = True
    turns: bool = True
    results: bool = True
    output: bool = False


CARRIES = {
    "adk-eval": Carries(output=True),
    "adk-eval uses": Carries(turns=False, output=True),
    "adk-eval-legacy": Carries(ids=False, status=False, turns=False, results=False),
    "adk-session": Carries(output=True),
    "inspect": Carries(),
    "tau2": Carries(),
    "tau-bench": Carries(),
    "bfcl": Carries(ids=False, status=False, results=False),
    "bfcl python": Carries(ids=False, status=False, results=False),
    "atif": Carries(status=False),
    "swe-agent": Carries(status=False),
    "mini-swe-agent": Carries(),
    "openhands": Carries(),
    "openclaw": Carries(ids=False),
    "codex-exec": Carries(turns=False),
}
"""By format, with a variant behind a blank."""

RECORDS = {
    "adk-eval": adk_eval,
    "adk-eval uses": adk_eval_uses,
    "adk-eval-legacy": adk_legacy,
    "adk-session": adk_session,
    "inspect": inspect,
    "tau2": tau2,
    "tau-bench": tau_bench,
    "bfcl": bfcl,
    "bfcl python": bfcl_python,
    "atif": atif,
    "swe-agent": swe_agent,
    "mini-swe-agent": mini_swe_agent,
    "openhands": openhands,
}
"""Formats whose record holds one trace or several."""

SESSIONS = {"openclaw": openclaw, "codex-exec": codex_exec}
"""Formats whose file is a trace."""

TIMED = {"inspect", "tau2", "atif", "mini-swe-agent", "openhands"}
"""Formats that tell the tokens of every call of the model: 7 read and 3 written."""
