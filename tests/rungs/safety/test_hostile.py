"""Texts made to keep a backtracking regular expression busy: each must be done within seconds, not hours."""

import json
import time

import pytest

from tests.rungs.safety.test_packs import DEFAULT
from tracelens.rungs.safety import analyse_answer, analyse_call

SIZE = 8_000
UNITS = ["a", "aA0", "a.", "git ", "rm -", "curl -d x ", "drop /**/", "drop -- x\n", "sh -x ", "shell=", "(){", "x|", '"', "'",
         "\\", "\\\\", "/", "../", "%25", "~/", "$(", "`", ";", "sk-", "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "://a:",
         "password=", "delete from x ", "kubectl ", "requests.post(", "/etc/x ", "http://", "find x -exec ", "A_", "--"]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_no_text_takes_forever(unit):
    text = unit * (SIZE // len(unit))
    start = time.process_time()
    for key in ("command", "body", "x"):
        analyse_call("t", json.dumps({key: text}), "object", DEFAULT)
    analyse_call("t", text, "invalid_json", DEFAULT)
    analyse_answer(text, DEFAULT)
    assert time.process_time() - start < 20
