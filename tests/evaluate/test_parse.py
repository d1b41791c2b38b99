"""The parser reads answers and never guesses."""

import ast
import gzip
import json
from collections import Counter

import pytest
from support import SHARED

from reelbench.evaluate.parse import parse_answer
from reelbench.items import LETTERS, Kind

OPTIONS = ("a red door", "a blue door", "a dog", "I do not know")


@pytest.mark.parametrize(("reply", "kind", "places"), [
    ("B", "single", (1,)),
    (" (B) ", "single", (1,)),
    ("B.", "single", (1,)),
    ("**B**", "single", (1,)),
    ("b", "single", (1,)),
    ("(b)", "single", (1,)),
    ("Option B", "single", (1,)),
    ("\\boxed{B}", "single", (1,)),
    ("$\\boxed{\\text{B}}$", "single", (1,)),
    ("\\( \\text{B} \\)", "single", (1,)),
    ("Answer: \\( \\text{(B)} \\)", "single", (1,)),
    ("[[B]]", "single", (1,)),
    ("<answer>B</answer>", "single", (1,)),
    ('{"answer": "B"}', "single", (1,)),
    ('```json\n{"reason": "it is blue", "Answer": "B. a blue door"}\n```', "single", (1,)),
    ('["A", "C"]', "multi", (0, 2)),
    ('{"answers": ["A", "C"]}', "multi", (0, 2)),
    ("B. a blue door", "single", (1,)),
    ("B - a blue door", "single", (1,)),
    ("B. it is blue", "single", (1,)),
    ("Option B: a blue door", "single", (1,)),
    ("Answer: C", "single", (2,)),
    ("**Answer:** C", "single", (2,)),
    ("### Final Answer:\n\nC", "single", (2,)),
    ("Answer: A\nThat was hasty.\nFinal answer: C", "single", (2,)),
    ("I looked closely. The answer is (C).", "single", (2,)),
    ("The correct option is (C) a dog.", "single", (2,)),
    ("The answer is B because it is blue", "single", (1,)),
    ("The answer is B, not A.", "single", (1,)),
    ("Option B is correct.", "single", (1,)),
    ("I would go with B.", "single", (1,)),
    ("The door is blue, which corresponds to option B.", "single", (1,)),
    ("A. is wrong. The answer is B.", "single", (1,)),
    ("A. The video shows a door, so the answer is B.", "single", (1,)),
    ("A man enters by the door that is blue, so (B)", "single", (1,)),
    ("<think>A? No, B.</think>\nC", "single", (2,)),
    ("A? No, B.</think>\nC", "single", (2,)),
    ("A dog", "single", (2,)),
    ("It shows a blue door.", "single", (1,)),
    ("B\n\nExplanation: the door is blue.", "single", (1,)),
    ("The door is blue.\n\nB", "single", (1,)),
    ("The door is blue.\n\nB. a blue door", "single", (1,)),
    ("\N{FULLWIDTH LATIN CAPITAL LETTER B}", "single", (1,)),
    ("答案：B", "single", (1,)),
    ("答案是B。", "single", (1,)),
    ("选B", "single", (1,)),
    ("应该选择B，因为门是蓝色的", "single", (1,)),
    ("正解はB", "single", (1,)),
    ("（B）", "single", (1,)),
    ("A, C", "multi", (0, 2)),
    ("C and A", "multi", (0, 2)),
    ("A、C", "multi", (0, 2)),
    ("A和C", "multi", (0, 2)),
    ("AC", "multi", (0, 2)),
    ("(A)(C)", "multi", (0, 2)),
    ("a, c", "multi", (0, 2)),
    ("A", "multi", (0,)),
    ("The correct options are A, B and C", "multi", (0, 1, 2)),
    ("A. a red door\nC. a dog", "multi", (0, 2)),
])  # fmt: skip
def test_answers(reply: str, kind: Kind, places: tuple[int, ...]) -> None:
    assert parse_answer(reply, kind, OPTIONS).places == places


