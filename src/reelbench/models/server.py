"""Servers that cards start: on a free port, when the first question comes, until the session ends.

A server that answers at the card's endpoint already is used as it is. One that breaks down is
started again for as long as it has answered something since its last start.
"""

import asyncio
import os
import re
import shlex
import shutil
import socket
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import announce
from reelbench.base.supervise import GRACE, SupervisedProcess
from reelbench.models.card import Card
from reelbench.models.health import Health
from reelbench.models.reachability import shown_address
from reelbench.models.secrets import redacted, remember_secrets_in
from reelbench.models.server_log import file_name_of, log_tail, shown_line

HOST = "127.0.0.1"
_MOST_RESTARTS = 5  # after breakdowns
_LINE_SECONDS = 10.0  # between two lines while it starts
_POLL_SECONDS = 0.1
_PORT_TAKEN = re.compile(r"address (is )?already in use|EADDRINUSE|couldn't bind", re.IGNORECASE)


class ModelServer:
    """The server of one card, or of several that name the same command."""

    def __init__(self, card: Card, headers: Mapping[str, str]) -> None:
        self.name = card.name
        self.startup = card.startup
        self.permitted = False  # whether its command may be run: a user named the card
        self.folder: Path | None = None  # of its log
        self._words = [word.replace("{model}", card.model or card.name) for word in card.serve]
        self._environment = dict(card.environment)
        remember_secrets_in(self._environment)
        self._endpoint = card.endpoint.rstrip("/")
        self._health = Health(card.health, card.model or card.name, headers)
        self._port = 0
        self._process: SupervisedProcess | None = None
        self._starting: asyncio.Task[None] | None = None
        self._is_foreign = False  # was there already
        self._is_healthy = self._has_answered = self._is_stopping = False
        self._restarts = 0
        self._fault = ""  # why it cannot be asked

    @property
    def identity(self) -> tuple[Any, ...]:
        """What two cards that share a server have in common."""
        environment = tuple(sorted(self._environment.items()))
        return (*self._words, environment, self._endpoint, self._health.path)

    @property
    def url(self) -> str:
        """The address that requests go to, once it is ready."""
        if self._is_foreign or not self._has_port:
            return self._endpoint
        path = urlsplit(self._endpoint).path if self._endpoint else "/v1"
        return f"http://{HOST}:{self._port}{path}"

    @property
    def _has_port(self) -> bool:
        return any("{port}" in word for word in self._words)

    @property
    def _is_up(self) -> bool:
        process = self._process
        return self._is_foreign or bool(self._is_healthy and process and process.status is None)

    @property
    def log(self) -> Path:
        """The file with what it prints."""
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="reelbench-servers-"))
        return self.folder / f"{file_name_of(self.name)}.log"

    async def ready(self) -> str:
        """Return when it can be asked, with an empty text, or with why it cannot."""
        if not self._fault and not self._is_up:
            if self._starting is None or self._starting.done():
                self._starting = asyncio.ensure_future(self._bring_up())
            await asyncio.shield(self._starting)
        return self._fault

    def answered(self) -> None:
        """Record an answer: if it breaks down later, it is worth another start."""
        self._has_answered = True

    def unreached(self) -> None:
        """Record a call that got no answer: before the next one, see whether it still runs."""
        self._is_healthy = False

    def stop_waiting(self) -> None:
        """Wait no longer for a server that is starting."""
        self._is_stopping = True

    def end(self) -> None:
        """End it with all that it started; one that was there already goes on."""
        self._is_healthy = False
        if self._process is not None:
            process, self._process = self._process, None
            process.end()

    async def _bring_up(self) -> None:
        if self._endpoint and self._process is None and await self._is_there_already():
            return
        if not self.permitted:
            raise ReelbenchError(
                f"The card of {self.name} starts a server, and only a card that you name may do "
                f"so. Its command is: {self._shown_command}. To run it, name the card again "
                "(--model, --judge); or start the server yourself and put its address into "
                "endpoint: of the card."
            )
        if self._process is not None:
            # What it started may outlive it for a while, in which tries would be spent on nobody.
            problem = await self._wait(self._process) if self._process.status is None else ""
            if self._process.status is None and not problem:
                self._is_healthy = not self._is_stopping
                return
            if not await self._may_start_again(self._process, problem):
                return
        for is_last in (False, True):
            problem = await self._start()
            taken = self._has_port and any(map(_PORT_TAKEN.search, log_tail(self.log)))
            if not problem or is_last or not taken:
                break
            self._port = 0  # someone was faster: another one
        if problem:
            self._give_up(problem)

    async def _is_there_already(self) -> bool:
        if not await self._health.is_good(self._endpoint):
            return False
        self._is_foreign = True
        address = shown_address(self._endpoint)
        announce(f"{self.name}: a server answers at {address}: it is used, and none is started.")
        await self._check_model()
        return True

    async def _may_start_again(self, broken: SupervisedProcess, problem: str) -> bool:
        """Report a breakdown, and end what is left of it; whether another start is worth it."""
        how = problem if broken.status is None else broken.ending
        await asyncio.to_thread(self.end)
        self._restarts += 1
        if not self._has_answered or self._restarts > _MOST_RESTARTS:
            self._give_up(f"broke down again ({how})")
            return False
        self._report(f"broke down ({how}) and is started again")
        self._has_answered = False
        return True

    async def _start(self) -> str:
        """Start it and wait until it is healthy; return what went wrong."""
        environment = os.environ | self._environment
        program = self._words[0]
        if shutil.which(program, path=environment.get("PATH")) is None:
            return f"cannot be started: there is no command {program!r} on this machine"
        if problem := self._take_port():
            return problem
        slots = {"{port}": str(self._port), "{host}": HOST}
        command = [_filled(word, slots) for word in self._words]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as log:
            when = datetime.now(UTC).isoformat(timespec="seconds")
            log.write(f"# {when}: {redacted(shlex.join(command))}\n")
        announce(f"{self.name}: starting its server ({self._shown_command}); log: {self.log}")
        self._process = SupervisedProcess(command, self.log, environment, GRACE)
        if problem := await self._wait(self._process):
            await asyncio.to_thread(self.end)
            return problem
        self._is_healthy = not self._is_stopping
        if self._is_healthy:
            announce(f"{self.name}: its server is ready at {self.url}.")
            await self._check_model()
        return ""

    def _take_port(self) -> str:
        """Choose a port where the card leaves it open; return what is wrong with a fixed one."""
        if self._has_port:
            self._port = self._port or _free_port()  # after a breakdown, the same
            return ""
        parts = urlsplit(self._endpoint)
        if _is_listening(parts.hostname or "", parts.port or 80):
            return f"cannot be started: something else listens at {shown_address(self._endpoint)}"
        return ""

    async def _wait(self, process: SupervisedProcess) -> str:
        began = shown = time.monotonic()
        while not self._is_stopping:
            if process.status is not None:
                return f"{process.ending} before it was ready"
            if await self._health.is_good(self.url):
                return ""
            now = time.monotonic()
            if now - began > self.startup:
                return (
                    f"was not ready after {self.startup:g} s ({self._health.last}); "
                    "`startup:` in its card is the limit"
                )
            if now - shown >= _LINE_SECONDS:
                shown = now
                announce(
                    f"{self.name}: waiting for its server, {now - began:.0f} s of at most "
                    f"{self.startup:g}: {(log_tail(self.log, 1) or ['no output yet'])[0]}"
                )
            await asyncio.sleep(_POLL_SECONDS)
        self._fault = "not asked: stopped while its server was starting"
        return ""

    async def _check_model(self) -> None:
        if warning := await self._health.other_models(self.url):
            announce(f"warning: {self.name}: {warning}")

    def _give_up(self, problem: str) -> None:
        self._fault = f"not asked: its server {problem}; its log is {self.log}"
        self._report(
            f"{problem}. Its questions are not asked; others go on, and the same command asks again"
        )

    def _report(self, problem: str) -> None:
        tail = log_tail(self.log)
        end = f" The end of {self.log}:\n" if tail else f" Its log, {self.log}, is empty."
        lines = "\n".join(f"  | {line}" for line in tail)
        announce(f"{self.name}: its server {problem}.{end}{lines}")

    @property
    def _shown_command(self) -> str:
        return shown_line(shlex.join(self._words))


def _filled(word: str, slots: Mapping[str, str]) -> str:
    for slot, value in slots.items():
        word = word.replace(slot, value)
    return word


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


def _is_listening(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=5):
            return True
    except OSError:
        return False
