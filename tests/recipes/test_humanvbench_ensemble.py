"""Several models of known, different competence: how often the ensemble's key is right."""

import json
import math
import random
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, real_embedder
from servers import Reply, completion
from support import make_item
from videos import make_video

from reelbench.data.items import Item, freeze
from reelbench.make.parts.answer_and_rank import answer_and_rank
from reelbench.make.parts.embed import LOADERS
from reelbench.make.parts.only import only
from reelbench.make.parts.perturb import perturb
from reelbench.recipes.humanvbench.drafts import TASK
from reelbench.recipes.humanvbench.tasks import DESCRIPTIVE, ERRORS

ITEMS = 30
FIRST = 0.4  # how often the preliminary answer is right
ANSWERS = {"strong": 0.8, "mid": 0.5, "weak": 0.2}  # how often each model's answer is right
VOTES = {"strong": 0.9, "mid": 0.5, "weak": 0.3}  # how often each prefers the right one
THINGS = ("kettle", "violin", "ladder", "candle", "window", "basket", "hammer", "feather")


def truth(number: int) -> str:
    return f"The person looks at the {THINGS[number % 8]} and then at picture {number}."


def wrong(name: str, number: int) -> str:
    return f"Somebody called {name} is asleep all day in room {number}."


def chance(*what: object) -> float:
    return random.Random(repr(what)).random()


def actors(body: Any, _: int) -> Reply:
    """Answer and rank by chance, each with its own competence; the judge knows the truth."""
    name, text = body["model"], body["messages"][0]["content"][-1]["text"]
    number = int(re.search(r"What happens (\d+)\?", text)[1])  # type: ignore[index]
    if text.startswith("Answer this question"):
        right = chance("answer", name, number) < ANSWERS[name]
        return completion(json.dumps({"answer": truth(number) if right else wrong(name, number)}))
    if "Score each answer" in text:
        listed = re.findall(r"^\d+\. (.*)$", text, re.M)
        return completion(json.dumps({"scores": ballot(name, number, listed)}))
    if "Suppose the right answer is true" in text:
        other = text.split("Other answer: ")[1].split("\n")[0]
        return completion(json.dumps({"distinct": other != truth(number)}))
    old = text.split("Text: ")[1].split("\n")[0]
    now = f"{chance(text):.6f}"  # another text where the other options are others
    new = old.replace("and then", f"and, {now} later,").replace("asleep", f"awake {now}")
    return completion(json.dumps({"text": new, "error_type": text.split("\n- ")[1].split(":")[0]}))


def ballot(name: str, number: int, listed: list[str]) -> list[int]:
    """Ten for one candidate, the right one as often as the model is competent."""
    others = [text for text in listed if text != truth(number)]
    draw = chance("vote", name, number)
    if truth(number) in listed and draw < VOTES[name]:
        best = truth(number)
    else:
        best = others[int(chance("other", name, number) * len(others))]
    return [10 if text == best else 0 for text in listed]


def predicted(weights: dict[str, float]) -> float:
    """How often the key is right, by going through all that can happen."""
    names, total = list(ANSWERS), 0.0
    for right in product([True, False], repeat=4):  # the three models', and the first answer
        shares = [*ANSWERS.values(), FIRST]
        likely = math.prod(
            p if is_right else 1 - p for p, is_right in zip(shares, right, strict=True)
        )
        if not any(right):
            continue
        place = right.index(True)  # where the truth stands among the candidates
        count = right.count(False) + 1
        for votes in product(range(count), repeat=3):
            way = likely
            sums = [0.0] * count
            for name, vote in zip(names, votes, strict=True):
                is_truth = vote == place
                way *= VOTES[name] if is_truth else (1 - VOTES[name]) / max(1, count - 1)
                sums[vote] += weights.get(name, 1.0)
            best = [each for each, score in enumerate(sums) if score == max(sums)]
            total += way * (place in best) / len(best)
        # Where all candidates are right there is one, which is too few to ask about.
        total -= likely if count == 1 else 0
    return total


def questions() -> list[Item]:
    return [
        make_item(
            number,
            kind="open",
            options=(),
            answer=(),
            question=f"What happens {number}?",
            reference=truth(number) if chance("first", number) < FIRST else wrong("first", number),
            tags=freeze({TASK: DESCRIPTIVE[number % len(DESCRIPTIVE)]}),
        )
        for number in range(1, ITEMS + 1)
    ]


def made(folder: Path, weights: dict[str, float]) -> list[Item]:
    (folder / "media").mkdir(parents=True)
    for number in range(1, ITEMS + 1):
        path = folder / "media" / f"{number}.mp4"
        if number == 1:
            make_video(path, seconds=0.5)
        else:
            path.hardlink_to(folder / "media" / "1.mp4")
    blind = [{"name": name, "sees": False} for name in ANSWERS]
    roles = {"answerer": blind, "ranker": blind, "distractor": ["wit"], "judge": ["fair"]}
    stages = (
        only(answer_and_rank(weights), TASK, DESCRIPTIVE),
        only(perturb(ERRORS, judge="judge", balance_lengths=False), TASK, DESCRIPTIVE),
    )
    passed, _ = Studio(folder, actors, roles).take(questions(), *stages)
    return list(passed[-1].out)


def test_the_key_is_right_as_often_as_the_weights_predict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LOADERS, "use", real_embedder)
    weights = {"strong": 2.0}
    items = made(tmp_path / "made", weights)
    expected = predicted(weights)
    right = sum(item.correct == (truth(int(item.id.split("-")[1])),) for item in items)
    spread = math.sqrt(ITEMS * expected * (1 - expected))
    assert abs(right - ITEMS * expected) <= 2.58 * spread + 1
    # What weak models answered wrongly is what distracts from the right key.
    of_weak = [
        any("called weak" in option for option in item.options if option not in item.correct)
        for item in items
        if "called weak" in str(item.provenance["answer-and-rank"]["candidates"])
    ]
    assert sum(of_weak) / len(of_weak) > 0.8
    assert {len(item.options) for item in items} == {4}
    assert len(items) >= ITEMS - 1  # a question to which all answers are right asks nothing


def test_the_strongest_counting_twice_is_predicted_to_help() -> None:
    assert predicted({"strong": 2.0}) > predicted({}) + 0.05
