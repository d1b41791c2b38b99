"""The server goes away while people work: the page says so, keeps it, and sends it exactly once."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from review.persons import PASSWORD, accounts_for, benchmark_with, kept_events, page_of
from review.serving import ServedReview, free_port, served


def item(number: int) -> dict[str, Any]:
    return {
        "id": f"q-{number}", "kind": "single", "question": f"How many are in scene {number}?",
        "options": ["one", "two", "three"], "answer": ["B"],
    }  # fmt: skip


QUEUES = {
    "killed": "page: answer\nitems: benchmark\n",
    "closed": "page: answer\nitems: benchmark\n",
    "frozen": "page: verify\nitems: benchmark\n",
    "session": "page: answer\nitems: benchmark\n",
}


class Restarted:
    """A server that can be killed and started again at the same address."""

    def __init__(self, root: Path) -> None:
        self.root, self._stack = root, ExitStack()
        words = ("--port", free_port())  # that is still free when it is started again
        self.running: ServedReview = self._stack.enter_context(served(root, *words))
        self.address = self.running.address

    def kill(self) -> None:
        self.running.process.kill()
        self.running.process.wait()

    def start(self) -> None:
        port = urlsplit(self.address).port
        self.running = self._stack.enter_context(served(self.root, "--port", port))
        assert self.running.address == self.address

    def ensure(self) -> None:
        """Start it again where a test that failed left it dead."""
        if self.running.process.poll() is not None:
            self.start()

    def close(self) -> None:
        self._stack.close()


@pytest.fixture(scope="module")
def root(small_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("offline") / "benchmark"
    return benchmark_with(small_demo, folder, [item(n) for n in range(1, 5)], **QUEUES)


@pytest.fixture(scope="module")
def session(root: Path) -> str:
    return accounts_for(root, Ann="annotator")["Ann"]


@pytest.fixture(scope="module")
def server(root: Path, session: str) -> Iterator[Restarted]:
    running = Restarted(root)
    yield running
    running.close()


def opened(page: Any, server: Restarted, queue: str) -> str:
    """Open a queue, with one further item and its video in hand; return the question."""
    server.ensure()
    page.goto(f"{server.address}/q/{queue}")
    page.locator(".question").wait_for()
    page.locator("#work[data-ahead]").wait_for()
    return str(page.locator(".question").inner_text())


def answer(page: Any) -> None:
    page.keyboard.press("2")
    page.keyboard.press("Enter")


def test_work_goes_on_while_the_server_is_dead_and_is_sent_once_it_is_back(
    chrome: Any, server: Restarted, session: str, root: Path
) -> None:
    page = page_of(chrome, server.address, session)
    first = opened(page, server, "killed")
    server.kill()
    answer(page)
    expect(page.locator("#status")).to_contain_text("kept in this browser")
    expect(page.locator(".question")).not_to_have_text(first)  # the one in hand
    page.wait_for_function(
        "() => document.querySelector('video')?.readyState >= 2"
    )  # with its video
    answer(page)
    expect(page.locator("#work")).to_contain_text("no further item at hand")
    assert kept_events(root, "killed", "answered") == []
    server.start()
    expect(page.locator("#status")).to_have_text("Saved", timeout=60_000)
    expect(page.locator("#count")).to_contain_text("2 of 4")
    kept = kept_events(root, "killed", "answered")
    assert len(kept) == len({event["item"] for event in kept}) == 2
    assert (
        page.evaluate("() => Object.keys(localStorage).filter((key) => key.includes('outbox'))")
        == []
    )
    page.context.close()


def test_what_a_closed_tab_could_not_send_is_sent_by_the_next(
    chrome: Any, server: Restarted, session: str, root: Path
) -> None:
    page = page_of(chrome, server.address, session)
    opened(page, server, "closed")
    server.kill()
    answer(page)
    expect(page.locator("#status")).to_contain_text("kept in this browser")
    following = page.context.new_page()
    page.close()
    server.start()
    following.goto(f"{server.address}/")  # any page of ours
    expect(following.locator("#status")).to_have_text("Saved")
    assert len(kept_events(root, "closed", "answered")) == 1
    following.context.close()


def test_a_server_that_hangs_gets_the_answer_once_and_then_the_key_is_shown(
    chrome: Any, server: Restarted, session: str, root: Path
) -> None:
    page = page_of(chrome, server.address, session)
    opened(page, server, "frozen")
    server.running.process.send_signal(signal.SIGSTOP)
    try:
        answer(page)
        expect(page.locator("#status")).to_have_text("Saving …")
        expect(page.locator("#status")).to_contain_text("kept in this browser", timeout=60_000)
        expect(page.locator(".message")).to_contain_text("This item goes on once it is saved")
        expect(page.locator(".outcome")).to_have_count(0)
    finally:
        server.running.process.send_signal(signal.SIGCONT)
    expect(page.locator(".outcome")).to_be_visible(timeout=60_000)
    expect(page.locator("#status")).to_have_text("Saved")
    assert len(kept_events(root, "frozen", "answered")) == 1
    page.context.close()


def test_a_session_that_ended_is_renewed_in_another_tab_and_nothing_is_lost(
    chrome: Any, server: Restarted, session: str, root: Path
) -> None:
    page = page_of(chrome, server.address, session)
    first = opened(page, server, "session")
    page.context.clear_cookies()
    answer(page)
    expect(page.locator("#status")).to_contain_text("your session has ended")
    with page.context.expect_page() as other:
        page.locator("#status a").click()
    login = other.value
    login.get_by_label("Name").fill("Ann")
    login.get_by_label("Password").fill(PASSWORD)
    login.get_by_role("button", name="Log in").click()
    login.get_by_role("heading", name="Your work").wait_for()
    expect(page.locator("#status")).to_have_text("Saved", timeout=60_000)
    expect(page.locator(".question")).not_to_have_text(first)
    answer(page)  # with the token of the new session
    expect(page.locator("#count")).to_contain_text("2 of 4")
    kept = kept_events(root, "session", "answered")
    assert len(kept) == len({event["item"] for event in kept}) == 2
    page.context.close()
