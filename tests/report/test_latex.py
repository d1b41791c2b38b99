"""Tables in LaTeX go into a paper as they are: whole, readable and with their captions."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reelbench.pages.latex import in_latex
from reelbench.pages.table import Table
from reelbench.report.category_tables import category_tables
from reelbench.score.coverage import no_score

LONG = "a column that has quite a long name of its own"


def table_of(columns: int = 3, **more: Any) -> Table:
    names = ["Model", *(f"c{n}" for n in range(1, columns))]
    rows = [[f"model {n}", *("50.0" for _ in names[1:])] for n in range(3)]
    return Table("by-skill", "Accuracy by skill, in percent", names, rows, **more)


def check_structure(text: str) -> None:
    """Fail unless braces and environments are balanced, and rows have as many cells as columns."""
    code = "\n".join(line for line in text.split("\n") if not line.startswith("%"))
    bare = re.sub(r"\\[\\{}&%$#_]", "", code)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    opened = re.findall(r"\\(begin|end)\{([a-z*]+)\}", code)
    stack: list[str] = []
    for kind, name in opened:
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    (kinds,) = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", code)
    rows = [line for line in code.split("\n") if line.endswith(r"\\")]
    for row in rows:
        cells = len(re.split(r"(?<!\\)&", row))
        spanned = re.match(r"\\multicolumn\{(\d+)\}", row)
        assert (int(spanned[1]) if spanned else cells) == len(kinds), row


def test_a_table_is_a_float_with_caption_label_and_rules() -> None:
    table = table_of(
        best={(0, 1)}, second={(1, 1)}, ends=1, note="The best of each column is bold.",
    )  # fmt: skip
    text = table.to_latex()
    check_structure(text)
    assert r"\begin{table}[t]" in text
    assert r"\caption{Accuracy by skill, in percent. The best of each column is bold.}" in text
    assert r"\label{tab:by-skill}" in text
    assert r"\textbf{50.0}" in text
    assert r"\underline{50.0}" in text
    assert text.count(r"\midrule") == 2
    assert "% Needs \\usepackage{booktabs}\n" in text


def test_a_wide_table_goes_across_the_page_and_a_wider_one_is_made_smaller() -> None:
    wide, wider = table_of(12).to_latex(), table_of(40).to_latex()
    assert r"\begin{table*}[t]" in wide
    assert "resizebox" not in wide
    assert r"\resizebox{\textwidth}{!}{%" in wider
    assert "graphicx" in wider
    check_structure(wide)
    check_structure(wider)


def test_groups_are_headings_over_all_columns() -> None:
    rows = [["strong", "", ""], ["a", "1", "2"], ["weak & small", "", ""], ["b", "1", "2"]]
    text = Table("t", "T", ["Model", "x", "y"], rows, groups={0, 2}).to_latex()
    check_structure(text)
    assert r"\multicolumn{3}{l}{\textit{weak \& small}} \\" in text
    assert text.count(r"\midrule") == 2  # none stands right below the header's


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("-4.2", "$-$4.2"),
        ("-4.2 to 3.1", "$-$4.2 to 3.1"),
        ("(-4.2 to -3.1)", "($-$4.2 to $-$3.1)"),
        ("gpt-4o-2024", "gpt-4o-2024"),
        ("-", "-"),
        ("<0.0001", r"\textless{}0.0001"),
        ("a--b", "a-{}-b"),
        ("a\u202eb\x00\u200bc", "abc"),
        ("نمی‌شود", "نمی‌شود"),
    ],
)
def test_signs_print_as_what_they_are(cell: str, expected: str) -> None:
    assert in_latex(cell) == expected


def test_letters_that_pdflatex_lacks_are_said() -> None:
    plain, chinese, arabic = (
        Table("t", "T", ["Model", name], [["é – †", "1"]]).to_latex()
        for name in ("x", "颜色", "لون")
    )
    assert "LuaLaTeX" not in plain
    assert "LuaLaTeX" in chinese
    assert "bidi" not in chinese
    assert "bidi=basic" in arabic


def scores_of(shares: dict[str, tuple[int, int]], tiers: dict[str, str] | None = None) -> Any:
    """Scores of models that are right on so many of 10 and of 20 items of two categories."""

    def part(correct: int, items: int) -> dict[str, Any]:
        share = correct / items
        counts = {"correct": correct, "items": items, "all_items": items, "failed": 0}
        return {**counts, "interval": [share / 2, share]}

    results = [
        {
            "model": model, "condition": condition, "statuses": {"ok": 30}, **part(sum(right), 30),
            "by": {"skill": {"see": part(right[0], 10), "hear": part(right[1], 20)}},
        }
        for condition in ("protocol", "silent")
        for model, right in shares.items()
    ]  # fmt: skip
    chance = {"accuracy": 0.25, "by": {"skill": {"see": 0.25, "hear": 0.2}}}
    return {
        "results": results, "main_condition": "protocol", "chance": chance, "tiers": tiers or {},
    }  # fmt: skip


def test_each_condition_has_a_table_with_overall_chance_and_items() -> None:
    main, other = category_tables(scores_of({"a": (9, 10), "b": (5, 12), "c": (5, 4)}), "skill")
    assert (main.name, other.name) == ("by-skill", "by-skill-silent")
    assert list(main.columns) == ["Model", "see", "hear", "Overall"]
    assert main.rows == [
        ["a", "90.0", "50.0", "63.3"],
        ["b", "50.0", "60.0", "56.7"],
        ["c", "50.0", "20.0", "30.0"],
        ["chance", "25.0", "20.0", "25.0"],
        ["items", "10", "20", "30"],
    ]
    assert main.best == {(0, 1), (1, 2), (0, 3)}
    assert main.second == {(1, 1), (2, 1), (0, 2), (1, 3)}
    check_structure(main.to_latex())
    assert "protocol" in main.title


def test_the_best_is_marked_in_each_group_and_a_tie_has_no_second() -> None:
    shares = {"a": (9, 9), "b": (9, 8), "c": (5, 4), "human:x": (10, 20), "d": (1, 1), "e": (2, 1)}
    tiers = {"a": "large", "b": "large", "c": "large", "d": "small", "e": "small"}
    table = category_tables(scores_of(shares, tiers), "skill")[0]
    names = [row[0] for row in table.rows]
    assert names == [
        "large", "a", "b", "c", "small", "d", "e", "people", "human:x", "chance", "items",
    ]  # fmt: skip
    assert table.groups == {0, 4, 7}
    assert {(names[row], column) for row, column in table.best} == {
        ("a", 1), ("b", 1), ("a", 2), ("a", 3), ("e", 1), ("e", 3),
    }  # fmt: skip
    assert {names[row] for row, column in table.second if column == 1} == set()
    assert "and group" in table.note


def test_models_in_no_tier_have_a_heading_of_their_own() -> None:
    scores = scores_of({"a": (9, 9), "b": (9, 8)}, {"a": "large"})
    names = [row[0] for row in category_tables(scores, "skill")[0].rows]
    assert names == ["large", "a", "Other models", "b", "chance", "items"]
    plain = category_tables(scores_of({"a": (9, 9)}), "skill")[0]
    assert plain.rows[0][0] == "a"


def test_intervals_stand_behind_on_request() -> None:
    table = category_tables(scores_of({"a": (9, 10), "b": (5, 12)}), "skill", True)[0]
    assert table.rows[0][1] == "90.0 (45.0 to 90.0)"
    assert "intervals" in table.note


def test_what_is_no_score_is_neither_shown_nor_the_best() -> None:
    scores = scores_of({"a": (9, 10), "b": (5, 12)})
    first = scores["results"][0]
    for part in (first, *first["by"]["skill"].values()):
        part["failed"] = part["items"]
    assert no_score(first)
    table = category_tables(scores, "skill")[0]
    assert table.rows[0] == ["a", "", "", ""]
    assert not table.best


def test_pdflatex_takes_them(tmp_path: Path) -> None:
    engine = shutil.which("pdflatex")
    if engine is None:
        pytest.skip(
            "pdfLaTeX is not installed (on Debian: apt-get install texlive-latex-recommended)"
        )
    hostile = Table("a b/ä", "50% & $3 #1_x ~ ^2 {y} \\z <b> |", ["Model", LONG, "[x]"],
                    [["[m]", "-4.2 to +3.0", "†"], ["*", "<0.0001 → é", "–"]], {(0, 1)})  # fmt: skip
    grouped = category_tables(scores_of({"a": (9, 9), "b": (1, 2)}, {"a": "x", "b": "y"}), "skill")
    tables = [hostile, *grouped, table_of(12), table_of(40)]
    text = "\n".join(table.to_latex() for table in tables)
    (tmp_path / "paper.tex").write_text(
        "\\documentclass[twocolumn]{article}\n\\usepackage{booktabs,graphicx}\n"
        f"\\begin{{document}}\n{text}\nSee \\ref{{tab:by-skill}}.\n\\end{{document}}\n"
    )
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "Overfull" not in done.stdout
