"""The queue in which people decide about changes of prompts, as they see it."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from review.persons import kept_events
from review.serving import served

from reelbench.data.verdicts import VERDICTS_FILE, read_verdicts
from reelbench.make.parts.prompt_changes import (
    PromptChange,
    PromptRound,
    ReviewedDraft,
    write_changes,
)

SCRIPT = "<img src=x onerror=\"document.title='stolen'\">"
BEFORE = "Write of {{context}}.\n\n" + "A line.\n" * 9 + "\n- Change one thing that is seen.\n"
AFTER = BEFORE.replace("one thing", "two things") + f"- Let no key stand out. {SCRIPT}\n"


def change(number: int) -> PromptChange:
    """A change with hostile words wherever a model could put them."""
    rounds = [
        PromptRound(
            prompt=f"ask-{number}", category="Cause", number=each, version="0" * 64, drafts=8,
            asked=8, passed=each, rate=each / 8, interval=(0.01, 0.6),
        )
        for each in (1, 2)
    ]  # fmt: skip
    draft = ReviewedDraft(
        id="d-1", question=f"Why {SCRIPT}?", options=("a ring", f"a star {SCRIPT}"),
        answer=("B",), right=5, of=5, passed=False,
    )  # fmt: skip
    return PromptChange(
        id=f"ask-{number}-r2", before=BEFORE, after=AFTER, reason=f"Keys stand out. {SCRIPT}",
        model="reviewer", rounds=tuple(rounds), drafts=(draft,), read=("d-1", "d-2"),
    )  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_changes(tmp_path, [change(1), change(2)])
    return tmp_path


def test_a_change_is_seen_edited_and_accepted(page: Any, root: Path) -> None:
    with served(root, "--local", "--protocol", "cineaste-prompts") as review:
        page.goto(review.link)
        page.goto(f"{review.address}/q/cineaste-prompts")
        expect(page.locator(".question")).to_have_text("Cause: ask-1.md, round 2")
        expect(page.locator(".rounds tbody tr").last).to_have_text("282 / 825.0%1.0% to 60.0%")
        diff = page.locator(".promptdiff")
        expect(diff.locator(".old")).to_have_text(["−Before:- Change one thing that is seen."])
        expect(diff.locator(".old del")).to_have_text("one thing ")
        expect(diff.locator(".new")).to_contain_text(["two things", f"no key stand out. {SCRIPT}"])
        expect(page.locator(".draft .key")).to_contain_text(f"a star {SCRIPT}")
        assert page.locator("main img").count() == 0
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == 390

        page.keyboard.press("2")
        text = page.get_by_label("The whole new prompt")
        expect(page.get_by_role("button", name="Save the change")).to_be_disabled()
        text.fill(BEFORE.replace("{{context}}", "it"))
        text.press("Control+Enter")
        expect(page.locator(".message")).to_contain_text("the slot {{context}} is lost")
        edited = BEFORE + "- Let no key stand out.\n"
        text.fill(edited)
        expect(diff.locator(".line.new")).to_have_text(["+After:- Let no key stand out."])
        page.reload()  # what was typed is kept
        expect(text).to_have_value(edited)
        text.press("Control+Enter")

        expect(page.locator(".question")).to_have_text("Cause: ask-2.md, round 2")
        page.keyboard.press("1")
        expect(page.locator("#work")).to_contain_text("There is nothing left for you")
        assert "stolen" not in page.title()
    verdicts = [
        each["body"]["verdict"] for each in kept_events(root, "cineaste-prompts", "verdict")
    ]
    assert [each["decision"] for each in verdicts] == ["change", "accept"]
    settled = read_verdicts(root / VERDICTS_FILE)
    assert settled["ask-1-r2"][-1].new_fields == {"reference": edited}
    assert settled["ask-2-r2"][-1].digest == change(2).item.content_digest
    assert json.loads((root / VERDICTS_FILE).read_text().splitlines()[-1])["settled"]
