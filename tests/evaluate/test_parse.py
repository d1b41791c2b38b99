"""The parser reads answers and never guesses."""

import ast
import gzip
import json
from collections import Counter
from itertools import islice
from typing import cast

import pytest
from support import SHARED

from reelbench.data.items import LETTERS, Kind
from reelbench.evaluate.parse import parse_answer

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


# What models say every day, each of it the second option.
EVERYDAY = (
    "It's B.", "Probably B.", "Most likely B.", "I think B", "I think it's B.", "My guess is B", "I'd say B",
    "B it is", "Sure! B", "So, B", '"B"', "'B'", "\u201cB\u201d", "\u00abB\u00bb", "\u201eB\u201c", "\u2018B\u2019",
    "\u300cB\u300d", "`B`", "B</s>", "<s>B</s>", "B<|im_end|>", "B<|eot_id|>", "B<end_of_turn>", "B [/INST]",
    "- B", "* B", "\u2022 B", "1. B", "> B", "# B", "B!", "B,", "[B]", "<B>", "{B}", "B)", "B \u2705", "=> B",
    "\u2192 B", "```\nB\n```", "Ans: B", "Option 2", "Option 2: a blue door", "Caption B", "Sentence B.", "Choice B",
    "option (B)", "Letter B", "Answer B", "Answer - B", "Answer is B", "Answer = B", "answer:B", "ANSWER: B",
    "Answer\n\nB", "Correct: B", "Correct answer: B", "Selected option: B", "Final answer: option B (a blue door)",
    "The answer is option B.", "The answer is: Option B", "The answer is \"B\".", "The answer is b.",
    "The answer to the question is B.", "The right answer here is B, a blue door.", "The answer (B) is the closest.",
    "The correct answer is B) a blue door", "The correct choice would be B", "The option that matches is B.",
    "I'd go with option B.", "I am going with B", "I select option B", "Between A and B, I choose B.",
    "B is the correct answer.", "B is right.", "(B) is correct", "Option B is the best answer.", "Only B is correct.",
    "Caption B matches the video better as it shows more.", "Caption B is the best option as it matches better.",
    "B because it is blue", "B, because it is blue.", "B - because it is blue", "a blue door (B)", "B\nB", "B, B",
    "Options A and C are wrong, so B.", "A and C are incorrect. B is correct.", "Not A. The answer is B.",
    "The most likely object is (B) something blue.", "The thing that he opens is B. a blue door. This is plain.",
    "B. a blue door\n\nA. a red door is wrong as it is blue.", "The answer is B, since neither A nor C is correct.",
    "The answer is not A but B.", "The answer is not A, but B.",
    "Answer: A. Wait, no. Actually, the answer is B.",
    '[{"answer":"B"}]', '{"choice": "B"}', '{"answer": {"letter": "B"}}', '{"answer": "B", "seen": {"frames": 1}}',
    "{'answer': 'B'}", 'So: {"answer": "b"}', "<final_answer>B</final_answer>", "<answer>B", "<CONCLUSION> B </CONCLUSION>",
    "<|begin_of_box|>B<|end_of_box|>", "[THINK]A?[/THINK]B", "<seed:think>A</seed:think>B",
    "<|START_THINKING|>A<|END_THINKING|><|START_RESPONSE|>B<|END_RESPONSE|>",
    "<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>",
    "analysisIt may be A.assistantfinalB",
    "Ans. B", "The best match is B.", "Let's go with B.", "The answer's B.", "Option B seems correct.", "Caption B is more accurate.",
    "Sentence B better captures the essence of the video.", "Description B is a better match for the video.",
    "Option B best describes the video.", "Among the options, B fits best.", "The final answer is: $\\boxed{B}$. I hope it is correct.",
)  # fmt: skip


@pytest.mark.parametrize("reply", EVERYDAY)
def test_everyday_forms(reply: str) -> None:
    assert parse_answer(reply, "single", OPTIONS).places == (1,)


@pytest.mark.parametrize("reply", [
    "A and C are correct.", "A. a red door, C. a dog", "A. a red door and C. a dog", "\\boxed{A}, \\boxed{C}",
    "- A\n- C", "Both A and C", "Both A and C are correct.", "A & C", "A; C", "A C", "Options A and C",
    "The answers are A and C.", "Answer:\n- A\n- C", "Answer: A. a red door\nC. a dog", "Correct options:\n- A\n- C",
    "(A) a red door\n(C) a dog", '[{"answer":"A"},{"answer":"C"}]', "<answer>A, C</answer>", "[[A]], [[C]]",
    "a red door and a dog", "I see a red door and a dog.", "1. A\n2. C", "A, and C", "[A, C]", "\\boxed{A, C}", "A/C",
    "<answer>A</answer><answer>C</answer>", "A as well as C", "I choose A and C.",
])  # fmt: skip
def test_several_letters_where_several_may_be_right(reply: str) -> None:
    assert parse_answer(reply, "multi", OPTIONS).places == (0, 2)


