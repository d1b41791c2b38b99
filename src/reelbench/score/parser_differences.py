"""The same replies read by other parsers: what each reads, guesses and makes of the score."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reelbench.base.progress import counted
from reelbench.data.benchmark import Benchmark
from reelbench.data.clusters import video_clusters
from reelbench.data.items import Item
from reelbench.evaluate.published_parsers import PublishedParser, read_as
from reelbench.evaluate.vote import Answer
from reelbench.models.base import REPLIED
from reelbench.score.intervals import Cell, intervals
from reelbench.score.metrics import METRICS
from reelbench.score.predictions import Asked, ItemOutcome, Rows, has_reply, outcomes_in, reply_in
from reelbench.score.rounding import percent, rounded

OURS = "reelbench"
IN_FILE = "letters in the file"

ReplyPlace = tuple[Asked, str, tuple[int, int]]  # model and condition, item, order and round


@dataclass(frozen=True, slots=True)
class ReadReply:
    """What one parser made of one reply to a closed question."""

    answer: Answer | None  # in the benchmark's own letters
    rule: str
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Reread:
    """Predictions as one parser reads them."""

    parser: str
    rows: Rows
    replies: Mapping[ReplyPlace, ReadReply]


def reread(rows: Rows, benchmark: Benchmark, parser: PublishedParser | None, seed: int) -> Reread:
    """Return predictions as a published parser reads their replies, or ours where it is None.

    What has no reply but letters keeps them, and so do questions with several right options, which
    published parsers do not read. A failed call stays one.
    """
    items = {item.id: item for item in benchmark.items}
    found: dict[ReplyPlace, ReadReply] = {}
    changed: Rows = {}
    for asked, by_item in rows.items():
        changed[asked] = {name: dict(turns) for name, turns in by_item.items()}
        for name, turns in changed[asked].items():
            for place, row in turns.items():
                read = _read(items[name], asked, place, row, parser, seed)
                if read is not None:
                    found[asked, name, place] = read
                    turns[place] = _with_letters(row, read.answer)
    return Reread(parser.name if parser else OURS, changed, found)


def _read(
    item: Item,
    asked: Asked,
    place: tuple[int, int],
    row: Mapping[str, Any],
    parser: PublishedParser | None,
    seed: int,
) -> ReadReply | None:
    """What the parser makes of a row; None where there is nothing for it to read."""
    if not readable(item, row):
        return None
    reply = reply_in(item, asked, place, row)
    if parser is None:
        if row.get("judge") and row.get("parsed"):
            return ReadReply(frozenset(row["parsed"]), "read by a judge")
        parsed = reply.parsed()
        places, rule = parsed.places, parsed.method or parsed.failure
        return ReadReply(None if places is None else frozenset(reply.letters(places)), rule)
    read = read_as(parser, reply, seed)
    answer = None if read.place is None else frozenset(reply.letters([read.place]))
    return ReadReply(answer, read.rule, bool(read.draw))


def readable(item: Item, row: Mapping[str, Any]) -> bool:
    """Whether a row has a reply to a question with one right option, be it an empty one."""
    return item.kind in ("single", "yesno") and _has_text(row)


def _has_text(row: Mapping[str, Any]) -> bool:
    text = row.get("response")
    there = isinstance(text, str) and (bool(text.strip()) or not row.get("parsed"))
    return there and row.get("status", "ok") in REPLIED


def _with_letters(row: Mapping[str, Any], answer: Answer | None) -> dict[str, Any]:
    letters = None if answer is None else sorted(answer)
    return {**{field: row[field] for field in row if field != "judge"}, "parsed": letters}


@dataclass(frozen=True, slots=True)
class ParserScore:
    """What one parser makes of one model's replies under one condition, beside ours."""

    parser: str
    model: str
    condition: str
    items: int
    correct: int
    interval: tuple[float, float]
    replies: int  # to questions with one right option
    read: int  # of them, guesses not counted
    guessed: int
    guessed_right: int  # guesses that hit the key
    otherwise: int  # replies that we read too, as another option
    only_theirs: int  # replies that we do not read, guesses not counted
    only_ours: int  # replies that it does not read, or guesses
    gained: int  # items that are right, and with our parser are not
    lost: int

    @property
    def unread(self) -> int:
        """Replies without an answer."""
        return self.replies - self.read - self.guessed

    @property
    def agrees(self) -> bool:
        """Whether it reads every reply as we do."""
        return not (self.otherwise or self.only_ours or self.only_theirs or self.guessed)

    def to_record(self) -> dict[str, Any]:
        """Return it as an entry of ``scores.json``."""
        names = ("parser", "model", "condition", "items", "correct")
        counts = ("replies", "read", "unread", "guessed", "guessed_right", "otherwise",
                  "only_theirs", "only_ours", "gained", "lost")  # fmt: skip
        return {
            **{name: getattr(self, name) for name in names},
            "accuracy": rounded(self.correct / max(1, self.items)),
            "interval": [rounded(end) for end in self.interval],
            **{name: getattr(self, name) for name in counts},
        }

    def cells(self) -> list[str]:
        """Return it as a row under ``COLUMNS``, from the parser's name on."""
        luck = f"{self.guessed:,} ({self.guessed_right:,} right)" if self.guessed else "0"
        return [
            self.parser,
            percent(self.correct / max(1, self.items)),
            " to ".join(map(percent, self.interval)),
            f"{self.read:,} of {self.replies:,}",
            f"{self.unread:,}",
            luck,
            f"{self.otherwise:,}",
            f"{self.only_ours:,}",
            f"{self.only_theirs:,}",
            f"+{self.gained:,} -{self.lost:,}",
        ]


