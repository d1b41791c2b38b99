"""Questions of every kind are written by one stage: single, multi, yes/no, open, with all they hold."""

import json
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, by_turns, messages, pictures
from videos import make_video
from writing import prompts, writing_task

from reelbench.base.errors import ReelbenchError
from reelbench.data.item_rules import item_from_line
from reelbench.data.items import Item
from reelbench.data.manifest import Protocol
from reelbench.make.parts.drafts import Draft, MediaRef, QuestionForm, WritingTask
from reelbench.make.parts.write import check_drafts, write
from reelbench.make.pipeline.stage import Rejected

OPTIONS = [
    "its sail tears",
    "its crew sings",
    "its hull leaks",
    "its anchor slips",
    "its mast bends",
]


def said(**fields: Any) -> dict[str, Any]:
    return {"question": "What happens to the boat?", "reasoning": "It is seen."} | fields


def explained(text: str) -> dict[str, str]:
    return {"text": text, "explanation": f"about: {text}"}


def task(*forms: QuestionForm, **fields: Any) -> WritingTask:
    return writing_task(forms=forms, context="", context_file="", **fields)


def written(folder: Path, asked: WritingTask, *replies: Any, rules: str = "", **how: Any) -> Any:
    """The items of one task, or why there are none; and the server."""
    studio = Studio(
        folder,
        by_turns(*(json.dumps(reply) for reply in replies)),
        {"writer": ["pen"]},
        prompts(rules),
    )
    passed, server = studio.take([asked], write(("ask", "reply"), **how), check_drafts())
    rejected = [r.rejected for each in passed for r in each.results if r.rejected]
    return rejected or passed[-1].out, server


class TestKinds:
    def test_several_right_options(self, tmp_path: Path) -> None:
        form = QuestionForm(kind="multi", keys=(2, 4), distractors=(1, 3))
        reply = said(answers=OPTIONS[:2], distractors=OPTIONS[2:])
        (item,), server = written(tmp_path, task(form), reply)
        assert (item.kind, len(item.options)) == ("multi", 5)
        assert set(item.correct) == set(OPTIONS[:2])
        assert list(item.answer) == sorted(item.answer)
        schema = server.requests[0]["response_format"]["json_schema"]["schema"]
        bounds = schema["properties"]["answers"]
        assert (bounds["minItems"], bounds["maxItems"]) == (2, 4)

    @pytest.mark.parametrize(("keys", "fits"), [(1, False), (2, True), (4, True), (5, False)])
    def test_as_many_as_are_allowed(self, keys: int, fits: bool, tmp_path: Path) -> None:
        form = QuestionForm(kind="multi", keys=(2, 4), distractors=(1, 1))
        reply = said(answers=OPTIONS[:keys], distractors=["the rudder jams"])
        (made,), server = written(tmp_path, task(form), reply)
        assert isinstance(made, Item) == fits
        assert len(server.requests) == (1 if fits else 4)

    @pytest.mark.parametrize(("key", "letter"), [("Yes", "A"), ("No", "B")])
    def test_yes_and_no(self, key: str, letter: str, tmp_path: Path) -> None:
        (item,), _ = written(tmp_path, task(QuestionForm(kind="yesno")), said(answer=key))
        assert (item.kind, item.options, item.answer) == ("yesno", ("Yes", "No"), (letter,))

    def test_open(self, tmp_path: Path) -> None:
        reply = said(reference=" The mast breaks. ")
        (item,), _ = written(tmp_path, task(QuestionForm(kind="open")), reply)
        assert (item.kind, item.options, item.reference) == ("open", (), "The mast breaks.")

    @pytest.mark.parametrize("count", [1, 25])
    def test_two_to_twenty_six_options(self, count: int, tmp_path: Path) -> None:
        form = QuestionForm(distractors=(count, count))
        wrong = [f"wrong thing {number}" for number in range(count)]
        (item,), _ = written(tmp_path, task(form), said(answer="right", distractors=wrong))
        assert len(item.options) == count + 1
        assert item.correct == ("right",)

    @pytest.mark.parametrize("form", [
        {"distractors": (26, 26)}, {"kind": "multi", "keys": (2, 4), "distractors": (3, 23)},
        {"kind": "multi", "keys": (1, 3)}, {"distractors": (4, 3)},
    ], ids=str)  # fmt: skip
    def test_and_no_more(self, form: Any) -> None:
        with pytest.raises(ReelbenchError, match="at most 26 options"):
            QuestionForm(**form)

    def test_a_reply_may_hold_several_kinds(self, tmp_path: Path) -> None:
        """As MuseBench's, of which about three in ten are multi-select."""
        forms = (QuestionForm(distractors=(3, 3)), QuestionForm(kind="multi", distractors=(3, 3)))
        single = said(kind="single", answer=OPTIONS[0], distractors=OPTIONS[2:])
        multi = said(kind="multi", answers=OPTIONS[:2], distractors=OPTIONS[2:])
        reply = {"questions": [single, multi, {**multi, "kind": "open"}]}
        _, server = written(tmp_path / "a", task(*forms), reply, count=3)
        assert len(server.requests) == 4  # the third is of no kind that was asked for
        studio = Studio(tmp_path / "b", prompts=prompts())
        kinds = []
        for one in reply["questions"]:
            draft = Draft(id="d", task=task(*forms), reply=one, writer="pen")
            made, _ = studio.work(check_drafts(), draft)
            kinds.append(made.detail if isinstance(made, Rejected) else made[0].kind)
        assert kinds == ["single", "multi", "its kind is none of single, multi"]

    def test_without_distractors_as_far_as_the_next_stage_needs(self, tmp_path: Path) -> None:
        """The answer is written before any distractor; what comes is an item that can be kept."""
        single, multi = (
            QuestionForm(distractors=(0, 0)),
            QuestionForm(kind="multi", distractors=(0, 0)),
        )
        (item,), _ = written(tmp_path / "a", task(single), said(answer="it sinks"))
        assert (item.kind, item.reference) == ("open", "it sinks")
        (item,), _ = written(tmp_path / "b", task(multi), said(answers=OPTIONS[:2]))
        assert (item.kind, set(item.correct)) == ("multi", set(OPTIONS[:2]))
        assert item_from_line(item.to_line().strip().encode())[0] == item


