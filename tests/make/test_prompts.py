"""The words of a recipe: a user's own come first, what cannot be used is all told at once."""

from pathlib import Path
from typing import Any

import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.make.parts.rules import load_rules
from reelbench.make.pipeline.make import used_prompts
from reelbench.make.pipeline.prompts import Prompts, copy_prompts, load_prompts, shown_examples
from reelbench.recipes import RECIPES, load_recipe

RULES = 'name: r\nversion: "1"\nred_lines:\n  - {id: R1, text: Be brief.}\n'
OTHER_RULES = 'name: r\nversion: "2"\nred_lines:\n  - {id: R1, text: Be long.}\n'


def write(folder: Path, **files: str) -> Path:
    """Write files, _ in a name standing for a dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A recipe's own words."""
    folder = write(tmp_path / "home", rules_yaml=RULES, examples_yaml="Weather:\n  - {q: 1}\n")
    write(
        folder / "prompts",
        ask_md="About {{context}}: {{reply}}",
        reply_md="As JSON.",
        rank_md="Ours: {{question}} {{candidates}}",
    )
    return folder


class TestWhoseWords:
    def test_a_recipes_own_come_before_those_that_all_share(self, home: Path) -> None:
        words = load_prompts(home, None, None)
        assert words.texts["rank"] == "Ours: {{question}} {{candidates}}"
        assert words.texts["perturb"] == load_prompts(None, None, None).texts["perturb"]

    def test_a_users_own_come_before_both(self, home: Path, tmp_path: Path) -> None:
        own = write(
            tmp_path / "own",
            rank_md="Mine: {{question}} {{candidates}}",
            opposite_md="Turn {{question}}",
            rules_yaml=OTHER_RULES,
            examples_yaml="Boats:\n  - {q: 2}\n",
        )
        words = load_prompts(home, own, None)
        assert words.texts["rank"] == "Mine: {{question}} {{candidates}}"
        assert words.texts["opposite"] == "Turn {{question}}"
        assert words.texts["ask"] == "About {{context}}: {{reply}}"
        assert words.rules is not None
        assert words.rules.version == "2"
        assert words.examples == {"Boats": [{"q": 2}]}

    def test_no_rules_and_no_examples(self) -> None:
        words = load_prompts(None, None, None)
        assert words.rules is None
        assert words.examples == {}

    @pytest.mark.parametrize("text", ["", "# none of them\n", "{}\n"])
    def test_examples_that_a_user_has_emptied_are_gone(
        self, text: str, home: Path, tmp_path: Path
    ) -> None:
        own = write(tmp_path / "own", examples_yaml=text)
        assert load_prompts(home, own, None).examples == {}

    def test_a_folder_that_is_not_there_is_a_sentence(self, home: Path, tmp_path: Path) -> None:
        """Else a make would quietly go on with other words than the last time."""
        with pytest.raises(ReelbenchError, match="gone"):
            load_prompts(home, tmp_path / "gone", None)

    def test_a_file_in_place_of_a_folder_is_a_sentence(self, home: Path, tmp_path: Path) -> None:
        file = tmp_path / "ask.md"
        file.write_text("About {{context}}: {{reply}}")
        with pytest.raises(ReelbenchError, match=r"ask\.md"):
            load_prompts(home, file, None)


