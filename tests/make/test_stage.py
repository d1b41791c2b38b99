"""A recipe that cannot work is refused at once, and what one asks of it is answered in sentences."""

import re
from dataclasses import replace
from typing import Any

import pytest
from parts import a_recipe, ending

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.make.parts.drafts import Draft, WritingTask
from reelbench.make.parts.filters import filter_blind
from reelbench.make.parts.write import check_drafts, write
from reelbench.make.pipeline.stage import BatchStage, Recipe, RowStage

WRITE, CHECK, END = write(("ask",), 2), check_drafts(), ending()


def refused(*stages: Any, **fields: Any) -> str:
    with pytest.raises(ReelbenchError) as error:
        a_recipe(*stages, **fields)
    return str(error.value)


class TestARecipe:
    def test_whose_stages_fit_is_one(self) -> None:
        recipe = a_recipe(WRITE, CHECK, END)
        assert [stage.name for stage in recipe.stages] == ["write", "check", "end"]

    def test_whose_stages_do_not_fit(self) -> None:
        assert refused(WRITE, END) == (
            "The recipe parts cannot go on from write, whose output is Draft, to end, whose input is Item."
        )

    def test_that_does_not_end_with_items(self) -> None:
        assert refused(WRITE) == (
            "The recipe parts must end with a stage whose output is Item; that of write is Draft."
        )

    def test_without_stages(self) -> None:
        assert refused() == "The recipe parts has no stages."

    def test_with_two_stages_of_one_name(self) -> None:
        told = "The recipe parts has more than one stage called end: give each a name of its own"
        assert refused(END, ending("other"), END).startswith(told)

    def test_that_does_not_say_what_a_role_does(self) -> None:
        told = refused(WRITE, CHECK, roles={})
        assert (
            told
            == "The recipe parts has stages with the roles writer: add these to the roles of the recipe."
        )


RECIPE = a_recipe(WRITE, CHECK, END)


class TestUntil:
    def test_a_stage_keeps_it_and_what_is_before(self) -> None:
        assert [stage.name for stage in RECIPE.until("check").stages] == ["write", "check"]
        assert [stage.name for stage in RECIPE.until("write").stages] == ["write"]
        assert RECIPE.until(None) is RECIPE

    def test_a_stage_for_trials_belongs_to_a_recipe_that_ends_before_it_or_later(self) -> None:
        recipe = a_recipe(WRITE, CHECK, replace(END, name="try", trial=True), END)
        assert [stage.name for stage in recipe.until(None).stages] == ["write", "check", "end"]
        assert [stage.name for stage in recipe.until("write").stages] == ["write"]
        assert [stage.name for stage in recipe.until("check").stages] == ["write", "check", "try"]
        assert len(recipe.until("end").stages) == 4

    def test_no_stage_is_a_sentence_with_all(self) -> None:
        told = "The recipe parts has no stage 'chek'; it has write, check, end."
        with pytest.raises(ReelbenchError, match=re.escape(told)):
            RECIPE.until("chek")

    def test_leaves_the_recipe_as_it_was(self) -> None:
        RECIPE.until("write")
        assert len(RECIPE.stages) == 3


class TestWithout:
    def test_a_stage_that_only_lets_through(self) -> None:
        recipe = a_recipe(WRITE, CHECK, END, ending("also"))
        assert [s.name for s in recipe.without(["end"]).stages] == ["write", "check", "also"]
        assert [s.name for s in recipe.without(["end", "also"]).stages] == ["write", "check"]
        assert recipe.without([]).stages == recipe.stages

    @pytest.mark.parametrize("name", ["check", "ende", ""])
    def test_what_is_needed_or_not_there_is_a_sentence_with_what_is_not(self, name: str) -> None:
        told = f"parts cannot leave out the stage {name!r}: it can leave out end."
        with pytest.raises(ReelbenchError, match=re.escape(told)):
            RECIPE.without([name])

    def test_where_all_is_needed_says_so(self) -> None:
        with pytest.raises(ReelbenchError) as error:
            a_recipe(WRITE, CHECK).without(["check"])
        assert "without ." not in str(error.value)


async def _never(*_: Any, **__: Any) -> list[Any]:
    raise AssertionError


PARAMETERS = {
    "whole": 5,
    "share": 0.8,
    "flag": True,
    "text": "uniform:16",
    "list": ("a", "b"),
    "table": {"a": "b"},
}
SETTABLE = RowStage(name="sift", input=Item, output=Item, work=_never, parameters=PARAMETERS)


