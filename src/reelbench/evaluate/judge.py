"""Judges: models that read what rules cannot, and grade what no key can.

A reply to a closed question that the parser cannot read goes to the first judge, which says in five
rounds what it chooses; more than half must agree. A reply to an open question is graded by every
judge, in five rounds, after the condition's rubric. A round that fails is counted as that.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.asking.asker import Asker, Stopped
from reelbench.asking.structured import Structured, ask_json
from reelbench.evaluate.ask import Ask
from reelbench.evaluate.parse import parse_answer
from reelbench.evaluate.prepare import Prepared
from reelbench.evaluate.prompt import fill, lettered
from reelbench.evaluate.rubric import Rubric, choice_prompt
from reelbench.evaluate.schedule import draining, failure_of, first_of
from reelbench.evaluate.status import RunState
from reelbench.items import LETTERS
from reelbench.models.base import ChatModel, Response, Status
from reelbench.progress import progress

ROUNDS = 5
CHOICE = "choice"  # the rubric of what a reply chooses
_AT_ONCE = 256  # judgements under way


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
    prepared: Prepared, asker: Asker, state: RunState, judgements: list[Judgement]
) -> None:
    """Judge all that there is to judge, into a list that is in the order of what was asked."""
    work = list(_work(prepared, asker))
    done: dict[int, Judgement] = {}
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(number: int, work: Work) -> None:
        async with places:
            try:
                done[number] = await _judged(asker, work)
            except Stopped:
                return
        state.failures += _failures(done[number])
        state.judged += 1
        advance()

    with progress("Judging replies", len(work), "replies") as advance, draining(asker.stopping):
        try:
            async with asyncio.TaskGroup() as tasks:
                for number, each in enumerate(work):
                    tasks.create_task(one(number, each))
        except BaseExceptionGroup as group:
            raise first_of(group) from None
        finally:
            judgements += [done[number] for number in sorted(done)]
    if asker.stopping.is_set():
        raise KeyboardInterrupt


Work = tuple[Ask, str, ChatModel, Rubric | None]  # no rubric for what a reply chooses


def _work(prepared: Prepared, asker: Asker) -> Iterator[Work]:
    judges = list(prepared.judges.values())
    for ask in prepared.asks:
        response = asker.journal.answer(ask.key)
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
        "response": reply,
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


def graded_slots(ask: Ask, reply: str) -> dict[str, str]:
    """Return what a rubric's slots are filled with."""
    item = ask.item
    return {
        "question": item.question,
        "options": lettered(item.options),
        "reference": item.reference or "(none)",
        "response": reply or "(nothing)",
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
    return list(await asyncio.gather(*rounds))


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
