"""The words of the Cinéaste recipe: categories, rules, examples and prompts."""

from importlib.resources import files

import pytest
import yaml

from reelbench.evaluate.prompt import fill, slots_of
from reelbench.make.parts.rule_checks import CHECKS
from reelbench.make.parts.rules import load_rules

MUSEBENCH_CHECKS = {
    "no_names",
    "no_clip_numbers",
    "no_inline_options",
    "no_mention_of_narration",
    "leads_with_perceptible",
    "independent_keys",
}
HOME = files("reelbench.recipes") / "cineaste"
TAXONOMY = yaml.safe_load((HOME / "taxonomy.yaml").read_text(encoding="utf-8"))["categories"]
EXAMPLES = yaml.safe_load((HOME / "examples.yaml").read_text(encoding="utf-8"))
NAMES = [category["name"] for category in TAXONOMY]
PROMPTS = {
    path.name.removesuffix(".md"): path.read_text(encoding="utf-8")
    for path in (HOME / "prompts").iterdir()
}
WRITING = {"context", "rules", "examples", "count", "reply"}
SLOTS = {
    "describe": {"film", "title"},
    **dict.fromkeys((category["slug"] for category in TAXONOMY), WRITING),
    "reply": set(),
    "context": {"film", "summary", "scenes"},
    "scene": {"number", "title", "logline", "captions", "description"},
    "independence": {"question", "options"},
    "veracity": {"context", "question", "options"},
}


class TestCineaste:
    def test_five_categories_in_order(self) -> None:
        assert [category["code"] for category in TAXONOMY] == ["VR", "SC", "TO", "CE", "MU"]
        for category in TAXONOMY:
            assert category.keys() == {"name", "code", "slug", "definition"}
            assert category["slug"] == category["name"].lower().replace(" ", "-")

    def test_rules_are_for_those_categories(self) -> None:
        rules = load_rules((HOME / "rules.yaml").read_text(encoding="utf-8"), NAMES)
        assert set(rules.categories) == set(NAMES)
        assert {name for rule in rules.red_lines for name, _ in rule.checks} == (
            CHECKS.keys() - {"no_proper_nouns"} - MUSEBENCH_CHECKS
        )

    def test_examples_obey_the_rules(self) -> None:
        rules = load_rules((HOME / "rules.yaml").read_text(encoding="utf-8"))
        assert list(EXAMPLES) == NAMES
        for category, examples in EXAMPLES.items():
            for said in examples:
                assert list(said) == ["question", "answer", "distractors", "reasoning", "scenes"]
                assert len(said["distractors"]) == 4
                assert all(type(number) is int for number in said["scenes"])
                options = [said["answer"], *said["distractors"]]
                assert rules.broken(category, said["question"], options, said["answer"]) == []

    def test_no_prompt_more_and_no_slot_more(self) -> None:
        assert {name: slots_of(text) for name, text in PROMPTS.items()} == SLOTS

    @pytest.mark.parametrize("name", sorted(SLOTS))
    def test_prompts_are_plain_markdown(self, name: str) -> None:
        text = PROMPTS[name]
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert all(line == line.rstrip() for line in text.splitlines())
        assert text.replace("\n", "").isprintable()
        filled = fill(text, dict.fromkeys(SLOTS[name], "something"))
        assert "{{" not in filled
        assert len(filled.split()) < 300, "a long prompt is paid for a thousand times"

    def test_all_that_share_a_context_begin_alike(self) -> None:
        # What servers have read once they read again for less.
        names = [category["slug"] for category in TAXONOMY] + ["veracity"]
        assert len({PROMPTS[name].partition("{{context}}")[0] for name in names}) == 1

    def test_each_category_is_asked_for_by_its_name(self) -> None:
        for category in TAXONOMY:
            named = {name for name in NAMES if name in PROMPTS[category["slug"]]}
            assert named == {category["name"]}