class TestWhatBelongsToIt:
    def test_evidence_as_times(self, tmp_path: Path) -> None:
        form = QuestionForm(kind="open", times=True)
        reply = said(reference="so", evidence=[[12.5, 15], [0, 3.5]])
        (item,), _ = written(tmp_path, task(form), reply)
        assert item.evidence == ((0, 3.5), (12.5, 15))

    @pytest.mark.parametrize(("span", "fits"), [([0, 20], True), ([0, 20.1], False), ([5, 5], False), ([6, 5], False)])  # fmt: skip
    def test_times_that_the_video_does_not_have(
        self, span: Any, fits: bool, tmp_path: Path
    ) -> None:
        form = QuestionForm(kind="open", times=True)
        (made,), _ = written(tmp_path, task(form), said(reference="so", evidence=[span]))
        assert isinstance(made, Item) == fits
        assert fits or made.reason == "evidence that is not there"

    def test_an_explanation_for_every_option_and_the_key(self, tmp_path: Path) -> None:
        form = QuestionForm(explanations=True)
        wrong = [explained(text) for text in OPTIONS[1:4]]
        reply = said(answer=explained(OPTIONS[0]), distractors=wrong)
        (item,), _ = written(tmp_path, task(form), reply)
        explanations = item.context["explanations"]
        assert set(explanations) == set(item.options)
        assert explanations[OPTIONS[0]] == f"about: {OPTIONS[0]}"

    def test_further_fields_become_tags_in_their_own_order(self, tmp_path: Path) -> None:
        skills = {"type": "array", "items": {"enum": ["see", "hear", "count"]}, "minItems": 1}
        form = QuestionForm(kind="open", fields={"skills": skills}, tags={"skills": "skill"})
        reply = said(reference="so", skills=["count", "see", "see"])
        (item,), _ = written(tmp_path / "a", task(form), reply)
        assert item.tag("skill") == ("see", "count")
        (why,), _ = written(tmp_path / "b", task(form), said(reference="so", skills=["smell"]))
        assert why.reason == "not as asked for"

    def test_what_a_source_is_known_by(self, tmp_path: Path) -> None:
        asked = task(QuestionForm(kind="open"), provenance={"scores": {"q1": 3.5}})
        (item,), _ = written(tmp_path, asked, said(reference="so"), name="pilot")
        assert item.provenance["scores"] == {"q1": 3.5}
        assert item.provenance["pilot"] == {"model": "pen", "prompt": "ask"}


