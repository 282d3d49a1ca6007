import pytest

from benchmarks import table

MACHINE = {"cores": 2, "python": "3.11.2", "processor": "Fast 9000", "system": "Linux x86_64"}


def row(contender, seconds, reads="lines", **more):
    base = {"workload": "mixed", "traces": 1000, "input_mb": 1.5, "title": contender, "peak_mib": 100.0}
    return base | {"contender": contender, "seconds": seconds, "reads": reads} | more


def test_ratios_are_given_for_winners_and_losers_alike():
    rows = [row("floor-lines", 1.0), row("tracelens-lines", 2.0), row("peer", 10.0)]
    text = table.render(
        {"machine": MACHINE, "rounds": 3, "rows": rows, "stages": {"mixed": {"read": 1.26, "write": 9.0}}}
    )
    ours = next(line for line in text.splitlines() if "tracelens-lines" in line)
    assert ours.endswith("| 5.0 × | 0.5 × |")
    assert "2 cores (Fast 9000)" in text
    assert "Of 10 µs" in text
    assert "write 9.0, read 1.3." in text


def test_the_table_goes_between_the_markers_again_and_again(tmp_path):
    page = tmp_path / "README.md"
    page.write_text(f"before\n{table.START}\nold\n{table.END}\nafter\n")
    table.insert(page, "new")
    table.insert(page, "newer")
    assert page.read_text() == f"before\n{table.START}\nnewer\n{table.END}\nafter\n"


def test_a_page_without_markers_is_an_error(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("nothing\n")
    with pytest.raises(ValueError, match="benchmark:start"):
        table.insert(page, "new")
