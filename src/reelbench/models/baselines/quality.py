"""What the pixels baseline makes of questions about quality: it measures the frames.

It has no access to any truth, nor to the video without its damage: it knows what an ordinary clip
is like (``reelbench.media.measure.quality``), and the words that people have for what is worse.
"""

import io
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from reelbench.media.measure.local import NINTHS, rises, tile_levels
from reelbench.media.measure.metrics import Image
from reelbench.media.measure.quality import (
    CORNERS,
    DAMAGES,
    MUCH,
    PRESENT,
    SLIGHTLY,
    STRENGTHS,
    Damage,
    part_of,
)
from reelbench.models.base import ImagePart, Request, TextPart

_WORDS = {
    r"blur|sharp": "blur",
    r"nois": "noise",
    r"compress": "compression",
    r"over-?expos": "over-exposure",
    r"under-?expos|exposed": "under-exposure",
    r"contrast": "low contrast",
    r"cast": "colour cast",
    r"saturat": "oversaturation",
    r"shak|stead": "shake",
    r"flicker|even in": "flicker",
    r"stutter|smooth|chopp": "stutter",
}
# Words that say that there is less of a damage.
_GOOD = re.compile(r"\b(sharp\w*|free of|less|better|higher|natural|stead\w+|even|smooth\w*)\b")

_QUARTERS = ("first", "second", "third", "fourth")
Videos = Sequence[Sequence[Image]]
Scores = Sequence[float]  # one per option; the best is the answer


def answer_about_quality(request: Request) -> list[int]:
    """Return the option that the frames speak for; nothing where the question is another."""
    for words, rule in _RULES.items():
        match = re.search(words, request.question)
        if match and request.pictures:
            scores = rule(_videos(request), request, match)
            return [int(np.argmax(scores))] if len(scores) and np.isfinite(max(scores)) else []
    return []


def _videos(request: Request) -> Videos:
    """The pictures of each video: before those of the second, a text says so."""
    videos: list[list[Image]] = [[]]
    for part in request.parts:
        if isinstance(part, TextPart) and part.text.startswith("Video 2"):
            videos.append([])
        elif isinstance(part, ImagePart):
            with Pillow.open(io.BytesIO(part.data)) as picture:
                videos[-1].append(np.asarray(picture.convert("RGB")))
    return [video for video in videos if video]


def _damage(text: str, videos: Videos = ()) -> Damage | None:
    """The damage that a text speaks of."""
    name = next((name for words, name in _WORDS.items() if re.search(words, text)), None)
    if name == "under-exposure" and "under" not in text and videos:
        # "Better exposed" may mean darker or brighter.
        name = min("over-exposure", name, key=lambda n: -max(map(DAMAGES[n].seen_in, videos)))
    return DAMAGES[name] if name else None


def _yes(request: Request, truth: float) -> Scores:
    """Scores of yes and no, from what is above 0 where it is so."""
    return [truth if option.lower() == "yes" else -truth for option in request.options]


def _most_apparent(videos: Videos, request: Request, _: re.Match[str]) -> Scores:
    found = [_damage(option.lower()) for option in request.options]
    return [min(map(damage.seen_in, videos)) if damage else -np.inf for damage in found]


