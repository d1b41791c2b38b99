"""Items whose keys are given away, and models that rewrite and answer them."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from actors import OPTION, draw, pick, rewritten, said_to, text_of
from msgspec import structs
from servers import Reply, completion
from support import make_item

from reelbench.data.items import LETTERS, Item, Media, freeze

VIDEOS = 24


def an_item(number: int, key: str, wrong: Sequence[str], of: str = "q") -> Item:
    """An item about one of some videos, its key in a place of its own."""
    options = [*wrong]
    place = int(draw("place", of, number) * (len(wrong) + 1))
    options.insert(place, key)
    return make_item(
        number,
        id=f"{of}-{number:03d}",
        question=f"Which of these things is it that {of}{number} leads to in the end?",
        options=tuple(options),
        answer=(LETTERS[place],),
        media=(Media(f"media/{number % VIDEOS}.mp4"),),
        context=freeze({"text": f"All that is known of {of}{number}."}),
    )


def long_keys(
    count: int, share: float, of: str = "q", best: Callable[..., int] = max
) -> list[Item]:
    """Items whose key is the longest option in this share, and any option in the others."""
    items = []
    for number in range(count):
        lengths = sorted(
            range(28, 48), key=lambda length, number=number: draw("l", of, number, length)
        )[:5]
        if draw("biased", of, number) < share:
            lengths.remove(chosen := best(lengths))
            lengths.insert(0, chosen)
        key, *wrong = (text_of(length, of, number, length) for length in lengths)
        items.append(an_item(number, key, wrong, of))
    return items


def middle_numbers(count: int, share: float, of: str = "n") -> list[Item]:
    """Items whose key is the middle number in this share, and any number in the others."""
    items = []
    for number in range(count):
        start, step = 20 + int(60 * draw("s", number)), 2 + int(5 * draw("t", number))
        numbers = [start + step * each for each in range(5)]
        rank = 2 if draw("biased", of, number) < share else int(5 * draw("r", number))
        key = numbers.pop(rank)
        items.append(an_item(number, f"{key} people", [f"{n} people" for n in numbers], of))
    return items


def worded_keys(count: int, share: float, of: str = "w") -> list[Item]:
    """Items whose key says "slowly" in this share, and whose wrong options say "abroad" then."""
    items = []
    for number in range(count):
        texts = [text_of(34, of, number, each) for each in range(5)]
        if draw("biased", of, number) < share:
            texts = [f"{texts[0]} slowly", *(f"{each} abroad" for each in texts[1:])]
        else:
            texts = [f"{each} intime" for each in texts]
        items.append(an_item(number, texts[0], texts[1:], of))
    return items


def hedged_keys(count: int, share: float, of: str = "h") -> list[Item]:
    """Items whose key is hedged in this share, and whose wrong options are absolute then."""
    hedges, absolutes = ("mostly", "partly"), ("always", "solely")
    items = []
    for number in range(count):
        biased, texts = draw("biased", of, number) < share, []
        for each in range(5):
            words = (hedges if each == 0 else absolutes) if biased else hedges + absolutes
            text = text_of(30 + int(6 * draw("len", of, number, each)), of, number, each)
            texts.append(f"{text} {pick(words, 'a', of, number, each)}")
        items.append(an_item(number, texts[0], texts[1:], of))
    return items


def keys_first(count: int, share: float, of: str = "p") -> list[Item]:
    """Items whose key is the first option in this share."""
    items = []
    for number in range(count):
        key, *wrong = (text_of(34, of, number, each) for each in range(5))
        options = [key, *wrong]
        place = int(draw("place", of, number) * 5) if draw("biased", of, number) >= share else 0
        options[0], options[place] = options[place], options[0]
        item = an_item(number, key, wrong, of)
        items.append(structs.replace(item, options=tuple(options), answer=(LETTERS[place],)))
    return items


@dataclass
class Rewriter:
    """Plays who rewrites options as asked, and who answers before and afterwards.

    Of the items in ``known_anew``, the key is known blind once the options are new; in
    ``lost_anew``, the context no longer bears it out. Who is ``stubborn`` repeats what is there.
    """

    items: Sequence[Item]
    known_anew: frozenset[str] = frozenset()
    lost_anew: frozenset[str] = frozenset()
    stubborn: bool = False
    asked: Counter[str] = field(default_factory=Counter)

    def __call__(self, body: dict[str, Any], number: int) -> Reply:
        prompt, model = said_to(body), body["model"]
        self.asked[model] += 1
        item = next(item for item in self.items if item.question in prompt)
        if model == "writer":
            found = OPTION.findall(prompt)
            new = [{"text": text} for text, _, _ in found] if self.stubborn else rewritten(prompt)
            return completion(json.dumps({"distractors": new}))
        options = re.findall(r"^([A-Z])\. (.+)$", prompt, re.M)
        anew = {text for _, text in options} != set(item.options)
        right = model == "veracity"
        if anew and item.id in (self.lost_anew if right else self.known_anew):
            right = not right
        letters = [letter for letter, text in options if (text in item.correct) == right]
        return completion(pick(letters, prompt))