class TestRefused:
    def test_all_problems_at_once(self, home: Path, tmp_path: Path) -> None:
        own = write(
            tmp_path / "own",
            aks_md="About {{context}}",
            ask_md="About {{contxt}}: {{reply}}",
            rank_md="{{candidates}}",
        )
        with pytest.raises(ReelbenchError) as error:
            load_prompts(home, own, None)
        told = str(error.value)
        assert str(own) in told
        assert (
            "aks.md is not one of its prompts (answer, ask, audit, candidate, caption-first" in told
        )
        assert "ask.md has the slot {{contxt}}, which the recipe does not fill" in told
        assert "ask.md lacks the slot {{context}}" in told
        assert "rank.md lacks the slot {{question}}" in told

    @pytest.mark.parametrize(("name", "text", "slot"), [
        ("rank", "Score them for {{question}}", "candidates"),
        ("perturb", "Change it. {{question}} {{answer}} {{types}}", "text"),
    ])  # fmt: skip
    def test_a_prompt_without_what_it_is_about(
        self, name: str, text: str, slot: str, tmp_path: Path
    ) -> None:
        own = write(tmp_path / "own", **{f"{name}_md": text})
        with pytest.raises(ReelbenchError, match=rf"{name}\.md lacks the slot {{{{{slot}}}}}"):
            load_prompts(None, own, None)

    def test_a_variant_has_the_slots_of_its_original(self, home: Path, tmp_path: Path) -> None:
        own = write(tmp_path / "own", ask_2_md="{{nothing}} {{reply}}")
        with pytest.raises(ReelbenchError) as error:
            load_prompts(home, own, None)
        assert "ask.2.md has the slot {{nothing}}, which the recipe does not fill" in str(
            error.value
        )
        assert "ask.2.md lacks the slot {{context}}" in str(error.value)

    def test_a_variant_of_nothing(self, home: Path, tmp_path: Path) -> None:
        own = write(tmp_path / "own", sing_2_md="la")
        with pytest.raises(ReelbenchError, match=r"sing\.2\.md is not one of its prompts"):
            load_prompts(home, own, None)

    @pytest.mark.parametrize("text", ["a: [", "- a list", "just words"])
    def test_examples_that_are_none(self, text: str, home: Path, tmp_path: Path) -> None:
        own = write(tmp_path / "own", examples_yaml=text)
        with pytest.raises(ReelbenchError, match=r"own.examples\.yaml"):
            load_prompts(home, own, None)

    @pytest.mark.parametrize("text", [
        "Weather: some words", "Weather: {q: 1}", "Weather: null",
        "Weather:\n  - {when: 2020-01-01}", "Weather:\n  - {share: .nan}", "1: []\nWeather: []",
    ])  # fmt: skip
    def test_examples_that_cannot_be_shown(self, text: str, home: Path, tmp_path: Path) -> None:
        """A list of objects by category, of what JSON has; else nothing could be asked."""
        own = write(tmp_path / "own", examples_yaml=text)
        with pytest.raises(ReelbenchError, match=r"examples\.yaml"):
            load_prompts(home, own, None)

    def test_rules_that_are_none(self, home: Path, tmp_path: Path) -> None:
        own = write(tmp_path / "own", rules_yaml="name: r\n")
        with pytest.raises(ReelbenchError, match=r"rules\.yaml has these faults.*\n.*version"):
            load_prompts(home, own, None)

    def test_a_text_that_is_not_utf_8(self, home: Path, tmp_path: Path) -> None:
        own = write(tmp_path / "own")
        (own / "ask.md").write_bytes(b"About {{context}} \xff {{reply}}")
        with pytest.raises(ReelbenchError, match=r"ask\.md cannot be read"):
            load_prompts(home, own, None)


class TestPrompts:
    def test_slots_are_filled_and_others_are_prompts_of_that_name(self, home: Path) -> None:
        words = load_prompts(home, None, None)
        assert words.prompt("ask", context="a film") == "About a film: As JSON."

    def test_what_is_filled_in_is_not_read_again(self, home: Path) -> None:
        words = load_prompts(home, None, None)
        assert words.prompt("ask", context="{{reply}}") == "About {{reply}}: As JSON."

    def test_variants_are_found_in_order(self, home: Path, tmp_path: Path) -> None:
        text = "About {{context}}: {{reply}}"
        own = write(tmp_path / "own", ask_2_md=text, ask_3_md=text, ask_10_md=text)
        words = load_prompts(home, own, None)
        assert words.variants("ask") == ["ask", "ask.2", "ask.3", "ask.10"]
        assert words.variants("as") == []

    def test_examples_are_shown_one_a_line(self) -> None:
        assert shown_examples([{"q": "Où?"}, {"q": 2}]) == '{"q": "Où?"}\n{"q": 2}'
        assert shown_examples([]) == ""


