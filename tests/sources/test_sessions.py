"""Session files of agents: whose lines they are, what is one call, who made it, and how a session may end."""

import gzip
import json

import pytest

from tests.sources.reading import batches, read
from tracelens.columns import FREE_TEXT, JSON_STRING, NOT_CAPTURED, TRUNCATED
from tracelens.sources.detect import open_input


def write(folder, name, lines, end="\n"):
    path = folder / name
    path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines) + end)
    return path


def rows(found, *names):
    return [tuple(call[name] for name in names) for call in found["calls"]]


def clock(second):
    return f"2026-11-03T10:00:{second:02d}.000Z"


# ------------------------------------------------------------------------------------------------- Claude Code


class Session:
    """Lines of Claude Code."""

    def __init__(self, name="s", first=0):
        self.name, self.lines, self.k = name, [], first

    def line(self, kind, message, **more):
        self.k += 1
        about = {"uuid": f"{self.name}{self.k}", "sessionId": self.name, "timestamp": clock(self.k)}
        self.lines.append({"type": kind, **about, "message": message, **more})
        return self

    def user(self, content, **more):
        return self.line("user", {"role": "user", "content": content}, **more)

    def result(self, id, content, failed=False, **more):  # noqa: A002
        return self.user([{"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed}], **more)

    def model(self, id, *blocks, used=1, **more):  # noqa: A002
        message = {"role": "assistant", "id": id, "model": "m", "content": list(blocks)}
        usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": used}
        return self.line("assistant", message | {"usage": usage}, **more)


def use(id, name, **input):  # noqa: A002
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def say(text):
    return {"type": "text", "text": text}


def test_one_answer_over_several_lines_is_one_turn(tmp_path):
    """Snapshots of a block come first, calls on later lines, a result between them."""
    session = (
        Session()
        .user("go")
        .model("m1", say("I"), used=1)
        .model("m1", say("I look"), use("a", "Read"), used=2)
        .model("m1", say("I look"), use("a", "Read", file="x"), used=5)
        .result("a", "text of x")
        .model("m1", use("b", "Read", file="y"), used=9)
        .result("b", "text of y")
        .model("m2", say("do"), used=1)
        .model("m2", say("done"), used=2)
    )
    found = read(write(tmp_path, "s.jsonl", session.lines))
    wanted = [("a", '{"file": "x"}', 0, "text of x"), ("b", '{"file": "y"}', 0, "text of y")]
    assert rows(found, "call_id", "arguments", "turn", "result") == wanted
    trace = found["traces"][0]
    assert (trace["final_answer"], trace["llm_calls"]) == ("done", 2)
    assert (trace["input_tokens"], trace["output_tokens"]) == (30, 11)


def test_sub_agents_are_a_depth_down_wherever_their_lines_stand(tmp_path):
    main = Session().user("go").model("m1", use("t", "Task", prompt="p"))
    main.model("x1", use("i", "Grep"), isSidechain=True, agentId="in")
    main.result("i", "hit", isSidechain=True, agentId="in")
    main.k = 8
    main.result("t", "found", toolUseResult={"agentId": "out", "totalDurationMs": 7000}).model("m2", say("end"))
    agent = Session(first=4)
    agent.model("y1", use("o", "Bash", command="ls"), isSidechain=True, agentId="out")
    agent.result("o", "files", isSidechain=True, agentId="out").model("y2", say("sub"), isSidechain=True, agentId="out")
    for line in agent.lines:
        line["uuid"] = "agent" + line["uuid"]
    write(tmp_path, "agent-out.jsonl", agent.lines)
    write(tmp_path, "s.jsonl", main.lines)
    found = read(tmp_path)
    wanted = [("Task", 0, None, "found", 7000), ("Grep", 1, "in", "hit", 1000), ("Bash", 1, "out", "files", 1000)]
    assert rows(found, "name", "depth", "agent", "result", "duration_ms") == wanted
    assert [(t["trace_id"], t["final_answer"], t["llm_calls"]) for t in found["traces"]] == [("s", "end", 5)]


def test_copies_of_lines_are_merged_and_real_repeats_stay(tmp_path):
    session = Session().user("go").model("m1", use("a", "Bash", command="ls")).result("a", "1")
    session.model("m2", use("b", "Bash", command="ls")).result("b", "1")
    write(tmp_path, "a.jsonl", session.lines)
    resumed = [*session.lines[:3], {**session.lines[3], "version": "2"}, *session.lines[4:]]  # a copy may be rewritten
    write(tmp_path, "b.jsonl", [*resumed, *Session("s", 20).model("m3", say("end")).lines])
    found = read(tmp_path)
    assert rows(found, "call_id", "arguments") == [("a", '{"command": "ls"}'), ("b", '{"command": "ls"}')]
    assert [trace["final_answer"] for trace in found["traces"]] == ["end"]
    assert (found["n_records"], found["n_merged"]) == (11, 5)


@pytest.mark.parametrize("size", [64, 1 << 20])
def test_a_resumed_session_is_the_one_that_it_was_copied_from(tmp_path, size):
    """Under a new id the lines of the old session come again, and then new ones: each call is one row."""
    old = Session("old").user("go").model("m1", use("a", "Bash", command="ls")).result("a", "1")
    copied = [{**line, "sessionId": "new"} for line in old.lines]
    more = Session("new", 30).model("m2", use("b", "Bash", command="ls")).result("b", "2").model("m3", say("end"))
    write(tmp_path, "1.jsonl", old.lines)
    write(tmp_path, "2.jsonl", [*copied, *more.lines])
    write(tmp_path, "3.jsonl", Session("other").model("m1", use("a", "Bash")).lines)
    found = read(tmp_path, block_size=size)
    assert rows(found, "trace", "call_id", "result") == [(0, "a", "1"), (0, "b", "2"), (1, "a", None)]
    assert [(trace["trace_id"], trace["final_answer"]) for trace in found["traces"]] == [
        ("old", "end"),
        ("other", None),
    ]
    assert (found["n_records"], found["n_merged"]) == (10, 3)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("The user doesn't want to proceed with this tool use. The tool use was rejected.", "denied"),
        ("Permission to use Bash with command rm x has been denied.", "denied"),
        ("Claude requested permissions to write to /x, but you haven't granted it yet.", "denied"),
        ("Exit code 1", "error"),
    ],
)
def test_a_refused_call_is_denied(tmp_path, text, status):
    session = Session().model("m1", use("a", "Bash")).result("a", text, failed=True)
    assert rows(read(write(tmp_path, "s.jsonl", session.lines)), "status", "error") == [(status, text)]


def test_what_the_program_wrote_is_no_answer(tmp_path):
    session = Session().model("m1", say("answer"))
    session.model("m2", say("API Error: 500"), isApiErrorMessage=True)
    trace = read(write(tmp_path, "s.jsonl", session.lines))["traces"][0]
    assert (trace["final_answer"], trace["llm_calls"]) == ("answer", 1)


def test_lines_without_a_session_belong_to_that_of_their_file(tmp_path):
    lines = [{"type": "summary", "summary": "x", "leafUuid": "u"}, *Session().model("m1", use("a", "Bash")).lines]
    for size in (64, 1 << 20):
        found = read(write(tmp_path, "s.jsonl", lines), block_size=size)
        assert [trace["trace_id"] for trace in found["traces"]] == ["s"]
    lines[1].pop("sessionId")
    found = read(write(tmp_path, "s.jsonl", lines), "claude-code")
    assert [(trace["trace_id"], trace["session_id"]) for trace in found["traces"]] == [("s.jsonl", None)]


def test_ids_of_another_session_are_another_sessions(tmp_path):
    for name in ("p", "q"):
        write(tmp_path, f"{name}.jsonl", Session(name).model("m", use("a", "Bash")).result("a", f"of {name}").lines)
    assert rows(read(tmp_path), "trace", "result") == [(0, "of p"), (1, "of q")]


# ------------------------------------------------------------------------------------------------- killed sessions

KILLED = {
    "claude-code": Session().user("go").model("m1", use("a", "Bash")).lines,
    "codex": [
        {"timestamp": clock(1), "type": "session_meta", "payload": {"id": "s"}},
        {
            "timestamp": clock(2),
            "type": "response_item",
            "payload": {"type": "function_call", "name": "Bash", "arguments": "{}", "call_id": "a"},
        },
    ],
    "pi": [
        {"type": "session", "id": "s", "cwd": "/w"},
        {
            "type": "message",
            "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "Bash"}]},
        },
    ],
}


@pytest.mark.parametrize("format", KILLED)
def test_a_killed_session_ends_in_half_a_line(tmp_path, format):
    """What stands before is read; the half line is rejected, and nobody says that the session is complete."""
    half = json.dumps(KILLED[format][1])[:40]
    found = read(write(tmp_path, "s.jsonl", [*KILLED[format], half], end=""), block_size=64)
    assert [call["name"] for call in found["calls"]] == ["Bash"]
    assert [trace["complete"] for trace in found["traces"]] == [False]
    assert "unterminated" in found["rejects"][0]["reason"]
    assert found["n_records"] == len(KILLED[format]) + 1
    whole = read(write(tmp_path, "s.jsonl", KILLED[format], end=""))
    assert [trace["complete"] for trace in whole["traces"]] == [None]
    packed = tmp_path / "z.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "s.jsonl").read_bytes()))
    assert [call["name"] for call in read(packed)["calls"]] == ["Bash"]


# ------------------------------------------------------------------------------------------------- Codex


def rollout(*payloads, id="r", meta=None):  # noqa: A002
    lines = [{"timestamp": clock(0), "type": "session_meta", "payload": {"id": id, **(meta or {})}}]
    for k, (kind, payload) in enumerate(payloads):
        lines.append({"timestamp": clock(k + 1), "type": kind, "payload": payload})
    return lines


def asks(id, name="exec_command", **more):  # noqa: A002
    return "response_item", {"type": "function_call", "name": name, "call_id": id, "arguments": "{}", **more}


def gives(id, output):  # noqa: A002
    return "response_item", {"type": "function_call_output", "call_id": id, "output": output}


def event(type, **members):
    return "event_msg", {"type": type, **members}


def test_events_add_to_calls_and_are_none(tmp_path):
    lines = rollout(
        ("turn_context", {"model": "m1"}),
        asks("a"),
        event("exec_command_begin", call_id="a", command=["ls"]),
        event("exec_command_end", call_id="a", exit_code=2, duration={"secs": 1, "nanos": 500000000}),
        gives("a", "no such file"),
        event("token_count", info={"last_token_usage": {"input_tokens": 7, "output_tokens": 3}}),
        event("token_count", info=None),
        ("turn_context", {"model": "m2"}),
        asks("b"),
        gives("b", json.dumps({"output": "x", "metadata": {"exit_code": 0}})),
        asks("c"),
        gives("c", "Exit code: 1\nOutput:\nboom"),
        asks("d"),
        gives("d", "exec command rejected by user"),
        ("response_item", {"type": "custom_tool_call", "name": "apply_patch", "call_id": "e", "input": "*** Begin"}),
        event("patch_apply_end", call_id="e", success=True),
        event("agent_message", message="done"),
        (
            "response_item",
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
        ),
    )
    path = write(tmp_path, "rollout.jsonl", lines)
    found = read(path)
    assert rows(found, "call_id", "status", "duration_ms") == [
        ("a", "error", 1500),
        ("b", "ok", 1000),
        ("c", "error", 1000),
        ("d", "denied", 1000),
        ("e", "ok", None),
    ]
    assert rows(found, "arguments", "arguments_form", "kind")[3:] == [
        ("{}", JSON_STRING, None),
        ("*** Begin", FREE_TEXT, "custom"),
    ]
    trace = found["traces"][0]
    assert (trace["trace_id"], trace["input_tokens"], trace["output_tokens"]) == ("r", 7, 3)
    assert trace["final_answer"] is None  # said in one breath with the patch, which has no result
    spans = [span for batch in batches(path) for span in batch.spans.to_pylist() if span["kind"] == "llm"]
    assert [span["model"] for span in spans][:2] == ["m1", "m2"]


def test_a_spawned_rollout_belongs_to_its_parent(tmp_path):
    meta = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "top"}}}}
    write(tmp_path, "b.jsonl", rollout(asks("x", "spawn_agent"), ("turn_context", {}), asks("y"), id="top"))
    write(tmp_path, "a.jsonl", rollout(("turn_context", {}), asks("z"), id="sub", meta=meta))
    found = read(tmp_path)
    assert rows(found, "trace", "call_id", "depth", "agent") == [
        (0, "x", 0, None),
        (0, "z", 1, "sub"),
        (0, "y", 0, None),
    ]
    assert [call["call_index"] for call in found["calls"]] == [0, 1, 2]
    alone = read(tmp_path / "a.jsonl")
    assert [(call["trace"], call["depth"]) for call in alone["calls"]] == [(0, 0)]
    assert alone["traces"][0]["trace_id"] == "sub"


