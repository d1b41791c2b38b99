"""What everyone does who asks models for a while: count what was spent before, wait for all."""

import asyncio
from collections.abc import Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from reelbench.client.budget import Ledger
from reelbench.client.client import Client
from reelbench.client.journal import Journal
from reelbench.models.base import ChatModel
from reelbench.models.cascade import Cascade

Result = TypeVar("Result")


def remember_spent(journal: Journal, ledger: Ledger, models: Iterable[ChatModel]) -> None:
    """Count what earlier calls into the same folder took."""
    cards = {model.card.name: model.card for model in models}
    for name, requests, taken, given, seconds, guessed in journal.taken():
        if name in cards and guessed:
            ledger.count(cards[name], None, None, (taken, given), requests, seconds)
        elif name in cards:
            ledger.count(cards[name], taken, given, requests=requests, seconds=seconds)


def relay_through(client: Client, models: Iterable[ChatModel]) -> None:
    """Let cascades ask their members as everyone asks: through the journal."""
    for model in models:
        if isinstance(model, Cascade):
            model.relay = client.ask


def run_to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Run to the end, also from within a notebook, whose own loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
