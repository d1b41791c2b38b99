"""HumanVBench: which clips become questions about who is there, and when; people and things."""

from pathlib import Path
from typing import Any

import pytest
from human_clips import a_clip, candidate, reason, seen, selected, stage, take

from reelbench.base.errors import ReelbenchError
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.clip_facts import ClipFacts
from reelbench.recipes.humanvbench.select import RULES
from reelbench.recipes.humanvbench.tasks import TASKS, TaskLabels


class TestDescribed:
    @pytest.mark.parametrize(("people", "fits"), [(3, False), (4, True), (6, True), (7, False)])
    def test_four_to_six_are_there_as_long_as_the_longest(self, people: int, fits: bool) -> None:
        outcome = selected("T2H", a_clip(10.0, people))
        assert reason(outcome) == ("" if fits else "number of people seen longest")
        if fits:
            assert outcome[0].key == outcome[0].target
            assert outcome[0].key in outcome[0].people

    def test_who_is_there_for_less_gets_no_letter_so_the_clip_is_left_out(self) -> None:
        labels = a_clip(10.0, 5)
        labels["tracks"]["people"][4]["tracks"] = [seen(0, 9.875)]
        assert reason(selected("T2H", labels)) == "people without a letter"
        assert reason(selected("T2H", labels, share_of_longest=0.95)) == ""

    def test_different_people_are_described_in_different_clips(self) -> None:
        labels, spec = a_clip(10.0, 4), TASKS["T2H"]
        chosen = set()
        for number in range(30):
            clip = ClipFacts(candidate("T2H", f"c{number}"), TaskLabels(spec, labels))
            chosen.add(RULES["T2H"](clip, **spec.numbers)[0].key)
        assert chosen == {"p1", "p2", "p3", "p4"}


class TestCrowd:
    @pytest.mark.parametrize(("guess", "fits"), [(2, False), (3, True), (30, True)])
    def test_the_guess_will_do_as_people_count(self, guess: int, fits: bool) -> None:
        count = {"people": None, "guess": guess, "confidence": 0.3}
        outcome = selected("HC", a_clip(count=count))
        assert reason(outcome) == ("" if fits else "number of people")
        assert not fits or outcome[0].facts == {"guess": guess}

    def test_quotas_count_candidates_and_what_is_short_is_told(self, tmp_path: Path) -> None:
        rows, labels = [], {}
        for number, guess in enumerate([3, 4, 5, 5, 6, 9, 12]):
            name = f"c{number}"
            rows.append(candidate("HC", name, video="make/videos/v.mp4"))
            labels[name] = a_clip(count={"people": None, "guess": guess, "confidence": 0.3})
        quota = stage("counting-quota", most={"3-5": 2, "6-8": 2, "9+": 1})
        outcomes = take(tmp_path, rows, labels, stage("select"), stage("draft"), quota)
        assert [isinstance(each, Rejected) for each in outcomes].count(True) == 3
        kept = [each[0] for each in outcomes if isinstance(each, list)]
        groups = sorted(item.tags["guessed_people"] for item in kept)
        assert groups == ["3-5", "3-5", "6-8", "9+"]
        assert all(item.kind == "open" and not item.options for item in kept)


def coming(start: float, end: float, seconds: float = 12.0) -> dict[str, Any]:
    """One person who stays, and one who comes in on the left and leaves on the right."""
    labels = a_clip(seconds, 2)
    labels["tracks"]["people"][1]["tracks"] = [seen(start, end, left=0, going_to=1180)]
    return labels


class TestAppearing:
    def test_who_comes_and_goes_is_asked_about_in_whole_seconds(self) -> None:
        (row,) = selected("ATD", coming(3.25, 8.625))
        assert (row.target, row.facts) == ("p2", {"span": [3, 9]})

    @pytest.mark.parametrize(("seconds", "why"), [(7.0, "too short"), (7.125, "")])
    def test_length(self, seconds: float, why: str) -> None:
        assert reason(selected("ATD", coming(1.0, 4.5, seconds))) == why

    @pytest.mark.parametrize(
        ("end", "fits"), [(5.875, False), (6.0, True), (10.0, True), (10.125, False)]
    )
    def test_someone_is_there_for_a_third_to_two_thirds(self, end: float, fits: bool) -> None:
        outcome = selected("ATD", coming(2.0, end))
        assert reason(outcome) == ("" if fits else "nobody is there for a part")

    @pytest.mark.parametrize(("again", "why"), [(5.5, ""), (5.625, "comes more than once")])
    def test_once_but_for_a_moment(self, again: float, why: str) -> None:
        labels = coming(2.0, 5.0)
        first = labels["tracks"]["people"][1]["tracks"][0]
        labels["tracks"]["people"][1]["tracks"] = [first, seen(again, 9.0, 900, 1180)]
        assert reason(selected("ATD", labels)) == why

    def test_a_face_that_vanishes_in_the_middle_may_have_turned_away(self) -> None:
        labels = a_clip(12.0, 2)
        labels["tracks"]["people"][1]["tracks"] = [seen(3.0, 8.0, left=600)]
        assert reason(selected("ATD", labels)) == "may be there unseen"
        labels["tracks"]["people"][1]["tracks"] = [seen(0.0, 6.0, left=600, going_to=1180)]
        assert reason(selected("ATD", labels)) == "", "it was there from the first frame on"

    def test_several_make_several_candidates(self, tmp_path: Path) -> None:
        labels = coming(3.0, 8.0)
        labels["tracks"]["people"][0]["tracks"] = [seen(5.0, 10.0, left=1180, going_to=0)]
        row = candidate("ATD", seconds=12.0)
        (outcome,) = take(tmp_path, [row], {"c": labels}, stage("select"))
        assert sorted(each.id for each in outcome) == ["ATD-c-p1", "ATD-c-p2"]


class TestThings:
    """4.5: the tracks of objects take the place of people, with no rule of their own."""

    def labels(self) -> dict[str, Any]:
        car = {"id": "car-1", "class": "car", "confidence": 0.9, **seen(4.0, 9.0, 0, 1180)}
        dog = {"id": "dog-1", "class": "dog", "confidence": 0.9, **seen(0.0, 12.0)}
        full = a_clip(12.0)
        return {"format": full["format"], "objects": {"tracks": [car, dog]}}

    def test_appearance_intervals_of_a_car(self, tmp_path: Path) -> None:
        row = candidate("ATD", seconds=12.0, subject="car", texts={"caption": "A red van."})
        stages = (stage("select"), stage("letters"), stage("times"), stage("draft"))
        (outcome,) = take(tmp_path, [row], {"c": self.labels()}, *stages)
        (item,) = outcome
        assert item.question == "From when to when can this car be seen in the video? A red van."
        assert item.correct == ("4 s to 9 s",)
        assert (len(item.options), item.tags["subject"]) == (4, "car")

    def test_things_of_another_class_do_not_count(self) -> None:
        assert reason(selected("ATD", self.labels(), "dog")) == "nobody is there for a part"
        (row,) = selected("ATD", self.labels(), "car")
        assert row.target == "car-1"

    def test_labels_of_people_are_not_read(self) -> None:
        with pytest.raises(ReelbenchError, match="ATD reads the label tracks"):
            TaskLabels(TASKS["ATD"], self.labels(), "car")["tracks"]
