"""Questions about several damages of one video: their order, their number, and which is worse.

Each family is a function that says where and when each damage is, and how far it goes. The margin
turns how far two of them are apart, or how faint and how short they are.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from reelbench.base.seeds import rng_for
from reelbench.data.items import Span
from reelbench.media.measure.quality import CORNERS, DAMAGES, NOT_THERE, PRESENT
from reelbench.recipes.qbench_exact.degraded import SeenLayer, WrittenVideo
from reelbench.recipes.qbench_exact.footage import DamageTarget, UnfitError
from reelbench.recipes.qbench_exact.plan import STILL, WORDS, QuestionPlan, damages_of
from reelbench.recipes.qbench_exact.spots import HIDDEN, SPOT, SPOTS, check_spot, hidden, spot
from reelbench.recipes.qbench_exact.targets import QuestionTargets, apparent, are_alike

Layers = tuple[DamageTarget, ...]
COPIES = "copy"  # the family whose video is four copies of one
TOGETHER = "together"  # the family of two damages at once
_LIGHT, _COLOUR = ("over-exposure", "under-exposure"), ("colour cast", "oversaturation")
_BAND = 0.03  # how far apart the levels of what is alike may be, at least
_HIGHEST = 0.55  # level of the milder of two
# Shares of a video, of which the protocol shows sixteen frames.
_EDGE, _GAP = 0.07, 0.09


def layers_of(targets: QuestionTargets) -> Layers:
    """Return the damages of the one video of a question; none where a family has no such layers."""
    make = _LAYERS.get(targets.order.family)
    return make(targets) if make else ()


def _in_turn(targets: QuestionTargets) -> Layers:
    """Two damages, one after the other; the first of them is the first option."""
    rng = rng_for(targets.seed, "in turn")
    mine, other = targets.order.damage, _another(targets, rng)
    length = 0.12 + 1.1 * targets.margin
    begin = rng.uniform(_EDGE, 1 - _EDGE - _GAP - 2 * length)
    later = rng.uniform(begin + length + _GAP, 1 - _EDGE - length)
    mine_first = (targets.order.goal == 0) != targets.order.turned
    begins = (begin, later) if mine_first else (later, begin)
    kinds = (targets.order.kind, rng.choice(DAMAGES[other].kinds))
    return tuple(
        _faint(targets, name, kind, at, at + length)
        for name, kind, at in zip((mine, other), kinds, begins, strict=True)
    )


def _repeated(targets: QuestionTargets) -> Layers:
    """One damage that comes and goes, once to four times."""
    rng = rng_for(targets.seed, "repeated")
    count = targets.order.goal + 1
    slot = (1 - 2 * _EDGE) / count
    length = min(slot - _GAP, 0.09 + 0.4 * targets.margin)
    begins = [_EDGE + slot * n + rng.uniform(0, slot - _GAP - length) for n in range(count)]
    order = targets.order
    return tuple(_faint(targets, order.damage, order.kind, at, at + length) for at in begins)


def _faint(
    targets: QuestionTargets, damage: str, kind: str, begin: float, end: float
) -> DamageTarget:
    """A damage for a while: as visible as the margin has it, in every frame of its own."""
    low = targets.there + targets.margin / 2 + 0.04
    high = low + max(2 * _BAND, targets.margin)
    return DamageTarget(damage, kind, low, high, targets.margin, begin=begin, end=end)


def _quarters(targets: QuestionTargets) -> Layers:
    """A damage throughout, in one quarter of the time more of it, or less."""
    spans = [{"begin": n / 4, "end": (n + 1) / 4} for n in range(4)]
    return _one_differs(targets, spans)


def _copies(targets: QuestionTargets) -> Layers:
    """Four copies, of which one is damaged more than the others, or less."""
    return _one_differs(targets, [{"corner": corner} for corner in CORNERS])


def _one_differs(targets: QuestionTargets, places: Sequence[Mapping[str, Any]]) -> Layers:
    """The same damage in several places, the odd one first."""
    order, (milder, worse) = targets.order, _two_levels(targets)
    odd, others = (milder, worse) if order.turned else (worse, milder)
    ordered = [places[order.goal], *(p for n, p in enumerate(places) if n != order.goal)]
    return tuple(
        DamageTarget(
            order.damage, order.kind, *(others if number else odd), targets.margin, **place
        )
        for number, place in enumerate(ordered)
    )


def _two_corners(targets: QuestionTargets) -> Layers:
    """A damage in two corners, in the one more of it; the first corner is the first option."""
    order, (milder, worse) = targets.order, _two_levels(targets)
    corners = rng_for(targets.seed, "two corners").sample(list(CORNERS), 2)
    first_is_worse = (order.goal == 0) != order.turned
    levels = (worse, milder) if first_is_worse else (milder, worse)
    return tuple(
        DamageTarget(order.damage, order.kind, *level, targets.margin, corner=corner)
        for level, corner in zip(levels, corners, strict=True)
    )


def _two_levels(targets: QuestionTargets) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ranges of levels that are both there, and the margin apart."""
    low = rng_for(targets.seed, "milder").uniform(targets.there, _HIGHEST)
    band = _BAND + targets.margin / 5
    high = low + band + targets.margin
    return (low, low + band), (high, high + band)


def _together(targets: QuestionTargets) -> Layers:
    """Two damages at once, throughout: one of detail, and one of light or of colour."""
    order = targets.order
    other = _light_and_colour(targets)[order.goal]
    kind = rng_for(targets.seed, "other kind").choice(DAMAGES[other].kinds)
    both = [(order.damage, order.kind), (other, kind)]
    both.sort(key=lambda each: each[0] == "noise")  # last, or the other changes it
    return tuple(_faint(targets, name, kind, 0.0, 1.0) for name, kind in both)