def test_calls_of_two_files_at_one_instant_stand_in_the_order_of_the_files_and_that_is_told(tmp_path):
    spawn = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "r"}}}}
    write(tmp_path, "a.jsonl", rollout(asks("1"), id="r"))
    write(tmp_path, "b.jsonl", rollout(asks("2"), id="child", meta=spawn))
    found = read(tmp_path)
    assert rows(found, "call_id", "call_index") == [("1", 0), ("2", 1)]
    ((text, (number, place)),) = found["remarks"].items()
    assert (number, place) == (1, "b.jsonl:2")
    assert "at the same instant as one in another file" in text


def test_older_rollouts_are_items_behind_a_line_that_names_the_session(tmp_path):
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "There is a."}]}
    lines = [{"id": "old", "timestamp": clock(0), "instructions": None}, {"record_type": "state"}]
    lines += [asks("1", arguments='{"command": ["ls"]}')[1], gives("1", '{"metadata": {"exit_code": 2}}')[1], message]
    found = read(write(tmp_path, "s.jsonl", lines))
    assert rows(found, "name", "arguments", "call_id", "status") == [
        ("exec_command", '{"command": ["ls"]}', "1", "error")
    ]
    (trace,) = found["traces"]
    assert (trace["trace_id"], trace["final_answer"], trace["llm_calls"]) == ("old", "There is a.", 2)
    assert trace["started_at"].isoformat() == "2026-11-03T10:00:00+00:00"
    assert not found["rejects"]


