"""Lines of keys in TOML text."""

import tomllib

from tracelens.suite.places import Lines, render

TEXT = '''# first
name = "x # no comment" # yes
"quoted.key".inner = 1
long = """
a = 1
[not_a_table]
""""
lit = \'\'\'
b = 2\'\'\'
[tools.book] # about
schema = { type = "object", "properties" = { a = {} } }
list = [
  1, 2, # two
  { deep = [
    true,
    2026-01-01 ] },
]
[[state]]
name = "a"
[state.expect]
n = 1
[[state]]

name = "b"
[state.expect]
n = 2
'''


def test_every_key_has_its_line():
    assert tomllib.loads(TEXT)["state"][1]["expect"] == {"n": 2}
    lines = Lines(TEXT)
    expected = {
        ("name",): 2, ("quoted.key", "inner"): 3, ("long",): 4, ("lit",): 8, ("tools",): 10, ("tools", "book"): 10,
        ("tools", "book", "schema", "properties", "a"): 11, ("tools", "book", "list", 1): 13,
        ("tools", "book", "list", 2, "deep"): 14, ("tools", "book", "list", 2, "deep", 1): 16,
        ("state", 0, "name"): 19, ("state", 0, "expect", "n"): 21, ("state", 1): 22, ("state", 1, "name"): 24,
        ("state", 1, "expect", "n"): 26, ("state", 1, "missing"): 22,
    }  # fmt: skip
    assert {path: lines.of(path) for path in expected} == expected
    assert lines.of(("a",)) is None
    assert lines.of(("not_a_table",)) is None


def test_nonsense_ends():
    assert Lines("= = =\n[[[").of(("a",)) is None


def test_paths_read_as_toml():
    assert render(["state", 0, 'od"d', "a b"]) == 'state[0]."od\\"d"."a b"'
