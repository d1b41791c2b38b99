"""Clips in turns: each is asked about equally often, whatever its length.

What a viewer is good at hangs on the clip, so that a clip is one draw, however many segments it
has. Clips that show the same scene are one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from random import Random

from reelbench.base.seeds import rng_for
from reelbench.recipes.qbench_exact.clips import Segment

_NAMED = 5  # clips that a note names
_LEAST_ABLE = 0.2  # of the clips: fewer would be asked about too often
_ENOUGH = 2  # videos a clip, below which shares cannot be even


class ClipTurns:
    """The segments of clips, to be used in turns: each clip once a round, in an order by chance."""

    def __init__(self, segments: Sequence[Segment], seed: int) -> None:
        self._seed = seed
        self._segments: dict[str, list[Segment]] = defaultdict(list)
        for segment in sorted(segments, key=lambda segment: segment.id):
            self._segments[segment.source].append(segment)
        self._clips = sorted(self._segments)
        for clip in self._clips:
            rng_for(seed, "segments", clip).shuffle(self._segments[clip])
        self._used: Counter[str] = Counter()  # how often a clip had its turn
        self._queue: list[str] = []
        self._rounds = 0
        self._partner = _partners(self._clips, seed)

    def next(self, two: bool) -> str:
        """Return the clip whose turn it is; with ``two``, the next that has two segments."""
        able = set(self._able(two))
        while not able & set(self._queue):
            clips = list(self._clips)
            rng_for(self._seed, "round", self._rounds).shuffle(clips)
            self._queue += clips
            self._rounds += 1
        clip = next(each for each in self._queue if each in able)
        self._queue.remove(clip)
        return clip

    def segments(self, clip: str, number: int) -> list[Segment]:
        """Return so many segments of a clip, another one first each time."""
        own = self._segments[clip]
        self._used[clip] += 1
        return [own[(self._used[clip] + place - 1) % len(own)] for place in range(number)]

    def others(self, clip: str, number: int, two: bool, rng: Random) -> list[Segment]:
        """Return so many segments of any other clips, or of this one where it is alone."""
        clips = [each for each in self._able(two) if each != clip] or [clip]
        return [rng.choice(self._segments[rng.choice(clips)]) for _ in range(number)]

    def beside(self, segment: Segment, rng: Random) -> Segment:
        """Return what is shown beside a segment in a question about two: another of its clip.

        Where a clip has one segment alone, it is of a clip that is its partner throughout: clips
        that are shown together cannot be in different splits.
        """
        own = [each for each in self._segments[segment.source] if each != segment]
        return rng.choice(own or self._segments[self._partner[segment.source]])

    def _able(self, two: bool) -> list[str]:
        """The clips that have two segments, if two are needed and enough have; else all."""
        able = [clip for clip in self._clips if len(self._segments[clip]) > 1]
        return able if two and len(able) >= _LEAST_ABLE * len(self._clips) else self._clips


def _partners(clips: Sequence[str], seed: int) -> dict[str, str]:
    """Pair clips by chance; the last of an odd number joins a pair, and one alone has itself."""
    order = list(clips)
    rng_for(seed, "partners").shuffle(order)
    partner = dict.fromkeys(order, next(iter(order), ""))
    for one, other in zip(order[::2], order[1::2], strict=False):
        partner |= {one: other, other: one}
    return partner


def uneven_clips(videos: Iterable[str], clips: Iterable[str]) -> Iterator[str]:
    """Yield a note if clips have less than half of their even share of the videos."""
    counts = Counter(dict.fromkeys(clips, 0))
    counts.update(videos)
    share = counts.total() / max(1, len(counts))
    few = sorted((count, clip) for clip, count in counts.items() if count < share / 2)
    if few and share >= _ENOUGH:
        named = ", ".join(f"{clip} ({count})" for count, clip in few[:_NAMED])
        yield (
            f"Clips have not their even share of the videos, {share:.1f} of {counts.total():,}: "
            f"{named}{' and others' if len(few) > _NAMED else ''} cannot show more of the planned "
            "damages. Add clips to --source: a score is as sure as there are clips."
        )
