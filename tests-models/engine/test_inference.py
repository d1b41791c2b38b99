"""A local model on a real Ray cluster: the replies of one process, also when an actor is killed."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from reelbench.engine.inference import RayEngines
from reelbench.models.base import Message, Request, Response, TextPart
from reelbench.models.card import Card
from reelbench.models.local.model import LocalModel

REQUESTS = [
    Request(str(n), (Message("user", (TextPart(f"Question {n}?"),)),), "open", f"Question {n}?")
    for n in range(20)
]


def actors() -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().startswith(b"ray::PipelineActor"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hung"])
def test_actors_reply_as_one_process_does_and_a_lost_one_is_replaced(
    how: signal.Signals, tiny: Path
) -> None:
    parameters = {"max_new_tokens": 16, "min_new_tokens": 16}
    card = Card(name="m", backend="hf", model=str(tiny), batch=1, parameters=parameters, timeout=10)
    before, lost = set(actors()), set[int]()

    async def ask(model: LocalModel) -> list[Response]:
        tasks = [asyncio.ensure_future(model.ask(request)) for request in REQUESTS]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        lost.update(set(actors()) - before)
        for process in lost:
            os.kill(process, how)
        found = await asyncio.gather(*tasks)
        await model.close()
        return found

    here = asyncio.run(ask(LocalModel(card)))
    assert not lost, "without Ray there is no actor"
    engines = RayEngines()
    try:
        model = LocalModel(card)
        model.source = engines
        there = asyncio.run(ask(model))
    finally:
        for process in lost:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        engines.close()
    assert lost
    assert all(response.replied for response in here)
    assert there == here
