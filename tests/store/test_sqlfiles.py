import pytest

from tracelens.errors import InternalError
from tracelens.store import sqlfiles


def test_the_folder_beside_the_package_is_found_in_a_checkout(root):
    assert sqlfiles.sql_root() == root / "sql"


def test_a_wheel_carries_its_own_folder(tmp_path, monkeypatch):
    (tmp_path / "sql" / "views").mkdir(parents=True)
    (tmp_path / "sql" / "views" / "b.sql").write_text("select 2")
    (tmp_path / "sql" / "views" / "a.sql").write_text("select 1")
    monkeypatch.setattr(sqlfiles, "_PACKAGE", tmp_path)
    assert sqlfiles.sql_root() == tmp_path / "sql"
    assert list(sqlfiles.sql_files("views")) == [("a", "select 1"), ("b", "select 2")]


def test_a_broken_installation_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlfiles, "_PACKAGE", tmp_path / "x")
    with pytest.raises(InternalError, match="SQL files are missing"):
        sqlfiles.sql_root()