class TestSettings:
    def changed(self, **values: Any) -> Recipe:
        changes = {f"sift.{name}": value for name, value in values.items()}
        return a_recipe(SETTABLE, END).changed(changes)

    @pytest.mark.parametrize(("name", "value"), [
        ("whole", 3), ("whole", 0), ("share", 0.5), ("share", 1), ("flag", False),
        ("text", "fps:1"), ("list", ("c",)), ("table", {"c": "d"}),
    ])  # fmt: skip
    def test_of_the_usual_type_are_taken(self, name: str, value: Any) -> None:
        stage = self.changed(**{name: value}).stages[0]
        assert stage.parameters == PARAMETERS | {name: value}
        assert SETTABLE.parameters == PARAMETERS

    @pytest.mark.parametrize(("name", "value"), [
        ("whole", 3.0), ("whole", "3"), ("whole", True), ("whole", None), ("share", "0.5"),
        ("share", False), ("flag", 1), ("flag", "yes"), ("text", 16), ("text", None),
        ("list", {"a": "b"}), ("list", [1]), ("list", [["a"]]), ("table", ["a"]), ("share", None),
    ])  # fmt: skip
    def test_of_another_type_are_a_sentence(self, name: str, value: Any) -> None:
        told = f"sift.{name} is {PARAMETERS[name]!r} by default and cannot be {value!r}."
        with pytest.raises(ReelbenchError, match=re.escape(told)):
            self.changed(**{name: value})

    @pytest.mark.parametrize(
        ("value", "taken"),
        [("c", ("c",)), ("c, d", ("c", "d")), (["c", "d"], ("c", "d")), (None, ())],
    )
    def test_of_a_list_are_taken_with_commas_and_with_brackets(
        self, value: Any, taken: tuple[str, ...]
    ) -> None:
        assert self.changed(list=value).stages[0].parameters["list"] == taken

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_that_no_hash_can_be_taken_of_are_a_sentence(self, value: float) -> None:
        """--set veracity.keep_at=.nan: JSON has no such number, and nothing is ever below it."""
        with pytest.raises(ReelbenchError, match=r"sift\.share"):
            self.changed(share=value)

    @pytest.mark.parametrize("name", ["sift.hole", "whole", "sit.whole", "", ".", "end.whole"])
    def test_of_what_is_not_there_are_a_sentence_with_what_is(self, name: str) -> None:
        with pytest.raises(ReelbenchError) as error:
            a_recipe(SETTABLE, END).changed({name: 1})
        told = str(error.value)
        assert told.startswith(f"parts has no parameter {name}; it has")
        assert "sift.whole, sift.share, sift.flag" in told

    def test_of_a_stage_with_a_dot_or_a_blank_in_its_name(self) -> None:
        stage = BatchStage(
            name="yes or no.2", input=Item, output=Item, work=list, parameters={"n": 1}
        )
        recipe = a_recipe(stage).changed({"yes or no.2.n": 2})
        assert recipe.stages[0].parameters == {"n": 2}

    def test_several_of_one_stage_are_all_taken(self) -> None:
        stage = self.changed(whole=1, share=0.1).stages[0]
        assert stage.parameters["whole"] == 1
        assert stage.parameters["share"] == 0.1

    def test_that_belong_together_are_validated_together(self) -> None:
        recipe = a_recipe(filter_blind(seeds=5, drop_at=5))
        both = {"independence.seeds": 3, "independence.drop_at": 3}
        for changes in (both, dict(reversed(both.items()))):
            assert recipe.changed(changes).stages[0].parameters["seeds"] == 3

    def test_of_which_one_is_missing_name_it(self) -> None:
        recipe = a_recipe(filter_blind(seeds=5, drop_at=5))
        with pytest.raises(
            ReelbenchError, match=r"independence\.drop_at is 5 of 3 .* set drop_at too"
        ):
            recipe.changed({"independence.seeds": 3})

    def test_that_are_wrong_are_all_named(self) -> None:
        with pytest.raises(ReelbenchError) as error:
            a_recipe(SETTABLE, END).changed({"sift.whole": "x", "sift.share": "y"})
        assert [line.split()[0] for line in str(error.value).splitlines()] == [
            "sift.whole",
            "sift.share",
        ]

    def test_none_change_nothing(self) -> None:
        assert a_recipe(SETTABLE, END).changed({}).stages == (SETTABLE, END)


def test_rows_that_stages_pass_on_have_ids() -> None:
    for kind in (Item, WritingTask, Draft):
        assert "id" in kind.__struct_fields__
