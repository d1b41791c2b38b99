"""Review servers for tests: the real command in a process of its own, and requests to it."""

import json
import os
import random
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

from commands import Command


@dataclass
class ServedReview:
    """A running server: where it is, and the link that it printed."""

    link: str
    process: Command

    @property
    def address(self) -> str:
        return re.match(r"http://[^/]+", self.link)[0]  # type: ignore[index]


@contextmanager
def served(root: Path, *words: object) -> Iterator[ServedReview]:
    """Start `reelbench review` on a free port, and stop it as Ctrl-C would."""
    reading, writing = os.pipe()
    with open(os.devnull, "r+b") as nothing:
        streams = (nothing.fileno(), nothing.fileno(), writing)
        process = Command(["review", root, "--no-browser", "--port", 0, *words], streams)
    os.close(writing)
    talk, said = open(reading), ""  # noqa: SIM115
    try:
        while not (found := re.search(r"https?://\S+", said)):
            line = talk.readline()
            assert line, f"the server ended: {said}"
            said += line
        yield ServedReview(found[0], process)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(100)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        talk.close()


@dataclass
class Browser:
    """Someone who sends requests as a page does, with cookies and the token of the page."""

    address: str
    csrf: str = ""
    jar: CookieJar = field(default_factory=CookieJar)

    def __post_init__(self) -> None:
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Return the status and the answer: JSON as what it holds, else text."""
        data = None if body is None else json.dumps(body).encode()
        sent = {"x-csrf-token": self.csrf, "content-type": "application/json", **(headers or {})}
        url = path if path.startswith("http") else self.address + path
        request = urllib.request.Request(url, data, sent, method=method)
        if method == "POST" and data is None:
            request.data = b""
        try:
            with self._opener.open(request, timeout=100) as response:
                return response.status, _content(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _content(error)

    def visit(self, path: str) -> str:
        """Open a page, and take the token that it carries."""
        status, text = self.send("GET", path)
        assert status == 200, text
        self.csrf = re.search(r'name="csrf" content="(\w*)"', text)[1]  # type: ignore[index]
        return str(text)

    def submit(self, path: str, **fields: str) -> tuple[int, Any]:
        """Send a form."""
        data = urlencode({"csrf": self.csrf, **fields}).encode()
        request = urllib.request.Request(self.address + path, data, method="POST")
        try:
            with self._opener.open(request, timeout=100) as response:
                text = response.read().decode()
                found = re.search(r'name="csrf" content="(\w*)"', text)
                self.csrf = found[1] if found else self.csrf
                return response.status, text
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def next(self, queue: str) -> dict[str, Any] | None:
        """Take the next item of a queue."""
        status, answer = self.send("POST", f"/api/q/{queue}/next")
        assert status == 200, answer
        return answer["task"]  # type: ignore[no-any-return]

    def act(
        self, task: dict[str, Any], kind: str, body: dict[str, Any], **changed: Any
    ) -> tuple[int, Any]:
        """Send an action about an item."""
        action = {
            "id": uuid4().hex, "type": kind, "item": task["item"], "digest": task["digest"],
            "seen": task["seen"], "body": body, **changed,
        }  # fmt: skip
        return self.send("POST", f"/api/q/{task['queue']}/events", action)


def _content(response: Any) -> Any:
    text = response.read()
    kind = response.headers.get("content-type", "")
    return (
        json.loads(text) if kind.startswith("application/json") else text.decode(errors="replace")
    )


def joined(address: str, link: str, name: str, password: str = "a long password") -> Browser:
    """Make an account with an invitation's link, and return its browser."""
    someone = Browser(address)
    someone.visit(link)
    status, text = someone.submit(re.sub(r"^http://[^/]+", "", link), name=name, password=password)
    assert status == 200, text
    return someone


def local(review: ServedReview) -> Browser:
    """Enter a server that was started with --local."""
    someone = Browser(review.address)
    someone.visit(review.link)
    return someone


def item_query(item: str) -> str:
    """Return the part of an address that names an item."""
    return f"?item={quote(item)}"


def free_port() -> int:
    """Return a port that nobody listens on, nor will, of those that no system hands out itself.

    One of the others may be another's by the time it is used, or used again.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
