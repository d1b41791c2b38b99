"""A server with accounts and hostile items, and requests that no browser would send."""

import json
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from review.serving import Browser, ServedReview, joined

from reelbench.review.people import Accounts

SCRIPT = "<img src=x onerror=window.harmed=1><script>window.harmed=1</script>"


@dataclass
class Town:
    """A server with accounts, and who lives there."""

    served: ServedReview
    root: Path
    accounts: Accounts
    organiser: Browser
    ann: Browser
    bob: Browser

    @property
    def address(self) -> str:
        return self.served.address

    def newcomer(self, role: str = "annotator") -> Browser:
        """Let someone else in."""
        token = self.accounts.invite(role, "olga")
        return joined(self.address, f"/join/{token}", f"n {uuid4().hex[:8]}")


def make_hostile(root: Path) -> None:
    """Let items carry scripts, and name files that are not theirs to name."""
    lines = [json.loads(line) for line in (root / "items.jsonl").read_text().splitlines()]
    name = "media/<img src=x onerror=harmed=1>.mp4"
    shutil.copy(root / lines[0]["media"][0]["path"], root / name)
    (root / "media" / "link.mp4").symlink_to("/etc/passwd")
    first = {**lines[0], "question": f"{SCRIPT} what?", "media": [{"path": name}]}
    first["options"] = [f"{number} {SCRIPT}" for number, _ in enumerate(first["options"])]
    odd = [
        {**lines[1], "id": "link", "media": [{"path": "media/link.mp4"}]},
        {**lines[1], "id": "database", "media": [{"path": "review/review.sqlite"}]},
        {**lines[1], "id": "wal", "media": [{"path": "review/review.sqlite-wal"}]},
        {**lines[1], "id": "../../x", "media": [{"path": "media/none.mp4"}]},
    ]
    kept = [first, *lines[1:], *odd]
    (root / "items.jsonl").write_text("".join(json.dumps(each) + "\n" for each in kept))


def raw(address: str, request: bytes) -> bytes:
    """Send bytes as they are, and return what comes back."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=100) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def get(town: Town, path: str, someone: Browser | None = None, **headers: str) -> bytes:
    """Ask for a path as it is written here: nothing is made plainer on the way."""
    host = town.address.removeprefix("http://")
    cookie = "; ".join(f"{c.name}={c.value}" for c in someone.jar) if someone else ""
    fields = {"Host": host, "Cookie": cookie, "Connection": "close", **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    return raw(town.address, f"GET {path} HTTP/1.1\r\n{head}\r\n".encode())


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])