def _strength(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
    damage = _damage(match[1])
    if damage is None:
        return []
    level = damage.seen_in(videos[0])
    outside = {word: max(low - level, level - high) for word, (low, high) in STRENGTHS.items()}
    return [
        -min((by for word, by in outside.items() if word in option), default=np.inf)
        for option in request.options
    ]


def _quarter(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
    damage, video = _damage(match[1]), videos[0]
    if damage is None or damage.in_time or len(video) < 4:
        return []
    levels = [damage.seen_in([image]) for image in video]
    # It begins where all that follow differ most from all before, and one frame from the last.
    gains = [np.mean(levels[n:]) - np.mean(levels[:n]) for n in range(1, len(levels))]
    begin = 1 + int(np.argmax(np.add(gains, np.diff(levels))))
    quarter = begin * 4 // len(levels)
    return [float(_QUARTERS[quarter] in option.lower()) for option in request.options]


def _in_turn(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
    """Which of two damages has the middle of its time before that of the other."""
    middles = []
    for damage in (_damage(option.lower()) for option in request.options):
        if damage is None or damage.in_time:
            return []
        levels = _course(videos, damage)
        above = levels - levels.min()
        middles.append(float((above**2 * np.arange(len(above))).sum() / ((above**2).sum() + 1e-9)))
    return [middle if match[1] == "last" else -middle for middle in middles]


def _times(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
    """How often the level goes above halfway between the lowest and the highest."""
    damage = _damage(match[1])
    if damage is None or damage.in_time:
        return []
    levels = _course(videos, damage)
    there = levels > (levels.min() + levels.max()) / 2
    count = int(there[0]) + int((there[1:] & ~there[:-1]).sum())
    words = ("once", "twice", "three times", "four times")
    return [-abs(words.index(o.lower()) + 1 - count) for o in request.options if o.lower() in words]


def _odd_quarter(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
    damage = _damage(match[1])
    if damage is None or damage.in_time or len(videos[0]) < 4:
        return []
    means = [float(part.mean()) for part in np.array_split(_course(videos, damage), 4)]
    sign = -1 if match[2] == "weaker" else 1
    named = [next((n for n in range(4) if _QUARTERS[n] in o), None) for o in request.options]
    return [-np.inf if n is None else sign * (means[n] - np.median(means)) for n in named]


def _course(videos: Videos, damage: Damage) -> NDArray[np.float64]:
    """The level of a damage in each frame of the first video."""
    return np.array([damage.seen_in([image]) for image in videos[0]])


def _odd_part(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
    """Which part of the picture has most of a damage, or least where that is asked for."""
    levels = _corner_levels(videos, match[1])
    sign = -1 if match[2] == "weaker" or _GOOD.search(match[1]) else 1
    named = [next((c for c in levels if c in option.lower()), None) for option in request.options]
    return [-np.inf if corner is None else sign * levels[corner] for corner in named]


def _corner_levels(videos: Videos, text: str) -> dict[str, float]:
    damage = _damage(text, videos)
    if damage is None or damage.in_time:
        return {}
    few = videos[0][:: max(1, len(videos[0]) // 4)]
    return {corner: damage.seen_in([part_of(image, corner) for image in few]) for corner in CORNERS}


def _corners(videos: Videos, text: str) -> dict[str, float]:
    """How much worse each corner is than the others."""
    levels = _corner_levels(videos, text)
    return {c: v - max(o for d, o in levels.items() if d != c) for c, v in levels.items()}


def _together(videos: Videos, request: Request, _: re.Match[str]) -> Scores:
    """Which of two damages are both there: the one that shows less decides."""
    pairs = [[_damage(part) for part in o.lower().split(" and ")] for o in request.options]
    named = {id(damage): damage for pair in pairs for damage in pair if damage}
    levels = {key: damage.seen_in(videos[0]) for key, damage in named.items()}
    return [min(levels.get(id(damage), -np.inf) for damage in pair) for pair in pairs]


def _spot(by_ninth: bool) -> Callable[..., Scores]:
    """Where the picture is worse for a while, or in which quarter of its time."""

    def rule(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
        damage = _damage(match[1], videos)
        if damage is None or damage.in_time or len(videos[0]) < 4:
            return []
        found = rises(tile_levels(damage, videos[0])).max(axis=1 if by_ninth else 0)
        clear = dict(zip(NINTHS if by_ninth else _QUARTERS, found.tolist(), strict=True))
        return [max((v for n, v in clear.items() if n in o), default=-np.inf)
                for o in map(str.lower, request.options)]  # fmt: skip

    return rule


def _corner(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
    worse = _corners(videos, match[1])
    named = [next((c for c in worse if c in option.lower()), None) for option in request.options]
    return [worse[corner] if corner else -np.inf for corner in named]


def _is_corner(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
    worse = _corners(videos, match[1])
    corner = match[2]
    if corner not in worse:
        return []
    return _yes(request, -worse[corner] if "free" in request.question else worse[corner])


def _difference(videos: Videos, text: str) -> float | None:
    """How much more of the damage the first video has than the second."""
    damage = _damage(text, videos)
    if damage is None or len(videos) < 2:
        return None
    return damage.seen_in(videos[0]) - damage.seen_in(videos[1])


def _which(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
    more = _difference(videos, match[1])
    if more is None:
        return []
    more = -more if _GOOD.search(match[1]) else more
    return [more if "first" in option.lower() else -more for option in request.options]


def _compare(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
    more = _difference(videos, match[1])
    if more is None:
        return []

    def means(option: str) -> float:
        size = MUCH if "much" in option else SLIGHTLY
        return -size if "stronger" in option else size

    return [-abs(more - means(option)) for option in request.options]


def _is_first(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
    more = _difference(videos, match[1])
    if more is None:
        return []
    return _yes(request, -more if _GOOD.search(match[1]) else more)


def _present(least: Callable[[Scores], float]) -> Callable[..., Scores]:
    """Whether a damage is there: in all videos, or in one of them."""

    def rule(videos: Videos, request: Request, match: re.Match[str]) -> Scores:
        damage = _damage(match[1], videos)
        if damage is None:
            return []
        good = bool(_GOOD.search(match[1]))
        there = [damage.seen_in(video) - PRESENT for video in videos]
        return _yes(request, least([-level if good else level for level in there]))

    return rule


_RULES: dict[str, Callable[[Videos, Request, re.Match[str]], Scores]] = {
    r"most apparent distortion|distortion do both videos": _most_apparent,
    r"How strong is the (.+) in this video": _strength,
    r"which quarter of this video does the (.+) begin": _quarter,
    r"part of the picture suffers from (.+)\. Which one": _corner,
    r"part of the picture suffers from (.+)\. Is (?:it )?the (\w+ \w+) part": _is_corner,
    r"each for a while\. Which of them comes (first|last)": _in_turn,
    r"The (.+) in this video comes and goes": _times,
    r"suffers from (.+)\. In which quarter of its time is it (stronger|weaker)": _odd_quarter,
    r"Two parts .+ suffer from (.+)\. In which of them is it (stronger|weaker)": _odd_part,
    r"Four copies of one clip.+ Which of them is ((.+)) than the others": _odd_part,
    r"seen throughout this video, at the same time": _together,
    r"nine equal parts of the picture, one is (.+) for a while": _spot(by_ninth=True),
    r"small part of the picture is (.+) for a moment": _spot(by_ninth=False),
    r"Which of the two videos is (.+)\?": _which,
    r"How does the (.+) in the second video compare": _compare,
    r"Is the first video (.+) than the second": _is_first,
    r"Are both videos (.+)\?": _present(min),
    r"Is at least one of the two videos (.+)\?": _present(max),
    r"Is this video (.+)\?": _present(min),
}
