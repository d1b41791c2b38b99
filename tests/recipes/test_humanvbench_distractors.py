"""Wrong options of closed tasks are written like the key, so that form does not tell it."""

import pytest

from reelbench.recipes.humanvbench.distractors import written_like


@pytest.mark.parametrize(
    ("key", "text", "written"),
    [
        ("begin to sit down", "Begin to stand up.", "begin to stand up"),
        ("It rained all night.", "it snowed all day", "It snowed all day."),
        ("It rained all night.", "Did it snow?", "Did it snow?"),
        ("it rained all night", " It snowed all day. ", "it snowed all day"),
    ],
)
def test_a_wrong_option_has_the_first_letter_and_the_full_stop_of_the_key(
    key: str, text: str, written: str
) -> None:
    assert written_like(key, text) == written
