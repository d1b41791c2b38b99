"""Rule sets: how they are read, and what their checks find."""

from pathlib import Path
from typing import Any

import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.make.parts.rule_checks import CHECKS, Asked
from reelbench.make.parts.rules import Broken, load_rules

RULES = """
name: some
version: "3"
red_lines:
  - {id: R1, text: No numbers., check: no_scene_numbers}
  - id: R2
    text: >
      Options are
      alike.
    check: {similar_length: 3}
categories:
  Order:
    - {id: T1, text: All events happen., check: [least_words, {no_proper_nouns: [Paris]}]}
"""
OPTIONS = ("A red boat", "A green car", "A blue bicycle", "A white horse")


def wrong(check: str, question: str = "", *options: str, key: int = 0, setting: Any = None) -> str:
    texts = options or OPTIONS
    return CHECKS[check].held(Asked(question, texts, (texts[key],)), setting)


class TestRuleSets:
    def test_text_has_red_lines_then_the_category(self) -> None:
        rules = load_rules(RULES)
        assert rules.text("Order").splitlines() == [
            "- R1. No numbers.",
            "- R2. Options are alike.",
            "- T1. All events happen.",
        ]
        assert rules.text("Other") == "- R1. No numbers.\n- R2. Options are alike."

    def test_record_is_of_what_is_said_not_of_the_layout(self, tmp_path: Path) -> None:
        path = tmp_path / "rules.yaml"
        path.write_text("\ufeff# A comment.\n" + RULES, encoding="utf-8")
        record = load_rules(path).record
        assert record == load_rules(RULES).record
        assert {**record, "sha256": ""} == {"name": "some", "version": "3", "sha256": ""}
        changed = load_rules(RULES.replace("No numbers", "No digits"))
        assert changed.record["sha256"] != record["sha256"]

    def test_broken_names_the_rule_and_what(self) -> None:
        broken = load_rules(RULES).broken("Order", "Who in Paris met Anna?", OPTIONS, OPTIONS[1])
        assert broken == [Broken("T1", "the question names 'Anna'")]
        broken = load_rules(RULES).broken("Other", "What is in scene 3?", OPTIONS, OPTIONS[1])
        assert broken == [Broken("R1", "the question says 'scene 3'")]

    def test_category_rules_hold_for_their_category_alone(self) -> None:
        rules = load_rules(RULES)
        assert rules.broken("Other", "Who?", OPTIONS, OPTIONS[0]) == []
        assert [b.rule for b in rules.broken("Order", "Who?", OPTIONS, OPTIONS[0])] == ["T1"]

    def test_several_keys_and_none(self) -> None:
        rules = load_rules(RULES)
        assert rules.broken("", "Which are seen here?", OPTIONS, OPTIONS[:2]) == []
        assert rules.broken("", "What is seen here?", (), "A red boat") == []
        with pytest.raises(ValueError, match="has to be among the options"):
            rules.broken("", "What is seen?", OPTIONS, "B")

    def test_all_problems_at_once(self) -> None:
        text = """
name: 7
extra: 1
red_lines:
  - {id: R1, text: Fine., check: no_such_check}
  - {id: R1, text: "", why: because}
  - just text
  - {id: R4, text: Fine., check: {similar_length: long, distinct_options: 2}}
categories:
  Order: {id: T1}
  Odder: [{id: R4, text: Fine., check: [[nested]]}]
"""
        with pytest.raises(ReelbenchError) as raised:
            load_rules(text, categories=["Order"])
        said = str(raised.value)
        for part in (
            "name: found 7, expected text",
            "version: found nothing",
            "extra: found an unknown field, expected one of name, version, red_lines, categories",
            "red_lines, rule 1: check: there is no check 'no_such_check'; there are no_scene_numbers",
            "red_lines, rule 2: text: found '', expected text",
            "red_lines, rule 2: why: found an unknown field, expected one of id, text, check",
            "red_lines, rule 2: the id 'R1' is already that of red_lines, rule 1",
            "red_lines, rule 3: found 'just text', expected a mapping",
            "red_lines, rule 4: check.similar_length: found 'long', expected a number",
            "red_lines, rule 4: check.distinct_options: found 2, expected no setting",
            "categories.Order: found",
            "categories.Odder: there is no such category; there are Order",
            "categories.Odder, rule 1: the id 'R4' is already that of red_lines, rule 4",
            "categories.Odder, rule 1: check: there is no check",
        ):
            assert part in said
        assert said.count("\n- ") == 14

    @pytest.mark.parametrize(("text", "said"), [
        ("", "found nothing, expected a mapping"),
        ("rules.yaml", "expected a mapping"),
        ("{", "cannot be read as a rule set"),
        ("name: a\nname: b", "'name' twice"),
        ('name: a\nversion: "1"\ncategories: [a]', "expected a mapping of categories to their rules"),
        ('name: a\nversion: "1"\nred_lines: &a [*a]', "expected a mapping with id and text"),
        ("name: a\nversoin: 1.0", "versoin: found an unknown field, expected a known field: perhaps 'version'"),
        ("name: a\nversion: 1.0", "put a number in quotes"),
        ('name: a\nversion: "1"\nred_lines: [{id: 1, text: a, check: {similar_length: .inf}}]', "found inf"),
        ('name: a\nversion: "1"\nred_lines: [{id: R1, text: a, check: {similar_length: true}}]', "found True"),
    ])  # fmt: skip
    def test_what_is_no_rule_set(self, text: str, said: str) -> None:
        with pytest.raises(ReelbenchError, match=said):
            load_rules(text)

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match=r"none\.yaml cannot be read"):
            load_rules(tmp_path / "none.yaml")

    def test_settings_have_defaults(self) -> None:
        text = 'name: a\nversion: "1"\nred_lines: [{id: R1, text: a, check: {least_words: null}}]'
        assert load_rules(text).broken("", "Why is that?", OPTIONS, OPTIONS[0]) == [
            Broken("R1", "the question has 3 words, not 5")
        ]


