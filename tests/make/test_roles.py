"""Who plays which role: what is not there is told in a sentence, one model is one object."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, a_recipe, ending
from servers import completion
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.roles import load_models, missing_roles, parse_roles, warnings_about
from reelbench.make.pipeline.stage import Recipe, Role, RowStage


def stage(name: str, *roles: str, **fields: Any) -> RowStage:
    work = ending().work
    return RowStage(name=name, input=Item, output=Item, work=work, roles=roles, **fields)


ROLES = {
    "captioner": Role("says what is seen", stands_in="writer"),
    "writer": Role("writes"),
    "distractor": Role("writes what is wrong", stands_in="captioner"),
    "blind": Role("answers blind", many=True, verifies=True),
    "veracity": Role("answers from the text", verifies=True),
}


def recipe(roles: dict[str, Role] | None = None, *stages: RowStage) -> Recipe:
    return a_recipe(*(stages or (ending(),)), roles=ROLES if roles is None else roles)


@pytest.fixture
def card(tmp_path: Path) -> Any:
    """Write a card, and return its path as text."""

    def write(file: str, **fields: Any) -> str:
        plain = {"name": file, "endpoint": "http://127.0.0.1:9/v1"} | fields
        path = tmp_path / f"{file}.yaml"
        path.write_text("".join(f"{name}: {value}\n" for name, value in plain.items()))
        return str(path)

    return write


class TestWords:
    def test_name_models_by_role(self) -> None:
        said = ["writer=openai:gpt-4o", "blind=a.yaml", "blind=b.yaml"]
        assert parse_roles(said, recipe()) == {
            "writer": ["openai:gpt-4o"],
            "blind": ["a.yaml", "b.yaml"],
        }

    def test_a_model_may_have_an_equals_sign_in_its_name(self) -> None:
        assert parse_roles(["writer=hf:a=b"], recipe()) == {"writer": ["hf:a=b"]}

    @pytest.mark.parametrize("word", ["gpt-4o", "writer", "writer=", "=a.yaml", "poet=a.yaml", ""])
    def test_that_give_no_role_are_a_sentence_with_all_roles(self, word: str) -> None:
        with pytest.raises(ReelbenchError) as error:
            parse_roles([word], recipe())
        told = str(error.value)
        assert repr(word) in told
        assert "write ROLE=MODEL" in told
        for name, role in ROLES.items():
            assert f"\n  {name}: {role.does}" in told

    def test_for_a_recipe_without_roles(self) -> None:
        with pytest.raises(ReelbenchError, match="it has none"):
            parse_roles(["writer=a"], recipe({}))

    def test_that_name_two_where_one_can_be(self) -> None:
        with pytest.raises(
            ReelbenchError, match=r"The role writer takes one model, and --model names 2: a, b"
        ):
            parse_roles(["writer=a", "writer=b"], recipe())


class TestStandingIn:
    def test_goes_along_the_chain(self, card: Any) -> None:
        models = load_models(recipe(), {"writer": [card("w")]})
        assert {role: models[0].card.name for role, models in models.items()} == {
            "captioner": "w", "writer": "w", "distractor": "w",
        }  # fmt: skip

    def test_ends_with_who_is_named_first(self, card: Any) -> None:
        named = {"writer": [card("w")], "captioner": [card("c")]}
        assert load_models(recipe(), named)["distractor"][0].card.name == "c"

    def test_is_not_needed_where_one_is_named(self, card: Any) -> None:
        named = {"writer": [card("w")], "distractor": [card("d")]}
        models = load_models(recipe(), named)
        assert models["distractor"][0].card.name == "d"
        assert models["captioner"][0].card.name == "w"

    def test_for_who_is_not_named_leaves_the_role_empty(self, card: Any) -> None:
        models = load_models(recipe(), {"distractor": [card("d")]})
        assert list(models) == ["distractor"]

    def test_puts_one_where_one_can_be(self, card: Any) -> None:
        """Several that stand in for a role of one would each be asked, or end the stage."""
        roles = {"blind": Role("b", many=True), "veracity": Role("v", stands_in="blind")}
        named = {"blind": [card("a"), card("b")]}
        with pytest.raises(ReelbenchError, match="veracity"):
            load_models(recipe(roles), named)

    @pytest.mark.parametrize("roles", [
        {"a": Role("x", stands_in="nobody")},
        {"a": Role("x", stands_in="b"), "b": Role("y", stands_in="a")},
        {"a": Role("x", stands_in="a")},
    ], ids=["nobody", "in a circle", "oneself"])  # fmt: skip
    def test_that_comes_to_no_end_is_refused_with_the_recipe(self, roles: Any) -> None:
        """Asked for later, one is a KeyError and the others never return."""
        with pytest.raises(ReelbenchError, match="stands_in="):
            recipe(roles)


class TestModels:
    def test_one_in_two_roles_is_the_same_object(
        self, card: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = card("m")
        monkeypatch.chdir(tmp_path)
        named = {"writer": [path], "blind": ["m.yaml"], "veracity": ["./m.yaml"]}
        models = load_models(recipe(), named)
        assert len({id(model) for models in models.values() for model in models}) == 1

    def test_one_that_is_named_twice_for_a_role_plays_it_once(
        self, card: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = card("m")
        monkeypatch.chdir(tmp_path)
        assert len(load_models(recipe(), {"blind": [path, path]})["blind"]) == 1
        assert len(load_models(recipe(), {"blind": [path, "m.yaml"]})["blind"]) == 1

    def test_several_stand_in_the_order_they_are_named(self, card: Any) -> None:
        models = load_models(recipe(), {"blind": [card("z"), card("a")]})
        assert [model.card.name for model in models["blind"]] == ["z", "a"]

    def test_two_of_one_name_are_refused(self, card: Any) -> None:
        named = {"writer": [card("one", name="m")], "blind": [card("two", name="m")]}
        with pytest.raises(ReelbenchError, match="Two models are called m: set another name"):
            load_models(recipe(), named)

    def test_that_are_not_there_are_a_sentence(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match=r"gone\.yaml cannot be read"):
            load_models(recipe(), {"writer": [str(tmp_path / "gone.yaml")]})
        with pytest.raises(ReelbenchError, match="There is no model 'poet'"):
            load_models(recipe(), {"writer": ["poet"]})


class TestMissing:
    def test_roles_are_all_named_with_what_they_do(self, card: Any) -> None:
        made = recipe(None, stage("write", "writer"), stage("check", "blind", "veracity"))
        told = missing_roles(made, load_models(made, {"blind": [card("b")]}))
        assert told.splitlines() == [
            "parts needs a model for:",
            "  --model writer=...  writes",
            "  --model veracity=...  answers from the text",
        ]

    def test_roles_of_optional_stages_and_of_none_are_not(self, card: Any) -> None:
        made = recipe(None, stage("write", "writer"), stage("check", "blind", optional=True))
        assert missing_roles(made, load_models(made, {"writer": [card("w")]})) == ""

    def test_roles_that_a_stage_may_ask_are_not(self) -> None:
        made = recipe(None, stage("judge", may_ask=("blind",)))
        assert missing_roles(made, {}) == ""

    def test_a_role_that_a_stage_may_ask_is_one_of_the_recipe(self) -> None:
        with pytest.raises(ReelbenchError, match="stages with the roles poet"):
            recipe(None, stage("judge", may_ask=("poet",)))


class TestRolesThatAStageMayAsk:
    def test_are_asked_where_a_model_is_named_and_redo_the_stage(self, tmp_path: Path) -> None:
        async def work(_item: Item, ctx: StageContext) -> list[Item]:
            reply = await ctx.text("blind", "Well?") if ctx.models.get("blind") else "nobody"
            return [make_item(1, question=reply)]

        asking = replace(stage("judge", may_ask=("blind",)), work=work)
        questions = []
        for models in ({}, {"blind": ["b"]}, {}):
            studio = Studio(tmp_path / "make", lambda *_: completion("Yes."), models)
            passed, _ = studio.take([make_item(1)], asking)
            questions.append(passed[-1].out[0].question)
        assert questions == ["nobody", "Yes.", "nobody"]


class TestWarnings:
    def warnings(self, named: Any, *stages: RowStage) -> list[str]:
        made = recipe(None, *stages)
        return list(warnings_about(made, load_models(made, named)))

    def test_about_who_verifies_what_it_wrote(self, card: Any) -> None:
        path = card("m", parameters="{temperature: 1}")
        (told,) = self.warnings({"writer": [path], "veracity": [path]})
        assert told.startswith("m has the role veracity and checks what it wrote itself")

    def test_about_who_wrote_the_distractors_and_one_of_several(self, card: Any) -> None:
        hot = "{temperature: 1}"
        wit = card("wit", parameters=hot)
        named = {
            "writer": [card("w")],
            "distractor": [wit],
            "blind": [card("b", parameters=hot), wit],
        }
        (told,) = self.warnings(named)
        assert told.startswith("wit has the role blind and checks what it wrote itself")

    def test_about_a_temperature_of_0_where_one_is_asked_repeatedly(self, card: Any) -> None:
        named = {"writer": [card("w")], "veracity": [card("v")]}
        assert self.warnings(named) == []
        often = stage("veracity", "veracity", parameters={"seeds": 3})
        (told,) = self.warnings(named, often)
        assert told.startswith("v has the role veracity at temperature 0")

    def test_about_nothing_else(self, card: Any) -> None:
        hot = card("v", parameters="{temperature: 0.7}")
        path = card("w")
        assert self.warnings({"writer": [path], "captioner": [path], "veracity": [hot]}) == []


@pytest.mark.parametrize("asks", ["text", "json", "model"])
def test_a_stage_asks_only_the_roles_that_it_names(asks: str, tmp_path: Path) -> None:
    async def work(item: Item, ctx: StageContext) -> list[Item]:
        if asks == "text":
            await ctx.text("editor", "Shorter!", model=ctx.models["editor"][0])
        elif asks == "json":
            await ctx.json("editor", "Shorter!", {})
        ctx.model("editor")
        return [item]

    shorten = RowStage(name="shorten", input=Item, output=Item, work=work)
    with pytest.raises(
        ReelbenchError, match=r'shorten asks the role editor, .* roles=\("editor",\)'
    ):
        Studio(tmp_path / "made", models={"editor": ["pen"]}).take([make_item(1)], shorten)
