"""People write questions about videos: checked as they type, kept when they save, never lost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Dialog, Page, expect
from review.clips import EVEN, write_clip
from review.serving import Browser, ServedReview, joined, served

from reelbench.review.database import ReviewDatabase, sqlite_url
from reelbench.review.people import Accounts

QUESTION = {"kind": "open", "question": "What falls first?", "reference": "The red ball."}
PROTOCOLS = {
    "free": "page: write\nitems: media\nreviewers: 9\n",
    "meanwhile": "page: write\nitems: media\nreviewers: 9\n",
    "others": "page: write\nitems: media\nreviewers: 9\n",
    "twice": "page: write\nitems: media\nreviewers: 9\n",
    "strict": (
        "page: write\nitems: media\nreviewers: 9\nwatch: full\nkinds: [open]\nevidence: true\n"
        "checks: [yes_no]\ninstructions: Watch, then ask.\n"
        "questions: [{up_to: 60, least: 2}]\n"
        "tags: {skill: {several: true, choices: [Counting, Order]}}\n"
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six videos of two seconds, and a queue for each test that counts the questions in it."""
    root = tmp_path_factory.mktemp("write") / "benchmark"
    (root / "media").mkdir(parents=True)
    (root / "review").mkdir()
    write_clip(root / "media" / "clip-1.mp4", EVEN)
    for number in range(2, 7):
        (root / "media" / f"clip-{number}.mp4").write_bytes(
            (root / "media" / "clip-1.mp4").read_bytes()
        )
    for name, text in PROTOCOLS.items():
        (root / "review" / f"{name}.yaml").write_text(text)
    return root


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[ServedReview]:
    """A server with accounts."""
    with served(folder) as running:
        yield running


@pytest.fixture
def invite(server: ServedReview, folder: Path) -> Iterator[Any]:
    """Makes links for further people."""
    database = ReviewDatabase(sqlite_url(folder / "review" / "review.sqlite"))
    yield lambda: f"{server.address}/join/{Accounts(database).invite('annotator', 'test')}"
    database.close()


def enter(page: Page, link: str, name: str, queue: str) -> None:
    """Make an account in the browser, and open a queue."""
    page.goto(link)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Create my account").click()
    page.goto(page.url.split("/join")[0].rstrip("/") + f"/q/{queue}")
    expect(page.locator(".player .playhead").first).to_contain_text("frame 0")


def saved(page: Page) -> None:
    expect(page.locator("#status")).to_have_text("Saved")


def accept(dialog: Dialog) -> None:
    dialog.accept()


def test_a_question_with_options_is_written_edited_and_taken_back(page: Page, invite: Any) -> None:
    enter(page, invite(), "ann", "free")
    page.on("dialog", accept)
    page.get_by_label("Question", exact=True).fill("Which number comes first?")
    for letter, text in zip("ABC", ("three", "one", "two"), strict=True):
        page.get_by_label(f"Option {letter}", exact=True).fill(text)
    page.get_by_label("Option B is right").check()
    page.get_by_label("Move option B up").click()
    page.keyboard.press("Escape")
    for key in (*"...", "s", *"..", "e"):
        page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    saved(page)
    card = page.locator(".written")
    expect(card.locator(".key")).to_have_text("Aone")
    expect(card).to_contain_text("by you · 0:00.100 – 0:00.200")
    expect(page.get_by_label("Question", exact=True)).to_have_value("")
    page.reload()
    card.get_by_role("button", name="Edit").click()
    page.get_by_label("Question", exact=True).fill("Which number is the first?")
    page.get_by_label("Several right options").check()
    page.get_by_label("Option C is right").check()
    page.get_by_role("button", name="Save the question").click()
    expect(card).to_contain_text("Which number is the first?")
    expect(card.locator(".key")).to_have_text(["Aone", "Ctwo"])
    expect(card).to_have_count(1)
    card.get_by_role("button", name="Take back").click()
    expect(page.get_by_text("No questions yet.")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator("#count")).to_contain_text("1 of 6")


def test_who_presses_save_twice_saves_one_question(page: Page, invite: Any) -> None:
    enter(page, invite(), "ada", "twice")
    kinds = {"single": "One right option", "yesno": "Yes or no"}
    for number, press in enumerate((
        lambda: [page.keyboard.press("Control+Enter") for _ in range(2)],
        lambda: page.get_by_role("button", name="Save the question").dblclick(),
    ), 1):  # fmt: skip
        page.get_by_label("Question", exact=True).fill(f"How many of {number}?")
        page.get_by_label("Option A", exact=True).fill("one")
        page.get_by_label("Option B is right").check()
        page.keyboard.press("Control+Enter")
        for problem in ("The option that is marked", "Write at least 2 options."):
            expect(page.locator(".problem", has_text=problem)).to_be_visible()
        page.get_by_label("Option B", exact=True).fill("two")
        for kind in ("yesno", "single"):  # a look at another kind loses nothing
            page.get_by_label(kinds[kind]).check()
        press()
        expect(page.get_by_label("Question", exact=True)).to_have_value("")
        expect(page.locator(".written")).to_have_count(number)
    page.reload()
    expect(page.locator(".written")).to_have_count(2)
    expect(page.locator(".written .key")).to_have_text(["Btwo", "Btwo"])


