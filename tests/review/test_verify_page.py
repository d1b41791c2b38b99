"""The page Verify, as people use it: answer, see the key, decide, discuss."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from review.persons import (
    accounts_for,
    benchmark_with,
    item_of_question,
    kept_events,
    page_of,
    place_of,
    write_items,
)
from review.serving import ServedReview, served

COLOURS = ["a red ring", "a blue star", "a green heart", "a yellow square"]


def single(number: int) -> dict[str, Any]:
    return {
        "id": f"q-{number}", "kind": "single", "question": f"What is seen in scene {number}?",
        "options": COLOURS, "answer": ["C"], "evidence": [[7.375, 8.5]],
        "tags": {"category": "shape"},
    }  # fmt: skip


OPEN = {
    "id": "q-open", "kind": "open", "question": "Describe the shape.",
    "reference": "An emerald heart beats twice.",
}  # fmt: skip
INSTRUCTIONS = "instructions: |\n  Look at all of it,\n  then choose.\n\n  - first\n  - then\n"
TYPES = "open_types: true\nshow: [tags.category]\ntags: {category: {choices: [shape, colour]}}\n"
ONE = "page: verify\nitems: benchmark\nfailure_tags: [wrong key, bad video]\n"


@pytest.fixture(scope="module")
def items() -> list[dict[str, Any]]:
    return [*(single(number) for number in range(1, 6)), OPEN]


@pytest.fixture(scope="module")
def root(
    small_demo: Path, items: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    names = ("keys", "hidden", "drafts", "change", "edited", "flagged", "written", "twice")
    queues = dict.fromkeys(names, ONE) | {
        "two": ONE + "reviewers: 2\n",
        "told": ONE + INSTRUCTIONS,
        "types": ONE + TYPES,
    }
    return benchmark_with(small_demo, folder / "benchmark", items, **queues)


@pytest.fixture(scope="module")
def sessions(root: Path) -> dict[str, str]:
    return accounts_for(root, Ann="annotator", Ben="annotator", Cy="reviewer")


@pytest.fixture(scope="module")
def server(root: Path, sessions: dict[str, str]) -> Iterator[ServedReview]:
    with served(root) as running:
        yield running


@pytest.fixture
def open_page(chrome: Any, server: ServedReview, sessions: dict[str, str]) -> Iterator[Any]:
    """Opens a queue as one of the people; what scripts complain of fails the test."""
    pages: list[Any] = []
    complaints: list[str] = []

    def opened(who: str, queue: str, responses: list[Any] | None = None) -> Any:
        page = page_of(chrome, server.address, sessions[who])
        if responses is not None:
            page.on("response", lambda each: responses.append(each))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        pages.append(page)
        page.goto(f"{server.address}/q/{queue}")
        return page

    yield opened
    for page in pages:
        page.context.close()
    assert complaints == []


def answer(page: Any, text: str) -> None:
    page.locator(".choice").first.wait_for()
    page.keyboard.press(place_of(page, text).lower())
    page.keyboard.press("Enter")
    page.locator(".outcome").wait_for()


def test_who_presses_twice_decides_once(open_page: Any, root: Path) -> None:
    responses: list[Any] = []
    page = open_page("Ben", "twice", responses)
    for number in (1, 2):
        page.locator(".choice").first.wait_for()
        page.keyboard.press("a")
        for key in ("Enter", "Enter"):
            page.keyboard.press(key)
        page.locator(".outcome").wait_for()
        for key in ("1", "1"):
            page.keyboard.press(key)
        expect(page.locator("#count")).to_contain_text(f"{number} of 6")
        expect(page.locator("#status")).to_have_text("Saved")
    assert len(kept_events(root, "twice", "verdict")) == 2
    assert [each.url for each in responses if each.status >= 400] == []


def test_instructions_stay_as_one_left_them(open_page: Any) -> None:
    page = open_page("Ann", "told")
    box = page.locator("#instructions")
    expect(box.locator("p")).to_have_text(["Look at all of it, then choose.", "- first", "- then"])
    box.locator("summary").click()
    expect(box).not_to_have_attribute("open", "")
    page.reload()
    page.locator(".question").wait_for()
    expect(box.locator("p").first).to_be_hidden()


def test_an_item_is_verified_by_keyboard_alone(open_page: Any, root: Path, items: Any) -> None:
    page = open_page("Ann", "keys")
    page.locator(".question").wait_for()
    first = item_of_question(items, page)
    answer(page, "a green heart")
    expect(page.locator(".outcome")).to_have_text("Your answer is the key.")
    expect(page.locator(".options .key")).to_contain_text("a green heart")
    page.keyboard.press("1")
    expect(page.locator(".question")).not_to_have_text(first["question"])
    expect(page.locator("#status")).to_have_text("Saved")
    expect(page.locator("#count")).to_contain_text("1 of 6")
    answer(page, "a red ring")
    expect(page.locator(".outcome")).to_have_text("Your answer is not the key.")
    second = item_of_question(items, page)
    page.keyboard.press("3")
    page.keyboard.press("2")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".question")).not_to_have_text(second["question"])
    kept = kept_events(root, "keys")
    assert [e["type"] for e in kept if e["item"] == first["id"]] == [
        "opened", "answered", "revealed", "verdict",
    ]  # fmt: skip
    verdicts = [e["body"]["verdict"] for e in kept if e["type"] == "verdict"]
    assert [each["decision"] for each in verdicts] == ["accept", "reject"]
    assert verdicts[1]["tags"] == ["bad video"]


def test_the_key_is_nowhere_before_the_answer(open_page: Any) -> None:
    responses: list[Any] = []
    page = open_page("Ann", "hidden", responses)
    page.locator(".question").wait_for()
    page.wait_for_function(
        "() => performance.getEntriesByType('resource').some((each) => each.name.includes('besides='))"
    )
    seen = [each.text() for each in responses if not each.url.split("?")[0].endswith((".js", ".css"))
            and "/media/" not in each.url and each.status == 200]  # fmt: skip
    tasks = [json.loads(text)["task"] for text in seen if text.startswith('{"task"')]
    assert len(tasks) == 2  # the one that is shown, and one in hand
    for task in tasks:
        assert not {"answer", "reveal", "reference", "evidence", "mine"} & set(task)
    whole = page.content() + "".join(seen)
    assert "emerald" not in whole
    assert "7.375" not in whole
    expect(page.locator(".key, .outcome")).to_have_count(0)


def test_a_reload_and_another_browser_keep_what_was_chosen_and_typed(open_page: Any) -> None:
    page = open_page("Ben", "drafts")
    with page.expect_response(lambda response: "/draft?" in response.url):
        page.get_by_label("Or write the right answer").fill("a violet ring")
    page.reload()
    expect(page.get_by_label("Or write the right answer")).to_have_value("a violet ring")
    elsewhere = open_page("Ben", "drafts")
    expect(elsewhere.get_by_label("Or write the right answer")).to_have_value("a violet ring")
    page.keyboard.press("b")
    expect(page.get_by_label("Or write the right answer")).to_have_value("")
    page.reload()
    expect(page.locator(".choice input:checked")).to_have_value("1")


def test_a_change_is_shown_as_a_diff_and_arrives_in_the_benchmarks_order(
    open_page: Any, root: Path, items: Any
) -> None:
    page = open_page("Ann", "change")
    page.locator(".question").wait_for()
    item = item_of_question(items, page)
    answer(page, "a blue star")
    page.keyboard.press("2")
    page.get_by_label("Question", exact=True).fill(item["question"].replace("seen", "shown"))
    shown = page.locator(".options li").all_inner_texts()
    star = next(place for place, text in enumerate(shown) if "a blue star" in text)
    page.locator(".edit-option input[type=radio]").nth(star).check()
    page.locator(".edit-option input[type=text]").nth(star).fill("a blue comet")
    expect(page.locator(".preview del").first).to_have_text("seen")
    expect(page.locator(".preview ins").first).to_have_text("shown")
    expect(page.locator(".preview")).to_contain_text("comet")
    page.get_by_role("button", name="Save the change").click()
    expect(page.locator(".message")).to_contain_text("Your change is saved")
    (verdict,) = [e["body"]["verdict"] for e in kept_events(root, "change", "verdict")]
    assert verdict["changes"] == {
        "question": item["question"].replace("seen", "shown"),
        "options": ["a red ring", "a blue comet", "a green heart", "a yellow square"],
        "answer": ["B"],
    }


def test_low_quality_is_flagged_without_an_answer_and_the_key_stays_hidden(
    open_page: Any, root: Path, items: Any
) -> None:
    page = open_page("Ben", "flagged")
    page.locator(".choice").first.wait_for()
    item = item_of_question(items, page)
    page.keyboard.press("0")
    expect(page.get_by_role("button", name="Reject it")).to_be_disabled()  # without a reason
    page.keyboard.press("2")
    page.get_by_label("Comment").fill("It is black all through.")
    page.get_by_label("Comment").press("Control+Enter")
    expect(page.locator(".question")).not_to_have_text(item["question"])
    kept = [event for event in kept_events(root, "flagged") if event["item"] == item["id"]]
    assert [event["type"] for event in kept] == ["opened", "verdict"]
    verdict = kept[1]["body"]["verdict"]
    assert (verdict["tags"], verdict["comment"]) == (["bad video"], "It is black all through.")


def test_types_of_failures_are_named_and_chosen_again_by_keyboard_alone(
    open_page: Any, root: Path
) -> None:
    page = open_page("Ann", "types")
    answer(page, "a red ring")
    expect(page.locator(".facts")).to_have_text("categoryshape")
    page.keyboard.press("3")
    expect(page.locator(".type:visible")).to_have_count(0)
    page.keyboard.press("1")
    page.keyboard.type("no <b>heart</b>")
    page.keyboard.press("Enter")  # back to the reasons
    page.keyboard.press("2")
    page.reload()
    expect(page.get_by_label("Type of failure under wrong key")).to_have_value("no <b>heart</b>")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#count")).to_contain_text("1 of")

    page.set_viewport_size({"width": 390, "height": 800})
    page.keyboard.press("0")
    page.keyboard.press("1")
    box = page.get_by_label("Type of failure under wrong key")
    expect(box).to_be_focused()
    known = page.locator(f"datalist[id='{box.get_attribute('list')}'] option")
    expect(known).to_have_attribute("value", "no <b>heart</b>")
    page.keyboard.type("NO  <b>HEART</b>")
    expect(page.locator("#work b")).to_have_count(0)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Control+Enter")
    expect(page.locator("#count")).to_contain_text("2 of")

    answer(page, "a green heart")
    page.keyboard.press("2")
    page.get_by_label("category").select_option("colour")
    expect(page.locator(".preview")).to_contain_text("shapecolour")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#count")).to_contain_text("3 of")
    first, second, third = (e["body"]["verdict"] for e in kept_events(root, "types", "verdict"))
    assert first["tags"] == ["wrong key: no <b>heart</b>", "bad video"]
    assert second["tags"] == ["wrong key: no <b>heart</b>"]
    assert third["changes"] == {"tags": {"category": "colour"}}


def test_who_writes_the_right_answer_can_add_it_as_the_key(open_page: Any, root: Path) -> None:
    page = open_page("Ben", "written")
    page.get_by_label("Or write the right answer").fill("a violet ring")
    page.get_by_label("Or write the right answer").press("Control+Enter")
    expect(page.locator(".outcome")).to_contain_text("compare it with the key")
    page.keyboard.press("2")
    expect(page.get_by_label("Option E", exact=True)).to_have_value("a violet ring")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".message")).to_contain_text("Your change is saved")
    (verdict,) = [e["body"]["verdict"] for e in kept_events(root, "written", "verdict")]
    assert verdict["changes"] == {"options": [*COLOURS, "a violet ring"], "answer": ["E"]}


def test_those_who_disagree_discuss_and_each_sees_the_other_before_deciding(
    open_page: Any, root: Path
) -> None:
    ann = open_page("Ann", "two")
    answer(ann, "a green heart")
    ann.keyboard.press("1")
    expect(ann.locator("#status")).to_have_text("Saved")
    ben = open_page("Ben", "two")
    answer(ben, "a red ring")
    ben.keyboard.press("3")
    ben.keyboard.press("1")
    ben.keyboard.press("Control+Enter")
    expect(ben.locator("#count")).to_contain_text("1 of")
    cy = open_page("Cy", "two")
    answer(cy, "a blue star")
    cy.keyboard.press("2")
    cy.get_by_label("Question", exact=True).fill("Which shape is it?")
    cy.keyboard.press("Control+Enter")
    expect(cy.locator("#discussion-count")).to_have_text("1")

    cy.goto(cy.url.split("/q/")[0])
    cy.get_by_role("link", name="1 in discussion").wait_for()
    for page in (ann, ben):
        page.get_by_role("link", name="In discussion").click()
        page.locator("#work .plain-list a").click()
        expect(page.locator(".history li")).to_have_count(6)
    expect(ann.locator(".history")).to_contain_text("Ben rejected it")
    expect(ann.locator(".history ins").first).to_have_text("Which shape")
    ann.get_by_label("Comment for the others").fill("The ring is in the background.")
    ann.get_by_role("button", name="Send the comment").click()
    expect(ann.locator(".history li")).to_have_count(7)

    ben.keyboard.press("3")
    ben.keyboard.press("1")
    ben.get_by_label("Comment", exact=True).fill("My words stay.")
    ben.keyboard.press("Control+Enter")
    expect(ben.locator(".message")).to_contain_text("Ann did something here")
    expect(ben.locator(".message")).to_contain_text("The ring is in the background.")
    expect(ben.get_by_label("Comment", exact=True)).to_have_value("My words stay.")
    assert kept_events(root, "two", "resolved") == []
    ben.get_by_role("button", name="Reject it").click()
    expect(ben.locator(".badge")).to_have_text("Resolved")
    (resolved,) = kept_events(root, "two", "resolved")
    assert resolved["who"] == "Ben"
    readers = {event["who"] for event in kept_events(root, "two", "read")}
    assert readers == {"Ann", "Ben"}
    ann.keyboard.press("1")
    expect(ann.locator(".message")).to_contain_text("Ben did something here")
    expect(ann.locator(".badge")).to_have_text("Resolved")
    assert len(kept_events(root, "two", "resolved")) == 1


def test_an_item_that_was_edited_or_deleted_meanwhile_is_noticed(
    open_page: Any, root: Path, items: list[dict[str, Any]]
) -> None:
    page = open_page("Cy", "edited")
    page.locator(".question").wait_for()
    item = item_of_question(items, page)
    others = [each for each in items if each is not item]
    page.get_by_label("Or write the right answer").fill("a violet ring")
    write_items(root, [{**item, "question": "Which shape is there?"}, *others])
    page.keyboard.press("Control+Enter")
    expect(page.locator(".message")).to_contain_text("was edited")
    expect(page.locator(".message ins").first).to_have_text("Which shape")
    expect(page.get_by_label("Or write the right answer")).to_have_value("a violet ring")
    write_items(root, others)
    page.get_by_label("Or write the right answer").press("Control+Enter")
    expect(page.locator("#work")).to_contain_text("gone")
    expect(page.locator(".message pre")).to_have_text("a violet ring")
    assert kept_events(root, "edited", "answered") == []
    write_items(root, items)
