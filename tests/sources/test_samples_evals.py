"""Evaluation files of other tools: every file of the shared samples, against what was read in the raw files by hand."""

import json

import pytest

from tests.sources.reading import read
from tracelens.errors import InputError
from tracelens.sources.detect import open_input

# file: format, traces, calls, calls with arguments, errors, expected calls, and some calls as (index, name, arguments)
FLIGHT = {"origin": "SFO", "destination": "JFK", "date": "2026-11-02"}
LIGHT = {"location": "Bedroom", "device_id": "device_2", "status": "OFF"}
SAMPLES = {
    "adk_eval/ecommerce_customer_service_agent__order_query.test.json": (
        ("adk-eval", 1, 7, 7, 0, 7),
        [(0, "send_email", {"email": "alice@example.com", "user_id": "user_a"})],
    ),
    "adk_eval/generated_2.13.evalset.json": (
        ("adk-eval", 1, 5, 5, 1, 5),
        [
            (0, "search_flights", FLIGHT),
            (2, "book_flight", {"flight_id": "XX-1"}),
            (3, "book_flight", {"flight_id": "UA-512", "pnr": 9007199254740993}),
            (4, "policy_agent", {"request": "baggage – 手荷物 🧳"}),
        ],
    ),
    "adk_eval/home_automation_agent__simple_test.test.json": (
        ("adk-eval", 1, 1, 1, 0, 1),
        [(0, "set_device_info", LIGHT)],
    ),
    "adk_eval/home_automation_agent__simple_test2.test.json": (
        ("adk-eval-legacy", 1, 1, 1, 0, 1),
        [(0, "set_device_info", LIGHT | {"device_id": "device_3"})],
    ),
    "adk_eval/home_automation_agent__test_files__simple_test.test.json": (
        ("adk-eval", 1, 1, 1, 0, 1),
        [(0, "set_device_info", LIGHT)],
    ),
    "adk_eval/home_automation_agent__test_files__simple_test2.test.json": (("adk-eval", 1, 1, 1, 0, 1), []),
    "adk_eval/samples__RAG__eval__data__conversation.test.json": (("adk-eval-legacy", 1, 20, 20, 0, 20), []),
    "adk_eval/samples__academic-research__eval__data__seminal.test.json": (("adk-eval", 1, 0, 0, 0, 0), []),
    "adk_eval/samples__brand-search-optimization__eval__data__eval_data1.evalset.json": (
        ("adk-eval-legacy", 1, 10, 10, 0, 10),
        [
            (0, "transfer_to_agent", {"agent_name": "keyword_finding_agent"}),
            (1, "get_product_details_for_brand", {}),
            (3, "go_to_url", {"url": "https://www.google.com/search?q=kids shoes"}),
        ],
    ),
    "adk_eval/samples__customer-service__eval__eval_data__simple.test.json": (("adk-eval-legacy", 1, 1, 1, 0, 1), []),
    "adk_eval/samples__financial-advisor__eval__data__seminal.test.json": (("adk-eval-legacy", 1, 0, 0, 0, 0), []),
    "adk_eval/samples__llm-auditor__eval__data__blueberries.test.json": (("adk-eval-legacy", 1, 0, 0, 0, 0), []),
    "adk_eval/samples__llm-auditor__eval__data__ice_cream_sandwich.test.json": (("adk-eval-legacy", 1, 0, 0, 0, 0), []),
    "adk_eval/samples__marketing-agency__eval__data__seminal.test.json": (("adk-eval-legacy", 1, 0, 0, 0, 0), []),
    "adk_eval/samples__personalized-shopping__eval__eval_data__simple.test.json": (
        ("adk-eval-legacy", 1, 0, 0, 0, 0),
        [],
    ),
    "adk_eval/samples__travel-concierge__eval__data__inspire.test.json": (("adk-eval", 1, 5, 5, 0, 5), []),
    "adk_eval/samples__travel-concierge__eval__data__intrip.test.json": (("adk-eval", 1, 12, 12, 0, 12), []),
    "adk_eval/samples__travel-concierge__eval__data__pretrip.test.json": (("adk-eval", 1, 6, 6, 0, 6), []),
    "adk_eval/trip_planner_agent__initial.session.json": (("adk-session", 1, 0, 0, 0, 0), []),
    "adk_eval/trip_planner_agent__test_files__trip_inquiry_sub_agent.test.json": (("adk-eval", 1, 0, 0, 0, 0), []),
    "adk_eval/trip_planner_agent__trip_inquiry.test.json": (("adk-eval-legacy", 1, 1, 1, 0, 1), []),
    "atif/openhands_hello-world.trajectory.json": (
        ("atif", 1, 2, 2, 0, 0),
        [(1, "finish", {"message": "Task complete. Created /app/hello.txt with 'Hello, world!'"})],
    ),
    # these two agents write their commands into their texts: the file has no calls
    "atif/openhands_hello-world.trajectory.no_function_calling.json": (("atif", 1, 0, 0, 0, 0), []),
    "atif/terminus_2_hello-world-context-summarization-linear-history.trajectory.cont-1.json": (
        ("atif", 1, 0, 0, 0, 0),
        [],
    ),
    "inspect_ai/log_formats.eval": (("inspect", 1, 0, 0, 0, 0), []),
    "inspect_ai/log_formats.json": (("inspect", 1, 0, 0, 0, 0), []),
    "inspect_ai/log_message_deduplication.eval": (
        ("inspect", 1, 5, 5, 0, 0),
        [(k, "bash", {"cmd": "ls"}) for k in range(5)],
    ),
    "inspect_ai/log_read_sample.json": (("inspect", 1, 0, 0, 0, 0), []),
    "inspect_ai/log_streaming.eval": (("inspect", 4, 0, 0, 0, 0), []),
    "inspect_ai/security-guide.eval": (("inspect", 16, 0, 0, 0, 0), []),
    "mini_swe_agent/local.traj.json": (
        ("mini-swe-agent", 1, 2, 2, 0, 0),
        [
            (0, "bash", {"command": "echo 'hello world'"}),
            (1, "bash", {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}),
        ],
    ),
    "openhands/basic_gui_mode.json": (
        ("openhands", 1, 4, 4, 1, 0),
        [
            (0, "execute_bash", {"command": "mkdir -p /workspace/todo-app"}),
            (3, "execute_bash", {"command": "cd /workspace/todo-app && python3 -m http.server 8000"}),
        ],
    ),
    "openhands/basic_interactions.json": (("openhands", 1, 1, 1, 0, 0), [(0, "finish", {})]),
    "openhands/output.jsonl": (("openhands", 2, 26, 26, 0, 0), [(0, "run", {"command": "touch LICENSE"})]),
    "openhands/wrong_initial_state.json": (
        ("openhands", 1, 4, 4, 0, 0),
        [
            (0, "str_replace_editor", {"command": "view", "path": "/workspace"}),
            (1, "execute_bash", {"command": "mv /workspace/game_2048.py /workspace/2048.py", "is_input": "false"}),
        ],
    ),
    "swe_agent_traj/i_got_id_demo.traj": (("swe-agent", 1, 21, 21, 0, 0), []),
    "swe_agent_traj/katy.traj": (("swe-agent", 1, 18, 18, 0, 0), []),
    "swe_agent_traj/pydicom__pydicom-1458.traj": (("swe-agent", 1, 12, 12, 0, 0), []),
    "swe_agent_traj/replay__marshmallow-code__marshmallow-1867__function_calling_replace__install-1__"
    "marshmallow-code__marshmallow-1867.traj": (
        ("swe-agent", 1, 11, 11, 0, 0),
        [
            (0, "create", {"filename": "reproduce.py"}),
            (2, "bash", {"command": "python reproduce.py"}),
            (10, "submit", {}),
        ],
    ),
    "swe_agent_traj/replay__marshmallow-code__marshmallow-1867__xml_sys-env_window100__t-0.20__p-0.95__c-2.00__"
    "install-1__marshmallow-code__marshmallow-1867.traj": (("swe-agent", 1, 11, 11, 0, 0), []),
}
WORKLOADS = {
    "bfcl/BFCL_v4_multiple.json": (("bfcl-questions", 200, 0, 0, 0, 0), []),
    "bfcl/BFCL_v4_parallel.json": (("bfcl-questions", 200, 0, 0, 0, 0), []),
    "bfcl/BFCL_v4_parallel_multiple.json": (("bfcl-questions", 200, 0, 0, 0, 0), []),
    "bfcl/BFCL_v4_simple_python.json": (("bfcl-questions", 400, 0, 0, 0, 0), []),
    "bfcl/possible_answer/BFCL_v4_multiple.json": (("bfcl-answers", 200, 0, 0, 0, 200), []),
    "bfcl/possible_answer/BFCL_v4_parallel.json": (("bfcl-answers", 200, 0, 0, 0, 540), []),
    "bfcl/possible_answer/BFCL_v4_parallel_multiple.json": (("bfcl-answers", 200, 0, 0, 0, 607), []),
    "bfcl/possible_answer/BFCL_v4_simple_python.json": (("bfcl-answers", 400, 0, 0, 0, 400), []),
    "tau2/airline_tasks.json": (("tau2-tasks", 50, 0, 0, 0, 142), []),
    "tau2/mock_tasks.json": (("tau2-tasks", 10, 0, 0, 0, 8), []),
    "tau2/retail_tasks.json": (("tau2-tasks", 114, 0, 0, 0, 550), []),
    # 27 actions, 20 of them of the simulated user
    "tau2/telecom_tasks_small.json": (("tau2-tasks", 20, 0, 0, 0, 7), []),
    "inspect/browser.json": (
        ("inspect", 1, 4, 4, 0, 0),
        [
            (0, "web_browser_go", {"url": "https://www.aisi.gov.uk/"}),
            (3, "web_browser_click", {"element_id": 903}),
        ],
    ),
    "openhands/multi_swe_bench_output.jsonl": (
        ("openhands", 3, 105, 105, 19, 0),
        [(0, "execute_bash", {"command": "ls -l /workspace/ponylang__ponyc__0.1"})],
    ),
}
EVERY = [("samples", *item) for item in SAMPLES.items()] + [("workloads", *item) for item in WORKLOADS.items()]

