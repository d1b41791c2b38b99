"""Files in which a key is easily misread: it comes out right, or it is said that it is in doubt."""

from pathlib import Path
from typing import Any

import pytest
from dry_imports import imported, keys

from reelbench.base.errors import ReelbenchError
from reelbench.interop.imports.answers import answer_form
from reelbench.interop.imports.values import OptionList, read_options


def asked(options: Any, answer: Any, **more: Any) -> dict[str, Any]:
    return {"video": "a.mp4", "question": "What?", "options": options, "answer": answer, **more}


@pytest.mark.parametrize(
    ("options", "answers", "right"),
    [
        ([{"label": "B", "text": "x"}, {"label": "A", "text": "y"}], ["A", "B"], ["y", "x"]),
        ([{"id": 2, "text": "x"}, {"id": 1, "text": "y"}], [1, 2], ["y", "x"]),
        ({"text": ["x", "y", "z"], "label": ["C", "A", "B"]}, ["A", "C"], ["y", "x"]),
        ({"B": "x", "A": "y"}, ["A", "B"], ["y", "x"]),
    ],
)
def test_options_that_have_labels_are_keyed_by_them_in_any_order(
    options: Any, answers: list[Any], right: list[str], tmp_path: Path
) -> None:
    result = imported(tmp_path, [asked(options, answer) for answer in answers])
    assert keys(result) == right


def test_labels_of_options_are_never_the_key(tmp_path: Path) -> None:
    rows = [
        {
            "video": {"path": "a.mp4"},
            "question": "What?",
            "choices": {"text": ["x", "y", "z"], "label": ["A", "B", "C"]},
            "answerKey": key,
        }
        for key in "CA"
    ]
    assert keys(imported(tmp_path, rows)) == ["z", "x"]


@pytest.mark.parametrize("texts", [["B. x", "A. y", "C. z"], ["A. x", "C. y", "D. z"]])
def test_letters_out_of_order_make_a_row_odd(texts: list[str], tmp_path: Path) -> None:
    result = imported(tmp_path, [asked(texts, "A"), asked(["A. x", "B. y", "C. z"], "B")])
    assert keys(result) == ["y"]
    assert "options have the letters" in result.odd_rows[0].reason


def test_initials_of_names_are_not_letters_of_options(tmp_path: Path) -> None:
    head = ["video", "question", "A", "B", "C", "answer"]
    rows = [["a.mp4", "Who?", "B. Lee", "A. Day", "J. Fox", name] for name in ("A. Day", "B. Lee")]
    assert keys(imported(tmp_path, [head, *rows])) == ["A. Day", "B. Lee"]
    mixed = [head, ["a.mp4", "Who?", "x", "y", "z", "C"], rows[0]]
    assert keys(imported(tmp_path, mixed)) == ["z", "A. Day"]


@pytest.mark.parametrize("first", [0, 1])
def test_answers_in_words_decide_where_numbers_are_counted_from(first: int, tmp_path: Path) -> None:
    texts = ["p", "q", "r", "s"]
    rows = [asked(texts, place + first, answer_text=texts[place]) for place in (1, 2)]
    result = imported(tmp_path, rows)
    assert (keys(result), result.doubts) == (["q", "r"], ())


def test_numbers_that_fit_the_other_count_alone_are_a_doubt() -> None:
    rows = [(number, OptionList(("x", "y", "z"))) for number in (1, 2, 3, 3, 0)]
    reading = answer_form(rows)
    assert reading.form == "index1"
    assert "'0' (1 row) would be one of the numbers of options from 0" in reading.doubt


def test_of_several_columns_that_name_options_none_is_guessed(tmp_path: Path) -> None:
    head = ["video", "question", "A", "B", "C", "gpt4", "annotator", "final"]
    rows = [["a.mp4", "What?", "p", "q", "r", "A", "B", "B"], ["b.mp4", "Who?", *"pqr", *"ACC"]]
    with pytest.raises(ReelbenchError) as caught:
        imported(tmp_path, [head, *rows])
    for part in ("'gpt4', 'annotator', 'final' name different options", "--set answer=COLUMN"):
        assert part in str(caught.value)
    head[-1] = "Richtige Wahl"  # a name that tells
    result = imported(tmp_path, [head, *rows])
    assert keys(result) == ["q", "r"]
    assert any("'gpt4' names another option in 2 of 2 rows" in doubt for doubt in result.doubts)


