"""Judges: models that read what rules cannot, and grade what no key can.

A reply to a closed question that the parser cannot read goes to the first judge, which says in five
rounds what it chooses; more than half must agree. A reply to an open question is graded by every
judge, in five rounds, after the condition's rubric. A round that fails is counted as that.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.asking.asker import Asker, Stopped
from reelbench.asking.structured import Structured, ask_json
from reelbench.evaluate.ask import Ask
from reelbench.evaluate.parse import parse_answer
from reelbench.evaluate.prepare import Prepared
from reelbench.evaluate.prompt import fill, lettered
from reelbench.evaluate.rubric import CHOICE, Rubric, choice_prompt
from reelbench.evaluate.schedule import failure_of
from reelbench.evaluate.status import RunState, StatusFile
from reelbench.evaluate.stopping import draining, first_of
from reelbench.items import LETTERS
from reelbench.journal import Journal
from reelbench.models.base import ChatModel, Response, Status
from reelbench.progress import progress

ROUNDS = 5
_AT_ONCE = 64  # judgements under way


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge made of one reply, in all its rounds."""

    ask: Ask
    judge: str
    rubric: str
    rounds: tuple[Mapping[str, Any], ...]  # the reply of each, or its failure
    choice: tuple[int, ...] | None = None  # the places of the options, where most rounds agree
    score: float | None = None  # the mean of the valid rounds
    scale: tuple[float, float] = (0.0, 0.0)  # the worst and the best score that there is

    def to_record(self) -> dict[str, Any]:
        """Return it as a line of ``judgements.jsonl``."""
        row: dict[str, Any] = {
            "id": self.ask.item.id,
            "model": self.ask.model.card.name,
            "condition": self.ask.condition.name,
            "order": self.ask.number,
            "round": self.ask.round,
            "judge": self.judge,
            "rubric": self.rubric,
        }
        if self.rubric == CHOICE:
            row["choice"] = None if self.choice is None else letters_of(self.ask, self.choice)
        else:
            row |= {"score": self.score, "scale": list(self.scale)}
        return row | {"rounds": list(self.rounds)}


def letters_of(ask: Ask, places: Sequence[int]) -> list[str]:
    """Return the letters, in the benchmark's own order, of options in the order they were asked."""
    return sorted(LETTERS[ask.order[place]] for place in places)


async def judge_all(
    prepared: Prepared, asker: Asker, state: RunState, status: StatusFile
) -> list[Judgement]:
    """Judge all that there is to judge; raise ``KeyboardInterrupt`` after Ctrl-C."""
    work = list(_work(prepared, asker.journal))
    with progress("Judging replies", len(work), "replies") as advance, draining(asker):

        def told(judgement: Judgement) -> None:
            state.judged += 1
            state.failures += _failures(judgement)
            status.refresh()
            advance()

        judgements = await _all_of(work, asker, told)
    if asker.stopping.is_set():
        raise KeyboardInterrupt
    return judgements


async def judged_before(prepared: Prepared, journal: Journal) -> list[Judgement]:
    """Return what the journal has of judgements, without asking anything."""
    if not prepared.judges:
        return []
    asker = Asker(journal)
    asker.stop()
    return await _all_of(list(_work(prepared, journal)), asker, lambda _: None)


async def _all_of(
    work: Sequence["Work"], asker: Asker, told: Callable[[Judgement], None]
) -> list[Judgement]:
    """Judge, many at a time; what is stopped is left out. In the order of what was asked."""
    waiting = iter(enumerate(work))
    done: dict[int, Judgement] = {}

    async def worker() -> None:
        for number, each in waiting:
            try:
                done[number] = await _judged(asker, each)
            except Stopped:
                continue
            told(done[number])

    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(_AT_ONCE, len(work))):
                tasks.create_task(worker())
    except BaseExceptionGroup as group:
        raise first_of(group) from None
    return [done[number] for number in sorted(done)]


Work = tuple[Ask, str, ChatModel, Rubric | None]  # no rubric for what a reply chooses


