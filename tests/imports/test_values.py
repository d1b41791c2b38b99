"""Options, answers and times are read as people write them, and never in a way that is a guess."""

from contextlib import suppress
from typing import Any

import pytest

from reelbench.interop.imports.answers import AnswerForm, answer_form, read_answer, yes_no
from reelbench.interop.imports.cells import cell
from reelbench.interop.imports.column_names import series_part
from reelbench.interop.imports.profile import looks_like_a_row
from reelbench.interop.imports.spans import read_seconds, read_spans
from reelbench.interop.imports.values import (
    OptionList,
    is_blank,
    read_options,
    separator_in,
    split_question,
    text_of,
)
from reelbench.interop.predictions.answers import _is_numeric
from reelbench.interop.records import SourceRecord

FOUR = OptionList(("dog", "cat", "bird", "fish"))


@pytest.mark.parametrize(
    "value",
    [
        ["dog", "cat", "bird"], ("dog", "cat", "bird"), {"A": "dog", "B": "cat", "C": "bird"},
        {"C": "bird", "A": "dog", "B": "cat"}, {"0": "dog", "1": "cat", "2": "bird"}, ["A. dog", "B. cat", "C. bird"],
        ["(A) dog", "(B) cat", "(C) bird"], [{"A": "dog"}, {"B": "cat"}, {"C": "bird"}],
        [{"label": "A", "text": "dog"}, {"label": "B", "text": "cat"}, {"label": "C", "text": "bird"}],
        {"text": ["dog", "cat", "bird"], "label": ["A", "B", "C"]}, ["dog", "cat", "bird", None, ""],
        "A. dog\nB. cat\nC. bird", "A) dog\nB) cat\nC) bird\n", "(A) dog (B) cat (C) bird", "(A)dog(B)cat(C)bird",
        "A. dog B. cat C. bird", "A: dog; B: cat; C: bird", "A. dog | B. cat | C. bird", "a) dog b) cat c) bird",
        "1. dog 2. cat 3. bird", "1) dog\n2) cat\n3) bird", "[A] dog [B] cat [C] bird", "A - dog\nB - cat\nC - bird",
        "Options:\nA. dog\nB. cat\nC. bird", "Option A: {dog}\n\nOption B: {cat}\n\nOption C: {bird}", "A．dog B．cat C．bird",
        "A：dog；B：cat；C：bird", "['dog', 'cat', 'bird']", '["dog", "cat", "bird"]', "('dog', 'cat', 'bird')",
        "['dog' 'cat' 'bird']", "{'A': 'dog', 'B': 'cat', 'C': 'bird'}", "['A. dog', 'B. cat', 'C. bird']",
        "dog|cat|bird", "dog || cat || bird", "dog;cat;bird;", "dog\ncat\nbird", "- dog\n- cat\n- bird", "dog, cat, bird",
        "dog\tcat\tbird", "dog / cat / bird",
    ],
)  # fmt: skip
def test_options_are_read_however_they_are_written(value: Any) -> None:
    assert read_options(value).texts == ("dog", "cat", "bird")


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("A. Mr. B. Smith\nB. Mrs. C. Jones", ("Mr. B. Smith", "Mrs. C. Jones")),
        ("A. 3.5 seconds\nB. 4.5 seconds", ("3.5 seconds", "4.5 seconds")),
        ("3.5 s|4.5 s", ("3.5 s", "4.5 s")),
        ("the man (A) runs|the man (B) walks", ("the man (A) runs", "the man (B) walks")),
        ("A. first; second B. third", ("first; second", "third")),
        ([1, 2.0, 3.5], ("1", "2", "3.5")),
        (["10:30", "11:45"], ("10:30", "11:45")),
        (["B. first", "A. second"], ("B. first", "A. second")),  # labels of their own, out of order
        ("Yes/No", ("Yes", "No")),
    ],
)
def test_what_only_looks_like_a_label_or_a_separator_stays_in_the_text(
    value: Any, texts: tuple[str, ...]
) -> None:
    assert read_options(value).texts == texts


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "no option"), ({}, "no option"), ([], "no option"), (None, "no option"), ("just one", "1 option"), (["x"], "1 option"), (["x"] * 27, "27 options"), (7, "neither a text"),
        (["x", "", "y"], "option B has no text"), ({"A": "x", "C": "y"}, "letters A C"), ("A. x\nC. y", "letters A C"),
        ("['x', 'y'", "cannot be read"), ([["x"], ["y"]], "neither text nor number"), ([{"x": 1, "y": 2}] * 2, "without a text"),
    ],
)  # fmt: skip
def test_what_is_no_list_of_options_is_refused_with_its_reason(value: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_options(value)


def test_one_separator_is_found_for_the_whole_file() -> None:
    cells = ["red; or pink|green|blue", "a|b|c", "one|two; three|four"]
    assert separator_in(*cells) == "|"
    assert read_options(cells[2], "|").texts == ("one", "two; three", "four")


def test_options_within_a_question_are_split_from_it() -> None:
    stem, options = split_question("What is seen?\nA. a dog\nB. a cat")
    assert (stem, options and options.texts) == ("What is seen?", ("a dog", "a cat"))
    assert split_question("Who is (A) in the picture?") == ("Who is (A) in the picture?", None)


@pytest.mark.parametrize(
    ("value", "form", "letters"),
    [
        ("B", "letter", "B"), ("(b)", "letter", "B"), ("B.", "letter", "B"), ("B. cat", "letter", "B"), ("**B**", "letter", "B"),
        ("Answer: B", "letter", "B"), ("The answer is B", "letter", "B"), ("Option C", "letter", "C"), ("A,B", "letter", "AB"),
        ("A and C", "letter", "AC"), ("AC", "letter", "AC"), ("CA", "letter", "AC"), (["A", "C"], "letter", "AC"),
        ("['A', 'C']", "letter", "AC"), ("A;C", "letter", "AC"), ("A C", "letter", "AC"), ("A/C", "letter", "AC"),
        (0, "index", "A"), ("3", "index", "D"), ("2.0", "index", "C"), (2.0, "index", "C"), ([0, 2], "index", "AC"),
        ("[0, 2]", "index", "AC"), ("0,2", "index", "AC"), (1, "index1", "A"), ("4", "index1", "D"), ("dog", "text", "A"),
        (" Dog.", "text", "A"), ("B. cat", "text", "B"), ("dog, cat", "text", "AB"), (["dog", "fish"], "text", "AD"),
        ("bird; fish", "text", "CD"),
    ],
)  # fmt: skip
def test_answers_are_read_in_each_form(value: Any, form: AnswerForm, letters: str) -> None:
    assert "".join(read_answer(value, FOUR, form)) == letters


@pytest.mark.parametrize(
    ("value", "form", "reason"),
    [
        (None, "letter", "no answer"), (float("nan"), "index", "no answer"), ("E", "letter", "beyond the last option, D"),
        ("B. dog", "letter", "the text of another"), ("2", "letter", "no letter"), ("A,A", "letter", "twice"),
        (4, "index", "no number from 0 to 3"), (0, "index1", "no number from 1 to 4"), ("B", "index", "no number"),
        (True, "index", "no number"), ("a horse", "text", "no option"), ("B. dog", "text", "no option"),
    ],
)  # fmt: skip
def test_what_names_no_option_is_refused_with_its_reason(
    value: Any, form: AnswerForm, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        read_answer(value, FOUR, form)


@pytest.mark.parametrize(
    ("values", "options", "form"),
    [
        (["A", "C"], FOUR, "letter"), (["(A)", "B. cat"], FOUR, "letter"), (["dog", "cat"], FOUR, "text"),
        (["0", "3"], FOUR, "index"), (["1", "4"], FOUR, "index1"), ([0.0, 1.0], FOUR, "index"),
        (["1", "2"], OptionList(FOUR.texts, ("1", "2", "3", "4")), "index1"),
        (["1", "2"], OptionList(FOUR.texts, ("0", "1", "2", "3")), "index"),
        (["0", "2"], OptionList(FOUR.texts, ("1", "2", "3", "4")), "index"),  # what occurs counts more than a label
    ],
)  # fmt: skip
def test_how_answers_are_read_is_decided_over_the_whole_file(
    values: list[Any], options: OptionList, form: str
) -> None:
    found = answer_form([(value, options) for value in values])
    assert (found.form, found.doubt, found.share) == (form, "", 1.0)


@pytest.mark.parametrize(
    ("values", "options", "form", "doubt"),
    [
        (["1", "2"], FOUR, "index", "from 0 or from 1"),
        (["1", "2"], OptionList(("1", "2", "3")), "text", "as texts of options, and as numbers"),
        (["A", "B"], OptionList(("B", "A")), "letter", "as letters of options, and as texts"),
    ],
)
def test_where_two_readings_fit_all_rows_it_is_said(
    values: list[Any], options: OptionList, form: str, doubt: str
) -> None:
    found = answer_form([(value, options) for value in values])
    assert found.form == form
    assert doubt in found.doubt


def test_one_row_decides_for_all_that_can_be_read_in_two_ways() -> None:
    numbers, colours = OptionList(("1", "2", "3")), OptionList(("red", "green"))
    found = answer_form([("1", numbers), ("2", numbers), ("green", colours)])
    assert (found.form, found.doubt) == ("text", "")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, ("Yes", "A")), ("no", ("Yes", "B")), ("N", ("Yes", "B")), ("TRUE", ("True", "A")), ("False.", ("True", "B")),
        ("是", ("是", "A")), ("Nein", ("Ja", "B")), ("maybe", None), (1, None),
    ],
)  # fmt: skip
def test_yes_and_no_are_known_in_several_words(
    value: Any, expected: tuple[str, str] | None
) -> None:
    found = yes_no(value)
    assert (found and (found[0][0], found[1])) == expected


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (12, 12), ("12.5", 12.5), ("12,5", 12.5), ("12.5s", 12.5), ("90 seconds", 90), ("1:23", 83), ("01:02:03.5", 3723.5),
        ("1:02:03,500", 3723.5), ("1h2m3s", 3723), ("2 min", 120), (None, None), ("", None), (float("nan"), None), (-1, None),
        ("-1", None),
    ],
)  # fmt: skip
def test_times_are_read_as_seconds_or_by_the_clock(value: Any, seconds: float | None) -> None:
    assert read_seconds(value) == seconds


