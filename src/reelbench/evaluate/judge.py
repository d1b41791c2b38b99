"""Judges: models that read replies the parser cannot read, and grade open replies.

A reply to a closed question that the parser cannot read goes to the first judge, which is asked in
five rounds which option it chooses; more than half must agree. A reply to an open question is
graded by every judge, in five rounds, by the condition's rubric. A failed round counts as failed.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import progress
from reelbench.client.client import Client, Stopped
from reelbench.client.journal import Journal
from reelbench.client.session import run_to_the_end
from reelbench.client.structured import Structured, ask_json
from reelbench.data.items import LETTERS, Item, Kind
from reelbench.evaluate.parse import Parsed, complete_answer, parse_answer
from reelbench.evaluate.prompt import fill, lettered
from reelbench.evaluate.rubric import CHOICE, Rubric, choice_prompt
from reelbench.models.base import ChatModel, is_greedy

ROUNDS = 5
_AT_ONCE = 64  # judgements under way
_BATCH = 1024  # judgements read from the journal at a time


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied to one item, in one order of its options and one round."""

    item: Item
    model: str
    condition: str
    number: int  # of the option order
    order: tuple[int, ...]  # the options of the item, in the order they were asked
    round: int
    text: str
    truncated: bool = False

    @property
    def key(self) -> "Key":
        """What identifies it among all replies."""
        return self.item.id, self.model, self.condition, self.number, self.round

    @property
    def place(self) -> dict[str, Any]:
        """The same, as files have it."""
        return dict(zip(("id", "model", "condition", "order", "round"), self.key, strict=True))

    @property
    def options(self) -> tuple[str, ...]:
        """The options in the order they were asked."""
        return tuple(self.item.options[place] for place in self.order)

    def parsed(self) -> Parsed:
        """Read the answer to a closed item."""
        return _read(self.text, self.truncated, self.item.kind, self.options)

    def needs_judge(self) -> bool:
        """Whether a judge is to read it: not what the parser can read, a refusal or cut off."""
        if self.item.kind == "open":
            return bool(self.text.strip())
        parsed = self.parsed()
        known = parsed.failure in ("refusal", "empty reply")
        return parsed.places is None and not known and not self.truncated

    def letters(self, places: Iterable[int]) -> list[str]:
        """Return the letters, in the item's own order, of options in the order they were asked."""
        return sorted(LETTERS[self.order[place]] for place in places)


@lru_cache(maxsize=16)  # who asks for the letters also asks how they were read
def _read(text: str, truncated: bool, kind: Kind, options: tuple[str, ...]) -> Parsed:
    return (complete_answer if truncated else parse_answer)(text, kind, options)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's result for one reply, over all its rounds."""

    reply: Reply
    judge: str
    rubric: str
    rounds: tuple[Mapping[str, Any], ...]  # the reply of each, or its failure
    choice: tuple[int, ...] | None = None  # the places of the options, where most rounds agree
    score: float | None = None  # the mean of the valid rounds
    scale: tuple[float, float] = (0.0, 0.0)  # the worst and the best score that there is

    def to_record(self) -> dict[str, Any]:
        """Return it as a line of ``judgements.jsonl``."""
        row: dict[str, Any] = {**self.reply.place, "judge": self.judge, "rubric": self.rubric}
        if self.rubric == CHOICE:
            row["choice"] = None if self.choice is None else self.reply.letters(self.choice)
        else:
            row |= {"score": self.score, "scale": list(self.scale)}
        return row | {"rounds": list(self.rounds)}

    def failures(self) -> list[dict[str, Any]]:
        """Return failed rounds and missing grades, as entries of ``status.json``."""
        failed = [each for each in self.rounds if each.get("status", "ok") != "ok"]
        graded = self.rubric == CHOICE or self.score is not None
        if not failed and graded:
            return []
        lacking = failed or self.rounds
        message = f"{len(lacking)} of {len(self.rounds)} rounds of {self.judge} failed"
        status = failed[0]["status"] if failed else "error"
        return [
            {
                **self.reply.place,
                "status": status,
                "error": f"{message}: {lacking[0].get('failure')}",
            }
        ]


