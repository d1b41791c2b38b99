"""Calls to a server: not too many at a time, in order, with retries, and never without end.

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
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
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
from reelbench.models.content_filters import is_blocked
from reelbench.models.reachability import Reachability, shown_address
from reelbench.models.secrets import MASK, redacted, remember_secret

_TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_ABOUT_THE_REQUEST = frozenset({400, 413, 415, 422})  # its server is there and reads it
_ABOUT_THE_ADDRESS = frozenset({301, 302, 303, 307, 308, 404, 405})
_LONGEST_PAUSE = 60.0  # seconds between tries, where the server does not ask for more
_LONGEST_RETRY_AFTER = 3600.0  # seconds that a server may ask us to wait
_MOST_BYTES = 32 * 2**20  # of an answer; more is no answer to a question
_SHOWN = 300  # characters of an error
_LARGE = 2**20  # bytes of a body
_NO_KEY = b"\x00no key\x00"  # which no answer holds


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The result of a call: a JSON object, or why there is none."""

    status: Status
    data: Mapping[str, Any]
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)  # with names in lower case
    http: int = 0  # the status of the answer; 0 where none came
    unasked: bool = False  # no call was made: this server never answered earlier ones


class Caller:
    """Posts JSON to one server."""

    def __init__(self, card: Card, secret: str = "", advice: str = "") -> None:
        self._reach = Reachability(card.name, advice)
        self._gate = Gate(card.connections)
        self._pace = Pace(card.requests_per_minute, card.tokens_per_minute)
        self._turns = asyncio.Lock()  # calls that wait for the pace leave in the order they came
        self._timeout = aiohttp.ClientTimeout(total=card.timeout)
        self._retries = card.retries
        self._backoff = card.backoff
        self._secret = secret.encode() or _NO_KEY
        remember_secret(secret)
        # Awaited before each try: why the server cannot be asked; empty where it can.
        self.ready: Callable[[], Awaitable[str]] = _no_preparation
        self.unreached: Callable[[], None] = lambda: None  # called after a try without an answer
        self._no_waiting = asyncio.Event()
        self._session: aiohttp.ClientSession | None = None

    async def post(
        self, url: Callable[[], str], payload: bytes, headers: Mapping[str, str], tokens: float = 0
    ) -> CallOutcome:
        """Send JSON, with the card's retries; return the answer or the last failure.

        Each try asks for the URL. ``tokens`` are counted towards the card's tokens per minute.
        """
        return await self._with_retries("POST", url, payload, headers, tokens)

    async def get(self, url: str, headers: Mapping[str, str]) -> CallOutcome:
        """Fetch JSON, with the same retries."""
        return await self._with_retries("GET", lambda: url, b"", headers, 0)

    async def _with_retries(
        self,
        method: str,
        find_url: Callable[[], str],
        payload: bytes,
        headers: Mapping[str, str],
        tokens: float,
    ) -> CallOutcome:
        outcome = CallOutcome("error", {}, "never asked")
        for attempt in range(self._retries + 1):
            async with self._gate.passed(again=attempt > 0) as ticket:
                async with self._turns:
                    await self._rest(self._pace.turn(tokens))
                if refusal := self._reach.given_up or await self.ready():
                    gone = CallOutcome("error", {}, refusal, unasked=True)
                    return outcome if attempt else gone
                url = find_url()
                outcome, pause = await self._try(method, url, payload, headers, ticket)
            if outcome.status == "error" and not outcome.http:
                self.unreached()
            self._note(url, outcome, attempt, pause is None or attempt == self._retries)
            if pause is None:
                return outcome
            if pause:
                self._pace.hold(pause)  # for all, also those that have not asked yet
            elif attempt < self._retries:
                await self._rest(
                    pause_before(hashlib.sha256(payload).hexdigest(), attempt, self._backoff)
                )
            if self._no_waiting.is_set():
                return outcome
        return outcome

    def _note(self, url: str, outcome: CallOutcome, attempt: int, final: bool) -> None:
        """Record whether the server answers; stop retrying where it never does."""
        if outcome.status in ("ok", "refused") or outcome.http in _ABOUT_THE_REQUEST:
            self._reach.answered()
            return
        address, reached = shown_address(url), outcome.http > 0
        self._reach.failed(address, outcome.error, attempt, reached, final)
        if self._reach.given_up:
            self.stop_retrying()

    def stop_retrying(self) -> None:
        """Stop waiting for retries: what would be tried again has failed."""
        self._no_waiting.set()

    async def _rest(self, seconds: float) -> None:
        await rest(seconds, self._no_waiting)

    async def close(self) -> None:
        """Close the connections."""
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
            if is_blocked(status, raw):
                return _failed("refused", message, status), None
            return _failed("error", message, status), pause if status in _TRY_AGAIN else None
        data = _decoded(raw)
        if not isinstance(data, dict):
            reason = f" ({data})" if isinstance(data, LimitError) else ""
            message = f"an answer that is not a JSON object{reason}: {_shown(raw)!r}"
            return _failed("error", message, status), 0.0
        if _is_busy(data):  # as some gateways say it
            self._gate.narrow(ticket)
            message = f"the server replied with an error: {redacted(str(data['error']))[:_SHOWN]}"
            return _failed("error", message, status), pause
        self._gate.widen(time.monotonic() - began)
        return CallOutcome("ok", data, headers=named, http=status), None

    def _named(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {name.lower(): redacted(value) for name, value in headers.items()}


async def _no_preparation() -> str:
    return ""


async def rest(seconds: float, no_waiting: asyncio.Event) -> None:
    """Wait for so many seconds, or until the event is set."""
    if seconds > 0 and not no_waiting.is_set():
        try:
            await asyncio.wait_for(no_waiting.wait(), seconds)
        except TimeoutError:
            return


def pause_before(key: str, attempt: int, backoff: float) -> float:
    """Return the seconds before a retry: twice as many after each try, with some jitter."""
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
    """Return how many seconds a Retry-After header asks for, as a number or a date; 0 for none."""
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
    return min(max(0.0, seconds), _LONGEST_RETRY_AFTER) if math.isfinite(seconds) else 0.0


def _google_retry_delay(raw: bytes) -> float:
    """Return the retry delay that Google puts into the body; 0 for none."""
    match = _RETRY_DELAY.search(raw) if len(raw) < _SHORT else None
    return min(float(match[1]), _LONGEST_RETRY_AFTER) if match else 0.0


_RETRY_DELAY = re.compile(rb'"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,12})?)s"')
_SHORT = 20_000  # bytes; what is longer is an answer


class Pace:
    """Spaces requests evenly, to stay within so many requests and tokens per minute."""

    def __init__(self, requests: float, tokens: float) -> None:
        self._per_request = 60 / requests if requests else 0.0
        self._per_token = 60 / tokens if tokens else 0.0
        self._free = 0.0  # when the next may begin
        self._held = 0.0  # until when none may

    def turn(self, tokens: float) -> float:
        """Reserve the next turn; return the seconds to wait for it."""
        now = time.monotonic()
        begin = max(now, self._free, self._held)
        if self._per_request or self._per_token:
            self._free = begin + max(self._per_request, tokens * self._per_token)
        return begin - now

    def hold(self, seconds: float) -> None:
        """Let no request begin for so many seconds, as the server asked."""
        self._held = max(self._held, time.monotonic() + seconds)


class Gate:
    """Limits the requests in flight to what the server takes without refusing or slowing down.

    The limit starts small and doubles as long as all goes well. A refusal halves it, and from then
    on it grows slowly. Where more requests only make each of them slower, it grows no further.
    Requests pass in the order they come, so that those about one video stay together; what is tried
    again passes first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.width = float(min(most, _FEW))
        self._growing = True  # fast
        self._least = self._usual = 0.0  # seconds that an answer took at best, and takes of late
        self._inside = 0
        self._narrowed = 0  # times
        # Those that wait: what is tried again, and all others.
        self._lines: tuple[deque[asyncio.Future[None]], ...] = (deque(), deque())

    @asynccontextmanager
    async def passed(self, again: bool = False) -> AsyncIterator[int]:
        """Wait until a request may start; the ticket is the number of refusals so far."""
        place = asyncio.get_running_loop().create_future()
        self._lines[0 if again else 1].append(place)
        self._admit()
        try:
            await place
            yield self._narrowed
        finally:
            # One that is cancelled while it waits leaves a place that is passed over.
            if place.done() and not place.cancelled():
                self._inside -= 1
            self._admit()

    def _admit(self) -> None:
        for line in self._lines:
            while line and self._inside < max(1, int(self.width)):
                place = line.popleft()
                if not place.done():
                    self._inside += 1
                    place.set_result(None)

    def narrow(self, ticket: int) -> None:
        """Halve the limit, after the server refused the request with this ticket.

        Requests in flight may be refused together: those that started before the last refusal
        tell nothing new.
        """
        self._growing = False
        if ticket == self._narrowed:
            self.width = max(1.0, self.width / 2)
            self._narrowed += 1

    def widen(self, seconds: float) -> None:
        """Adjust the limit, after an answer that took so many seconds."""
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
