"""MuseBench's questions, from essays with captions to items with four to eight options."""

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from actors import write_card
from muse_writers import (
    CAPTIONS,
    GAME,
    NARRATION,
    POINTS,
    PROMPTS,
    SUBDOMAIN,
    TEXTS,
    WRONG,
    MuseWriters,
    asked,
    essay,
    studio,
)
from parts import a_recipe, messages
from writing import reasons

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.data.sources import Sources
from reelbench.interop.musebench.taxonomy import CATEGORIES
from reelbench.lint.options import answer_findings, option_findings
from reelbench.make.parts.distract import STRATEGIES
from reelbench.make.parts.narrator import NO_NARRATOR
from reelbench.make.parts.rules import load_rules
from reelbench.make.pipeline.funnel import funnel_record
from reelbench.make.pipeline.make import MakeOptions, forecast
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.stage import RowStage
from reelbench.recipes.musebench.matching import disagreement, match_clips
from reelbench.recipes.musebench.plan import FORMS, MULTI, QUESTIONS, asked_for, plan_questions
from reelbench.recipes.musebench.produce import NEEDS_THE_CLIP, PRODUCE
from reelbench.recipes.musebench.rows import Essay
from reelbench.recipes.musebench.vocabulary import vocabulary
from reelbench.score.intervals import Cell, intervals

PLAN, WRITE, CHECK, MATCH, TAG, DISTRACT = PRODUCE


def produced(
    folder: Path, writers: MuseWriters, *rows: Essay, stages: Any = PRODUCE
) -> tuple[list[StageResult], Any]:
    return studio(folder, writers).take(rows or [essay()], *stages)


def made(folder: Path, writers: MuseWriters | None = None, *rows: Essay) -> list[Item]:
    passed, _ = produced(folder, writers or MuseWriters(), *rows)
    return list(passed[-1].out)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[StageResult], Any]:
    rows = [essay(f"essay-{number}") for number in range(1, 5)]
    return produced(tmp_path_factory.mktemp("whole"), MuseWriters(), *rows)


class TestItems:
    def test_an_item_has_all_that_later_stages_and_people_need(self, whole: Any) -> None:
        item = next(item for item in whole[0][-1].out if item.kind == "single")
        assert item.tags == {"category": GAME, "subdomain": SUBDOMAIN}
        (medium,) = item.media
        first, last = item.context["relevant_clips"][0], item.context["relevant_clips"][-1]
        assert medium.path == f"media/{item.provenance['essay']}.mp4"
        assert (medium.start, medium.end) == (first - 1, last) == item.evidence[0]
        assert item.context["cited_clips"] == item.context["relevant_clips"] == (first, last)
        assert item.context["core_intent"] == "guide without words"
        assert item.correct == (POINTS[0],)
        assert item.provenance["write"]["rules"]["name"] == "musebench"
        noted = item.provenance["distract"]["distractors"]
        assert {each["text"] for each in noted} == set(item.options) - {POINTS[0]}
        assert {each["strategy"] for each in noted} <= set(STRATEGIES)
        assert len({each["strategy"] for each in noted}) >= 3
        assert item.context["file"].startswith("make/"), "the narration is in no folder of media"

    def test_all_kinds_have_four_to_eight_options_and_a_distractor(self, whole: Any) -> None:
        items = whole[0][-1].out
        sizes = Counter((item.kind, len(item.options)) for item in items)
        assert {kind for kind, _ in sizes} == {"single", "multi"}
        assert all(4 <= size <= 8 for _, size in sizes)
        assert len(sizes) > 4, "their number is drawn, not left to a habit of the model"
        assert all(len(item.answer) < len(item.options) for item in items)

    def test_nothing_that_is_made_has_a_lint_finding(self, whole: Any) -> None:
        found = [
            finding
            for item in whole[0][-1].out
            for finding in (*option_findings(item, 1), *answer_findings(item, 1))
        ]
        assert found == []

    def test_four_keys_leave_room_for_at_most_four_distractors(self, tmp_path: Path) -> None:
        several = asked(0, "multi", answers=list(POINTS))
        items = made(tmp_path, MuseWriters([several] * 5))
        assert all(item.kind == "multi" and set(item.correct) == set(POINTS) for item in items)
        assert {len(item.options) for item in items} == {7, 8}

    def test_a_second_make_asks_nobody(self, tmp_path: Path) -> None:
        first = made(tmp_path)
        passed, server = produced(tmp_path, MuseWriters())
        assert list(passed[-1].out) == first
        assert server.requests == []


