"""Ask everything there is to ask: by clip, many at a time, each thing once.

The frames of a clip are decoded when its turn comes and serve all its questions, orders and
models. Several clips are under way together, as many as their frames fit into a bound. Equal
requests at the same time are one call. A response is in the journal before it counts.
"""

import asyncio
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from reelbench.benchmark import Benchmark
from reelbench.evaluate.ask import Ask, frames_for, wish_for
from reelbench.evaluate.status import RunState, StatusFile
from reelbench.item_rules import LATEST_SECOND
from reelbench.items import Span
from reelbench.journal import Journal
from reelbench.media import safely
from reelbench.media.errors import MediaError
from reelbench.models.base import Part, Picture, Response
from reelbench.progress import Advance, note

_CLIPS = 64  # under way at the same time, if their frames fit
_AHEAD = 4  # clips that may be decoded before there is room for them
_MOST_BYTES = 64 * 2**20  # of frames at hand


class Schedule:
    """One pass over all there is to ask."""

    def __init__(
        self,
        benchmark: Benchmark,
        journal: Journal,
        state: RunState,
        status: StatusFile,
        advance: Advance,
    ) -> None:
        self._benchmark, self._journal = benchmark, journal
        self._state, self._status, self._advance = state, status, advance
        self._asked_now: set[str] = set()
        self._flights: dict[str, asyncio.Lock] = {}
        self._places: dict[str, asyncio.Semaphore] = {}
        self._room = _Room(_MOST_BYTES)
        self._ahead = asyncio.Semaphore(_AHEAD)
        self._stopping = asyncio.Event()

    async def ask_all(self, asks: Sequence[Ask]) -> None:
        """Ask; raise ``KeyboardInterrupt`` after an orderly end that Ctrl-C asked for."""
        clips = [list(group) for _, group in groupby(sorted(asks, key=_shown), key=_shown)]
        for ask in asks:
            self._places.setdefault(ask.model.name, asyncio.Semaphore(ask.model.connections))
        places = asyncio.Semaphore(_CLIPS)
        with _draining(self._stopping):
            try:
                async with asyncio.TaskGroup() as tasks:
                    for together in clips:
                        await places.acquire()
                        if self._stopping.is_set():
                            break
                        task = tasks.create_task(self._clip(together))
                        task.add_done_callback(lambda _: places.release())
            except BaseExceptionGroup as group:
                raise _first(group) from None
        if self._stopping.is_set():
            raise KeyboardInterrupt

    async def _clip(self, together: list[Ask]) -> None:
        pending = [ask for ask in together if not self._journal.answer(ask.key)]
        async with self._ahead:
            decoded = await asyncio.to_thread(_frames_for, self._benchmark, pending)
            frames, warnings, broken = decoded
            size = sum(len(part.data) for part in frames if isinstance(part, Picture))
            await self._room.enter(size)
        known = self._state.warnings
        known += [warning for warning in warnings if warning not in known]
        try:
            async with asyncio.TaskGroup() as tasks:
                for ask in together:
                    tasks.create_task(self._one(ask, frames, broken))
        finally:
            await self._room.leave(size)

    async def _one(self, ask: Ask, frames: list[Part], broken: Response | None) -> None:
        await asyncio.sleep(0)  # where Ctrl-C takes effect: models may never wait
        async with self._flights.setdefault(ask.key, asyncio.Lock()):
            response = self._journal.answer(ask.key)
            if response is not None:
                if ask.key in self._asked_now:
                    self._state.repeated += 1
                else:
                    self._state.known += 1
            else:
                async with self._places[ask.model.name]:
                    if self._stopping.is_set():
                        return
                    response = await self._asked(ask, frames, broken)
        if response.status == "ok":
            self._state.done += 1
        else:
            self._state.failures.append(_failure(ask, response))
        self._status.refresh()
        self._advance()

    async def _asked(self, ask: Ask, frames: list[Part], broken: Response | None) -> Response:
        if broken and ask.model.sees:
            response = broken
        else:
            response = await ask.model.ask(ask.request(frames))
        self._journal.record(ask.key, ask.model.name, response)
        self._asked_now.add(ask.key)
        self._state.asked += 1
        return response


class _Room:
    """A bound on bytes that are held at the same time; whatever is larger is let in alone."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0
        self._freed = asyncio.Condition()

    async def enter(self, size: int) -> None:
        async with self._freed:
            await self._freed.wait_for(lambda: not self._held or self._held + size <= self._most)
            self._held += size

    async def leave(self, size: int) -> None:
        async with self._freed:
            self._held -= size
            self._freed.notify_all()


@contextmanager
def _draining(stopping: asyncio.Event) -> Iterator[None]:
    """Let a first Ctrl-C end what is under way, and a second one end at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def interrupted() -> None:
        if stopping.is_set():
            task.cancel()
            safely.close()  # or the end would wait for what is being decoded
        else:
            note("Finishing what is under way; Ctrl-C again ends at once.")
        stopping.set()

    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, interrupted)
    try:
        yield
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first, out of the group that tasks put it in."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _shown(ask: Ask) -> list[tuple[str, float, float, tuple[Span, ...]]]:
    """What decides the frames of a question: those that share it are asked together."""
    wishes = [(media.path, wish_for(media, ask.item, ask.condition)) for media in ask.item.media]
    return [(path, w.start or 0, LATEST_SECOND if w.end is None else w.end, w.evidence)
            for path, w in wishes]  # fmt: skip


def _frames_for(
    benchmark: Benchmark, pending: Sequence[Ask]
) -> tuple[list[Part], list[str], Response | None]:
    """Decode what the pending questions need; a broken file costs its own questions only."""
    seeing = next((ask for ask in pending if ask.model.sees), None)
    if seeing is None:
        return [], [], None
    try:
        return *frames_for(benchmark, seeing.item, seeing.condition), None
    except MediaError as error:
        return [], [], Response("error", error=str(error))


def _failure(ask: Ask, response: Response) -> dict[str, Any]:
    return {
        "id": ask.item.id,
        "model": ask.model.name,
        "order": ask.number,
        "status": response.status,
        "error": response.error,
    }
