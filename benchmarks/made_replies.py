"""Replies of many forms with their options, to compare parsers where people's replies do not go."""

from random import Random

from reelbench.data.items import LETTERS

_OPTIONS = (
    "a red door", "A blue door.", "the dog barks at the man", "dog",
    "Two people walk along the river", "1,000", "10-20", "1-2", "Yes", "No", "None of the above",
    "B", "0.5 s", "F", "İstanbul", "straße", "He opens the window, then leaves",
    "both (A) and (B)", "左转", "It cannot be said from the video",
)  # fmt: skip
_FORMS = (
    "{x}", "{x}.", "({x})", "{x})", "{x}:", "[{x}]", "**{x}**", "**{x}.**", "{x}. {t}",
    "({x}) {t}", "{x}: {t}", "{x}.\n{t}", "{x}.\n\n{t}\n{y}", "\\boxed{{{x}}}",
    "<answer>{x}</answer>", "'{x}'", "\"{x}\"", "`{x}`", "{x} and {y}", "{x}/{y}", "{x}, {y}",
    "{x} {y}", "option {x}", "Option {x}", "Answer: {x}", "Answer:{x}", "answer: {x}.",
    "ANSWER : **({x}", "Final answer: {x}", "{t}", "{t}.", "The answer is {x}.",
    "the answer is {x}", "The answer is ({x}) {t}.", "The correct answer is **{x}**",
    "The best answer is Option {x}", "The best answer is option {x}.", "The best answer is {x}",
    "The best option is {x}", "Best answer: {x}", "Best option: {x}", "The answer: {x}",
    "answer is\n {x}", "The answer is clearly {t}", "My answer is {t}, not {y}",
    "I choose {x} because {y} is wrong", "I pick {t}", "It is {t}", "It is {t}.",
    "One sees {t} and later {t}", "The option is {x}", "Based on the video, {x}",
    "Based upon it: {t}", "A man opens the door.", "I'm sorry, I can't help.", "Because {t}",
    "答案是{x}", "答案为 {x}。", "选{x}", "정답은 {x}입니다", "답: {x}", "答えは{x}です",
    "옵션 {x}", "The DNA test shows {x}", "NASA says so", "{x} is wrong, {y} is right", "not {x}",
    "Z", "E", "", "...", "Cannot determine the answer", "Failed to obtain answer via API.", "{s}",
    "Well,{s}", "it is ({s})", "1,000 wells,{s}", "{s}. {t}", "{s}) {t}", "the anſwer is {s}",
    "ß {t}", "İ answer is {x} {y}", "I can't process this file. {x}",
    "I'm sorry, but without the image provided, {x}", "{l}", "{l} {x}", "Options: A B C D {x}",
    "(A) no. (B) no. ({x}) yes.", "x = {{{x}; {y}}}", "a-{s}-b", "\t{x}\n",
    "Let's see.\nA. no\nB. yes\n{x}", "{x}'s", "Z {t}", "e.g. {s}.", "... {x}", "', {x} ,'",
    "{u}", "{u}.",
)  # fmt: skip
_JOINTS = ("", " ", " ", "\n", "\n\n", ". ", ", ", ": ", " so ", "Answer: ", "The answer is ", "；")


def made_replies(count: int, seed: int) -> list[tuple[str, tuple[str, ...]]]:
    """Return replies of one to four parts, each with two to ten options."""
    draw = Random(seed)
    return [_made(draw) for _ in range(count)]


def _made(draw: Random) -> tuple[str, tuple[str, ...]]:
    options = tuple(draw.sample(_OPTIONS, draw.choice((2, 3, 4, 4, 4, 5, 6, 10))))
    parts = [_part(draw, options)]
    for _ in range(draw.choice((0, 0, 1, 1, 2, 3))):
        parts += [draw.choice(_JOINTS), _part(draw, options)]
    return "".join(parts), options


def _part(draw: Random, options: tuple[str, ...]) -> str:
    letters = LETTERS[: draw.choice((len(options), len(options), 10))]
    text = draw.choice(options)
    return draw.choice(_FORMS).format(
        x=draw.choice(letters),
        y=draw.choice(letters),
        s=draw.choice(letters).lower(),
        t=text,
        u=text.upper(),
        l=text[1:-1] + " " + text[:-1],
    )
