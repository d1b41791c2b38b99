"""HumanVBench in words: whom tasks select, what models are shown and asked, and what goes out."""

from pathlib import Path
from typing import Any

import pytest
from human_models import (
    ACTIONS,
    CAUSES,
    FACE,
    LOOKS,
    TOLD,
    Models,
    candidate,
    labels,
    outcomes,
    selected,
    stage,
    take,
    targets,
    text_of,
    track,
)
from parts import Studio, pictures, recipe_of
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.prompts import load_prompts
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.captions import description_fault
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.recipes.humanvbench.select import tasks_for
from reelbench.recipes.humanvbench.tasks import HOME


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
        assert targets(selected("H2T", found, subject="dog")) == ["dog-1"], "one has attributes"
        assert selected("T2H", found, subject="dog") == "number of dogs seen longest"

    def test_one_of_several_things_alike_in_time_is_described(self) -> None:
        dogs = [{"id": f"dog-{n}", "class": "dog", **track(8)} for n in range(4)]
        found = {**labels(track(8)), "objects": {"tracks": dogs}}
        (chosen,) = selected("T2H", found, subject="dog")
        assert chosen.people == ("dog-0", "dog-1", "dog-2", "dog-3")
        assert chosen.target == chosen.key
        assert "T2H" in tasks_for((), "dog")


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

    @pytest.mark.parametrize("changes", [True, False])
    def test_of_actions_serve_the_wrong_options_of_those_that_people_mark(
        self, tmp_path: Path, changes: bool
    ) -> None:
        reply = {"Action_Change": changes, "Action_Sequence": "She sits, then waves."}
        ((made,),), server, _ = take(tmp_path, Models(seer=reply), [candidate("TSA")], "describe")
        assert made.facts["actions"] == ["She sits", "waves"]
        assert made.texts["models"] == {"captioner": "seer"}
        assert LOOKS.rstrip(".") in text_of(server.requests[0])

    def test_of_actions_are_done_without_where_there_are_none(self, tmp_path: Path) -> None:
        ((made,),), _, _ = take(tmp_path, Models(seer={}), [candidate("TSA")], "describe")
        assert not made.facts

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
