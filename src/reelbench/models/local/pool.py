"""The engines of a local model: work is handed out by video, and what an engine loses is kept.

A group of requests about the same media goes to the engine that has the least to do. What waits
stays here, where later requests about the same media join it, and where no engine is idle while it
waits for another one. The requests of an engine that was lost are asked once more as they were,
on another engine where there is one, and then each alone: what ends an engine even so is an error.
An engine that gives no sign of work for a time is ended, and counts as lost.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from reelbench.models.base import Request, Response
from reelbench.models.card import Card
from reelbench.models.local.engines import EngineLostError, EngineSource, InferenceEngine
from reelbench.models.local.inputs import media_of
from reelbench.models.local.workers import loading_failure

_TOGETHER = 2  # times that requests are asked together with others; then alone, once
_MOST_DEATHS = 5  # of an engine, in a row
_LINE_SECONDS = 30.0  # between two lines while weights are loaded
_LOOKS = 10  # at an engine, in the time that it may be silent
_STOPPED = Response("error", error="not asked: it was stopped before its turn came", unasked=True)

Asked = tuple[Request, "asyncio.Future[Response]"]


@dataclass(eq=False)
class _Group:
    """Requests about the same media, and what happened to them."""

    asked: list[Asked]
    lost_by: list["_Slot"] = field(default_factory=list)
    engine: InferenceEngine | None = None  # that has it

    @property
    def is_suspect(self) -> bool:
        """Whether it is asked alone: engines that had it among others have ended."""
        return len(self.lost_by) >= _TOGETHER

    def settle(self, responses: Iterable[Response]) -> None:
        for (_, future), response in zip(self.asked, responses, strict=True):
            if not future.done():
                future.set_result(response)

    def settle_all(self, response: Response) -> None:
        self.settle([response] * len(self.asked))


@dataclass(eq=False)
class _Slot:
    """The place of an engine: there is none before it is needed, and another after a loss."""

    number: int
    engine: InferenceEngine | None = None
    loading: InferenceEngine | None = None
    fault: str = ""  # why there will be no other engine
    deaths: int = 0  # of engines, since one has answered
    groups: list[_Group] = field(default_factory=list)  # in flight
    is_ending: bool = False  # what was lost is not gone yet, nor is the memory that it holds
    signs: int = 0  # of its engine, when it was looked at last
    quiet: int = 0  # looks in a row at an engine with work, without a new sign

    @property
    def load(self) -> int:
        return sum(len(group.asked) for group in self.groups)

    @property
    def has_room(self) -> bool:
        return self.engine is not None and (not self.groups or self.load < self.engine.capacity)

    def has_room_for(self, group: _Group) -> bool:
        if self.engine is None or not self.groups:
            return self.engine is not None
        is_alone = group.is_suspect or self.groups[0].is_suspect
        return not is_alone and self.load + len(group.asked) <= self.engine.capacity


class EnginePool:
    """The engines of one model in one event loop."""

    def __init__(self, card: Card, source: EngineSource, say: Callable[[str], None]) -> None:
        self.peak_memory: int | None = None
        self._card, self._source, self._say = card, source, say
        self._loop = asyncio.get_running_loop()
        self._slots: list[_Slot] | None = None  # until they are counted
        self._waiting: list[_Group] = []
        self._joinable: dict[Any, _Group] = {}  # of those that wait, by their media
        self._is_due = self._is_stopped = self._is_closed = False
        self._fault = ""  # why nothing is asked any more
        self._in_thread(lambda: (source.count(card), source.place(card)), self._counted)

    def ask(self, request: Request) -> "asyncio.Future[Response]":
        """Return the response to come."""
        future: asyncio.Future[Response] = self._loop.create_future()
        media = media_of(request)
        if media and media in self._joinable:
            self._joinable[media].asked.append((request, future))
            return future
        group = _Group([(request, future)])
        if media:  # what has none shares nothing: such requests are batched in any order
            self._joinable[media] = group
        self._waiting.append(group)
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._hand_out)  # whoever is about to ask joins
        return future

    def stop(self) -> None:
        """Answer what is being generated; what waits is not asked."""
        self._is_stopped = True
        for slot in self._slots or ():
            if slot.engine is not None:
                slot.engine.stop()
        self._hand_out()

    def close(self) -> None:
        """End the engines, whatever is under way."""
        self._is_closed = True
        found = [each for slot in self._slots or () for each in (slot.engine, slot.loading) if each]
        threads = [self._in_thread(engine.abandon, lambda _: None) for engine in found]
        for thread in threads:
            thread.join()

    # Handing out.

    def _hand_out(self) -> None:
        self._is_due = False
        if self._is_stopped or self._is_closed or self._fault:
            self._refuse_all()
        if self._slots is None or self._is_closed:
            return
        # Suspects come last: each may cost an engine, which others need.
        for group in sorted(self._waiting, key=lambda group: group.is_suspect):
            if not any(slot.has_room for slot in self._slots):
                break
            allowed = [slot for slot in self._slots if slot.has_room_for(group)]
            if allowed := [slot for slot in allowed if self._may_have(slot, group)]:
                self._give(min(allowed, key=lambda slot: slot.load), group)
        idle = [s for s in self._slots if s.engine is None and not s.is_ending and not s.fault]
        missing = len(self._waiting) - sum(slot.loading is not None for slot in idle)
        # What is still being loaded may never be: a place that has worked is taken up at once.
        lost = [slot for slot in idle if slot.loading is None and slot.deaths]
        others = [slot for slot in idle if slot.loading is None and not slot.deaths]
        starting = [*lost, *others[: max(0, missing - len(lost))]]
        for slot in starting if self._waiting else ():
            self._start(slot)

    def _may_have(self, slot: _Slot, group: _Group) -> bool:
        """Whether an engine may be asked: not one whose place has lost it, if there are others."""
        alive = [each for each in self._slots or () if each.engine is not None]
        return slot not in group.lost_by or all(each in group.lost_by for each in alive)

    def _give(self, slot: _Slot, group: _Group) -> None:
        assert slot.engine is not None, "it has room"
        self._waiting.remove(group)
        self._joinable.pop(media_of(group.asked[0][0]), None)
        if not slot.groups:
            slot.quiet = 0
        slot.groups.append(group)
        engine = group.engine = slot.engine
        future = engine.submit([request for request, _ in group.asked])
        future.add_done_callback(
            lambda done: self._in_loop(lambda: self._finished(slot, engine, group, done))
        )

    def _refuse_all(self) -> None:
        refusal = Response("error", error=self._fault, unasked=True) if self._fault else _STOPPED
        groups, self._waiting, self._joinable = self._waiting, [], {}
        for group in groups:
            group.settle_all(refusal)

    # Responses and losses.

    def _finished(
        self, slot: _Slot, engine: InferenceEngine, group: _Group, done: "Future[list[Response]]"
    ) -> None:
        if group.engine is not engine:
            return  # it hung, and was not waited for
        group.engine = None
        slot.groups.remove(group)
        error = done.exception()
        if error is None:
            slot.deaths = 0
            self.peak_memory = max(self.peak_memory or 0, engine.peak_memory or 0) or None
            group.settle(done.result())
        else:
            again = self._ask_again(slot, group, str(error))
            if slot.engine is engine:
                self._lose(slot, engine, str(error), again)
        self._hand_out()

    def _watch(self, slot: _Slot, engine: InferenceEngine) -> None:
        """End an engine that has work, and has given no sign of it for too long.

        Looks are counted, not seconds: of a time in which this process stood still itself, it
        cannot be told.
        """
        if self._is_closed or slot.engine is not engine:
            return
        signs = engine.signs
        slot.quiet = 0 if signs != slot.signs else slot.quiet + 1
        slot.signs = signs
        if slot.groups and slot.quiet > _LOOKS:
            how = f"gave no sign of work for {self._card.timeout:g} s (`timeout` in its card)"
            groups, slot.groups = slot.groups, []
            for group in groups:
                group.engine = None
            again = [self._ask_again(slot, group, how) for group in groups]
            self._lose(slot, engine, how, any(again))
            self._hand_out()
        else:
            self._loop.call_later(self._card.timeout / _LOOKS, self._watch, slot, engine)

    def _lose(self, slot: _Slot, engine: InferenceEngine, how: str, again: bool) -> None:
        slot.engine, slot.is_ending = None, True
        self._in_thread(engine.abandon, lambda done: self._ended(slot, done))
        if self._is_closed:
            return
        slot.deaths += 1
        more = ""
        if slot.deaths >= _MOST_DEATHS:
            slot.fault = (
                f"its worker has ended {slot.deaths} times in a row, the last time it {how}"
            )
            more = f" for the {slot.deaths}th time in a row, and not started again"
        if again and not self._is_stopped and not all(each.fault for each in self._slots or ()):
            more += ", and what it was asked is asked again"
        self._say(f"{self._card.name}: worker {slot.number + 1} is lost{more}: it {how}")
        self._end_if_none_is_left()

    def _ended(self, slot: _Slot, done: "Future[None]") -> None:
        """Give the place of an engine that was lost to another one."""
        slot.is_ending = False
        if error := done.exception():
            slot.fault = slot.fault or f"its worker {error}"
            self._say(f"{self._card.name}: worker {slot.number + 1} is given up: it {error}")
            self._end_if_none_is_left()
        self._hand_out()

    def _ask_again(self, slot: _Slot, group: _Group, how: str) -> bool:
        """Let a group that was lost wait again; return whether it is worth another engine."""
        group.lost_by.append(slot)
        if len(group.lost_by) > _TOGETHER:
            error = f"it ends its worker whenever it is asked: the worker {how}"
            group.settle_all(Response("error", error=" ".join(error.split())[:500]))
            return False
        if group.is_suspect:
            self._waiting += [_Group([each], [*group.lost_by]) for each in group.asked]
        else:
            self._waiting.insert(0, group)
        return True

    def _end_if_none_is_left(self) -> None:
        if self._slots and all(slot.fault for slot in self._slots):
            self._fault = f"not asked: {self._slots[0].fault}"
            self._hand_out()

    # Loading.

    def _counted(self, done: "Future[tuple[int, str]]") -> None:
        if error := done.exception():
            self._fault = loading_failure(error)
        else:
            count, where = done.result()
            self._slots = [_Slot(number) for number in range(count)]
            self._say(f"{self._card.name}: loading {self._card.model} {where}")
        self._hand_out()

    def _start(self, slot: _Slot) -> None:
        try:
            engine = slot.loading = self._source.start(self._card, slot.number, self._say)
        except Exception as error:  # no memory or no file for one more process, or no cluster
            self._give_up(slot, error)
            self._loop.call_soon(self._hand_out)  # to another place
            return
        began = time.monotonic()
        self._loop.call_later(_LINE_SECONDS, self._say_loading, slot, engine, began)
        self._in_thread(engine.load, lambda done: self._loaded(slot, engine, done))

    def _say_loading(self, slot: _Slot, engine: InferenceEngine, began: float) -> None:
        if slot.loading is engine and not self._is_closed:
            seconds = time.monotonic() - began
            self._say(
                f"{self._card.name}: worker {slot.number + 1} is loading, {seconds:.0f} s so far"
            )
            self._loop.call_later(_LINE_SECONDS, self._say_loading, slot, engine, began)

    def _loaded(self, slot: _Slot, engine: InferenceEngine, done: "Future[None]") -> None:
        slot.loading = None
        if self._is_closed:
            engine.abandon()
            return
        error = done.exception()
        if error is None:
            slot.engine, slot.quiet = engine, 0
            self._watch(slot, engine)
        elif isinstance(error, EngineLostError) and slot.deaths + 1 < _MOST_DEATHS:
            slot.deaths += 1
            self._say(f"{self._card.name}: its worker {slot.number + 1}, while loading, {error}")
        else:
            self._give_up(slot, error)
        self._hand_out()

    def _give_up(self, slot: _Slot, error: BaseException) -> None:
        """Leave a place without an engine; what is left of them is said."""
        slot.fault = loading_failure(error)
        others = [each for each in self._slots or () if not each.fault]
        if others:
            self._say(
                f"{self._card.name}: its worker {slot.number + 1} cannot be loaded, "
                f"and {len(others)} are left: {slot.fault}"
            )
        self._end_if_none_is_left()

    def _in_thread(
        self, work: Callable[[], Any], after: "Callable[[Future[Any]], None]"
    ) -> threading.Thread:
        """Run work in a thread that nobody waits for in the end, then ``after`` in the loop."""
        done: Future[Any] = Future()

        def run() -> None:
            try:
                done.set_result(work())
            except BaseException as error:  # of whatever library
                done.set_exception(error)
            self._in_loop(lambda: after(done))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def _in_loop(self, work: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # it is closed, and nobody waits for an answer
            self._loop.call_soon_threadsafe(work)
