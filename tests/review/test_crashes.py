"""Nothing that was acknowledged is lost, and nothing is kept twice, whatever ends or is full."""

import os
import resource
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from review.databases import PostgresServer
from review.serving import Browser, free_port, local, served
from support import is_stopped, reelbench

from reelbench.review.database import ReviewDatabase, sqlite_url
from reelbench.review.people import csrf_token
from reelbench.review.serve import ServeOptions, opened_review


def until(condition: Callable[[], Any], seconds: float = 200.0) -> Any:
    """Wait for a condition, and return it."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)
    return found


class Worker(threading.Thread):
    """Someone who answers items and sends each answer until it is acknowledged."""

    def __init__(self, port: int, session: str) -> None:
        super().__init__(daemon=True)
        self._someone = Browser(f"http://127.0.0.1:{port}", csrf_token(session))
        self._headers = {"cookie": f"reelbench_session={session}"}
        self.acknowledged, self.refused = list[str](), list[Any]()
        self.is_over = threading.Event()

    def insist(self, path: str, body: Any = None) -> Any:
        while True:
            try:
                status, answer = self._someone.send("POST", path, body, self._headers)
                if status == 200:
                    return answer
                if status < 500:
                    self.refused.append(answer)
                    self.is_over.set()
                    return {}
            except (OSError, HTTPException):  # it was killed before, or in the middle
                pass
            time.sleep(0.02)

    def run(self) -> None:
        while not self.is_over.is_set():
            task = self.insist("/api/q/answer/next").get("task")
            if task is None:
                return
            action = {"id": uuid4().hex, "type": "answered", "item": task["item"],
                      "digest": task["digest"], "seen": 0, "body": {"choice": [0]}}  # fmt: skip
            if self.insist("/api/q/answer/events", action):
                self.acknowledged.append(action["id"])


class Team(list[Worker]):
    """People who work at the same time."""

    def go_on(self) -> None:
        """Wait until everyone has saved some more."""
        before = [len(worker.acknowledged) for worker in self]
        until(lambda: all(w.refused or len(w.acknowledged) > b + 3
                          for w, b in zip(self, before, strict=True)))  # fmt: skip

    def end(self, url: str) -> None:
        """Let everyone finish; what was acknowledged must be kept, once."""
        for worker in self:
            worker.is_over.set()
        for worker in self:
            worker.join(200)
            assert not worker.is_alive()
        assert [worker.refused for worker in self] == [[] for _ in self]
        check_kept(url, [key for worker in self for key in worker.acknowledged])


def team(benchmark: Path, url: str, port: int, size: int = 3) -> Team:
    """Make accounts before the server is started, and let them begin."""
    with opened_review(benchmark, ServeOptions(database=url)) as (_, accounts, _):
        sessions = [accounts.local_session(f"worker {at}") for at in range(size)]
    workers = Team(Worker(port, session) for session in sessions)
    for worker in workers:
        worker.start()
    return workers


def many_items(benchmark: Path, count: int = 3000) -> None:
    """Give a benchmark so many items that workers do not run out of them."""
    line = (benchmark / "items.jsonl").read_text().splitlines()[0]
    first = line.split('"id": "', 1)[1].split('"', 1)[0]
    lines = [line.replace(f'"id": "{first}"', f'"id": "q{at}"') for at in range(count)]
    (benchmark / "items.jsonl").write_text("\n".join(lines) + "\n")


def check_kept(url: str, acknowledged: list[str]) -> None:
    database = ReviewDatabase(url)
    events = database.events_after(0)
    database.close()
    assert set(acknowledged) <= {event.id for event in events}
    made = Counter((event.who, event.item, event.type) for event in events)
    assert [each for each, count in made.items() if count > 1] == []


def database_url(benchmark: Path, words: tuple[str, ...]) -> str:
    return words[1] if words else sqlite_url(benchmark / "review" / "review.sqlite")


def test_kill_9_of_the_server_under_load_loses_nothing(
    benchmark: Path, database_words: tuple[str, ...]
) -> None:
    many_items(benchmark)
    port, url = free_port(), database_url(benchmark, database_words)
    workers = team(benchmark, url, port)
    for _ in range(2):
        with served(benchmark, "--port", port, *database_words) as running:
            workers.go_on()
            running.process.kill()
            running.process.wait()
    with served(benchmark, "--port", port, *database_words):
        workers.end(url)


def test_kill_9_of_postgresql_under_load_loses_nothing_and_needs_no_restart(
    benchmark: Path, postgresql: PostgresServer
) -> None:
    many_items(benchmark)
    port, url = free_port(), postgresql.database()
    workers = team(benchmark, url, port)
    with served(benchmark, "--local", "--port", port, "--database", url) as running:
        someone = local(running)
        task = someone.next("answer")
        assert task is not None
        workers.go_on()
        postgresql.kill()
        try:
            status, answer = someone.act(task, "answered", {"choice": [0]})
            assert status == 503
            assert "cannot be used" in answer["error"]
            assert someone.send("GET", "/")[0] == 200  # what is known can be looked at
            until(lambda: someone.send("GET", f"/media/answer/0?item={task['item']}")[0] == 200)
        finally:
            postgresql.start()
        workers.go_on()
        workers.end(url)


def test_on_a_full_disk_a_save_is_refused_and_goes_through_later(benchmark: Path) -> None:
    """Files that may not grow are as a full disk, for who writes to them."""
    (benchmark / "review").mkdir()
    with served(benchmark, "--local") as running:
        someone = local(running)
        task = someone.next("answer")
        assert task is not None
        key = uuid4().hex
        size = max(each.stat().st_size for each in (benchmark / "review").iterdir())
        limits = resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (size // 2, limits[1]))
        status, answer = someone.act(task, "answered", {"choice": [0]}, id=key)
        assert status == 503
        assert "cannot be used" in answer["error"]
        assert (
            someone.send("GET", f"/api/q/answer/task?item={task['item']}")[1]["task"]["done"]
            is False
        )
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, limits)
        assert someone.act(task, "answered", {"choice": [0]}, id=key)[0] == 200
    check_kept(database_url(benchmark, ()), [key])


def test_a_second_server_is_told_where_the_first_is(benchmark: Path) -> None:
    with served(benchmark, "--local") as first:
        refused = reelbench("review", benchmark, "--no-browser")
    assert refused.returncode != 0
    assert f"already being reviewed, at {first.address}" in refused.stderr


def test_a_folder_that_cannot_be_written_is_told(benchmark: Path) -> None:
    if os.geteuid() == 0:  # who may write everywhere, except where there is no folder
        (benchmark / "review").write_text("")
    else:
        benchmark.chmod(0o555)
    refused = reelbench("review", benchmark, "--no-browser")
    assert refused.returncode != 0
    assert "review cannot be written" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("name", ["review.sqlite", "protocol"])
def test_damaged_files_of_a_review_are_told(benchmark: Path, name: str) -> None:
    folder = benchmark / "review"
    folder.mkdir()
    path = folder / ("verify.yaml" if name == "protocol" else name)
    path.write_bytes(b"\xff not what it should be\n" * 300)
    refused = reelbench("review", benchmark, "--no-browser")
    assert refused.returncode != 0
    assert path.name in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_database_that_hangs_does_not_take_the_pages_with_it(
    benchmark: Path, postgresql: PostgresServer
) -> None:
    url = postgresql.database()
    with served(benchmark, "--local", "--database", url) as running:
        someone = local(running)
        task = someone.next("answer")
        assert task is not None
        video = f"/media/answer/0?item={task['item']}"
        until(lambda: someone.send("GET", video)[0] == 200)  # it is prepared
        assert postgresql.process is not None
        first = postgresql.process.pid
        os.kill(first, signal.SIGSTOP)  # or it would start a fresh process for a new connection
        until(lambda: is_stopped(first))
        listed = subprocess.run(["pgrep", "-P", str(first)], capture_output=True, text=True)
        pids = [*map(int, listed.stdout.split()), first]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            assert someone.act(task, "answered", {"choice": [0]})[0] == 503
            assert someone.send("GET", video)[0] == 200
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        until(lambda: someone.act(task, "answered", {"choice": [0]})[0] in (200, 422))
