"""Changes of prompts: what may take the place of a prompt, and what becomes of each."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from reelbench.base.errors import ReelbenchError
from reelbench.make.parts.prompt_changes import (
    PromptChange,
    PromptRound,
    carried_over,
    read_changes,
    settle_changes,
    slot_fault,
    write_changes,
)

BEFORE = "Read.\n\n{{context}}\n\n- Ask one thing.\n- Be brief.\n\n{{ rules }}\n"
AFTER = BEFORE.replace("- Be brief.", "- Be brief.\n- Let no key stand out.")
ROUND = PromptRound(
    prompt="ask", category="Cause", number=1, version="0" * 64, drafts=4, asked=4, passed=1,
    rate=0.25, interval=(0.05, 0.7),
)  # fmt: skip
CHANGE = PromptChange(
    id="ask-r1", before=BEFORE, after=AFTER, reason="Keys stand out.", model="r", rounds=(ROUND,),
    drafts=(), read=("d-1",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("after", "fault"),
    [
        (AFTER, ""),
        (BEFORE.replace("{{ rules }}", "{{rules}}") + "More.\n", ""),
        (AFTER.replace("{{context}}", "{context}"), "the slot {{context}} is lost"),
        (AFTER + "{{context}}\n", "the slot {{context}} is doubled"),
        (AFTER + "{{key}}\n", "the slot {{key}} is invented"),
        (AFTER + "\u202egnol\n", r"it has signs that cannot be seen ('\u202e')"),
        (AFTER + "\x00\n", r"it has signs that cannot be seen ('\x00')"),
        (BEFORE.replace("\n\n", "\n"), "it says what it said before"),
        ("", "the slot {{context}} is lost; the slot {{rules}} is lost"),
    ],
)
def test_slots_stay_and_nothing_is_hidden(after: str, fault: str) -> None:
    assert slot_fault(BEFORE, after) == fault


def test_a_slot_that_stands_twice_stays_twice() -> None:
    assert slot_fault("{{a}}, {{a}}.", "{{a}} alone.") == "the slot {{a}} is lost"
    assert slot_fault("{{a}}, {{a}}.", "{{a}} and {{a}}.") == ""


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        (BEFORE, AFTER),
        (f"Mine.\n{BEFORE}", f"Mine.\n{AFTER}"),
        (BEFORE.removesuffix("\n"), AFTER.removesuffix("\n")),
        (BEFORE.replace("brief", "short"), None),  # the line before it is another
        (BEFORE + BEFORE, None),  # it would fit in two places
        ("", None),
    ],
)
def test_a_change_fits_where_the_lines_around_it_are(current: str, expected: str | None) -> None:
    assert carried_over(current, BEFORE, AFTER) == expected


def settled(out: Path, *verdicts: dict[str, Any], text: str = BEFORE) -> tuple[PromptChange, Any]:
    """What becomes of the change after these verdicts, by a make with a folder of prompts."""
    write_changes(out, [CHANGE])
    lines = [json.dumps({"item": "ask-r1", "who": "ann", **each}) for each in verdicts]
    (out / "verdicts.jsonl").write_text("\n".join(lines))
    found = settle_changes(out, out, {"ask": text})
    found.write(out, out)
    assert read_changes(out) == list(found.changes)
    return found.changes[0], found


ACCEPT, REJECT = {"decision": "accept"}, {"decision": "reject", "comment": "No."}


def test_what_was_accepted_is_written_once_also_after_a_crash(tmp_path: Path) -> None:
    change, found = settled(tmp_path, ACCEPT, text=f"Mine.\n{BEFORE}")
    written = (tmp_path / "ask.md").read_text()
    assert (change.state, change.applied, written) == ("applied", f"Mine.\n{AFTER}", change.applied)
    assert not settle_changes(tmp_path, tmp_path, {"ask": written}).is_new
    # The prompt was written and the record was not.
    write_changes(tmp_path, [CHANGE])
    again = settle_changes(tmp_path, tmp_path, {"ask": written})
    assert (again.texts, again.changes[0].state) == ({}, "applied")
    # Who takes the line out again later is not overruled.
    found.write(tmp_path, tmp_path)
    assert settle_changes(tmp_path, tmp_path, {"ask": BEFORE}).texts == {}


FIVE = "A\nB\nC\nD\nE\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [(f"{FIVE}X\n", FIVE), (f"X\n{FIVE}", FIVE), (FIVE, f"{FIVE}X\n"), (FIVE, f"X\n{FIVE}")],
)
@pytest.mark.parametrize("third", ["C", "Mine"])  # as it was, and edited by the user
def test_lines_at_an_end_come_and_go_once(
    tmp_path: Path, before: str, after: str, third: str
) -> None:
    verdict = json.dumps({"item": "ask-r1", "who": "ann", **ACCEPT})
    (tmp_path / "verdicts.jsonl").write_text(verdict)
    before_it, after_it = (text.replace("C", third) for text in (before, after))
    write_changes(tmp_path, [structs.replace(CHANGE, before=before, after=after)])
    found = settle_changes(tmp_path, tmp_path, {"ask": before_it})
    assert (found.changes[0].state, found.texts) == ("applied", {"ask": after_it})
    # The prompt was written and the record was not.
    found = settle_changes(tmp_path, tmp_path, {"ask": after_it})
    assert (found.changes[0].state, found.texts) == ("applied", {})


def test_an_acceptance_that_is_taken_back_leaves_the_change_open(tmp_path: Path) -> None:
    write_changes(tmp_path, [CHANGE])
    verdicts, texts = tmp_path / "verdicts.jsonl", {"ask": BEFORE}
    verdicts.write_text(json.dumps({"item": "ask-r1", "who": "ann", **ACCEPT}))
    waits = settle_changes(tmp_path, None, texts)
    assert waits.changes[0].state == "accepted"
    waits.write(tmp_path, None)
    verdicts.unlink()
    assert settle_changes(tmp_path, None, texts).changes == [CHANGE]


def test_the_file_that_has_what_does_not_fit_is_named_as_it_is(tmp_path: Path) -> None:
    write_changes(tmp_path, [structs.replace(CHANGE, id="ask.2-r1")])
    verdict = json.dumps({"item": "ask.2-r1", "who": "ann", **ACCEPT})
    (tmp_path / "verdicts.jsonl").write_text(verdict)
    (note,) = settle_changes(tmp_path, tmp_path, {"ask": "Other.\n"}).notes
    assert (tmp_path / note.rpartition("; ")[2].removesuffix(" has it")).is_file()


def test_people_who_disagree_have_decided_nothing_and_a_settled_verdict_counts_alone(
    tmp_path: Path,
) -> None:
    change, _ = settled(tmp_path, ACCEPT, {**REJECT, "who": "ben"})
    assert change.state == "open"
    change, _ = settled(tmp_path, ACCEPT, {**REJECT, "who": "ben", "settled": True})
    assert (change.state, change.who, change.comment) == ("rejected", "ben", "No.")


def test_a_verdict_on_another_change_of_this_name_does_not_count(tmp_path: Path) -> None:
    assert settled(tmp_path, {**ACCEPT, "digest": "0" * 64})[0].state == "open"
    digest = CHANGE.item.content_digest
    assert settled(tmp_path, {**ACCEPT, "digest": digest})[0].state == "applied"
    other = structs.replace(CHANGE, reason="Another.").item.content_digest
    assert other != digest


def test_an_edit_that_loses_a_slot_by_hand_is_not_used(tmp_path: Path) -> None:
    lost = {"decision": "change", "changes": {"reference": "Ask.\n"}}
    change, found = settled(tmp_path, lost)
    assert change.state == "outdated"
    assert "the slot {{context}} is lost" in found.notes[0]
    assert not (tmp_path / "ask.md").exists()


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    write_changes(tmp_path, [CHANGE])
    path = tmp_path / "prompt-changes" / "changes.jsonl"
    path.write_bytes(path.read_bytes() + b'{"id": 7}\n')
    with pytest.raises(ReelbenchError, match=r"changes\.jsonl, line 2, is damaged"):
        read_changes(tmp_path)
