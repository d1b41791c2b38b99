"""What making would ask and cost, before it is spent.

The recipe is gone through with a client that asks nobody. What was answered before is known;
where an answer is missing, its request is counted, and the stage says what may come of the row.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.seeds import rng_for
from reelbench.client.client import Client
from reelbench.client.journal import Journal
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.stage import BatchStage, Recipe, Rejected, RowStage, Stage
from reelbench.make.pipeline.store import RowStore
from reelbench.models.base import ChatModel, Request, Response
from reelbench.models.card import Card
from reelbench.models.tokens import request_tokens


@dataclass
class StageForecast:
    """What one stage would ask one model."""

    stage: str
    card: Card
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def usd(self) -> float | None:
        """What it would cost, where the model has a price."""
        price = self.card.price
        return None if price is None else price.of(self.input_tokens, self.output_tokens)


class Unasked(Exception):  # noqa: N818 - it is no error
    """Somebody would be asked."""


class DryRunClient(Client):
    """Counts what it is asked to ask."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self.stage, self.expected_tokens = "", 0
        self.found: dict[tuple[str, str], StageForecast] = {}

    async def _wait_and_call(
        self, model: ChatModel, _key: str, make: Callable[[], Request | Response]
    ) -> Response:
        made = make()
        if isinstance(made, Response):
            return made
        place = (self.stage, model.card.name)
        row = self.found.setdefault(place, StageForecast(self.stage, model.card))
        taken, given = request_tokens(model.card, made)
        row.requests += 1
        row.input_tokens += taken
        row.output_tokens += (
            self.expected_tokens if self.expected_tokens and not model.card.reply_tokens else given
        )
        raise Unasked


class DryRunPipeline(Pipeline):
    """Goes through a recipe without doing anything that costs."""

    def __init__(
        self, recipe: Recipe, ctx: StageContext, store: RowStore, client: DryRunClient
    ) -> None:
        super().__init__(recipe, ctx, store)
        self._client = client

    def begin(self, stage: Stage) -> None:
        """Count under another stage's name."""
        self._client.stage = stage.name
        self._client.expected_tokens = stage.expected_tokens if isinstance(stage, RowStage) else 0

    async def work_on_all(self, stage: BatchStage, rows: Sequence[Any]) -> Sequence[Any]:
        """Work on all rows, unless that writes files."""
        if stage.writes:
            return await asyncio.to_thread(stage.estimate, rows, self._ctx)
        return await super().work_on_all(stage, rows)

    async def work(self, stage: RowStage, row: Any) -> Sequence[Any]:
        """Work on a row as far as that costs nothing; imagine the rest."""
        if not stage.writes:
            try:
                return await super().work(stage, row)
            except Unasked:
                pass
        draw = rng_for(self._ctx.seed, "forecast", stage.name, row.id).random()
        if draw >= stage.expected_pass_rate:
            raise Rejected("as many as may be expected")
        return stage.estimate(row, self._ctx)
