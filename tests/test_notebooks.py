"""The notebooks run, and show what they are kept with."""

import re

import pytest

from benchmarks import formats, notebooks

ALL = sorted(notebooks.FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert [path.stem for path in ALL] == [
        "first_look",
        "formats",
        "how_fast_and_why",
        "sql",
        "tau_bench",
        "two_versions",
    ]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_no_output_tells_of_a_machine(path):
    told = [text for _, _, text in notebooks.shown(notebooks.read(path))]
    assert told
    assert not [text for text in told if re.search(r"/(?:tmp|home|root|work|usr|Users)/", text)]


def test_notebooks_show_what_they_are_kept_with():
    paths = [notebooks.FOLDER / f"{name}.ipynb" for name in ("first_look", "sql", "two_versions")]
    for path, fresh in zip(paths, notebooks.execute_together(paths), strict=True):
        assert list(notebooks.shown(fresh)) == list(notebooks.shown(notebooks.read(path))), path.stem


def test_the_guide_of_formats_is_made_of_the_sources_and_shows_what_it_is_kept_with():
    """`python -m benchmarks.notebooks` makes it anew."""
    path = notebooks.FOLDER / "formats.ipynb"
    kept, made = notebooks.read(path), formats.notebook()
    assert [(cell.cell_type, cell.source) for cell in kept.cells] == [
        (cell.cell_type, cell.source) for cell in made.cells
    ]
    assert list(notebooks.shown(notebooks.execute(path))) == list(notebooks.shown(kept))


def test_the_finding_comes_out_of_the_recorded_runs(shared):
    """`python -m benchmarks.notebooks` makes it anew."""
    path = notebooks.FOLDER / "tau_bench.ipynb"
    fresh, kept = (list(notebooks.shown(each)) for each in (notebooks.execute(path), notebooks.read(path)))
    assert fresh == kept
    assert "200 traces, 1,164 calls" in fresh[0][2]


def test_without_the_recorded_runs_it_takes_invented_ones(tmp_path):
    for name in ("tau_bench.ipynb", "data/library_runs.json"):
        to = tmp_path / "a" / "b" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes((notebooks.FOLDER / name).read_bytes())
    fresh = list(notebooks.shown(notebooks.execute(tmp_path / "a" / "b" / "tau_bench.ipynb")))
    assert "library_runs.json: 9 traces, 16 calls" in fresh[0][2]
    assert "AUC" in fresh[-1][2] or "AUC" in fresh[-2][2]


def test_what_a_trace_costs_is_measured_where_it_runs(tmp_path):
    """The figures differ from run to run; what is shown of them does not."""
    kept = notebooks.read(notebooks.FOLDER / "how_fast_and_why.ipynb")
    few = tmp_path / "how_fast_and_why.ipynb"
    few.write_text((notebooks.FOLDER / few.name).read_text().replace("n_traces = 20_000", "n_traces = 200"))
    fresh = notebooks.execute(few, where=notebooks.FOLDER)
    kinds = [[(number, kind) for number, kind, _ in notebooks.shown(each)] for each in (kept, fresh)]
    assert kinds[0] == kinds[1]
    assert "200 traces" in next(notebooks.shown(fresh))[2]