def test_what_the_protocol_demands_is_said_as_one_types(page: Page, invite: Any) -> None:
    enter(page, invite(), "bea", "strict")
    expect(page.get_by_text("at least 2 questions; 0 written so far")).to_be_visible()
    save = page.get_by_role("button", name="Save the question")
    expect(save).to_be_disabled()
    question = page.get_by_label("Question", exact=True)
    question.fill("Is there a ball?")
    expect(page.get_by_text("A question that yes or no answers is not allowed")).to_be_visible()
    expect(page.get_by_text("Write the answer.")).to_be_hidden()
    question.fill("How many balls are there?")
    expect(page.get_by_text("A question that yes or no answers is not allowed")).to_be_hidden()
    page.keyboard.press("Escape")
    for key in (*"=====", " "):
        page.keyboard.press(key)
    expect(page.get_by_text("Watched in full")).to_be_visible()
    save.click()
    for sentence in ("Write the answer.", "Set the start and the end", "Choose skill."):
        expect(page.get_by_text(sentence)).to_be_visible()
    expect(page.get_by_label("Answer", exact=True)).to_be_focused()
    page.get_by_label("Answer", exact=True).fill("Two.")
    page.get_by_label("Counting").check()
    page.keyboard.press("Alt+e")  # keys move the video while one types, too
    expect(page.locator("button.span")).to_have_text("0:00.000 – 0:02.002")
    save.click()
    saved(page)
    expect(page.locator(".written")).to_contain_text("Counting")
    expect(page.get_by_text("1 written so far")).to_be_visible()


def test_what_was_typed_is_there_again_after_the_tab_was_closed(page: Page, invite: Any) -> None:
    enter(page, invite(), "cleo", "others")
    page.get_by_label("Open answer").check()
    with page.expect_response(lambda each: "/draft" in each.url and each.ok):
        page.get_by_label("Question", exact=True).fill("What is written here?")
    page.get_by_label("Answer", exact=True).fill("Not sent yet")
    page.reload()
    expect(page.get_by_label("Answer", exact=True)).to_have_value("Not sent yet")
    page.evaluate("() => localStorage.clear()")  # as in another browser
    page.goto("about:blank")
    page.go_back()
    expect(page.get_by_label("Question", exact=True)).to_have_value("What is written here?")


def test_a_question_that_another_wrote_meanwhile_is_shown_first(
    page: Page, invite: Any, server: ServedReview
) -> None:
    enter(page, invite(), "dora", "meanwhile")
    other = joined(server.address, invite(), "eve")
    task = other.next("meanwhile")
    assert task is not None
    page.get_by_label("Open answer").check()
    page.get_by_label("Question", exact=True).fill("What falls, and when?")
    page.get_by_label("Answer", exact=True).fill("The ball, at the end.")
    assert other.act(task, "wrote", {"item": QUESTION})[0] == 200
    page.keyboard.press("Control+Enter")
    conflict = page.get_by_role("alert")
    expect(conflict).to_contain_text("eve changed this meanwhile")
    expect(conflict).to_contain_text("What falls first?")
    expect(page.get_by_label("Question", exact=True)).to_have_value("What falls, and when?")
    page.get_by_role("button", name="Save mine, too").click()
    saved(page)
    expect(page.locator(".written .text")).to_have_text(
        ["What falls first?", "What falls, and when?"]
    )
    expect(page.locator(".written", has_text="by eve").get_by_role("button")).to_have_count(0)


def test_a_video_that_is_deleted_meanwhile_leaves_the_text(
    page: Page, invite: Any, folder: Path
) -> None:
    enter(page, invite(), "fay", "others")
    page.get_by_label("Open answer").check()
    page.get_by_label("Question", exact=True).fill("Where did it go?")
    page.get_by_label("Answer", exact=True).fill("Away.")
    video = folder / "media" / "clip-1.mp4"
    video.rename(folder / "away.mp4")
    try:
        page.get_by_role("button", name="Save the question").click()
        expect(page.get_by_text("no longer in the queue").first).to_be_visible()
        expect(page.locator("#main")).to_contain_text("Where did it go?")
    finally:
        (folder / "away.mp4").rename(video)


def test_only_ones_own_questions_are_edited_and_a_question_is_taken_back_once(
    invite: Any, server: ServedReview
) -> None:
    someone = joined(server.address, invite(), "gil")
    task = someone.next("others")
    assert task is not None
    stranger = {"item": {**QUESTION, "id": "of-another"}}
    status, refused = someone.act(task, "wrote", stranger)
    assert status == 422
    assert "is not there" in refused["error"]
    assert someone.act(task, "wrote", {"item": QUESTION})[0] == 200
    written = _own(someone)
    changed = {"item": {**QUESTION, "id": written["id"], "question": "What falls last?"}}
    assert someone.act(task, "wrote", changed)[0] == 200
    assert _own(someone)["question"] == "What falls last?"
    assert someone.act(task, "withdrew", {"id": written["id"]})[0] == 200
    status, refused = someone.act(task, "withdrew", {"id": written["id"]})
    assert status == 422
    assert "taken back" in refused["error"]


def _own(someone: Browser) -> dict[str, Any]:
    task = someone.next("others")
    assert task is not None
    (own,) = [each for each in task["written"] if each["author"] == "gil"]
    return own  # type: ignore[no-any-return]