COLUMNS = (
    "model", "condition", "parser", "accuracy", "95% interval", "read", "unread", "guessed",
    "read otherwise", "only we read", "only it reads", "verdicts changed",
)  # fmt: skip


@dataclass(frozen=True)
class ParserComparison:
    """Several parsers on the same replies; the first is ours, by which the others are measured."""

    benchmark: Benchmark
    read: Sequence[Reread]
    without_text: int  # rows with letters and no reply, which keep their letters
    several: int  # rows of questions with several right options, which no other parser reads

    @cached_property
    def scores(self) -> list[ParserScore]:
        """Return what each parser makes of each model's replies, condition by condition."""
        if all(item.kind == "open" for item in self.benchmark.items):
            return []
        ours = self.read[0]
        before = {
            asked: _right_items(self.benchmark, found) for asked, found in self._outcomes(ours)
        }
        keys = {item.id: frozenset(item.answer) for item in self.benchmark.items}
        clusters = video_clusters(self.benchmark.items)
        found: dict[tuple[Asked, int], ParserScore] = {}
        for number, other in enumerate(self.read):
            pairs: dict[Asked, list[_Pair]] = defaultdict(list)
            for place, read in other.replies.items():
                pairs[place[0]].append((ours.replies[place], read, keys[place[1]]))
            for asked, outcomes in self._outcomes(other):
                right = _right_items(self.benchmark, outcomes)
                if right:
                    score = _score(
                        other.parser, asked, pairs[asked], right, before[asked], clusters
                    )
                    found[asked, number] = score
        places = ((asked, number) for asked in ours.rows for number in range(len(self.read)))
        return [found[place] for place in places if place in found]

    def _outcomes(self, read: Reread) -> Iterable[tuple[Asked, Mapping[str, ItemOutcome]]]:
        return outcomes_in(read.rows, self.benchmark).items()

    def table(self) -> list[list[str]]:
        """Return ``scores`` as rows under ``COLUMNS``, those that read all as we do in one."""
        rows: list[list[str]] = []
        for asked in dict.fromkeys((each.model, each.condition) for each in self.scores):
            ours, *others = [each for each in self.scores if (each.model, each.condition) == asked]
            same = [each for each in others if each.agrees]
            rows += [[*asked, *each.cells()] for each in (ours, *others) if each not in same]
            if same:
                many = f"{len(same)} others, all as ours"
                name = same[0].parser if len(same) == 1 else many
                rows.append([*asked, name, *same[0].cells()[1:]])
        return rows

    def sentences(self) -> Iterator[str]:
        """Yield what has to be known about the table: guesses, and what was not read again."""
        for parser in dict.fromkeys(each.parser for each in self.scores):
            of_it = [each for each in self.scores if each.parser == parser]
            guessed = sum(each.guessed for each in of_it)
            if guessed:
                replies = sum(each.replies for each in of_it)
                hits = sum(each.guessed_right for each in of_it)
                yield (
                    f"{parser} guessed {guessed:,} of {counted(replies, 'reply', 'replies')}, and "
                    f"hit the key {counted(hits, 'time')}."
                )
        if self.without_text:
            yield f"Kept with their letters, having no reply: {counted(self.without_text, 'row')}."
        if self.several:
            yield (
                "Read by our parser, since the published ones take one letter: "
                f"{counted(self.several, 'reply', 'replies')} to questions with several right ones."
            )

    def differences(self) -> Iterator[list[str]]:
        """Yield each reply that another parser reads otherwise, under ``DIFFERENCE_COLUMNS``.

        Guesses are among them even where they come to our letter.
        """
        items = {item.id: item for item in self.benchmark.items}
        ours = self.read[0]
        for place, mine in ours.replies.items():
            (model, condition), name, (order, turn) = place
            for other in self.read[1:]:
                theirs = other.replies.get(place)
                if theirs is None or (theirs.answer == mine.answer and not theirs.guessed):
                    continue
                key = items[name].answer
                yield [
                    *(name, model, condition, str(order), str(turn), other.parser),
                    *(", ".join(key), _letters(mine.answer), _letters(theirs.answer)),
                    *("yes" if theirs.guessed else "no", mine.rule, theirs.rule),
                    *(_verdict(items[name], each.answer) for each in (mine, theirs)),
                    ours.rows[place[0]][name][place[2]]["response"],
                ]


