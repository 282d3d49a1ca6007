"""Message lists and session files: every file of the shared samples, against what was read in the raw files by hand."""

import json

import duckdb
import pytest

from tests.sources.reading import read
from tracelens.columns import NOT_CAPTURED
from tracelens.sources.detect import open_input

SFO = {"origin": "SFO", "destination": "JFK", "date": "2026-11-02"}
OAK = SFO | {"origin": "OAK"}
BROKEN = '{"flight_id": "UA-512", "seat": '
PNR = {"flight_id": "UA-512", "pnr": 9007199254740993}
BAGS = {"q": "baggage – 手荷物 🧳"}
LANGCHAIN = [
    (0, "search_flights", SFO),
    (1, "search_flights", OAK),
    (2, "book_flight", PNR),
    (3, "ask_policy", BAGS),
    (4, "book_flight", BROKEN),  # an invalid call; where it stood among the others is not recorded
]
PATCH = (
    "*** Begin Patch\n*** Update File: internal/parser/codex.go\n*** Update File: internal/parser/parser_test.go\n"
    "*** End Patch"
)
TAXES = (
    '{"filename": "taxes.txt", "lines_of_text": [\n"# COMPREHENSIVE TAX GUIDE FOR INDIVIDUALS WITH MULTIPLE W-2s",\n'
    '"",\n"## INTRODUCTION",\n"",\n"Filing taxes'
)

