"""Read an exact question as a person would: is its key right by what its videos show?

The truth is read from the words of the question and of its key, and from what was measured: none of
the recipe's own rules is used for it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from reelbench.data.items import Item
from reelbench.media.measure.quality import CORNERS, DAMAGES, all_qualities, part_of
from reelbench.recipes.qbench_exact.plan import WORDS


@dataclass(frozen=True)
class Seen:
    """What a video shows: its qualities, and where and when it is damaged."""

    after: Mapping[str, float]
    extent: float = 0.0
    corner: str | None = None
    begin: float = 0.0  # share of the video


def strength(video: Seen, damage: str) -> float:
    """How much of a damage is seen in a video."""
    facts = DAMAGES[damage]
    return facts.worse * (video.after[facts.quality] - facts.usual) / facts.full


def named(text: str, side: str) -> str:
    return next(name for name, words in WORDS.items() if words[side] == text)


def is_said(text: str, bad: str, good: str, item: Item) -> tuple[str, bool]:
    """The damage that words are about, and whether they say that it is there, or more of it."""
    found = [name for name, words in WORDS.items() if text in (words[bad], words[good])]
    assert found, f"no word for {text}"
    own = str(item.tags["distortion"])
    # "Better exposed" is said of two: what is meant is what is wrong with these.
    name = own if own in found else found[0]
    return name, text == WORDS[name][bad]


def holds(item: Item, videos: Sequence[Seen]) -> float:
    """By how much the key is right; below 0 where another would be."""
    question = item.question
    key = item.correct[0] if item.answer else item.reference or ""
    sign = {"Yes": 1, "No": -1}.get(key, 1)
    if question.startswith(
        ("What is the most apparent distortion in this video?", "Which distort")
    ):
        own = named(key.lower(), "noun")
        others = [named(option.lower(), "noun") for option in item.options if option != key]
        return min(strength(v, own) - max(strength(v, o) for o in others) for v in videos)
    if found := re.match(r"How strong is the (.+) in this video", question):
        level = max(0.0, strength(videos[0], named(found[1], "noun")))
        if key == "It is slight":
            return min(level - 0.35, 0.65 - level)
        # Between the most of none and the least of slight nothing is said.
        return level - 0.65 if key == "It is severe" else (0.35 - level) / 2
    if re.match(r"In which quarter of this video does the (.+) begin", question):
        begin = videos[0].begin * 4
        quarter = ["first", "second", "third", "fourth"].index(key.split()[1])
        return min(begin - quarter, quarter + 1 - begin)
    if found := re.match(r"One part of the picture suffers from (.+)\. (.+)", question):
        damaged = videos[0].corner
        if found[2] == "Which one?":
            return 1.0 if key == f"The {damaged}" else -1.0
        corner = re.search(r"the (\w+ \w+) part", found[2])
        assert corner is not None
        there = (corner[1] == damaged) != ("free" in found[2])
        return sign * (1.0 if there else -1.0)
    if found := re.match(r"Is this video (.+)\?", question):
        damage, bad = is_said(found[1], "is", "is_not", item)
        return sign * (1 if bad else -1) * (strength(videos[0], damage) - 0.35)
    if found := re.match(r"Are both videos (.+)\?", question):
        levels = [strength(v, named(found[1], "is")) for v in videos]
        return sign * (min(levels) - 0.35)
    if found := re.match(r"Is at least one of the two videos (.+)\?", question):
        levels = [strength(v, named(found[1], "is_not")) for v in videos]
        return sign * (0.35 - min(levels))
    return pair_holds(item, videos, key, sign)


def pair_holds(item: Item, videos: Sequence[Seen], key: str, sign: int) -> float:
    question = item.question
    if found := re.match(r"How does the (.+) in the second video compare", question):
        first, second = (strength(v, named(found[1], "noun")) for v in videos)
        much, way = ("much" in key), (1 if "stronger" in key else -1)
        apart = way * (second - first)
        return apart - 0.55 if much else min(apart, 0.55 - apart)
    if found := re.match(r"Which of the two videos is (.+)\?", question):
        if "quality" not in found[1]:
            chosen = 0 if key == "The first video" else 1
            damage, bad = is_said(found[1], "more", "less", item)
        else:
            chosen = 0 if key.startswith("The first video is of better") else 1
            damage, bad = named(key.split("suffers from ")[1].rstrip("."), "noun"), False
            assert WORDS[damage]["more"] in key
        levels = [strength(v, damage) for v in videos]
        return (1 if bad else -1) * (levels[chosen] - levels[1 - chosen])
    if found := re.match(r"Is the first video (.+) than the second\?", question):
        damage, bad = is_said(found[1], "more", "less", item)
        first, second = (strength(v, damage) for v in videos)
        return sign * (1 if bad else -1) * (first - second)
    assert question.startswith("What is the most apparent distortion in this video, and when")
    (video,) = videos
    own = str(item.tags["distortion"])
    assert WORDS[own]["noun"] in key
    assert ("second half" in key) == bool(video.begin)
    return strength(video, own) - max(strength(video, o) for o in DAMAGES if o != own)


QUARTERS = ("first", "second", "third", "fourth")


def layers_hold(item: Item, images: Sequence[np.ndarray]) -> float:
    """By how much the key is right where a video has several damages; below 0 where it is not."""
    question, key = item.question, item.correct[0]
    if question.startswith("Two distortions are seen throughout this video"):
        levels = {
            option: min(
                strength(Seen(all_qualities(images)), named(noun, "noun"))
                for noun in option.lower().split(" and ")
            )
            for option in item.options
        }
        return stands_out(levels, key, above=True)
    if found := re.search(r"Which of them comes (first|last)\?", question):
        middles = {}
        for option in item.options:
            there = np.array(course(images, named(option.lower(), "noun"))) > 0.275
            assert there.any(), option
            middles[option] = float(np.flatnonzero(there).mean()) / len(images)
        (other,) = set(item.options) - {key}
        return (middles[other] - middles[key]) * (1 if found[1] == "first" else -1)
    if found := re.match(r"The (.+) in this video comes and goes", question):
        there = [level > 0.275 for level in (0, *course(images, named(found[1], "noun")))]
        count = sum(later and not before for before, later in pairwise(there))
        assert not there[1]
        assert not there[-1], "it does not go"
        return 1.0 if ("Once", "Twice", "Three times", "Four times")[count - 1] == key else -1.0
    if found := re.search(r"suffers from (.+)\. In which quarter .* (stronger|weaker)", question):
        levels = course(images, named(found[1], "noun"))
        size = len(images) // 4
        means = {q: float(np.mean(levels[n * size :][:size])) for n, q in enumerate(QUARTERS)}
        return stands_out(means, key.split()[1], found[2] == "stronger")
    if found := re.search(r"Two parts of .+ suffer from (.+)\. .* (stronger|weaker)\?", question):
        places = {option[4:] for option in item.options}
        means = by_corner(images, named(found[1], "noun"))
        least = min(means[place] for place in places)
        assert max(v for c, v in means.items() if c not in places) < least - 0.1
        return stands_out({c: means[c] for c in places}, key[4:], found[2] == "stronger")
    found = re.match(r"Four copies .+ Which of them is (.+) than the others\?", question)
    assert found is not None, question
    damage, bad = is_said(found[1], "more", "less", item)
    return stands_out(by_corner(images, damage), key[4:], bad)


NINTHS = (
    "upper left", "upper middle", "upper right", "middle left", "centre", "middle right",
    "lower left", "lower middle", "lower right",
)  # fmt: skip


def spot_holds(item: Item, images: Sequence[np.ndarray], clean: Sequence[np.ndarray]) -> float:
    """How many times as much a video differs from its clip where, or when, the key has it."""
    height, width = images[0].shape[:2]
    apart = np.abs(np.array(images, np.float32) - np.array(clean)).mean(axis=3)
    tiles = apart[:, : height // 9 * 9, : width // 9 * 9]
    tiles = tiles.reshape(len(apart), 9, height // 9, 9, width // 9).mean(axis=(2, 4))
    ninths = tiles.reshape(len(apart), 3, 3, 3, 3).max(axis=(2, 4)).reshape(len(apart), 9)
    if item.question.startswith("Of nine equal parts"):
        most = dict(zip(NINTHS, ninths.max(axis=0), strict=True))
    else:
        by_quarter = [part.max() for part in np.array_split(ninths, 4)]
        most = dict(zip((f"{q} quarter" for q in QUARTERS), by_quarter, strict=True))
    key = item.correct[0][4:]
    return float(most[key] / max(value for name, value in most.items() if name != key))


def course(images: Sequence[np.ndarray], damage: str) -> list[float]:
    return [strength(Seen(all_qualities([image])), damage) for image in images]


def by_corner(images: Sequence[np.ndarray], damage: str) -> dict[str, float]:
    few = images[::2]
    return {
        c: float(np.mean(course([part_of(image, c) for image in few], damage))) for c in CORNERS
    }


def stands_out(means: Mapping[str, float], mine: str, above: bool) -> float:
    """By how much one is above all others, or below them."""
    others = [value for name, value in means.items() if name != mine]
    return means[mine] - max(others) if above else min(others) - means[mine]
