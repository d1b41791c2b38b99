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
    ("A. is wrong. The answer is B.", "single", (1,)),
    ("A. The video shows a door, so the answer is B.", "single", (1,)),
    ("A. a red door\nC. a dog", "multi", (0, 2)),
    ("The answer is B because it is blue", "single", (1,)),
    ("The answer is B, not A.", "single", (1,)),
    ("The correct option is (C) a dog.", "single", (2,)),
    ("B\n\nExplanation: the door is blue.", "single", (1,)),
    ("Option B", "single", (1,)),
    ("B - a blue door", "single", (1,)),
    ("b", "single", (1,)),
    ("\\boxed{B}", "single", (1,)),
    ("<answer>B</answer>", "single", (1,)),
    ("答案：B", "single", (1,)),
    ("选B", "single", (1,)),
    ("AC", "multi", (0, 2)),
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
    ("The answer is A man", "no option in it"),
    ("The answer is not A.", "no option in it"),
    ("Answer: A or B", "no option in it"),
    ("<think>Perhaps the answer is A", "empty reply"),
    ("A. a red door\nB. a blue door\nC. a dog\nD. I do not know", "no option in it"),
])  # fmt: skip
def test_no_answers(reply: str, why: str) -> None:
    parsed = parse_answer(reply, "single", OPTIONS)
    assert parsed.places is None
    assert parsed.failure == why


def test_yes_and_no_in_a_sentence() -> None:
    assert parse_answer("Yes, it does.", "yesno", ("Yes", "No")).places == (0,)
    assert parse_answer("No.", "yesno", ("Yes", "No")).places == (1,)
    assert parse_answer("Yesterday it did.", "yesno", ("Yes", "No")).places is None
