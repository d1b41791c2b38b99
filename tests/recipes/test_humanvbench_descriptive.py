"""HumanVBench in words: whom tasks select, what models are shown and asked, and what goes out."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, pictures, recipe_of
from servers import Reply, Server, completion
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.prompts import load_prompts
from reelbench.make.pipeline.run import Pipeline, StageResult
from reelbench.make.pipeline.stage import Rejected, Stage
from reelbench.make.pipeline.store import RowResult
from reelbench.recipes.humanvbench.captions import description_fault
from reelbench.recipes.humanvbench.clip_facts import ClipFacts
from reelbench.recipes.humanvbench.questions import pair_fault
from reelbench.recipes.humanvbench.recipe import RECIPE
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.recipes.humanvbench.select import RULES
from reelbench.recipes.humanvbench.tasks import HOME, TASKS, TaskLabels

MODELS = {"captioner": ["seer"], "checker": ["referee"], "writer": ["pen"]}
LOOKS = "A woman with a red scarf."
FACE = "She smiles, and then frowns."
Labels = dict[str, Any]


def stage(name: str) -> Stage:
    return next(each for each in RECIPE.stages if each.name == name)


def candidate(task: str, name: str = "c", **fields: Any) -> Candidate:
    """A candidate as it is after its videos are rendered."""
    plain = {"seconds": 8.0, "target": "p1", "video": "v.mp4", "boxed": "boxed.mp4"}
    return Candidate(
        id=f"{task}-{name}",
        task=task,
        clip="clip.mp4",
        sha256="0",
        source="a.mp4",
        **(plain | fields),
    )


def track(seconds: float, height: float = 100.0, rate: float = 5.0) -> Labels:
    times = [step / rate for step in range(round(seconds * rate) + 1)]
    boxes = [{"time": time, "box": [10, 10, 90, 10 + height]} for time in times]
    return {"start": 0.0, "end": seconds, "boxes": boxes}


def labels(*tracks: Labels, **more: Any) -> Labels:
    """The labels of a clip of people, one for each track."""
    people = [
        {"id": f"p{n}", "tracks": [each], "confidence": 0.9} for n, each in enumerate(tracks, 1)
    ]
    return {
        "format": {"width": 1280, "height": 720},
        "tracks": {"people": people},
        "count": {"people": len(tracks), "guess": len(tracks), "confidence": 0.8},
        "appearance": {"people": [{"id": "p1", "text": LOOKS}]},
        "expression": {"people": [{"id": "p1", "text": FACE}]},
        **more,
    }


def selected(
    task: str, found: Labels, seconds: float = 8.0, **fields: Any
) -> list[Candidate] | str:
    """What the rule of a task selects, or the reason why it selects nothing."""
    row = Candidate(f"{task}-c", task, "clip.mp4", "0", "a.mp4", seconds, **fields)
    clip = ClipFacts(row, TaskLabels(TASKS[task], found, row.subject))
    try:
        return RULES[task](clip, **TASKS[task].numbers)
    except Rejected as why:
        return why.reason


def targets(chosen: list[Candidate] | str) -> list[str] | str:
    return chosen if isinstance(chosen, str) else [each.target for each in chosen]


class TestWhoIsSelected:
    def test_er_takes_everyone_whose_face_is_large_enough(self) -> None:
        clip = labels(track(8, 64), track(8, 63.9), track(2, 90))
        assert targets(selected("ER", clip)) == ["p1", "p3"]
        assert selected("ER", labels(track(8, 63.9))) == "faces too small"
        assert selected("ER", labels()) == "nobody is tracked"

    @pytest.mark.parametrize("task", ["ETA", "BTA", "BCA", "AST", "TSA"])
    def test_clips_last_over_seven_seconds(self, task: str) -> None:
        assert selected(task, labels(track(7)), 7.0) == "too short"
        assert targets(selected(task, labels(track(7)), 7.01)) == ["p1"]

    def test_ar_takes_who_is_seen_longest(self) -> None:
        (chosen,) = selected("AR", labels(track(3), track(5), track(4)))
        assert isinstance(chosen, Candidate)
        assert (chosen.target, chosen.confidence) == ("p2", 0.9)

    @pytest.mark.parametrize(("count", "fits"), [(3, False), (4, True), (6, True), (7, False)])
    def test_eic_takes_four_to_six_who_are_there_equally_long(self, count: int, fits: bool) -> None:
        clip = labels(track(4), *[track(8)] * count)
        chosen = selected("EIC", clip)
        if fits:
            assert isinstance(chosen, list)
            assert chosen[0].people == tuple(f"p{n}" for n in range(2, count + 2))
        else:
            assert chosen == "number of people seen longest"

    @pytest.mark.parametrize(("count", "fits"), [(2, False), (3, True), (7, True), (8, False)])
    def test_h2t_takes_who_is_seen_longest_of_three_to_seven(self, count: int, fits: bool) -> None:
        chosen = selected("H2T", labels(*[track(4)] * (count - 1), track(6)))
        assert targets(chosen) == ([f"p{count}"] if fits else "number of people")
        assert not fits or (isinstance(chosen, list) and chosen[0].confidence == 0.8)

    @pytest.mark.parametrize("task", ["BTA", "BCA", "AST", "TSA"])
    def test_who_acts_is_seen_for_more_than_half_of_the_clip(self, task: str) -> None:
        assert targets(selected(task, labels(track(4), track(4.2)))) == ["p2"]
        assert selected(task, labels(track(4))) == "nobody is seen for most of it"

    def test_other_things_are_selected_by_their_own_tracks(self) -> None:
        cars = [{"id": f"car-{n}", "class": "car", **track(n + 4)} for n in range(3)]
        dogs = [{"id": "dog-1", "class": "dog", **track(8)}]
        found = {**labels(track(8)), "objects": {"tracks": [*cars, *dogs]}}
        assert targets(selected("H2T", found, subject="car")) == ["car-2"]
        assert targets(selected("BCA", found, subject="dog")) == ["dog-1"]


def test_what_has_no_models_is_rejected_before_videos_are_rendered(tmp_path: Path) -> None:
    rows = [candidate(task) for task in ("ER", "H2T", "T2H", "AST")]
    none = outcomes(Studio(tmp_path).take(rows, stage("models"))[0][-1])
    assert [each.detail if isinstance(each, Rejected) else each for each in none] == [
        "Add --model captioner=NAME --model writer=NAME --model answerer=NAME.",
        "Add --model captioner=NAME --model answerer=NAME.",
        "Add --model captioner=NAME.",
        [rows[3]],
    ]
    # Once a model is named, nothing of that is remembered.
    some = Studio(tmp_path, models={"captioner": ["seer"]}).take(rows, stage("models"))[0][-1]
    assert [isinstance(each, Rejected) for each in outcomes(some)] == [True, True, False, False]


class Models:
    """Models that reply by what they are asked, and what they were asked."""

    def __init__(self, **replies: Any) -> None:
        self.replies = replies  # by model: JSON, or several in turn
        self.asked: Counter[str] = Counter()

    def __call__(self, body: Mapping[str, Any], _number: int) -> Reply:
        name = body["model"]
        given = self.replies[name]
        turns = given if isinstance(given, list) else [given]
        reply = turns[min(self.asked[name], len(turns) - 1)]
        self.asked[name] += 1
        return completion(reply(body) if callable(reply) else json.dumps(reply))


def take(
    folder: Path, models: Callable[..., Reply], rows: Sequence[Candidate], *names: str
) -> tuple[list[Any], Server, list[str]]:
    """Take candidates through stages; return each last outcome, the server and the notes."""
    for name in ("v.mp4", "boxed.mp4", "lettered.mp4"):
        make_video(folder / name, seconds=1 + len(name) / 10, rate=5)
    studio = Studio(folder, models, MODELS, prompts=load_prompts(HOME, None, None))

    async def through(ctx: StageContext) -> Any:
        ctx.clip_labels["clip.mp4"] = labels(track(8))
        passed = await Pipeline(recipe_of(*map(stage, names)), ctx, ctx.store).take(rows)
        return passed[-1], list(ctx.notes)

    (passed, notes), server = studio.with_context(through)
    return outcomes(passed), server, notes


def outcomes(passed: StageResult) -> list[Any]:
    return [
        (each.rejected or list(each.rows)) if isinstance(each, RowResult) else each
        for each in passed.results
    ]


def text_of(body: Mapping[str, Any]) -> str:
    return str(body["messages"][0]["content"][-1]["text"])


ACTIONS = {"Action_Change": True, "Action_Sequence": "She sits, then waves."}
CAUSES = {"causal_events_exist": True, "causal_events_description": "A dog barks, so she runs."}


class TestCaptions:
    @pytest.mark.parametrize(
        ("task", "reply", "caption"),
        [
            ("AR", {"caption": "She likes the soup."}, "She likes the soup."),
            ("H2T", {"caption": "The person is on the left."}, "The person is on the left."),
            ("T2H", {"caption": "The person is on the left."}, "The person is on the left."),
            ("ATD", {"caption": "The person is on the left."}, "The person is on the left."),
            ("BTA", ACTIONS, "She sits, then waves."),
            ("BTA", {"Action_Change": "True", "Action_Sequence": ["sits", "waves"]}, "sits, then waves"),
            ("BCA", CAUSES, "A dog barks, so she runs."),
        ],
    )  # fmt: skip
    def test_are_asked_for_with_the_boxed_video_and_how_the_target_looks(
        self, tmp_path: Path, task: str, reply: Any, caption: str
    ) -> None:
        ((made,),), server, _ = take(tmp_path, Models(seer=reply), [candidate(task)], "describe")
        assert made.texts["caption"] == caption
        assert made.texts["models"] == {"captioner": "seer"}
        (body,) = server.requests
        assert "the person in the red box (A woman with a red scarf)" in text_of(body)
        assert "{{" not in text_of(body)
        assert pictures(body) == 16

    @pytest.mark.parametrize("task", ["ER", "ETA"])
    def test_of_emotions_are_labels_five_and_four(self, tmp_path: Path, task: str) -> None:
        ((made,),), server, _ = take(tmp_path, Models(), [candidate(task)], "describe")
        assert made.texts["caption"] == f"{FACE}\n{LOOKS}"
        assert not server.requests
        ((why,), _, _) = take(tmp_path, Models(), [candidate(task, target="p2")], "describe")
        assert why.reason == "face not described"

    def test_other_tasks_pass(self, tmp_path: Path) -> None:
        rows = [candidate("EIC", target=""), candidate("ASD", target="")]
        made, server, _ = take(tmp_path, Models(), rows, "describe", "fits-one", "sort", "question")
        assert made == [[row] for row in rows]
        assert not server.requests

    @pytest.mark.parametrize(
        ("task", "reply", "reason"),
        [
            ("BTA", {"Action_Change": False, "Action_Sequence": "She sits."}, "actions do not change"),
            ("BCA", {"causal_events_exist": False, "causal_events_description": ""}, "no causal events"),
            ("BTA", {"Action_Change": True, "Action_Sequence": " "}, "no usable caption"),
            ("BTA", {"caption": "She sits."}, "no usable caption"),
        ],
    )  # fmt: skip
    def test_where_nothing_is_to_be_asked_the_candidate_goes_out(
        self, tmp_path: Path, task: str, reply: Any, reason: str
    ) -> None:
        (why,), _, _ = take(tmp_path, Models(seer=reply), [candidate(task)], "describe")
        assert isinstance(why, Rejected)
        assert why.reason == reason

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("The person is in blue on the left.", ""),
            ("A person in blue.", "it must begin with 'The person is '"),
            ("The person is in the red box.", "it must not speak of the box"),
            ("The person is carrying a box.", ""),
            ("The person is in blue. She waves.", "it must be one sentence"),
            ("The person is coming in at the end of the video.", "it must not tell when"),
            ("The person is waving after 3 seconds.", "it must not tell when"),
            ("The person is at the end of the table.", ""),
        ],
    )
    def test_that_tell_someone_apart_are_one_sentence_without_box_and_time(
        self, text: str, fault: str
    ) -> None:
        assert description_fault(text, "person").startswith(fault)
        assert bool(description_fault(text, "person")) == bool(fault)

    def test_of_other_things_call_them_by_their_name(self, tmp_path: Path) -> None:
        reply = {"caption": "The car is white."}
        row = candidate("ATD", subject="car", target="car-1")
        ((made,),), server, _ = take(tmp_path, Models(seer=reply), [row], "describe")
        assert made.texts["caption"] == "The car is white."
        assert 'begins with "The car is"' in text_of(server.requests[0])
        assert "person" not in text_of(server.requests[0])
        assert "the car in the red box so exactly" in text_of(server.requests[0])

    def test_are_not_asked_of_who_does_not_see(self, tmp_path: Path) -> None:
        studio = Studio(
            tmp_path,
            models={"captioner": [{"name": "blind", "sees": False}]},
            prompts=load_prompts(HOME, None, None),
        )
        with pytest.raises(ReelbenchError, match="blind cannot be the captioner"):
            studio.take([candidate("AR", subject="car")], stage("describe"))


TOLD = {"appearance": LOOKS, "caption": "The person is on the left.", "models": {"captioner": "seer"}}  # fmt: skip


class TestFitsOne:
    def checked(self, folder: Path, task: str, letters: str, unmarked: Any = False) -> Any:
        everyone = ("p3", "p1", "p2")
        row = candidate(task, lettered="lettered.mp4", everyone=everyone, texts=TOLD)
        reply = {"letters": list(letters), "unmarked": unmarked}
        (made,), server, _ = take(folder, Models(referee=reply), [row], "fits-one")
        (body,) = server.requests
        assert "a letter: A, B, C." in text_of(body)
        assert "The person is on the left." in text_of(body)
        assert pictures(body) == 16
        return made

    @pytest.mark.parametrize("task", ["H2T", "T2H", "ATD"])
    def test_a_description_of_the_target_alone_stays(self, tmp_path: Path, task: str) -> None:
        (made,) = self.checked(tmp_path, task, "B")
        assert made.texts["models"] == {"captioner": "seer", "checker": "referee"}

    @pytest.mark.parametrize(
        ("letters", "unmarked", "reason"),
        [
            ("AB", False, "description fits several"),
            ("B", True, "description fits several"),
            ("B", "True", "description fits several"),
            ("A", False, "description fits another"),
            ("", True, "description fits another"),
            ("", False, "description fits another"),
        ],
    )
    def test_any_other_goes_out(
        self, tmp_path: Path, letters: str, unmarked: Any, reason: str
    ) -> None:
        assert self.checked(tmp_path, "H2T", letters, unmarked).reason == reason


def captioned(task: str, name: str = "c", caption: str = FACE, **texts: Any) -> Candidate:
    return candidate(
        task,
        name,
        texts={
            "appearance": LOOKS,
            "caption": caption,
            "models": {"captioner": "seer"},
            **texts,
        },
    )


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


def test_everyone_gets_a_letter_for_who_checks_a_description(tmp_path: Path) -> None:
    """Also in ATD, whose own video has no marks."""
    make_video(tmp_path / "clip.mp4", seconds=1, rate=5)
    row = Candidate("ATD-c", "ATD", "clip.mp4", "0", "a.mp4", 1.0, target="p1")

    async def through(ctx: StageContext) -> Any:
        ctx.clip_labels["clip.mp4"] = labels(track(1), track(1), track(1))
        (passed,) = await Pipeline(recipe_of(stage("mark")), ctx, ctx.store).take([row])
        return passed.out

    ((made,), _) = Studio(tmp_path).with_context(through)
    assert sorted(made.everyone) == ["p1", "p2", "p3"]
    assert made.people == ()
    assert len({made.video, made.boxed, made.lettered}) == 3
    assert all((tmp_path / path).is_file() for path in (made.video, made.boxed, made.lettered))
