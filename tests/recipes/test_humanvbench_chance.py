"""HumanVBench: a model that sees nothing stays at chance, whatever rule of thumb it goes by.

Of every task whose options a rule writes, 2,000 items are drawn; ``blind_rules`` then plays them.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from blind_rules import beyond_chance, blind
from human_clips import candidate, stage, take

from reelbench.data.items import LETTERS, Item
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.drafts import draft, new_item
from reelbench.recipes.humanvbench.tasks import TASKS

ITEMS = 2_000
ONGOING = TASKS["TSA"].options[-1]
# Those that are keys only after a correction by people are no answer for who sees nothing.
SENTENCES = ("speaking in the video", "ongoing action")


def through(folder: Path, rows: Sequence[Any], *names: str) -> list[Any]:
    outcomes = take(folder, rows, {}, *(stage(name) for name in names))
    return [row for each in outcomes if not isinstance(each, Rejected) for row in each]


def drafted(rows: Sequence[Any]) -> list[Item]:
    ctx: Any = StageContext

    async def every() -> list[Item]:
        return [item for row in rows for item in await draft(row, ctx)]

    return asyncio.run(every())


def played(items: Sequence[Item]) -> dict[str, float]:
    """The rules that are right too often on the first 2,000 of some items."""
    assert len(items) >= ITEMS
    seconds = [item.provenance["select"]["seconds"] for item in items]
    return beyond_chance(
        [blind(*pair, SENTENCES) for pair in zip(items[:ITEMS], seconds, strict=False)]
    )


@pytest.mark.parametrize("task", ["ASD", "AVSM", "T2H"])
def test_letters(task: str, tmp_path: Path) -> None:
    """In half of the clips the first person that was found is the key."""
    rng, rows = Random(1), []
    for n in range(ITEMS):
        count = rng.choice([4, 5, 6] if task == "T2H" else [2, 3, 4])
        key = "p1" if rng.random() < 0.5 else f"p{rng.randint(1, count)}"
        people = tuple(f"p{number}" for number in range(1, count + 1))
        texts = {"caption": "A tall person in a green coat."}
        rows.append(candidate(task, f"c{n}", key=key, people=people, video="v.mp4", texts=texts))
    assert played(drafted(through(tmp_path, rows, "letters"))) == {}


def test_alignment(tmp_path: Path) -> None:
    rng = Random(1)
    rows = [candidate("AVAD", f"c{n}", rng.uniform(8.1, 30), video="v.mp4") for n in range(ITEMS)]
    items = through(tmp_path, drafted(through(tmp_path, rows, "times")), "key-positions")
    assert {len(item.options) for item in items} == {3}
    assert played(items) == {}


def test_appearance_times(tmp_path: Path) -> None:
    """People who stay from the start or to the end, and who come and go; short and long clips."""
    rng, rows = Random(1), []
    for n in range(2 * ITEMS):
        seconds = rng.choice([rng.uniform(7.2, 12), rng.uniform(7.2, 30)])
        there = rng.uniform(1 / 3, min(2 / 3, 9 / seconds)) * seconds
        start = rng.choice([0.0, seconds - there, rng.uniform(0, seconds - there)])
        span = [round(start), min(round(start + there), int(seconds))]
        texts = {"caption": "A tall person in a green coat."}
        facts = {"span": span}
        rows.append(candidate("ATD", f"c{n}", seconds, video="v.mp4", texts=texts, facts=facts))
    items = through(tmp_path, drafted(through(tmp_path, rows, "times")), "key-positions")
    assert played(items) == {}


def answered(task: str, references: Sequence[tuple[float, str]]) -> list[Item]:
    """Items whose reference people have written."""
    return [
        new_item(candidate(task, f"c{n}", seconds, video="v.mp4"), "?", reference=text)
        for n, (seconds, text) in enumerate(references)
    ]


def test_counting(tmp_path: Path) -> None:
    rng = Random(1)
    groups = [*[(3, 5)] * 60, *[(6, 8)] * 60, *[(9, 16)] * 54] * 12
    references = [(10.0, str(rng.randint(*group))) for group in groups]
    items = through(tmp_path, answered("HC", references), "complete", "key-positions")
    assert played(items) == {}


def test_starts_of_actions(tmp_path: Path) -> None:
    rng, references = Random(1), []
    for n in range(3 * ITEMS // 2):
        seconds = rng.uniform(7.1, 30)
        text = f"{rng.uniform(0.3, seconds - 0.7):.1f}" if n % 5 else ONGOING
        references.append((seconds, text))
    items = through(tmp_path, answered("TSA", references), "complete", "key-positions")
    assert all(ONGOING in item.options for item in items)
    starting = [item for item in items if item.correct != (ONGOING,)]
    assert 0.15 < 1 - len(starting) / len(items) < 0.25
    assert played(starting) == {}


def test_letters_of_options_that_are_shuffled(tmp_path: Path) -> None:
    references = [(10.0, str(3 + n % 9)) for n in range(160)]
    items = through(tmp_path, answered("HC", references), "complete", "key-positions")
    keys = [item.answer[0] for item in items]
    counts = [keys.count(letter) for letter in LETTERS[:4]]
    assert max(counts) - min(counts) <= 1