class TestPlan:
    def test_drafts_are_asked_for_in_the_shares_of_the_paper(self) -> None:
        asks = [asked_for(7, f"essay-{number}", QUESTIONS, MULTI) for number in range(200)]
        assert {count for count, _ in asks} == {3, 4, 5}
        kinds = [[1.0] * multi + [0.0] * (count - multi) for count, multi in asks]
        videos = [number for number, each in enumerate(kinds) for _ in each]
        (found,) = intervals([Cell(videos, [one for each in kinds for one in each])], 200)
        low, high = found.interval
        assert low < MULTI < high
        assert high - low < 0.1
        assert asks == [asked_for(7, f"essay-{n}", QUESTIONS, MULTI) for n in range(200)]
        assert asks != [asked_for(8, f"essay-{n}", QUESTIONS, MULTI) for n in range(200)]

    def test_the_writer_reads_captions_narration_guidance_rules_and_numbers(
        self, whole: Any
    ) -> None:
        ((_, prompt),) = messages(whole[1], 0)
        assert all(f"Clip {each['clip']}: {each['caption']}" in prompt for each in CAPTIONS)
        assert NARRATION in prompt
        assert vocabulary(GAME).question_guidance in prompt
        counts = [task.slots["count"] for task in whole[0][0].out]
        assert any(f"Write {count} questions" in prompt for count in counts)
        assert "- R2. The question begins with" in prompt
        assert "R10" not in prompt, "rules about distractors go to who writes those"
        assert "R14" not in prompt

    def test_clips_are_cited_before_the_question_and_the_answer_has_no_distractors(self) -> None:
        for form in FORMS:
            fields = list(form.schema(names_kind=True)["properties"])
            assert fields[:3] == ["kind", "cited_clips", "question"]
            assert fields[3] in ("answer", "answers")
            assert "distractors" not in fields

    def test_names_are_of_title_channel_and_transcript(self, whole: Any) -> None:
        assert {"mario", "Nintendo", "Pixel", "Mentor"} <= set(whole[0][0].out[0].names)
        assert "lamp" not in whole[0][0].out[0].names

    @pytest.mark.parametrize("count", [2, 6])
    def test_numbers_of_questions_have_bounds(self, tmp_path: Path, count: int) -> None:
        questions = [asked(number % 5, cited_clips=[1]) for number in range(count)]
        passed, server = produced(tmp_path, MuseWriters(questions), stages=PRODUCE[:2])
        assert len(server.requests) == 4, "it is sent back, and asked for once more"
        ((most, _),) = [_planned(each) for each in passed[0].out]
        assert len(passed[-1].out) == min(count, most), "what is right is kept, up to the most"

    def test_other_numbers_of_questions_are_set_in_one_place(self, tmp_path: Path) -> None:
        plan = plan_questions((1, 2), multi=0.0)
        passed, server = produced(tmp_path, MuseWriters(), stages=[plan, WRITE])
        assert len(server.requests) == 1, "nothing is sent back"
        assert len(passed[-1].out) == _planned(passed[0].out[0])[0] <= 2

    def test_a_forecast_goes_on_without_captions_and_clips(self, tmp_path: Path) -> None:
        """Everything is counted but what shows videos that are not made yet, which is said."""
        rows = [essay(f"essay-{number}", captions="", record="", clips=()) for number in range(5)]

        async def unchanged(row: Essay, _ctx: Any) -> list[Essay]:
            return [row]

        captions = RowStage(name="caption", input=Essay, output=Essay, work=unchanged, writes=True)
        recipe = a_recipe(
            captions,
            *PRODUCE,
            *NEEDS_THE_CLIP,
            sources=lambda _: Sources(rows),
            home=files("reelbench.recipes.musebench"),
            categories=tuple(CATEGORIES),
        )
        (tmp_path / "essays").mkdir()
        card = write_card(tmp_path / "cards", "all", "http://127.0.0.1:9/v1")
        options = MakeOptions(
            sources=[tmp_path / "essays"], models={role: [str(card)] for role in recipe.roles}
        )
        calls, passed, notes = forecast(recipe, tmp_path / "out", options)
        counted = {call.step: call.requests for call in calls}
        assert counted == {
            "write": 5, "match": 20, "subdomain": 20, "distract": 20, "transcript-only": 100, "blind": 100,
        }  # fmt: skip
        assert len(passed[-1].out) == 20
        assert "clip-only shows videos that are not made yet" in " ".join(notes)

    def test_an_essay_without_captions_is_rejected(self, tmp_path: Path) -> None:
        passed, _ = produced(tmp_path, MuseWriters(), essay(captions=""), stages=PRODUCE[:1])
        assert reasons(passed[-1]) == {"no captions": 1}

    def test_what_cannot_be_is_refused_before_anybody_is_asked(self) -> None:
        with pytest.raises(ReelbenchError, match="questions is 5 to 3"):
            plan_questions((5, 3))
        with pytest.raises(ReelbenchError, match="multi is 30"):
            plan_questions(multi=30)


