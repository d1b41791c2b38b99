"""A reply that was cut off counts only if it is an answer in full before the cut."""

import pytest

from reelbench.evaluate.parse import complete_answer

OPTIONS = ("a red door", "a blue door", "a dog", "I do not know")


@pytest.mark.parametrize("reply", [
    "Answer: B\n\nExplanation: the ma", "\\boxed{B} because th", "\\boxed{B}", "B", "(B)", "Answer: B", "**Answer:** B",
    "Answer: B.", "B\n\nExplanation: the do", "The answer is B. It can be seen th", "The answer is B.", "[[B]] as the",
    '{"answer": "B"}', '{"answer": "B"} I think', '```json\n{"answer": "B"}\n``` because', "<answer>B</answer> sin",
    "The door is blue.\nAnswer: B", "Option B is correct. The oth", "Final answer: B\n", "<think>hm</think>B",
    "The correct answer is (B) a blue door. This is be",
])  # fmt: skip
def test_complete_before_the_cut(reply: str) -> None:
    assert complete_answer(reply, "single", OPTIONS).places == (1,)


@pytest.mark.parametrize("reply", [
    '{"answer": "B"', '{"answer": "B","reason": "the', "The man in the blue shirt B", "The answer is B", "The answer", "Answer:",
    "The video shows a blue door", "It shows a blue door. The man", "<answer>B", "[[B", "\\boxed{B", "(B", "I think it",
    "A. a red door: this is not", "A. a red door. This", "B. a blue door", "The answer is B. Wait, let me",
    "Answer: B. Actually", "The answer is A or", "So the answer might be B beca", '```json\n{"answer": "B"',
    "Let me think. The options are A. a red door, B. a bl",
])  # fmt: skip
def test_not_complete_before_the_cut(reply: str) -> None:
    assert complete_answer(reply, "single", OPTIONS).places is None


def test_a_number_may_go_on() -> None:
    assert complete_answer("The answer is 3.", "single", ("3", "3.5", "4")).places is None


def test_reasoning_that_never_ended() -> None:
    reply = "<think>It is blue. The answer is B. Answer: B"
    assert complete_answer(reply, "single", OPTIONS).failure == "unfinished reasoning"
    assert complete_answer("", "single", OPTIONS).failure == "empty reply"


@pytest.mark.parametrize(("reply", "places"), [
    ("A, C", None), ("Answer: A, C", None), ("Answer:\n- A\n- C", None), ("Answer:\n- A\n- C\n- ", None), ("A", None),
    ("\\boxed{A}", None), ("\\boxed{A}, \\boxed{C}", None), ("Answer: A, C\n\nExplanation: th", (0, 2)),
    ("Answer: A, C\nExplanation: th", (0, 2)), ("A, C\n\nThe red", (0, 2)),
])  # fmt: skip
def test_a_list_may_go_on(reply: str, places: tuple[int, ...] | None) -> None:
    assert complete_answer(reply, "multi", OPTIONS).places == places


@pytest.mark.parametrize(("reply", "places"), [
    ("Yes, the man is shooting. The video sh", (0,)), ("Answer: No\nThe", (1,)), ("No, th", None), ("Yes", None),
])  # fmt: skip
def test_yes_and_no(reply: str, places: tuple[int, ...] | None) -> None:
    assert complete_answer(reply, "yesno", ("Yes", "No")).places == places
