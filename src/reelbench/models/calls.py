"""Calls to a server: not too many at a time, patiently, and never without end.

This is the one place where a call is tried again. A server that is busy is asked less, one that
names a time is left alone until then, and what fails in the end is a status, not an exception.
"""

import asyncio
import hashlib
import io
import json
import math
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import msgspec

from reelbench.base.limits import LimitError, check_depth
from reelbench.base.seeds import rng_for
from reelbench.models.base import Status
from reelbench.models.card import Card
from reelbench.models.reachability import Reachability, shown_address
from reelbench.models.secrets import MASK, redacted, remember_secret

_TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_ABOUT_THE_REQUEST = frozenset({400, 413, 415, 422})  # its server is there and reads it
_ABOUT_THE_ADDRESS = frozenset({301, 302, 303, 307, 308, 404, 405})
_LONGEST_PAUSE = 60.0  # seconds between tries, where the server does not ask for more
_LONGEST_WISH = 3600.0  # seconds that a server may ask us to wait
_MOST_BYTES = 32 * 2**20  # of an answer; more is no answer to a question
_SHOWN = 300  # characters of an error
_LARGE = 2**20  # bytes of a body
_NO_KEY = b"\x00no key\x00"  # which no answer holds


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What came of a call: an object, or why there is none."""

    status: Status
    data: Mapping[str, Any]
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)  # with names in lower case
    http: int = 0  # the status of the answer; 0 where none came
    unasked: bool = False  # the server had been given up before


class Caller:
    """Posts JSON to one server."""

    def __init__(self, card: Card, secret: str = "", advice: str = "") -> None:
        self._reach = Reachability(card.name, advice)
        self._gate = Gate(card.connections)
        self._pace = Pace(card.requests_per_minute, card.tokens_per_minute)
        self._timeout = aiohttp.ClientTimeout(total=card.timeout)
        self._retries = card.retries
        self._backoff = card.backoff
        self._secret = secret.encode() or _NO_KEY
        remember_secret(secret)
        self._hurried = asyncio.Event()
        self._session: aiohttp.ClientSession | None = None

    async def post(
        self, url: str, payload: bytes, headers: Mapping[str, str], tokens: float = 0
    ) -> CallOutcome:
        """Send some JSON until it is answered, or has been sent once more than the retries.

        ``tokens`` is what it counts for where there is a limit on them.
        """
        return await self._patiently("POST", url, payload, headers, tokens)

    async def get(self, url: str, headers: Mapping[str, str]) -> CallOutcome:
        """Fetch some JSON, as patiently."""
        return await self._patiently("GET", url, b"", headers, 0)

    async def _patiently(
        self, method: str, url: str, payload: bytes, headers: Mapping[str, str], tokens: float
    ) -> CallOutcome:
        outcome = CallOutcome("error", {}, "never asked")
        for attempt in range(self._retries + 1):
            async with self._gate.passed() as ticket:
                await self._rest(self._pace.turn(tokens))
                if self._reach.given_up:
                    gone = CallOutcome("error", {}, self._reach.given_up, unasked=True)
                    return outcome if attempt else gone
                outcome, pause = await self._try(method, url, payload, headers, ticket)
            self._note(url, outcome, attempt, pause is None or attempt == self._retries)
            if pause is None:
                return outcome
            if pause:
                self._pace.hold(pause)  # for all, also those that have not asked yet
            elif attempt < self._retries:
                await self._rest(
                    pause_before(hashlib.sha256(payload).hexdigest(), attempt, self._backoff)
                )
            if self._hurried.is_set():
                return outcome
        return outcome

    def _note(self, url: str, outcome: CallOutcome, attempt: int, final: bool) -> None:
        """Keep in mind whether there is a server, and stop where there is none."""
        if outcome.status == "ok" or outcome.http in _ABOUT_THE_REQUEST:
            self._reach.answered()
            return
        address, reached = shown_address(url), outcome.http > 0
        self._reach.failed(address, outcome.error, attempt, reached, final)
        if self._reach.given_up:
            self.stop_retrying()

    def stop_retrying(self) -> None:
        """Wait for nothing any more: what would have to be tried again has failed."""
        self._hurried.set()

    async def _rest(self, seconds: float) -> None:
        await rest(seconds, self._hurried)

    async def close(self) -> None:
        """Hang up."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _try(
        self, method: str, url: str, payload: bytes, headers: Mapping[str, str], ticket: int
    ) -> tuple[CallOutcome, float | None]:
        """Send a request once; return what came, and how long to wait, None for no other try."""
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0)  # the gate counts
            self._session = aiohttp.ClientSession(connector=connector, timeout=self._timeout)
        sent = {"Content-Type": "application/json", **headers}
        began = time.monotonic()
        try:
            async with self._session.request(
                method, url, data=_body(payload), headers=sent, allow_redirects=False
            ) as reply:
                raw = await _read(reply)
                # What is as short as a word may be one, in an answer; longer keys are masked, in
                # whatever spelling, before anything is cut off or written down.
                if reply.status != 200:
                    raw = raw.replace(self._secret, MASK.encode())
                pause = _retry_after(reply.headers.get("Retry-After")) or _google_retry_delay(raw)
                status, named = reply.status, self._named(reply.headers)
        except TimeoutError:
            return _failed("timeout", f"no answer in {self._timeout.total:g} s"), 0.0
        except (aiohttp.ClientError, OSError) as error:
            return _failed("error", f"{type(error).__name__}: {error}"), 0.0
        if status != 200:
            if status in _TRY_AGAIN:
                self._gate.narrow(ticket)
            place = f" at {shown_address(url)}" if status in _ABOUT_THE_ADDRESS else ""
            message = f"HTTP {status}{place}: {_shown(raw)}"
            return _failed("error", message, status), pause if status in _TRY_AGAIN else None
        data = _decoded(raw)
        if not isinstance(data, dict):
            reason = f" ({data})" if isinstance(data, LimitError) else ""
            message = f"an answer that is not a JSON object{reason}: {_shown(raw)!r}"
            return _failed("error", message, status), 0.0
        if _is_busy(data):  # as some gateways say it
            self._gate.narrow(ticket)
            message = f"an error in an answer: {redacted(str(data['error']))[:_SHOWN]}"
            return _failed("error", message, status), pause
        self._gate.widen(time.monotonic() - began)
        return CallOutcome("ok", data, headers=named, http=status), None

    def _named(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {name.lower(): redacted(value) for name, value in headers.items()}


async def rest(seconds: float, hurried: asyncio.Event) -> None:
    """Wait for so long, or until there is a hurry."""
    if seconds > 0 and not hurried.is_set():
        try:
            await asyncio.wait_for(hurried.wait(), seconds)
        except TimeoutError:
            return


def pause_before(key: str, attempt: int, backoff: float) -> float:
    """How long to wait: twice as long after each try, and not the same for all who wait."""
    rng = rng_for("pause", key, attempt)
    return min(_LONGEST_PAUSE, backoff * 2.0**attempt) * rng.uniform(0.5, 1.0)


def _is_busy(data: Mapping[str, Any]) -> bool:
    error = data.get("error")
    return isinstance(error, dict) and error.get("code") in _TRY_AGAIN


def _body(payload: bytes) -> bytes | io.BytesIO | None:
    """A large body as a file, which is sent piece by piece and does not hold up the others."""
    return io.BytesIO(payload) if len(payload) > _LARGE else payload or None


def _decoded(raw: bytes) -> Any:
    """Decode JSON; None if it is none, an error if it nests too deep.

    A reply may be cut off in the middle of a character.
    """
    try:
        check_depth(raw)
        return msgspec.json.decode(raw)
    except LimitError as error:
        return error
    except (msgspec.DecodeError, UnicodeDecodeError):
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            return None


def _shown(raw: bytes) -> str:
    """The beginning of an answer, for a person to read; no half of a key at its end."""
    return redacted(raw[:_SHORT].decode("utf-8", "replace"))[:_SHOWN]


def _failed(status: Status, error: str, http: int = 0) -> CallOutcome:
    return CallOutcome(status, {}, " ".join(error.split()), http=http)


async def _read(reply: aiohttp.ClientResponse) -> bytes:
    """Read an answer whole, up to a size that no answer has."""
    raw = await reply.content.read(_MOST_BYTES)
    pieces = [raw]
    while raw and sum(map(len, pieces)) < _MOST_BYTES:
        raw = await reply.content.read(_MOST_BYTES)
        pieces.append(raw)
    return b"".join(pieces)


def _retry_after(header: str | None) -> float:
    """How long a server asks to be left alone: in seconds, or until a date; 0 if it does not."""
    if not header:
        return 0.0
    try:
        seconds = float(header)
    except ValueError:
        try:
            when = parsedate_to_datetime(header)
            seconds = (when - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return 0.0
    return min(max(0.0, seconds), _LONGEST_WISH) if math.isfinite(seconds) else 0.0


def _google_retry_delay(raw: bytes) -> float:
    """How long Google asks to be left alone: it says so in the body."""
    match = _RETRY_DELAY.search(raw) if len(raw) < _SHORT else None
    return min(float(match[1]), _LONGEST_WISH) if match else 0.0


_RETRY_DELAY = re.compile(rb'"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,12})?)s"')
_SHORT = 20_000  # bytes; what is longer is an answer


class Pace:
    """Lets requests begin no faster than so many, and so many tokens, a minute, evenly."""

    def __init__(self, requests: float, tokens: float) -> None:
        self._per_request = 60 / requests if requests else 0.0
        self._per_token = 60 / tokens if tokens else 0.0
        self._free = 0.0  # when the next may begin
        self._held = 0.0  # until when none may

    def turn(self, tokens: float) -> float:
        """Take a turn; return how long to wait for it."""
        now = time.monotonic()
        begin = max(now, self._free, self._held)
        if self._per_request or self._per_token:
            self._free = begin + max(self._per_request, tokens * self._per_token)
        return begin - now

    def hold(self, seconds: float) -> None:
        """Let none begin for so long, as the server wishes."""
        self._held = max(self._held, time.monotonic() + seconds)


class Gate:
    """Lets so many pass at a time: as many as the server takes without refusing or slowing down.

    It begins with a few and doubles them for as long as all goes well. A refusal halves them, and
    from then on they grow slowly. Where more of them only make each wait longer, they are as many
    as the server can use, and grow no further.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.width = float(min(most, _FEW))
        self._growing = True  # fast
        self._least = self._usual = 0.0  # seconds that an answer took at best, and takes of late
        self._inside = 0
        self._narrowed = 0  # times
        self._freed = asyncio.Condition()

    @asynccontextmanager
    async def passed(self) -> AsyncIterator[int]:
        """Wait for a place, and take it; the ticket says when one came in."""
        async with self._freed:
            await self._freed.wait_for(lambda: self._inside < max(1, int(self.width)))
            self._inside += 1
        try:
            yield self._narrowed
        finally:
            async with self._freed:
                self._inside -= 1
                self._freed.notify()

    def narrow(self, ticket: int) -> None:
        """The server has refused the holder of a ticket.

        All that are under way may be refused together: those that came in before it was last
        narrowed tell nothing new.
        """
        self._growing = False
        if ticket == self._narrowed:
            self.width = max(1.0, self.width / 2)
            self._narrowed += 1

    def widen(self, seconds: float) -> None:
        """The server has answered, in so many seconds."""
        self._usual += (seconds - self._usual) / 8 if self._usual else seconds
        self._least = min(self._least or seconds, self._usual)
        if self._usual > _SLOW * self._least and self.width > _FEW:
            self._growing = False
            self.width -= 0.5 / self.width
        elif self._inside >= int(self.width):  # more could be of use
            self.width += 1.0 if self._growing else 1 / self.width
        self.width = max(1.0, min(float(self._most), self.width))


_FEW = 8  # to begin with
_SLOW = 4.0  # times as long as at best: then the server makes requests wait for each other
