from benchmarks import rung_one


def test_every_row_is_measured(capsys):
    rows = rung_one.measured(60, 1)
    assert sum("every call fails" in row.what for row in rows) == len(rung_one.FAILING)
    assert {row.unit for row in rows} == {"ns a call", "times", "MB/s"}
    assert all(row.figure > 0 for row in rows)
    rung_one.main(["--traces", "20", "--rounds", "1"])
    assert "the shred kernel, strict" in capsys.readouterr().out
