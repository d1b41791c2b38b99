"""A reply that loops until its limit is read in time linear in its length.

No time is asserted. Each loop takes a few hundredths of a second; if one expression went back over
what it has read, thousands of them would not end within the limit that every test has.
"""

import pytest

from reelbench.client.reply_text import plain, without_markup, without_reasoning
from reelbench.evaluate.parse import complete_answer, parse_answer
from reelbench.evaluate.parse.vocabulary import FIELDS, languages

OPTIONS = ("a red door", "a blue door", "a dog", "I do not know")
MARKS = (
    "is option ", "[[", "\n", "<think>", "</think>", "\\text{", "\\boxed{", "{", "}", "[", "(", '"', "'", "`", "**", "* ", "# ",
    "> ", "<answer>", "</answer>", "<|", "<|x|>", "<|channel|>", "A", "A ", "A, ", "A. ", "(A) ", "A and ", "A or ", "1. ",
    "- ", "Answer: ", "Answer: A\n", "The answer is ", "so (", "=> ", '{"answer": ', '{"answer": "A"} ', "[{", "```", "$",
    "a red door ", "a red door, ", "not a red door. ", "A. a red door\n", "B. a blue door. ", "... ", "? ", " ", "\t",
    "\r\n", "\u3002", "Option 1 ", "Option A\n", "Wait, ", "wait no ", "\\(", "__", "<s>", "\u25c1think\u25b7", "[THINK]", "x",
    "0", "1.5 ", "\u0301", "\u200b", "B is correct ", "B is the ", "A, B, C is ", "caption B matches ", "the answer to ",
    "answer in the ", '"Answer: X" ', "yes ", "no, ", "because ", "the answer is not ", "a red door or ",
)  # fmt: skip
LOOPS = [
    *MARKS,
    *(first + second for first in MARKS[:12] for second in ("a red door", "answer is ")),
]


@pytest.mark.parametrize("kind", ["single", "multi"])
def test_every_mark_over_and_over(kind: str) -> None:
    for mark in LOOPS:
        reply = (mark * 24_576)[:24_576]
        parse_answer(reply, "multi" if kind == "multi" else "single", OPTIONS)


@pytest.mark.parametrize("mark", [" ", "\t", "\n", "\r\n", " \n", "\u00a0", "\u3000"])
def test_white_space_between_words_without_end(mark: str) -> None:
    for words in ("Answer:", "The answer is", "assistant:", "x"):
        parse_answer(f"{words}{mark * 12_000}x", "single", OPTIONS)


def test_every_word_over_and_over() -> None:
    for language in languages().values():
        vocabulary = [" ".join(words) for words in language.values()]
        parse_answer((" ".join(vocabulary) * 32)[:32_768], "single", OPTIONS)
    for field in FIELDS:
        word = languages()["en"].get(field, ["x"])[0]
        parse_answer((f"{word} " * 16_384)[:16_384], "single", OPTIONS)
        parse_answer((f"{word}\n" * 16_384)[:16_384], "yesno", ("Yes", "No"))


def test_long_loops_and_what_is_cut_off() -> None:
    for mark in (
        "is option ",
        "[[",
        "\n",
        "<think>",
        "\\text{",
        "{",
        "Answer: ",
        "so (",
        "a red door or ",
    ):
        reply = (mark * 262_144)[:262_144]
        parse_answer(reply, "single", OPTIONS)
        complete_answer(reply, "single", OPTIONS)
        plain(without_markup(without_reasoning(reply)))


def test_an_answer_after_a_long_loop_is_read() -> None:
    for mark in ("The door opens. ", "is it an option\n", "hm, "):
        assert parse_answer(mark * 4000 + "\nAnswer: B", "single", OPTIONS).places == (1,)
