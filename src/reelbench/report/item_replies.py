"""What models replied to an item: as it was asked, read and graded, in each order and round."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.limits import bounded_lines, decode_json
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import KINDS, Item
from reelbench.evaluate.calls import read_calls
from reelbench.evaluate.judge import Key
from reelbench.evaluate.prompt import PromptSet, load_prompts
from reelbench.evaluate.rubric import CHOICE
from reelbench.score.predictions import Asked, ItemOutcome, Turn
from reelbench.score.run_names import RunNames
from reelbench.score.score import ScoredRuns

EarlierRun = tuple[str, Mapping[str, ItemOutcome]]  # its name, and the outcomes of a model in it
_CUT = " [cut off]"  # which stands behind a reply of that status; here the status is shown


class ReplyFacts:
    """Replies as the page has them; ``methods`` and ``prompts`` are what they refer to by number.

    The prompts lack question and options, which the page fills in: few are different.
    """

    def __init__(self, scored: ScoredRuns) -> None:
        self.methods: list[str] = []
        self.prompts: list[str] = []
        self._calls: dict[Key, dict[str, Any]] = {}
        self._judgements: dict[Key, list[dict[str, Any]]] = {}
        self._asked_with: dict[str, PromptSet] = {}
        self._cascades: set[str] = set()
        self._numbers: dict[tuple[Any, ...], int] = {}  # of prompts
        for out, record in scored.runs.items():
            names = scored.names.get(out, RunNames({}, {}))
            for key, facts in read_calls(out).items():
                self._calls[_renamed(key, names)] = facts
            for key, judgement in _judgements(out / "judgements.jsonl"):
                self._judgements.setdefault(_renamed(key, names), []).append(judgement)
            self._asked_with |= _prompt_sets(record["conditions"], scored.benchmark)
            self._cascades |= {
                model["name"]
                for model in record["models"]
                if "captioners" in (model.get("parameters") or {})
            }

    def replies(
        self,
        item: Item,
        asked: Sequence[Asked],
        outcomes: Mapping[Asked, Mapping[str, ItemOutcome]],
        before: Mapping[Asked, EarlierRun],
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the different ways in which an item was asked, and each model's reply."""
        calls: list[dict[str, Any]] = []
        found = []
        for each in asked:
            outcome = outcomes[each].get(item.id)
            turns = (
                [self._turn(item, each, turn, calls) for turn in outcome.turns] if outcome else []
            )
            reply = {**_verdict(item, outcome, turns), "turns": turns}
            if each in before:
                label, earlier = before[each]
                reply["before"] = {"run": label, **_verdict(item, earlier.get(item.id), [])}
            found.append(reply)
        return calls, found

    def _turn(
        self, item: Item, asked: Asked, turn: Turn, calls: list[dict[str, Any]]
    ) -> dict[str, Any]:
        key: Key = (item.id, *asked, turn.number, turn.round)
        facts = self._calls.get(key, {})
        method = turn.method or (
            facts.get("method", "") if turn.answer and not turn.by_judge else ""
        )
        text = turn.reply.removesuffix(_CUT) if turn.status == "truncated" else turn.reply
        took = [facts.get(name) for name in ("seconds", "input_tokens", "output_tokens")]
        maybe = {
            "letters": "".join(sorted(turn.answer or ())),
            "status": turn.status if turn.status != "ok" else "",
            "failure": turn.failure,
            "judge": turn.judge,
            "number": turn.number,
            "round": turn.round,
            "order": [] if list(turn.order) == sorted(turn.order) else turn.order,
            "took": took if any(value is not None for value in took) else [],
            "grades": self._judgements.get(key),
        }
        shown = {"text": text, **{name: value for name, value in maybe.items() if value}}
        if method:
            shown["method"] = _number(self.methods, method)
        call = self._call(item, asked, facts)
        if call:
            shown["call"] = _number(calls, call)
        return shown

    def _call(self, item: Item, asked: Asked, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return what was sent, as far as it is known: kinds of media, frames, and the prompt."""
        call = {name: facts[name] for name in ("given", "frames") if name in facts}
        prompts = self._asked_with.get(asked[1])
        if prompts is None:
            return call
        unknown = "frames" in facts.get("given", ["frames"]) and "frames" not in facts
        counts: tuple[int, ...] | None = tuple(map(len, facts.get("frames", ())))
        if asked[0] in self._cascades:  # who answers there sees no frames
            counts = ()
        elif unknown:
            counts = None
        # All that decides the prompt without question and options.
        known = (asked[1], item.kind, len(item.media) > 1, counts)
        if known not in self._numbers:
            slots = {"question": "{{question}}", "options": "{{options}}"}
            prompt = replace(prompts.render(item, ()), slots=slots)
            text = prompt.unfilled if counts is None else prompt.with_frames(counts)
            self._numbers[known] = _number(self.prompts, text)
        return call | {"prompt": self._numbers[known]}


def _number(known: list[Any], value: Any) -> int:
    """Return the place of a value among those known, where it is put if it is new."""
    if value not in known:
        known.append(value)
    return known.index(value)


def _verdict(
    item: Item, outcome: ItemOutcome | None, turns: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return whether an answer is right, or what else is known of it."""
    if outcome is None:
        return {"verdict": "none"}
    if item.kind == "open":
        share = _share_of_best(turns)
        if share is not None:
            return {"verdict": "graded", "share": share}
        return {"verdict": "unscored" if any(t.replied for t in outcome.turns) else "none"}
    if outcome.answer is None:
        return {"verdict": "none"}
    right = outcome.answer == frozenset(item.answer)
    return {"verdict": "right" if right else "wrong", "answer": "".join(sorted(outcome.answer))}


def _share_of_best(turns: Iterable[Mapping[str, Any]]) -> float | None:
    """Return the mean grade of the first judge, as a share of the best."""
    shares, judges = [], []
    for grade in (grade for turn in turns for grade in turn.get("grades", ())):
        judges.append(grade["judge"])
        if grade["judge"] == judges[0] and grade.get("score") is not None:
            worst, best = grade["scale"]
            shares.append((grade["score"] - worst) / (best - worst))
    return round(sum(shares) / len(shares), 4) if shares else None


def _renamed(key: Key, names: RunNames) -> Key:
    """Return the key of a reply with the names that model and condition have on this page."""
    item, model, condition, *place = key
    return (item, *names.of((model, condition)), *place)  # type: ignore[return-value]


def _judgements(path: Path) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Yield the judgements of a run, whose file was checked when it was scored."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in filter(bytes.strip, bounded_lines(file)):
            row = decode_json(line)
            key: Key = (
                row["id"],
                row["model"],
                row["condition"],
                row["order"],
                row.get("round", 0),
            )
            fields = ("judge", "rubric", "score", "scale", "choice", "rounds")
            kept = {name: row[name] for name in fields if name in row}
            if row["rubric"] != CHOICE:
                kept.pop("choice", None)
            yield key, kept


def _prompt_sets(
    conditions: Iterable[Mapping[str, Any]], benchmark: Benchmark
) -> dict[str, PromptSet]:
    """Return the prompts of the conditions, where they are still those that were asked with."""
    found = {}
    for condition in conditions:
        for items in (benchmark.items, benchmark.whole.items, ()):
            kinds = {item.kind for item in items} or KINDS
            try:
                prompts = load_prompts(condition["prompt"], benchmark.root, kinds)
            except ReelbenchError:
                continue
            if prompts.digest == condition.get("prompt_digest"):
                found[condition["name"]] = prompts
                break
    return found