RULES = """
name: ours
version: "1"
red_lines:
  - {id: R1, text: Never name a scene by its number., check: no_scene_numbers}
"""


class TestRules:
    def test_are_repaired_on_request_and_rejected_where_they_stay_broken(
        self, tmp_path: Path
    ) -> None:
        bad = said(question="What happens in scene 2?", reference="so")
        asked = task(QuestionForm(kind="open"))
        how: dict[str, Any] = {"rules": RULES, "repair_rules": True}
        (item,), server = written(tmp_path / "a", asked, bad, said(reference="so"), **how)
        assert item.question == "What happens to the boat?"
        assert "rule R1: the question says 'scene 2'" in messages(server, 1)[-1][1]
        (why,), server = written(tmp_path / "b", asked, bad, **how)
        assert (why.reason, len(server.requests)) == ("rule R1", 4)
        (why,), server = written(tmp_path / "c", asked, bad, rules=RULES)
        assert (why.reason, len(server.requests)) == ("rule R1", 1)


class TestShown:
    def test_the_clips_of_a_task_as_a_protocol_has_them(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            make_video(tmp_path / f"{name}.mp4", seconds=1.0)
        asked = task(
            QuestionForm(kind="open"), media=(MediaRef("a.mp4"), MediaRef("b.mp4", 0.2, 0.8))
        )
        how: dict[str, Any] = {"shown": Protocol(sampling="uniform:4")}
        (item,), server = written(tmp_path, asked, said(reference="so"), **how)
        assert pictures(server.requests[0]) == 4
        assert [text for _, text in messages(server, 0)][:2] == ["Video 1:", "Video 2:"]
        assert [media.to_record() for media in item.media] == [
            {"path": "a.mp4"}, {"path": "b.mp4", "start": 0.2, "end": 0.8},
        ]  # fmt: skip
        make_video(tmp_path / "b.mp4", seconds=1.5)
        _, server = written(tmp_path, asked, said(reference="so"), **how)
        assert len(server.requests) == 1  # another video is another question

    def test_nothing_unless_it_is_said(self, tmp_path: Path) -> None:
        _, server = written(tmp_path, task(QuestionForm(kind="open")), said(reference="so"))
        assert pictures(server.requests[0]) == 0


@pytest.mark.parametrize("form", [
    QuestionForm(parts="scenes"), QuestionForm(kind="multi", explanations=True, times=True),
    QuestionForm(kind="yesno"), QuestionForm(kind="open"), QuestionForm(distractors=(0, 0)),
    QuestionForm(kind="open", fields={"skills": {"type": "array", "items": {"enum": ["see"]}},
                                      "score": {"type": "integer"}}),
], ids=lambda form: form.kind)  # fmt: skip
def test_what_a_forecast_goes_on_with_becomes_an_item(form: QuestionForm, tmp_path: Path) -> None:
    """Else the stages after it would be forecast to cost nothing."""
    for asked in (
        task(form),
        task(form, QuestionForm(kind="yesno" if form.kind != "yesno" else "open")),
    ):
        stage = write(("ask",), 2)
        drafts = stage.estimate(asked, None)  # type: ignore[arg-type]
        assert len(drafts) == 2
        for draft in drafts:
            made, _ = Studio(tmp_path, prompts=prompts()).work(check_drafts(), draft)
            assert isinstance(made[0], Item)
