"""The page Rate: scales that count once touched, calibration first, others' ratings after one's own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from review.persons import accounts_for, benchmark_with, kept_events, page_of
from review.serving import ServedReview, served

PROTOCOL = """
page: rate
items: benchmark
reviewers: 2
calibration: {count: 1}
axes:
  Correctness: {anchors: {0: wrong, 5: fully right}}
  Difficulty: {lowest: 1, highest: 4, anchors: {1: trivial, 4: hard}}
"""


def item(number: int) -> dict[str, Any]:
    return {
        "id": f"q-{number}", "kind": "single", "question": f"What is in scene {number}?",
        "options": ["a ring", "a star", "a heart"], "answer": ["B"],
    }  # fmt: skip


@pytest.fixture(scope="module")
def root(small_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rate") / "benchmark"
    return benchmark_with(small_demo, folder, [item(1), item(2), item(3)], axes=PROTOCOL)


@pytest.fixture(scope="module")
def sessions(root: Path) -> dict[str, str]:
    return accounts_for(root, Ann="annotator", Ben="annotator")


@pytest.fixture(scope="module")
def server(root: Path, sessions: dict[str, str]) -> Iterator[ServedReview]:
    with served(root) as running:
        yield running


def opened(chrome: Any, server: ServedReview, session: str) -> Any:
    page = page_of(chrome, server.address, session)
    page.goto(f"{server.address}/q/axes")
    page.locator(".axis").first.wait_for()
    return page


def test_calibration_comes_first_and_shows_the_others_ratings_after_ones_own(
    chrome: Any, server: ServedReview, sessions: dict[str, str], root: Path
) -> None:
    ann = opened(chrome, server, sessions["Ann"])
    expect(ann.locator(".badge")).to_contain_text("Calibration item")
    expect(ann.locator(".options .key")).to_contain_text("a star")
    first = ann.locator(".question").inner_text()
    send = ann.get_by_role("button", name="Save ratings")
    expect(send).to_be_disabled()
    expect(ann.locator(".axis output")).to_have_text(["not rated yet", "not rated yet"])
    ann.keyboard.press("4")
    ann.keyboard.press("Enter")  # one scale is not rated yet: nothing is sent
    ann.get_by_label("Difficulty").focus()
    ann.keyboard.press("9")  # there is no 9
    expect(ann.locator(".axis output")).to_have_text(["4", "not rated yet"])
    ann.reload()
    expect(ann.locator(".axis output")).to_have_text(["4", "not rated yet"])
    ann.get_by_label("Difficulty").press("3")
    ann.get_by_label("Comment").fill("quite lucid")
    ann.get_by_label("Comment").press("Control+Enter")
    expect(ann.locator("#work")).to_contain_text("Nobody else has rated this item yet.")
    ann.keyboard.press("Enter")
    expect(ann.locator(".badge")).to_have_count(0)

    ben = opened(chrome, server, sessions["Ben"])
    expect(ben.locator(".question")).to_have_text(first)
    assert "lucid" not in ben.content()
    ben.get_by_label("Correctness").press("ArrowRight")
    ben.get_by_label("Difficulty").press("1")
    ben.keyboard.press("Enter")
    row = ben.locator("tbody tr").filter(has_text="Ann")
    expect(row).to_contain_text("43quite lucid")
    (mine, theirs) = kept_events(root, "axes", "rated")
    assert mine["body"]["rating"] == {"Correctness": 4, "Difficulty": 3}
    assert theirs["body"]["rating"] == {"Correctness": 3, "Difficulty": 1}
    assert {mine["item"]} == {theirs["item"]}
    ann.context.close()
    ben.context.close()
