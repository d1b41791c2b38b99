"""Which question is asked of which segment.

Families have their shares, and the keys of each come in equal numbers, so that neither the question
nor its options give away what is right. Damages are random. Clips come in turns, whatever their
length, and a question shows one clip alone, so that clips can be divided between splits.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import count, product
from random import Random
from typing import Any

import msgspec
import yaml

from reelbench.base.seeds import rng_for, seed_for
from reelbench.interop.qbench_video.taxonomy import SINGLE
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.media.measure.quality import DAMAGES
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.turns import ClipTurns

HOME = files(__package__)
FAMILIES: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
    (HOME / "questions.yaml").read_text("utf-8")
)
WORDS: Mapping[str, Mapping[str, str]] = yaml.safe_load((HOME / "words.yaml").read_text("utf-8"))
STILL = tuple(name for name, damage in DAMAGES.items() if not damage.in_time)
# An encoder knows few severities, and what they do differs from frame to frame.
_FINE = tuple(name for name in STILL if name != "compression")
# A viewer of grey that moves knows them: the model of visibility has no colours, and blur has no
# effect on what is smooth.
_LOCAL = ("noise", "over-exposure", "under-exposure", "low contrast")
_DETAIL = ("blur", "noise")
_DAMAGES = {
    "any": tuple(DAMAGES),
    "still": STILL,
    "fine": _FINE,
    "detail": _DETAIL,
    "local": _LOCAL,
}
TWO_SEGMENTS = ("both", "shared")  # whose two videos show different things
RESERVE = 0.15  # of the items, ordered besides: some segments cannot show what is ordered
_TRIES = 6  # segments that an order may go to, one after the other


class QuestionPlan(msgspec.Struct, frozen=True, rename={"segments": "takes"}):
    """One question to be made, with everything that is decided before its videos are."""

    id: str
    family: str
    damage: str
    kind: str  # of the damage, in the words of ``degrade``
    goal: int  # the key: its place among the family's options, or 1 for yes and 0 for no
    turned: bool  # asked the other way round
    segments: tuple[tuple[Segment, ...], ...]  # one for each video, to be tried in this order
    margin: float
    instead: tuple[tuple[str, str], ...] = ()  # damages and kinds, where no segment shows the first


class SegmentPlan(msgspec.Struct, frozen=True):
    """A segment, and the questions that are planned for it first."""

    id: str
    orders: tuple[QuestionPlan, ...] = ()


def plan(
    segments: Sequence[Segment], ctx: StageContext, *, items: int, margin: Sequence[float]
) -> list[SegmentPlan | Rejected]:
    """Return each segment with the questions planned for it, or why it has none."""
    seed = seed_of(ctx.seed, segments)
    orders = _orders(segments, math.ceil(items * (1 + RESERVE)) if segments else 0, margin, seed)
    given: dict[str, list[QuestionPlan]] = {segment.id: [] for segment in segments}
    for order in orders:
        given[order.segments[0][0].id].append(order)
    spare = Rejected("not needed", "There are more segments than questions.")
    return [SegmentPlan(t.id, tuple(given[t.id])) if given[t.id] else spare for t in segments]


def seed_of(seed: int, segments: Iterable[Segment]) -> int:
    """Return a seed that depends on the clips: seeds are often 0, and ids are public."""
    return seed_for(seed, "clips", *sorted({segment.sha256 for segment in segments}))


async def order(segment: SegmentPlan, _ctx: StageContext) -> list[QuestionPlan]:
    """Return the questions that are planned for a segment."""
    return list(segment.orders)


def _orders(
    segments: Sequence[Segment], number: int, margins: Sequence[float], seed: int
) -> Iterator[QuestionPlan]:
    sequences = {name: _damages_and_keys(name, seed) for name in FAMILIES}
    assigned: Counter[Any] = Counter()
    turns = ClipTurns(segments, seed)
    for place, family in enumerate(_families(number, seed)):
        damage, goal, turned = next(sequences[family])
        rng = rng_for(seed, "order", place)
        yield QuestionPlan(
            id=f"exact-{place + 1:05d}",
            family=family,
            damage=damage,
            kind=rng.choice(DAMAGES[damage].kinds),
            goal=goal,
            turned=turned,
            segments=_candidates(turns, family, rng),
            instead=tuple(
                (name, rng.choice(DAMAGES[name].kinds))
                for name in _some(damages_of(family), rng)
                if name != damage and not damage_is_key(family)
            ),
            margin=_margin(margins, family, goal, assigned, rng_for(seed, "margin", place)),
        )


def _margin(
    margins: Sequence[float], family: str, goal: int, assigned: Counter[Any], rng: Random
) -> float:
    """Return the margin that the family has had least of, and then yes, or no.

    Other keys have no even share of each margin: who knows the answers of one split could infer
    more of the other.
    """
    answer = goal if FAMILIES[family]["kind"] == "yesno" else None
    drawn = rng.sample(margins, len(margins))
    margin = min(drawn, key=lambda each: (assigned[family, each], assigned[answer, each]))
    assigned.update([(family, margin), (answer, margin)])
    return margin


def _some(damages: Sequence[str], rng: Random) -> list[str]:
    return rng.sample(damages, min(_TRIES // 2, len(damages)))


def _families(number: int, seed: int) -> list[str]:
    """Return so many families by their shares, evenly mixed."""
    total = sum(family["share"] for family in FAMILIES.values())
    places = [
        ((turn + 0.5) * total / family["share"], rng_for(seed, "family", name, turn).random(), name)
        for name, family in FAMILIES.items()
        for turn in range(math.ceil(number * family["share"] / total) + 1)
    ]
    return [name for _, _, name in sorted(places)[:number]]


def damages_of(family: str) -> tuple[str, ...]:
    """The damages that a family of questions can be about."""
    return _DAMAGES[FAMILIES[family]["damages"]]


def damage_is_key(family: str) -> bool:
    """Whether the damage is a part of the key, and comes as often as any other."""
    return bool(FAMILIES[family].get("damage_is_key"))


def _damages_and_keys(family: str, seed: int) -> Iterator[tuple[str, int, bool]]:
    """Yield damages with keys: every key equally often, the damage at random.

    If damages were balanced with the keys too, anyone who knows half of the answers could infer the
    others from what has not been an answer yet.
    """
    facts, damages = FAMILIES[family], damages_of(family)
    turns = (False, True) if facts.get("turns") else (False,)
    keys = list(product(range(facts["keys"]), turns, damages if damage_is_key(family) else ("",)))
    for turn in count():
        rng = rng_for(seed, "deck", family, turn)
        rng.shuffle(keys)
        for goal, turned, damage in keys:
            yield damage or rng.choice(damages), goal, turned


def _candidates(turns: ClipTurns, family: str, rng: Random) -> tuple[tuple[Segment, ...], ...]:
    """Return segments of the clip whose turn it is, then of others in case it shows no damage."""
    two = family in TWO_SEGMENTS
    clip, half = turns.next(two), _TRIES // 2
    firsts = [*turns.segments(clip, half), *turns.others(clip, _TRIES - half, two, rng)]
    if FAMILIES[family]["context"] in SINGLE:
        return tuple((segment,) for segment in firsts)
    if not two:
        return tuple((segment, segment) for segment in firsts)
    return tuple((segment, turns.beside(segment, rng)) for segment in firsts)
