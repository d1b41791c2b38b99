"""Servers that keep the beginning of a prompt: requests of one video come together, and are equal
up to the question; what a server had in its cache is counted."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from servers import (
    Call,
    Reply,
    anthropic_message,
    completion,
    gemini_reply,
    hosting,
    json_reply,
    serving,
)
from support import blind_benchmark, make_item, run_here
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Media
from reelbench.data.manifest import Manifest, Protocol
from reelbench.evaluate.run import run_benchmark
from reelbench.models.base import Message, Request, Response, TextPart
from reelbench.models.calls import Gate
from reelbench.models.load import load_model

VIDEOS, WIDE = 3, 4
LAST_TEXT = b'{"type":"text"'
CONDITIONS = ["protocol", "reasoned prompt=reasoned", "stamped timestamps=true"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Two questions about each of three videos, in a file that goes from video to video."""
    root = tmp_path_factory.mktemp("prefixes") / "b"
    items = [make_item(n, media=(Media(f"media/{n % VIDEOS}.mp4"),)) for n in range(2 * VIDEOS)]
    protocol = Protocol(sampling="uniform:2", frame_size="long:64", orders=2, rounds=2)
    Benchmark(root, Manifest("b", "1", protocol=protocol), tuple(items)).save(root)
    (root / "media").mkdir()
    for n in range(VIDEOS):
        make_video(root / "media" / f"{n}.mp4", seconds=0.4 + 0.4 * n, rate=5)
    return Benchmark.load(root)


def card(folder: Path, name: str, url: str, **fields: Any) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps({"name": name, "endpoint": url, "backoff": 0.001} | fields))
    return str(path)


def beginning(call: Call) -> bytes:
    """All that was sent before the question."""
    return call.raw[: call.raw.rindex(LAST_TEXT)]


def test_requests_of_one_video_are_sent_together_and_are_equal_up_to_the_question(
    bench: Benchmark, tmp_path: Path
) -> None:
    """Orders, rounds and prompts over the same frames, of two models at the same time."""
    # Each server answers when as many have come as it may be asked at a time: four by four.
    gates = {name: threading.Barrier(WIDE) for name in "mn"}

    def answer(body: dict[str, Any], _: int) -> Reply:
        gates[body["model"]].wait(100)
        return completion("B")

    with serving(answer) as server:
        cards = [card(tmp_path, name, server.url, connections=WIDE) for name in "mn"]
        state = run_benchmark(bench, cards, tmp_path / "r", conditions=CONDITIONS)
    assert state.done == state.total == 2 * VIDEOS * 24
    for name in "mn":
        begun = [beginning(call) for call in server.calls if call.body["model"] == name]
        fours = [begun[place : place + WIDE] for place in range(0, len(begun), WIDE)]
        assert all(len(set(four)) == 1 for four in fours)
        together = [(each, len(list(run))) for each, run in groupby(begun)]
        assert len({each for each, _ in together}) == len(together) == 2 * VIDEOS
        assert sorted(count for _, count in together) == [8] * VIDEOS + [16] * VIDEOS
        assert all(each.count(b'"image_url":{') == 2 for each, _ in together)


def test_a_run_that_goes_on_sends_what_is_left_by_video_and_tries_again_at_once(
    bench: Benchmark, tmp_path: Path
) -> None:
    def answer(body: dict[str, Any], number: int) -> Reply:
        if number % 5 == 0:
            return json_reply({"error": "busy"}, 503)
        refuses = first and "scene 4" not in body["messages"][0]["content"][-1]["text"]
        return json_reply({"error": "no"}, 400) if refuses and number % 2 else completion("B")

    first = True
    with serving(answer) as server:
        model = card(tmp_path, "m", server.url, connections=1)
        before = run_benchmark(bench, [model], tmp_path / "r")
        asked = len(server.calls)
        first = False
        after = run_benchmark(bench, [model], tmp_path / "r")
    assert 0 < before.done < after.done == 8 * VIDEOS
    for calls in (server.calls[:asked], server.calls[asked:]):
        assert len([*groupby(calls, beginning)]) == VIDEOS
    tried_again = [
        next_one.raw == call.raw
        for call, next_one in zip(server.calls, server.calls[1:], strict=False)
        if call.number % 5 == 0
    ]
    assert tried_again
    assert all(tried_again)


