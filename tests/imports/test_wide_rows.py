"""Rows with several questions each: every one becomes an item, with its own options and key."""

from pathlib import Path

import pytest
from dry_imports import imported, keys, write

from reelbench.interop.imports import import_benchmark
from reelbench.interop.imports.wide_rows import wide_columns

BEHIND = ["video", "question 1", "A1", "B1", "answer 1", "question 2", "A2", "B2", "answer 2"]
BEFORE = ["video", "Q1", "Q1_A", "Q1_B", "Q1_answer", "Q2", "Q2_A", "Q2_B", "Q2_answer"]
ROWS = [
    ["a.mp4", "What is it?", "x", "y", "A", "Who is it?", "p", "q", "B"],
    ["b.mp4", "Where is it?", "v", "w", "B", "", "", "", ""],
]


@pytest.mark.parametrize("head", [BEHIND, BEFORE])
def test_each_question_of_a_row_becomes_an_item(head: list[str], tmp_path: Path) -> None:
    result = imported(tmp_path, [head, *ROWS])
    assert keys(result) == ["x", "q", "w"]
    assert [item.options for item in result.items] == [("x", "y"), ("p", "q"), ("v", "w")]
    assert any("each row has 2 questions" in note for note in result.notes)
    assert [item.provenance["import"]["line"] for item in result.items] == [2, 2, 3]


def test_the_mapping_of_such_a_file_gives_the_same_items_again(tmp_path: Path) -> None:
    path = write(tmp_path / "questions.csv", [BEHIND, *ROWS])
    first = import_benchmark(path, tmp_path / "one")
    again = import_benchmark(
        path, tmp_path / "two", mapping=tmp_path / "one" / "import" / "mapping.yaml"
    )
    assert again.items == first.items


def test_a_column_that_is_named_leaves_the_rows_as_they_are(tmp_path: Path) -> None:
    settings = {"question": "question 2", "options": ["A2", "B2"], "answer": "answer 2"}
    result = imported(tmp_path, [BEHIND, *ROWS], settings=settings)
    assert keys(result) == ["q"]


@pytest.mark.parametrize(
    "columns",
    [
        ["video", "question", "a0", "a1", "a2", "answer"],
        ["video", "question", "option1", "option2", "answer"],
        ["video", "question_1", "question_2", "A", "B", "answer"],  # two wordings of one
        ["question1", "question2", "option1", "option2", "option3", "answer1", "answer2"],
    ],
)
def test_numbered_options_are_not_taken_for_several_questions(columns: list[str]) -> None:
    assert wide_columns(columns) is None
