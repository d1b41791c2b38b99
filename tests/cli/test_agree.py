"""``reelbench agree`` as a user types it."""

import json
import re
from pathlib import Path

import pytest
from support import REPOSITORY, reelbench

FOUR = """Units,Rater1,Rater2,Rater3,Rater4
1,1,1,,1
2,2,2,3,2
3,3,3,3,3
4,3,3,3,3
5,2,2,2,2
6,1,2,3,4
7,4,4,4,4
8,1,1,2,1
9,2,2,2,2
10,,5,5,5
11,,,1,1
12,,,3,
"""
FIVE = ["--categories", "1,2,3,4,5"]


@pytest.fixture
def four(tmp_path: Path) -> Path:
    path = tmp_path / "four raters.csv"
    path.write_text(FOUR)
    return path


def test_the_table_shows_weights_and_categories_with_every_value(four: Path) -> None:
    done = reelbench("agree", four, "--weights", "linear", *FIVE)
    assert done.returncode == 0, done.stderr
    heading, *rows = done.stdout.splitlines()
    assert re.split(r"\s{2,}", heading) == [
        "coefficient", "weights", "categories", "value", "95% interval", "observed", "chance",
    ]  # fmt: skip
    assert len(rows) == 5
    assert all("  linear   1,2,3,4,5   0." in row for row in rows)
    assert "Gwet's AC2            linear   1,2,3,4,5   0.858739  0.601 to 1.000" in done.stdout
    assert (
        "12 subjects (11 with two ratings or more), 4 raters, 41 ratings, 7 missing" in done.stderr
    )
    assert "Gwet's standard error" in done.stderr


def test_json_can_be_piped(four: Path) -> None:
    words = ["--weights", "identity", *FIVE, "--method", "ac1", "--method", "fleiss", "--json"]
    record = json.loads(reelbench("agree", four, *words).stdout)
    assert [(row["method"], row["value"]) for row in record["coefficients"]] == [
        ("ac1", 0.775444),
        ("fleiss", 0.761169),
    ]
    assert record["coefficients"][0]["standard_error"] == 0.14295
    assert (record["weights"], record["categories"]) == ("identity", ["1", "2", "3", "4", "5"])
    assert record["raters"] == {"Rater1": 9, "Rater2": 10, "Rater3": 11, "Rater4": 11}
    assert "Student's t" in record["interval"]


@pytest.mark.parametrize(("words", "sentence"), [
    (["--weights", "linear"], "required: --categories"),
    (FIVE, "required: --weights"),
    (["--weights", "cubic", *FIVE], "There are no weights 'cubic'"),
    (["--weights", "linear", "--categories", "5"], "name two or more"),
    (["--weights", "linear", "--categories", ""], "name two or more"),
    (["--weights", "linear", "--categories", "1,,2"], "none of them empty"),
    (["--weights", "linear", *FIVE, "--method", "ac1"], "use ac2"),
    (["--weights", "linear", *FIVE, "--method", "phi"], "There is no coefficient 'phi'"),
    (["--weights", "linear", *FIVE, "--method", "cohen"], "there are 4: use conger"),
    (["--weights", "linear", *FIVE, "--id", "clip"], "found no column 'clip'"),
    (["--weights", "linear", "--categories", "1,2,3"], "csv:7: Rater4: found '4', expected one of 1, 2, 3"),
])  # fmt: skip
def test_wrong_use_is_2_and_a_sentence(words: list[str], sentence: str, four: Path) -> None:
    done = reelbench("agree", four, *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    done = reelbench("agree", "absent.csv", "--weights", "linear", *FIVE, cwd=tmp_path)
    assert (done.returncode, "absent.csv does not exist" in done.stderr) == (2, True)
    assert reelbench("agree", tmp_path, "--weights", "linear", *FIVE).returncode == 2


def test_one_category_only(tmp_path: Path) -> None:
    path = tmp_path / "same.csv"
    path.write_text("Ana,Bo\n" + "3,3\n" * 9)
    done = reelbench("agree", path, "--weights", "identity", *FIVE)
    assert done.returncode == 0
    assert re.search(r"Cohen's kappa +identity +1,2,3,4,5 +undefined", done.stdout)
    assert "Gwet's AC1            identity  1,2,3,4,5   1.000000   0.701 to 1.000" in done.stdout
    assert "all ratings are of one category" in done.stderr
    chosen = reelbench("agree", path, "--weights", "identity", *FIVE, "--method", "cohen")
    assert chosen.returncode == 2
    assert "nothing can be said by Cohen's kappa: percent and ac1" in chosen.stderr


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "agree.md").read_text()
    found = re.search(r'title="ratings.csv"\n(.*?)```', page, re.DOTALL)
    assert found
    (tmp_path / "ratings.csv").write_text(found[1])
    printed = {
        categories: reelbench(
            "agree",
            "ratings.csv",
            "--weights",
            "quadratic",
            "--categories",
            categories,
            cwd=tmp_path,
        ).stdout
        for categories in ("0,1,2,3,4,5", "3,4,5")
    }
    assert printed["0,1,2,3,4,5"] in page
    wide, narrow = (re.search(r"AC2 .*?(0\.\d{3})", text) for text in printed.values())
    assert wide
    assert narrow
    assert f"AC2 is {wide[1]}; declared as 3 to 5, it is {narrow[1]}" in " ".join(page.split())


def test_a_sample_is_drawn_from_what_two_rated_and_stays_the_same(tmp_path: Path) -> None:
    rows = [f"q-{n},{'AB'[n % 2]},{'AB'[n % 2] if n % 5 else 'A'}" for n in range(40)]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["id,ann,ben", *rows, "q-40,A,"]) + "\n")
    words = ["agree", path, "--weights", "identity", "--categories", "A,B", "--method", "cohen", "--json"]  # fmt: skip
    once, again, other = (
        json.loads(reelbench(*words, *more).stdout)
        for more in (["--sample", 20], ["--sample", 20], ["--sample", 20, "--seed", 1])
    )
    assert once == again
    assert (once["subjects"], once["subjects_with_two_ratings"], once["sample"]) == (20, 20, 20)
    assert other["coefficients"] != once["coefficients"] or other["seed"] == 1
    refused = reelbench(*words, "--sample", 41)
    assert (refused.returncode, "has 40 subjects with two ratings" in refused.stderr) == (2, True)