# parts of transcripts that a test of spans was made of, and lists of task ids: no records of what an agent did
NOT_OURS = [
    "samples/inspect_ai/leaf_tool_exclusion.json",
    "samples/inspect_ai/parallel_spans.json",
    "samples/inspect_ai/utility_subagent_loop.json",
    "workloads/tau2/airline_split_tasks.json",
    "workloads/tau2/mock_split_tasks.json",
    "workloads/tau2/retail_split_tasks.json",
    "workloads/tau2/telecom_split_tasks.json",
]


@pytest.mark.parametrize(("folder", "name", "wanted"), EVERY, ids=[name for _, name, _ in EVERY])
def test_a_shared_file(shared, folder, name, wanted):
    path = shared / folder / name
    counts, calls = wanted
    found = read(path)
    known = found["calls"]
    assert (
        open_input(path).format_name,
        len(found["traces"]),
        len(known),
        sum(call["arguments"] is not None for call in known),
        sum(call["status"] == "error" for call in known),
        len(found["expected"]),
    ) == counts
    assert not found["rejects"]
    for index, tool, arguments in calls:
        assert (known[index]["name"], json.loads(known[index]["arguments"])) == (tool, arguments)


@pytest.mark.parametrize("name", NOT_OURS)
def test_a_file_that_holds_no_traces_is_refused_with_what_it_looked_like(shared, name):
    with pytest.raises(InputError, match="the format is not recognised: its first record has the keys") as error:
        open_input(shared / name)
    assert "--format" in error.value.hint


