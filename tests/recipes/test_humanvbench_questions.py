"""Descriptions are sorted, questions are asked from them, and drafts are open items."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from human_models import (
    FACE,
    LOOKS,
    Models,
    candidate,
    captioned,
    take,
    text_of,
)
from parts import pictures

from reelbench.data.items import Item
from reelbench.make.parts.answer_and_rank import ANSWER_FORM
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.questions import pair_fault
from reelbench.recipes.humanvbench.rows import Candidate


class TestSorting:
    def test_er_gets_its_polarity_from_the_caption_alone(self, tmp_path: Path) -> None:
        models = Models(pen={"polarity": "negative"})
        ((made,),), server, _ = take(tmp_path, models, [captioned("ER")], "sort")
        assert made.texts["polarity"] == "negative"
        assert FACE in text_of(server.requests[0])
        assert pictures(server.requests[0]) == 0

    @pytest.mark.parametrize(("reply", "stays"), [(True, True), ("True", True), (False, False)])
    def test_eta_stays_where_the_emotion_changes(
        self, tmp_path: Path, reply: Any, stays: bool
    ) -> None:
        models = Models(pen={"emotion_change": reply})
        (made,), _, _ = take(tmp_path, models, [captioned("ETA")], "sort")
        assert made == [captioned("ETA")] if stays else made.reason == "emotion does not change"

    def kept(self, folder: Path, **there: int) -> tuple[dict[str, int], list[str]]:
        rows = [
            captioned("ER", f"{polarity}-{n}", polarity=polarity)
            for polarity, count in there.items()
            for n in range(count)
        ]
        others = [captioned("ETA"), candidate("ASD")]
        made, _, notes = take(folder, Models(), [*rows, *others], "balance")
        assert made[len(rows) :] == [[row] for row in others]
        out = [each for each in made[: len(rows)] if isinstance(each, Rejected)]
        assert {each.reason for each in out} <= {"more than the ratio takes"}
        kept = Counter(each[0].texts["polarity"] for each in made[: len(rows)] if each not in out)
        return dict(kept), notes

    def test_one_positive_and_one_neutral_to_two_negative(self, tmp_path: Path) -> None:
        assert self.kept(tmp_path, positive=9, neutral=4, negative=7) == (
            {"positive": 3, "neutral": 3, "negative": 6},
            [],
        )

    def test_a_class_that_is_missing_is_said_and_the_others_keep_their_ratio(
        self, tmp_path: Path
    ) -> None:
        kept, (note,) = self.kept(tmp_path, positive=5, neutral=3)
        assert kept == {"positive": 3, "neutral": 3}
        assert "there are 5:3:0, and 3:3:0 are used" in note

    def test_less_than_one_round_is_used_as_far_as_it_goes(self, tmp_path: Path) -> None:
        kept, (note,) = self.kept(tmp_path, positive=4, neutral=1, negative=1)
        assert kept == {"positive": 1, "neutral": 1, "negative": 1}
        assert "1:1:2 of positive:neutral:negative cannot be kept" in note

    def test_nothing_is_balanced_where_there_is_nothing(self, tmp_path: Path) -> None:
        assert self.kept(tmp_path) == ({}, [])


PAIR = {
    "question": "Which feelings does the woman with the red scarf have?",
    "answer": "She is happy, and then worried.",
    "decisive": ["happy", "worried"],
}
REVEALING = {**PAIR, "question": "Why is the woman with the red scarf first happy?"}
ATTITUDE = {
    "question": "What does the woman with the red scarf think of the soup: is it positive, negative or neutral?",
    "answer": "Her attitude is negative.",
    "attitude": "negative",
}  # fmt: skip


class TestQuestions:
    @pytest.mark.parametrize(
        ("task", "reply", "asked_for"),
        [
            ("ER", PAIR, "asks for the emotion"),
            ("ETA", PAIR, "change over time"),
            ("AR", ATTITUDE, "positive, negative or neutral"),
            ("BTA", PAIR, "which actions"),
            ("BCA", {**PAIR, "asks": "cause"}, "for the cause"),
        ],
    )
    def test_are_written_from_the_caption_without_the_video(
        self, tmp_path: Path, task: str, reply: Any, asked_for: str
    ) -> None:
        ((made,),), server, _ = take(tmp_path, Models(pen=reply), [captioned(task)], "question")
        assert made.texts["question"] == reply["question"]
        assert made.texts["answer"] == reply["answer"]
        assert made.texts["models"] == {"captioner": "seer", "writer": "pen"}
        (body,) = server.requests
        assert asked_for in text_of(body)
        assert FACE in text_of(body)
        assert "A woman with a red scarf" in text_of(body)
        assert "{{" not in text_of(body)
        assert pictures(body) == 0

    def test_about_other_things_call_them_by_the_box(self, tmp_path: Path) -> None:
        texts = {"caption": "A bird flies up, so the dog barks.", "models": {"captioner": "seer"}}
        row = candidate("BCA", subject="dog", target="dog-1", texts=texts)
        reply = {
            "question": "Why does the dog in the red box bark?",
            "answer": "A bird flies up.",
            "decisive": ["bird"],
            "asks": "cause",
        }
        ((made,),), server, _ = take(tmp_path, Models(pen=reply), [row], "question")
        assert made.texts["asks"] == "cause"
        assert 'Call the dog "the dog in the red box"' in text_of(server.requests[0])
        assert "person" not in text_of(server.requests[0])

    def test_that_reveal_the_answer_are_repaired(self, tmp_path: Path) -> None:
        models = Models(pen=[REVEALING, PAIR])
        ((made,),), server, _ = take(tmp_path, models, [captioned("ER")], "question")
        assert made.texts["question"] == PAIR["question"]
        assert "do not give the answer away" in json.dumps(server.requests[1]["messages"])

    def test_that_go_on_revealing_it_go_out(self, tmp_path: Path) -> None:
        (why,), _, _ = take(tmp_path, Models(pen=REVEALING), [captioned("ER")], "question")
        assert why.reason == "no usable question"
        assert "'happy'" in why.detail

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            ({}, ""),
            ({"answer": "She is happy. Then she is worried."}, "answer: it must be one sentence"),
            ({"question": "What does the person in the red box feel?"}, "question: call whom"),
            ({"question": "Does she worry?"}, "do not give the answer away"),
            ({"decisive": ["scarf"]}, ""),  # it is how she looks
            ({"question": "What is it that the woman with the red scarf and the box feels?"}, ""),
            (
                {"question": "When is it that she is happy and then worried?", "decisive": ["x"]},
                "do not give the answer away: the question repeats",
            ),
        ],
    )
    def test_faults_of_a_pair(self, change: Mapping[str, Any], fault: str) -> None:
        found = pair_fault({**PAIR, **change}, LOOKS)
        assert found.startswith(fault)
        assert bool(found) == bool(fault)

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            ({}, ""),
            ({"question": "What is her negative attitude about?"}, "question: name all three"),
            ({"answer": "She dislikes it."}, "answer: it must name the attitude"),
            ({"question": "What is the attitude of the woman with the red scarf?"}, ""),
        ],
    )
    def test_faults_about_attitudes(self, change: Mapping[str, Any], fault: str) -> None:
        found = pair_fault({**ATTITUDE, **change}, LOOKS)
        assert found.startswith(fault)
        assert bool(found) == bool(fault)


class TestDrafts:
    def drafted(self, folder: Path, row: Candidate) -> Any:
        (made,), _, _ = take(folder, Models(), [row], "draft")
        return made[0] if isinstance(made, list) else made

    def test_have_the_first_answer_as_their_reference(self, tmp_path: Path) -> None:
        row = captioned("ER", question="What?", answer="Joy.", polarity="positive")
        item = self.drafted(tmp_path, row)
        assert isinstance(item, Item)
        assert (item.kind, item.question, item.reference) == ("open", "What?", "Joy.")
        assert item.tag("polarity") == ("positive",)
        assert item.context["caption"] == FACE
        assert item.provenance["describe"]["models"] == {"captioner": "seer"}

    @pytest.mark.parametrize(
        ("attitude", "letter"), [("positive", "A"), ("negative", "B"), ("neutral", "C")]
    )
    def test_of_attitudes_are_complete(self, tmp_path: Path, attitude: str, letter: str) -> None:
        row = captioned("AR", question="What?", answer=f"It is {attitude}.", attitude=attitude)
        item = self.drafted(tmp_path, row)
        assert item.kind == "single"
        assert item.options == ("Positive", "Negative", "Neutral", "Indeterminate")
        assert item.answer == (letter,)
        assert item.context["explanation"] == f"It is {attitude}."

    def test_of_attitudes_keep_the_order_of_their_options(self, tmp_path: Path) -> None:
        texts = {"question": "What?", "answer": "It is neutral.", "attitude": "neutral"}
        rows = [captioned("AR", str(n), **texts) for n in range(12)]
        made, _, _ = take(tmp_path, Models(), rows, "draft", "key-positions")
        assert {item.options[0] for (item,) in made} == {"Positive"}

    def test_that_compare_emotions_name_the_letters_and_begin_with_a_fixed_answer(
        self, tmp_path: Path
    ) -> None:
        people = ("p4", "p2", "p1", "p3")
        item = self.drafted(tmp_path, candidate("EIC", target="", people=people))
        assert "A, B, C and D" in item.question
        assert "letter-emotion" in item.question
        assert "neutral" in item.reference
        fits = [re.fullmatch(item.context[ANSWER_FORM], text) for text in ("B-anger", "E-joy", "B")]
        assert list(map(bool, fits)) == [True, False, False]

    @pytest.mark.parametrize("subject", ["person", "car"])
    def test_that_describe_someone_begin_with_the_caption(
        self, tmp_path: Path, subject: str
    ) -> None:
        row = candidate("H2T", subject=subject, texts={"caption": "It is white."})
        item = self.drafted(tmp_path, row)
        assert item.reference == "It is white."
        assert f"the {subject} in the red box" in item.question
        assert subject == "person" or "person" not in item.question

    @pytest.mark.parametrize("task", ["ER", "ETA", "AR", "H2T", "BTA", "BCA"])
    def test_where_captions_were_left_out_nobody_is_asked(self, tmp_path: Path, task: str) -> None:
        names = ("fits-one", "sort", "balance", "question", "draft")
        (why,), server, _ = take(tmp_path, Models(), [candidate(task)], *names)
        assert why.reason == "needs models"
        assert not server.requests

    def test_without_the_words_of_a_model_go_out(self, tmp_path: Path) -> None:
        assert self.drafted(tmp_path, candidate("ER")).detail == (
            "Add --model captioner=NAME --model writer=NAME."
        )
        assert self.drafted(tmp_path, captioned("BTA")).detail == "Add --model writer=NAME."