class TestSceneNumbers:
    @pytest.mark.parametrize("text", [
        "What does Anna hide in Scene 3?", "What happens in scene #3?", "How do scenes 2 and 4 differ?", "SCENE 12", "Who dies in scene3?",
        "In scene no. 5, who speaks?", "In scene number five, who speaks?", "What changes (scene 4)?", "What is in S3?", "Between S3 and S10, who leaves?",
        "What happens in scene two?", "Scene two shows whom?", "How does scene one differ from the rest?", "Who is new in scenes two and four?",
        "Who enters in Scene IV?", "Who enters in the third scene?", "In the 2nd scene, who enters?", "Who leaves in the third scene of the film?",
        "Who leaves in the fourth scene in the film?", "What comes of it in the second and third scenes?", "Who leaves in scene\u00a0\uff13?", "场景3中发生了什么?", "第三幕里谁离开了?",
        "第4个场景中谁离开了?", "シーン2で誰が去りますか",
    ])  # fmt: skip
    def test_found(self, text: str) -> None:
        assert wrong("no_scene_numbers", text)
        assert "option B" in wrong("no_scene_numbers", "What?", "A boat", text)

    @pytest.mark.parametrize("text", [
        "Who enters in the final scene?", "Who enters in the first scene?", "In the opening scene two men fight; who wins?",
        "In the scene two men fight; who wins?", "In the scene one of the guards drops his key; why?", "What happens in the scene in the kitchen?",
        "Who is seen in the scene I described?", "In the scene 1950s music plays on the radio; who dances?", "Who owns the second scene-painting?",
        "What is new in the second scene with the lighthouse?", "How does the third scene between the sisters end?", "Which split-second scene is repeated?",
        "How many scenery flats fall?", "In how many scenes does the dog appear?", "Who drives the S3-class wagon?", "What does the sign GS3 mean?",
        "第一场比赛谁赢了?", "场景一片混乱,谁最冷静?",
    ])  # fmt: skip
    def test_left_alone(self, text: str) -> None:
        assert wrong("no_scene_numbers", text) == ""


