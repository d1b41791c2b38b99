"""A mere negation is no opposite, however it is worded; a word turned into its opposite is one."""

import pytest

from reelbench.make.parts.opposites import opposite_fault

CLEAR = "Is the clarity of this video high?"
SMOOTH = "Is the motion smooth during the pan?"
READ = "Can the text on the sign be read clearly?"
FACE = "Does the face of the woman look realistic?"
EXPOSED = "Are both videos well exposed?"


@pytest.mark.parametrize(
    ("question", "negation"),
    [
        (CLEAR, "Is the clarity of this video not high?"),
        (CLEAR, "IS THE CLARITY OF THIS VIDEO NOT HIGH?"),
        (CLEAR, "Isn't the clarity of this video high?"),
        (CLEAR, "Is it untrue that the clarity of this video is high?"),
        (CLEAR, "Is it not true that the clarity of this video is high?"),
        (CLEAR, "Is the claim that the clarity of this video is high false?"),
        (CLEAR, "Does this video fail to have high clarity?"),
        (CLEAR, "Does this video lack high clarity?"),
        (CLEAR, "Does this video want for high clarity?"),
        (CLEAR, "Is high clarity missing from this video?"),
        (CLEAR, "Is this video without high clarity?"),
        (CLEAR, "Is the clarity of this video less than high?"),
        (CLEAR, "Would you deny that this clip's clarity is great?"),
        (CLEAR, "Not high: is that the clarity of this video?"),
        (SMOOTH, "Is the motion no longer smooth during the pan?"),
        (SMOOTH, "Is the motion never smooth during the pan?"),
        (SMOOTH, "Is the motion hardly smooth during the pan?"),
        (SMOOTH, "Is the pan without smooth motion?"),
        (SMOOTH, "Is it not the case that the motion is smooth during the pan?"),
        (READ, "Can’t the text on the sign be read clearly?"),
        (READ, "Cant the text on the sign be read clearly?"),
        (READ, "Cannot the text on the sign be read clearly?"),
        (READ, "Is it impossible to read the text on the sign clearly?"),
        (FACE, "Does the face of the woman look non-realistic?"),
        (FACE, "Does the face of the woman look not-realistic?"),
        (FACE, "Does the face of the woman look un-realistic?"),
        (FACE, "Is the face of the woman lacking in realism?"),
        (FACE, "Is the face of the woman far from realistic?"),
        (FACE, "Does the face of the woman look anything but realistic?"),
        (FACE, "Would it be wrong to say that the face of the woman looks realistic?"),
        (EXPOSED, "Are neither of the videos well exposed?"),
        (EXPOSED, "Are both videos devoid of good exposure?"),
        ("Is there visible banding in the sky?", "Is there no visible banding in the sky?"),
        ("Is there visible banding?", "Is there an absence of visible banding?"),
        ("Is there noise in both videos?", "Are both videos free of noise?"),
        ("Is there noise throughout the video?", "Is the video free of noise throughout?"),
        ("Is there noise in some frames?", "Are some frames without noise?"),
        ("Is there noise before the cut?", "Is the video without noise after the cut?"),
        ("Is there a man in the car?", "Is there a man without a car?"),
        ("Is there noise in the video?", "Is the video not free of noise?"),
    ],
)
def test_a_mere_negation_is_refused_with_what_it_adds(question: str, negation: str) -> None:
    fault = opposite_fault(question, negation)
    assert fault.startswith('it only adds "')
    assert "turn a word into its opposite instead" in fault


@pytest.mark.parametrize(
    ("question", "opposite"),
    [
        (CLEAR, "Is the clarity of this video low?"),
        ("Is this video blurred?", "Is this video sharp?"),
        ("Is this video of high clarity?", "Is this video of low clarity?"),  # the paper's own
        (SMOOTH, "Is the motion jerky during the pan?"),
        (READ, "Is the text on the sign illegible?"),
        (FACE, "Does the face of the woman look distorted?"),
        (FACE, "Does the face of the woman look unrealistic?"),
        (EXPOSED, "Is at least one of the videos badly exposed?"),
        ("Is the exposure too high?", "Is the exposure too low?"),
        ("Does the blur begin before the cut?", "Does the blur begin after the cut?"),
        ("Is the first video steadier?", "Is the first video shakier?"),
        ("Is video 1 better than video 2?", "Is video 2 better than video 1?"),
        ("Is the lighting adequate?", "Is the lighting inadequate?"),
        ("Is blur present in the second half?", "Is blur absent in the second half?"),
        ("Is it true that it is sharp?", "Is it untrue that it is sharp?"),
        ("Is the video not sharp?", "Is the video sharp?"),
        ("Does the video lack detail?", "Is the video rich in detail?"),
        ("Is the man without a hat in focus?", "Is the man without a hat out of focus?"),
        ("Is it raining?", "Is it dry?"),
        ("Is there noise in the video?", "Is the video free of noise?"),
        ("Is there any noise?", "Is this video without noise?"),
        ("Is there a man in the video?", "Is the video without a man?"),
        ("Is there blur in the left part?", "Is the left part free from blur?"),
        ("Is the video free of noise?", "Is there noise in the video?"),
        ("Is the start sharper than the end?", "Is the end sharper than the start?"),
        ("Is the first half better?", "Is the second half better?"),
        ("Is it steady at the start?", "Is it shaky at the start?"),
    ],
)
def test_an_opposite_is_accepted(question: str, opposite: str) -> None:
    assert opposite_fault(question, opposite) == ""


def test_it_must_ask_about_the_same() -> None:
    fault = opposite_fault("Does the red car in the first video look sharp?", "Is it raining?")
    assert "does not ask about the same" in fault


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Does the camera shake at the start?", "Does the camera shake at the end?"),
        ("Is it blurred in the first half?", "Is it blurred in the second half?"),
        ("Is the beginning noisy?", "Is the ending noisy?"),
        ("Does the camera shake at the end?", "Does the camera shake?"),
    ],
)
def test_another_moment_is_no_opposite(question: str, other: str) -> None:
    assert "keep the moment as it is" in opposite_fault(question, other)
