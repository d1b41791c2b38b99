"""What filters measured: how often models answered right, by category, and the items themselves.

A filter that asks models notes on each item how many answers were right. Whether many right answers
are a good sign depends on the filter; which items it rejects shows that.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from markupsafe import escape

from reelbench.data.items import LETTERS, Item
from reelbench.make.pipeline.funnel import answers_of, category_of, right_rate, stage_facts
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.stage import Rejected
from reelbench.make.pipeline.store import RowResult
from reelbench.pages import shortened

MOST_ITEMS = 300  # of one category and stage on the page
MOST_CATEGORIES = 40
_MOST_BYTES = 11 << 20  # of all items on the page
_MARKUP_BYTES = 1100  # around the words of one
_MOST_DOTS = 10
MOST_WORDS = 300  # characters of one reply
_WORDS_OF_ALL = 1500


@dataclass(frozen=True, slots=True)
class Tried:
    """A row that models were asked about, and whether it was rejected."""

    row: Any
    category: str
    right: int
    of: int
    facts: Mapping[str, Any]
    rejected: Rejected | None

    @property
    def share(self) -> float:
        """The share of right answers."""
        return self.right / self.of


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many rows of a category were answered right how often."""

    category: str
    of: int
    bars: tuple[tuple[int, int], ...]  # for 0, 1, ... right: how many were kept, and rejected
    mean: float
    chance: float | None  # right answers that guessing gives
    interval: tuple[float, float]  # of the share of right answers

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(kept + rejected for kept, rejected in self.bars)

    @property
    def words(self) -> str:
        """The histogram as text, for screen readers."""
        sentences = (
            f"{right} right: {kept} kept, {rejected} rejected"
            for right, (kept, rejected) in enumerate(self.bars)
            if kept or rejected
        )
        return f"{self.category or 'Items'}, of {self.of} answers. {'; '.join(sentences)}"


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """One answer: its letters, whether it is right if that can be told, and the model's words."""

    letters: str
    verdict: str  # right, wrong or none
    words: str = ""


