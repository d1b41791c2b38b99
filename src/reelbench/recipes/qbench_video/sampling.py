"""Uniform quality sampling (8): as many videos from each fifth of the range of scores.

The paper's equation 4 gives each interval the probability 1/5; here each gets an equal number,
which is the same without the noise. Its equation 5 has the *score* uniform within an interval, not
the video: where most videos of an interval stand at its upper end, drawing videos at random would
give scores at that end. So a score is drawn uniformly, and the video nearest to it that has not
been drawn is taken; of videos with the same score, one by chance.

Real files leave intervals thin, for few videos are very bad or very good:

- A video that its interval cannot give is taken from the nearest one that still has some: one
  interval away, then two, and so on. Of two equally near, from the one of which fewer have been
  drawn so far, and of those, by the seed.
- Where n is no multiple of five, the seed says which intervals get one more.
- Where n is more than there are, all are taken.
- Where all scores are the same, there is one interval.

All of this is reported, with numbers. A larger sample includes a smaller one, and the order of the
rows in a file does not matter.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import structs

from reelbench.base.seeds import rng_for, seed_for
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.qbench_video.rows import Interval, ScoredVideo

INTERVALS = 5


def sample(
    videos: Sequence[ScoredVideo], ctx: StageContext, *, intervals: int
) -> list[ScoredVideo | Rejected]:
    """Return the sample of each dataset, the other videos rejected; shortfalls are reported."""
    datasets: dict[str, list[ScoredVideo]] = defaultdict(list)
    for video in videos:
        datasets[video.dataset].append(video)
    drawn: dict[str, ScoredVideo] = {}
    places: dict[str, tuple[int, Interval]] = {}
    for name, members in sorted(datasets.items()):
        bins = in_intervals(members, intervals)
        bounds = bounds_of(members, intervals)
        chosen, intervals_of = draw(name, bins, bounds, members[0].sample, ctx.seed)
        ctx.notes.extend(shortfalls(name, intervals_of, members[0].sample))
        for number, (inside, interval) in enumerate(zip(bins, intervals_of, strict=True), 1):
            places |= {video.id: (number, interval) for video in inside}
        drawn |= {
            video.id: structs.replace(video, interval=places[video.id][0], intervals=intervals_of)
            for video in chosen
        }
    return [drawn.get(video.id) or _not_drawn(video, *places[video.id]) for video in videos]


def _not_drawn(video: ScoredVideo, number: int, interval: Interval) -> Rejected:
    detail = (
        f"{interval.drawn} of {interval.there} were drawn from interval {number} "
        f"({interval.low:g} to {interval.high:g}); its score is {video.score:g}"
    )
    return Rejected("not drawn", detail)


def bounds_of(videos: Sequence[ScoredVideo], intervals: int) -> list[Fraction]:
    """Return the ends of the intervals (equations 1 to 3), exactly.

    A score of 0.3 stands for three tenths: as floats are added up, it would now lie below and now
    above an end that is meant to be 0.3.
    """
    scores = [exactly(video.score) for video in videos]
    low, high = min(scores), max(scores)
    if low == high:
        return [low, high]
    return [low + (high - low) * number / intervals for number in range(intervals + 1)]


def exactly(score: float) -> Fraction:
    """Return the decimal number that a score was written as."""
    return Fraction(repr(score))


def in_intervals(videos: Sequence[ScoredVideo], intervals: int) -> list[list[ScoredVideo]]:
    """Return videos by interval; an end belongs to the interval above, the last to the last."""
    bounds = bounds_of(videos, intervals)
    bins: list[list[ScoredVideo]] = [[] for _ in bounds[1:]]
    for video in videos:
        bins[bisect_right(bounds[1:-1], exactly(video.score))].append(video)
    return bins


def draw(
    dataset: str,
    bins: Sequence[Sequence[ScoredVideo]],
    bounds: Sequence[Fraction],
    wanted: int | None,
    seed: int,
) -> tuple[list[ScoredVideo], tuple[Interval, ...]]:
    """Return the videos drawn, and the intervals with how many were drawn from each."""
    there = [len(inside) for inside in bins]
    asked = wanted if wanted is not None else len(bins) * min(filter(None, there))
    turns = list(range(len(bins)))
    rng_for(seed, "remainder", dataset).shuffle(turns)
    shares = [asked // len(bins) + (turns.index(n) < asked % len(bins)) for n in range(len(bins))]
    counts = _counts(dataset, there, turns, asked, seed)
    chosen = [
        video
        for number, count in enumerate(counts)
        for video in _drawn_within(
            f"{dataset}:{number}", bins[number], bounds[number : number + 2], count, seed
        )
    ]
    edges = zip(bounds, bounds[1:], there, shares, counts, strict=False)
    return chosen, tuple(
        Interval(float(low), float(high), *numbers) for low, high, *numbers in edges
    )


def _counts(
    dataset: str, there: Sequence[int], turns: Sequence[int], asked: int, seed: int
) -> list[int]:
    """Return the number of videos by interval; a larger sample has no fewer of any."""
    counts = [0] * len(there)
    for number in range(min(asked, sum(there))):
        own = turns[number % len(turns)]
        counts[
            min(
                (place for place in range(len(there)) if counts[place] < there[place]),
                key=lambda place: (
                    abs(place - own),
                    counts[place],
                    seed_for(seed, "spill", dataset, number, place),
                ),
            )
        ] += 1
    return counts


def _drawn_within(
    name: str, inside: Sequence[ScoredVideo], ends: Sequence[Fraction], count: int, seed: int
) -> Iterator[ScoredVideo]:
    """Draw scores uniformly (equation 5), and take for each the nearest video that is left."""
    left = sorted(inside, key=lambda v: (v.score, seed_for(seed, "tie", v.id), v.id))
    low, high = map(float, ends)
    for number in range(count):
        score = rng_for(seed, "score", name, number).uniform(low, high)
        place = bisect_right(left, score, key=lambda video: video.score)
        below, above = max(place - 1, 0), min(place, len(left) - 1)
        nearer = score - left[below].score <= left[above].score - score
        yield left.pop(below if place and nearer else above)


def shortfalls(dataset: str, intervals: Sequence[Interval], wanted: int | None) -> Iterator[str]:
    """Yield a sentence for each way in which the sample is not as asked for."""
    there = sum(interval.there for interval in intervals)
    drawn = sum(interval.drawn for interval in intervals)
    if len(intervals) == 1:
        yield f"{dataset}: every score is {intervals[0].low:g}, so there is one interval only"
    if wanted is not None and wanted > there:
        yield f"{dataset}: {wanted:,} videos are asked for, but there are {there:,}: all are used"
    elif thin := [each for each in intervals if each.there < each.wanted]:
        short = ", ".join(
            f"{each.there} of {each.wanted} from {each.low:.4g} to {each.high:.4g}" for each in thin
        )
        lacking = sum(each.wanted - each.there for each in thin)
        yield (
            f"{dataset}: not all intervals of scores have their share of {drawn:,} videos: "
            f"{short}; the {lacking} missing ones are taken from the nearest intervals"
        )
    if wanted is None and len(intervals) > 1:
        yield (
            f"{dataset}: no sample is set in datasets.yaml, so {drawn:,} of {there:,} videos are "
            f"drawn, {len(intervals)} times the number in the smallest interval"
        )