# file: format, traces, calls, calls with arguments, errors; some calls as (index, name, arguments)
SAMPLES = {
    "openai_messages/evaluation_data.jsonl": (
        ("azure-evaluation", 5, 4, 4, 0),
        [
            (0, "fetch_weather", {"location": "London"}),
            (1, "fetch_weather", {"location": "Seattle"}),
            (2, "opening_hours", {"tourist_destination": "Space Needle"}),
        ],
    ),
    "provider_messages/anthropic_conversation.json": (("anthropic", 1, 0, 0, 0), []),
    "provider_messages/anthropic_stream.json": (("anthropic", 1, 0, 0, 0), []),
    "provider_messages/anthropic_system_message.json": (("anthropic", 1, 0, 0, 0), []),
    "provider_messages/openai_agents_response.json": (("responses", 1, 0, 0, 0), []),
    "provider_messages/openai_agents_tool_response.json": (
        ("responses", 1, 1, 1, 0),
        [(0, "get_weather", {"location": "New York City", "units": "celsius"})],
    ),
    "provider_messages/openai_response.json": (("responses", 1, 0, 0, 0), []),
    "provider_messages/openai_response_tool_calls.json": (
        ("responses", 1, 1, 1, 0),
        [(0, "get_weather", {"location": "San Francisco", "unit": "metric"})],
    ),
    "openai_responses/openai-mcp-tool.1.json": (
        ("responses", 1, 1, 1, 0),
        [(0, "web_search_exa", {"query": "NYC mayoral election results 2025 latest", "numResults": 5})],
    ),
    "openai_responses/openai-web-search-tool.1.json": (
        ("responses", 1, 3, 3, 0),
        [
            (
                2,
                "web_search",
                {
                    "type": "find_in_page",
                    "pattern": "Vercel",
                    "url": "https://www.theverge.com/podcast/838932/openai-chatgpt-code-red-vergecast",
                },
            )
        ],
    ),
    "openai_responses/programmatic-tool-calling.1.json": (
        ("responses", 1, 2, 2, 0),
        [(1, "getInventory", {"sku": "sku_123"})],
    ),
    "anthropic_messages/anthropic-web-fetch-tool.1.json": (
        ("anthropic", 1, 1, 1, 0),
        [(0, "web_fetch", {"url": "https://en.wikipedia.org/wiki/Maglemosian_culture"})],
    ),
    "anthropic_messages/anthropic-web-search-tool.1.json": (
        ("anthropic", 1, 2, 2, 0),
        [
            (0, "web_search", {"query": "tech news today September 26 2024"}),
            (1, "web_search", {"query": '"September 26 2024" tech news breaking'}),
        ],
    ),
    "anthropic_stream/incomplete_partial_json_response.txt": (
        ("anthropic-stream", 1, 1, 1, 0),
        [
            (
                0,
                "make_file",
                TAXES,
            )
        ],
    ),
    "langchain_messages/langchain_lc_constructor.json": (("langchain", 1, 5, 5, 1), LANGCHAIN),
    "langchain_messages/langgraph_messages_to_dict.json": (("langchain", 1, 5, 5, 1), LANGCHAIN),
    "langchain_messages/langgraph_model_dump.json": (("langchain", 1, 5, 5, 1), LANGCHAIN),
    "pydantic_ai/all_messages.json": (
        ("pydantic-ai", 1, 6, 6, 2),
        [
            (0, "search_flights", SFO),
            (1, "search_flights", OAK),
            (2, "book_flight", BROKEN),
            (3, "book_flight", {"flight_id": "XX-1", "pnr": 9007199254740993}),
            (4, "book_flight", PNR),
            (5, "ask_policy", BAGS),
        ],
    ),
    "claude_code/agent_session.jsonl": (
        ("claude-code", 1, 1, 1, 0),
        [
            (
                0,
                "Task",
                {
                    "description": "Explore codebase structure",
                    "prompt": "Explore the structure of this codebase and report the main directories and files.",
                    "subagent_type": "Explore",
                },
            )
        ],
    ),
    "claude_code/ccl__AskUserQuestion-tool_use.jsonl": (("claude-code", 1, 1, 1, 0), []),
    "claude_code/ccl__Bash-tool_result_error.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/ccl__Task-tool_result.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/ccl__Task-tool_use.jsonl": (("claude-code", 1, 1, 1, 0), []),
    "claude_code/ccl__assistant_sidechain.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/clear_split_session.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/compaction_session.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/representative_messages.jsonl": (
        ("claude-code", 1, 2, 2, 0),
        [
            (
                1,
                "Bash",
                {
                    "command": "python /tmp/decorator_example.py",
                    "description": "Run the decorator example to show output",
                },
            )
        ],
    ),
    "claude_code/sample_session.json": (
        ("claude-code", 1, 12, 12, 1),
        [
            (1, "Bash", {"command": "python -m pytest tests/", "description": "Run pytest on tests directory"}),
            (5, "Glob", {"pattern": "**/*.py", "path": "/project"}),
            (7, "Grep", {"pattern": "def subtract", "path": "/project", "output_mode": "content"}),
            (
                9,
                "Edit",
                {
                    "file_path": "/project/tests/test_math.py",
                    "old_string": "assert subtract(10, 5) == None",
                    "new_string": "assert subtract(10, 5) == 5",
                    "replace_all": True,
                },
            ),
        ],
    ),
    "claude_code/sample_session.jsonl": (
        ("claude-code", 1, 2, 2, 0),
        [
            (
                0,
                "Write",
                {"file_path": "/project/hello.py", "content": "def hello():\n    return 'Hello, World!'\n"},
            ),
            (
                1,
                "Bash",
                {"command": "git add . && git commit -m 'Add hello function'", "description": "Commit changes"},
            ),
        ],
    ),
    "claude_code/session_b.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/simple_conversation.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/slug_clear_partner.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/slug_clear_session.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/slug_multi_clear_file1.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/slug_multi_clear_file2.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/slug_session_1.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/slug_session_2.jsonl": (("claude-code", 1, 0, 0, 0), []),
    "claude_code/valid_session.jsonl": (("claude-code", 1, 1, 1, 0), [(0, "Read", {"file_path": "src/auth.ts"})]),
    "codex/ccl__collaboration__agent-tools.json": (
        ("codex", 1, 1, 1, 0),
        [(0, "spawn_agent", {"task_name": "synthetic_research", "message": "Inspect synthetic fixtures."})],
    ),
    "codex/ccl__collaboration__thread-spawn.json": (("codex", 1, 0, 0, 0), []),
    "codex/ccl__lifecycle__turn-context.json": (("codex", 1, 0, 0, 0), []),
    "codex/ccl__messages__environment-context.json": (("codex", 1, 0, 0, 0), []),
    "codex/ccl__messages__user-shell-command.json": (("codex", 1, 0, 0, 0), []),  # the user's command is no call
    "codex/ccl__messages__visible-pair.json": (("codex", 1, 0, 0, 0), []),
    "codex/ccl__reasoning__summary.json": (("codex", 1, 0, 0, 0), []),
    "codex/ccl__tools__async-command.json": (
        ("codex", 1, 2, 2, 0),
        [(0, "exec_command", {"cmd": "pytest -q"}), (1, "wait", {"cell_id": "synthetic-cell"})],
    ),
    "codex/ccl__tools__function-call.json": (
        ("codex", 1, 1, 1, 0),
        [(0, "exec_command", {"cmd": "find . -maxdepth 1 -type f"})],
    ),
    "codex/fc_args_1.jsonl": (
        ("codex", 1, 1, 1, 0),
        [(0, "exec_command", {"cmd": "rg --files", "workdir": "/tmp"})],  # noqa: S108
    ),
    "codex/fc_args_2.jsonl": (("codex", 1, 1, 1, 0), [(0, "apply_patch", {"patch": PATCH})]),
    "codex/function_calls.jsonl": (
        ("codex", 1, 2, 0, 0),
        [(0, "shell_command", NOT_CAPTURED), (1, "apply_patch", NOT_CAPTURED)],
    ),
    "gemini_cli/standard_session.json": (("gemini-cli", 1, 0, 0, 0), []),
    "gemini_cli/system_messages.json": (("gemini-cli", 1, 0, 0, 0), []),
    "gemini_cli/thinking_only.json": (("gemini-cli", 1, 0, 0, 0), []),
    "openclaw_telemetry/sample-telemetry.jsonl": (
        ("openclaw", 1, 14, 14, 0),
        [
            (0, "exec", {"command": "echo whoami"}),
            (1, "exec", {"command": "whoami"}),
            (11, "sessions_yield", {"message": "East done. Waiting on weather-west and weather-central."}),
            (13, "sessions_yield", {"message": "West complete. Waiting on Central and East."}),
        ],
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_gives_the_calls_that_stand_in_it(shared, name):
    counts, checked = SAMPLES[name]
    path = shared / "samples" / name
    got = read(path)
    calls = got["calls"]
    with_arguments = [call for call in calls if call["arguments"] is not None]
    errors = [call for call in calls if call["status"] == "error"]
    found = (open_input(path).format_name, len(got["traces"]), len(calls), len(with_arguments), len(errors))
    assert found == counts
    assert got["rejects"] == []
    for index, tool, arguments in checked:
        call = calls[index]
        assert call["name"] == tool
        if arguments is NOT_CAPTURED:
            assert (call["arguments"], call["arguments_form"]) == (None, NOT_CAPTURED)
        elif isinstance(arguments, str):
            assert call["arguments"] == arguments
        else:
            assert json.loads(call["arguments"]) == arguments


def test_no_sample_of_these_formats_is_left_out(shared):
    folders = {name.split("/")[0] for name in SAMPLES}
    files = {f"{folder}/{path.name}" for folder in folders for path in (shared / "samples" / folder).iterdir()}
    assert files == set(SAMPLES)


ANSWERS = {
    "openai_responses/openai-mcp-tool.1.json": "Yes — the latest results (from Nov 4–6, 2025) show Zohran Mamdani",
    "anthropic_messages/anthropic-web-fetch-tool.1.json": "This Wikipedia page is about the **Maglemosian culture**",
    "anthropic_messages/anthropic-web-search-tool.1.json": "Based on the search results, here are the key tech news",
    "provider_messages/anthropic_stream.json": "Here is me counting slowly from 1 to 5:",
    "provider_messages/openai_agents_response.json": "The capital of France is Paris.",
    "langchain_messages/langchain_lc_constructor.json": "Booked UA-512.",
    "pydantic_ai/all_messages.json": "Booked UA-512.",
    "claude_code/agent_session.jsonl": "Based on the exploration, the codebase has three main directories",
    "claude_code/compaction_session.jsonl": "Based on the summary, you were discussing project structure",
    "gemini_cli/thinking_only.json": "Here is how it works: the system reads the config file on startup.",
    "openclaw_telemetry/sample-telemetry.jsonl": "# Western US Weather",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_final_answer_is_found(shared, name):
    assert read(shared / "samples" / name)["traces"][-1]["final_answer"].startswith(ANSWERS[name])


def test_one_flight_run_is_the_same_in_every_serialisation(shared):
    folder = shared / "samples" / "langchain_messages"
    runs = [read(path)["calls"] for path in sorted(folder.iterdir())]
    for calls in runs:
        assert [call["turn"] for call in calls] == [0, 0, 1, 1, 1]
        assert [call["status"] for call in calls] == ["ok", "ok", "ok", "ok", "error"]
        assert [json.loads(call["arguments"]) for call in calls[:4]] == [SFO, OAK, PNR, BAGS]
        assert {call["agent"] for call in calls} == {"flight_agent"}
    told = read(shared / "samples" / "pydantic_ai" / "all_messages.json")["calls"]
    assert [call["status"] for call in told] == ["ok", "ok", "error", "error", "ok", "ok"]
    assert [call["turn"] for call in told] == [0, 0, 1, 2, 3, 3]
    assert [call["result"] for call in told[3::2]] == ["no such flight", "2 bags"]


def test_a_sub_agent_of_telemetry_is_a_depth_down(shared):
    calls = read(shared / "samples" / "openclaw_telemetry" / "sample-telemetry.jsonl")["calls"]
    assert [call["depth"] for call in calls] == [0] * 6 + [1] * 5 + [0, 0, 0]
    assert [call["turn"] for call in calls][:6] == [0, 1, 2, 2, 2, 3]
    assert [call["duration_ms"] for call in calls][2:5] == [410, 508, 605]


def test_a_long_session(shared):
    path = shared / "workloads" / "pi-sessions" / "large-session.jsonl"
    got = read(path)
    calls, trace = got["calls"], got["traces"][0]
    assert (len(calls), sum(call["status"] == "error" for call in calls)) == (391, 19)
    assert sum(call["result"] is None for call in calls) == 18  # asked for, and interrupted
    names = [call["name"] for call in calls]
    assert {name: names.count(name) for name in set(names)} == {"bash": 192, "edit": 146, "read": 50, "write": 3}
    assert (trace["trace_id"], trace["llm_calls"]) == ("d703a1a9-1b7b-4fb1-b512-c9738b1fe617", 439)
    assert (trace["input_tokens"], trace["output_tokens"]) == (47_526_750, 83_156)
    assert trace["cost"] == pytest.approx(30.3301977)
    assert trace["final_answer"].startswith("Oh wait, these errors look like we have API mismatches!")
    sql = """select b->>'name', b->'arguments' from (select unnest(from_json(message->'content', '["JSON"]')) as b
             from read_json(?, format = 'newline_delimited', columns = {message: 'JSON'}))
             where b->>'type' = 'toolCall'"""
    oracle = duckdb.execute(sql, [str(path)]).fetchall()
    assert [(call["name"], call["arguments"]) for call in calls] == oracle
