"""Have a model write rated responses to open questions, as material to train a judge on.

Every question gets the same twelve (``bands.MIX``). A response whose scores do not fit its type is
rejected with the reason, and asked for again in the next round; a question that is not complete
after the last round is left out, by name.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import progress
from reelbench.client.client import Client, Stopped
from reelbench.client.forecast import CallForecast
from reelbench.client.journal import Journal
from reelbench.client.structured import ask_json, first_request
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.evaluate.judge import graded_slots
from reelbench.evaluate.prompt import fill
from reelbench.evaluate.rubric import Rubric
from reelbench.judge.bands import CRITERIA, MIX, band_fault, missing_kinds
from reelbench.judge.sharegpt import RatedResponse
from reelbench.models.base import ChatModel
from reelbench.models.judge.grammar import Fixed, fill_parts, reply_parts
from reelbench.models.tokens import text_tokens

ROUNDS = 3
_REPLY_TOKENS = 130  # of one response with its ratings, for forecasts
_PURPOSE = "judge synthesize"
_AT_ONCE = 64  # questions under way


def _object(more: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    """A schema that strict servers take."""
    required = list(properties)
    shape = {"type": "object", "properties": properties, "required": required}
    return {**shape, "additionalProperties": False, **(more or {})}


_TEXT = {"type": "string"}
_SCORE = _object(score={"type": "integer", "enum": [1, 2, 3, 4, 5]}, reason=_TEXT)
_RESPONSE = _object(
    # The type may come as intended_error_Type, as the paper spells it in places.
    {
        "x-accepts": {
            "required": ["synthetic_model_response", "ratings"],
            "additionalProperties": True,
        }
    },
    synthetic_model_response=_TEXT,
    intended_error_type=_TEXT,
    ratings=_object(**dict.fromkeys(CRITERIA, _SCORE)),
)
SCHEMA = _object(
    question=_TEXT,
    reference_answer=_TEXT,
    synthetic_responses={"type": "array", "items": _RESPONSE},
)


@dataclass(frozen=True, slots=True)
class SyntheticResponse:
    """An answer that a model made up, with its type and its ratings."""

    text: str
    kind: str
    ratings: Mapping[str, Mapping[str, Any]]

    @property
    def scores(self) -> dict[str, int]:
        """The score of each criterion."""
        return {name: int(self.ratings[name]["score"]) for name in CRITERIA}


@dataclass
class SyntheticSet:
    """What came of one question."""

    item: Item
    accepted: list[SyntheticResponse] = field(default_factory=list)
    rejected: list[dict[str, Any]] = field(default_factory=list)  # each with its round and reason
    failure: str = ""  # of the last call, where it failed

    @property
    def complete(self) -> bool:
        """Whether all of the mix is there."""
        return not missing_kinds([each.kind for each in self.accepted])

    @property
    def missing(self) -> str:
        """Say what lacks, and why."""
        lacking = missing_kinds([each.kind for each in self.accepted])
        words = ", ".join(f"{count} of {kind}" for kind, count in lacking.items())
        why = self.failure or (self.rejected[-1]["reason"] if self.rejected else "")
        return f"{self.item.id}: lacks {words}" + (f" ({why})" if why else "")


def questions_to_grade(benchmark: Benchmark) -> list[Item]:
    """Return the open items with a reference; raise a sentence where there are none."""
    items = [item for item in benchmark.items if item.kind == "open" and item.reference]
    if not items:
        raise ReelbenchError(
            f"{benchmark.root} has no open item with a reference answer, of which responses could "
            "be made: write `kind: open` and `reference`."
        )
    return items


def without_caption(items: Sequence[Item]) -> list[str]:
    """Return the ids of items whose context has no caption, by which faithfulness is judged."""
    return [item.id for item in items if not item.context.get("caption")]


async def synthesize_all(
    client: Client,
    model: ChatModel,
    items: Sequence[Item],
    rounds: int = ROUNDS,
    on_done: Callable[[SyntheticSet], None] = lambda _: None,
) -> list[SyntheticSet]:
    """Return what came of each question, in their order; of what was stopped, nothing."""
    waiting = iter(enumerate(items))
    done: dict[int, SyntheticSet] = {}
    with progress("Synthesizing", len(items), "questions") as advance:

        async def worker() -> None:
            for number, item in waiting:
                try:
                    done[number] = await synthesize(client, model, item, rounds)
                except Stopped:
                    continue
                on_done(done[number])
                advance()

        await asyncio.gather(*(worker() for _ in range(min(_AT_ONCE, len(items)))))
    return [done[number] for number in sorted(done)]


async def synthesize(
    client: Client, model: ChatModel, item: Item, rounds: int = ROUNDS
) -> SyntheticSet:
    """Ask until the mix is complete, or as many rounds as may be."""
    found = SyntheticSet(item)
    for round in range(rounds):
        if found.complete:
            break
        reply = await ask_json(client, model, _prompt(found), SCHEMA, _PURPOSE, round)
        if reply.data is None:
            found.failure = reply.failure
            if reply.status != "ok":
                break
            continue
        found.failure = ""
        _take(found, reply.data["synthetic_responses"], round)
    return found


def _take(found: SyntheticSet, responses: Sequence[Mapping[str, Any]], round: int) -> None:
    """Accept what fits and is still missing; what does not fit is kept with the reason."""
    for raw in responses:
        kind = raw.get("intended_error_type") or raw.get("intended_error_Type") or ""
        text = raw["synthetic_model_response"].strip()
        response = SyntheticResponse(text, str(kind).strip().lower(), raw["ratings"])
        if fault := _fault(found, response):
            record = {"item": found.item.id, "round": round, "reason": fault, "response": raw}
            found.rejected.append(record)
        else:
            found.accepted.append(response)


def _fault(found: SyntheticSet, response: SyntheticResponse) -> str:
    if not response.text:
        return "an empty response"
    if any(_plain(response.text) == _plain(other.text) for other in found.accepted):
        return "the same response twice"
    if fault := band_fault(response.kind, response.scores):
        return fault
    if response.kind not in missing_kinds([each.kind for each in found.accepted]):
        return f"more of {response.kind} than the {len(MIX[response.kind])} asked for"
    return ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _prompt(found: SyntheticSet) -> str:
    """What is asked for: all of the mix, or what of it was not accepted, and why."""
    lacking = missing_kinds([each.kind for each in found.accepted])
    lines = []
    for kind, count in lacking.items():
        styles = [style for style in MIX[kind] if style] if count == len(MIX[kind]) else []
        lines.append(f"- {count} {kind}" + (f" ({'; '.join(styles)})" if styles else ""))
    slots = graded_slots(found.item, "")
    return fill(
        _text(),
        {
            "question": slots["question"],
            "reference": slots["reference"],
            "caption": slots["caption"],
            "count": str(sum(lacking.values())),
            "mix": "\n".join(lines),
            "rejected": "\n".join(_complaints(found)) or "Keep to the types and their scores.",
        },
    )


def _complaints(found: SyntheticSet) -> Iterator[str]:
    if found.rejected:
        yield "Answers of an earlier attempt were rejected for these reasons; do better:"
        yield ""
        yield from (f"- {each['reason']}" for each in found.rejected[-12:])


@cache
def _text() -> str:
    home = files(__package__) / "prompts" / "synthesize.md"
    return home.read_text(encoding="utf-8")


def rated_rows(found: SyntheticSet, rubric: Rubric, video: str) -> list[RatedResponse]:
    """Return the rows of a question: what the rubric's judge is asked, and should reply."""
    parts = reply_parts(rubric.schema)
    rows = []
    for number, response in enumerate(found.accepted, 1):
        values = {
            part.path: _rated(response, part.path) for part in parts if not isinstance(part, Fixed)
        }
        rows.append(
            RatedResponse(
                f"{found.item.id}/{number:02}",
                video,
                rubric.render(graded_slots(found.item, response.text)),
                json.loads(fill_parts(parts, values)),
                response.kind,
            )
        )
    return rows


def _rated(response: SyntheticResponse, path: tuple[str, ...]) -> Any:
    criterion = next((name for name in path if name in CRITERIA), None)
    if criterion is None or path[-1] not in ("score", "reason"):
        raise ReelbenchError(
            f"The rubric asks for {'.'.join(path)}, which synthetic responses do not rate: use one "
            f"with score and reason for {', '.join(CRITERIA)}, such as criteria."
        )
    return (
        response.scores[criterion] if path[-1] == "score" else response.ratings[criterion]["reason"]
    )


def forecast_synthesis(
    journal: Journal, model: ChatModel, items: Sequence[Item]
) -> list[CallForecast]:
    """Return what the first round would ask and take; later rounds depend on the replies."""
    row = CallForecast(_PURPOSE, model.card)
    for item in items:
        prompt = _prompt(SyntheticSet(item))
        request = first_request(model, prompt, SCHEMA, _PURPOSE, 0)
        if journal.answer(request.key) is None:
            row.requests += 1
            row.input_tokens += text_tokens(prompt)
            row.output_tokens += _REPLY_TOKENS * sum(map(len, MIX.values()))
    return [row]