@pytest.mark.parametrize(("reply", "why"), [
    ("", "empty reply"),
    ("  \n", "empty reply"),
    ("<think>B</think>", "unfinished reasoning"),
    ("<think>Perhaps the answer is A", "unfinished reasoning"),
    ("I'm sorry, I can't help with that.", "refusal"),
    ("I\N{RIGHT SINGLE QUOTATION MARK}m unable to see the video.", "refusal"),
    ("抱歉，我无法回答。", "refusal"),
    ("Based on the frames it is hard to say.", "no answer"),
    ("E", "no such option"),
    ("Answer: Z", "no such option"),
    ("A, B", "several answers"),
    ("AB", "several answers"),
    ("Answer: A or B", "several answers"),
    ("Answer: A\n\nAnswer: B", "several answers"),
    ("The answer is A. No: the answer is B.", "several answers"),
    ("B. a red door", "letter and text differ"),
    ("A man opens the door", "no answer"),
    ("The answer is A man", "no answer"),
    ("The answer is not A.", "no answer"),
    ("It isn't a blue door.", "no answer"),
    ("Neither a red door nor a blue door", "no answer"),
    ("A. a red door\nB. a blue door\nC. a dog\nD. I do not know", "no answer"),
    ("Options:\n(A) a red door\n(B) a blue door", "no answer"),
])  # fmt: skip
def test_no_answers(reply: str, why: str) -> None:
    parsed = parse_answer(reply, "single", OPTIONS)
    assert parsed.places is None
    assert parsed.failure == why


@pytest.mark.parametrize("count", [2, 5, 10, 26])
def test_every_letter_in_every_form(count: int) -> None:
    options = tuple(f"the thing number {number}" for number in range(count))
    forms = ("{}", "({})", "**{}**", "{}.", "Answer: {}", "The answer is {}.", "\\boxed{{{}}}",
             "Answer: ({}) it is plain", "[[{}]]", '{{"answer": "{}"}}', "答案:{}")  # fmt: skip
    for place in range(count):
        for form in forms:
            assert parse_answer(form.format(LETTERS[place]), "single", options).places == (place,)
        assert parse_answer(options[place], "single", options).places == (place,)
        assert parse_answer(f"I see {options[place]}.", "single", options).places == (place,)


def test_options_that_are_letters_themselves() -> None:
    options = ("C", "A", "B", "A and B")
    assert parse_answer("A", "single", options).places == (0,)
    assert parse_answer("B. A", "single", options).places == (1,)
    assert parse_answer("Answer: (D) A and B", "single", options).places == (3,)


def test_yes_and_no_in_a_sentence() -> None:
    options = ("Yes", "No")
    assert parse_answer("Yes, it does.", "yesno", options).places == (0,)
    assert parse_answer("No.", "yesno", options).places == (1,)
    assert parse_answer("The door stays shut. Therefore, no.", "yesno", options).places == (1,)
    assert parse_answer("是", "yesno", ("是", "否")).places == (0,)
    assert parse_answer("Yesterday it did.", "yesno", options).places is None
    assert parse_answer("No-one can tell.", "yesno", options).places is None


# file -> replies that are read, of 1,730; those that are read otherwise than by the official
# parser, which takes the last letter it finds and, where it finds none, draws one.
REPLIES = {
    "standard10_options_direct": (1718, 143),
    "vision_cot": (1695, 6),
    "vision_direct": (1522, 1),
}


@pytest.mark.skipif(
    not SHARED.exists(), reason="the folder of real replies is not beside the repository"
)
@pytest.mark.parametrize("name", REPLIES)
def test_real_replies(name: str) -> None:
    read = other = 0
    failures: Counter[str] = Counter()
    with gzip.open(SHARED / "data" / "responses" / f"gpt-4o_{name}.jsonl.gz") as lines:
        for row in map(json.loads, lines):
            options = tuple(map(str, ast.literal_eval(row["options"])))
            parsed = parse_answer(row["response"] or "", "single", options)
            if parsed.places is None:
                failures[parsed.failure] += 1
                continue
            read += 1
            other += LETTERS[parsed.places[0]] != row["pred_indexs"]
    assert (read, other) == REPLIES[name]
    assert failures.total() == 1730 - read
    if name == "vision_direct":
        assert failures["refusal"] == 203