def test_columns_beside_options_without_names_are_not_made_options(tmp_path: Path) -> None:
    head = ["film", "frage", "eins", "zwei", "drei", "thema", "loesungstext"]
    rows = [["a.mp4", "Was?", "p", "q", "r", "Tier", right] for right in "pqr"]
    result = imported(tmp_path, [head, *rows])
    assert {item.options for item in result.items} == {("p", "q", "r")}
    assert any("'thema'" in doubt for doubt in result.doubts)


def test_a_right_option_and_numbered_wrong_ones_are_the_options(tmp_path: Path) -> None:
    head = ["video", "question", "correct_answer", "wrong_1", "wrong_2", "wrong_3"]
    result = imported(tmp_path, [head, ["a.mp4", "What?", *"pqrs"], ["b.mp4", "Who?", *"wxyz"]])
    assert keys(result) == ["p", "w"]
    assert all(len(item.options) == 4 for item in result.items)


@pytest.mark.parametrize(
    ("options", "answer", "right", "reason"),
    [
        ("(A) Yes (B) No", "No", "No", ""),
        (["yes", "no"], "NO", "no", ""),
        (["3", "5", "8"], "8", "", "the answer '8' is no letter; it is the text of option C"),
        (["x", "y"], "y", "", "beyond the last option, B; it is the text of option B"),
        (["so", "so", "no"], "so", "", "the answer 'so' is no letter"),
        (["ab", "cd"], "Nor", "", "the answer 'Nor' is no letter"),
    ],
)
def test_a_text_among_letters_is_its_option_or_said_to_be_it(
    options: Any, answer: str, right: str, reason: str, tmp_path: Path
) -> None:
    plain = [asked(["red", "blue", "green"], letter) for letter in "BCA"]
    result = imported(tmp_path, [*plain, asked(options, answer)])
    assert keys(result)[3:] == ([right] if right else [])
    assert reason in "".join(row.reason for row in result.odd_rows)
    assert any("text of an option, unlike in most" in n for n in result.notes) == bool(right)


@pytest.mark.parametrize("value", [[], {}, (), "", [""], {"text": [], "label": []}])
def test_no_options_are_refused_in_words(value: Any) -> None:
    with pytest.raises(ValueError, match="no option, where there must be 2"):
        read_options(value)


def test_one_id_that_comes_twice_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    head = ["id", "video", "question", "A", "B", "answer"]
    rows = [[n, f"{n}.mp4", f"What is {n}?", "x", "y", "A"] for n in range(1, 7)]
    result = imported(tmp_path, [head, *rows, [6, "7.mp4", "What is 7?", "x", "y", "B"]])
    assert [item.id for item in result.items] == ["1", "2", "3", "4", "5", "6", "6-2"]
    assert any("1 id occurred before" in note for note in result.notes)


def test_signs_without_width_around_an_answer_do_no_harm(tmp_path: Path) -> None:
    head = ["video", "question", "A", "B", "C", "answer"]
    rows = [["a.mp4", "What?", *"pqr", "\u200bC\ufeff"], ["b.mp4", "Who?", *"pqr", "\xa0B "]]
    assert keys(imported(tmp_path, [head, *rows])) == ["r", "q"]


def test_options_behind_a_gap_are_a_doubt_and_no_tags(tmp_path: Path) -> None:
    head = ["video", "question", "A", "B", "D", "answer"]
    rows = [["a.mp4", "What?", *"pqr", "A"], ["b.mp4", "Who?", *"pqr", "B"]]
    result = imported(tmp_path, [head, *rows])
    assert any("--set options='[A, B, D]'" in doubt for doubt in result.doubts)
    assert not result.items[0].tags


def test_pictures_as_text_are_not_one_file_for_all(tmp_path: Path) -> None:
    head = ["index", "image", "question", "A", "B", "answer"]
    rows = [[n, f"{n}" + "eHh4" * 2000, f"What is {n}?", "x", "y", "A"] for n in range(3)]
    with pytest.raises(ReelbenchError, match="no column was found for the video"):
        imported(tmp_path, [head, *rows])


def test_a_preview_does_not_stand_for_the_video(tmp_path: Path) -> None:
    rows = [
        {**asked(["x", "y"], answer), "video": f"v{answer}", "image": {"path": "i.png"}}
        for answer in (0, 1)
    ]
    result = imported(tmp_path, rows)
    assert [item.media[0].path for item in result.items] == ["media/v0.mp4", "media/v1.mp4"]
