"""Planted failures in MuseBench's own stages: each is found, ruled out, and absent from the release."""

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from actors import said_to
from loop_actors import Cast, Plant
from muse_writers import GAME, MODELS, PROMPTS, TEXTS, THINGS, WRONG, MuseWriters, essay
from parts import Studio, a_recipe
from servers import Reply, completion

from reelbench.data.items import Item
from reelbench.lint.items import release_tags
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.stage import Role
from reelbench.recipes.musebench.produce import PRODUCE
from reelbench.recipes.musebench.refine import AUDIT, REFINE, RELEASE

PLANTS: Mapping[str, Plant] = {
    "ambiguous stem: two readings": Plant("pen", "what of that", "Ask for one effect alone."),
    "narrator-dependent: unseen secret": Plant("pen", "secret quartz", "Key what is on screen."),
    "weak or wrong distractor: absurd": Plant("wit", "made of cheese", "No option is absurd."),
    "misaligned clips: far from it": Plant("eye", "7 to 8 shown", "Stay with what glows."),
}
RULES = {plant.rule for plant in PLANTS.values()}
ESSAYS = [essay(f"essay-{number}") for number in range(1, 4)]


class PlantedWriters(MuseWriters):
    """Writers with four faults, each of which they leave as soon as a rule forbids it."""

    def __init__(self) -> None:
        super().__init__()
        self.cast, self.asked = Cast(PLANTS), 0
        self.prompts: list[tuple[str, str]] = []

    def __call__(self, body: Mapping[str, Any], number: int) -> Reply:
        prompt, who = said_to(body), body["model"]
        with self.cast.lock:
            self.asked += 1
            self.prompts.append((who, prompt))
        if who == "critic":
            return completion(json.dumps(self._reviewed(prompt)))
        if who == "sum":
            return completion(json.dumps(self.cast.summarise(prompt)))
        return super().__call__(body, number)

    def _reviewed(self, prompt: str) -> Any:
        if "Which of these issues" in prompt:
            return {"issues": []}
        span = re.search(r"Its clips: \S+, (\d+) s to 8 s", prompt)
        thing = next(n for n, thing in enumerate(THINGS) if f"A small {thing} glows" in prompt)
        far = " 7 to 8 shown" if span and span[1] == "6" and thing < 4 else ""
        return self.cast.review(prompt + far)

    def _write(self, prompt: str) -> Any:
        reply = super()._write(prompt)
        for each in reply["questions"]:
            if PLANTS["ambiguous stem: two readings"].shows(prompt):
                each["question"] = each["question"].replace("and why?", "and what of that?")
            if each["kind"] == "single" and PLANTS["narrator-dependent: unseen secret"].shows(
                prompt
            ):
                each["answer"] += " like secret quartz"
        return reply

    def _match(self, prompt: str) -> Any:
        if PLANTS["misaligned clips: far from it"].shows(prompt):
            return {"reason": "At the end.", "first": 7, "last": 8}
        return super()._match(prompt)

    def _distract(self, prompt: str) -> Any:
        reply = super()._distract(prompt)
        if PLANTS["weak or wrong distractor: absurd"].shows(prompt):
            first = reply["distractors"][0]
            first["text"] = WRONG[0].replace("study", "study when made of cheese")
        return reply


@dataclass
class Made:
    items: list[Item]
    folder: Path
    writers: PlantedWriters
    asked: int
    tables: list[Mapping[str, Any]]
    notes: list[str]


def make(folder: Path, writers: PlantedWriters) -> Made:
    before = writers.asked
    models = {**MODELS, "reviewer": ["critic"], "summarizer": ["sum"]}

    async def take(ctx: StageContext) -> Made:
        # Few questions are enough: every one of them has all the faults.
        stages = (REFINE, *PRODUCE, AUDIT, RELEASE)
        roles = {role: Role(role) for role in models}
        fewer = {"refine.pilot": 2, "plan.questions": [2, 3]}
        recipe = a_recipe(*stages, roles=roles).changed(fewer)
        passed = await Pipeline(recipe, ctx, ctx.store).take(ESSAYS)
        asked = writers.asked - before
        return Made(passed[-1].out, folder, writers, asked, ctx.tables, ctx.notes)

    studio = Studio(folder, writers, models, PROMPTS, texts=TEXTS)
    made: Made = studio.with_context(take)[0]
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("muse") / "made", PlantedWriters())


def test_each_planted_type_is_found_and_the_loop_ends_after_three_quiet_rounds(made: Made) -> None:
    with (made.folder / "rounds.csv").open() as file:
        rounds = list(csv.DictReader(file))
    found = [tag for row in rounds for tag in row["new failure types"].split("; ") if tag]
    assert sorted(found) == sorted(PLANTS)
    assert [row["new failure types"] for row in rounds[-3:]] == ["", "", ""]
    assert rounds[-4]["new failure types"]
    assert rounds[-1]["passed"] == rounds[-1]["items"] == "2"
    assert any(f"{GAME} left the loop after 3 rounds" in note for note in made.notes)


def test_every_item_is_written_by_the_last_rules_and_has_none_of_the_faults(made: Made) -> None:
    assert len(made.items) >= len(ESSAYS)
    for item in made.items:
        rules = item.provenance["write"]["rules"]
        assert rules["name"] == f"musebench ({GAME})"
        assert rules["version"] == "2"
        assert not release_tags(item)
        text = " ".join((item.question, *item.options))
        assert not any(plant.mark in text for plant in PLANTS.values())
        assert item.media[0].end is not None
        assert "round" not in item.provenance


def test_a_rule_reaches_the_prompt_it_is_for(made: Made) -> None:
    last = {who: prompt for who, prompt in made.writers.prompts if "Which of these f" not in prompt}
    assert {rule for rule in RULES if rule in last["pen"]} == {
        "Ask for one effect alone.", "Key what is on screen.",
    }  # fmt: skip
    assert {rule for rule in RULES if rule in last["wit"]} == {"No option is absurd."}
    assert {rule for rule in RULES if rule in last["eye"]} == {"Stay with what glows."}


def test_a_second_make_pays_nothing_and_makes_the_same(made: Made) -> None:
    again = make(made.folder, made.writers)
    assert again.asked == 0
    assert again.items == made.items
    assert (again.tables, again.notes) == (made.tables, made.notes)
