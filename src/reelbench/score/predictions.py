"""Read predictions, from a run or from anyone, and check them against the benchmark."""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.limits import bounded_lines
from reelbench.data.benchmark import Benchmark, BenchmarkError, tidy_line
from reelbench.data.item_rules import decode_strictly
from reelbench.data.items import Item, Problem, shown
from reelbench.evaluate.judge import Reply
from reelbench.evaluate.parse import Failure
from reelbench.evaluate.vote import Answer, majority
from reelbench.models.base import REPLIED
from reelbench.score.row_status import KNOWN_STATUSES, status_of, with_status

Asked = tuple[str, str]  # model and condition
Turns = dict[tuple[int, int], dict[str, Any]]  # rows, by option order and round
REFUSAL: Failure = "refusal"  # why a reply holds no answer, where it declines


@dataclass(frozen=True, slots=True)
class Turn:
    """The result of one item in one option order and round."""

    answer: Answer | None
    order: tuple[int, ...]  # the places of the options as they were shown
    status: str
    reply: str  # what was said, or why nothing was
    by_judge: bool  # whether a judge has read it for us
    replied: bool  # whether anything was said, in full or not
    number: int = 0  # of the option order
    round: int = 0
    judge: str = ""  # who has read it, or tried to
    method: str = ""  # how the parser has read it now; empty for letters that came with it
    failure: str = ""  # why no answer could be read

    @property
    def cut_short(self) -> bool:
        """Whether it was cut off at the limit of tokens before an answer."""
        return self.status == "truncated" and self.answer is None

    @property
    def refused_in_words(self) -> bool:
        """Whether it is a reply that declines to answer, as "I can't tell" does."""
        return self.status == "ok" and self.answer is None and self.failure == REFUSAL


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """The result of one item under one model and condition, over all orders and rounds."""

    answer: Answer | None  # the majority's
    turns: tuple[Turn, ...]
    unread: int  # replies that hold no answer that we can read, and are no refusals

    @property
    def asked(self) -> bool:
        """Whether a call was made for the item, even one that failed; over budget, none is made."""
        return any(turn.status != "over_budget" for turn in self.turns)

    @property
    def failed(self) -> bool:
        """Whether there is no answer because a call failed."""
        return self.answer is None and any(t.status in ("error", "timeout") for t in self.turns)

    def agreed(self, share: float) -> Answer | None:
        """The majority's answer, if at least this share of all orders and rounds gave it."""
        given = sum(turn.answer == self.answer for turn in self.turns)
        return self.answer if given >= share * len(self.turns) - 1e-9 else None


Rows = dict[Asked, dict[str, Turns]]  # of all files, by model and condition, and by item


@dataclass(frozen=True, slots=True)
class AddedPredictions:
    """Predictions that are scored beside those of runs, such as people's."""

    rows: Rows
    judgements: Sequence[Path] = ()  # what judges gave the replies among them
    judges: Sequence[str] = ()  # their names
    files: Sequence[str] = ()  # names and digests


def read_predictions(
    paths: Path | Sequence[Path], benchmark: Benchmark
) -> dict[Asked, dict[str, ItemOutcome]]:
    """Return the outcome of each item, for each model and condition in the files."""
    return outcomes_in(read_rows(paths, benchmark), benchmark)


@dataclass(frozen=True, slots=True)
class PredictionFile:
    """A file of predictions: lines in our form, unless ``rows`` has what was read from it."""

    path: Path
    model: str = ""  # of rows that name none; default: the name of the file
    rows: Sequence[tuple[int, Any]] | None = None  # each with its line

    @property
    def name(self) -> str:
        """The model of rows that name none."""
        return self.model or self.path.stem


def read_rows(paths: Path | Sequence[Path], benchmark: Benchmark) -> Rows:
    """Return the lines of one file or of several, checked against the benchmark.

    A row needs an ``id`` and either ``parsed`` (letters in the benchmark's order) or
    ``response`` (a reply, which our parser reads). ``model``, ``condition``, ``order``, ``round``
    and ``status`` may be left out where there is one of each; a model without a name gets that of
    its file. Rows about items that are not selected are checked and left out.
    """
    paths = [paths] if isinstance(paths, Path) else paths
    return checked_rows([PredictionFile(path) for path in paths], benchmark)


