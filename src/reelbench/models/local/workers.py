"""A pipeline in a process of its own: its GPU may break, and it may be killed, without us."""

import os
import pickle
import queue
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.workers import ChildProcess, follow
from reelbench.models.base import Request, Response
from reelbench.models.card import Card
from reelbench.models.local.engines import EngineLostError
from reelbench.models.server_log import log_tail

if TYPE_CHECKING:
    from reelbench.models.local.pipeline import InferencePipeline

# Between two threads that both compute, in a process of its own: who launches what the GPU computes
# must not wait for those who prepare, and Python's usual 5 ms are as long as a layer takes.
_SWITCH_SECONDS = 0.0002
_SIGN_SECONDS = 1.0  # between two signs of work, at least
_BROKEN = 70  # the exit status after an error from which a process does not recover


class PipelineProcess:
    """A process with a pipeline, and the responses that it owes."""

    def __init__(
        self,
        card: Card,
        threads: int,
        environment: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        self.capacity = 1
        self.peak_memory: int | None = None
        self._say = say
        self._lock = threading.Lock()
        self._owed: dict[int, Future[list[Response]]] = {}
        self._numbers = count(1)
        self._loss = ""  # how it ended
        self.signs = 0  # of work, so far
        self._outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # Without a name: it goes when the processes do, however they end.
        self._log = tempfile.TemporaryFile("w+b")  # noqa: SIM115
        self._child = ChildProcess(
            __name__,
            serve_pipeline.__name__,
            threads=threads,
            environment=environment,
            output=self._log,
        )
        # Threads, as a process that hangs must not hold up who submits.
        threading.Thread(target=self._send_all, daemon=True).start()
        self._outbox.put(card)

    def load(self) -> None:
        """Wait until the weights are loaded."""
        try:
            while (message := self._child.line.recv())[0] == "say":
                self._say(message[1])
        except (EOFError, OSError):
            loss = self._ending()
            self.abandon()
            raise EngineLostError(loss) from None
        how, value = message
        if how == "failed":
            self.abandon()
            self._log.close()
            raise ReelbenchError(value)
        self.capacity = value
        threading.Thread(target=self._receive_all, daemon=True).start()

    def submit(self, requests: Sequence[Request]) -> "Future[list[Response]]":
        """Return the responses to come; they fail with ``EngineLostError`` if it is lost."""
        future: Future[list[Response]] = Future()
        number = next(self._numbers)
        with self._lock:
            if self._loss:
                future.set_exception(EngineLostError(self._loss))
                return future
            self._owed[number] = future
        self._outbox.put((number, list(requests)))
        return future

    def stop(self) -> None:
        """Answer what is being generated; what waits is not asked."""
        self._outbox.put("stop")

    def abandon(self) -> None:
        """End at once, whatever is under way; raise ``EngineLostError`` if it does not end."""
        has_ended = self._child.kill()
        self._outbox.put(None)
        if not has_ended:
            raise EngineLostError("cannot be ended, and may still hold its GPU")

    def _send_all(self) -> None:
        with suppress(OSError):  # it has ended: who receives knows
            while (message := self._outbox.get()) is not None:
                try:
                    self._child.line.send(message)
                except (pickle.PicklingError, AttributeError, TypeError) as error:
                    self._refuse(message, f"it cannot be sent to the worker: {error}")

    def _refuse(self, message: Any, why: str) -> None:
        number, requests = message
        with self._lock:
            future = self._owed.pop(number)
        future.set_result([Response("error", error=why) for _ in requests])

    def _receive_all(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                how, *values = self._child.line.recv()
                self.signs += 1
                if how == "say":
                    self._say(values[0])
                if how != "done":
                    continue
                number, responses, self.capacity, self.peak_memory = values
                with self._lock:
                    future = self._owed.pop(number)
                future.set_result(responses)
        loss = self._ending()
        with self._lock:
            self._loss = loss
            owed, self._owed = self._owed, {}
        for future in owed.values():
            future.set_exception(EngineLostError(loss))
        self._outbox.put(None)

    def _ending(self) -> str:
        """How the process ended, with the last lines that it has printed."""
        ending = self._child.ending
        if ending == "SIGKILL":
            ending += ", as when memory runs out"
        tail = log_tail(Path(f"/dev/fd/{self._log.fileno()}"))
        self._log.close()
        lines = "".join(f"\n  | {line}" for line in tail)
        return f"ended ({ending})" + (f"; its last output:{lines}" if lines else "")


def serve_pipeline(line_number: int, life: int) -> None:
    """Answer the requests that come over the pipe, for as long as the parent process lives."""
    threading.Thread(target=follow, args=(life,), daemon=True).start()
    sys.setswitchinterval(_SWITCH_SECONDS)
    # Caches of another size for each batch would break up the memory otherwise.
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    line = _Line(Connection(line_number))
    card = line.receive()
    try:
        silence_bars()
        from reelbench.models.local.pipeline import InferencePipeline

        pipeline = InferencePipeline(card, lambda text: line.send("say", text))
    except Exception as error:  # of whatever library
        traceback.print_exc()
        line.send("failed", loading_failure(error))
        return
    line.send("ready", pipeline.capacity)
    threading.Thread(target=_send_signs, args=(line, pipeline), daemon=True).start()
    with suppress(EOFError):
        while message := line.receive():
            if message == "stop":
                pipeline.stop()
            else:
                number, requests = message
                answer = _answering(line, pipeline, number)
                pipeline.submit(requests).add_done_callback(answer)
    os._exit(0)


def _send_signs(line: "_Line", pipeline: "InferencePipeline") -> None:
    """Send a sign of work now and then, as long as work is done."""
    sent = 0
    with suppress(OSError):  # the parent is gone
        while True:
            time.sleep(_SIGN_SECONDS)
            if pipeline.signs != sent:
                sent = pipeline.signs
                line.send("works")


def _answering(
    line: "_Line", pipeline: "InferencePipeline", number: int
) -> "Callable[[Future[list[Response]]], None]":
    def answer(future: "Future[list[Response]]") -> None:
        end_if_broken(future)
        with suppress(OSError):  # the parent is gone, and so is this process in a moment
            line.send("done", number, future.result(), pipeline.capacity, pipeline.peak_memory)

    return answer


def end_if_broken(future: "Future[list[Response]]") -> None:
    """End this process where responses failed to come: it cannot be asked any more."""
    if error := future.exception():
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(_BROKEN)


def loading_failure(error: BaseException) -> str:
    """Return why weights could not be loaded, in a line."""
    if isinstance(error, ReelbenchError):
        return str(error)
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]


def silence_bars() -> None:
    """Keep the bars that transformers draws while it loads from ours."""
    from transformers.utils import logging

    logging.disable_progress_bar()


class _Line:
    """A pipe that several threads write to."""

    def __init__(self, connection: "Connection[Any, Any]") -> None:
        self._connection, self._lock = connection, threading.Lock()

    def send(self, *message: Any) -> None:
        with self._lock:
            self._connection.send(message)

    def receive(self) -> Any:
        return self._connection.recv()