@dataclass(frozen=True, slots=True)
class PageRow:
    """A row as the page shows it."""

    id: str
    question: str
    options: tuple[tuple[str, str, bool], ...]  # letter, text, whether it is a key
    right: int
    of: int
    quoted: tuple[QuotedAnswer, ...]
    models: str
    reason: str  # empty where it was kept
    detail: str

    @property
    def dots(self) -> tuple[int, int]:
        """Right and wrong answers to draw; none where there are too many."""
        return (self.right, self.of - self.right) if self.of <= _MOST_DOTS else (0, 0)

    @property
    def size(self) -> int:
        """About how many bytes it takes on the page."""
        texts = [self.id, self.question, self.models, self.reason, self.detail]
        texts += [text for _, text, _ in self.options] + [each.words for each in self.quoted]
        marks = 120 * len(self.quoted) + 45 * len(self.options)
        return _MARKUP_BYTES + marks + sum(_bytes(text) for text in texts)


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of a category, as many as there is room for."""

    category: str
    rows: int
    rejected: int
    shown: tuple[PageRow, ...]

    @property
    def cut(self) -> str:
        """How many are shown; empty where all are."""
        if len(self.shown) == self.rows:
            return ""
        lost = sum(bool(one.reason) for one in self.shown)
        kept, all_kept = len(self.shown) - lost, self.rows - self.rejected
        return f"{lost:,} of {self.rejected:,} rejected and {kept:,} of {all_kept:,} kept"


@dataclass(frozen=True, slots=True)
class Answerability:
    """What one filter measured."""

    stage: str
    histograms: tuple[Histogram, ...]  # the most answerable category first
    groups: tuple[Group, ...]
    left_out: int  # small categories that are not shown
    unasked: int  # rows that were decided without an answer
    rejects_answerable: bool

    @property
    def highest(self) -> float:
        """The share of the highest bar, by which all are drawn."""
        return max(sum(bar) / each.rows for each in self.histograms for bar in each.bars)


def answerability(passed: Sequence[StageResult]) -> list[Answerability]:
    """Return what each stage measured, of those that did."""
    asked = [(each, _tried(each)) for each in passed]
    asked = [(each, tried) for each, tried in asked if tried]
    groups = sum(min(MOST_CATEGORIES, len({t.category for t in tried})) for _, tried in asked)
    return [_measured(each, tried, _MOST_BYTES // groups) for each, tried in asked]


def _tried(passed: StageResult) -> list[Tried]:
    return [
        Tried(row, category_of(row), facts["right"], facts["of"], facts, result.rejected)
        for row, result in zip(passed.rows, passed.results, strict=True)
        if isinstance(result, RowResult)
        and answers_of(facts := stage_facts(result, passed.stage.name))
    ]


def _measured(passed: StageResult, tried: Sequence[Tried], room: int) -> Answerability:
    by_category: dict[str, list[Tried]] = {}
    for each in tried:
        by_category.setdefault(each.category, []).append(each)
    largest = sorted(by_category, key=lambda name: -len(by_category[name]))[:MOST_CATEGORIES]
    largest.sort(key=lambda name: -fmean(each.share for each in by_category[name]))
    rejected = [each.share for each in tried if each.rejected]
    kept = [each.share for each in tried if not each.rejected]
    answerable = not rejected or not kept or fmean(rejected) >= fmean(kept)
    decided = sum(isinstance(result, RowResult) for result in passed.results)
    return Answerability(
        passed.stage.name,
        tuple(found for name in largest for found in _histograms(name, by_category[name])),
        tuple(_group(name, by_category[name], answerable, room) for name in largest),
        len(by_category) - len(largest),
        decided - len(tried),
        answerable,
    )


def _histograms(category: str, tried: Sequence[Tried]) -> Iterator[Histogram]:
    """One for each number of answers that rows were given; that is nearly always one."""
    for of in sorted({each.of for each in tried}, reverse=True):
        same = [each for each in tried if each.of == of]
        bars = [[0, 0] for _ in range(of + 1)]
        for each in same:
            bars[each.right][each.rejected is not None] += 1
        guesses = [each.row.chance for each in same if _is_closed(each.row)]
        chance = of * fmean(guesses) if guesses else None
        mean = fmean(each.right for each in same)
        low, high = right_rate([(each.row, (each.right, of)) for each in same])["interval"]
        counts = tuple((kept, lost) for kept, lost in bars)
        yield Histogram(category, of, counts, mean, chance, (low, high))


def _is_closed(row: Any) -> bool:
    return isinstance(row, Item) and bool(row.options)


def _group(category: str, tried: Sequence[Tried], answerable: bool, room: int) -> Group:
    """What a filter is most likely to reject comes first; where not all fit, some of each fate."""
    sign = -1 if answerable else 1
    ordered = sorted(tried, key=lambda each: sign * each.share)
    rejected = [each for each in ordered if each.rejected]
    kept = [each for each in ordered if not each.rejected]
    places = min(len(kept), max(MOST_ITEMS // 3, MOST_ITEMS - len(rejected)))
    picked = {id(each) for each in (*kept[:places], *rejected[: MOST_ITEMS - places])}
    shown = [_shown(each) for each in ordered if id(each) in picked]
    size = sum(one.size for one in shown)
    return Group(category, len(tried), len(rejected), tuple(shown[:: max(1, -(-size // room))]))


def _shown(tried: Tried) -> PageRow:
    row, rejected = tried.row, tried.rejected
    options = tuple(getattr(row, "options", ()))
    keys = tuple(getattr(row, "answer", ()))
    models = tried.facts.get("models")
    named = models.items() if isinstance(models, Mapping) else ()
    return PageRow(
        shortened(str(row.id), 120),
        shortened(str(getattr(row, "question", "")), 800),
        tuple(
            (letter, shortened(str(text), 300), letter in keys)
            for letter, text in zip(LETTERS, options, strict=False)
        ),
        tried.right,
        tried.of,
        tuple(_quoted(tried, options, keys)),
        ", ".join(f"{shortened(str(name), 80)}: {right} right" for name, right in named),
        rejected.reason if rejected else "",
        shortened(rejected.detail, MOST_WORDS) if rejected else "",
    )


def _quoted(tried: Tried, options: Sequence[str], keys: Sequence[str]) -> Iterator[QuotedAnswer]:
    """Each answer with the words that it was read from, where they are kept."""
    answers = list(tried.facts.get("answers") or ())[:50]
    words = list(tried.rejected.words if tried.rejected else tried.facts.get("words") or ())[:50]
    limit = max(60, min(MOST_WORDS, _WORDS_OF_ALL // max(1, len(words))))
    cut: Callable[[Any], str] = lambda text: shortened(str(text).strip(), limit)  # noqa: E731
    if len(words) not in (0, len(answers)):  # whose words they are is not known
        yield from (QuotedAnswer("", "unscored", cut(text)) for text in words)
        words = []
    for place, answer in enumerate(answers):
        chosen = answer if isinstance(answer, list | tuple) else [answer]
        letters = "".join(a for a, text in zip(LETTERS, options, strict=False) if text in chosen)
        verdict = "right" if sorted(letters) == sorted(keys) else "wrong"
        reply = cut(words[place]) if words else ""
        yield (
            QuotedAnswer("–", "none", reply)
            if answer is None
            else QuotedAnswer(letters[:26], verdict, reply)
        )


def _bytes(text: str) -> int:
    return len(str(escape(text)).encode("utf-8", "replace"))
