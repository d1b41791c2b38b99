"""Forecast how many calls a make would take, and what they would cost.

The recipe runs with a client that calls no model. Replies of an earlier make are read from the
journal; where one is missing, its request is counted and a reply of its form is made up, so that
calls that depend on it are counted as well. Rates seen in the folder replace those that the recipe
expects: the share of rows that a stage lets through, and how many replies had to be repaired.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from itertools import takewhile
from typing import Any

from reelbench.base.seeds import rng_for
from reelbench.client.client import Client
from reelbench.client.forecast import CallForecast
from reelbench.client.journal import Journal
from reelbench.client.structured import Check, Structured
from reelbench.data.items import LETTERS
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.example_reply import imagined_json, imagined_text
from reelbench.make.pipeline.rates import StageRates
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.stage import (
    WAITING,
    BatchStage,
    Recipe,
    Rejected,
    RowStage,
    Stage,
    Undecided,
    as_it_is,
)
from reelbench.make.pipeline.store import RowStore
from reelbench.media.errors import MediaError
from reelbench.models.base import ChatModel, Request, Response
from reelbench.models.card import Card
from reelbench.models.tokens import request_tokens
from reelbench.score.rounding import percent

# The schema of the reply that is waited for, and the replies that were imagined for a row so far.
_SCHEMA: ContextVar[Mapping[str, Any] | None] = ContextVar("schema", default=None)
# Which imagined row is at work: two of them look alike, and would not if they were real.
_ROW: ContextVar[str] = ContextVar("row", default="")
_IS_IMAGINED: ContextVar[bool] = ContextVar("is_imagined", default=False)  # the last reply
_IMAGINED: ContextVar[list[str] | None] = ContextVar("imagined", default=None)


class NotLabelled(Undecided):
    """A stage reads a label that its clip does not have yet."""

    def __init__(self, name: str) -> None:
        super().__init__("unlabelled", f"its clip has no label {name} yet")


class DryRunContext(StageContext):
    """A context in which nothing is decoded: media are placeholders, as many and as large."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.client.placeholders = True
        self.is_forecast = True

    def no_label(self, clip: str, name: str) -> Exception:
        """Return the exception to raise for a label that is missing: it may still be made."""
        known = name in self.labelled[clip]
        return super().no_label(clip, name) if known else NotLabelled(name)

    async def json(
        self, role: str, prompt: str, schema: Mapping[str, Any], **more: Any
    ) -> Structured:
        """Return JSON as ``StageContext.json`` does; made-up replies are not checked."""
        check: Check = more.pop("check", lambda _: "")
        schema_before, _ = _SCHEMA.set(schema), _IS_IMAGINED.set(False)
        try:
            return await super().json(
                role,
                prompt,
                schema,
                check=lambda data: "" if _IS_IMAGINED.get() else check(data),
                **more,
            )
        finally:
            _SCHEMA.reset(schema_before)


class DryRunClient(Client):
    """Counts requests instead of sending them, and makes up replies."""

    def __init__(self, journal: Journal, rates: Mapping[str, StageRates]) -> None:
        super().__init__(journal)
        self.stage, self.expected_tokens = "", 0
        self._rates = rates
        self._replies: dict[tuple[str, str], Response] = {}  # equal requests are one call
        self._counts: dict[tuple[str, str], tuple[Card, list[float]]] = {}

    @property
    def found(self) -> list[CallForecast]:
        """What would be asked, by stage and model."""
        return [
            CallForecast(stage, card, *map(round, counts))
            for (stage, _), (card, counts) in self._counts.items()
        ]

    async def _wait_and_call(
        self, model: ChatModel, key: str, make: Callable[[], Request | Response]
    ) -> Response:
        place = (_ROW.get(), key)
        if place not in self._replies:
            made = make()
            if isinstance(made, Response):
                return made
            self._count(model.card, made)
            self._replies[place] = self._imagined(f"{place}", made)
        _IS_IMAGINED.set(True)
        imagined = _IMAGINED.get()
        if imagined is not None:
            imagined.append(key)
        return self._replies[place]

    def _count(self, card: Card, request: Request) -> None:
        taken, given = request_tokens(card, request)
        given = self.expected_tokens if self.expected_tokens and not card.reply_tokens else given
        _, counts = self._counts.setdefault((self.stage, card.name), (card, [0.0, 0.0, 0.0]))
        rates = self._rates.get(self.stage, StageRates())
        calls = 1.0 if _SCHEMA.get() is None else rates.calls_per_reply
        for place, number in enumerate((1, taken, given)):
            counts[place] += calls * number

    def _imagined(self, key: str, request: Request) -> Response:
        rng, schema = rng_for(0, "imagined", key), _SCHEMA.get()
        if schema is not None:
            text = imagined_json(schema, rng, self.expected_tokens)
        elif request.options:
            text = LETTERS[rng.randrange(len(request.options))]
        else:
            text = imagined_text(rng, self.expected_tokens or 100)
        return Response("ok", text)