def test_places_are_given_in_order_and_to_what_is_tried_again_first() -> None:
    passed: list[str] = []

    async def passing(gate: Gate, name: str, again: bool = False) -> None:
        async with gate.passed(again) as ticket:
            passed.append(name)
            await asyncio.sleep(0)
            if name == "b1":
                gate.narrow(ticket)
            else:
                gate.widen(0.1)

    async def crowd() -> None:
        gate = Gate(2)
        tasks = [asyncio.create_task(passing(gate, f"{v}{n}")) for v in "abc" for n in range(4)]
        await asyncio.sleep(0)
        cancelled = asyncio.create_task(passing(gate, "never"))
        retries = [asyncio.create_task(passing(gate, f"again{n}", again=True)) for n in range(2)]
        await asyncio.sleep(0)
        cancelled.cancel()
        with suppress(asyncio.CancelledError):
            await cancelled
        await asyncio.gather(*tasks, *retries)
        assert gate._inside == 0

    asyncio.run(asyncio.wait_for(crowd(), 100))
    usual = [name for name in passed if not name.startswith("again")]
    assert usual == [f"{video}{n}" for video in "abc" for n in range(4)]
    assert [name for name in passed if name.startswith("again")] == ["again0", "again1"]
    assert passed.index("again1") < passed.index("b0")


def details(cached: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 100, "completion_tokens": 3}
    return {"usage": usage | {"prompt_tokens_details": cached}}


class TestWhatWasInTheCache:
    @pytest.mark.parametrize(("backend", "reply", "cached"), [
        ("openai", completion("B", **details({"cached_tokens": 80})), 80),
        ("openai", completion("B", **details({"cached_tokens": 0})), 0),
        ("openai", completion("B", **details(None)), None),  # vLLM, where nothing was
        ("openai", completion("B", timings={"cache_n": 70, "prompt_n": 30}), 70),
        ("openai", completion("B", timings=[3]), None),
        ("openai", completion("B", **details({"cached_tokens": "80"})), None),
        ("openai", completion("B", **details({"cached_tokens": -3})), None),
        ("openai", completion("B", **details({"cached_tokens": True})), None),
        ("openai", completion(None, **details({"cached_tokens": 9}), reason="length"), 9),
        ("anthropic", anthropic_message("B", usage={
            "input_tokens": 20, "cache_read_input_tokens": 80, "output_tokens": 3}), 80),
        ("anthropic", anthropic_message("B"), None),
        ("google", gemini_reply("B", usageMetadata={
            "promptTokenCount": 100, "cachedContentTokenCount": 64, "candidatesTokenCount": 3}), 64),
        ("google", gemini_reply("B"), None),
    ])  # fmt: skip
    def test_is_read_where_each_server_says_it(
        self, backend: str, reply: Reply, cached: int | None, tmp_path: Path
    ) -> None:
        request = Request("k", (Message("user", (TextPart("?"),)),), "open", "")

        async def once(path: str) -> Response:
            model = load_model(path)
            try:
                return await model.ask(request)
            finally:
                await model.close()

        with hosting(lambda _: reply) as server:
            response = asyncio.run(once(card(tmp_path, "m", server.url, backend=backend)))
        assert response.cached_tokens == cached

    def test_is_in_the_files_of_a_run_and_on_the_terminal(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        counts: Iterator[Any] = iter([None, {"cached_tokens": 90}, {"cached_tokens": 5000}])
        out = self.run(tmp_path, lambda: completion("B", **details(next(counts))))
        talk = capsys.readouterr().err
        assert "3 requests, 300 tokens in (30% from its server's cache) and 9 out" in talk
        (usage,) = json.loads((out / "usage.json").read_text())
        assert (usage["input_tokens"], usage["cached_tokens"]) == (300, 90)
        assert json.loads((out / "status.json").read_text())["spent"]["m"]["cached_tokens"] == 90
        calls = [json.loads(line) for line in (out / "calls.jsonl").read_text().splitlines()]
        # One that had more in its cache than it was sent has said nothing.
        assert sorted(call.get("cached_tokens", -1) for call in calls) == [-1, -1, 90]
        assert run_here("run", tmp_path / "b", "--out", out) == 0  # from the journal alone
        assert "(30% from its server's cache)" in capsys.readouterr().err

    def test_is_in_no_file_where_a_server_says_nothing(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = self.run(tmp_path, lambda: completion("B"))
        files = ("usage.json", "status.json", "calls.jsonl", "journal.sqlite")
        assert not any(b"cached" in (out / name).read_bytes() for name in files)
        assert "cache" not in capsys.readouterr().err

    def run(self, folder: Path, reply: Callable[[], Reply]) -> Path:
        items = [make_item(n) for n in range(3)]
        blind_benchmark(folder / "b", *items, modalities="T")
        with serving(lambda *_: reply()) as server:
            model = card(folder, "m", server.url)
            assert run_here("run", folder / "b", "--model", model, "--out", folder / "r") == 0
        return folder / "r"