def test_printed_events_are_calls_when_they_are_done_and_once(tmp_path):
    def item(event, number, kind, **more):
        return {"type": f"item.{event}", "item": {"id": f"item_{number}", "type": kind, **more}}

    lines = [
        {"type": "thread.started", "thread_id": "t"},
        item("started", 1, "command_execution", command="ls", status="in_progress"),
        item("completed", 1, "command_execution", command="ls", aggregated_output="a", exit_code=0, status="completed"),
        item("updated", 2, "todo_list", items=[]),
        item("completed", 3, "mcp_tool_call", server="s", tool="find", arguments={"q": 1}, error={"message": "no"}),
        item("completed", 4, "command_execution", command="rm x", status="declined"),
        item("completed", 5, "agent_message", text="Done."),
        item("started", 6, "web_search", query="q"),
        item("started", 6, "web_search", query="q"),
        {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 2}},
        {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 2}},
    ]
    found = read(write(tmp_path, "s.jsonl", lines))
    assert rows(found, "name", "arguments", "status", "result", "error") == [
        ("shell", '{"command": "ls"}', "ok", "a", None),
        ("mcp__s__find", '{"q": 1}', "error", None, "no"),
        ("shell", '{"command": "rm x"}', "denied", None, None),
        ("web_search", '{"query": "q"}', None, None, None),
    ]
    (trace,) = found["traces"]
    assert (trace["trace_id"], trace["final_answer"], trace["input_tokens"]) == ("t", "Done.", 20)


