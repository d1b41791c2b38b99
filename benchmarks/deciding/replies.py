"""Replies to questions of Q-Bench-Video, what a reader makes of each, and what a judge does."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.data.manifest import Manifest, Protocol
from reelbench.evaluate.judge import Judgement
from reelbench.score.judging import JudgingResult, judge_rows

if TYPE_CHECKING:
    from reelbench.score.predictions import Turns

_MEDIA = (Media("none.mp4"),)  # judges are shown no video


@dataclass(frozen=True, slots=True)
class Labelled:
    """One reply to an item of its own, with the reader's grade or letter."""

    item: Item
    text: str
    label: str

    @property
    def id(self) -> str:
        """The name of its item."""
        return self.item.id


def read_replies(path: Path, most: int | None = None) -> list[Labelled]:
    """Return the replies of a file: to open questions with grades, to closed ones with letters."""
    return list(_replies(path))[:most]


def _replies(path: Path) -> Iterator[Labelled]:
    for number, asked in enumerate(yaml.safe_load(path.read_text()), 1):
        options = tuple(asked.get("options", ()))
        for place, reply in enumerate(asked["replies"], 1):
            item = Item(
                f"{path.stem}-{number:02d}-{place}",
                "single" if options else "open",
                _MEDIA,
                asked["question"],
                options,
                ("A",) if options else (),
                asked.get("reference"),
            )
            yield Labelled(item, reply["text"], str(reply["letter" if options else "grade"]))


def judged(
    replies: list[Labelled], card: str, folder: Path
) -> tuple[dict[str, Judgement], JudgingResult]:
    """Have a judge read all replies; return its judgements by the replies' names, and the rest."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = Manifest("replies", "1", protocol=Protocol(modalities="T", rubric="quality"))
    items = tuple(each.item for each in replies)
    Benchmark(folder / "benchmark", manifest, items).save(folder / "benchmark")
    given: dict[str, Turns] = {
        each.id: {(0, 0): {"status": "ok", "response": each.text}} for each in replies
    }
    benchmark = Benchmark.load(folder / "benchmark")
    result = judge_rows(benchmark, {("someone", ""): given}, [card], folder)
    return {each.reply.item.id: each for each in result.judgements}, result
