"""Real HTTP servers on loopback that speak as the providers publish, or fail in a way one names."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from reelbench.models.calls import Caller

Reply = tuple[int, dict[str, str], bytes]
Answer = Callable[[dict[str, Any], int], "Reply | None"]


@dataclass(frozen=True)
class Call:
    """One request as it arrived."""

    number: int
    method: str
    path: str
    headers: dict[str, str]  # with names in lower case
    raw: bytes
    body: dict[str, Any]  # empty where the bytes are no JSON
    when: float  # on the clock of time.monotonic


class Server:
    """What it was asked, and how to answer."""

    answer: Answer

    def __init__(self, handle: Callable[[Call], "Reply | None"], latency: float) -> None:
        self.handle, self.latency = handle, latency
        self.calls: list[Call] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.broken: list[Exception] = []  # faults of a test's own handler
        self.lock = threading.Lock()
        self.inside = self.most_inside = 0
        self.url = ""

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [f"{call.method} {call.path}" for call in self.calls]


def json_reply(body: Any, status: int = 200, **headers: str) -> Reply:
    """Some JSON; in the names of headers, _ stands for -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, json.dumps(body).encode()


def completion(text: str | None, **more: Any) -> Reply:
    """A good answer, as OpenAI's published format has it."""
    message = {"role": "assistant", "content": text, **more.pop("message", {})}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": more.pop("reason", "stop")}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 3, "total_tokens": 103},
    }
    return json_reply(body | more)


def anthropic_message(*content: Any, **more: Any) -> Reply:
    """A good answer, as Anthropic's published format has it; a text stands for its block."""
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block
              for block in content]  # fmt: skip
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": blocks,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 3},
    }
    return json_reply(body | more)


def gemini_reply(*parts: Any, reason: str = "STOP", **more: Any) -> Reply:
    """A good answer, as Google's published format has it; a text stands for its part."""
    said = [{"text": part} if isinstance(part, str) else part for part in parts]
    candidate = {"content": {"role": "model", "parts": said}, "finishReason": reason, "index": 0}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 3, "totalTokenCount": 103}
    return json_reply({"candidates": [candidate], "usageMetadata": usage} | more)


@contextmanager
def serving(answer: Answer, latency: float = 0.0) -> Iterator[Server]:
    """Serve until the block ends; ``answer`` gets the body and the number of the request."""
    with hosting(lambda call: server.answer(call.body, call.number), latency) as server:
        server.answer = answer
        server.url += "/v1"
        yield server


@contextmanager
def hosting(handle: Callable[[Call], Reply | None], latency: float = 0.0) -> Iterator[Server]:
    """Serve until the block ends; ``handle`` gets all there is to know about a request."""
    server = Server(handle, latency)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or each answer on a used connection comes 40 ms late
        wbufsize = -1

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            raw = self.rfile.read(length)
            if len(raw) < length:  # whoever sent it was killed meanwhile
                self.close_connection = True
                return
            with server.lock:
                named = {name.lower(): value for name, value in self.headers.items()}
                body, number = _parsed(raw), len(server.calls)
                call = Call(number, self.command, self.path, named, raw, body, time.monotonic())
                server.calls.append(call)
                server.requests.append(body)
                server.headers.append(dict(self.headers))
                server.inside += 1
                server.most_inside = max(server.most_inside, server.inside)
            if server.latency:
                time.sleep(server.latency)
            try:
                reply = server.handle(call)
            except Exception as error:
                server.broken.append(error)
                raise
            finally:
                with server.lock:
                    server.inside -= 1
            if reply is None:  # hang up in the middle
                self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"choices": [{')
                self.close_connection = True
                return
            status, headers, content = reply
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else content)

        do_GET = do_HEAD = do_POST  # noqa: N815 - as the base class calls them

        def log_message(self, *_: object) -> None:
            """Be silent."""

    class Quiet(ThreadingHTTPServer):
        request_queue_size = 256
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Clients of these tests hang up as they please."""

    http = Quiet(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(
        target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
    for error in server.broken:
        raise error


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def without_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let nobody who asks wait; return how long each would have waited."""
    pauses: list[float] = []

    async def noting(_: Caller, seconds: float) -> None:
        if seconds > 0:
            pauses.append(seconds)

    monkeypatch.setattr(Caller, "_rest", noting)
    return pauses
