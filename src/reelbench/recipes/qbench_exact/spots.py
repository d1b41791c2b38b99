"""Questions about a spot that is damaged for a while: where it is, or when.

The margin turns how visible it is, by a model (``reelbench.media.measure.visibility``), how large
and how long. Nothing is said to be there: the spot is worse than before and after, so that the
scale of levels is not touched.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reelbench.base.seeds import rng_for
from reelbench.media.measure.local import NINTHS, TILES, tiles
from reelbench.media.measure.metrics import luma
from reelbench.media.measure.quality import part_of
from reelbench.media.measure.visibility import threshold
from reelbench.recipes.qbench_exact.footage import DamageTarget, SegmentFrames, UnfitError
from reelbench.recipes.qbench_exact.targets import MARGINS, QuestionTargets

SPOTS = SPOT, HIDDEN = "spot", "hidden"
_JNDS = (1.5, 20.0)  # at the smallest and the largest margin
_FAINTEST, _WIDTH = 0.6, 1.3  # of them: the least, as an exponent, and how far it may be exceeded
_EDGE = 0.07  # share of a video, of which the protocol shows sixteen frames
_INSIDE = 0.01  # of its quarter, so far from the ends
_PLACES = 12  # of which the one that hides best, or worst, is taken
_CLEARLY = 1.2  # times as clear as anywhere else
UNWRITTEN = 0.9  # the share of all that which is asked of a spot before it is written


def spot(targets: QuestionTargets) -> tuple[DamageTarget, ...]:
    """A damage in one ninth of the picture, for a while by chance."""
    rng = rng_for(targets.seed, SPOT)
    side, ease = _side(targets), _ease(targets)
    row, column = list(NINTHS.values())[targets.order.goal]
    row, column = (3 * place + rng.randint(0, 3 - side) for place in (row, column))
    length = 0.14 + 0.2 * ease
    begin = rng.uniform(_EDGE, 1 - _EDGE - length)
    return (_faint(targets, begin, begin + length, row, column),)


def hidden(targets: QuestionTargets, place: int = 0) -> tuple[DamageTarget, ...]:
    """A damage in one quarter of the time, anywhere in the picture: one of many such places."""
    rng = rng_for(targets.seed, HIDDEN, place)
    quarter, length = targets.order.goal / 4, 0.13 + 0.04 * _ease(targets)
    least, most = max(_EDGE, quarter + _INSIDE), min(1 - _EDGE, quarter + 0.25 - _INSIDE)
    begin = rng.uniform(least, most - length)
    row, column = (rng.randint(0, TILES - _side(targets)) for _ in range(2))
    return (_faint(targets, begin, begin + length, row, column),)


def hidden_in(footage: SegmentFrames, targets: QuestionTargets) -> tuple[DamageTarget, ...]:
    """The place among many that texture and motion hide best; by the margin one that shows more."""
    places = sorted(
        (hidden(targets, place) for place in range(_PLACES)),
        key=lambda place: -_hiding(footage, place[0]),
    )
    return places[round((_PLACES - 1) * _ease(targets))]


def _hiding(footage: SegmentFrames, target: DamageTarget) -> float:
    """The mean threshold at which a change is noticed there and then."""
    numbers = footage.own(target)
    if not numbers:
        return 0.0
    pairs = [(footage.images[number], footage.images[max(0, number - 1)]) for number in numbers]
    greys = [[luma(part_of(image, target.part)) for image in pair] for pair in pairs]
    return float(np.mean([threshold(*pair).mean(dtype=np.float64) for pair in greys]))


def _ease(targets: QuestionTargets) -> float:
    """The margin, from 0 (hard) to 1 (easy)."""
    least, most = MARGINS
    return (targets.margin - least) / (most - least)


def _side(targets: QuestionTargets) -> int:
    """The side of the spot, in tiles."""
    return 1 + round(2 * _ease(targets))


def _faint(
    targets: QuestionTargets, begin: float, end: float, row: int, column: int
) -> DamageTarget:
    """As visible as the margin has it: by chance nearer to one JND."""
    order, (least, most) = targets.order, _JNDS
    highest = least * (most / least) ** np.log10(targets.margin / MARGINS[0])
    jnds = float(highest ** rng_for(targets.seed, "JND").uniform(_FAINTEST, 1.0))
    target = DamageTarget(order.damage, order.kind, begin=begin, end=end)
    region = tiles(row, column, _side(targets))
    return replace(target, region=region, jnds=(jnds, _WIDTH * jnds))


def check_spot(
    targets: QuestionTargets, extent: float, rises: NDArray[np.float64], share: float = 1.0
) -> None:
    """Raise ``UnfitError`` unless the frames alone show, and clearly so, where or when it is.

    With a ``share`` of that they need show no more than so much of it.
    """
    if extent < share * targets.margin:
        raise UnfitError(f"{targets.order.damage} grew by {extent:.2f} alone")
    clear = rises.max(axis=1 if targets.order.family == SPOT else 0)
    mine, others = clear[targets.order.goal], np.delete(clear, targets.order.goal)
    if mine < share * _CLEARLY * max(0.0, others.max()):
        raise UnfitError("it is as clear in another part of the picture, or at another time")
