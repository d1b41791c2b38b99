"""The statistics of MuseBench's make: counted by hand, with what was drafted beside what is left."""

from typing import Any

import pytest
from support import make_item

from reelbench.data.items import Item, Media, freeze
from reelbench.make.parts.drafts import Draft, QuestionForm, WritingTask
from reelbench.recipes.musebench.statistics import musebench_statistics


def item(number: int, essay: str, category: str, part: str, **fields: Any) -> Item:
    wrong = ({"text": "x", "strategy": "factual error"}, {"text": "y", "strategy": "scope error"})
    return make_item(
        number,
        media=(Media(f"media/{essay}.mp4", 10.0, 20.0 + 10 * number),),
        tags=freeze({"category": category, "subdomain": part}),
        provenance=freeze({"essay": essay, "distract": {"distractors": wrong[: 1 + number % 2]}}),
        **fields,
    )


ITEMS = [
    item(0, "e1", "Cinematic Arts", "Sound", question="Why does the music stop while the camera waits?",
         options=("the silence makes the music heard", "camera", "b", "c"), answer=("A",)),
    item(1, "e1", "Cinematic Arts", "Cinematography", kind="multi", question="What does the camera do?",
         options=("camera one", "camera two", "d", "e", "f"), answer=("A", "B")),
    item(2, "e2", "Game Arts", "CG", question="Why is the light warm?", options=("o", "p", "q", "r", "s", "t"),
         answer=("F",), context=freeze({"core_intent": "light that guides"})),
]  # fmt: skip


def drafts() -> list[Draft]:
    forms = (QuestionForm(), QuestionForm(kind="multi", keys=(2, 4)))
    tasks = [
        WritingTask(
            id=essay, prompt="questions", media=(), forms=forms, tags={"category": category}
        )
        for essay, category in (("e1", "Cinematic Arts"), ("e2", "Game Arts"))
    ]
    kinds = ["multi", "single", "single", "single"]
    return [
        Draft(id=f"{task.id}-{n}", task=task, reply={"kind": kind}, writer="w")
        for task in tasks
        for n, kind in enumerate(kinds)
    ]


@pytest.fixture
def found() -> dict[str, Any]:
    return musebench_statistics({"write": drafts(), "final": ITEMS})


def table(found: dict[str, Any], words: str) -> dict[str, Any]:
    return next(each for each in found["tables"] if words in each["title"])


def test_table_4_is_counted(found: dict[str, Any]) -> None:
    numbers = found["numbers"]
    assert (numbers["questions"], numbers["source essays"], numbers["sub-domains"]) == (3, 2, 3)
    assert (numbers["fewest options"], numbers["most options"], numbers["mean options"]) == (
        4,
        6,
        5,
    )
    assert numbers["mean evidence (s)"] == 20.0
    assert found["distributions"]["Evidence (s)"] == [10.0, 20.0, 30.0]
    assert found["distributions"]["Questions per essay"] == [2, 1]
    # "Why is the light warm?" and six letters, a line each: 34 characters.
    assert found["distributions"]["Tokens per question with its options (about)"][2] == 9


def test_drafted_and_final_shares_of_multi_select_have_intervals(found: dict[str, Any]) -> None:
    rows = {row[0]: row[1:] for row in table(found, "multi-select")["rows"]}
    assert rows["All"][:2] == [8, "25.0%"]
    assert rows["All"][3:5] == [3, "33.3%"]
    assert rows["Cinematic Arts"][3:5] == [2, "50.0%"]
    assert rows["Stage Performing Arts"] == [0, "-", "-", 0, "-", "-"]
    low, high = (float(end.rstrip("%")) for end in rows["All"][2].split(" to "))
    assert 0 < low < 25 < high < 100


def test_words_are_counted_without_function_words_and_fillers(found: dict[str, Any]) -> None:
    rows = table(found, "frequent")
    assert rows["columns"] == ["Rank", "All", "Cinematic Arts", "Game Arts"]
    assert rows["rows"][0] == [1, "camera (5)", "camera (5)", "light (2)"]
    every = " ".join(str(cell) for row in rows["rows"] for cell in row)
    assert "the (" not in every
    assert "guides (1)" in every


def test_strategies_options_and_keywords_by_block(found: dict[str, Any]) -> None:
    assert table(found, "Strategies")["rows"] == [
        ["factual error", 3, "75.0%", 3], ["scope error", 1, "25.0%", 1],
    ]  # fmt: skip
    assert table(found, "right ones")["rows"] == [
        ["multi", 5, 2, 1], ["single", 4, 1, 1], ["single", 6, 1, 1],
    ]  # fmt: skip
    assert table(found, "Keywords")["rows"][-1] == ["All", "", 277, ""]
    assert table(musebench_statistics({}), "Keywords")["rows"][-1][2] == 277