class TestTimeCodes:
    @pytest.mark.parametrize("text", [
        "What happens at 12:34?", "What happens at 01:02:03?", "Who enters at around 3:15?", "What is seen (00:45)?", "What does she watch at 12:34?",
        "Who speaks at the 3-minute mark?", "Who speaks at 12m34s?", "Who speaks at 95 seconds?", "What happens 10 minutes in?",
        "What happens 20 seconds into the video?", "What happens at minute 12?", "What is shown at timestamp 43?", "The alarm rings at 12:34", "在12:34发生了什么?",
        "第45秒发生了什么?",
    ])  # fmt: skip
    def test_found(self, text: str) -> None:
        assert wrong("no_time_codes", text)

    @pytest.mark.parametrize("text", [
        "What time does the clock show? 7:30", "Who arrives at 7:30 p.m. in the film?", "Who arrives at 7:30pm?", "Is the picture in 16:9?", "Who wins by 3:2?",
        "Who waits for ten minutes in the rain?", "Who waits 10 minutes in the rain?", "Who is there at 10 minutes past noon?", "Who takes a minute to answer?",
        "What does the timestamp on the tape prove?",
    ])  # fmt: skip
    def test_left_alone(self, text: str) -> None:
        assert wrong("no_time_codes", text) == ""

    def test_options_may_be_what_a_clock_shows(self) -> None:
        clock = "What does the clock above the door show?"
        assert wrong("no_time_codes", clock, "7:30", "8:15", "9:45") == ""
        assert wrong("no_time_codes", "When does Anna leave the house?", "7:30", "8:15", "9:45")


class TestSources:
    @pytest.mark.parametrize("text", [
        "According to the captions, who is late?", "According to the caption, who is late?", "What, according to the visual description, is on the table?",
        "Based on the provided context, who is late?", "Based on the description of the scene, who is late?", "Who is late, as stated in the transcript?",
        "Who is mentioned in the summary?", "What is not mentioned in the closed captions?", "What does the film's summary say?",
        "The description suggests that he is sad; why?", "What does the plot summary leave out?", "Which log-line fits?",
        "What can be inferred from the given context?", "Judging by the subtitles, who speaks?", "ACCORDING TO THE CONTEXT, who is late?", "根据字幕,谁迟到了?",
    ])  # fmt: skip
    def test_found(self, text: str) -> None:
        assert wrong("no_mention_of_sources", text)

    @pytest.mark.parametrize("text", [
        "What does the caption under the photograph say?", "What does the bell mean in the context of the war?",
        "What does the bell mean in the context of the film?", "Which man fits the description of the thief?",
        "According to the description of the thief, what does he wear?", "According to her description, who was there?",
        "According to Anna's description, who was there?", "According to the sheriff, who was there?", "What is she given information about?",
        "Based on his letter, where does he live?", "Who translates the subtitled film?", "What does the contextual clue on the wall mean?",
    ])  # fmt: skip
    def test_left_alone(self, text: str) -> None:
        assert wrong("no_mention_of_sources", text) == ""


class TestProperNouns:
    @pytest.mark.parametrize(("text", "name"), [
        ("What does Anna hide?", "Anna"), ("What is Anna's secret?", "Anna"), ("What happens on Monday?", "Monday"),
        ("What happens in mid-January?", "January"), ("Who is Mr. Smith?", "Mr"), ("Mr. Smith enters", "Smith"), ("Who is played by O'Brien?", "O'Brien"),
        ("Who throws the iPhone?", "iPhone"), ("Spider-Man falls", "Man"), ("Why does Émile laugh?", "Émile"), ("Что делает Анна?", "Анна"),
        ("她在London做什么?", "London"), ("She stops; Anna goes on", "Anna"), ('She says "no" Anna says', "Anna"),
    ])  # fmt: skip
    def test_found(self, text: str, name: str) -> None:
        assert wrong("no_proper_nouns", text) == f"the question names {name!r}"

    @pytest.mark.parametrize("text", [
        "Why does the man laugh? He is alone.", "What do I see on the TV?", "I'm late, and I'll run; why?", "How many DVDs are there in 3D and 4K?",
        "Who wears the T-shirt with an X-ray?", 'Who says "Leave me alone"?', "Who says ‘Leave me alone’?", '"Stop." The man goes on.', "B. The man goes on",
        "(c) The man goes on", "1. The man goes on", "First line\nSecond line", "One question remains: What is it?", "Wait… The man goes on!", "她做什么?他呢。",
        "彼女は何をしますか", "",
    ])  # fmt: skip
    def test_left_alone(self, text: str) -> None:
        assert wrong("no_proper_nouns", text) == ""

    def test_accepted_words(self) -> None:
        text = "Who sings the English song in New York's harbour?"
        assert "English" in wrong("no_proper_nouns", text)
        assert wrong("no_proper_nouns", text, setting=["english", "New York"]) == ""