def _work(prepared: Prepared, journal: Journal) -> Iterator[Work]:
    judges = list(prepared.judges.values())
    for ask in prepared.asks:
        response = journal.answer(ask.key)
        if response is None:
            continue
        reply = response.text or ""
        if ask.item.kind == "open":
            rubric = prepared.rubrics[ask.condition.protocol.rubric]
            yield from ((ask, reply, judge, rubric) for judge in judges)
        elif reply.strip() and parse_answer(reply, ask.item.kind, ask.options).places is None:
            yield ask, reply, judges[0], None


async def _judged(asker: Asker, work: Work) -> Judgement:
    ask, reply, judge, rubric = work
    if rubric is None:
        return await _chosen(asker, judge, ask, reply)
    return await _graded(asker, judge, ask, reply, rubric)


async def _chosen(asker: Asker, judge: ChatModel, ask: Ask, reply: str) -> Judgement:
    letters = LETTERS[: len(ask.options)]
    slots = {
        "question": ask.item.question,
        "options": lettered(ask.options),
        "response": _quoted(reply),
    }
    schema = _choice_schema(letters, several=ask.item.kind == "multi")
    rounds = await _rounds(asker, judge, fill(choice_prompt(), slots), schema, CHOICE)
    said = [frozenset(_letters(each.data)) for each in rounds if each.data is not None]
    votes = Counter(choice for choice in said if choice)
    best, count = votes.most_common(1)[0] if votes else (frozenset[str](), 0)
    choice = tuple(sorted(map(letters.index, best))) if count > ROUNDS // 2 else None
    return Judgement(ask, judge.card.name, CHOICE, _told(rounds), choice=choice)


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
    """A reply cannot end the tags that it stands in."""
    return re.sub(r"<(\s*/?\s*reply)", r"‹\1", reply, flags=re.IGNORECASE)


def graded_slots(ask: Ask, reply: str) -> dict[str, str]:
    """Return what a rubric's slots are filled with."""
    item = ask.item
    return {
        "question": item.question,
        "options": lettered(item.options),
        "reference": item.reference or "(none)",
        "response": _quoted(reply) or "(nothing)",
        "caption": str(item.context.get("caption") or "(none)"),
    }


async def _graded(
    asker: Asker, judge: ChatModel, ask: Ask, reply: str, rubric: Rubric
) -> Judgement:
    rounds = await _rounds(
        asker, judge, rubric.render(graded_slots(ask, reply)), rubric.schema, rubric.name
    )
    values = [rubric.values(each.data) for each in rounds if each.data is not None]
    grades = [rubric.grade(each) for each in values if each]
    score = round(sum(grades) / len(grades), 6) if grades else None
    return Judgement(ask, judge.card.name, rubric.name, _told(rounds), None, score, rubric.scale)


async def _rounds(
    asker: Asker, judge: ChatModel, prompt: str, schema: Mapping[str, Any], purpose: str
) -> list[Structured]:
    rounds = (ask_json(asker, judge, prompt, schema, purpose, n) for n in range(ROUNDS))
    # All of them end before one of them is told: what was paid for is written down.
    found = await asyncio.gather(*rounds, return_exceptions=True)
    for each in found:
        if isinstance(each, BaseException):
            raise each
    return [each for each in found if isinstance(each, Structured)]


def _told(rounds: Sequence[Structured]) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {"failure": each.failure, "status": each.status}
        if each.data is None
        else {"reply": each.data}
        for each in rounds
    )


def _failures(judgement: Judgement) -> list[dict[str, Any]]:
    """Say that rounds had no answer, or that an open reply has no grade."""
    failed = [each for each in judgement.rounds if each.get("status", "ok") != "ok"]
    graded = judgement.rubric == CHOICE or judgement.score is not None
    if not failed and graded:
        return []
    lacking = failed or judgement.rounds
    told = f"{len(lacking)} of {len(judgement.rounds)} rounds of {judgement.judge} failed"
    status: Status = failed[0]["status"] if failed else "error"
    error = f"{told}: {lacking[0].get('failure')}"
    return [failure_of(judgement.ask, Response(status, error=error))]


def decided(judgements: Sequence[Judgement]) -> dict[int, Judgement]:
    """Return what judges made of replies that rules cannot read, by the question asked."""
    return {id(judgement.ask): judgement for judgement in judgements if judgement.rubric == CHOICE}
