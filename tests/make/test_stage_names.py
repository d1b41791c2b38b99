"""Stages from factories: each under its own name, with its own role, dropping or only reporting."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, by_model, by_turns
from servers import Reply, completion
from support import make_item

from reelbench.data.items import Item, freeze
from reelbench.make.parts.answer_and_rank import answer_and_rank
from reelbench.make.parts.balance_stages import (
    balance_key_positions,
    balance_ratio,
    balance_yes_no,
    choose_negations,
    negate,
    none_of_the_above,
    split,
)
from reelbench.make.parts.distract import distract
from reelbench.make.parts.existing import collect
from reelbench.make.parts.filters import (
    filter_above_chance,
    filter_blind,
    filter_context,
    filter_ensemble,
    filter_modality,
)
from reelbench.make.parts.narration_filters import filter_narrated, filter_transcript
from reelbench.make.parts.perturb import perturb
from reelbench.make.parts.repair_shortcuts import repair_shortcuts
from reelbench.make.parts.shortcuts import filter_shortcuts
from reelbench.make.parts.static_filters import (
    filter_key_length,
    filter_lint,
    filter_near_duplicates,
)
from reelbench.make.pipeline.funnel import funnel_record
from reelbench.make.pipeline.stage import Stage
from reelbench.recipes import load_recipe

FACTORIES: dict[str, Any] = {
    "answer_and_rank": answer_and_rank,
    "balance_key_positions": balance_key_positions,
    "balance_ratio": lambda **more: balance_ratio("mood", {"good": 1}, **more),
    "balance_yes_no": balance_yes_no,
    "choose_negations": choose_negations,
    "collect": collect,
    "distract": distract,
    "filter_above_chance": filter_above_chance,
    "filter_blind": filter_blind,
    "filter_context": filter_context,
    "filter_ensemble": filter_ensemble,
    "filter_key_length": filter_key_length,
    "filter_lint": filter_lint,
    "filter_modality": lambda **more: filter_modality("visual", **more),
    "filter_narrated": filter_narrated,
    "filter_near_duplicates": filter_near_duplicates,
    "filter_shortcuts": filter_shortcuts,
    "filter_transcript": lambda **more: filter_transcript(lambda *_: "", **more),
    "negate": negate,
    "none_of_the_above": none_of_the_above,
    "perturb": lambda **more: perturb({"time": "changes when"}, **more),
    "repair_shortcuts": repair_shortcuts,
    "split": lambda **more: split({"dev": 0.5, "test": 0.5}, **more),
}


class TestNames:
    @pytest.mark.parametrize("factory", FACTORIES.values(), ids=FACTORIES)
    def test_are_given_or_usual_and_never_have_blanks(self, factory: Any) -> None:
        usual: Stage = factory()
        assert usual.name
        assert not set(usual.name) & set(" _")
        assert factory(name="mine").name == "mine"

    def test_of_the_built_in_recipes_have_no_blanks(self) -> None:
        for name in ("cineaste", "filters", "qbench-exact", "qbench-published", "qbench-video"):
            for stage in load_recipe(name).stages:
                assert " " not in stage.name

    @pytest.mark.parametrize("name", [n for n, f in FACTORIES.items() if f().roles])
    def test_a_role_of_its_own(self, name: str) -> None:
        stage = FACTORIES[name](role="somebody")
        assert stage.roles[0] == "somebody"


class TestNotes:
    def test_of_two_filters_of_a_kind_stand_side_by_side(self, tmp_path: Path) -> None:
        """Under one name, the second would have overwritten what the first found."""
        stages = (
            filter_ensemble(name="small-models", role="small"),
            filter_ensemble(name="large-models", role="large"),
        )
        models = {"small": ["s"], "large": ["l"]}
        studio = Studio(tmp_path, by_model(s="none", l="none"), models)
        passed, _ = studio.take([make_item(1)], *stages)
        (item,) = passed[-1].out
        assert item.provenance["small-models"]["models"] == {"s": 0}
        assert item.provenance["large-models"]["models"] == {"l": 0}
        assert "ensemble" not in item.provenance

    def test_follow_a_stage_that_is_given_another_name(self, tmp_path: Path) -> None:
        stage = replace(filter_ensemble(role="small"), name="renamed")
        studio = Studio(tmp_path, by_model(s="none"), {"small": ["s"]})
        (passed,), _ = studio.take([make_item(1)], stage)
        assert list(passed.out[0].provenance) == ["renamed"]

    def test_say_none_of_the_above_under_any_name(self, tmp_path: Path) -> None:
        """Keys are balanced after it, and it stays last, also in another language."""
        rows = [make_item(n) for n in range(30)]
        stages = (none_of_the_above(1.0, 0.0, name="nota"), balance_key_positions())
        (_, passed), _ = Studio(tmp_path).take(rows, *stages)
        for item in passed.out:
            assert item.provenance["nota"] == {"none_of_the_above": "key"}
            assert item.answer == ("D",)


def test_items_of_older_makes_keep_none_of_the_above_last(tmp_path: Path) -> None:
    """Once the mark stood in the provenance itself, and not in the note of a stage."""
    old = freeze({"none_of_the_above": "distractor"})
    options = ("a dog", "a cat", "a cow", "Nichts davon")
    rows = [make_item(n, options=options, answer=("A",), provenance=old) for n in range(12)]
    (passed,), _ = Studio(tmp_path).take(rows, balance_key_positions())
    assert {item.options[-1] for item in passed.out} == {"Nichts davon"}


def right_by(*ids: str) -> Any:
    """Models that answer some questions right, whatever the order of options, and others wrong."""

    def answer(body: Any, _: int) -> Reply:
        text = body["messages"][0]["content"][-1]["text"]
        right = any(f"What happens in {each}?" in text for each in ids)
        lines = [line for line in text.splitlines() if line[1:2] in ".)" and line[:1].isalpha()]
        chosen = next(line for line in lines if ("a door opens" in line) == right)
        return completion(chosen[0])

    return answer


def asked(count: int) -> list[Item]:
    options = ("a door opens", "a dog barks", "it snows", "a bell rings")
    return [
        make_item(n, question=f"What happens in q{n}?", options=options, answer=("A",))
        for n in range(count)
    ]


class TestReportOnly:
    def rates(self, folder: Path, stage: Stage, rows: Sequence[Item], answer: Any) -> Any:
        passed, _ = Studio(folder, answer, {"blind": ["m"]}).take(rows, stage)
        (record,) = funnel_record(passed, ())["stages"]
        return record, passed[-1].out

    def test_lets_all_through_and_the_funnel_has_the_rate_and_its_interval(
        self, tmp_path: Path
    ) -> None:
        rows, answer = asked(8), right_by("q1", "q5")
        dropped, left = self.rates(tmp_path / "a", filter_blind(2, 2), rows, answer)
        told, out = self.rates(tmp_path / "b", filter_blind(2, 2, drop=False), rows, answer)
        assert [item.id for item in left] == [f"q-{n}" for n in (0, 2, 3, 4, 6, 7)]
        assert [item.id for item in out] == [row.id for row in rows]
        assert told["rate"] == dropped["rate"] == 0.25
        for part in ("low", "high", "clusters"):
            assert told.get(part) == dropped.get(part)
        assert told["rejected"] == 0
        assert told["flagged"] == {"answerable without context": 2}
        flagged = [item.id for item in out if "flagged" in item.provenance["independence"]]
        assert flagged == ["q-1", "q-5"]

    def test_of_filters_that_ask_nobody(self, tmp_path: Path) -> None:
        rows = [make_item(1), make_item(2, options=("a dog", "A Dog", "it snows"))]
        told, out = self.rates(tmp_path, filter_lint(drop=False), rows, None)
        assert len(out) == 2
        assert (told["rate"], told["rejected"]) == (0.5, 0)
        assert told["flagged"] == {"lint DUPLICATE_OPTS": 1}
        assert out[1].provenance["lint"]["flagged"] == "lint DUPLICATE_OPTS"


def yes_no(number: int, answer: str = "A") -> Item:
    question, options = f"Is lamp {number} on?", ("Yes", "No")
    return make_item(number, kind="yesno", question=question, options=options, answer=(answer,))


class TestShortfalls:
    def notes(self, folder: Path, rows: Sequence[Item], *stages: Stage, **studio: Any) -> Any:
        """What stages say to the user, and what is left."""
        kept: dict[str, Any] = {}

        async def work(ctx: Any) -> None:
            left: list[Any] = list(rows)
            for stage in stages:
                ctx.stage = stage.name
                made = stage.work(left, ctx, **stage.parameters)
                left = [row for row in made if isinstance(row, Item)]
            kept.update(notes=ctx.notes, rows=left)

        Studio(folder, **studio).with_context(work)
        return kept["notes"], kept["rows"]

    def test_a_writer_who_cannot_negate_is_told(self, tmp_path: Path) -> None:
        rows = [yes_no(n) for n in range(8)] + [yes_no(8, "B")]
        bad = by_turns("I cannot.")
        stages = (choose_negations(), negate())
        (_, passed), _ = Studio(tmp_path / "a", bad, {"writer": ["pen"]}).take(rows, *stages)
        notes, _ = self.notes(tmp_path / "b", passed.out, balance_yes_no())
        yes = sum(item.correct == ("Yes",) for item in passed.out)
        assert notes == [
            f"yes-no: the keys of the yes/no questions are Yes {yes}, No {len(passed.out) - yes}: "
            "3 more questions would have to be turned into the opposite, and none is left that "
            "can be"
        ]

    def test_and_what_is_too_many_can_be_left_out(self, tmp_path: Path) -> None:
        rows = [yes_no(n) for n in range(8)] + [yes_no(8, "B"), make_item(9)]
        notes, left = self.notes(tmp_path, rows, balance_yes_no(drop=True))
        assert "Yes 8, No 1: 7 with the answer Yes are left out" in notes[0]
        assert [item.correct for item in left if item.kind == "yesno"].count(("Yes",)) == 1
        assert len(left) == 3

    @pytest.mark.parametrize("yes", [4, 5])
    def test_even_or_one_apart_is_no_shortfall(self, yes: int, tmp_path: Path) -> None:
        rows = [yes_no(n, "A" if n < yes else "B") for n in range(9)]
        assert self.notes(tmp_path, rows, balance_yes_no())[0] == []

    def test_ratios_splits_and_options_that_cannot_be_had(self, tmp_path: Path) -> None:
        rows = [
            make_item(n, tags=freeze({"mood": "good" if n else "bad", "category": "c"}))
            for n in range(3)
        ]
        same = [make_item(n, media=rows[0].media) for n in range(6)]
        short = [make_item(7, options=("a", "b"), answer=("A",)), make_item(8)]
        ratio, _ = self.notes(tmp_path, rows, balance_ratio("mood", {"good": 1, "bad": 1}))
        assert ratio == [
            "ratio: 2 of 3 items are kept for the ratio 1:1 of mood; there were good 2, bad 1"
        ]
        splits, _ = self.notes(tmp_path, same, split({"dev": 0.5, "test": 0.5}))
        assert "stay together, there are" in splits[0]
        none, _ = self.notes(tmp_path, short, none_of_the_above())
        assert "1 of 2 single-choice items cannot have 'None of the above'" in none[0]
