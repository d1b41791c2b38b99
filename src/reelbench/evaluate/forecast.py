"""What a run would ask and cost, from the real items, before anything is asked."""

from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from reelbench.base.progress import track
from reelbench.client.budget import Budget
from reelbench.client.forecast import CallForecast
from reelbench.client.journal import Journal, open_journal
from reelbench.client.media_input import MediaInput
from reelbench.client.structured import first_request
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.ask import Ask
from reelbench.evaluate.folder import earlier_run
from reelbench.evaluate.judge import ROUNDS, graded_slots
from reelbench.evaluate.prepare import Prepared, RunOptions, prepare, run_seed
from reelbench.evaluate.selected import items_in_words, part_to_run
from reelbench.media.errors import MediaError
from reelbench.models.base import ChatModel, Response
from reelbench.models.card import Card
from reelbench.models.cascade import Cascade
from reelbench.models.tokens import parts_tokens, reply_tokens, text_tokens

_REMEMBERED = 20_000  # estimates of media, for the other questions about them


@dataclass
class RunForecast(CallForecast):
    """What one model would be asked under one condition, which is the step."""

    known: int = 0  # questions that are answered already


@dataclass
class Forecasts:
    """What a run would ask, and the questions that it could not ask, with the reason."""

    rows: list[RunForecast]
    broken: dict[str, str]
    budget: Budget = field(default_factory=Budget)
    items: str = ""  # how many of the benchmark's, and which, in words

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return sum(row.input_tokens + row.output_tokens for row in self.rows)

    @property
    def usd(self) -> float | None:
        """The cost in dollars; None where a model has no price."""
        costs = [row.usd for row in self.rows]
        return None if None in costs else sum(cost or 0.0 for cost in costs)


def forecast(benchmark: Benchmark, wanted: RunOptions, out: Path) -> Forecasts:
    """Return what a run would ask of each model under each condition. Nothing is written."""
    earlier = earlier_run(benchmark, wanted, out)
    benchmark = part_to_run(benchmark, run_seed(wanted, earlier), earlier, out)
    prepared = prepare(benchmark, wanted, earlier, out)
    with ExitStack() as stack:
        path = out / "journal.sqlite"
        journal = stack.enter_context(open_journal(path, True)) if path.exists() else None
        counter = _Counter(prepared, journal)
        plan = prepared.plan
        for ask in track(plan, "Reading media", len(plan), "questions"):
            counter.count(ask)
    words = items_in_words(benchmark)
    return Forecasts(list(counter.rows.values()), counter.broken, prepared.budget, words)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is shown with a question: how many tokens, and how many frames of each video."""

    tokens: int
    frames: tuple[int, ...]


class _Counter:
    def __init__(self, prepared: Prepared, journal: Journal | None) -> None:
        self._prepared, self._journal = prepared, journal
        self._shown: dict[tuple[MediaInput, str], _Shown | str] = {}
        self._counted: dict[str, set[bytes]] = defaultdict(set)  # hashes, by the model's name
        self.rows: dict[tuple[str, str], RunForecast] = {}
        self.broken: dict[str, str] = {}

    def count(self, ask: Ask) -> None:
        """Count a question, and what judges would be asked about the reply to it."""
        response = self._journal.answer(ask.key) if self._journal else None
        if response is not None:
            self._row(ask.model, ask.condition.name).known += 1
        else:
            shown = self._planned(ask.media, ask.model.card)
            if isinstance(shown, str):
                self.broken[ask.item.id] = shown
                return
            self._ask(ask, shown)
        if ask.item.kind == "open":
            for judge in self._prepared.judges.values():
                self._judge(ask, judge, response)

    def _ask(self, ask: Ask, shown: _Shown) -> None:
        closed, prompt_tokens = bool(ask.options), text_tokens(ask.text(shown.frames))
        if not isinstance(ask.model, Cascade):
            self._add(ask, ask.model, ask.key, shown.tokens + prompt_tokens, closed)
            return
        caption_tokens = captions = 0
        media = ask.media
        for captioner in ask.model.captioners if media else ():
            sees = (media.frames or media.video) and captioner.card.sees
            if not sees and not (media.audio and captioner.card.hears):
                continue
            caption_tokens += reply_tokens(captioner.card, closed=False)
            captions += 1
            self._add(ask, captioner, repr(media), shown.tokens, closed=False)
        if captions > 1:
            fuser = ask.model.fuser
            self._add(ask, fuser, f"{media!r} fused", caption_tokens, closed=False)
            caption_tokens = reply_tokens(fuser.card, closed=False)
        self._add(ask, ask.model.answerer, ask.key, prompt_tokens + caption_tokens, closed)

    def _judge(self, ask: Ask, judge: ChatModel, response: Response | None) -> None:
        rubric = self._prepared.rubrics[ask.condition.protocol.rubric]
        unknown = "word " * reply_tokens(ask.model.card, closed=False)
        reply = unknown if response is None else response.text or ""
        prompt = rubric.render(graded_slots(ask.item, reply))
        for number in range(ROUNDS):
            key = first_request(
                judge,
                prompt,
                rubric.schema,
                rubric.name,
                number,
                seed=self._prepared.seed,
                repeated=True,
            ).key
            if self._journal is None or self._journal.answer(key) is None:
                self._add(ask, judge, f"{ask.key} {number}", text_tokens(prompt), False, "judging ")
            else:
                self._row(judge, f"judging {ask.condition.name}").known += 1

    def _add(
        self, ask: Ask, model: ChatModel, key: str, tokens: int, closed: bool, role: str = ""
    ) -> None:
        """Count a request, the same one once only."""
        row = self._row(model, f"{role}{ask.condition.name}")
        counted, digest = self._counted[model.card.name], blake2b(key.encode(), digest_size=16)
        if digest.digest() not in counted:
            counted.add(digest.digest())
            row.requests += 1
            row.input_tokens += tokens
            row.output_tokens += reply_tokens(model.card, closed)

    def _row(self, model: ChatModel, condition: str) -> RunForecast:
        key = (model.card.name, condition)
        return self.rows.setdefault(key, RunForecast(condition, model.card))

    def _planned(self, media: MediaInput, card: Card) -> _Shown | str:
        """Return an estimate of the media, or why they cannot be shown."""
        key = (media, card.name)
        if key not in self._shown:
            if len(self._shown) >= _REMEMBERED:
                del self._shown[next(iter(self._shown))]
            try:
                # Clip by clip, for their frames may differ in size.
                clips = [replace(media, clips=(clip,)).placeholders() for clip in media.clips]
            except MediaError as error:
                self._shown[key] = str(error)
            else:
                counts = (sum(clip.frame_counts) for clip in clips)
                tokens = sum(parts_tokens(card, clip.parts) for clip in clips)
                self._shown[key] = _Shown(tokens, tuple(counts) if media.frames else ())
        return self._shown[key]