def _planned(task: Any) -> tuple[int, int]:
    note = task.provenance["plan"]
    return note["questions"], note["multi"]


class TestRedLines:
    @pytest.mark.parametrize(("changed", "reason"), [
        ({"question": "Mario stands below a small lamp at the far end of a dark hall; what does it do?"}, "rule R1"),
        ({"answer": "Its glow pulls the eye forward as Nintendo always does, so that nobody is told to walk"}, "rule R1"),
        ({"question": "What is the intent behind the design of this level, and how does it work on players?"}, "rule R2"),
        ({"question": "A small lamp glows in a dark hall; what does it do according to the narrator?"}, "rule R3"),
        ({"question": "A small lamp glows in a dark hall; what is it for: A) to warn B) to guide C) to hide?"}, "rule R4"),
        ({"question": "In clip 3, a small lamp glows at the end of a dark hall; what does it do?"}, "rule R7"),
        ({"question": "A small lamp glows; what for?"}, "rule R9"),
        ({"cited_clips": [9]}, "evidence that is not there"),
        ({"kind": "both"}, "not as asked for"),
        ({"cited_clips": []}, "not as asked for"),
    ])  # fmt: skip
    def test_a_draft_that_crosses_one_is_rejected_and_counted(
        self, tmp_path: Path, changed: dict[str, Any], reason: str
    ) -> None:
        questions = [asked(0, **changed), asked(1), asked(2)]
        passed, _ = produced(tmp_path, MuseWriters(questions), stages=PRODUCE[:3])
        assert reasons(passed[-1]) == {reason: 1}
        assert len(passed[-1].out) == 2

    def test_keys_that_are_not_independent_are_rejected(self, tmp_path: Path) -> None:
        twice = asked(0, "multi", answers=[POINTS[0], f"Above all, {POINTS[0].lower()}"])
        passed, _ = produced(tmp_path, MuseWriters([twice] * 3), stages=PRODUCE[:3])
        assert reasons(passed[-1]) == {"rule R8": 3}

    @pytest.mark.parametrize("option", [
        "Harsh flicker tires the eye on purpose, so that Mario has to rush past what he should see",
        f"{POINTS[0][:52]}, then back, so that no player ever leaves the hall",
        POINTS[0].upper(),
    ])  # fmt: skip
    def test_options_that_cross_one_are_rejected(self, tmp_path: Path, option: str) -> None:
        writers = MuseWriters([asked(0)] * 3, options=lambda texts: [option, *texts])
        passed, _ = produced(tmp_path, writers)
        assert reasons(passed[-1]) == {"no good distractors": 3}
        assert passed[-1].out == []

    def test_the_rules_have_tags_reasons_and_destinations(self) -> None:
        rules = PROMPTS.rules
        assert rules is not None
        assert all(rule.tag and rule.reason for rule in rules.red_lines)
        assert {rule.destination for rule in rules.red_lines} == {
            "", "question", "distractor", "clip-match",
        }  # fmt: skip
        assert load_rules(rules.to_yaml()).record == rules.record