class DryRunPipeline(Pipeline):
    """Runs a recipe without calling models, running operators or writing files."""

    def __init__(
        self,
        recipe: Recipe,
        ctx: StageContext,
        store: RowStore,
        client: DryRunClient,
        rates: Mapping[str, StageRates],
    ) -> None:
        super().__init__(recipe, ctx, store)
        self._client, self._rates = client, rates
        self._imagined: set[str] = set()  # ids of rows that come from made-up replies
        self._is_unlabelled = False  # whether labels were missing

    def begin(self, stage: Stage) -> None:
        """Count under another stage's name."""
        super().begin(stage)
        self._client.stage = stage.name
        self._client.expected_tokens = stage.expected_tokens

    async def work_on_all(self, stage: BatchStage, rows: Sequence[Any]) -> Sequence[Any]:
        """Work on all rows, unless that writes files; imagined rows are not judged."""
        if stage.writes:
            return await asyncio.to_thread(stage.estimate, rows, self._ctx)
        judged = [row for row in rows if not (stage.filters and row.id in self._imagined)]
        replies: list[str] = []
        token = _IMAGINED.set(replies)
        _ROW.set("")
        try:
            made = zip(judged, await super().work_on_all(stage, judged), strict=True)
        except NotLabelled:
            return self._unlabelled(stage, rows)
        finally:
            _IMAGINED.reset(token)
        results = {row.id: each for row, each in made}
        for row in rows:
            if row.id not in results:
                results[row.id] = row if self._passes(stage, row) else _EXPECTED
            elif _waits(results[row.id]) and stage.input is stage.output:
                self._note_waiting(stage)
                results[row.id] = row if self._passes(stage, row) else _EXPECTED
            elif replies or row.id in self._imagined:
                self._note(stage, results[row.id])
        return [results[row.id] for row in rows]

    async def work(self, stage: RowStage, row: Any) -> Sequence[Any]:
        """Work on a row as far as that costs nothing; of what is imagined, expect the usual."""
        if stage.writes:
            return self._expected(stage, row, None)
        replies: list[str] = []
        token = _IMAGINED.set(replies)
        _ROW.set(row.id if row.id in self._imagined else "")
        made: Sequence[Any] | None = None
        rejected = False
        try:
            made = await super().work(stage, row)
        except NotLabelled:
            self._note_unlabelled(stage)
            if _cannot_estimate(stage):
                raise
            return self._expected(stage, row, None)
        except MediaError:
            if row.id not in self._imagined or _cannot_estimate(stage):
                raise
            self._note_unmade(stage)
            return self._expected(stage, row, None)
        except (Rejected, Undecided) as error:
            if _waits(error) and not _cannot_estimate(stage):
                self._note_waiting(stage)
                return self._expected(stage, row, None)
            if _cannot_estimate(stage) or (not replies and row.id not in self._imagined):
                raise
            rejected = isinstance(error, Rejected)
        finally:
            _IMAGINED.reset(token)
        if not replies and row.id not in self._imagined:
            assert made is not None
            return made
        return self._expected(stage, row, made, rejected)

    def _expected(
        self, stage: RowStage, row: Any, made: Sequence[Any] | None, rejected: bool = False
    ) -> Sequence[Any]:
        """What may be expected of a row: the stage's own estimate, or else what was made of it."""
        if not self._passes(stage, row, rejected):
            raise _EXPECTED
        if made is None or stage.estimate is not as_it_is:
            made = stage.estimate(row, self._ctx)
        self._note(stage, made)
        return made

    def _unlabelled(self, stage: BatchStage, rows: Sequence[Any]) -> Sequence[Any]:
        """What may be expected of rows whose clips are not labelled yet."""
        self._note_unlabelled(stage)
        if stage.input is not stage.output:
            raise NotLabelled(", ".join(stage.labels))
        made = [row if self._passes(stage, row) else _EXPECTED for row in rows]
        self._note(stage, made)
        return made

    def _note_unlabelled(self, stage: Stage) -> None:
        """Say once that the forecast lacks labels, and how they are made without asking a model."""
        free = list(takewhile(lambda each: not (each.roles or each.may_ask), self._recipe.stages))
        first = (
            f": `--until {free[-1].name}` without --dry-run makes them first, and asks no model"
            if stage in free and free[-1] is not self._recipe.stages[-1]
            else ""
        )
        note = (
            f"from {stage.name} on, which reads labels of clips that are not labelled yet, not all "
            f"calls about these clips can be counted{first}"
        )
        if not self._is_unlabelled:
            self._ctx.notes.append(note)
        self._is_unlabelled = True

    def _note_waiting(self, stage: Stage) -> None:
        """Say once that people are still to decide at a stage."""
        note = (
            f"{stage.name} waits for people: what they have not decided about is counted as "
            "accepted, so that what comes after it may cost less"
        )
        if stage is not self._recipe.stages[-1] and note not in self._ctx.notes:
            self._ctx.notes.append(note)

    def _note_unmade(self, stage: Stage) -> None:
        """Say once that a stage shows videos that an earlier one has not made yet."""
        note = f"{stage.name} shows videos that are not made yet: its calls cannot all be counted"
        if note not in self._ctx.notes:
            self._ctx.notes.append(note)

    def _passes(self, stage: Stage, row: Any, rejected: bool = False) -> bool:
        """Whether a row may be expected to pass; ``rejected`` is what imagined replies decided."""
        if stage.filters and stage.parameters.get("drop") is False:
            return True
        rate = self._rates.get(stage.name, StageRates()).pass_rate
        if rate is None:
            rate = stage.expected_pass_rate
            self._note_expected_rate(stage)
        if rate is None:
            return not rejected
        return rng_for(self._ctx.seed, "forecast", stage.name, row.id).random() < rate

    def _note_expected_rate(self, stage: Stage) -> None:
        rate = stage.expected_pass_rate
        if rate == 1.0:
            return
        used = (
            "what random answers give"
            if rate is None
            else f"the recipe's figure of {percent(rate, 0)}"
        )
        note = (
            f"the share of rows that pass {stage.name} is not known here yet, so {used} is used: "
            "make a few sources first (--limit) to forecast with the rates of your models"
        )
        if note not in self._ctx.notes:
            self._ctx.notes.append(note)

    def _note(self, stage: Stage, made: Any) -> None:
        rows = made if isinstance(made, list | tuple) else [made]
        ids = {row.id for row in rows if hasattr(row, "id")}
        self._imagined |= ids
        if not stage.filters:  # what passes a filter says what it said before
            self._ctx.imagined |= ids


def _waits(result: Any) -> bool:
    return isinstance(result, Undecided) and result.status == WAITING


def _cannot_estimate(stage: RowStage) -> bool:
    """Whether nothing can stand for the rows that a stage makes of others."""
    return stage.estimate is as_it_is and stage.input is not stage.output


_EXPECTED = Rejected("as many as may be expected")