def checked_rows(files: Sequence[PredictionFile], benchmark: Benchmark) -> Rows:
    """Return the rows of files as ``read_rows`` does, be they lines or already read."""
    items = {item.id: item for item in benchmark.whole.items}
    rows: Rows = defaultdict(lambda: defaultdict(dict))
    problems: list[Problem] = []
    names = [file.name for file in files]
    for file in files:
        before = len(problems)
        if names.count(file.name) > 1 and not _names_models(file):
            expected = "a name of its own, or a field model in every line"
            problems.append(Problem("SAME_NAME", "file", file.name, expected, str(file.path)))
            continue
        read = _read_file(file, items, rows, problems)
        if not read and len(problems) == before:
            expected = "at least one line"
            problems.append(Problem("NO_PREDICTIONS", "file", "nothing", expected, str(file.path)))
    if problems:
        raise BenchmarkError(problems)
    return {asked: _within(benchmark, found) for asked, found in sorted(rows.items())}


def _within(benchmark: Benchmark, rows: dict[str, Turns]) -> dict[str, Turns]:
    """Leave out rows about items that were not selected."""
    if not benchmark.selection:
        return rows
    items = {item.id for item in benchmark.items}
    return {name: turns for name, turns in rows.items() if name in items}


def _names_models(file: PredictionFile) -> bool:
    """Whether every line says whose it is; what is no line of ours is told of later."""
    return all("model" in row for _, row in _rows(file, []) if isinstance(row, dict))


def _read_file(
    file: PredictionFile, items: Mapping[str, Item], rows: Rows, problems: list[Problem]
) -> int:
    """Read the rows of one file; return how many there are."""
    count = 0
    for number, row in _rows(file, problems):
        count += 1
        faults = list(_faults(row, items))
        if not faults:
            asked = (row.get("model", file.name), row.get("condition", "protocol"))
            turns, turn = rows[asked][row["id"]], (row.get("order", 0), row.get("round", 0))
            if turn in turns:
                same = f"{shown(row['id'])} twice for {asked[0]}, order {turn[0]}"
                faults.append(Problem("DUPLICATE", "id", same, "one row each"))
            turns[turn] = with_status(row)
        problems += [replace(fault, file=str(file.path), line=number) for fault in faults]
    return count


def outcomes_in(rows: Rows, benchmark: Benchmark) -> dict[Asked, dict[str, ItemOutcome]]:
    """Return the outcome of each item, for each model and condition."""
    items = {item.id: item for item in benchmark.items}
    return {
        asked: {name: _outcome(items[name], asked, turns) for name, turns in by_item.items()}
        for asked, by_item in rows.items()
    }


def reply_in(item: Item, asked: Asked, place: tuple[int, int], row: Mapping[str, Any]) -> Reply:
    """Return the reply in a row whose status says that there is one."""
    order = tuple(row.get("permutation") or ()) or _in_order(len(item.options))
    text, cut = row.get("response") or "", row.get("status") == "truncated"
    return Reply(item, *asked, place[0], order, place[1], text, cut)


@lru_cache  # one for all replies: there are as many as items times models
def _in_order(count: int) -> tuple[int, ...]:
    return tuple(range(count))


@lru_cache
def _answer_of(letters: tuple[str, ...]) -> Answer:
    return frozenset(letters)


def has_reply(row: Mapping[str, Any]) -> bool:
    """Whether the model said anything, in full or not: blank text is nothing said."""
    text = (row.get("response") or "").strip() or row.get("parsed")
    return row.get("status", "ok") in REPLIED and bool(text)


def _rows(file: PredictionFile, problems: list[Problem]) -> Iterator[tuple[int, Any]]:
    return iter(file.rows) if file.rows is not None else prediction_lines(file.path, problems)


