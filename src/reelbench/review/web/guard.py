"""What every answer carries and no request gets past: headers, sizes, and where it comes from."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY = 1 << 20  # bytes of a request
MOST_UPLOAD = 64 << 20  # of a file of candidates
UPLOADS = ("/api/desk/import",)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
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
        self._app, self._hosts = app, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        limit = MOST_UPLOAD if scope["path"] in UPLOADS else MOST_BODY
        if refusal is None and int_or(headers.get("content-length"), 0) > limit:
            refusal = 413, "The request is too large."
        if refusal is not None:
            answer = PlainTextResponse(refusal[1], refusal[0])
            await answer(scope, receive, _with_headers(send, scope))
            return
        await self._app(scope, _limited(receive, limit), _with_headers(send, scope))

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        if self._hosts and headers.get("host", "") not in self._hosts:
            return 421, "This server has another name."
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return None
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site not in (None, "same-origin", "none"):
            return 403, "This came from another site."
        if origin not in (None, "null") and urlsplit(origin).netloc != headers.get("host"):
            return 403, "This came from another site."
        return None


def int_or(text: str | None, default: int) -> int:
    """Return the number that a header holds, or else another."""
    return int(text) if text and text.isdigit() else default


def _limited(receive: Receive, limit: int) -> Receive:
    """Read a body that does not say how long it is only so far."""
    read = 0

    async def receive_some() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > limit:
            return {"type": "http.disconnect"}
        return message

    return receive_some


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