class JudgedChoice(NamedTuple):
    """The letters that a judge found in a closed reply; None where its rounds do not agree."""

    judge: str
    letters: list[str] | None


@dataclass(frozen=True, slots=True)
class Judges:
    """The judges, and the rubric for each condition."""

    models: Sequence[ChatModel]
    rubrics: Mapping[str, Rubric]  # by the condition's name; none are needed for closed items

    def __post_init__(self) -> None:
        for judge in self.models:
            if judge.card.backend == "baseline":
                raise ReelbenchError(
                    f"{judge.card.name} cannot judge, since baselines do not read replies: name "
                    "another model with --judge."
                )

    def warnings(self) -> Iterator[str]:
        """Yield a warning for each judge whose rounds will be much the same."""
        for judge in self.models:
            if is_greedy(judge):
                yield (
                    f"{judge.card.name} judges at temperature 0, so that its rounds will be much "
                    "the same: write parameters: {temperature: 1} in its card"
                )

    def work(self, replies: Iterable[Reply]) -> Iterator["Work"]:
        """Yield what is to be judged: open replies by all judges, closed ones by the first."""
        for reply in replies if self.models else ():
            if not reply.needs_judge():
                continue
            if reply.item.kind == "open":
                rubric = self.rubrics[reply.condition]
                yield from ((reply, judge, rubric) for judge in self.models)
            else:
                yield reply, self.models[0], None


Key = tuple[str, str, str, int, int]  # item, model, condition, number of the order, round
Work = tuple[Reply, ChatModel, Rubric | None]  # no rubric for what a reply chooses


async def judge_all(
    judges: Judges,
    replies: Iterable[Reply],
    client: Client,
    on_judgement: Callable[[Judgement], None],
) -> list[Judgement]:
    """Return the judgements of replies that need one; raise ``KeyboardInterrupt`` after Ctrl-C."""
    work = list(judges.work(replies))
    found: dict[int, Judgement] = {}

    def each(number: int, judgement: Judgement) -> None:
        found[number] = judgement
        on_judgement(judgement)

    await judge_work(work, len(work), client, each)
    return [found[number] for number in sorted(found)]


async def judge_work(
    work: Iterable[Work],
    count: int,
    client: Client,
    on_judgement: Callable[[int, Judgement], None],
) -> None:
    """Judge, as ``judge_all`` does, and hand over each judgement with the number of its work.

    The work is taken as it is done, so that no more of it need be in memory.
    """
    failed = 0

    def so_far() -> str:
        return ", ".join(filter(None, [f"{failed:,} failed", client.ledger.in_words()]))

    with progress("Judging replies", count, "replies", so_far) as advance:

        def each(number: int, judgement: Judgement) -> None:
            nonlocal failed
            failed += bool(judgement.failures())
            on_judgement(number, judgement)
            advance()

        await _each_of(work, min(_AT_ONCE, count), client, each)
    if client.stopping.is_set():
        raise KeyboardInterrupt


def judged_before(
    judges: Judges, replies: Iterable[Reply], journal: Journal, seed: int
) -> Iterator[Judgement]:
    """Yield the judgements that are in the journal, without asking anything."""
    work = judges.work(replies)
    while batch := list(islice(work, _BATCH)):
        found = run_to_the_end(_in_journal(batch, Client(journal, seed=seed)))
        yield from (found[number] for number in sorted(found))


async def _in_journal(work: Sequence[Work], client: Client) -> dict[int, Judgement]:
    client.stop()
    found: dict[int, Judgement] = {}
    await _each_of(work, min(_AT_ONCE, len(work)), client, found.__setitem__)
    return found


async def _each_of(
    work: Iterable[Work],
    at_once: int,
    client: Client,
    on_judgement: Callable[[int, Judgement], None],
) -> None:
    """Judge, many at a time; what is stopped is left out."""
    waiting = iter(enumerate(work))
    failed: list[Exception] = []

    async def worker() -> None:
        for number, each in waiting:
            try:
                on_judgement(number, await _judged(client, *each))
            except Stopped:
                continue
            except Exception as error:  # what others wait for is paid, and may come to its end
                failed.append(error)
                client.stop()

    await asyncio.gather(*(worker() for _ in range(at_once)))
    if failed:
        raise failed[0]