TEXTS = {"ask": "a {{context}}", "ask.2": "b {{context}}", "reply": "r", "rank": "k"}


def words(**fields: Any) -> Prompts:
    plain: dict[str, Any] = {
        "texts": TEXTS,
        "rules": load_rules(RULES),
        "examples": {"Weather": [{"q": 1}]},
    }
    return Prompts(**(plain | fields))


class TestDigest:
    NAMES = ("ask", "reply", "rules", "examples")

    @pytest.mark.parametrize("change", [
        {"texts": TEXTS | {"ask": "other {{context}}"}},
        {"texts": TEXTS | {"ask.2": "other {{context}}"}},
        {"texts": TEXTS | {"ask.3": "a {{context}}"}},
        {"texts": TEXTS | {"reply": "r "}},
        {"rules": load_rules(OTHER_RULES)},
        {"rules": load_rules(RULES.replace("brief", "terse"))},
        {"rules": None},
        {"examples": {"Weather": [{"q": 2}]}},
        {"examples": {}},
    ], ids=["prompt", "variant", "a new variant", "what is filled in", "version", "rules", "no rules", "examples", "no examples"])  # fmt: skip
    def test_changes_when_something_declared_changes(self, change: Any) -> None:
        assert words(**change).digest(self.NAMES) != words().digest(self.NAMES)

    @pytest.mark.parametrize("change", [
        {"texts": TEXTS | {"rank": "other"}},
        {"texts": TEXTS | {"asked": "other", "rank.2": "other"}},
        {"texts": dict(reversed(TEXTS.items()))},
        {"rules": load_rules(f"# the same\n{RULES}\n")},
    ], ids=["another prompt", "new ones", "their order", "the layout of rules"])  # fmt: skip
    def test_and_only_then(self, change: Any) -> None:
        assert words(**change).digest(self.NAMES) == words().digest(self.NAMES)

    def test_what_is_not_declared_does_not_count(self) -> None:
        other = words(rules=None, examples={})
        assert other.digest(("ask",)) == words().digest(("ask",))
        assert other.digest(()) == words().digest(())


class TestCopy:
    @pytest.mark.parametrize("name", RECIPES)
    def test_of_a_recipes_words_is_the_same_words(self, name: str, tmp_path: Path) -> None:
        recipe = load_recipe(name)
        copy_prompts(recipe.home, used_prompts(recipe), tmp_path / "new" / "own")
        written = list((tmp_path / "new" / "own").glob("*.md"))
        assert bool(written) == bool(list(used_prompts(recipe))), "who asks nobody has no prompts"
        before = load_prompts(recipe.home, None, recipe.categories or None)
        after = load_prompts(recipe.home, tmp_path / "new" / "own", recipe.categories or None)
        assert after == before

    def test_holds_variants_too(self, home: Path, tmp_path: Path) -> None:
        """A user who cannot see one cannot change it."""
        write(home / "prompts", ask_2_md="{{context}}? {{reply}}")
        copy_prompts(home, ["ask"], tmp_path / "own")
        assert (tmp_path / "own" / "ask.2.md").read_text() == "{{context}}? {{reply}}"

    def test_holds_rules_and_examples(self, home: Path, tmp_path: Path) -> None:
        copy_prompts(home, ["ask", "rules", "examples", "perturb"], tmp_path / "own")
        names = sorted(path.name for path in (tmp_path / "own").iterdir())
        assert names == ["ask.md", "examples.yaml", "perturb.md", "rules.yaml"]

    def test_of_a_recipe_without_a_home_holds_what_all_share(self, tmp_path: Path) -> None:
        copy_prompts(None, ["perturb"], tmp_path / "own")
        assert [path.name for path in (tmp_path / "own").iterdir()] == ["perturb.md"]