def test_every_shared_file_of_these_formats_is_in_the_table(shared):
    folders = ["adk_eval", "atif", "inspect_ai", "mini_swe_agent", "openhands", "swe_agent_traj"]
    files = [path for folder in folders for path in (shared / "samples" / folder).iterdir()]
    files += [
        p
        for folder in ("bfcl", "tau2", "inspect", "openhands")
        for p in (shared / "workloads" / folder).rglob("*.json*")
    ]
    listed = {shared / folder / name for folder, name, _ in EVERY} | {shared / name for name in NOT_OURS}
    assert set(files) == listed


def test_what_else_shared_files_say(shared):
    adk = read(shared / "samples/adk_eval/generated_2.13.evalset.json")
    assert [(c["turn"], c["status"], c["agent"]) for c in adk["calls"]] == [
        (turn, status, "flight_agent") for turn, status in [(0, "ok"), (0, "ok"), (1, "error"), (2, "ok"), (2, "ok")]
    ]
    assert adk["calls"][2]["error"] == "no such flight"
    assert adk["traces"][0]["final_answer"] == "Booked UA-512."
    browser = read(shared / "workloads/inspect/browser.json")
    trace = browser["traces"][0]
    assert json.loads(trace["tags"]) == {"task": "browser", "model": "openai/gpt-4o-mini", "epoch": 1, "includes": "C"}
    assert (trace["trace_id"], trace["input_tokens"], trace["llm_calls"]) == ("ATYFNjyWUz4mZ5Dgj6yd4f", 15235, 5)
    assert browser["calls"][0]["duration_ms"] == pytest.approx(4317.574)
    tools = json.loads(trace["tools"])
    assert [tool["name"] for tool in tools][:2] == ["web_browser_go", "web_browser_click"]
    assert "attachment://" not in trace["tools"]
    events = read(shared / "workloads/openhands/multi_swe_bench_output.jsonl")
    assert [t["final_answer"] is None for t in events["traces"]] == [False, False, True]
    assert "maximum iteration" in json.loads(events["traces"][2]["tags"])["error"]
    text = read(shared / "samples/atif/openhands_hello-world.trajectory.no_function_calling.json")
    assert not text["traces"][0]["has_calls"]
    assert "acts by text" in text["notes"][0]


def test_actions_of_older_runs_are_free_text(shared):
    run = read(shared / "samples/swe_agent_traj/katy.traj")
    first = run["calls"][0]
    assert (first["name"], first["arguments"], first["arguments_form"], first["kind"]) == (
        "file",
        "file release",
        4,
        "custom",
    )
    assert first["result"].startswith("release: ELF 64-bit LSB executable")
