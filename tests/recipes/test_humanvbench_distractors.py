"""Wrong options of closed tasks are written like the key, so that form does not tell it."""

import pytest

from reelbench.recipes.humanvbench.distractors import options_fault, written_like


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


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (("begin to kneel", "begin to walk away", "begin to take the coat off"), ""),
        (
            ("begin to kneel", "begin to walk away", "begin to wave"),
            "they have 13, 14, 18 characters",
        ),
        (("begin to kneel", "walk away", "begin to wave"), "every option must begin with"),
    ],
)
def test_the_lengths_of_wrong_options_are_those_that_were_drawn(
    wrong: tuple[str, ...], fault: str
) -> None:
    lengths = [(12, 15), (16, 20), (22, 28)]
    found = options_fault("begin to sit down", wrong, "begin to ", 1.5, lengths)
    assert found.startswith(fault)
    assert bool(found) == bool(fault)
