"""What every answer carries and no request gets past: headers, sizes, and where it comes from."""

import logging
from collections.abc import Sequence
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY = 1 << 20  # bytes of a request
MOST_UPLOAD = 64 << 20  # of a file of candidates
UPLOADS = ("/api/desk/import",)
TOO_LARGE = "The request is too large."
FAILED = "This failed in the server, which has noted why: tell the organiser. Nothing was kept."
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_LOG = logging.getLogger("uvicorn.error")
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Refuses what is too large or sent from elsewhere, and sets the headers of every answer."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str] = ()) -> None:
        self._app, self._hosts = app, frozenset(map(str.lower, hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        limit = MOST_UPLOAD if scope["path"] in UPLOADS else MOST_BODY
        if refusal is None and int_or(headers.get("content-length"), 0) > limit:
            refusal = 413, TOO_LARGE
        if refusal is not None:
            answer = PlainTextResponse(refusal[1], refusal[0])
            await answer(scope, receive, _with_headers(send, scope))
            return
        await self._answer(scope, receive, _with_headers(send, scope), limit)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        """Pass a request on; what is too large, or fails in us, is answered here."""
        body, started = _LimitedBody(receive, limit), False

        async def send_once(message: Message) -> None:
            nonlocal started
            if not body.is_too_large or started:  # what the application made of a part of it
                started = True
                await send(message)

        try:
            await self._app(scope, body.receive, send_once)
        except Exception:
            if not body.is_too_large:
                _LOG.exception("%s %s failed", scope["method"], _without_token(scope["path"]))
            if started:
                raise
        if not started:
            status, text = (413, TOO_LARGE) if body.is_too_large else (500, FAILED)
            await PlainTextResponse(text, status)(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "").lower()
        if self._hosts and host not in self._hosts:
            return 421, "This server has another name."
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return None
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site not in (None, "same-origin", "none"):
            return 403, "This came from another site."
        own = {host, *self._hosts} - {""}
        if origin is not None and origin.partition("://")[2].lower() not in own:
            return 403, "This came from another site."
        return None


def int_or(text: str | None, default: int) -> int:
    """Return the number that a header holds, or else another."""
    return int(text) if text and text.isdigit() else default


class _LimitedBody:
    """Reads a body that does not say how long it is only so far."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive, self._left = receive, limit

    @property
    def is_too_large(self) -> bool:
        return self._left < 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        return {"type": "http.disconnect"} if self.is_too_large else message


def _without_token(path: str) -> str:
    """Return a path for the log, where links that let someone in must not be read."""
    first = path.split("/")[1:2]
    return f"/{first[0]}/..." if first and first[0] in ("join", "enter") else path


def _with_headers(send: Send, scope: Scope) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: Any = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
            if scope.get("scheme") == "https":
                headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        await send(message)

    return send_with_headers
