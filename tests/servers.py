"""A real HTTP server on loopback that speaks chat completions, or fails in a way one names."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, dict[str, str], bytes]
Answer = Callable[[dict[str, Any], int], "Reply | None"]


class Server:
    """What it was asked, and how to answer."""

    def __init__(self, answer: Answer, latency: float) -> None:
        self.answer, self.latency = answer, latency
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self.inside = self.most_inside = 0
        self.url = ""


def completion(text: str | None, **more: Any) -> Reply:
    """A good answer, as the published format has it."""
    message = {"role": "assistant", "content": text, **more.pop("message", {})}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": more.pop("reason", "stop")}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 3, "total_tokens": 103},
    }
    return 200, {}, json.dumps(body).encode()


@contextmanager
def serving(answer: Answer, latency: float = 0.0) -> Iterator[Server]:
    """Serve until the block ends; ``answer`` gets the body and the number of the request."""
    server = Server(answer, latency)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with server.lock:
                number = len(server.requests)
                server.requests.append(body)
                server.headers.append(dict(self.headers))
                server.inside += 1
                server.most_inside = max(server.most_inside, server.inside)
            if server.latency:
                time.sleep(server.latency)
            reply = server.answer(body, number)
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
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Be silent."""

    class Quiet(ThreadingHTTPServer):
        request_queue_size = 256
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Clients of these tests hang up as they please."""

    http = Quiet(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(
        target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
