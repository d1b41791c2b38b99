"""Confidence is calibrated, and below its limit nothing is said."""

from dataclasses import replace

import numpy as np
import pytest

from reelbench.annotate.common.calibration import Calibration, unless_unsure
from reelbench.annotate.common.face_quality import FaceQuality, median_quality
from reelbench.annotate.operators.appearance import sure_of_hair
from reelbench.annotate.operators.demographics import Demographics, age_group_of, gender_of
from reelbench.annotate.operators.emotion import EMOTIONS, Emotion, emotion_of

CLEAR = FaceQuality(size=1.0, sharpness=1.0, frontality=1.0, light=1.0)
BLURRED = replace(CLEAR, sharpness=0.0)
DARK = replace(CLEAR, light=0.1)


def test_confidence_is_a_logistic_of_evidence_that_ends_somewhere() -> None:
    calibration = Calibration(-1.0, {"margin": 2.0}, most=0.9)
    assert calibration({"margin": 0.5, "unused": 7.0}) == 0.5
    assert calibration({"margin": 0.0}) == pytest.approx(0.2689, abs=1e-4)
    assert calibration({"margin": 100.0}) == 0.9
    assert calibration({"margin": -1e9}) == 0.0


def test_a_guess_below_the_limit_is_not_said() -> None:
    assert unless_unsure("male", 0.85, 0.85) == "male"
    assert unless_unsure("male", 0.8499, 0.85) is None


@pytest.mark.parametrize(
    ("age", "group"),
    [
        (5.0, "child"),
        (12.0, "child"),
        (13.0, "adult"),
        (30.0, "adult"),
        (56.0, "adult"),
        (58.0, "old"),
        (75.0, "old"),
    ],
)
def test_ages_by_the_network_are_three_groups_and_old_begins_before_sixty(
    age: float, group: str
) -> None:
    assert age_group_of(age, CLEAR)[0] == group


def test_age_groups_are_unsure_at_their_limits_and_on_blurred_faces() -> None:
    limit = Demographics().least_confidence
    assert all(age_group_of(age, CLEAR)[1] < limit for age in (10.0, 15.0, 53.0, 60.0))
    assert all(age_group_of(age, CLEAR)[1] >= limit for age in (30.0, 70.0))
    assert all(age_group_of(age, BLURRED)[1] < limit for age in (5.0, 30.0, 70.0))


def test_gender_is_never_surer_than_the_network_nor_than_the_picture() -> None:
    limit = Demographics().least_confidence
    sure, torn = np.array([[0.01, 0.99]] * 5), np.array([[0.01, 0.99], [0.7, 0.3]])
    assert gender_of(sure, CLEAR) == ("male", 0.978)
    assert gender_of(torn, CLEAR) == ("male", 0.645)
    assert gender_of(sure, BLURRED)[1] < limit


def scores(word: str, score: float) -> np.ndarray:
    rest = (1 - score) / (len(EMOTIONS) - 1)
    return np.array([[score if name == word else rest for name in EMOTIONS]])


@pytest.mark.parametrize("word", ["anger", "disgust", "fear", "sadness", "surprise"])
@pytest.mark.parametrize("quality", [CLEAR, DARK])
def test_what_was_never_seen_to_be_right_is_a_guess_alone(word: str, quality: FaceQuality) -> None:
    guess, confidence = emotion_of(scores(word, 1.0), quality)
    assert guess == word
    assert confidence <= 0.5 < Emotion().least_confidence


def test_happiness_is_said_of_clear_faces_and_quality_counts() -> None:
    small = replace(CLEAR, size=0.0, sharpness=0.2, light=0.3)
    assert emotion_of(scores("happiness", 0.95), CLEAR)[1] >= Emotion().least_confidence
    assert emotion_of(scores("happiness", 0.6), small)[1] < Emotion().least_confidence
    assert (
        emotion_of(scores("neutral", 0.9), DARK)[1] < emotion_of(scores("neutral", 0.9), CLEAR)[1]
    )


def test_an_emotion_of_half_the_faces_is_not_said() -> None:
    torn = np.concatenate([scores("happiness", 1.0), scores("sadness", 0.6)])
    guess, confidence = emotion_of(torn, CLEAR)
    assert guess == "happiness"
    assert confidence == 0.75 < Emotion().least_confidence


def test_hair_is_sure_only_where_it_is_very_dark() -> None:
    def dark(lightness: float) -> float:
        return sure_of_hair({"tone": "dark", "lightness": lightness})

    assert dark(10.0) > 0.9 > 0.8 > dark(30.0)
    assert sure_of_hair({"tone": "light", "lightness": 90.0}) < 0.8
    assert sure_of_hair({"tone": "medium", "lightness": 50.0}) == sure_of_hair(None) == 0.0


def test_quality_of_several_faces_is_their_median() -> None:
    assert median_quality([CLEAR, CLEAR, BLURRED]) == CLEAR
