"""The pipeline of a local model: what is next is prepared in threads while a batch is generated.

``submit`` takes requests about the same media. Preparing decodes the pictures, resizes and
normalises them and makes tokens of the text; only so much is prepared ahead as two batches take.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import torch

from reelbench.base.progress import counted
from reelbench.base.workers import cores
from reelbench.models.base import Request, Response
from reelbench.models.card import Card
from reelbench.models.local.batches import BatchLimit
from reelbench.models.local.chat import has_template
from reelbench.models.local.generate import Generator
from reelbench.models.local.prefix import TokenGroup, is_proven
from reelbench.models.local.prepare import Preparer, Work
from reelbench.models.local.preparing import PreparingProcesses
from reelbench.models.local.sampling import generation_settings
from reelbench.models.local.weights import PLACE, load_weights

if TYPE_CHECKING:
    from concurrent.futures import Future

_THREADS = 4  # that prepare, at most
_ENOUGH = 32  # requests that are not waited for more for
_MOST_AT_ONCE = 256  # requests, of which others can still take some
_NOT_ASKED = Response("error", error="not asked: it was stopped before its turn came", unasked=True)


class BrokenDeviceError(Exception):
    """An error after which no process can use its device: only a new process can."""


class InferencePipeline:
    """A loaded model that answers groups of requests, as they come."""

    def __init__(
        self, card: Card, say: Callable[[str], None], in_processes: bool | None = None
    ) -> None:
        """Load the model of a card; what is next is prepared in processes where it is on a GPU."""
        settings = generation_settings(card.parameters)
        self._name, self._say = card.name, say
        in_processes = _is_on_gpu(card) if in_processes is None else in_processes
        self._processes = PreparingProcesses(card) if in_processes else None
        self._loaded = load_weights(card)
        for note in self._loaded.notes:
            say(note)
        chosen = {n: v for n, v in settings.items() if n not in PLACE and v is not None}
        self._generator = Generator(self._loaded, chosen, self._tell)
        device, reply_tokens = self._loaded.model.device, int(settings["max_new_tokens"])
        self._limit = BatchLimit(card.batch, device, reply_tokens)
        if device.type == "cuda":
            # With padding, it would plan anew for each new length, which takes longer than a step.
            torch.backends.cuda.enable_cudnn_sdp(False)
            with suppress(Exception):  # what cannot be asked so says why when it is asked
                self._generator.warm_up()
            self._limit.learn(self._generator.token_bytes)
        if not has_template(self._loaded.processor):
            self._tell("it has no chat template, so that it is given prompts as plain text.")
        shares = bool(settings.get("share_prefix", True))
        beams = chosen.get("num_beams") or self._loaded.model.generation_config.num_beams or 1
        groups = is_proven(self._loaded) and beams == 1
        if shares and not groups:
            self._tell(
                "the frames are read anew for each question, as replies of the architecture "
                f"{self._loaded.architecture} with {counted(beams, 'beam')} are not known to be "
                "the same otherwise."
            )
        self._hand_processor_over()
        self._preparer = Preparer(self._loaded, groups, shares, self._tell, self._processes)
        self._changed = threading.Condition()
        self._waiting: list[Work] = []
        self._prepared: list[Work] = []
        self._preparing = self._prepared_count = 0
        self._is_closed = self._is_stopped = False
        targets = [self._prepare_all] * min(_THREADS, cores()) + [self._generate_all]
        self._threads = [threading.Thread(target=target, daemon=True) for target in targets]
        for thread in self._threads:
            thread.start()

    @property
    def peak_memory(self) -> int | None:
        """The bytes that it has held on its device at most; None where that is not measured."""
        device = self._loaded.model.device
        return int(torch.cuda.max_memory_allocated(device)) if device.type == "cuda" else None

    @property
    def capacity(self) -> int:
        """How many requests keep it busy: a batch is generated while two are prepared."""
        return min(_MOST_AT_ONCE, 3 * self._limit.rows)

    @property
    def signs(self) -> int:
        """A number that grows as long as work is done, by each layer and each thing prepared."""
        begun = self._processes.calls if self._processes is not None else 0
        return self._generator.steps + self._prepared_count + begun

    def submit(self, requests: Sequence[Request]) -> "Future[list[Response]]":
        """Return the responses to come of requests about the same media."""
        work = Work.of(requests)
        ((_, future),) = work.futures
        with self._changed:
            if not self._is_stopped:
                self._waiting.append(work)
                self._changed.notify_all()
                return future
        work.settle([_NOT_ASKED] * len(requests))
        return future

    def stop(self) -> None:
        """Generate no more than the batch that is under way; what waits is not asked."""
        with self._changed:
            self._is_stopped = True
            works = [*self._waiting, *self._prepared]
            self._waiting.clear()
            self._prepared.clear()
            self._changed.notify_all()
        for work in works:
            work.settle([_NOT_ASKED] * len(work.accepted))

    def abandon(self) -> None:
        """End the threads after the batch that is under way, and do not wait for that."""
        self.stop()
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._end_processes()

    def close(self) -> None:
        """End the threads, once what was submitted is answered, and free the weights."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        self._end_processes()

    # Preparing, in several threads.

    def _prepare_all(self) -> None:
        while work := self._next_to_prepare():
            with suppress(Exception):  # of whatever library: it is tried again, alone, and told
                self._preparer.prepare(work)
            with self._changed:
                self._preparing -= len(work.requests)
                self._prepared_count += 1
                is_wanted = not self._is_stopped
                if is_wanted:
                    self._prepared.append(work)
                self._changed.notify_all()
            if not is_wanted:
                work.settle([_NOT_ASKED] * len(work.accepted))

    def _next_to_prepare(self) -> Work | None:
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_closed or (self._waiting and self._ahead < 2 * self._limit.rows)
            )
            if not self._waiting:
                return None
            work = self._waiting.pop(0)
            while self._preparer.merges and self._waiting and self._has_room(work):
                work.absorb(self._waiting.pop(0))
            self._preparing += len(work.requests)
            return work

    def _has_room(self, work: Work) -> bool:
        return len(work.requests) + len(self._waiting[0].requests) <= self._limit.plain_rows

    @property
    def _ahead(self) -> int:
        return self._preparing + sum(len(work.requests) for work in self._prepared)

    # Generating, in one thread.

    def _generate_all(self) -> None:
        while batch := self._next_batch():
            try:
                answered = self._answered(batch)
            except BrokenDeviceError as error:
                for _, future in (each for work in batch for each in work.futures):
                    future.set_exception(error)
                continue
            for work, responses in zip(batch, answered, strict=True):
                work.settle(responses)

    def _next_batch(self) -> list[Work]:
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._is_enough
                    or (self._is_closed and not self._waiting and not self._preparing)
                )
            )
            if not self._prepared:
                return []
            batch = [self._prepared.pop(0)]
            if batch[0].groups and (self._generator.joins or not batch[0].shared_tokens):
                length = batch[0].shared_tokens
                nearest = sorted(self._prepared, key=lambda w: abs(w.shared_tokens - length))
                for work in nearest:
                    groups = [group for each in (*batch, work) for group in each.groups]
                    alike = work.groups and bool(work.shared_tokens) == bool(length)
                    if alike and self._limit.fits(groups):
                        batch.append(work)
                        self._prepared.remove(work)
            self._changed.notify_all()
            return batch

    @property
    def _is_enough(self) -> bool:
        """Whether a batch is worth it: a few requests take as long as some more."""
        rows = sum(len(work.requests) for work in self._prepared)
        return bool(rows) and (not self._preparing or rows >= min(_ENOUGH, self._limit.rows))

    def _answered(self, batch: Sequence[Work]) -> list[list[Response]]:
        """Return the responses of a batch; where it fails, of each request alone."""
        try:
            if not batch[0].groups:
                return [self._plain(work) for work in batch]
            replies = iter(self._together([group for work in batch for group in work.groups]))
            self._limit.learn(self._generator.token_bytes)
            return [[each for _ in work.groups for each in next(replies)] for work in batch]
        except Exception as error:  # of whatever library: one of the requests may be at fault
            self._check_device(error)
            return [[self._alone(request) for request in work.accepted] for work in batch]

    def _together(self, groups: Sequence[TokenGroup]) -> list[list[Response]]:
        """Return the replies of groups: in one batch, in halves where memory runs out."""
        try:
            joins = self._generator.joins or not groups[0].shared
            if self._limit.fits(groups) and (len(groups) == 1 or joins):
                return self._generator.replies(groups)
        except torch.OutOfMemoryError:
            if not self._halved(sum(len(group.own) for group in groups)):
                raise
        # Out of the except clause, whose error holds what is to be freed.
        if len(groups) > 1:
            middle = len(groups) // 2
            return [*self._together(groups[:middle]), *self._together(groups[middle:])]
        (group,) = groups
        places = range(len(group.own))
        middle = (len(places) + 1) // 2
        halves = (group.only(places[:middle]), group.only(places[middle:]))
        return [[reply for half in halves for reply in self._together([half])[0]]]

    def _plain(self, work: Work) -> list[Response]:
        """Return the replies to requests without sharing, of which only so many fit at a time."""
        requests, inputs = work.accepted, work.inputs
        work.inputs = None
        found: list[Response] = []
        while len(found) < len(requests):
            part = requests[len(found) : len(found) + self._limit.plain_rows]
            try:
                if inputs is None or len(part) < len(requests):
                    inputs = self._preparer.inputs(part)
                found += self._generator.plain_replies(inputs, part)
            except torch.OutOfMemoryError:
                if not self._halved(len(part)):
                    raise
        return found

    def _halved(self, count: int) -> bool:
        """Ask half as many at a time from now on, and say so; return whether that is possible."""
        if not self._limit.halve(count):
            return False
        self._tell(
            f"out of memory with {count} requests at a time: from now on "
            f"{self._limit.rows}. Nothing is lost; `batch: {self._limit.rows}` in its card avoids "
            "the try."
        )
        if self._loaded.model.device.type == "cuda":
            torch.cuda.empty_cache()
        return True

    def _hand_processor_over(self) -> None:
        """Let processes prepare, unless what they need cannot be sent to them."""
        try:
            if self._processes is not None:
                self._processes.use(self._loaded)
        except Exception as error:  # of whatever is in a processor
            self._tell(f"it is prepared for in threads ({type(error).__name__}: {error}).")
            self._end_processes()

    def _end_processes(self) -> None:
        if self._processes is not None:
            self._processes.close()
            self._processes = None

    def _tell(self, text: str) -> None:
        self._say(f"{self._name}: {text}")

    def _alone(self, request: Request) -> Response:
        try:
            inputs = self._preparer.inputs([request])
            return self._generator.plain_replies(inputs, [request])[0]
        except Exception as error:
            self._check_device(error)
            message = f"{type(error).__name__}: {error}"
            return Response("error", error=" ".join(message.split())[:500])

    def _check_device(self, error: Exception) -> None:
        """Raise ``BrokenDeviceError`` where an error has broken the device for this process."""
        if self._loaded.model.device.type != "cuda":
            return
        try:
            torch.cuda.synchronize()
        except Exception:  # after most errors of CUDA every call fails
            raise BrokenDeviceError(f"{type(error).__name__}: {error}") from error


def _is_on_gpu(card: Card) -> bool:
    chosen = card.parameters.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
    return str(chosen).startswith("cuda")