class TestMatching:
    def test_one_range_becomes_media_and_evidence(self, tmp_path: Path) -> None:
        items = made(tmp_path, MuseWriters([asked(0)] * 3, match=lambda first: (first, first + 3)))
        for item in items:
            assert item.context["relevant_clips"] == (1, 2, 3, 4)
            assert (item.media[0].start, item.media[0].end) == (0.0, 4.0)
            assert item.evidence == ((0.0, 4.0),)
            assert "doubts" not in item.context

    @pytest.mark.parametrize(("cited", "relevant", "what"), [
        ([3, 4], [3, 4], ""), ([3], [2, 3, 4], ""), ([4, 3], [3, 4], ""),
        ([1], [3, 4], "none of those"), ([2, 3], [3, 4], "not all of those"),
        ([3, 5], [3, 4, 5], "not contiguous"), ([3, 5], [4], "none of those"),
    ])  # fmt: skip
    def test_disagreement(self, cited: list[int], relevant: list[int], what: str) -> None:
        found = disagreement(cited, relevant)
        assert (what in found) if what else found == ""

    def test_disagreement_is_flagged_for_people(self, tmp_path: Path) -> None:
        writers = MuseWriters([asked(0)] * 3, match=lambda _: (6, 7))
        passed, _ = produced(tmp_path, writers)
        item = passed[-1].out[0]
        assert item.provenance["match"]["flagged"] == "clips disagree"
        assert "1, 2 cited, 6 to 7 found: none of those" in item.context["doubts"][0]
        (record,) = [s for s in funnel_record(passed, ())["stages"] if s["stage"] == "match"]
        assert record["flagged"] == {"clips disagree": 3}

    def test_people_are_told_of_an_essay_whose_narrator_is_still_in_it(
        self, tmp_path: Path
    ) -> None:
        (item, *_) = made(tmp_path, None, essay(flags=(NO_NARRATOR,)))
        assert "no clear narrator" in item.context["doubts"][0]

    def test_disagreement_is_rejected_where_that_is_asked_for(self, tmp_path: Path) -> None:
        writers = MuseWriters([asked(0)] * 3, match=lambda _: (6, 7))
        stages = (*PRODUCE[:3], match_clips(disagree="reject"))
        passed, _ = produced(tmp_path, writers, stages=stages)
        assert reasons(passed[-1]) == {"clips disagree": 3}

    def test_a_range_with_a_flagged_clip_is_rejected_or_kept(self, tmp_path: Path) -> None:
        flagged = essay(flagged={2: ("narrator still intelligible",)})
        writers = MuseWriters([asked(0), asked(1), asked(2)])
        passed, _ = produced(tmp_path / "reject", writers, flagged, stages=PRODUCE[:4])
        assert reasons(passed[-1]) == {"flagged clips": 2}, "1 to 2, and 2 to 3"
        stages = (*PRODUCE[:3], match_clips(flagged="keep"))
        passed, _ = produced(tmp_path / "keep", writers, flagged, stages=stages)
        faults = [item.provenance["match"].get("faults", "") for item in passed[-1].out]
        assert faults == ["clip 2: narrator still intelligible"] * 2 + [""]

    @pytest.mark.parametrize("chosen", [(0, 2), (4, 3), (7, 9), (1, 4)])
    def test_what_is_no_range_is_rejected(self, tmp_path: Path, chosen: tuple[int, int]) -> None:
        writers = MuseWriters([asked(0)] * 3, match=lambda _: chosen)
        stages = (*PRODUCE[:3], match_clips(most_clips=3))
        passed, _ = produced(tmp_path, writers, stages=stages)
        assert reasons(passed[-1]) == {"no range of clips": 3}

    def test_the_matcher_reads_captions_and_rules_for_it_and_no_narration(self, whole: Any) -> None:
        prompts = [
            messages(whole[1], number)[0][1]
            for number, body in enumerate(whole[1].requests)
            if body["model"] == "eye"
        ]
        assert prompts
        assert all("R14" in prompt and "R2." not in prompt for prompt in prompts)
        assert not any("Quartz" in prompt for prompt in prompts)

    def test_parameters_are_checked(self) -> None:
        with pytest.raises(ReelbenchError, match="disagree is 'drop': give flag or reject"):
            match_clips(disagree="drop")
        with pytest.raises(ReelbenchError, match="most_clips is 0"):
            match_clips(0)


def test_a_sub_domain_in_doubt_is_shown_to_people(tmp_path: Path) -> None:
    (item, *_) = made(tmp_path, MuseWriters([asked(0)] * 3, confidence=0.4))
    assert item.tags["subdomain"] == SUBDOMAIN
    assert item.context["doubts"] == (
        "Sub-domain: Interactive Visuals, with a confidence of 0.4 only",
    )
    assert item.provenance["subdomain"]["flagged"] == "sub-domain in doubt"


def test_distractors_stay_within_the_category_and_read_only_their_rules(whole: Any) -> None:
    prompts = [
        messages(whole[1], number)[0][1]
        for number, body in enumerate(whole[1].requests)
        if body["model"] == "wit"
    ]
    assert all(vocabulary(GAME).scope_description in prompt for prompt in prompts)
    assert all("- R10." in prompt and "- R2." not in prompt for prompt in prompts)
    assert all(f"- {name}: " in prompts[0] for name in STRATEGIES)
    assert len(WRONG) == 7
    assert json.loads(TEXTS[0]) == CAPTIONS