async def _judged(
    client: Client, reply: Reply, judge: ChatModel, rubric: Rubric | None
) -> Judgement:
    if rubric is None:
        return await _chosen(client, judge, reply)
    return await _graded(client, judge, reply, rubric)


async def _chosen(client: Client, judge: ChatModel, reply: Reply) -> Judgement:
    letters = LETTERS[: len(reply.options)]
    slots = {
        "question": reply.item.question,
        "options": lettered(reply.options),
        "response": _quoted(reply.text),
    }
    schema = _choice_schema(letters, several=reply.item.kind == "multi")
    rounds = await _rounds(client, judge, fill(choice_prompt(), slots), schema, CHOICE)
    choices = [frozenset(_letters(each.data)) for each in rounds if each.data is not None]
    votes = Counter(choice for choice in choices if choice)
    best, count = votes.most_common(1)[0] if votes else (frozenset[str](), 0)
    choice = tuple(sorted(map(letters.index, best))) if count > ROUNDS // 2 else None
    return Judgement(reply, judge.card.name, CHOICE, _round_records(rounds), choice=choice)


def _choice_schema(letters: str, several: bool) -> dict[str, Any]:
    one = {"type": "string", "enum": [*letters, "none"]}
    some = {"type": "array", "items": {"type": "string", "enum": [*letters]}}
    return {
        "type": "object",
        "properties": {"choice": some if several else one},
        "required": ["choice"],
        "additionalProperties": False,
    }


def _letters(data: Mapping[str, Any]) -> list[str]:
    choice = data["choice"]
    return choice if isinstance(choice, list) else [] if choice == "none" else [choice]


def _quoted(reply: str) -> str:
    """Return a reply that cannot close the tags around it."""
    return re.sub(r"<(\s*/?\s*reply)", r"‹\1", reply, flags=re.IGNORECASE)


def graded_slots(item: Item, reply: str) -> dict[str, str]:
    """Return the texts for the slots of a rubric."""
    return {
        "question": item.question,
        "options": lettered(item.options),
        "reference": item.reference or "(none)",
        "response": _quoted(reply) or "(nothing)",
        "caption": str(item.context.get("caption") or "(none)"),
    }


async def _graded(client: Client, judge: ChatModel, reply: Reply, rubric: Rubric) -> Judgement:
    prompt = rubric.render(graded_slots(reply.item, reply.text))
    rounds = await _rounds(client, judge, prompt, rubric.schema, rubric.name)
    values = [rubric.values(each.data) for each in rounds if each.data is not None]
    grades = [rubric.grade(each) for each in values if each]
    score = round(sum(grades) / len(grades), 6) if grades else None
    return Judgement(
        reply, judge.card.name, rubric.name, _round_records(rounds), None, score, rubric.scale
    )


async def _rounds(
    client: Client, judge: ChatModel, prompt: str, schema: Mapping[str, Any], purpose: str
) -> list[Structured]:
    rounds = (
        ask_json(client, judge, prompt, schema, purpose, number, repeated=True)
        for number in range(ROUNDS)
    )
    # All of them end before an error is raised: what was paid for is recorded.
    found = await asyncio.gather(*rounds, return_exceptions=True)
    for each in found:
        if isinstance(each, BaseException):
            raise each
    return [each for each in found if isinstance(each, Structured)]


def _round_records(rounds: Sequence[Structured]) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {"failure": each.failure, "status": each.status}
        if each.data is None
        else {"reply": each.data}
        for each in rounds
    )


def decided(judgements: Iterable[Judgement]) -> dict[Key, JudgedChoice]:
    """Return what judges found in closed replies, by reply."""
    return {each.reply.key: choice_of(each) for each in judgements if each.rubric == CHOICE}


def choice_of(judgement: Judgement) -> JudgedChoice:
    """Return what a judge found in a closed reply."""
    letters = None if judgement.choice is None else judgement.reply.letters(judgement.choice)
    return JudgedChoice(judgement.judge, letters)
