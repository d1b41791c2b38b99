"""Tables go into spreadsheets, pages and papers whole, whatever their cells hold."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item, reelbench

from reelbench.data.items import freeze
from reelbench.pages.table import Table
from reelbench.report.tables import leaderboard, tables, write_tables
from reelbench.score.rounding import percent
from reelbench.score.score import score_predictions

HOSTILE = [
    "plain", "", "a,b", 'say "hi"', "two\nlines", "two\r\nlines", "one\rline", "tab\there", "a|b|c",
    "\\", "\\|", "50% & $3 #1 _x_ {y} ~z ^2", "\\end{tabular}", "[x]", "<b>bold</b>", "日本語 é",
]  # fmt: skip
TABLE = Table("t", "Title", ["Model", "x, y", 'q"|&'], [[each, each, "1"] for each in HOSTILE])


@pytest.mark.parametrize("cell", HOSTILE)
def test_csv_gives_back_what_was_put_in(cell: str) -> None:
    table = Table("t", "Title", ["Model", cell], [[cell, "1"], ["m", cell]])
    found = list(csv.reader(io.StringIO(table.to_csv(), newline="")))
    assert found == [["Model", cell], [cell, "1"], ["m", cell]]


def test_markdown_has_a_line_for_each_row_and_as_many_cells_as_columns() -> None:
    lines = TABLE.to_markdown().splitlines()
    assert len(lines) == 2 + len(HOSTILE)
    assert lines[1] == "| --- | --- | --- |"
    for line, cell in zip(lines[2:], HOSTILE, strict=True):
        parts = re.findall(r"(?:[^|\\]|\\.)+", line)  # an escaped bar ends no cell
        assert len(parts) == 3, line
        read = re.sub(r"\\(.)", r"\1", parts[0]).strip()
        assert read == " ".join(cell.split())


def read_latex(text: str) -> str:
    """The text that LaTeX would print; fails at a sign that means something to it."""
    names = {"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<",
             "textgreater": ">", "textbar": "|"}  # fmt: skip
    text = re.sub(r"\\(text\w+)\{\}", lambda found: f"\0{ord(names[found[1]])}\0", text)
    text = re.sub(r"\\([&%$#_{}])", lambda found: f"\0{ord(found[1])}\0", text)
    text = re.sub(r"\{([\[*]?)\}", r"\1", text)  # braces keep a bracket from being an option
    assert not re.search(r"[\\&%$#_{}~^]", text), text
    return re.sub("\0(\\d+)\0", lambda found: chr(int(found[1])), text)


def body_of(text: str) -> tuple[str, list[str]]:
    """The header and the lines between the rules of a table in LaTeX."""
    lines = text.split("\n")
    assert lines.count(r"\toprule") == lines.count(r"\bottomrule") == 1
    top, bottom = lines.index(r"\toprule"), lines.index(r"\bottomrule")
    assert lines[top + 2] == r"\midrule"
    return lines[top + 1], lines[top + 3 : bottom]


def test_latex_prints_every_sign_and_runs_none() -> None:
    header, body = body_of(TABLE.to_latex())
    assert r"\begin{tabular}{lrr}" in TABLE.to_latex()
    assert len(body) == len(HOSTILE)
    for line, cells in zip([header, *body], [TABLE.columns, *TABLE.rows], strict=True):
        assert line.endswith(r" \\")
        parts = re.split(r"(?<!\\)&", line[:-2])
        assert [read_latex(part).strip() for part in parts] == [
            " ".join(cell.split()) for cell in cells
        ]


def test_a_title_of_two_lines_stays_a_comment_and_a_caption() -> None:
    text = Table("t", "by a\n\\input{x}", ["Model"], [["m"]]).to_latex()
    assert text.startswith("% by a \\input{x}\n%")
    assert [line for line in text.split("\n") if "input" in line][1:] == [
        r"\caption{by a \textbackslash{}input\{x\}.}"
    ]


def test_no_row_of_latex_begins_with_what_its_line_break_would_take_for_an_option() -> None:
    text = Table("t", "", ["Model"], [["a"], ["[x]"], ["*y"]]).to_latex()
    assert not re.search(r"\\\\\s*[\[*]", text)


def scores_of(folder: Path, tags: dict[str, Any], *models: str) -> Any:
    items = [make_item(n, tags=freeze({**tags, "n": str(n)})) for n in (1, 2)]
    benchmark = blind_benchmark(folder / "b", *items)
    rows = [{"id": i.id, "model": m, "parsed": ["B"]} for i in items for m in models]
    path = folder / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return score_predictions(benchmark, path)


def test_hostile_names_of_models_and_tags_make_files_with_their_cells(tmp_path: Path) -> None:
    tags = {"../../up": "x|y", "a/b": "c,d\ne", "日本": "é", "…": "z", "CON": "1"}
    scores = scores_of(tmp_path, tags, "m,1", "m|2", "../m3", 'm"4\n')
    written = write_tables(scores, tmp_path / "out")
    assert {path.parent for path in written} == {tmp_path / "out"}
    assert len(written) == len(set(written)) == 3 * len(tables(scores))
    assert sorted(written) == sorted((tmp_path / "out").iterdir())
    rows = list(csv.reader(io.StringIO((tmp_path / "out" / "leaderboard.csv").read_text())))
    assert [row[0] for row in rows] == ["Model", "../m3", 'm"4\n', "m,1", "m|2", "chance"]


def test_tags_whose_names_are_alike_have_a_file_each(tmp_path: Path) -> None:
    names = ["scene type", "Scene-Type", "scene/type", "…", "?", "n-1"]
    scores = scores_of(tmp_path, dict.fromkeys(names, "x"), "m")
    written = write_tables(scores, tmp_path / "out")
    assert len({path.name.casefold() for path in written}) == len(written)


def test_a_long_name_of_a_tag_makes_a_file_all_the_same(tmp_path: Path) -> None:
    scores = scores_of(tmp_path, {"long " * 100: "x"}, "m")
    assert all(path.exists() for path in write_tables(scores, tmp_path / "out"))


def test_the_leaderboard_has_the_numbers_of_the_scores(small_demo: Path) -> None:
    scores = json.loads((small_demo / "run" / "scores.json").read_text())
    table = leaderboard(scores)
    assert len({len(row) for row in [table.columns, *table.rows]}) == 1
    assert [row[:2] for row in table.rows] == [
        *([row["model"], percent(row["accuracy"])] for row in scores["results"]),
        ["chance", percent(scores["chance"]["accuracy"])],
    ]


def test_the_command_writes_every_table_thrice_and_the_items(
    small_demo: Path, tmp_path: Path
) -> None:
    folder, items = tmp_path / "new" / "tables", tmp_path / "items.json"
    done = reelbench("score", small_demo / "run", "--out", tmp_path / "scores.json",
                     "--tables", folder, "--items", items)  # fmt: skip
    assert done.returncode == 0, done.stderr
    scores = json.loads((tmp_path / "scores.json").read_text())
    names = {table.name for table in tables(scores)}
    assert {"leaderboard", "failures"} < names
    expected = {f"{name}.{ending}" for name in names for ending in ("csv", "md", "tex")}
    assert {path.name for path in folder.iterdir()} == expected
    assert f"Tables in {folder}, each as .csv, .md and .tex: leaderboard, " in done.stderr
    board = (folder / "leaderboard.tex").read_text()
    assert "Two models share a letter if and only if" in board
    assert "CAA is accuracy corrected for guessing: guessing comes to 0" in board
    found = json.loads(items.read_text())
    assert len(found["items"]) == scores["benchmark"]["scored_items"]
    assert found["models"] == sorted(row["model"] for row in scores["results"])
    assert set(found) >= {"distractors", "suspects", "irt", "subset"}
    for table in tables(scores):
        rows = list(csv.reader(io.StringIO((folder / f"{table.name}.csv").read_text())))
        assert rows == [list(table.columns), *map(list, table.rows)]
