"""The official JSON Schema test-suite: the reference against the expected verdicts, the fast path against the reference."""

import json
from functools import cache
from pathlib import Path

import pytest

from tests.rungs.schema.harness import fast, slow
from tests.rungs.schema.suite_files import Case, cases
from tracelens.rungs.schema.truth import CompiledSchema, compile_schema

HERE = Path(__file__).resolve().parent

REMOTE = {
    "draft2020-12/dynamicRef.json: strict-tree schema, guards against misspelled properties",
    "draft2020-12/dynamicRef.json: tests for implementation dynamic anchor and reference link",
    "draft2020-12/dynamicRef.json: $ref and $dynamicAnchor are independent of order - $defs first",
    "draft2020-12/dynamicRef.json: $ref and $dynamicAnchor are independent of order - $ref first",
    "draft2020-12/dynamicRef.json: $ref to $dynamicRef finds detached $dynamicAnchor",
    "draft2020-12/optional/cross-draft.json: refs to historic drafts are processed as historic drafts",
    "draft7/optional/cross-draft.json: refs to future drafts are processed as future drafts",
}
"""Groups whose schemas refer to documents elsewhere, which are never fetched."""

FOR_THE_REFERENCE = {
    "draft2020-12/defs.json", "draft2020-12/dynamicRef.json", "draft2020-12/not.json", "draft2020-12/ref.json",
    "draft2020-12/optional/bignum.json", "draft2020-12/optional/dynamicRef.json", "draft2020-12/unevaluatedItems.json",
    "draft2020-12/unevaluatedProperties.json", "draft7/optional/bignum.json",
}  # fmt: skip
"""Files with instances that the kernel leaves to the reference: dynamic references, unevaluated*, huge numbers."""


@cache
def compiled_cases(shared: Path) -> list[tuple[Case, CompiledSchema]]:
    known: dict[tuple[str, bool], CompiledSchema] = {}
    out = []
    for case in cases(shared):
        key = (json.dumps(case.schema), case.formats)
        if key not in known:
            known[key] = compile_schema(case.schema, formats=case.formats)
        out.append((case, known[key]))
    return out


@cache
def verdicts(shared: Path) -> dict[str, tuple[bool, bool]]:
    """Expected verdict and the reference's, by test."""
    usable = [(case, schema) for case, schema in compiled_cases(shared) if schema.usable]
    return {case.name: (case.valid, not slow(schema, json.dumps(case.data))) for case, schema in usable}


def listed() -> set[str]:
    lines = (HERE / "library_differs.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def test_only_schemas_with_remote_references_are_unusable(shared):
    unusable = {case.name.rsplit(": ", 1)[0] for case, schema in compiled_cases(shared) if not schema.usable}
    assert unusable == REMOTE


def test_every_verdict_is_the_expected_one_except_where_the_library_differs(shared):
    wrong = {name for name, (expected, found) in verdicts(shared).items() if expected != found}
    assert wrong - listed() == set(), "verdicts that are not the expected ones"
    assert listed() - wrong == set(), "exceptions that are stale"


def test_the_exceptions_are_the_library_s_own(shared):
    from jsonschema import validators

    for case, schema in compiled_cases(shared):
        if case.name in listed():
            original = validators.validator_for(case.schema, default=validators.Draft202012Validator)
            checker = original.FORMAT_CHECKER if case.formats else None
            assert original(case.schema, format_checker=checker).is_valid(case.data) != case.valid, case.name
            assert schema.usable


def test_patterns_are_those_of_ecmascript(shared):
    files = {"ecmascript-regex.json", "non-bmp-regex.json"}
    mine = {name: v for name, v in verdicts(shared).items() if name.split(":")[0].rpartition("optional/")[2] in files}
    assert len(mine) > 140
    assert [name for name, (expected, found) in mine.items() if expected != found] == []


def test_the_fast_path_equals_the_reference(shared):
    pairs = [(schema, json.dumps(case.data)) for case, schema in compiled_cases(shared) if schema.usable]
    names = [case for case, schema in compiled_cases(shared) if schema.usable]
    decided = 0
    left: set[str] = set()
    for case, (schema, text), found in zip(names, pairs, fast(pairs), strict=True):
        if found is None:
            left.add(case.file)
        else:
            decided += 1
            assert found == slow(schema, text), case.name
    # Every instance of a plain keyword's file is decided by the kernel itself.
    assert left <= FOR_THE_REFERENCE
    assert decided >= 3630


@pytest.mark.parametrize("escape", ["all", "none"])
def test_escapes_in_the_text_change_nothing(shared, escape):
    # The same instances with every character escaped, and with none.
    def write(value):
        if escape == "none":
            return json.dumps(value, ensure_ascii=False)
        return "".join(_escaped(part) for part in json.JSONEncoder().iterencode(value))

    chosen = [
        (schema, write(case.data))
        for case, schema in compiled_cases(shared)
        if schema.usable and "\\ud" not in json.dumps(case.data)
    ]
    for (schema, text), found in zip(chosen, fast(chosen), strict=True):
        assert found is None or found == slow(schema, text), text


def _escaped(part: str) -> str:
    """A piece of JSON text with the letters of its strings escaped."""
    if not part.startswith('"'):
        return part
    return '"' + "".join(f"\\u{unit:04x}" for unit in _units(json.loads(part))) + '"'


def _units(text: str) -> list[int]:
    raw = text.encode("utf-16-be")
    return [int.from_bytes(raw[k : k + 2], "big") for k in range(0, len(raw), 2)]
