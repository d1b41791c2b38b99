"""Models with planted failures that a rule cures, a reviewer who sees them, and who writes rules."""

import json
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from actors import said_to
from parts import Studio, recipe_of
from servers import Reply, completion

from reelbench.data.items import Item, Media, freeze
from reelbench.make.parts.quality_loop import refine
from reelbench.make.parts.rules import RuleSet
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.prompts import load_prompts
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.stage import BatchStage, RowStage

DIMENSIONS = {
    "narrator-dependent": "only the narrator says it",
    "ambiguous stem": "the question can be read in two ways",
    "weak or wrong distractor": "a wrong option is easy, or right",
    "misaligned clips": "the clips do not show it",
}
DESTINATIONS = dict(
    zip(DIMENSIONS, ("question", "question", "distractor", "clip-match"), strict=True)
)
NAMED, SEEN = "Name the work.", "Lead with what is seen."


@dataclass(frozen=True)
class Plant:
    """A failure: who makes it, the word that shows it, and the rule that the summarizer writes."""

    role: str
    mark: str
    rule: str
    cured: tuple[str, ...] = ()  # by these rules; by its own if there are none
    caused: str = ""  # by this rule
    withdraws: str = ""

    def shows(self, prompt: str) -> bool:
        if self.caused:
            return self.caused in prompt
        return not any(text in prompt for text in self.cured or (self.rule,))


PLANTS: Mapping[str, Plant] = {
    "ambiguous stem: abstract register": Plant("writer", "zzabstract", NAMED, (NAMED, SEEN)),
    "narrator-dependent: named title": Plant(
        "writer", "zztitle", SEEN, caused=NAMED, withdraws=NAMED
    ),
    "weak or wrong distractor: near synonyms": Plant("distractor", "zznear", "Differ in kind."),
    "misaligned clips: a gap": Plant("matcher", "zzgap", "One range."),
}


