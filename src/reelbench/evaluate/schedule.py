"""Ask all questions of a run: by clip, many at a time, equal requests once.

The media of a clip are decoded when its turn comes and serve all its questions, orders and models.
Several clips are processed at the same time, as many as fit into memory.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reelbench.base.progress import Advance
from reelbench.base.workers import cores
from reelbench.client.client import Client, Stopped
from reelbench.client.media_input import NO_MEDIA, MediaInput, RenderedMedia
from reelbench.client.stopping import first_of
from reelbench.evaluate.ask import Ask
from reelbench.evaluate.plan import ClipQuestions, RunPlan
from reelbench.evaluate.status import RunState, StatusFile
from reelbench.media.errors import MediaError
from reelbench.models.base import ChatModel, Response, TextPart
from reelbench.models.servers import servers_of

if TYPE_CHECKING:
    from reelbench.models.server import ModelServer

_CLIPS = 256  # under way at the same time, if their frames fit: GPUs are asked in large batches
_AHEAD = max(4, cores())  # clips that may be decoded before there is room for them
_MOST_BYTES = 128 * 2**20  # of frames and sound at hand
_QUESTIONS = 4096  # at hand: each costs a few kilobytes until it is answered


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
        self._places = asyncio.Semaphore(_QUESTIONS)
        self._taking = asyncio.Lock()  # of places: one clip after the other
        self._defect: Exception | None = None

    async def ask_all(self, plan: RunPlan) -> None:
        """Ask all; raise ``KeyboardInterrupt`` after Ctrl-C, once the requests in flight ended."""
        stopping = self._client.stopping
        places = asyncio.Semaphore(_CLIPS)
        try:
            async with asyncio.TaskGroup() as tasks:
                for clip in plan.by_clip():
                    await places.acquire()
                    if stopping.is_set():
                        break
                    task = tasks.create_task(self._clip(clip))
                    task.add_done_callback(lambda _: places.release())
        except BaseExceptionGroup as group:
            raise first_of(group) from None
        if self._defect is not None:
            raise self._defect
        if stopping.is_set():
            raise KeyboardInterrupt

    async def _clip(self, clip: ClipQuestions) -> None:
        # Nothing is decoded where all answers are known, nor for models that are asked no more.
        needed = any(self._is_pending(ask) for ask in clip)
        async with self._ahead:
            try:
                shown, broken = (
                    await asyncio.to_thread(_rendered, clip.media) if needed else (NO_MEDIA, None)
                )
            except Exception as error:
                self._end_with(error)
                return
            size = sum(len(part.data) for part in shown.parts if not isinstance(part, TextPart))
            await self._room.enter(size)
        self._state.warnings.update(shown.warnings)
        try:
            async with asyncio.TaskGroup() as tasks, self._taking:
                for ask in clip:
                    await self._places.acquire()
                    if self._client.stopping.is_set():
                        self._places.release()
                        break
                    gone = None if needed else self._client.refused.get(ask.model.card.name)
                    known = self._client.journal.answer(ask.key) is not None
                    task = tasks.create_task(self._one(ask, shown, broken or gone, known))
                    task.add_done_callback(lambda _: self._places.release())
        finally:
            await self._room.leave(size)

    def _is_pending(self, ask: Ask) -> bool:
        """Whether a question is to be asked: it has no answer yet, and its model can be asked."""
        if ask.model.card.name in self._client.refused:
            return False
        return self._client.journal.answer(ask.key) is None

    async def _one(
        self, ask: Ask, shown: RenderedMedia, broken: Response | None, known: bool
    ) -> None:
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
        self._advance(known=known)

    def _end_with(self, error: Exception) -> None:
        """Send no more requests; those in flight are paid for, and may end."""
        self._defect = self._defect or error
        self._client.stop()


def one_server_at_a_time(
    models: Sequence[ChatModel], judges: Sequence[ChatModel]
) -> list[list[ChatModel]]:
    """Group models by the servers that they start: a GPU rarely has room for two.

    Models without such a server are asked with the first group. Servers that judges use come last,
    so that they need not be started twice.
    """
    used = [frozenset(servers_of([model])) for model in models]
    last = frozenset(servers_of(judges))
    groups = sorted(
        {servers: 0 for servers in used if servers}, key=lambda servers: bool(servers & last)
    )
    first = groups[0] if groups else frozenset()
    found: dict[frozenset[ModelServer], list[ChatModel]] = {each: [] for each in groups or [first]}
    for model, servers in zip(models, used, strict=True):
        found[servers or first].append(model)
    return list(found.values())


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
