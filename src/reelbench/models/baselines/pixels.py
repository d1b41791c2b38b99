"""The pixels baseline: classical vision on the frames, and a reader of our own questions.

It has no access to any truth: it gets the same request as every other model. It knows the kinds
of shapes, colours and questions that the demo has and the words for what is wrong with a picture
(``quality``), and guesses everything else.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from reelbench.models.base import Request
from reelbench.models.baselines.quality import answer_about_quality
from reelbench.models.baselines.shortcuts import Offline, random_choice
from reelbench.models.baselines.vision import Observation, observe
from reelbench.models.card import Card

_REMEMBERED = 64  # videos whose observation is kept: as many as are asked about at a time


class Pixels(Offline):
    """Looks at the frames once per video, then answers what the question asks about them."""

    sees = True
    is_random = True  # where it cannot tell
    parameters: Mapping[str, Any] = {"version": 1}

    def __init__(self, card: Card) -> None:
        super().__init__(card)
        self._seen: dict[tuple[bytes, ...], Observation] = {}

    def choose(self, request: Request) -> list[int]:
        """Answer from what was seen, or else by chance."""
        about_quality = answer_about_quality(request)
        if about_quality:
            return about_quality
        return _answer(request, self._observe(request)) or random_choice(request)

    def _observe(self, request: Request) -> Observation:
        pictures = request.pictures
        key = tuple(picture.data for picture in pictures)
        if key not in self._seen:
            if len(self._seen) >= _REMEMBERED:
                del self._seen[next(iter(self._seen))]
            self._seen[key] = observe(pictures)
        return self._seen[key]


Rule = Callable[[Observation, Request, re.Match[str]], list[int]]


def _answer(request: Request, seen: Observation) -> list[int]:
    """Apply the first rule whose words the question has; an empty list means: cannot tell."""
    for words, rule in _RULES.items():
        match = re.search(words, request.question)
        if match:
            return rule(seen, request, match)
    return []


def _moment(seen: Observation, clause: str) -> float | None:
    """When what a clause says was seen to happen; None if it was not."""
    step = seen.times[1] - seen.times[0] if len(seen.times) > 1 else 0.0
    if "background changes" in clause:
        return seen.cuts[0] - step / 2 if seen.cuts else None
    names = re.findall(r"the (\w+)", clause)
    if "touch" in clause:
        return seen.touches.get(frozenset(names))
    sight = seen.sights.get(names[0]) if names else None
    if sight is None:
        return None
    if "appears" in clause:
        return sight.times[0] - step / 2 if sight.times[0] > seen.times[0] else None
    if "vanishes" in clause:
        return sight.times[-1] + step / 2 if sight.times[-1] < seen.times[-1] else None
    if turned := re.search(r"turns (\w+)", clause):
        if turned[1] not in sight.colours or sight.colours[0] == turned[1]:
            return None
        return sight.times[sight.colours.index(turned[1])] - step / 2
    if became := re.search(r"becomes (larger|smaller)", clause):
        return _resized(sight.times, sight.areas, became[1])
    return None


def _resized(times: list[float], areas: list[int], how: str) -> float | None:
    """When a shape's area changed for good, judged by its medians before and after."""
    best, moment = 1.25, None
    for place in range(2, len(areas) - 1):
        before, after = sorted(areas[:place]), sorted(areas[place:])
        ratio = after[len(after) // 2] / before[len(before) // 2]
        ratio = ratio if how == "larger" else 1 / ratio
        if ratio > best:
            best, moment = ratio, times[place]
    return moment


def _the_number(number: int, request: Request) -> list[int]:
    return [place for place, option in enumerate(request.options) if option == str(number)]


def _least(request: Request, score: Callable[[str], float | None]) -> list[int]:
    """The option with the least score among those that have one."""
    scores = {place: score(option) for place, option in enumerate(request.options)}
    known = {place: value for place, value in scores.items() if value is not None}
    return [min(known, key=lambda place: known[place])] if known else []


def _where(request: Request, holds: Callable[[str], bool]) -> list[int]:
    places = [place for place, option in enumerate(request.options) if holds(option)]
    return places if request.kind == "multi" else places[:1]


def _yes(request: Request, truth: bool) -> list[int]:
    return _where(request, lambda option: (option.lower() == "yes") == truth)


def _first_seen(seen: Observation, shape: str) -> float | None:
    return seen.sights[shape].times[0] if shape in seen.sights else None


def _last_to_come(seen: Observation, request: Request, _: re.Match[str]) -> list[int]:
    def negated(shape: str) -> float | None:
        first = _first_seen(seen, shape)
        return None if first is None else -first

    return _least(request, negated)


def _in_order(seen: Observation, request: Request, _: re.Match[str]) -> list[int]:
    def ascends(option: str) -> bool:
        times = [_first_seen(seen, shape) for shape in option.split(", then ")]
        known = [time for time in times if time is not None]
        return len(known) == len(times) and known == sorted(known)

    return _where(request, ascends)


def _before(seen: Observation, request: Request, match: re.Match[str]) -> list[int]:
    first, second = (_moment(seen, clause) for clause in match.groups())
    return [] if first is None or second is None else _yes(request, first < second)


def _when(seen: Observation, request: Request, match: re.Match[str]) -> list[int]:
    moment = _moment(seen, match[1])
    if moment is None:
        return []

    def distance(option: str) -> float | None:
        ends = [float(number) for number in re.findall(r"\d+", option)]
        return abs(sum(ends) / len(ends) - moment) if ends else None

    return _least(request, distance)


def _worn(seen: Observation, shape: str) -> list[str]:
    return seen.sights[shape].colours if shape in seen.sights else []


# Words of a question, and how to answer it from what was seen.
_RULES: dict[str, Rule] = {
    r"[Hh]ow many different shapes": lambda s, q, _: _the_number(len(s.sights), q),
    r"[Hh]ow many times does the background": lambda s, q, _: _the_number(len(s.cuts), q),
    r"last to come into view": _last_to_come,
    r"which order .* come into view": _in_order,
    r"these happens first": lambda s, q, _: _least(q, lambda clause: _moment(s, clause)),
    r"true that (.+) before (.+)\?": _before,
    r"When is it that (.+)\?": _when,
    r"colour is the (\w+) at the end": lambda s, q, m: _where(
        q, lambda colour: _worn(s, m[1])[-1:] == [colour]
    ),
    r"Is the (\w+) (\w+) at any moment": lambda s, q, m: _yes(q, m[2] in _worn(s, m[1])),
    r"The (\w+) changes its colour\.": lambda s, q, m: _where(
        q, lambda colour: _worn(s, m[1])[-1:] == [colour]
    ),
    r"these shapes changes its colour": lambda s, q, _: _where(
        q, lambda shape: len(set(_worn(s, shape))) > 1
    ),
    r"these happen in the video": lambda s, q, _: _where(
        q, lambda clause: _moment(s, clause) is not None
    ),
    r"these shapes are seen": lambda s, q, _: _where(q, lambda shape: shape in s.sights),
    r"Do the (\w+) and the (\w+) touch": lambda s, q, m: _yes(
        q, frozenset(m.groups()) in s.touches
    ),
}
