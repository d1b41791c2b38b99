"""The engines of operators that ask a model: one that asks, one that forecasts the calls."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from reelbench.annotate.operator import NotApplicable
from reelbench.base.durable import ResultStore
from reelbench.client.client import Client
from reelbench.client.forecast import CallForecast, ForecastClient
from reelbench.client.journal import Journal
from reelbench.client.session import Session
from reelbench.engine.base import Job, JobResult
from reelbench.models.base import ChatModel


async def ask_all(jobs: Sequence[Job], model: ChatModel, client: Client) -> list[JobResult]:
    """Return the results of jobs whose operators ask a model, run concurrently."""
    return list(await asyncio.gather(*(_ask(job, model, client) for job in jobs)))


async def _ask(job: Job, model: ChatModel, client: Client) -> JobResult:
    operator, clip, labels = job.args
    try:
        return JobResult(job, {"value": await operator.ask(clip, labels, client, model)})
    except NotApplicable as nothing:
        return JobResult(job, {"none": str(nothing)})
    except Exception as error:  # whatever it is, it affects this clip alone
        return JobResult(job, error=error)


class AskingEngine:
    """Runs operators that ask a model in this process, many clips at a time."""

    def __init__(self, session: Session, model: ChatModel) -> None:
        self.session, self.model = session, model

    def run(self, jobs: Sequence[Job], _limit: float) -> Iterator[JobResult]:
        """Ask about all clips, and yield the results when all are done."""
        yield from self.session.run(partial(ask_all, jobs, self.model))

    def close(self) -> None:
        """Nothing is held."""


class ForecastEngine(AskingEngine):
    """Counts the calls of operators that ask a model; other operators are not run."""

    def __init__(
        self,
        session: Session,
        model: ChatModel,
        forecasts: dict[tuple[str, str], CallForecast],
        asks: bool,
    ) -> None:
        super().__init__(session, model)
        self._forecasts, self._asks = forecasts, asks

    def run(self, jobs: Sequence[Job], _limit: float) -> Iterator[JobResult]:
        """Yield placeholder labels of operators that ask a model, and unknown ones of others."""
        if not self._asks:
            yield from (JobResult(job, {"unknown": "this label is not made yet"}) for job in jobs)
            return

        def client(journal: Journal, _ledger: Any) -> Client:
            return ForecastClient(journal, self._forecasts, jobs[0].family)

        yield from self.session.run(partial(ask_all, jobs, self.model), client)


class ReadOnlyResultStore(ResultStore):
    """A result store that ignores what is put into it."""

    def put(self, key: str, maker: str, value: Any) -> None:
        """Store nothing."""
