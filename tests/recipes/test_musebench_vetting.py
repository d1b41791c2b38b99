"""People vet essays: they keep them, change their art, or remove them for one of three reasons."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from actors import said_to
from essays import LABELS, SPOKEN, fetched, narrator, prompts, rejected, take
from parts import by_turns, pictures
from servers import Reply, Server, completion

from reelbench.data.items import Item
from reelbench.interop.musebench.taxonomy import CATEGORIES
from reelbench.make.parts.rules import load_rules
from reelbench.make.pipeline.stage import WAITING, Undecided
from reelbench.recipes.musebench.records import record
from reelbench.recipes.musebench.rows import Essay
from reelbench.recipes.musebench.vetting import (
    FAILURE_MODES,
    vetted,
    vetter,
    vetting,
    vetting_question,
)
from reelbench.review.protocol import built_in_protocols, read_protocol

VETTER = {"vetter": [{"name": "vetter"}]}
RULES = load_rules("""
name: filters
version: "1"
categories:
  Static Visual Arts:
    - {id: F1, text: No auctions., tag: auction, destination: vetting}
    - {id: R7, text: Name the brush., tag: brush, destination: question}
""")


def decided(folder: Path, *verdicts: dict[str, Any]) -> None:
    lines = [json.dumps({"item": "vet-e1", **verdict}) for verdict in verdicts]
    folder.mkdir(exist_ok=True)
    (folder / "verdicts.jsonl").write_text("".join(f"{line}\n" for line in lines))


def through(
    folder: Path,
    *verdicts: dict[str, Any],
    let_through: bool = False,
    heard: dict[str, Any] = LABELS,
    **fields: Any,
) -> tuple[Any, Any]:
    """Take an essay through the vetting; return the item, and what became of it."""
    decided(folder, *verdicts)
    stages = (record(), vetting_question(let_through), vetting(), vetted())
    passed, _ = take(folder, [fetched(folder, **fields)], *stages, labels={"e1": heard})
    after = passed[2].results[0]
    ends = isinstance(after, Undecided) or after.rejected
    return passed[1].out[0], after if ends else passed[3].results[0]


def ann(decision: str, **more: Any) -> dict[str, Any]:
    return {"who": "ann", "decision": decision, **more}


def essay_of(result: Any) -> Essay:
    (row,) = result.rows
    assert isinstance(row, Essay)
    return row


def test_an_essay_waits_as_a_question_about_its_art(tmp_path: Path) -> None:
    item, result = through(tmp_path, curation={"doubt": "a model infers Game Arts"})
    assert isinstance(result, Undecided)
    assert result.status == WAITING
    assert isinstance(item, Item)
    assert (item.kind, item.options, item.correct) == (
        "single", tuple(CATEGORIES), ("Static Visual Arts",),
    )  # fmt: skip
    assert item.media[0].path == "make/essays/e1.mp4"
    assert item.question == (
        'Which art does the video essay "Light in rooms" by Walls and Windows analyse? '
        "In doubt: a model infers Game Arts."
    )
    assert item.context["transcript"].startswith(SPOKEN[0][2])
    assert item.context["description"] == "About old paintings."
    assert item.context["doubt"] == "a model infers Game Arts"


def test_who_accepts_lets_it_go_on_as_it_was(tmp_path: Path) -> None:
    _, result = through(tmp_path, ann("accept"))
    made = essay_of(result)
    assert made.category == "Static Visual Arts"
    assert made.record
    assert made.curation["vetting"] == {
        "by": "people",
        "category": "Static Visual Arts",
        "verdicts": [{"who": "ann", "decision": "accept"}],
    }


def test_who_changes_the_key_changes_the_category(tmp_path: Path) -> None:
    _, result = through(tmp_path, ann("change", answer=["D"]))
    assert essay_of(result).category == list(CATEGORIES)[3]


def test_who_rejects_names_a_failure_mode(tmp_path: Path) -> None:
    _, result = through(tmp_path, ann("reject", tags=[FAILURE_MODES[0]], comment="a lamp"))
    assert rejected(result) == ("rejected by people", "art not shown")


def test_two_who_disagree_need_a_third(tmp_path: Path) -> None:
    ben = {"who": "ben", "decision": "reject", "tags": [FAILURE_MODES[1]]}
    _, result = through(tmp_path, ann("accept"), ben)
    assert isinstance(result, Undecided)
    assert result.error.startswith("1 more verdict needed")
    _, result = through(tmp_path, ann("accept"), ben, {"who": "cat", "decision": "accept"})
    assert essay_of(result).category == "Static Visual Arts"


def test_what_is_not_in_doubt_is_let_through_where_that_is_wanted(tmp_path: Path) -> None:
    _, result = through(tmp_path, let_through=True)
    assert essay_of(result).curation["vetting"]["by"] == "nobody"
    _, result = through(tmp_path, let_through=True, curation={"doubt": "not sure"})
    assert isinstance(result, Undecided)


def test_people_are_told_that_no_narrator_is_clear(tmp_path: Path) -> None:
    found = {**LABELS, "narrator": {**narrator(None), "reason": "Two voices share the speech."}}
    item, _ = through(tmp_path, heard=found, let_through=True)
    assert "no clear narrator" in item.question
    assert "silence.unclear is keep: Two voices share the speech" in item.context["doubt"]
    assert item.tag("vetted_by") == ("people",)


def test_an_essay_of_no_category_is_not_let_through_nor_accepted_without_one(
    tmp_path: Path,
) -> None:
    item, result = through(tmp_path, let_through=True, category="")
    assert isinstance(result, Undecided)
    assert item.correct == ("not known yet",)
    assert "In doubt: its category is not known: choose one." in item.question
    _, result = through(tmp_path, ann("accept"), category="")
    assert isinstance(result, Undecided)
    assert result.error.startswith("vet-e1: change its answer to one of Cinematic Arts, ")
    _, result = through(tmp_path, ann("change", answer=["A"]), category="")
    assert essay_of(result).category == "Cinematic Arts"


def opinion(decision: str = "keep", mode: str = "none", category: str = "Game Arts") -> str:
    return json.dumps(
        {"decision": decision, "reason": "So it is.", "failure_mode": mode, "category": category}
    )


def asked(
    folder: Path,
    *replies: str | Reply,
    decides: bool = False,
    let_through: bool = False,
    **fields: Any,
) -> tuple[list[Any], Server]:
    """Take an essay through the vetting with a model; people accept it."""
    decided(folder, ann("accept"))
    stages = (record(), vetting_question(let_through), vetter(decides), vetting(), vetted())
    passed, server = take(
        folder, [fetched(folder, **fields)], *stages, answer=by_turns(*replies), models=VETTER,
        texts=replace(prompts(), rules=RULES),
    )  # fmt: skip
    return [each.results[0] for each in passed if each.results], server


def test_a_model_is_asked_the_same_and_decides_nothing(tmp_path: Path) -> None:
    results, server = asked(tmp_path, opinion("remove", FAILURE_MODES[2]))
    made = essay_of(results[-1])
    assert made.category == "Static Visual Arts"
    assert made.flags == ("vetter disagrees",)
    assert made.curation["vetting"]["by"] == "people"
    noted = made.curation["vetting"]["vetter"]
    assert noted["failure_mode"] == FAILURE_MODES[2]
    assert (noted["model"], noted["decides"]) == ("vetter", False)
    (body,) = server.requests
    prompt = said_to(body)
    assert pictures(body) == 16
    assert SPOKEN[0][2] in prompt
    assert "- F1. No auctions." in prompt
    assert "Name the brush" not in prompt


def test_a_model_that_agrees_is_noted_without_a_flag(tmp_path: Path) -> None:
    results, _ = asked(tmp_path, opinion(category="Static Visual Arts"))
    made = essay_of(results[-1])
    assert made.flags == ()
    assert made.curation["vetting"]["vetter"]["decision"] == "keep"


@pytest.mark.parametrize(("reply", "by"), [
    (opinion(category="Static Visual Arts"), "nobody"),
    (opinion(category="Game Arts"), "people"),
    (opinion("remove", FAILURE_MODES[0], "Static Visual Arts"), "people"),
])  # fmt: skip
def test_what_would_be_let_through_goes_to_people_where_a_model_disagrees(
    reply: str, by: str, tmp_path: Path
) -> None:
    results, _ = asked(tmp_path, reply, let_through=True)
    assert essay_of(results[-1]).curation["vetting"]["by"] == by


def test_rules_for_vetting_are_shown_to_people_too(tmp_path: Path) -> None:
    results, _ = asked(tmp_path, opinion(category="Static Visual Arts"))
    assert results[1].rows[0].context["filters"] == "- F1. No auctions."
    assert "context.filters" in read_protocol(built_in_protocols()["musebench-vet"]).show


@pytest.mark.parametrize(("reply", "category"), [
    (opinion("keep", category="Game Arts"), "Game Arts"),
    (opinion("remove", FAILURE_MODES[1]), ""),
])  # fmt: skip
def test_a_model_decides_where_it_may_and_that_is_noted(
    reply: str, category: str, tmp_path: Path
) -> None:
    results, _ = asked(tmp_path, reply, decides=True)
    if not category:
        assert rejected(results[2]) == ("rejected by the vetter", FAILURE_MODES[1])
        return
    made = essay_of(results[-1])
    assert made.category == category
    assert made.curation["vetting"]["by"] == "model"
    assert "verdicts" not in made.curation["vetting"]


def test_a_model_whose_words_never_fit_leaves_it_to_people(tmp_path: Path) -> None:
    results, server = asked(tmp_path, opinion("remove", "none"), decides=True)
    made = essay_of(results[-1])
    assert made.curation["vetting"]["by"] == "people"
    assert "failure_mode must be none" in made.curation["vetting"]["vetter"]["failure"]
    assert len(server.requests) == 4


def test_a_model_that_refuses_removes_nothing(tmp_path: Path) -> None:
    refusal = completion(None, message={"refusal": "I will not."})
    results, _ = asked(tmp_path, refusal, decides=True)
    made = essay_of(results[-1])
    assert made.curation["vetting"]["by"] == "people"
    assert made.curation["vetting"]["vetter"] == {"model": "vetter", "failure": "I will not."}


def test_people_and_models_are_told_of_the_same_three_failure_modes() -> None:
    protocol = read_protocol(built_in_protocols()["musebench-vet"])
    text = prompts().texts["vetting"]
    assert protocol.failure_tags == FAILURE_MODES
    assert tuple(re.findall(r"^- ([a-z ]+): ", text, re.M)) == FAILURE_MODES
    of_people = tuple(re.findall(r"^([a-z ]+): ", protocol.instructions, re.M))
    assert of_people == FAILURE_MODES
    assert protocol.stage == vetting().name
    for mode in FAILURE_MODES:  # and each is explained by the same words
        ours, theirs = (
            set(re.findall(r"[a-z]{4,}", _sentence(each, mode)))
            for each in (text, protocol.instructions)
        )
        assert theirs <= ours


def _sentence(text: str, mode: str) -> str:
    found = re.search(
        rf"^(?:- )?{mode}: (.*?)(?=\n- |\n[a-z ]+: |\.\n|;\n|\n\n)", text, re.M | re.S
    )
    assert found
    return found[1]
