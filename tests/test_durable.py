"""Files that are opened for one process: what a caller hands in need not be tidy."""

from pathlib import Path

from reelbench.base.durable import open_durable


def test_a_schema_needs_no_semicolon_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite"
    with open_durable(path, "CREATE TABLE IF NOT EXISTS rows (name)") as rows:
        rows.execute("INSERT INTO rows VALUES ('one')")
        rows.commit()
    with open_durable(path, "", reading=True) as rows:
        assert rows.execute("SELECT name FROM rows").fetchall() == [("one",)]