@pytest.mark.parametrize(
    "value", ["abc", "12:75", True, "1e99", 1e12, [1], float("inf"), "9" * 400, 10**400]
)
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="no time"):
        read_seconds(value)


@pytest.mark.parametrize(
    ("value", "spans"),
    [
        ("00:10-00:20", [(10, 20)]), ("[10, 20]", [(10, 20)]), ([10, 20.5], [(10, 20.5)]), ("10 to 20", [(10, 20)]),
        ("00:00:10,500 --> 00:00:20,000", [(10.5, 20)]), ([[1, 2], [3, 4]], [(1, 2), (3, 4)]), ("1-2, 3-4", [(1, 2), (3, 4)]),
        (["0:10", "0:20"], [(10, 20)]), ({"start": 1, "end": 2}, [(1, 2)]), (["0:10-0:20", "0:30-0:40"], [(10, 20), (30, 40)]),
        ("", []), (None, []),
    ],
)  # fmt: skip
def test_spans_are_read(value: Any, spans: list[tuple[float, float]]) -> None:
    assert list(read_spans(value)) == spans


@pytest.mark.parametrize("value", ["20-10", "5", 5, "soon", ["a", "b"]])
def test_what_is_no_span_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"span|time"):
        read_spans(value)


def test_cells_with_nothing_in_them_are_blank_whatever_they_are() -> None:
    assert all(map(is_blank, (None, "", "  ", float("nan"), "NaN", "<NA>", [], {})))
    assert not any(map(is_blank, (0, False, "none", "None", "0", [None])))
    assert [text_of(3.0), text_of(3), text_of(" x "), text_of(None)] == ["3", "3", "x", ""]


SPACE = " " * 200_000


@pytest.mark.parametrize("text", [f"{SPACE}x\nA. dog\nB. cat", f"Options{SPACE}x", f"Which?{SPACE}x\nA. dog", "A. x " * 4_000, f"option{SPACE}x"])  # fmt: skip
def test_a_text_that_makes_a_search_go_back_and_forth_is_read_at_once(text: str) -> None:
    """By the time that it takes: with a search that is not linear, none of these ever ends."""
    for read in (read_options, split_question, read_spans, series_part, _is_numeric):
        with suppress(ValueError):
            read(text)
    assert not looks_like_a_row([text[:-1] + "."])


def test_a_template_is_filled_once_whatever_its_columns_hold() -> None:
    record = SourceRecord({"a": "{b}", "b": "two"}, "a.csv", 1)
    assert cell("{a}-{b}", record) == "{b}-two"
