"""What is taken off a reply before it is read."""

import pytest

from reelbench.client.reply_text import plain, without_markup, without_reasoning, without_tokens


@pytest.mark.parametrize(("reply", "rest"), [
    ("<think>a</think>B", "B"),
    ("a</think>B", "B"),
    ("B<think>a</think>", "B"),
    ("<think>a<think>b</think>c</think>B", "B"),
    ("<think>a</think>A</think>B", "B"),
    ("<think>a", ""),
    ("<think>" * 10_000, ""),
    ("B <think>a", "B"),
    ("\u25c1think\u25b7a\u25c1/think\u25b7B", "B"),
    ("[THINK]a[/THINK]B", "B"),
    ("<|channel|>analysis<|message|>A", ""),
    ("<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>B", "B"),
    ("analysisWe see it", ""),
    ("Analysis: it is B", "Analysis: it is B"),
])  # fmt: skip
def test_reasoning_is_left_out(reply: str, rest: str) -> None:
    assert without_reasoning(reply) == rest


@pytest.mark.parametrize(("text", "bare"), [
    ("\\text{\\textbf{B}}", "B"),
    ("\\text{a {b} c}", "a {b} c"),
    ("\\text{B", "\\text{B"),
    ("\\text{" * 3 + "B" + "}" * 2, "\\text{B"),
    ("**B** and `C`", "B and C"),
    ("> 5", "> 5"),
    ("> B", "B"),
    ("\u201cB\u201d", '"B"'),
])  # fmt: skip
def test_dress_is_taken_off(text: str, bare: str) -> None:
    assert without_markup(text) == bare


def test_signs_that_make_a_difference_stay() -> None:
    assert plain("< 5") != plain("> 5")
    assert plain("-5") != plain("5")


def test_tokens_are_left_out() -> None:
    assert without_tokens("B</s>") == "B"
    assert without_tokens("<|begin_of_box|>B<|end_of_box|><|user|>") == "\\boxed{B}"