class TestOptions:
    def test_similar_length(self) -> None:
        four, nine = "one two three four", "one two three four five six seven eight nine"
        assert wrong("similar_length", "", four, nine) == "the options have 4 to 9 words"
        assert wrong("similar_length", "", four, nine, setting=3) == ""
        assert wrong("similar_length", "", "Blue", "A dark red") == ""
        assert wrong("similar_length", "", "Blue", "A very dark red")
        assert wrong("similar_length", "", "他很高兴", "她在厨房里慢慢地切着一个红色的洋葱")
        assert wrong("similar_length", "") == ""

    def test_a_key_does_not_stand_out(self) -> None:
        eight, nine = "a b c d e f g h", "a b c d e f g h i"
        twelve = "a b c d e f g h i j k l"
        assert "longest" in wrong("similar_length", "", twelve, nine, nine, eight)
        assert "shortest" in wrong("similar_length", "", eight, twelve, twelve, twelve)
        assert wrong("similar_length", "", nine, twelve, eight, eight) == ""
        assert wrong("similar_length", "", twelve, twelve, nine, eight) == ""
        assert wrong("similar_length", "", eight, eight, twelve, twelve) == ""

    def test_no_shared_prefix(self) -> None:
        start = "The man in the long grey coat walks slowly across the "
        assert wrong("no_shared_prefix", "", start + "bridge", "Nobody", start.upper() + "road")
        assert wrong("no_shared_prefix", "", "The man in the coat", "The man in the hat") == (
            "all options begin with 'the man in the'"
        )
        assert (
            wrong("no_shared_prefix", "", "The man in the coat", "The man in the hat", "Anna") == ""
        )
        assert wrong("no_shared_prefix", "", "The man in", "The man in") == ""
        assert wrong("no_shared_prefix", "", "他走进了房间", "他走进了厨房") == ""
        assert wrong("no_shared_prefix", "", "他慢慢地走进了一间房", "他慢慢地走进了一间屋")
        assert wrong("no_shared_prefix", "", "The only option there is") == ""

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("A boat.", "a  boat"),
            ("A. Boat", "B. boat"),
            ("A boat", "\uff21 boat"),
            ("?", "?"),
            ("(a) Boat", "boat!"),
        ],
    )
    def test_the_same_option_twice(self, one: str, other: str) -> None:
        assert wrong("distinct_options", "", "Nobody", one, other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("!", "?"),
            ("A boat", "The boat"),
            ("3.5", "4.5"),
            ("Vitamin C.", "Vitamin D."),
            ("Plan B: run", "Plan C: run"),
        ],
    )
    def test_two_options(self, one: str, other: str) -> None:
        assert wrong("distinct_options", "", one, other) == ""

    @pytest.mark.parametrize(
        "option",
        [
            "All of the above",
            "None of the above.",
            "E. All of the above",
            "Both A and C",
            "none of these",
        ],
    )
    def test_options_about_options(self, option: str) -> None:
        assert wrong("no_all_of_the_above", "", *OPTIONS, option)

    @pytest.mark.parametrize(
        "option", ["None", "None.", "All of the guards", "None of the guards", "Both"]
    )
    def test_options_about_the_film(self, option: str) -> None:
        assert wrong("no_all_of_the_above", "", *OPTIONS, option) == ""

    def test_answer_not_in_question(self) -> None:
        def said(question: str, *options: str) -> bool:
            return bool(wrong("answer_not_in_question", question, *options))

        assert said("Who rows the red boat home?", "A red boat", "A car")
        assert said("红色的船在哪里?", "红色的船", "一辆车")
        assert not said("Is it a red boat or a car that burns?", "A red boat", "A car")
        assert not said("Is the car red?", "A boat", "The car")
        assert not said("Who rows the red boats home?", "A red boat", "A car")
        assert not said("How many of 12 men stay?", "12", "13")
        assert not said("Who said no to it?", "No", "Yes")

    def test_least_words(self) -> None:
        assert wrong("least_words", "Why is he so sad?") == ""
        assert wrong("least_words", "Why is he so sad?", setting=6)
        assert wrong("least_words", "   ", setting=1)
        assert wrong("least_words", "他为什么这么难过?", setting=8) == ""
