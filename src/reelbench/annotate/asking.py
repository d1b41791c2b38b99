"""Asks a model for operators that can ask one, or forecasts the calls."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from reelbench.annotate.labelling import Receive
from reelbench.annotate.operator import NotApplicable
from reelbench.base.durable import ResultStore
from reelbench.client.client import Client
from reelbench.client.forecast import CallForecast, ForecastClient
from reelbench.client.journal import Journal
from reelbench.client.session import Session
from reelbench.engine.base import Job, JobResult
from reelbench.models.base import ChatModel


async def ask_all(jobs: Sequence[Job], receive: Receive, model: ChatModel, client: Client) -> None:
    """Run jobs whose operators ask a model concurrently, and hand over each result as it comes."""
    await asyncio.gather(*(_ask(job, receive, model, client) for job in jobs))


async def _ask(job: Job, receive: Receive, model: ChatModel, client: Client) -> None:
    operator, clip, labels = job.args
    try:
        result = JobResult(job, {"value": await operator.ask(clip, labels, client, model)})
    except NotApplicable as nothing:
        result = JobResult(job, {"none": str(nothing)})
    except Exception as error:  # whatever it is, it affects this clip alone
        result = JobResult(job, error=error)
    if result.error is None or not client.stopping.is_set():  # else it was never asked
        receive(result)


class AskingModel:
    """Runs operators that ask a model in this process, many clips at a time."""

    def __init__(self, session: Session, model: ChatModel) -> None:
        self._session, self._model = session, model

    def ask(self, jobs: Sequence[Job], receive: Receive) -> None:
        """Ask about all clips."""
        self._session.run(partial(ask_all, jobs, receive, self._model))


class ForecastingModel:
    """Counts the calls of operators that ask a model, and hands over placeholder labels."""

    def __init__(
        self, session: Session, model: ChatModel, forecasts: dict[tuple[str, str], CallForecast]
    ) -> None:
        self._session, self._model, self._forecasts = session, model, forecasts

    def ask(self, jobs: Sequence[Job], receive: Receive) -> None:
        """Count the calls about all clips, by operator."""
        for family in dict.fromkeys(job.family for job in jobs):
            same = [job for job in jobs if job.family == family]

            def client(journal: Journal, _ledger: Any, family: str = family) -> Client:
                return ForecastClient(journal, self._forecasts, family)

            self._session.run(partial(ask_all, same, receive, self._model), client)


class ForecastEngine:
    """An engine that runs nothing: its labels are unknown."""

    def run(self, jobs: Sequence[Job], _limit: float) -> Iterator[JobResult]:
        """Yield an unknown label for each job."""
        yield from (JobResult(job, {"unknown": "this label is not made yet"}) for job in jobs)

    def close(self) -> None:
        """Nothing is held."""


class ReadOnlyResultStore(ResultStore):
    """A result store that ignores what is put into it."""

    def put(self, key: str, maker: str, value: Any, replaced: Sequence[str] = ()) -> None:
        """Store nothing."""
