"""Annotators who work at the same time: each takes an item, thinks, saves, and never gives up.

They run in a process of their own, over plain sockets, so that they cost little beside the server.
Run by benchmarks/review.py: a plan comes on standard input as JSON; a report goes out as JSON.
"""

import asyncio
import json
import random
import sys
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from reelbench.review.people import csrf_token


@dataclass
class Report:
    """What was acknowledged, and how long each save took."""

    acknowledged: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    tries: int = 0  # beyond the first
    refused: list[str] = field(default_factory=list)


class Connection:
    """One kept-alive connection of a person, opened again when it breaks."""

    def __init__(self, port: int, session: str) -> None:
        self._port = port
        self._head = (
            f"Host: 127.0.0.1:{port}\r\nCookie: reelbench_session={session}\r\n"
            f"X-CSRF-Token: {csrf_token(session)}\r\nContent-Type: application/json\r\n"
        )
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: Any = None) -> tuple[int, Any]:
        """Send one request; ``OSError`` where nobody answers."""
        try:
            return await asyncio.wait_for(self._post(path, body), 30)
        except (OSError, EOFError, ValueError, TimeoutError) as error:
            if self._streams:
                self._streams[1].close()
            self._streams = None
            raise OSError(str(error)) from error

    async def _post(self, path: str, body: Any) -> tuple[int, Any]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\n{self._head}Content-Length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        status = int(lines[0].split()[1])
        length = next(int(line.split(":")[1]) for line in lines if line[:15] == "content-length:")
        text = await reader.readexactly(length)
        return status, json.loads(text) if text[:1] in (b"{", b"[") else text.decode()


async def insist(connection: Connection, path: str, body: Any, report: Report) -> tuple[int, Any]:
    """Send until someone answers, as the pages do: the same action, again and again."""
    wait = 0.05
    while True:
        try:
            status, answer = await connection.post(path, body)
            if status < 500:
                return status, answer
        except OSError:
            pass
        report.tries += 1
        await asyncio.sleep(wait)
        wait = min(2 * wait, 1.0)


async def annotate(plan: dict[str, Any], number: int, report: Report) -> None:
    """Work for the planned time."""
    rng, end = random.Random(number), time.monotonic() + plan["seconds"]
    connection = Connection(plan["port"], plan["sessions"][number])
    queue = ("answer", "verify")[number % 2]
    await asyncio.sleep(rng.random() * plan["pause"])
    while time.monotonic() < end:
        if plan["peer"]:
            await asyncio.sleep(2 * rng.random() * plan["pause"])
            await save(connection, "/save", "answered", {"item": "q-1", "digest": "d"}, report)
            continue
        status, answer = await insist(connection, f"/api/q/{queue}/next", None, report)
        if status != 200 or answer["task"] is None:
            report.refused.append(str(answer))
            return
        task, path = answer["task"], f"/api/q/{queue}/events"
        await asyncio.sleep(2 * rng.random() * plan["pause"])
        body = {"choice": [rng.randrange(4)], "seconds": 4.2}
        if await save(connection, path, "answered", task, report, body) and queue == "verify":
            await save(connection, path, "verdict", task, report, {"decision": "accept"})


async def save(
    connection: Connection, path: str, kind: str, task: Any, report: Report, body: Any = None
) -> bool:
    """Send one action, and keep what became of it."""
    action = {
        "id": uuid4().hex, "type": kind, "item": task["item"], "digest": task["digest"],
        "seen": task.get("seen", 0), "body": body or {},
    }  # fmt: skip
    report.sent.append(action["id"])
    began = time.perf_counter()
    status, answer = await insist(connection, path, action, report)
    report.seconds.append(time.perf_counter() - began)
    if status == 200:
        report.acknowledged.append(action["id"])
    else:
        report.refused.append(str(answer))
    return status == 200


async def main() -> None:
    """Let everyone work, and report."""
    plan, report = json.load(sys.stdin), Report()
    await asyncio.gather(*(annotate(plan, at, report) for at in range(len(plan["sessions"]))))
    json.dump(vars(report), sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
