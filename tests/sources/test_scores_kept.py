"""Scores that other libraries wrote into their own formats become tags, to be held against ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sources.reading import read
from tracelens.sources import detect

SAMPLES = Path(detect.__file__).parent / "samples"
NOTE = '"annotations": [{"name": "helpful", "result": {"score": 0.5, "label": "good"}}]'
FEEDBACK = '"feedback": [{"feedback_type": "helpful", "payload": {"output": 0.5}}]'
LABEL = '"annotations": [{"name": "tone", "result": {"label": "kind", "score": null}}]'
PASSED = '"feedback": [{"feedback_type": "right", "payload": {"output": true}}]'

KEPT = [
    ("langfuse", "", "", {"langfuse.helpful": 0.5}),
    ("langsmith", "", "", {"langsmith.helpful": 0.5}),
    ("mlflow", "", "", {"mlflow.helpful": 0.5}),
    ("mlflow", '"feedback": {"value": 0.5}', '"feedback": {"value": "yes"}', {"mlflow.helpful": "yes"}),
    ("phoenix", '{"parent_id": null, ', '{"parent_id": null, ' + NOTE + ", ", {"phoenix.helpful": 0.5}),
    ("phoenix", '{"parent_id": null, ', '{"parent_id": null, ' + LABEL + ", ", {"phoenix.tone": "kind"}),
    ("deepeval", "", "", {"deepeval.Helpful": 0.5}),
    ("weave", '{"status": "success"}', '{"status": "success", ' + FEEDBACK + "}", {"weave.helpful": 0.5}),
    ("weave", '{"status": "success"}', '{"status": "success", ' + PASSED + "}", {"weave.right": True}),
    ("inspect", "", "", {"includes": "C", "steps": 3}),
    ("tau-bench", "", "", {"reward": 1.0}),
    ("tau2", "", "", {"reward": 1.0}),
]
"""Format, what is replaced in its sample by what, and the tags that there are then."""


@pytest.mark.parametrize(("format", "old", "new", "tags"), KEPT)
def test_scores_are_tags(format, old, new, tags, tmp_path):
    sample = SAMPLES / detect.source_named(format).sample
    text = sample.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / sample.name
    path.write_text(text.replace(old, new), encoding="utf-8")
    found = [json.loads(trace["tags"]) for trace in read(path, format)["traces"]]
    assert {name: found[0].get(name) for name in tags} == tags


def test_tau2_keeps_what_its_reward_is_made_of(tmp_path):
    value = json.loads((SAMPLES / "tau2.json").read_text(encoding="utf-8"))
    value["simulations"][0]["reward_info"] = {"reward": 0.0, "reward_breakdown": {"DB": 1.0, "ACTION": 0.0}}
    (tmp_path / "tau2.json").write_text(json.dumps(value), encoding="utf-8")
    (trace,) = read(tmp_path / "tau2.json")["traces"]
    tags = json.loads(trace["tags"])
    assert (tags["reward"], tags["reward.DB"], tags["reward.ACTION"]) == (0.0, 1.0, 0.0)
