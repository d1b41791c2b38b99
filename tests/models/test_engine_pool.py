"""The engines of a local model: who waits is answered, whatever happens to the engines."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from reelbench.models.base import Message, Request, Response, TextPart
from reelbench.models.card import Card
from reelbench.models.local.engines import EngineLostError
from reelbench.models.local.pool import EnginePool

CARD = Card(name="m", backend="hf", model="x")
REQUEST = Request("k", (Message("user", (TextPart("What?"),)),), "open", "What?")


class Engine:
    """An engine that answers, is lost with what it is asked, never loads, or hangs."""

    capacity = 4
    peak_memory = None

    def __init__(self, fate: str) -> None:
        self._fate = fate
        self.looks = 0
        self.is_ending, self.may_end = threading.Event(), threading.Event()
        self._owed: list[Future[list[Response]]] = []

    def load(self) -> None:
        if self._fate == "never loads":
            threading.Event().wait()

    def submit(self, requests: Sequence[Request]) -> "Future[list[Response]]":
        future: Future[list[Response]] = Future()
        if self._fate == "answers":
            future.set_result([Response("ok", "A") for _ in requests])
        elif self._fate == "is lost":
            future.set_exception(EngineLostError("ended"))
        else:
            self._owed.append(future)
        return future

    @property
    def signs(self) -> int:
        self.looks += 1
        return self.looks if self._fate == "keeps it" else 0

    def stop(self) -> None:
        pass

    def abandon(self) -> None:
        self.is_ending.set()
        if self._fate == "hangs on":
            self.may_end.wait()
        if self._fate == "never ends":
            raise EngineLostError("cannot be ended")
        for future in self._owed:
            future.set_exception(EngineLostError("ended"))
        self._owed = []


class Source:
    """Engines with these fates, for each place in the order that they are started in."""

    def __init__(self, *fates: list[str]) -> None:
        self._fates = fates
        self.started: list[int] = []
        self.engines: list[Engine] = []

    def count(self, card: Card) -> int:
        return len(self._fates)

    def place(self, card: Card) -> str:
        return "nowhere"

    def start(self, card: Card, number: int, say: Callable[[str], None], /) -> Engine:
        self.started.append(number)
        self.engines.append(Engine(self._fates[number].pop(0)))
        return self.engines[-1]


def test_a_lost_engine_is_started_again_though_another_never_loads() -> None:
    source = Source(["is lost", "answers"], ["never loads"])

    async def ask() -> Response:
        return await asyncio.wait_for(EnginePool(CARD, source, lambda _: None).ask(REQUEST), 60)

    assert asyncio.run(ask()).text == "A"
    assert source.started.count(0) == 2


def test_nothing_is_started_after_the_end() -> None:
    source = Source(["keeps it", "answers"])

    async def ask() -> Response:
        pool = EnginePool(CARD, source, lambda _: None)
        future = pool.ask(REQUEST)
        while not source.started or not pool._slots or not pool._slots[0].groups:
            await asyncio.sleep(0.001)
        pool.close()
        return await asyncio.wait_for(future, 60)

    assert asyncio.run(ask()).unasked
    assert source.started == [0]


def test_an_engine_that_cannot_be_started_is_told() -> None:
    source = Source([])  # no fate: IndexError

    async def ask() -> Response:
        return await asyncio.wait_for(EnginePool(CARD, source, lambda _: None).ask(REQUEST), 60)

    response = asyncio.run(ask())
    assert (response.status, response.unasked) == ("error", True)
    assert "IndexError" in (response.error or "")


def test_a_place_whose_engine_cannot_be_started_leaves_its_work_to_another() -> None:
    source, said = Source([], ["answers"]), list[str]()

    async def ask() -> Response:
        return await asyncio.wait_for(EnginePool(CARD, source, said.append).ask(REQUEST), 60)

    assert asyncio.run(ask()).text == "A"
    assert source.started == [0, 1]
    assert any("worker 1 cannot be loaded, and 1 are left" in line for line in said)


def test_nothing_is_said_to_be_asked_again_that_is_not() -> None:
    source, said = Source(["is lost"] * 3), list[str]()

    async def ask() -> Response:
        return await asyncio.wait_for(EnginePool(CARD, source, said.append).ask(REQUEST), 60)

    assert asyncio.run(ask()).status == "error"
    losses = [line for line in said if "is lost" in line]
    assert ["asked again" in line for line in losses] == [True, True, False]


def test_a_place_that_was_lost_too_often_is_said_to_be_left() -> None:
    source, said = Source(["is lost"] * 5), list[str]()

    async def ask() -> list[Response]:
        pool = EnginePool(CARD, source, said.append)
        first = await asyncio.wait_for(pool.ask(REQUEST), 60)
        return [first, await asyncio.wait_for(pool.ask(REQUEST), 60)]

    assert [each.status for each in asyncio.run(ask())] == ["error", "error"]
    (line,) = [line for line in said if "5th time in a row, and not started again" in line]
    assert "asked again" not in line  # of whom? there is no other


def test_an_engine_that_hangs_is_ended_and_what_it_had_is_asked_again() -> None:
    source, said = Source(["hangs", "answers"]), list[str]()
    card = Card(name="m", backend="hf", model="x", timeout=0.2)

    async def ask() -> Response:
        return await asyncio.wait_for(EnginePool(card, source, said.append).ask(REQUEST), 60)

    assert asyncio.run(ask()).text == "A"
    assert source.started == [0, 0]
    (line,) = [line for line in said if "is lost" in line]
    assert "gave no sign of work" in line
    assert "`timeout`" in line
    # It was looked at often: no single pause of ours, however long, makes others silent.
    assert source.engines[0].looks >= 10


def test_another_engine_is_started_once_the_lost_one_is_gone() -> None:
    """It holds its GPU's memory until then; others are asked meanwhile."""
    source = Source(["hangs on", "answers"], ["answers"])
    card = Card(name="m", backend="hf", model="x", timeout=0.05)

    async def ask() -> None:
        pool = EnginePool(card, source, lambda _: None)
        first = pool.ask(REQUEST)
        assert (await asyncio.wait_for(first, 60)).text == "A"
        assert await asyncio.to_thread(source.engines[0].is_ending.wait, 60)
        assert source.started == [0, 1]
        source.engines[0].may_end.set()
        while pool._slots is None or pool._slots[0].is_ending:
            await asyncio.sleep(0.001)

    asyncio.run(ask())