def test_arguments_that_are_not_there_were_not_captured(tmp_path):
    kind, payload = asks("a")
    del payload["arguments"]
    found = read(write(tmp_path, "r.jsonl", rollout((kind, payload), asks("b", arguments={"x": 1}))))
    assert rows(found, "arguments", "arguments_form")[0] == (None, NOT_CAPTURED)
    assert found["calls"][1]["arguments"] == '{"x": 1}'


# ------------------------------------------------------------------------------------------------- the others


def test_equal_events_without_ids_are_not_one(tmp_path):
    begin = {"type": "tool.start", "sessionKey": "agent:main:main", "agentId": "main", "toolName": "exec", "params": {}}
    end = {"type": "tool.end", "sessionKey": "agent:main:main", "agentId": "main", "toolName": "exec", "success": True}
    found = read(write(tmp_path, "t.jsonl", [begin, end, begin, {**end, "success": False, "error": "x"}, begin]))
    assert rows(found, "turn", "status", "error") == [(0, "ok", None), (1, "error", "x"), (2, None, None)]


EVENTS = [
    {"type": "message_start", "message": {"role": "assistant", "model": "m", "usage": {"input_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": use("a", "f")},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"x": '}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "1"}},
    {"type": "content_block_start", "index": 1, "content_block": use("b", "g", y=2)},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "}"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_stop"},
    {"type": "message_start", "message": {"role": "assistant", "model": "m"}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Do"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Do"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
    {"type": "message_stop"},
]


@pytest.mark.parametrize("kind", ["lines", "server-sent events"])
def test_a_stream_is_put_together(tmp_path, kind):
    lines = EVENTS
    if kind != "lines":
        lines = [text for each in EVENTS for text in (f"event: {each['type']}", f"data: {json.dumps(each)}", "")]
        lines[3:3] = [": keep alive", "event: ping", 'data: {"type": "ping"}', ""]
    path = write(tmp_path, "stream.txt", lines)
    found = read(path, block_size=100)
    assert open_input(path).format_name == "anthropic-stream"
    assert rows(found, "name", "arguments", "turn") == [("f", '{"x": 1}', 0), ("g", '{"y": 2}', 0)]
    trace = found["traces"][0]
    assert (trace["final_answer"], trace["llm_calls"], trace["output_tokens"]) == ("DoDo", 2, 4)
    assert trace["complete"] is None
    assert found["rejects"] == []


def test_a_stream_that_breaks_off_is_truncated_and_not_the_models_fault(tmp_path):
    found = read(write(tmp_path, "stream.jsonl", EVENTS[:4]))
    assert rows(found, "arguments", "arguments_form") == [('{"x": 1', TRUNCATED)]
    assert found["traces"][0]["complete"] is False
    stopped = read(write(tmp_path, "stream.jsonl", [*EVENTS[:4], {"type": "message_stop"}]))
    assert rows(stopped, "arguments", "arguments_form") == [('{"x": 1', JSON_STRING)]


def test_pi_sessions_of_other_harnesses(tmp_path):
    lines = [
        {"type": "session", "harness": "other", "id": "h"},
        {"type": "message", "message": {"role": "user", "content": "hi"}},
        {"type": "message", "message": {"role": "assistant", "content": "hello"}},
    ]
    trace = read(write(tmp_path, "h.jsonl", lines))["traces"][0]
    assert (trace["trace_id"], trace["final_answer"], trace["tags"]) == ("h", "hello", '{"harness": "other"}')