def _light_and_colour(targets: QuestionTargets) -> tuple[str, str]:
    rng = rng_for(targets.seed, "light and colour")
    return rng.choice(_LIGHT), rng.choice(_COLOUR)


def _another(targets: QuestionTargets, rng: Random) -> str:
    """A damage that nobody takes for the one in question."""
    mine = targets.order.damage
    return rng.choice([name for name in STILL if name != mine and not are_alike(name, mine)])


_LAYERS: Mapping[str, Callable[[QuestionTargets], Layers]] = {
    "first": _in_turn,
    "times": _repeated,
    "odd": _quarters,
    COPIES: _copies,
    "worse": _two_corners,
    TOGETHER: _together,
    SPOT: spot,
    HIDDEN: hidden,
}


def options_of(
    order: QuestionPlan, layers: Sequence[DamageTarget], absent: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the options of a question whose options are its damages, or its corners.

    Of two at once, either of detail stands with either of light and colour, so that each word is
    there twice, and any pair could be right.
    """
    if order.family == TOGETHER:
        named = [*(layer.damage for layer in layers), *absent]
        details = sorted(damages_of(TOGETHER), key=lambda name: name != order.damage)
        others = [next(n for n in named if n in group) for group in (_LIGHT, _COLOUR)]
        return tuple(_both(detail, other) for detail in details for other in others)
    if order.family == "first":
        return tuple(WORDS[layer.damage]["noun"].capitalize() for layer in layers)
    return tuple(f"The {layer.corner}" for layer in layers)


def _both(one: str, other: str) -> str:
    return f"{WORDS[one]['noun'].capitalize()} and {WORDS[other]['noun']}"


def evidence_of(
    order: QuestionPlan, target: DamageTarget, layers: Sequence[DamageTarget], seconds: float
) -> tuple[Span, ...]:
    """Return when what is asked about is seen; nothing where that is throughout."""
    shown = layers[:1] if order.family == "odd" else layers or (target,)
    spans = sorted((layer.begin, layer.end) for layer in shown)
    return tuple(
        (round(begin * seconds, 3), round(end * seconds, 3))
        for begin, end in spans
        if (begin, end) != (0.0, 1.0)
    )


def check_layers(targets: QuestionTargets, seen: WrittenVideo) -> tuple[str, ...]:
    """Raise ``UnfitError`` where what was measured in the video does not bear out the key.

    Return two damages that are not there, where the wrong options need them.
    """
    layers = seen.layers
    if targets.order.family in SPOTS:
        check_spot(targets, layers[0].extent, np.array(seen.rises))
        return ()
    if targets.order.family == TOGETHER:
        return _absent(targets, seen)
    if targets.order.family in ("first", "times"):
        _check_alone(layers, targets.there)
        _check_apart(layers)
    else:
        _check_levels(targets, layers)
        _check_severities(layers)
    if seen.elsewhere > NOT_THERE:
        raise UnfitError(f"{targets.order.damage} is also visible elsewhere")
    return ()


def _absent(targets: QuestionTargets, seen: WrittenVideo) -> tuple[str, ...]:
    """The two damages of the wrong options: of them there is none, and of the others enough."""
    there = {layer.target.damage for layer in seen.layers}
    if min(layer.level for layer in seen.layers) < targets.there:
        raise UnfitError("one of two damages is not visible beside the other")
    named = (*damages_of(TOGETHER), *_light_and_colour(targets))
    absent = tuple(name for name in named if name not in there)
    for name in absent:
        if apparent(name, seen) > NOT_THERE:
            raise UnfitError(f"{name} is visible too, though it should be absent")
    return absent


def _check_alone(layers: Sequence[SeenLayer], there: float) -> None:
    """Each damage must be seen in every frame of its own, and in no other."""
    for name in dict.fromkeys(layer.target.damage for layer in layers):
        own = [layer for layer in layers if layer.target.damage == name]
        places = {n for layer in own for n in range(*layer.frames)}
        for number, level in enumerate(own[0].levels):
            if number in places and level < there:
                raise UnfitError(f"{name} is not visible in every frame that it should be in")
            if number not in places and level > NOT_THERE:
                raise UnfitError(f"{name} is also visible at other times")


def _check_apart(layers: Sequence[SeenLayer]) -> None:
    """Between damages, before and after them, there must be a frame without any."""
    spans = sorted(layer.frames for layer in layers)
    ends = [(0, 0), *spans, (len(layers[0].levels),) * 2]
    if any(later[0] <= before[1] for before, later in pairwise(ends)):
        raise UnfitError("no frame is shown between two damages, or before or after them")


def _check_levels(targets: QuestionTargets, layers: Sequence[SeenLayer]) -> None:
    """The odd one, or the first of two, must be worse or milder than each other by the margin."""
    order = targets.order
    mine, others = layers[0].level, [layer.level for layer in layers[1:]]
    is_worse = (order.goal == 0) != order.turned if order.family == "worse" else not order.turned
    apart = mine - max(others) if is_worse else min(others) - mine
    if apart < targets.margin:
        raise UnfitError(f"the odd one differs by {apart:.2f}, not by {targets.margin:g} or more")
    if min(mine, *others) < PRESENT:
        raise UnfitError(f"{order.damage} is not visible everywhere it should be")


def _check_severities(layers: Sequence[SeenLayer]) -> None:
    """What is measured as worse must be more severe: a part may be dark or smooth by itself."""
    ordered = sorted(layers, key=lambda layer: layer.level)
    mine, others = layers[0], [layer.severity for layer in layers[1:]]
    right = mine.severity > max(others) if ordered[-1] is mine else mine.severity < min(others)
    if not right:
        raise UnfitError("the severities are not in the order of what is measured")
