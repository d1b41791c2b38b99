"""The last part of a reply decides: its final mark, behind analysis, tokens and reasoning."""

import pytest

from reelbench.data.items import LETTERS
from reelbench.evaluate.parse import complete_answer, parse_answer

THINGS = ("a red door", "a blue door", "a dog", "a cat")
CHINESE = ("红色的门", "蓝色的门", "狗", "猫")


def letter(reply: str, options: tuple[str, ...] = THINGS) -> str | None:
    places = parse_answer(reply, "single", options).places
    return None if places is None else "".join(LETTERS[place] for place in places)


@pytest.mark.parametrize("reply", [
    "【解析】选项A正确。\n【答案】C", "【解析】先看门。<eoe>\n【答案】: C <eoa>", "【答案】C\n【解析】A项错误，B项正确。", "【解析】选A。【答案】C【点睛】B项不对。",
    "分析如下。\n答案：C <eoa>", "[Answer] C", "[答案]C", "[정답] C",
])  # fmt: skip
def test_the_answer_s_heading_decides(reply: str) -> None:
    assert letter(reply, CHINESE) == "C"


@pytest.mark.parametrize("token", [
    "<eoa>", " <eoe>", "<|im_end|>", " [EOS]", "<｜end▁of▁sentence｜>", "<EOD>", "</s>", "<eoe>\n<eoa>", "<|eot_id|><|end_of_text|>",
])  # fmt: skip
def test_special_tokens_are_known_by_their_shape(token: str) -> None:
    assert letter(f"B{token}") == "B"
    assert letter(f"The door is blue.{token}\nAnswer: B{token}") == "B"
    assert complete_answer(f"Answer: B{token}", "single", THINGS).places == (1,)


@pytest.mark.parametrize(("reply", "answer"), [
    ("<think>It may be A. Let me see. <answer>C</answer>", "C"), ("<think>A? No.\n\nFinal answer: \\boxed{C}", "C"),
    ("<think>A? No. \\boxed{C}. I hope it is correct.", "C"), ("<think>It is no door.\n\nAnswer: C", "C"), ("<think>It is no door.\nThe answer is C.", "C"),
    ("<think>It might be <answer>C</answer>, or not? Wait", None), ("<think>Perhaps the answer is A", None), ("<think>\\boxed{A}? There is a dog, though, that runs in frame 3.", None),
    ("<|channel|>analysis<|message|>It is a dog.\n\n\\boxed{C}", "C"),
])  # fmt: skip
def test_a_final_mark_in_reasoning_that_is_never_closed(reply: str, answer: str | None) -> None:
    assert letter(reply) == answer


def test_a_cut_in_reasoning_leaves_a_whole_mark_at_its_end_alone() -> None:
    for reply, places in (
        ("<think>hm. <answer>B</answer>", (1,)),
        ("<think>hm.\n\nAnswer: B", None),
        ("<think>hm. <answer>B", None),
    ):
        assert complete_answer(reply, "single", THINGS).places == places


@pytest.mark.parametrize(("reply", "answer"), [
    ("Option B looks right at first. The animal has no door. So the answer is C.", "C"), ("选项B正确。\n但最后不是。故选：C。", "C"),
    ("A is seen first.\nVastaus: **C**", "C"), ("The door is red at first.\n\nAll things considered, C is the one that fits.", "C"),
    ("B. a blue door\n\nIf the clip were shorter, the answer would be C.", "B"), ("I first thought B, but it is C.", "C"),
    ("The door opens. So it is either B or C.", None), ("It may be A. I am unable to determine the answer.", None),
    ("所以答案应该是C选项。", "C"), ("答案为C选项", "C"), ("So the best option is the following: a dog.", "C"), ("Let me look. Preliminary answer: A. There is fur. Final answer: C", "C"),
    ("(a) First we look at the frames. The red thing moves. Then", None), ("(a) First, there is a dog. (b) Then", None), ("a) The man walks.\nb) The man runs", None),
])  # fmt: skip
def test_the_last_sentence_decides(reply: str, answer: str | None) -> None:
    assert letter(reply) == answer


@pytest.mark.parametrize(("reply", "answer"), [
    ("∠BOC = 20° + 50° = 70°. However, this option is not available in the choices.", None), ("The angle is 20°. There might be a mistake in the options provided.", None),
    ("Answer: A. There might be a mistake in the options provided.", None), ("计算得20°，但题目选项有误。", None), ("Der Winkel ist 20°. Keine der Optionen ist richtig.", None),
    ("None of the given options match. The closest is B.", "B"), ("Keine der Optionen passt genau; am nächsten liegt C.", "C"), ("Answer: B. None of the other options fits.", "B"),
])  # fmt: skip
def test_a_veto_leaves_no_answer(reply: str, answer: str | None) -> None:
    assert letter(reply, ("20°", "30°", "40°", "50°")) == answer


def test_loops_and_cut_sentences_state_no_option() -> None:
    assert letter("It shows a dog and then " * 40) is None
    assert letter("The scene is dark. It shows a dog. The man then") is None


@pytest.mark.parametrize(("reply", "places"), [
    ("A is correct. B is wrong. C is correct. D is wrong.", (0, 2)), ("The clip shows a lot.\n\nA and C are correct; B and D are not.", (0, 2)),
    ("Several can be right here. a red door, a dog", (0, 2)), ("Several can be right here.\n\na red door and a dog", (0, 2)),
])  # fmt: skip
def test_what_is_denied_at_the_end_is_no_contradiction(reply: str, places: tuple[int, ...]) -> None:
    assert parse_answer(reply, "multi", THINGS).places == places
    assert letter("Option A is correct. Options B, C and D are wrong.") == "A"
