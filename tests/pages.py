"""Planted makes for tests, and the pages that are written of them."""

from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs
from support import make_item

from reelbench.base.seeds import rng_for
from reelbench.data.items import Item, Media, freeze
from reelbench.make.page.page import write_pages
from reelbench.make.pipeline.funnel import funnel_record
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.stage import Rejected, RowStage, Stage, Undecided
from reelbench.make.pipeline.store import RowResult

CATEGORIES = (
    "Visual Reasoning",
    "State Changes",
    "Temporal Ordering",
    "Cause and Effect",
    "Message Understanding",
)
EASY = (0.45, 0.62, 0.66, 0.74, 0.8)  # how often each is answered blind


class Movie(msgspec.Struct, frozen=True):
    id: str


class WritingTask(msgspec.Struct, frozen=True):
    id: str
    category: str


class Draft(msgspec.Struct, frozen=True):
    id: str
    category: str


async def nothing(row: Any, ctx: Any) -> Sequence[Any]:
    raise AssertionError("no stage works here")


def stage(name: str, takes: type = Item, gives: type = Item) -> Stage:
    return RowStage(name=name, input=takes, output=gives, work=nothing, filters=takes is Item)


def filtered(
    name: str, items: Sequence[Item], right_of: Any, drops: Any, of: int = 5
) -> StageResult:
    """A filter that asked: each item is right so often, and dropped or not for it."""
    results: list[RowResult | Undecided] = []
    for item in items:
        right = right_of(item)
        answers = ["B"] * right + ["C", None, "A", "D", "C", "A"][: of - right]
        facts = {"right": right, "of": of, "answers": answers, "models": {"llama-3.1-70b": right}}
        if drops(right):
            words = [
                f"llama-3.1-70b: {a or 'I cannot tell.'} It is what films like this one do."
                for a in answers
            ]
            detail = f"{right} of {of} answers are right"
            results.append(RowResult(rejected=Rejected(f"dropped by {name}", detail, words, facts)))
        else:
            noted = freeze({**item.provenance, name: facts})
            results.append(RowResult([structs.replace(item, provenance=noted)]))
    return StageResult(stage(name), items, results)


def planted(questions: int = 2400, movies: int = 20, **more: Any) -> list[StageResult]:
    """A make as Cinéaste's: movies, tasks, drafts, items and two filters."""
    rng = rng_for(7, "page", "planted")
    films = [Movie(f"tt{n:03d}") for n in range(movies)]
    orders = [
        [WritingTask(f"{film.id}-{place}", name) for place, name in enumerate(CATEGORIES)]
        for film in films
    ]
    tasks = [one for row in orders for one in row]
    each = -(-questions // len(tasks))
    drafts = [[Draft(f"{c.id}-{n:02d}", c.category) for n in range(each)] for c in tasks]
    drafts[-1] = drafts[-1][: each - (each * len(tasks) - questions)]
    flat = [one for row in drafts for one in row]
    items = [_item(n, draft, **more) for n, draft in enumerate(flat)]
    written: list[RowResult | Undecided] = [RowResult(row) for row in drafts]
    checked = [
        RowResult(rejected=Rejected(*rng.choice(_RULES)))
        if rng.random() < 0.04
        else RowResult([item])
        for item in items
    ]
    whole = StageResult(stage("check", Draft, Item), flat, checked)
    ease = dict(zip(CATEGORIES, EASY, strict=True))
    blind = filtered(
        "independence",
        whole.out,
        lambda item: _right(rng, ease[item.tag("category")[0]]),
        lambda right: right == 5,
    )
    for place in range(0, min(36, len(blind.rows)), 3):
        blind.results[place] = Undecided("error", "HTTP 503 from http://127.0.0.1:8000: no room")  # type: ignore[index]
    truth = filtered("veracity", blind.out, lambda item: _right(rng, 0.72), lambda right: right < 4)
    return [
        StageResult(stage("order", Movie, WritingTask), films, [RowResult(row) for row in orders]),
        StageResult(stage("write", WritingTask, Draft), tasks, written),
        whole, blind, truth,
    ]  # fmt: skip


_RULES = [
    ("rule R2", "the key is the longest option"),
    ("not as asked for", "4 distractors were asked for, 3 are there"),
    ("duplicate options", "a lamp; a lamp"),
]


def _item(n: int, draft: Draft, **more: Any) -> Item:
    plain = {
        "question": f"When the two of them meet again by the harbour (moment {n}), what does the older one do with the letter before she answers?",
        "options": (
            "She tears it in two and keeps one half",
            "She folds it into the book on the table",
            "She reads it aloud to the boy",
            "She burns it in the lamp",
            "She gives it back unread",
        ),
    }
    return make_item(
        n,
        id=draft.id,
        media=(Media(f"media/{draft.id[:5]}.mp4"),),
        tags=freeze({"category": draft.category}),
        **(plain | more),
    )


def _right(rng: Any, ease: float) -> int:
    """Questions are easy or not: their answers go together."""
    chance = 0.97 if rng.random() < ease else rng.random()
    return sum(rng.random() < chance for _ in range(5))


RECORD = {
    "recipe": "cineaste", "seed": 7, "source": "../movies",
    "models": {"writer": [{"name": "gpt-4o", "parameters": {"temperature": 0.7}}], "blind": [{"name": "llama-3.1-70b", "parameters": {}}], "veracity": [{"name": "llama-3.1-70b", "parameters": {}}]},
    "rules": {"name": "cineaste", "version": "1", "sha256": "ab" * 32},
    "stages": [{"name": "independence", "version": 1, "roles": ["blind"], "parameters": {"seeds": 5, "drop_at": 5}, "prompts": {"independence": "cd" * 32}}],
    "versions": {"reelbench": "0.1"},
}  # fmt: skip


def statistics() -> dict[str, Any]:
    rng = rng_for(7, "page", "statistics")
    return {
        "numbers": {"movies": 20, "scenes": 181, "hours of video": 6.34},
        "distributions": {
            "Scene duration (s)": [max(20.0, rng.gauss(126, 32)) for _ in range(181)],
            "Scenes per movie": [rng.randint(5, 13) for _ in range(20)],
            "Caption words per scene": [int(rng.expovariate(1 / 240)) for _ in range(181)],
            "Description words per scene": [int(rng.gauss(344, 60)) for _ in range(181)],
            "Year of upload": [rng.randint(2010, 2019) for _ in range(181)],
        },
    }


def written(
    out: Path, passed: Sequence[StageResult], found: Any = None, **record: Any
) -> tuple[str, str, Any]:
    """Write the pages; return the picture, the page and the funnel."""
    funnel = funnel_record(passed, [("tt999", "no video")])
    write_pages(out, "cineaste", RECORD | record, funnel, found or {}, passed)
    return (out / "funnel.svg").read_text(), (out / "made.html").read_text(), funnel


class Elements(HTMLParser):
    """The elements of a page, and the text of its tables' rows."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data
