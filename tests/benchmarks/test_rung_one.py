from benchmarks import rung_one


def test_every_row_is_measured(capsys):
    rung_one.main(["--traces", "60", "--rounds", "1"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.endswith(("a call", "times", "MB/s"))]
    assert sum("every call fails" in line for line in lines) == len(rung_one.FAILING)
    assert any("cached validators" in line for line in lines)
    assert all(float(line.split()[-2 - line.endswith("a call")].replace(",", "")) > 0 for line in lines)
