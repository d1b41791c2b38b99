"""What reviewers find in a pilot: people where they have decided, else a model, else it waits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.data.failure_types import split_tag, tidy_type, type_key, typed_tag
from reelbench.data.items import Item
from reelbench.data.verdicts import VERDICTS_FILE, Verdict, read_verdicts
from reelbench.evaluate.prompt import lettered
from reelbench.make.parts.shape import TEXT, closed, listed
from reelbench.make.parts.verdicts import decided, verdicts_on
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.funnel import category_of
from reelbench.make.pipeline.stage import WAITING, Rejected, Undecided

PEOPLE = "people"
Material = Callable[[Item, StageContext], str]


@dataclass(frozen=True, slots=True)
class Failure:
    """One way in which an item fails: a dimension, and an open name for the type below it."""

    dimension: str  # empty where a reviewer named none
    type: str
    comment: str = ""

    @property
    def tag(self) -> str:
        """Both, as a verdict has them."""
        return typed_tag(self.dimension, self.type) if self.dimension else self.type


@dataclass(frozen=True, slots=True)
class PilotVerdict:
    """What was found about an item of a pilot, and by whom; it passed where nothing was."""

    item: Item
    by: str
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class PilotReview:
    """How a pilot is reviewed: the dimensions with their meanings, and whose verdicts count."""

    dimensions: Mapping[str, str]
    material: Material  # what a reviewing model reads beside an item
    file: str = VERDICTS_FILE
    needed: int = 1
    role: str = "reviewer"
    prompt: str = "review"

    async def verdicts(
        self, items: Sequence[Item], ctx: StageContext
    ) -> list[PilotVerdict | Undecided]:
        """Return the verdict on each item; ``Undecided`` where people are still to decide."""
        path = ctx.out / self.file
        given, reviewed = read_verdicts(path), read_verdicts(ctx.out / VERDICTS_FILE)

        found = {item.id: verdicts_on(item, given, reviewed) for item in items}
        asked = [item for item in items if not found[item.id] and ctx.models.get(self.role)]
        replies = await together([self._asked(item, ctx) for item in asked])
        by_model = {item.id: each for item, each in zip(asked, replies, strict=True)}
        results: list[PilotVerdict | Undecided] = []
        for item in items:
            if item.id in by_model:
                reply = by_model[item.id]
                results.append(Undecided(WAITING, reply) if isinstance(reply, str) else reply)
                continue
            result = decided(item, found[item.id], ctx.stage, self.needed, path)
            if isinstance(result, Undecided):
                results.append(result)
                continue
            failures = self._failures(found[item.id], isinstance(result, Rejected))
            results.append(PilotVerdict(item, PEOPLE, failures))
        return results

    def _failures(self, given: Sequence[Verdict], rejected: bool) -> tuple[Failure, ...]:
        """Return what people found; a change with tags says what was wrong before it."""
        counting = [each for each in given if each.settled] or given
        named = [
            self.failure(tag, each.comment)
            for each in counting
            if each.decision == ("reject" if rejected else "change")
            for tag in each.tags
        ]
        if rejected and not named:
            named = [Failure("", "", "; ".join(each.comment for each in given if each.comment))]
        return tuple(dict.fromkeys(named))

    def failure(self, tag: str, comment: str = "") -> Failure:
        """Return the failure that a tag names: ``DIMENSION`` or ``DIMENSION: type``."""
        first, rest = split_tag(tidy_type(tag))
        known = {type_key(name): name for name in self.dimensions}
        dimension = known.get(type_key(first), "")
        return Failure(dimension, rest if dimension else tidy_type(tag), comment)

    async def _asked(self, item: Item, ctx: StageContext) -> PilotVerdict | str:
        """Return a model's verdict, or why there is none: it refuses, or cannot be read."""
        name = ctx.model(self.role).card.name
        prompt = ctx.prompts.prompt(
            self.prompt,
            category=category_of(item),
            dimensions="\n".join(f"- {each}: {what}" for each, what in self.dimensions.items()),
            **item_slots(item, self.material(item, ctx)),
        )
        try:
            reply = await ctx.json(self.role, prompt, self._schema(), check=_verdict_fault)
        except Rejected as refusal:
            return f"{name} gave no verdict on {item.id}: {refusal.detail}"
        if reply.data is None:
            return f"{name} gave no verdict on {item.id}: {reply.failure}"
        found = (
            Failure(each["dimension"], each["type"].strip(), each["comment"].strip())
            for each in reply.data["failures"]
        )
        return PilotVerdict(item, name, tuple(dict.fromkeys(found)))

    def _schema(self) -> dict[str, Any]:
        failure = closed(
            {"dimension": {"enum": list(self.dimensions)}, "type": TEXT, "comment": TEXT}
        )
        return closed({"verdict": {"enum": ["pass", "fail"]}, "failures": listed(failure, 0)})


def _verdict_fault(reply: Any) -> str:
    if (reply["verdict"] == "fail") == bool(reply["failures"]):
        return ""
    return "a verdict of fail names its failures, and one of pass has none"


def item_slots(item: Item, material: str) -> dict[str, str]:
    """Return the slots of prompts about an item: question, options, key, clips and context."""
    spans = []
    for each in item.media:
        end = "the end" if each.end is None else f"{each.end:g} s"
        spans.append(f"{each.path}, {each.start or 0:g} s to {end}")
    return {
        "question": item.question,
        "kind": item.kind,
        "options": lettered(item.options),
        "key": ", ".join(item.answer) or (item.reference or ""),
        "clips": "; ".join(spans),
        "context": material,
    }


def waiting(
    found: Sequence[PilotVerdict | Undecided], items: Sequence[Item], where: str
) -> Undecided | None:
    """Return what a pilot waits for: its items without a verdict; None where all have one."""
    pairs = [
        (item, each) for item, each in zip(items, found, strict=True) if isinstance(each, Undecided)
    ]
    if not pairs:
        return None
    if failed := [each for _, each in pairs if each.status != WAITING]:
        return failed[0]
    reasons = "; ".join(dict.fromkeys(each.error for _, each in pairs))
    text = f"{where}: {len(pairs)} of {len(items)} items wait for verdicts ({reasons})"
    return Undecided(WAITING, text, [item for item, _ in pairs])
