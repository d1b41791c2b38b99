"""HumanVBench: a model that sees nothing stays at chance, whatever rule of thumb it goes by.

Hundreds of candidates with labels made by hand are taken from ``select`` to the last stage; rules
of thumb then answer by the options alone. None may be right more often than chance, beyond what a
binomial draw of that size allows, nor so rarely that its option could be struck out.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from human_clips import a_clip, candidate, seen, stage, take
from scipy.stats import binomtest

from reelbench.data.items import LETTERS, Item
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.drafts import new_item

Rule = Callable[[Sequence[Any]], int]  # the place of an option
LEAST_P = 0.01
LEAST_SHARE = 0.5  # of chance: striking out the option of such a rule wins 4 points at the most
VIDEO = "make/videos/v.mp4"
CAPTION = {"caption": "A tall person in a green coat."}
# Those that are keys only after a correction by people are no answer for who sees nothing.
SENTENCES = ("speaking in the video", "ongoing action")


def ranked(place: int, by: Callable[[Any], Any] = lambda value: value) -> Rule:
    return lambda values: sorted(range(len(values)), key=lambda n: by(values[n]))[place]


def middle(values: Sequence[Any]) -> int:
    return ranked(len(values) // 2)(values)


POSITIONS: dict[str, Rule] = {
    "first": lambda values: 0,
    "second": lambda values: 1,
    "last": lambda values: len(values) - 1,
}
NUMBERS: dict[str, Rule] = {
    **POSITIONS,
    "smallest": ranked(0),
    "largest": ranked(-1),
    "middle": middle,
    "other middle": ranked(1),
    "nearest to the mean": lambda values: min(
        range(len(values)), key=lambda n: abs(values[n] - sum(values) / len(values))
    ),
    "nearest to the others": lambda values: min(
        range(len(values)), key=lambda n: sum(abs(values[n] - other) for other in values)
    ),
}
INTERVALS: dict[str, Rule] = {
    **POSITIONS,
    "longest": ranked(-1, lambda span: span[1] - span[0]),
    "shortest": ranked(0, lambda span: span[1] - span[0]),
    "earliest": ranked(0, lambda span: span[0]),
    "latest": ranked(-1, lambda span: span[1]),
    "middle": lambda values: ranked(1, lambda span: span[0] + span[1])(values),
    "other middle": lambda values: ranked(2, lambda span: span[0] + span[1])(values),
    "most shared": lambda values: max(
        range(len(values)),
        key=lambda n: sum(
            max(0, min(values[n][1], b) - max(values[n][0], a)) for a, b in values
        ) - (values[n][1] - values[n][0]),
    ),
}  # fmt: skip


def taken(folder: Path, rows: list[Any], labels: dict[str, Any], *names: str) -> list[Item]:
    outcomes = take(folder, rows, labels, *(stage(name) for name in names))
    return [item for each in outcomes if not isinstance(each, Rejected) for item in each]


def assert_at_chance(items: Sequence[Item], rules: dict[str, Rule], value: Any = str) -> None:
    found = {}
    for name, rule in rules.items():
        right, chance = 0, []
        for item in items:
            known = [text for text in item.options if not any(s in text for s in SENTENCES)]
            picked = known[rule([value(text) for text in known])]
            right += picked in item.correct
            chance.append(1 / len(known))
        mean = sum(chance) / len(chance)
        unlikely = binomtest(right, len(items), mean, "greater").pvalue < LEAST_P
        if unlikely or right < LEAST_SHARE * mean * len(items):
            found[name] = (right, len(items), mean)
    assert found == {}


def number(text: str) -> float:
    return float(re.findall(r"[\d.]+", text)[0])


def span(text: str) -> tuple[int, int]:
    start, end = map(int, re.findall(r"\d+", text))
    return start, end


def lettered(task: str, count: int, rng: Random) -> tuple[list[Any], dict[str, Any]]:
    """Candidates with letters; in half of them the first person that was found is the key."""
    rows, labels = [], {}
    for n in range(count):
        name = f"c{n}"
        people = rng.choice([4, 5, 6] if task == "T2H" else [2, 3, 4])
        first = rng.random() < 0.5
        place = 0 if first else rng.randrange(people)
        speaks = [each == place for each in range(people)]
        looks = ["male" if each == place else "female" for each in range(people)]
        rows.append(candidate(task, name, video=VIDEO, texts=CAPTION))
        labels[name] = a_clip(10.0, people, speaks=speaks, looks=looks)
    return rows, labels


@pytest.mark.parametrize("task", ["ASD", "AVSM", "T2H"])
def test_letters(task: str, tmp_path: Path) -> None:
    rows, labels = lettered(task, 120, Random(1))
    items = taken(tmp_path, rows, labels, "select", "letters", "draft")
    assert len(items) == 120
    letters: dict[str, Rule] = {
        **POSITIONS, "B": lambda v: v.index("B"), "most common": lambda v: v.index(common)
    }  # fmt: skip
    keys = [item.answer[0] for item in items]
    common = max("AB", key=keys.count)
    assert_at_chance(items, letters)


def test_alignment(tmp_path: Path) -> None:
    rng = Random(1)
    rows, labels = [], {}
    for n in range(150):
        seconds = rng.uniform(8.1, 30)
        rows.append(candidate("AVAD", f"c{n}", seconds, video=VIDEO))
        labels[f"c{n}"] = a_clip(seconds)
    items = taken(tmp_path, rows, labels, "select", "times", "draft", "key-positions")
    assert len(items) == 150
    assert {len(item.options) for item in items} == {3}
    assert_at_chance(
        items, {name: NUMBERS[name] for name in ("smallest", "middle", "largest")}, number
    )
    assert_at_chance(items, POSITIONS)


def test_appearance_times(tmp_path: Path) -> None:
    """People who stay from the start or to the end, and who come and go; short and long clips."""
    rng = Random(1)
    rows, labels = [], {}
    for n in range(160):
        seconds = rng.choice([rng.uniform(7.2, 12), rng.uniform(7.2, 30)])
        there = rng.uniform(0.35, 0.65) * seconds
        kind = rng.choice(["from the start", "to the end", "between"])
        start = {"from the start": 0.0, "to the end": seconds - there}.get(
            kind, rng.uniform(0, seconds - there)
        )
        rows.append(candidate("ATD", f"c{n}", seconds, video=VIDEO, texts=CAPTION))
        labels[f"c{n}"] = a_clip(seconds, 1)
        track = seen(start, start + there, left=0, going_to=1180)
        labels[f"c{n}"]["tracks"]["people"][0]["tracks"] = [track]
    items = taken(tmp_path, rows, labels, "select", "times", "draft", "key-positions")
    assert len(items) > 80, "beside the others, four seconds of overlap leave only short intervals"
    assert_at_chance(items, INTERVALS, span)


def answered(task: str, references: Sequence[tuple[float, str]]) -> list[Item]:
    """Items whose reference people have written."""

    return [
        new_item(candidate(task, f"c{n}", seconds, video=VIDEO), "?", reference=text)
        for n, (seconds, text) in enumerate(references)
    ]


def test_counting(tmp_path: Path) -> None:
    rng = Random(1)
    groups = [*[(3, 5)] * 60, *[(6, 8)] * 60, *[(9, 16)] * 54]
    references = [(10.0, str(rng.randint(*group))) for group in groups]
    items = taken(tmp_path, answered("HC", references), {}, "complete", "key-positions")
    assert len(items) == 174
    rules = {**NUMBERS, "smallest from 3 on": lambda values: values.index(
        min(v for v in values if v >= 3)
    )}  # fmt: skip
    assert_at_chance(items, rules, number)


@pytest.mark.parametrize("early", [False, True], ids=["at any time", "mostly early"])
def test_starts_of_actions(early: bool, tmp_path: Path) -> None:
    rng = Random(1)
    references = []
    for n in range(250):
        seconds = rng.uniform(8, 30)
        at = rng.uniform(0, seconds / 2 if early else seconds)
        sentence = "This is an ongoing action in the video."
        references.append((seconds, f"{at:.1f}" if n % 5 else sentence))
    items = taken(tmp_path, answered("TSA", references), {}, "complete", "key-positions")
    assert all("This is an ongoing action in the video." in item.options for item in items)
    keys = [item.correct[0] for item in items]
    assert 0.15 < sum("ongoing" in key for key in keys) / len(keys) < 0.25
    assert_at_chance([item for item in items if "ongoing" not in item.correct[0]], NUMBERS, number)


def test_letters_of_options_that_are_shuffled(tmp_path: Path) -> None:
    references = [(10.0, str(3 + n % 9)) for n in range(160)]
    items = taken(tmp_path, answered("HC", references), {}, "complete", "key-positions")
    keys = [item.answer[0] for item in items]
    assert {letter: keys.count(letter) for letter in LETTERS[:4]} == dict.fromkeys(LETTERS[:4], 40)
