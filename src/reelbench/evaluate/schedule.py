"""Ask everything there is to ask: by clip, many at a time, each thing once.

What is shown of a clip is decoded when its turn comes and serves all its questions, orders and
models. Several clips are under way together, as many as fit into a bound.
"""

import asyncio
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from reelbench.asking.asker import Asker, Stopped
from reelbench.benchmark import Benchmark
from reelbench.evaluate.ask import Ask
from reelbench.evaluate.show import Show, parts_of
from reelbench.evaluate.status import RunState, StatusFile
from reelbench.media import safely
from reelbench.media.errors import MediaError
from reelbench.models.base import Part, Response, Text
from reelbench.progress import Advance, note

_CLIPS = 64  # under way at the same time, if their frames fit
_AHEAD = 4  # clips that may be decoded before there is room for them
_MOST_BYTES = 64 * 2**20  # of frames and sound at hand


class Schedule:
    """One pass over all there is to ask."""

    def __init__(
        self,
        benchmark: Benchmark,
        asker: Asker,
        state: RunState,
        status: StatusFile,
        advance: Advance,
    ) -> None:
        self._benchmark, self._asker = benchmark, asker
        self._state, self._status, self._advance = state, status, advance
        self._room = _Room(_MOST_BYTES)
        self._ahead = asyncio.Semaphore(_AHEAD)

    async def ask_all(self, asks: Sequence[Ask]) -> None:
        """Ask; raise ``KeyboardInterrupt`` after an orderly end that Ctrl-C asked for."""
        stopping = self._asker.stopping
        clips = [list(group) for _, group in groupby(sorted(asks, key=_shown), key=_shown)]
        places = asyncio.Semaphore(_CLIPS)
        with draining(stopping):
            try:
                async with asyncio.TaskGroup() as tasks:
                    for together in clips:
                        await places.acquire()
                        if stopping.is_set():
                            break
                        task = tasks.create_task(self._clip(together))
                        task.add_done_callback(lambda _: places.release())
            except BaseExceptionGroup as group:
                raise first_of(group) from None
        if stopping.is_set():
            raise KeyboardInterrupt

    async def _clip(self, together: list[Ask]) -> None:
        journal = self._asker.journal
        pending = any(not journal.answer(ask.key) for ask in together)
        async with self._ahead:
            show = together[0].show if pending else Show((), ())
            shown, warnings, broken = await asyncio.to_thread(_parts_of, self._benchmark, show)
            size = sum(len(part.data) for part in shown if not isinstance(part, Text))
            await self._room.enter(size)
        known = self._state.warnings
        known += [warning for warning in warnings if warning not in known]
        try:
            async with asyncio.TaskGroup() as tasks:
                for ask in together:
                    tasks.create_task(self._one(ask, shown, broken))
        finally:
            await self._room.leave(size)

    async def _one(self, ask: Ask, shown: list[Part], broken: Response | None) -> None:
        await asyncio.sleep(0)  # where Ctrl-C takes effect: models may never wait
        try:
            response = await self._asker.ask_for(
                ask.model, ask.key, lambda: broken or ask.request(shown)
            )
        except Stopped:
            return
        if response.status == "ok":
            self._state.done += 1
        else:
            self._state.failures.append(failure_of(ask, response))
        if response is broken or response.status == "over_budget":
            self._state.unasked[ask.key] = response
        self._status.refresh()
        self._advance()


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
def draining(stopping: asyncio.Event) -> Iterator[None]:
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


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first, out of the group that tasks put it in."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _shown(ask: Ask) -> tuple[Any, ...]:
    """What decides what is shown with a question: those that share it are asked together."""
    return ask.show.order


def _parts_of(benchmark: Benchmark, show: Show) -> tuple[list[Part], list[str], Response | None]:
    """Decode what is to be shown; a broken file costs its own questions only."""
    try:
        return *parts_of(benchmark, show), None
    except MediaError as error:
        return [], [], Response("error", error=str(error))


def failure_of(ask: Ask, response: Response) -> dict[str, Any]:
    """Return what ``status.json`` says about a question without an answer."""
    return {
        "id": ask.item.id,
        "model": ask.model.card.name,
        "condition": ask.condition.name,
        "order": ask.number,
        "round": ask.round,
        "status": response.status,
        "error": response.error,
    }
