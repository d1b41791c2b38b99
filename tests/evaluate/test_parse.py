"""The parser reads answers and never guesses."""

import pytest

from reelbench.evaluate.parse import parse_answer
from reelbench.items import Kind

OPTIONS = ("a red door", "a blue door", "a dog", "I do not know")


@pytest.mark.parametrize(("reply", "kind", "places"), [
    ("B", "single", (1,)),
    (" (B) ", "single", (1,)),
    ("B.", "single", (1,)),
    ("**B**", "single", (1,)),
    ("B. a blue door", "single", (1,)),
    ("Answer: C", "single", (2,)),
    ("I looked closely. The answer is (C).", "single", (2,)),
    ("<think>A? No, B.</think>\nC", "single", (2,)),
    ("A dog", "single", (2,)),
    ("A, C", "multi", (0, 2)),
    ("C and A", "multi", (0, 2)),
    ("A", "multi", (0,)),
    ("The correct options are A, B and C", "multi", (0, 1, 2)),
])  # fmt: skip
def test_answers(reply: str, kind: Kind, places: tuple[int, ...]) -> None:
    assert parse_answer(reply, kind, OPTIONS).places == places


@pytest.mark.parametrize(("reply", "why"), [
    ("", "empty reply"),
    ("<think>B</think>", "empty reply"),
    ("I'm sorry, I can't help with that.", "no option in it"),
    ("Based on the frames it is hard to say.", "no option in it"),
    ("E", "no option in it"),
    ("A, B", "2 answers to a question with one"),
    ("A man opens the blue door", "no option in it"),
])  # fmt: skip
def test_no_answers(reply: str, why: str) -> None:
    parsed = parse_answer(reply, "single", OPTIONS)
    assert parsed.places is None
    assert parsed.failure == why