@dataclass
class Cast:
    """Plays writer, distractor, matcher, reviewer and summarizer."""

    plants: Mapping[str, Plant] = field(default_factory=lambda: PLANTS)
    summary: str = ""  # what the summarizer says instead
    asked: Counter[str] = field(default_factory=Counter)
    prompts: list[tuple[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, body: dict[str, Any], _number: int) -> Reply:
        role, prompt = body["model"], said_to(body)
        with self.lock:
            self.asked[role] += 1
            self.prompts.append((role, prompt))
        if role == "reviewer":
            return completion(json.dumps(self.review(prompt)))
        if role == "summarizer":
            return completion(self.summary or json.dumps(self.summarise(prompt)))
        marks = [p.mark for p in self.plants.values() if p.role == role and p.shows(prompt)]
        return completion(" ".join(marks) or "fine")

    def review(self, prompt: str) -> dict[str, Any]:
        """Name each failure in words that differ from one item to the next."""
        failures = [
            {
                "dimension": tag.partition(":")[0],
                "type": f"{tag.partition(': ')[2]} of sort {len(prompt) % 3}",
                "comment": f"It has {plant.mark}.",
            }
            for tag, plant in self.plants.items()
            if plant.mark in prompt
        ]
        return {"verdict": "fail" if failures else "pass", "failures": failures}

    def summarise(self, prompt: str) -> dict[str, Any]:
        """Merge the failures onto the planted types; write their rules where none is shown."""
        cases = re.findall(r"^### Failure (\d+)\n(.*?)(?=\n\n|\n</failures>)", prompt, re.M | re.S)
        types = [
            (int(number), next(tag for tag, p in self.plants.items() if p.mark in said_last(case)))
            for number, case in cases
        ]
        found = dict.fromkeys(tag for _, tag in types)
        rules = [
            {
                "tag": tag, "destination": DESTINATIONS[tag.partition(":")[0]],
                "text": self.plants[tag].rule, "reason": f"it fails by {tag}", "check": "",
            }
            for tag in found
            if f"[{tag}]" not in prompt
        ]  # fmt: skip
        gone = [
            {"id": id_, "reason": "titles give it away"}
            for tag in found
            if (text := self.plants[tag].withdraws)
            for id_ in re.findall(rf"^- (R\d+) .*: {re.escape(text)}$", prompt, re.M)[:1]
        ]
        failures = [{"number": number, "type": tag} for number, tag in types]
        return {"failures": failures, "rules": rules, "withdraw": gone}


def said_last(case: str) -> str:
    """The reviewer's line of a case."""
    return case.rpartition("The reviewer (")[2]


class Source(msgspec.Struct, frozen=True):
    id: str
    category: str = "Game"
    rules: str = ""

    @property
    def clip(self) -> str:
        return f"media/{self.id}.mp4"


async def ask(row: Source, ctx: StageContext) -> list[Item]:
    rules = ctx.prompts.rules.text(row.category) if ctx.prompts.rules else ""
    said = await ctx.text("writer", f"About {row.id}.\n{rules}")
    return [
        Item(
            f"{row.id}-01", "open", (Media(row.clip, 0.0, 10.0),), f"What of {row.id}? {said}",
            reference="key", tags=freeze({"category": row.category}),
            context=freeze({"text": "A caption."}),
        )
    ]  # fmt: skip


async def options(item: Item, ctx: StageContext) -> list[Item]:
    rules = ctx.prompts.rules.text("Game", "distractor") if ctx.prompts.rules else ""
    said = await ctx.text("distractor", f"Options of {item.id}.\n{rules}")
    choices = ("the key", f"one {said}", "two", "three")
    return [
        msgspec.structs.replace(item, kind="single", options=choices, answer=("A",), reference=None)
    ]


async def match(item: Item, ctx: StageContext) -> list[Item]:
    rules = ctx.prompts.rules.text("Game", "clip-match") if ctx.prompts.rules else ""
    said = await ctx.text("matcher", f"Clips of {item.id}.\n{rules}")
    return [msgspec.structs.replace(item, context=freeze({"text": f"Its clips: {said}"}))]


def row_stage(work: Any, name: str, role: str, kind: type = Item) -> RowStage:
    return RowStage(
        name=name, input=kind, output=Item, work=work, roles=(role,), prompts=("rules",)
    )


PRODUCE = (
    row_stage(ask, "ask", "writer", Source),
    row_stage(options, "options", "distractor"),
    row_stage(match, "match", "matcher"),
)
ROLES = ("writer", "distractor", "matcher", "summarizer")
ROWS = [Source(f"essay-{number}") for number in range(4)]


def loop(**more: Any) -> BatchStage:
    return refine(PRODUCE, DIMENSIONS, DESTINATIONS, rows=Source, **{"pilot": 3, **more})


@dataclass
class Looped:
    """What came of a loop: results by row, tables, notes, and how often whom was asked."""

    results: Sequence[Any]
    tables: Sequence[Mapping[str, Any]]
    notes: Sequence[str]
    asked: Counter[str]
    kept: Mapping[str, str]


def looped(
    folder: Path,
    cast: Cast,
    stage: BatchStage,
    *,
    reviewer: bool = True,
    rows: Any = ROWS,
    rules: RuleSet | None = None,
) -> Looped:
    """Take rows through the loop."""
    cast.asked.clear()
    models = {role: [role] for role in (*ROLES, *(["reviewer"] if reviewer else []))}

    async def take(ctx: StageContext) -> Looped:
        passed = await Pipeline(recipe_of(stage), ctx, ctx.store).take(rows)
        kept = {row.rules: ctx.kept(row.rules) for row in passed[-1].out if row.rules}
        return Looped(passed[-1].results, ctx.tables, ctx.notes, Counter(cast.asked), kept)

    prompts = replace(load_prompts(None, None, None), rules=rules)
    result: Looped = Studio(folder, cast, models, prompts).with_context(take)[0]
    return result


async def _as_item(row: Source, _ctx: StageContext) -> list[Item]:
    return [Item(row.id, "open", (Media(row.clip),), "What?", reference="This.")]


ENDING = RowStage(name="end", input=Source, output=Item, work=_as_item)
