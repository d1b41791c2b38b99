"""HumanVBench: which clips become questions about speech, at the edges of every limit."""

from pathlib import Path
from typing import Any

import pytest
from human_clips import a_clip, candidate, demographic, reason, seen, selected, stage, take

SPEECH_TASKS = ("AVSM", "ASD", "AVAD", "SCM")
LISTS = ("tracks", "speaker", "demographics", "voice_demographics")  # labels of one after another


def clip_for(task: str, seconds: float = 10.0, **more: Any) -> dict[str, Any]:
    """A clip that the rule of a task takes."""
    people = 1 if task == "SCM" else 2
    return a_clip(seconds, people, **more)


@pytest.mark.parametrize("task", SPEECH_TASKS)
def test_a_clip_that_has_all_becomes_a_candidate(task: str) -> None:
    (row,) = selected(task, clip_for(task))
    assert row.key == ("p1" if task in ("AVSM", "ASD") else "")
    assert row.people == (("p1", "p2") if task in ("AVSM", "ASD") else ())


@pytest.mark.parametrize("task", SPEECH_TASKS)
@pytest.mark.parametrize(
    "shares", [{}, {"speech": 0.4, "music": 0.5}, {"speech": 0.3, "singing": 0.6}]
)
def test_speech_must_be_heard_and_more_of_it_than_music(task: str, shares: Any) -> None:
    sound = {"spans": [], "shares": shares}
    assert reason(selected(task, clip_for(task, sound=sound))) == "no speech"


@pytest.mark.parametrize(("task", "just_too_short", "long_enough"), [
    ("AVSM", 3.99, 4.0), ("ASD", 3.99, 4.0), ("AVAD", 8.0, 8.01), ("SCM", 5.0, 5.01),
])  # fmt: skip
def test_length(task: str, just_too_short: float, long_enough: float) -> None:
    assert reason(selected(task, clip_for(task, just_too_short))) == "too short"
    assert reason(selected(task, clip_for(task, long_enough))) == ""


@pytest.mark.parametrize(("task", "people", "fits"), [
    ("AVSM", 1, False), ("AVSM", 4, True), ("AVSM", 5, False),
    ("ASD", 1, False), ("ASD", 4, True), ("ASD", 5, False),
    ("AVAD", 1, True), ("AVAD", 2, True), ("AVAD", 3, False),
    ("SCM", 1, True), ("SCM", 2, False),
])  # fmt: skip
def test_number_of_people(task: str, people: int, fits: bool) -> None:
    expected = "" if fits else "number of people"
    assert reason(selected(task, a_clip(10.0, people))) == expected


@pytest.mark.parametrize("task", SPEECH_TASKS)
def test_a_number_of_people_that_is_not_certain_makes_no_item(task: str) -> None:
    count = {"people": None, "guess": 1 if task == "SCM" else 2, "confidence": 0.6}
    assert reason(selected(task, clip_for(task, count=count))) == "number of people not certain"


@pytest.mark.parametrize("task", ["AVSM", "ASD"])
def test_nobody_may_be_without_a_letter(task: str) -> None:
    """One who is not followed could be the speaker."""
    count = {"people": 3, "guess": 3, "confidence": 0.99}
    assert reason(selected(task, a_clip(10.0, 2, count=count))) == "people without a letter"


class TestActiveSpeaker:
    @pytest.mark.parametrize(("speaks", "why"), [
        ((True, False), ""), ((True, True), "not exactly one speaker"),
        ((False, False), "not exactly one speaker"), ((True, None), "not certain who speaks"),
    ])  # fmt: skip
    def test_exactly_one_speaks_and_of_all_it_is_certain(self, speaks: Any, why: str) -> None:
        assert reason(selected("ASD", a_clip(speaks=speaks))) == why

    def test_the_confidence_is_that_of_the_least_certain_label(self) -> None:
        labels = a_clip()
        labels["speaker"]["people"][1]["confidence"] = 0.81
        (row,) = selected("ASD", labels)
        assert row.confidence == 0.81

    @pytest.mark.parametrize(("least", "fits"), [(0.97, True), (0.98, False)])
    @pytest.mark.parametrize("parameter", ["ASD_least_confidence", "least_confidence"])
    def test_below_the_least_confidence_of_the_task_or_of_all_it_makes_no_item(
        self, parameter: str, least: float, fits: bool, tmp_path: Path
    ) -> None:
        rows = [candidate("ASD")]
        (outcome,) = take(tmp_path, rows, {"c": a_clip()}, stage("select", **{parameter: least}))
        assert reason(outcome) == ("" if fits else "labels not certain enough")


@pytest.mark.parametrize(("task", "label"), [
    ("T2H", "tracks"), ("H2T", "count"), ("ATD", "tracks"), ("ASD", "count"), ("ASD", "speaker"), ("AVAD", "count"),
    ("AVAD", "speaker"), ("SCM", "count"), ("SCM", "speaker"), ("SCM", "transcript"),
    ("AVSM", "count"), ("AVSM", "demographics"), ("AVSM", "voice_demographics"),
])  # fmt: skip
def test_a_label_that_says_no_confidence_is_not_taken_for_certain(
    task: str, label: str, tmp_path: Path
) -> None:
    labels = a_clip(10.0, {"T2H": 4, "H2T": 3, "SCM": 1}.get(task, 2))
    if task == "ATD":
        labels["tracks"]["people"][1]["tracks"] = [seen(0, 5, 600, 1180)]
    (outcome,) = take(tmp_path / "with", [candidate(task)], {"c": labels}, stage("select"))
    assert reason(outcome) == ""
    found = labels[label]
    for statement in found.get("people", found.get("speakers")) if label in LISTS else [found]:
        del statement["confidence"]
    (outcome,) = take(tmp_path / "without", [candidate(task)], {"c": labels}, stage("select"))
    assert reason(outcome) == "labels not certain enough"
    assert outcome.detail.endswith(f"The label {label} gives no confidence.")


