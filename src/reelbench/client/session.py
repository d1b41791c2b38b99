"""One session for all that ask models: runs, makes, annotations and judges.

A session has one journal and one ledger, counts what earlier sessions in the same folder spent,
finishes requests in flight after a first Ctrl-C, and closes the models in the end. Servers that
cards start are started when they are first asked, and end with the session.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from reelbench.client.budget import Budget, Ledger
from reelbench.client.client import Client, Counts
from reelbench.client.journal import Journal, open_journal
from reelbench.client.stopping import draining
from reelbench.models.base import ChatModel
from reelbench.models.cascade import Cascade, members_of
from reelbench.models.load import check_keys
from reelbench.models.servers import Servers

Result = TypeVar("Result")
MakeClient = Callable[[Journal, Ledger], Client]


@dataclass
class Session:
    """An open session; make one with ``open_session``."""

    journal: Journal
    ledger: Ledger
    models: Sequence[ChatModel]  # the members of cascades among them
    servers: Servers  # that cards start; they end with the session
    seed: int = 0  # of the run or make, from which those of requests derive
    counts: Counts = field(default_factory=Counts)  # of all that was asked in it

    def run(
        self, work: Callable[[Client], Awaitable[Result]], make_client: MakeClient = Client
    ) -> Result:
        """Return the result of work that asks models; raise ``KeyboardInterrupt`` after Ctrl-C.

        Replies up to then are in the journal. It may be called several times.
        """
        return run_to_the_end(self._run(work, make_client))

    async def _run(
        self, work: Callable[[Client], Awaitable[Result]], make_client: MakeClient
    ) -> Result:
        client = make_client(self.journal, self.ledger)
        client.counts, client.seed = self.counts, self.seed
        relay_through(client, self.models)
        try:
            with draining(client):
                result = await work(client)
        finally:
            for model in self.models:
                await model.close()
        if client.stopping.is_set():
            raise KeyboardInterrupt
        return result


@contextmanager
def open_session(
    path: Path,
    models: Iterable[ChatModel],
    budget: Budget | None = None,
    reading: bool = False,
    seed: int = 0,
) -> Iterator[Session]:
    """Open a session with the journal at a path, for these models and within this budget.

    A model without a price, where the budget is in dollars, or without its key is refused before
    any folder is made. ``reading`` is for forecasts: nothing is written, and no journal is needed.
    """
    everyone = list(members_of(models))
    ledger = Ledger(budget or Budget())
    for model in everyone:
        ledger.check_price(model.card)
    if not reading:
        check_keys(everyone)
        path.parent.mkdir(parents=True, exist_ok=True)
    with open_journal(path, reading) as journal:
        remember_spent(journal, ledger, everyone)
        servers = Servers(everyone, path.parent / "servers")
        try:
            yield Session(journal, ledger, everyone, servers, seed)
        finally:
            servers.close()


def remember_spent(journal: Journal, ledger: Ledger, models: Iterable[ChatModel]) -> None:
    """Count in the ledger what earlier sessions of the same journal spent."""
    cards = {model.card.name: model.card for model in models}
    for name, requests, taken, given, cached, seconds, guessed in journal.taken():
        if name in cards and guessed:
            ledger.count(cards[name], None, None, (taken, given), requests, seconds)
        elif name in cards:
            ledger.count(
                cards[name], taken, given, requests=requests, seconds=seconds, cached=cached
            )


def relay_through(client: Client, models: Iterable[ChatModel]) -> None:
    """Let cascades ask their members through the client: by its journal and with its seed."""
    for model in models:
        if isinstance(model, Cascade):
            model.relay, model.seed = client.ask, client.seed


def run_to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of a coroutine, also in a notebook, whose own loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
