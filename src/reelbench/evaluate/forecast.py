"""What a run would ask, take and cost, from the real items, before anything is asked."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from reelbench.benchmark import Benchmark
from reelbench.evaluate.ask import Ask
from reelbench.evaluate.folder import earlier_run
from reelbench.evaluate.judge import ROUNDS
from reelbench.evaluate.prepare import Prepared, Wanted, prepare
from reelbench.evaluate.show import Show, subtitles_text
from reelbench.journal import Journal, open_journal
from reelbench.media.errors import MediaError
from reelbench.media.frames import planned_frames
from reelbench.models.base import ChatModel
from reelbench.models.card import Card
from reelbench.models.cascade import Cascade
from reelbench.models.tokens import (
    frame_tokens,
    reply_tokens,
    sound_tokens,
    text_tokens,
    video_tokens,
)
from reelbench.progress import track


@dataclass
class Forecast:
    """What one model would be asked under one condition."""

    card: Card
    condition: str
    requests: int = 0
    known: int = 0  # questions that are answered already
    broken: int = 0  # questions whose media cannot be shown
    input_tokens: int = 0
    output_tokens: int = 0
    _keys: set[str] = field(default_factory=set)

    @property
    def usd(self) -> float | None:
        """What it would cost; None where the card has no price."""
        price = self.card.price
        return price.of(self.input_tokens, self.output_tokens) if price else None

    def add(self, key: str, input_tokens: int, output_tokens: int) -> None:
        """Count a request, the same one once only."""
        if key not in self._keys:
            self._keys.add(key)
            self.requests += 1
            self.input_tokens += input_tokens
            self.output_tokens += output_tokens


def forecast(benchmark: Benchmark, wanted: Wanted, out: Path) -> list[Forecast]:
    """Return what a run would ask of each model under each condition. Nothing is written."""
    prepared = prepare(benchmark, wanted, earlier_run(benchmark, wanted, out))
    counter = _Counter(benchmark, prepared)
    with ExitStack() as stack:
        path = out / "journal.sqlite"
        journal = stack.enter_context(open_journal(path)) if path.exists() else None
        asks = prepared.asks
        for ask in track(asks, "Reading media", len(asks), "questions"):
            counter.count(ask, journal)
    return list(counter.rows.values())


class _Counter:
    def __init__(self, benchmark: Benchmark, prepared: Prepared) -> None:
        self._benchmark, self._prepared = benchmark, prepared
        self._shown: dict[tuple[Show, str], int | None] = {}
        self.rows: dict[tuple[str, str], Forecast] = {}

    def count(self, ask: Ask, journal: Journal | None) -> None:
        row = self._row(ask.model, ask.condition.name)
        if journal is not None and journal.answer(ask.key):
            row.known += 1
        else:
            shown = self._shown_tokens(ask.show, ask.model.card)
            if shown is None:
                row.broken += 1
                return
            self._add(ask, shown)
        if ask.item.kind == "open":
            for judge in self._prepared.judges.values():
                self._judge(ask, judge)

    def _add(self, ask: Ask, shown: int) -> None:
        closed, said = bool(ask.options), text_tokens(ask.prompt)
        if not isinstance(ask.model, Cascade):
            row = self._row(ask.model, ask.condition.name)
            row.add(ask.key, shown + said, reply_tokens(ask.model.card, closed))
            return
        told = 0
        for captioner in ask.model.captioners if ask.show else ():
            told += reply_tokens(captioner.card, closed=False)
            row = self._row(captioner, ask.condition.name)
            row.add(repr(ask.show), shown, reply_tokens(captioner.card, closed=False))
        answerer = ask.model.answerer
        row = self._row(answerer, ask.condition.name)
        row.add(ask.key, said + told, reply_tokens(answerer.card, closed))

    def _judge(self, ask: Ask, judge: ChatModel) -> None:
        rubric = self._prepared.rubrics[ask.condition.protocol.rubric]
        told = f"{rubric.prompt}{ask.item.question}{ask.item.reference}"
        reply = reply_tokens(ask.model.card, closed=False)
        row = self._row(judge, f"judging {ask.condition.name}")
        for number in range(ROUNDS):
            taken = text_tokens(told) + reply
            row.add(f"{ask.key} {number}", taken, reply_tokens(judge.card, closed=False))

    def _row(self, model: ChatModel, condition: str) -> Forecast:
        key = (model.card.name, condition)
        return self.rows.setdefault(key, Forecast(model.card, condition))

    def _shown_tokens(self, show: Show, card: Card) -> int | None:
        """Estimate the tokens of what is shown; None where it cannot be."""
        key = (show, card.name)
        if key not in self._shown:
            try:
                self._shown[key] = sum(self._media_tokens(show, card))
            except MediaError:
                self._shown[key] = None
        return self._shown[key]

    def _media_tokens(self, show: Show, card: Card) -> Iterator[int]:
        for number, (path, wish) in enumerate(zip(show.paths, show.wishes, strict=True)):
            if not show:
                return
            plan = planned_frames(self._benchmark.root / path, wish)
            if show.frames:
                yield plan.count * frame_tokens(card, plan.width, plan.height)
                yield plan.count * 4 if show.timestamps else 0
            if show.video:
                yield video_tokens(card, plan.seconds, plan.count / plan.seconds)
            if show.sound and plan.has_audio:
                yield sound_tokens(plan.seconds)
            if show.words:
                words = subtitles_text(self._benchmark, path, show.words[number], wish)
                yield text_tokens(words or "")


def total_usd(rows: Sequence[Forecast]) -> float | None:
    """What all of it would cost; None where some of it has no price."""
    costs = [row.usd for row in rows]
    return None if None in costs else sum(cost or 0.0 for cost in costs)