DIFFERENCE_COLUMNS = ("id", "model", "condition", "order", "round", "parser", "key", "ours",
                      "theirs", "guessed", "our rule", "their rule", "our verdict",
                      "their verdict", "reply")  # fmt: skip


def compare_parsers(
    benchmark: Benchmark, rows: Rows, parsers: Sequence[PublishedParser], seed: int
) -> ParserComparison:
    """Read the same replies by our parser and by published ones.

    Where the file has letters of its own that our parser does not read, these stand beside ours.
    """
    items = {item.id: item for item in benchmark.items}
    ours = reread(rows, benchmark, None, seed)
    given = _as_given(rows, ours)
    others = [reread(rows, benchmark, parser, seed) for parser in parsers]
    if any(given.replies[place].answer != read.answer for place, read in ours.replies.items()):
        others.insert(0, given)
    left = [
        items[name].kind
        for by_item in rows.values()
        for name, turns in by_item.items()
        for row in turns.values()
        if not readable(items[name], row) and has_reply(row)
    ]
    return ParserComparison(
        benchmark,
        [ours, *others],
        without_text=sum(kind not in ("multi", "open") for kind in left),
        several=left.count("multi"),
    )


def _as_given(rows: Rows, ours: Reread) -> Reread:
    replies: dict[ReplyPlace, ReadReply] = {}
    for (asked, name, place), read in ours.replies.items():
        row = rows[asked][name][place]
        letters = frozenset(row["parsed"]) if row.get("parsed") else None
        replies[asked, name, place] = ReadReply(letters, IN_FILE) if "parsed" in row else read
    return Reread(IN_FILE, rows, replies)


_Pair = tuple[ReadReply, ReadReply, Answer]  # ours, the other's, and the key
_Right = Mapping[str, bool]  # of the closed items, by their ids


def _score(
    parser: str,
    asked: Asked,
    pairs: Sequence[_Pair],
    right: _Right,
    before: _Right,
    clusters: Mapping[str, int],
) -> ParserScore:
    sure = [(mine, read) for mine, read, _ in pairs if read.answer and not read.guessed]
    cell = Cell([clusters[name] for name in right], [float(each) for each in right.values()])
    return ParserScore(
        parser=parser,
        model=asked[0],
        condition=asked[1],
        items=len(right),
        correct=sum(right.values()),
        interval=intervals([cell], max(clusters.values()) + 1)[0].interval,
        replies=len(pairs),
        read=len(sure),
        guessed=sum(read.guessed for _, read, _ in pairs),
        guessed_right=sum(read.guessed and read.answer == key for _, read, key in pairs),
        otherwise=sum(bool(mine.answer) and mine.answer != read.answer for mine, read in sure),
        only_theirs=sum(not mine.answer for mine, _ in sure),
        only_ours=sum(
            bool(mine.answer) and (read.guessed or not read.answer) for mine, read, _ in pairs
        ),
        gained=sum(now and not before[name] for name, now in right.items()),
        lost=sum(before[name] and not now for name, now in right.items()),
    )


def _right_items(benchmark: Benchmark, outcomes: Mapping[str, ItemOutcome]) -> _Right:
    """Whether each closed item that was asked was answered right."""
    exact = METRICS["accuracy"]
    return {
        item.id: exact.value_of(item, outcomes[item.id].answer) == 1
        for item in benchmark.items
        if item.kind != "open" and item.id in outcomes and outcomes[item.id].asked
    }


def _letters(answer: Answer | None) -> str:
    return "" if answer is None else ", ".join(sorted(answer))


def _verdict(item: Item, answer: Answer | None) -> str:
    if answer is None:
        return "no answer"
    return "right" if answer == frozenset(item.answer) else "wrong"