def test_an_engine_that_cannot_be_ended_is_given_up() -> None:
    source, said = Source(["never ends"]), list[str]()
    card = Card(name="m", backend="hf", model="x", timeout=0.05)

    async def ask() -> Response:
        return await asyncio.wait_for(EnginePool(card, source, said.append).ask(REQUEST), 60)

    response = asyncio.run(ask())
    assert (response.status, response.unasked) == ("error", True)
    assert "cannot be ended" in (response.error or "")
    assert source.started == [0]
    assert any("is given up" in line for line in said)


def test_a_request_with_which_every_engine_hangs_is_an_error() -> None:
    source = Source(["hangs"] * 4)
    card = Card(name="m", backend="hf", model="x", timeout=0.05)

    async def ask() -> Response:
        return await asyncio.wait_for(EnginePool(card, source, lambda _: None).ask(REQUEST), 60)

    response = asyncio.run(ask())
    assert response.status == "error"
    assert not response.unasked
    assert "no sign of work" in (response.error or "")


def test_a_slow_engine_that_works_is_waited_for() -> None:
    """Its time is up many times over, and it gives signs of work."""
    source = Source(["keeps it", "answers"])
    card = Card(name="m", backend="hf", model="x", timeout=0.01)

    async def ask() -> None:
        pool = EnginePool(card, source, lambda _: None)
        future = pool.ask(REQUEST)
        while not source.engines or source.engines[0].looks < 50:
            await asyncio.sleep(0.001)
        assert not future.done()
        pool.close()
        await asyncio.wait_for(future, 60)

    asyncio.run(ask())
    assert source.started == [0]