def prediction_lines(path: Path, problems: list[Problem]) -> Iterator[tuple[int, Any]]:
    """Yield the values of JSON lines with their numbers; add what is wrong with other lines."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(bounded_lines(file), 1):
                content, _ = tidy_line(line, number)
                if not content:
                    continue
                row, faults = decode_strictly(content)
                problems += [replace(fault, file=str(path), line=number) for fault in faults]
                if not faults:
                    yield number, row
    except FileNotFoundError:
        raise ReelbenchError(
            f"{path} does not exist: name a file of predictions, or resume its run with "
            "`reelbench run` if that was stopped before it wrote them."
        ) from None


def _faults(row: Any, items: Mapping[str, Item]) -> Iterator[Problem]:
    if not isinstance(row, dict):
        yield Problem("BAD_FIELD", "line", shown(row), "a JSON object")
        return
    item = items.get(row["id"]) if isinstance(row.get("id"), str) else None
    if item is None:
        yield Problem("UNKNOWN_ITEM", "id", shown(row.get("id")), "the id of an item")
    for field in ("model", "condition"):
        if not isinstance(row.get(field, ""), str):
            yield Problem("BAD_FIELD", field, shown(row[field]), "text")
    for field in ("order", "round"):
        if type(row.get(field, 0)) is not int:
            yield Problem("BAD_FIELD", field, shown(row[field]), "a whole number")
    if status_of(row.get("status", "ok")) is None:
        yield Problem("BAD_FIELD", "status", shown(row["status"]), KNOWN_STATUSES)
    if item is not None:
        yield from _answer_faults(row, item)


def _answer_faults(row: Mapping[str, Any], item: Item) -> Iterator[Problem]:
    if "parsed" not in row and "response" not in row:
        yield Problem("MISSING_FIELD", "parsed", "nothing", "parsed or response")
    parsed = row.get("parsed")
    if parsed is not None and not (
        isinstance(parsed, list) and all(letter in list(item.letters) for letter in parsed)
    ):
        expected = f"a list of letters among {item.letters}, or null"
        yield Problem("BAD_FIELD", "parsed", shown(parsed), expected)
    elif parsed and len(parsed) > 1 and item.kind != "multi":
        expected = f"one letter for kind {item.kind}"
        yield Problem("BAD_FIELD", "parsed", shown(parsed), expected)
    if not isinstance(row.get("response"), str | None):
        yield Problem("BAD_FIELD", "response", shown(row["response"]), "text or null")
    order = row.get("permutation")
    places = list(range(len(item.options)))
    if order is not None and not (
        isinstance(order, list)
        and all(type(place) is int for place in order)
        and sorted(order) == places
    ):
        expected = f"the numbers 0 to {len(item.options) - 1} in some order"
        yield Problem("BAD_FIELD", "permutation", shown(order), expected)


def _outcome(item: Item, asked: Asked, rows: Turns) -> ItemOutcome:
    turns = tuple(_turn(item, asked, place, rows[place]) for place in sorted(rows))
    unread = sum(
        turn.status == "ok" and turn.answer is None and not turn.refused_in_words for turn in turns
    )
    answer = majority([turn.answer for turn in turns])
    return ItemOutcome(answer, turns, unread=0 if item.kind == "open" else unread)


def _turn(item: Item, asked: Asked, place: tuple[int, int], row: Mapping[str, Any]) -> Turn:
    reply = reply_in(item, asked, place, row)
    answer, method, failure = _answer(reply, row)
    return Turn(
        answer,
        order=reply.order,
        status=sys.intern(row.get("status", "ok")),
        reply=_words(row),
        by_judge="judge" in row and bool(row.get("parsed")),
        replied=has_reply(row),
        number=place[0],
        round=place[1],
        judge=str(row.get("judge") or ""),
        method=method,
        failure=failure,
    )


def _words(row: Mapping[str, Any]) -> str:
    if row.get("status", "ok") not in REPLIED:
        return f"{row['status']}: {row.get('error') or 'no reason given'}"
    text: str = row.get("response") or ", ".join(row.get("parsed") or ()) or "(empty)"
    return f"{text} [cut off]" if row.get("status") == "truncated" else text


def _answer(reply: Reply, row: Mapping[str, Any]) -> tuple[Answer | None, str, str]:
    """Return the answer, and how it was read or why it was not."""
    if not has_reply(row) or reply.item.kind == "open":
        return None, "", ""
    if "parsed" in row:
        answer = _answer_of(tuple(row["parsed"])) if row["parsed"] else None
        return answer, "", "" if answer else str(row.get("parse_failure") or "")
    parsed = reply.parsed()
    places = parsed.places
    answer = None if places is None else frozenset(reply.letters(places))
    return answer, parsed.method, parsed.failure
