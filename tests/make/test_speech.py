"""What is said in a video: segments joined to sentences, and those of a part of it."""

from typing import Any

import pytest

from reelbench.make.parts.speech import sentences, speech_within


def spoken(*segments: tuple[float, float, str]) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "text": text} for start, end, text in segments]


@pytest.mark.parametrize(("given", "joined"), [
    ([(0, 1, "We see"), (1, 2, "a lamp."), (2, 3, "It burns.")],
     [(0, 2, "We see a lamp."), (2, 3, "It burns.")]),
    ([(0, 1, "Is it?"), (1, 2, 'He says "no."'), (2, 3, "And then")],
     [(0, 1, "Is it?"), (1, 2, 'He says "no."'), (2, 3, "And then")]),
    ([(0, 1, "a lamp"), (2.9, 4, "burns")], [(0, 4, "a lamp burns")]),
    ([(0, 1, "a lamp"), (3, 4, "burns")], [(0, 1, "a lamp"), (3, 4, "burns")]),
    ([(0, 8, "no marks"), (8, 15, "at all"), (15, 16, "in here")],
     [(0, 15, "no marks at all"), (15, 16, "in here")]),
    ([(0, 1, " "), (1, 2, "two\nlines")], [(1, 2, "two lines")]),
    ([], []),
])  # fmt: skip
def test_segments_are_joined_to_sentences(given: Any, joined: Any) -> None:
    assert sentences(spoken(*given)) == spoken(*joined)


@pytest.mark.parametrize(("span", "found"), [
    ((0.0, 10.0), "one\ntwo"), ((10.0, 20.0), "two\nthree"), ((30.0, 40.0), ""),
])  # fmt: skip
def test_speech_of_a_part_is_all_that_overlaps_it(span: Any, found: str) -> None:
    whole = spoken((0, 9, "one"), (9, 11, "two"), (20, 21, "four"), (19, 20, "three"))
    assert speech_within(whole, span) == found
