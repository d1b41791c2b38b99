"""One who asks, run in a process of its own.

Run, in benchmarks/: python -m asking.clients WHO BENCHMARK OUT URL
"""

import asyncio
import base64
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
from decoding.loaders import peak_mb

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.evaluate.condition import Condition
from reelbench.evaluate.item_media import item_media
from reelbench.evaluate.run import run_benchmark
from reelbench.models.base import ImagePart
from reelbench.models.card import Card

CONNECTIONS = 64


def ours(benchmark: Benchmark, out: Path, url: str) -> None:
    """A whole run."""
    card = out.with_suffix(".yaml")
    card.write_text(json.dumps({"name": "m", "endpoint": url, "connections": CONNECTIONS}))
    state = run_benchmark(benchmark, [str(card)], out)
    assert state.done == state.total


def bodies(benchmark: Benchmark) -> list[Callable[[], dict[str, Any]]]:
    """For each item, what makes its request: encoded anew each time, as ours are."""
    condition = Condition.of(benchmark.manifest.protocol, "protocol", {})
    first = {item.media: item for item in benchmark.items}
    shown = {
        media: item_media(benchmark.root, item, condition.protocol).for_card(Card(name="m"))
        for media, item in first.items()
    }
    frames = {media: each.render().parts for media, each in shown.items()}

    def make(item: Item) -> dict[str, Any]:
        parts = frames[item.media]
        content: list[dict[str, Any]] = []
        for part in parts:
            if isinstance(part, ImagePart):
                data = base64.b64encode(part.data).decode()
                address = {"url": f"data:{part.media_type};base64,{data}"}
                content.append({"type": "image_url", "image_url": address})
        content.append({"type": "text", "text": item.question})
        return {"model": "m", "messages": [{"role": "user", "content": content}]}

    return [partial(make, item) for item in benchmark.items]


async def all_of(
    makers: list[Callable[[], dict[str, Any]]], send: Callable[[dict[str, Any]], Awaitable[None]]
) -> None:
    """Send everything, so many at a time."""
    free = asyncio.Semaphore(CONNECTIONS)

    async def one(make: Callable[[], dict[str, Any]]) -> None:
        async with free:
            await send(make())

    await asyncio.gather(*(one(make) for make in makers))


def bare(benchmark: Benchmark, _: Path, url: str) -> None:
    """A loop that posts, and reads the replies."""

    async def work() -> None:
        connector = aiohttp.TCPConnector(limit=CONNECTIONS)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def send(body: dict[str, Any]) -> None:
                async with session.post(f"{url}/chat/completions", json=body) as reply:
                    await reply.json()

            await all_of(bodies(benchmark), send)

    asyncio.run(work())


def library(benchmark: Benchmark, _: Path, url: str) -> None:
    """The provider's own library."""
    from openai import AsyncOpenAI  # type: ignore[import-not-found, unused-ignore]

    async def work() -> None:
        client = AsyncOpenAI(base_url=url, api_key="none")
        await all_of(bodies(benchmark), lambda body: client.chat.completions.create(**body))
        await client.close()

    asyncio.run(work())


def inspect(benchmark: Benchmark, out: Path, url: str) -> None:
    """An evaluation by Inspect, with the same frames, which it writes into its log."""
    import inspect_ai as ai
    from inspect_ai import dataset, model, scorer, solver

    def sample(body: dict[str, Any]) -> dataset.Sample:
        parts = body["messages"][0]["content"]
        images = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        content = [model.ContentImage(image=image) for image in images]
        asked = [*content, model.ContentText(text=parts[-1]["text"])]
        return dataset.Sample(input=[model.ChatMessageUser(content=asked)], target="B")

    samples = [sample(make()) for make in bodies(benchmark)]
    task = ai.Task(dataset=samples, solver=solver.generate(), scorer=scorer.match())
    os.environ |= {"LOOPBACK_API_KEY": "none", "LOOPBACK_BASE_URL": url}
    (log,) = ai.eval(
        task,
        model="openai-api/loopback/m",
        max_connections=CONNECTIONS,
        log_dir=str(out),
        display="none",
    )
    assert log.status == "success", log.error


def main() -> None:
    """Ask, and print what it cost as JSON."""
    who, root, out, url = sys.argv[1:]
    os.environ.pop("OPENAI_API_KEY", None)
    benchmark = Benchmark.load(Path(root))
    began, clock = time.process_time(), time.monotonic()
    clients = {"ours": ours, "bare aiohttp": bare, "openai library": library, "Inspect": inspect}
    clients[who](benchmark, Path(out), url)
    cpu, seconds = time.process_time() - began, time.monotonic() - clock
    figures = {"cpu": cpu, "seconds": seconds, "peak_mb": peak_mb()}
    figures["kilobytes"] = len(json.dumps(bodies(benchmark)[0]())) / 1000
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
