"""A local model on a real Ray cluster: the replies of one process, also when an actor is killed."""

import asyncio
import os
import signal
from pathlib import Path

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


def test_actors_reply_as_one_process_does_and_a_killed_one_is_replaced(tiny: Path) -> None:
    parameters = {"max_new_tokens": 16, "min_new_tokens": 16}
    card = Card(name="m", backend="hf", model=str(tiny), batch=1, parameters=parameters)
    before = set(actors())

    async def ask(model: LocalModel, kill: bool) -> list[Response]:
        tasks = [asyncio.ensure_future(model.ask(request)) for request in REQUESTS]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if kill:
            killed = set(actors()) - before
            assert killed
            for process in killed:
                os.kill(process, signal.SIGKILL)
        found = await asyncio.gather(*tasks)
        await model.close()
        return found

    here = asyncio.run(ask(LocalModel(card), kill=False))
    engines = RayEngines()
    try:
        model = LocalModel(card)
        model.source = engines
        there = asyncio.run(ask(model, kill=True))
    finally:
        engines.close()
    assert all(response.replied for response in here)
    assert there == here