@pytest.mark.parametrize(
    "reply", ["All of the above", "All of the above.", "Answer: All options", "A, B, C, D"]
)
def test_all_of_the_above(reply: str) -> None:
    assert parse_answer(reply, "multi", OPTIONS).places == (0, 1, 2, 3)
    options = ("one", "All of the above", "A, B, C, D", "All options")
    assert len(parse_answer(reply, "multi", options).places or ()) in (1, 4)
    assert parse_answer("All of the above", "single", options).places == (1,)


@pytest.mark.parametrize(
    "reply", ["YES", "NO", "Answer: NO", "\\boxed{NO}", "[[YES]]", "CPR", "BAD", "DC"]
)
def test_words_in_capitals_are_no_lists_of_letters(reply: str) -> None:
    for kind in ("single", "multi"):
        for options in (OPTIONS, ("CPR", "DC", "NO", "YES", "BAD")):
            parsed = parse_answer(reply, cast("Kind", kind), options)
            named = tuple(place for place, text in enumerate(options) if text in reply)
            assert parsed.places == (named or None)


@pytest.mark.parametrize(("reply", "places"), [
    ('The format is "[[A]]" or "[[B]]". It is dark. [[G]]', (6,)),
    ('"[[X]]" [[D]]', (3,)),
    ('I end with "[[A]]" or "[[B]]".', None),
    ('End with "Answer: X", where X is the letter.\nAnswer: C', (2,)),
    ('End with "Answer: X", where X is the letter.', None),
    ('I was asked for "Answer: A" or "Answer: B".', None),
    ('{"answer": "X"} is the form. {"answer": "C"}', (2,)),
])  # fmt: skip
def test_an_echoed_format_is_no_answer(reply: str, places: tuple[int, ...] | None) -> None:
    options = tuple(f"the thing number {number}" for number in range(8))
    assert parse_answer(reply, "single", options).places == places


@pytest.mark.parametrize("reply", [
    "Either A or B is correct.", "Neither A nor B is correct.", "It is unclear whether A is correct.", "The answer is A?",
    "Is the answer A?", "If the answer is A, then the door would be red.", "Option A: a red door is wrong.",
    "A. a red door is incorrect.", "Answer: B-roll", "A. M. Turing wrote it.", "The answer is A, B, or C.",
    "The answer is either A or B.", "I think A or C.", "The answer could be A. Or B.", "A or B", "A/B", "Not B.", "B?",
    "B is not correct.", "(B) is incorrect", "The answer cannot be B.", "Definitely not B.", "I would rule out B.",
    "Please choose A, B, C, or D.", "At 5 A.M. he leaves.", "He got an A in maths.", "RunPlan B was used.",
    "Person A opens door B.", "In frame B the man smiles.", "Hepatitis B is the correct word.", "I see a man.",
    "A. a red door B. a blue door", "The best options are B. a blue door and C. a dog.", "Answer: A. Wait, no.",
    "(A) a red door, (B) a blue door", "Let's go through each option:\n\n(A) It is red.\n(B) It is not.",
    "The options are: (A) red (B) blue", "This is similar to option (A).", "So option (B) does not fit.", "As with option A, no.",
    "The closest options are:\n- C (common)\n- D (rare)",
])  # fmt: skip
def test_letters_that_are_no_answer(reply: str) -> None:
    assert parse_answer(reply, "single", OPTIONS).places is None


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
    assert parse_answer("No, I don't see any door.", "yesno", options).places == (1,)
    assert parse_answer("No there is none.", "yesno", options).places == (1,)


@pytest.mark.parametrize("reply", [
    "No video was provided.", "No idea.", "No answer can be given.", "Yes and no.", "Yes or no?", "Yes/No", "No one can tell",
    "No, I cannot tell.", "Impossible to tell",
])  # fmt: skip
def test_neither_yes_nor_no(reply: str) -> None:
    assert parse_answer(reply, "yesno", ("Yes", "No")).places is None


@pytest.mark.parametrize(
    "reply",
    ["Impossible to tell", "It is impossible to say.", "No idea.", "No video was provided."],
)
def test_who_cannot_tell_refuses(reply: str) -> None:
    assert parse_answer(reply, "single", OPTIONS).failure == "refusal"
    assert parse_answer(reply, "single", ("red", reply)).places == (1,)


# file -> replies that are read, of 1,730; those that are read otherwise than by the official
# parser, which takes the last letter it finds and, where it finds none, draws one.
REPLIES = {
    "standard10_options_direct": (1718, 143),
    "vision_cot": (1696, 6),
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


@pytest.mark.skipif(
    not SHARED.exists(), reason="the folder of real replies is not beside the repository"
)
def test_reasoning_that_lost_its_last_line_is_read_as_that_line_or_not_at_all() -> None:
    same = other = 0
    with gzip.open(SHARED / "data" / "responses" / "gpt-4o_vision_cot.jsonl.gz") as lines:
        for row in map(json.loads, islice(lines, 0, None, 3)):
            options = tuple(map(str, ast.literal_eval(row["options"])))
            reasoning, _, last = (row["response"] or "").rstrip().rpartition("\n")
            answer = parse_answer(last, "single", options).places
            read = parse_answer(reasoning, "single", options).places
            if "answer" in last.lower() and answer is not None and read is not None:
                same += read == answer
                other += read != answer
    # Most of the others contradict themselves, or name letters that are the text of another option.
    assert (same, other) == (198, 8)
