"""The page Answer: a test without a key, without a way back, and without a score."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from review.persons import accounts_for, benchmark_with, item_of_question, kept_events, page_of
from review.serving import ServedReview, item_query, served

OPTIONS = ["one", "two", "three", "four", "five", "six"]


def item(number: int) -> dict[str, Any]:
    return {
        "id": f"q-{number}", "kind": "single", "question": f"How many are in scene {number}?",
        "options": OPTIONS, "answer": ["B"],
    }  # fmt: skip


OPEN = {
    "id": "q-open",
    "kind": "open",
    "question": "Describe it.",
    "reference": "An emerald heart.",
}
ITEMS = [item(1), item(2), OPEN]
TEST = "page: answer\nitems: benchmark\n"


@pytest.fixture(scope="module")
def root(small_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answer") / "benchmark"
    return benchmark_with(small_demo, folder, ITEMS, exam=TEST, homework=TEST + "back: true\n")


@pytest.fixture(scope="module")
def sessions(root: Path) -> dict[str, str]:
    return accounts_for(root, **dict.fromkeys(("Ann", "Ben", "Cy", "Dee"), "annotator"))


@pytest.fixture(scope="module")
def server(root: Path, sessions: dict[str, str]) -> Iterator[ServedReview]:
    with served(root) as running:
        yield running


def opened(chrome: Any, server: ServedReview, session: str, queue: str) -> Any:
    page = page_of(chrome, server.address, session)
    page.goto(f"{server.address}/")
    page.goto(f"{server.address}/q/{queue}")
    page.locator(".question").wait_for()
    return page


def answer(page: Any) -> str:
    """Answer what is shown; return its question."""
    question = str(page.locator(".question").inner_text())
    if page.get_by_label("Your answer").count():
        page.get_by_label("Your answer").fill("A shape that moves.")
        page.keyboard.press("Control+Enter")
    else:
        page.keyboard.press("2")
        page.keyboard.press("Enter")
    return question


def test_there_is_no_way_back_and_no_score(
    chrome: Any, server: ServedReview, sessions: dict[str, str], root: Path
) -> None:
    page = opened(chrome, server, sessions["Ann"], "exam")
    bodies: list[Any] = []
    page.on("response", lambda each: bodies.append(each) if "/events" in each.url else None)
    expect(page.locator("#work")).to_contain_text("cannot be changed")
    first = item_of_question(ITEMS, page)["id"]
    question = answer(page)
    expect(page.locator(".question")).not_to_have_text(question)
    assert all(body.json()["reveal"] is None for body in bodies)
    second = page.locator(".question").inner_text()
    page.go_back()
    page.go_forward()
    expect(page.locator(".question")).to_have_text(second)
    for path in ("/api/q/exam/task", "/media/exam/0"):
        response = page.request.get(server.address + path + item_query(first))
        assert response.status == 422
        assert "no way back" in response.json()["error"]
    page.reload()  # what is open stays open
    expect(page.locator(".question")).to_have_text(second)
    answer(page)
    expect(page.locator(".question")).not_to_have_text(second)
    answer(page)
    expect(page.locator("#work")).to_contain_text("Thank you!")
    assert not {"right", "wrong", "score", "emerald"} & set(page.inner_text("main").lower().split())
    kept = kept_events(root, "exam", "answered")
    assert len({event["item"] for event in kept}) == 3
    for event in kept:
        body = event["body"]
        assert body["seconds"] >= 0
        if event["item"] == "q-open":
            assert body["written"] == "A shape that moves."
        else:  # the second option as shown, in the benchmark's letters
            assert body["answer"] == ["ABCDEF"[body["order"][1]]]
    page.context.close()


def test_what_was_answered_in_another_tab_is_said_and_left_behind(
    chrome: Any, server: ServedReview, sessions: dict[str, str]
) -> None:
    first = opened(chrome, server, sessions["Cy"], "exam")
    second = first.context.new_page()
    second.goto(f"{server.address}/q/exam")
    second.locator(".question").wait_for()
    question = answer(first)
    expect(first.locator("#count")).to_contain_text("1 of 3")
    assert answer(second) == question
    notice = second.locator("#notices")
    expect(notice).to_contain_text("You have answered this already")
    notice.get_by_role("button", name="Go on with another item").click()
    expect(second.locator("#count")).to_contain_text("1 of 3")
    expect(second.locator(".question")).not_to_have_text(question)
    first.context.close()


def test_everyone_has_an_order_of_options_that_a_reload_keeps(
    chrome: Any, server: ServedReview, sessions: dict[str, str]
) -> None:
    orders = []
    for who in ("Ben", "Dee"):
        page = opened(chrome, server, sessions[who], "exam")
        while not page.locator(".choice").count():
            answer(page)
            page.locator(".choice").first.wait_for()
        shown = page.locator(".choice .text").all_inner_texts()
        page.reload()
        page.locator(".choice").first.wait_for()
        assert page.locator(".choice .text").all_inner_texts() == shown
        orders.append(shown)
        page.context.close()
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(OPTIONS)
    assert orders[0] != orders[1]


def test_where_the_protocol_allows_it_one_goes_back_and_changes_an_answer(
    chrome: Any, server: ServedReview, sessions: dict[str, str], root: Path
) -> None:
    page = opened(chrome, server, sessions["Ann"], "homework")
    first = answer(page)
    expect(page.locator(".question")).not_to_have_text(first)
    page.get_by_role("button", name="Previous question").click()
    expect(page.locator(".question")).to_have_text(first)
    if page.locator(".choice").count():
        expect(page.locator(".choice input").nth(1)).to_be_checked()
        page.keyboard.press("3")
        page.keyboard.press("Enter")
    else:
        page.get_by_label("Your answer").fill("Something else.")
        page.keyboard.press("Control+Enter")
    expect(page.locator(".question")).not_to_have_text(first)
    once, again = kept_events(root, "homework", "answered")
    assert once["item"] == again["item"]
    assert once["body"] != again["body"]
    page.context.close()
