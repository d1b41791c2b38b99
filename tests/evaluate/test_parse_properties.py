"""What holds for every letter, every text and every order of options."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reelbench
from reelbench.data.items import LETTERS, Kind
from reelbench.evaluate.parse import parse_answer

PROMPTS = sorted((Path(reelbench.__file__).parent / "evaluate" / "prompts").glob("*/*.md"))
OPTIONS = ("a red door", "a blue door", "a dog", "a cat")
# Around the whole of what is said, and what it is said with.
AROUND = ("{}", "({})", "[{}]", "**{}**", "`{}`", '"{}"', "\u201c{}\u201d", "\u00ab{}\u00bb", "{}.", "{})", "- {}", "{}</s>", "\\text{{{}}}",
          "<think>A?</think>{}", "{}\n", "  {}", "<answer>{}</answer>", "\\boxed{{{}}}", "[[{}]]", '{{"answer": "{}"}}')  # fmt: skip
SAID = ("{}", "Answer: {}", "The answer is {}.", "Option {}", "It's {}.", "Final answer: {}", "Antwort: {}", "答案：{}",
        "Ответ: {}", "정답: {}", "उत्तर: {}", "La respuesta es {}.")  # fmt: skip
WORDS = st.sampled_from(
    [
        "the",
        "man",
        "walks",
        "slowly",
        "by",
        "quiet",
        "water",
        "while",
        "people",
        "look",
        "up",
        "and",
        "it",
        "rains",
    ]
)


@pytest.mark.parametrize("said", SAID)
def test_every_letter_in_every_wrapping(said: str) -> None:
    options = tuple(f"the thing number {number}" for number in range(11))
    for around in AROUND:
        for place in (0, 1, 8, 10):
            reply = said.format(around.format(LETTERS[place]).strip())
            assert parse_answer(reply, "single", options).places == (place,), reply


@given(st.lists(WORDS, min_size=1, max_size=30), st.sampled_from([" ", ". ", "\n", ", "]))
@settings(max_examples=60)
def test_what_names_no_option_is_no_answer(words: list[str], between: str) -> None:
    assert parse_answer(between.join(words).capitalize(), "single", OPTIONS).places is None


@given(
    st.permutations(range(4)),
    st.sampled_from(["I see {}.", "{}", "It is {}, not {}.", "Neither {} nor {}.", "{} or {}", "{} is shown. This is plain, unlike {}."]),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
)  # fmt: skip
@settings(max_examples=80)
def test_another_order_of_the_options_is_another_order_of_the_reading(
    order: list[int], sentence: str, named: tuple[int, int]
) -> None:
    reply = sentence.format(*(OPTIONS[place] for place in named))
    here = parse_answer(reply, "single", OPTIONS)
    there = parse_answer(reply, "single", tuple(OPTIONS[place] for place in order))
    assert there.failure == here.failure
    assert (there.places and {order[place] for place in there.places}) == (
        here.places and set(here.places)
    )


@pytest.mark.parametrize(
    "path",
    [path for path in PROMPTS if "open" not in path.name],
    ids=lambda path: path.parent.name + "/" + path.stem,
)
def test_our_own_prompts_before_an_answer_do_not_matter(path: Path) -> None:
    kind: Kind = "multi" if "multi" in path.stem else "yesno" if "yesno" in path.stem else "single"
    options = ("Yes", "No") if kind == "yesno" else OPTIONS
    listed = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, options, strict=False))
    slots = {
        "question": "What is behind the man?",
        "options": listed,
        "frames": "8",
        "frames_1": "1-4",
        "frames_2": "5-8",
    }
    prompt = path.read_text()
    for name, text in slots.items():
        prompt = prompt.replace("{{" + name + "}}", text)
    assert parse_answer(prompt, kind, options).places is None
    for said in (
        "B",
        "B.",
        "Answer: B",
        "**Answer:** B",
        "The answer is B.",
        f"B. {options[1]}",
        "\\boxed{B}",
        options[1],
    ):
        assert parse_answer(f"{prompt}\n\n{said}", kind, options).places == (1,), said
