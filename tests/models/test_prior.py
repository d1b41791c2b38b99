"""The blind prior finds what wording gives away, and nothing where nothing is given away."""

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

from reelbench.data.items import LETTERS, Kind
from reelbench.models.base import Request, Response
from reelbench.models.baselines import prior
from reelbench.models.card import Card

CARD = Card(name="baseline:blind", backend="baseline", model="blind")
LETTER = "abcdefghijklmnopqrstuvwxyz"
Item = tuple[str, list[str], int]


def reply(question: str, options: Sequence[str], kind: Kind = "single") -> Response:
    request = Request("k", (), kind, question, tuple(options))
    return asyncio.run(prior.BlindPrior(CARD).ask(request))


def chosen(question: str, options: Sequence[str], kind: Kind = "single") -> list[int]:
    response = reply(question, options, kind)
    assert response.status == "ok"
    assert response.text is not None
    return [LETTERS.index(letter) for letter in response.text.split(", ")]


def vocabulary(rng: random.Random, count: int = 400, size: int = 6) -> list[str]:
    return ["".join(rng.choices(LETTER, k=size)) for _ in range(count)]


def accuracy(make: Callable[[random.Random, list[str]], Item], count: int) -> float:
    """Make five-option items with a key at a random place, and score the prior on them."""
    rng = random.Random(7)
    words = vocabulary(rng)
    right = 0
    for _ in range(count):
        question, options, key = make(rng, words)
        order = rng.sample(range(len(options)), len(options))
        right += order[chosen(question, [options[at] for at in order])[0]] == key
    return right / count


def unrelated(rng: random.Random, words: list[str]) -> Item:
    return " ".join(rng.sample(words, 8)), [" ".join(rng.sample(words, 4)) for _ in range(5)], 0


def perturbed(rng: random.Random, words: list[str]) -> Item:
    """Each distractor is the key with two words changed: only the key is near all the others."""
    key = rng.sample(words, 6)
    options = [" ".join(key)]
    for _ in range(4):
        at = set(rng.sample(range(6), 2))
        options.append(" ".join(rng.choice(words) if n in at else w for n, w in enumerate(key)))
    return " ".join(rng.sample(words, 8)), options, 0


def echoing(rng: random.Random, words: list[str]) -> Item:
    """The key takes up one word of the question in another form."""
    question, options, _ = unrelated(rng, words)
    key = [rng.choice(question.split()) + "ing", *options[0].split()[1:]]
    return question, [" ".join(key), *options[1:]], 0


def wordy(rng: random.Random, words: list[str]) -> Item:
    question, options, _ = unrelated(rng, words)
    return question, [" ".join(rng.sample(words, 8)), *options[1:]], 0


def surrounded(rng: random.Random, words: list[str]) -> Item:
    """Wrong numbers lie on both sides of the right one, with as many digits."""
    key = rng.randrange(300, 700)
    gaps = rng.sample(range(1, 50), 4)
    numbers = [key, key - gaps[0], key - 50 - gaps[1], key + gaps[2], key + 50 + gaps[3]]
    return " ".join(rng.sample(words, 8)), [f"{number} m" for number in numbers], 0


@pytest.mark.parametrize("leak", [perturbed, echoing, wordy, surrounded])
def test_finds_a_planted_leak(leak: Callable[[random.Random, list[str]], Item]) -> None:
    assert accuracy(leak, 200) > 0.7  # chance is 0.2


def test_is_at_chance_where_nothing_leaks() -> None:
    assert 0.15 < accuracy(unrelated, 1000) < 0.25  # four standard errors


def test_all_of_the_above_and_none_of_the_above() -> None:
    options = ["a red car", "a blue bike", "All of the above", "a green bus"]
    assert chosen("What passes?", options) == [2]
    options[2] = "None of the above"
    assert chosen("What passes?", options) != [2]
    assert prior.above("nine of these") == prior.above("all the people") == 0


@pytest.mark.parametrize("make", [unrelated, perturbed, echoing, surrounded])
def test_the_order_of_the_options_does_not_matter(
    make: Callable[[random.Random, list[str]], Item],
) -> None:
    rng = random.Random(3)
    words = vocabulary(rng, 30, 3)  # few and short, so that options overlap by chance
    compared = 0
    for _ in range(100):
        question, options, _ = make(rng, words)
        scores = prior.blind_scores(question, options)
        order = rng.sample(range(len(options)), len(options))
        moved = [options[at] for at in order]
        assert prior.blind_scores(question, moved) == [scores[at] for at in order]
        if scores.count(max(scores)) == 1:
            compared += 1
            assert moved[chosen(question, moved)[0]] == options[chosen(question, options)[0]]
    assert compared > 50


def test_the_hash_seed_does_not_matter() -> None:
    code = (
        "import random; from reelbench.models.baselines import prior; r = random.Random(1);"
        "t = lambda n: ' '.join(r.choices('alpha beta gamma delta playing plays'.split(), k=n));"
        "print([prior.blind_scores(t(9), [t(4) for _ in range(6)]) for _ in range(50)])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(printed) == 1


ODD = {
    "empty": ("", "", ""),
    "identical": ("same", "same", "same"),
    "one empty": ("", "word"),
    "signs only": ("→", "…", "😀👩‍👩‍👧", "²"),
    "lone surrogate": ("\ud800", "a"),
    "nul": ("\0", "\x1b[0m"),
    "right to left": ("הכלב רץ", "القط نائم", "٣٤", "٥٦"),
    "marks": ("कुत्ता दौड़ता है", "e\u0301", "é", "\u0301\u0301"),
    "no spaces": ("男人在跑步", "女人在唱歌", "犬が走る", "개가 뛴다"),
    "not quite numbers": ("1,,,2", "-0", "1.", "½3", "9" * 5000),
    "folding": ("ß", "SS", "İ", "ﬁ", "Ⅷ"),
    "26": tuple(LETTERS),
}


@pytest.mark.parametrize("kind", ["single", "yesno", "multi"])
@pytest.mark.parametrize("options", ODD.values(), ids=ODD)
@pytest.mark.parametrize("question", ["", "男人在做什么？", "What is \ud800 it?"])
def test_odd_text_is_answered(question: str, options: tuple[str, ...], kind: Kind) -> None:
    places = chosen(question, options, kind)
    assert places == sorted(set(places))
    assert all(0 <= place < len(options) for place in places)
    assert kind == "multi" or len(places) == 1


def test_of_equals_the_first() -> None:
    kinds: tuple[Kind, ...] = ("single", "yesno", "multi")
    for kind in kinds:
        assert chosen("What?", ["same", "same", "same"], kind) == [0]


def test_signs_of_a_script_without_spaces_are_compared() -> None:
    assert chosen("狗在哪里跑？", ["猫睡着了", "狗跑回家", "人唱着歌"]) == [1]


def test_multi_takes_all_that_stand_out() -> None:
    options = ["the dog", "zqx wvu", "the cat", "jkp yyo", "wuv qqz"]
    assert chosen("Do the dog and the cat run?", options, "multi") == [0, 2]


def test_multi_takes_at_least_one() -> None:
    rng = random.Random(5)
    words = vocabulary(rng)
    for count in range(2, 27):
        options = [" ".join(rng.sample(words, rng.randrange(5))) for _ in range(count)]
        assert 1 <= len(chosen(" ".join(words[:9]), options, "multi")) <= count


def test_an_open_question_is_refused() -> None:
    response = reply("What happens?", (), "open")
    assert response.status == "refused"
    assert response.text is None
