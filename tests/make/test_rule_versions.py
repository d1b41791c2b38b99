"""Rules go to the prompt they are for, are withdrawn with a reason, and every version can be read."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from parts import Studio, by_turns, messages
from writing import CHECK, CONTEXT, RULES, WRITE, prompts, question, reply, writing_task

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.make.parts.distract import distract
from reelbench.make.parts.drafts import QuestionForm
from reelbench.make.parts.rules import DESTINATIONS, Rule, load_rules, rules_diff

ADDED = [
    Rule(
        "", "No title.", (("no_proper_nouns", ["TV"]),), tag="ambiguous stem: a title",
        destination="question", reason="a title is enough to answer",
    ),
    Rule("", "Match one range.", tag="misaligned clips: gaps", destination="clip-match"),
]  # fmt: skip


def test_a_rule_goes_to_the_prompt_of_its_destination_alone() -> None:
    rules = load_rules(RULES).with_rules(ADDED, category="Weather")
    texts = {name: rules.text("Weather", name) for name in DESTINATIONS}
    assert "R3. No title." in texts["question"]
    assert "R3" not in texts["distractor"]
    assert texts["clip-match"] == "- R4. Match one range."
    assert texts["vetting"] == ""
    assert "R1. Never" in texts["question"]
    assert "R1. Never" in texts["distractor"]
    assert "R3" not in rules.text("Other")


def test_a_withdrawn_rule_is_neither_shown_nor_checked_and_stays_with_its_reason() -> None:
    options = ("a boat", "a car", "a tree")
    rules = load_rules(RULES).with_rules(ADDED, category="Weather")
    said = "What does Anna drive?"
    assert [b.rule for b in rules.broken("Weather", said, options, "a car")] == ["W1", "R3"]
    later = rules.with_rules(withdrawn={"R3": "it made stems vague", "W1": "R3 says it"})
    assert later.broken("Weather", said, options, "a car") == []
    assert "R3" not in later.text("Weather")
    (gone,) = [rule for rule in later.rules("Weather") if rule.id == "R3"]
    assert (gone.state, gone.since) == ("withdrawn", "8")
    assert gone.reason == "it made stems vague (since 9)"
    with pytest.raises(ReelbenchError, match="has no rule R9"):
        rules.with_rules(withdrawn={"R9": "?"})


def test_a_version_reads_back_as_the_same_and_counts_up() -> None:
    first = load_rules(RULES)
    second = first.with_rules(ADDED, category="Weather")
    assert (first.version, second.version) == ("7", "8")
    assert load_rules(second.to_yaml()) == second
    assert second.sha256 != first.sha256
    assert load_rules(first.to_yaml()).record == first.record
    assert load_rules(RULES.replace('"7"', "draft")).with_rules().version == "draft.2"


def test_a_diff_says_what_was_added_and_why_then_shows_the_lines() -> None:
    first = load_rules(RULES)
    second = first.with_rules(ADDED, {"R2": "lengths are checked elsewhere"})
    said = rules_diff(first, second)
    assert "R3 added to the question prompt because a title is enough to answer: No title." in said
    assert "R2 withdrawn because lengths are checked elsewhere (since 8)" in said
    assert "--- ours 7\n+++ ours 8\n" in said
    assert "+  destination: clip-match" in said


def test_what_a_file_says_of_a_rule_is_checked() -> None:
    bad = RULES.replace("id: R1,", "id: R1, destination: stem, state: gone,")
    with pytest.raises(ReelbenchError) as raised:
        load_rules(bad)
    assert "destination: found 'stem', expected one of question, distractor" in str(raised.value)
    assert "state: found 'gone', expected one of active, withdrawn" in str(raised.value)


@pytest.mark.parametrize(
    ("recipe", "start"), [("cineaste", "3415b939"), ("qbench_video", "7abe9738")]
)
def test_rule_files_without_destinations_keep_their_hash(recipe: str, start: str) -> None:
    text = (files(f"reelbench.recipes.{recipe}") / "rules.yaml").read_text()
    assert load_rules(text).sha256.startswith(start)


def test_rules_kept_for_a_task_hold_from_its_prompt_to_its_distractors(tmp_path: Path) -> None:
    kept = load_rules(RULES).with_rules(
        [
            Rule("", "Lead with what is seen.", destination="question"),
            Rule("", "No two alike.", destination="distractor"),
        ]
    )
    one = question(1, answer="its mast breaks")
    del one["distractors"]
    wrong = [
        {"text": text, "strategy": strategy, "from_context": True, "explanation": "No."}
        for text, strategy in (
            ("its sail tears", "factual error"),
            ("its crew sings", "scope error"),
            ("its hull leaks", "partial truth"),
        )
    ]
    options = json.dumps({"answers": [{"explanation": "It does."}], "distractors": wrong})
    shown = prompts(RULES)
    shown = replace(shown, texts={**shown.texts, "distract": "{{rules}}|{{question}}"})
    form = QuestionForm(parts="scenes", distractors=(0, 0))
    task = writing_task(rules=digest_of(kept.to_yaml()), forms=(form,))
    studio = Studio(
        tmp_path,
        by_turns(reply(one), options),
        {"writer": ["pen"], "distractor": ["pen"]},
        shown,
        texts=[CONTEXT, kept.to_yaml()],
    )
    passed, server = studio.take([task], WRITE, CHECK, distract(3))
    (item,) = passed[-1].out
    assert "R3. Lead with what is seen." in messages(server, 0)[0][1]
    assert "No two alike" not in messages(server, 0)[0][1]
    assert "R4. No two alike." in messages(server, 1)[0][1]
    assert "Lead with" not in messages(server, 1)[0][1]
    noted = item.provenance["write"]["rules"]
    assert {**noted} == {**kept.record, "kept": digest_of(kept.to_yaml())}