class TestFittingVoice:
    @pytest.mark.parametrize(("looks", "voices", "key"), [
        (("male", "female"), ("female",), "p2"),
        (("child", "female"), ("child",), "p1"),
        (("child", "female"), ("female",), "p2"),
        (("female", "child"), ("female",), "p1"),
    ])  # fmt: skip
    def test_the_key_is_the_only_man_woman_or_child_like_the_voice(
        self, looks: Any, voices: Any, key: str
    ) -> None:
        (row,) = selected("AVSM", a_clip(looks=looks, voices=voices))
        assert row.key == key

    @pytest.mark.parametrize(("looks", "voices", "why"), [
        (("male", "male"), ("male",), "the voice does not fit exactly one"),
        (("male", "male"), ("female",), "the voice does not fit exactly one"),
        (("male", "child"), ("female",), "the voice does not fit exactly one"),
        (("male", "unknown"), ("male",), "looks not certain"),
        (("male", "female"), ("unknown",), "voice not certain"),
        (("male", "female"), ("male", "female"), "not exactly one voice"),
        (("male", "female"), (), "not exactly one voice"),
    ])  # fmt: skip
    def test_all_else_is_left_out(self, looks: Any, voices: Any, why: str) -> None:
        assert reason(selected("AVSM", a_clip(looks=looks, voices=voices))) == why

    @pytest.mark.parametrize(("until", "why"), [(6.7, "someone is seen too briefly"), (6.8, "")])
    def test_everyone_with_a_letter_is_there_for_over_67_per_cent(
        self, until: float, why: str
    ) -> None:
        labels = a_clip(10.0)
        labels["tracks"]["people"][1]["tracks"] = [seen(0, until)]
        assert reason(selected("AVSM", labels)) == why

    def test_the_confidence_counts_what_was_used_of_looks_and_voice(self) -> None:
        labels = a_clip(looks=("child", "male"), voices=("child",))
        voice = demographic("s1", "child")
        voice["confidence"] = {"gender": 0.1, "age_group": 0.9}
        labels["voice_demographics"]["speakers"] = [voice]
        (row,) = selected("AVSM", labels)
        assert row.confidence == 0.9


class TestReversible:
    def test_someone_must_be_seen_to_speak(self) -> None:
        assert reason(selected("AVAD", a_clip(speaks=(None, False)))) == "no active speaker"
        assert reason(selected("AVAD", a_clip(speaks=(None, True)))) == ""

    @pytest.mark.parametrize(("heard_until", "why"), [(8.4, "a third without speech"), (8.5, "")])
    def test_every_third_is_heard(self, heard_until: float, why: str) -> None:
        """The sound of a silent third is the same in both directions."""
        speech = [{"start": 0.0, "end": heard_until, "kind": "speech", "score": 1.0}]
        sound = {"spans": speech, "shares": {"speech": 0.7}}
        assert reason(selected("AVAD", a_clip(12.0, sound=sound))) == why


class TestTranscribed:
    @pytest.mark.parametrize(("characters", "why"), [(35, "too little is said"), (36, "")])
    def test_length_of_what_is_said(self, characters: int, why: str) -> None:
        text = ("Word " * 20)[: characters - 2] + "x."
        labels = a_clip(10.0, 1, transcript={"text": text, "confidence": 0.9})
        outcome = selected("SCM", labels)
        assert reason(outcome) == why
        if not why:
            assert outcome[0].facts == {"transcript": text}

    @pytest.mark.parametrize(("text", "said"), [
        ("It rained all night long, said Mr. Smith. He left at", "It rained all night long, said Mr. Smith."),
        ("was late for the train. It rained all night long, and then it stopped!",
         "It rained all night long, and then it stopped!"),
        ("It rained all night long and then we went to...", ""),
        ("It rained all night long and then we went to the", ""),
    ])  # fmt: skip
    def test_only_whole_sentences(self, text: str, said: str) -> None:
        outcome = selected("SCM", a_clip(10.0, 1, transcript={"text": text, "confidence": 0.9}))
        found = outcome[0].facts["transcript"] if isinstance(outcome, list) else ""
        assert found == said

    def test_a_sentence_whose_first_word_was_cut_off_is_none(self) -> None:
        text = "All night long. It rained until the morning, and then it stopped."
        segments = [{"start": 1.0, "end": 9.0, "text": text, "words": []}]
        for dropped, said in (([], text), ([{"start": 0.1, "word": "rained"}], text[16:])):
            label = {"text": text, "confidence": 0.9, "segments": segments, "dropped": dropped}
            (row,) = selected("SCM", a_clip(10.0, 1, transcript=label))
            assert row.facts == {"transcript": said}
        nothing = {"text": "", "confidence": 0.9, "segments": [], "dropped": [{"start": 0.1}]}
        assert reason(selected("SCM", a_clip(10.0, 1, transcript=nothing))) == "too little is said"

    def test_it_is_english_and_the_person_is_seen_to_say_it(self) -> None:
        german = {"spoken": "de", "confidence": {"spoken": 1.0}}
        assert reason(selected("SCM", a_clip(10.0, 1, language=german))) == "not English"
        silent = a_clip(10.0, 1, speaks=(False,))
        assert reason(selected("SCM", silent)) == "no active speaker"
