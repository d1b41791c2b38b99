"""Ask all questions of a run: by clip, many at a time, equal requests once.

The media of a clip are decoded when its turn comes and serve all its questions, orders and models.
Several clips are processed at the same time, as many as fit into memory.
"""

import asyncio
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from reelbench.base.progress import Advance
from reelbench.client.client import Client, Stopped
from reelbench.client.media_input import NO_MEDIA, MediaInput, RenderedMedia
from reelbench.client.stopping import first_of
from reelbench.evaluate.ask import Ask
from reelbench.evaluate.status import RunState, StatusFile
from reelbench.media.errors import MediaError
from reelbench.models.base import Response, TextPart

_CLIPS = 64  # under way at the same time, if their frames fit
_AHEAD = 4  # clips that may be decoded before there is room for them
_MOST_BYTES = 64 * 2**20  # of frames and sound at hand


class Schedule:
    """One pass over all questions of a run."""

    def __init__(
        self,
        client: Client,
        state: RunState,
        status: StatusFile,
        advance: Advance,
    ) -> None:
        self._client, self._state = client, state
        self._status, self._advance = status, advance
        self._room = _Room(_MOST_BYTES)
        self._ahead = asyncio.Semaphore(_AHEAD)
        self._defect: Exception | None = None

    async def ask_all(self, asks: Sequence[Ask]) -> None:
        """Ask all; raise ``KeyboardInterrupt`` after Ctrl-C, once the requests in flight ended."""
        stopping = self._client.stopping
        clips = [list(group) for _, group in groupby(sorted(asks, key=_shown), key=_shown)]
        places = asyncio.Semaphore(_CLIPS)
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
        if self._defect is not None:
            raise self._defect
        if stopping.is_set():
            raise KeyboardInterrupt

    async def _clip(self, together: list[Ask]) -> None:
        journal, refused = self._client.journal, self._client.refused
        pending = [ask for ask in together if not journal.answer(ask.key)]
        # Nothing is decoded where all answers are known, nor for models that are asked no more.
        needed = any(ask.model.card.name not in refused for ask in pending)
        async with self._ahead:
            try:
                shown, broken = (
                    await asyncio.to_thread(_rendered, together[0].media)
                    if needed
                    else (NO_MEDIA, None)
                )
            except Exception as error:
                self._end_with(error)
                return
            size = sum(len(part.data) for part in shown.parts if not isinstance(part, TextPart))
            await self._room.enter(size)
        self._state.warnings.update(shown.warnings)
        try:
            async with asyncio.TaskGroup() as tasks:
                for ask in together:
                    gone = None if needed else refused.get(ask.model.card.name)
                    tasks.create_task(self._one(ask, shown, broken or gone))
        finally:
            await self._room.leave(size)

    async def _one(self, ask: Ask, shown: RenderedMedia, broken: Response | None) -> None:
        await asyncio.sleep(0)  # where Ctrl-C takes effect: models may never wait
        try:
            response = await self._client.ask_for(
                ask.model, ask.key, lambda: broken or ask.request(shown)
            )
        except Stopped:
            return
        except Exception as error:
            self._end_with(error)
            return
        if response.replied:
            self._state.done += 1
            if response.status == "truncated":
                self._state.truncated[ask.model.card.name] += 1
        else:
            self._state.failures.append(failure_of(ask, response))
        if response.unasked:
            self._state.unasked[ask.key] = response
        self._status.refresh()
        self._advance()

    def _end_with(self, error: Exception) -> None:
        """Send no more requests; those in flight are paid for, and may end."""
        self._defect = self._defect or error
        self._client.stop()


class _Room:
    """A limit on the bytes in memory at the same time; what is larger is let in alone."""

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


def _shown(ask: Ask) -> tuple[Any, ...]:
    """Return a sort key of a question's media: questions that share them are asked together."""
    return ask.media.order


def _rendered(media: MediaInput) -> tuple[RenderedMedia, Response | None]:
    """Return the decoded media; for a broken file, the response to its questions."""
    try:
        return media.render(), None
    except MediaError as error:
        return NO_MEDIA, Response("error", error=str(error), unasked=True)


def failure_of(ask: Ask, response: Response) -> dict[str, Any]:
    """Return the entry of ``status.json`` for a question without an answer."""
    return {
        "id": ask.item.id,
        "model": ask.model.card.name,
        "condition": ask.condition.name,
        "order": ask.number,
        "round": ask.round,
        "status": response.status,
        "error": response.error,
    }
