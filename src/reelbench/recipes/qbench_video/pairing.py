"""Pairs of videos (16, Algorithm 1), and which question each video and each pair is asked.

Pairs are of one dataset, whose scores alone can be compared, and no two videos meet twice. They are
drawn in rounds, each of which pairs every video at most once, so that a video is in as few pairs as
possible; and round after round within small groups, of two, then four, then eight. So the questions
about a video and its pairs can be in one split without half of the dataset.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from statistics import median

from msgspec import structs

from reelbench.base.errors import ReelbenchError
from reelbench.base.seeds import rng_for, seed_for
from reelbench.interop.qbench_video.taxonomy import COMPARE, PAIR, QUESTION_TYPES, SINGLE
from reelbench.make.pipeline.context import StageContext
from reelbench.recipes.qbench_video.rows import Partner, ScoredVideo
from reelbench.recipes.qbench_video.sampling import exactly
from reelbench.recipes.qbench_video.source import DATASETS

_USUAL = 3  # videos to a pair: 2,378 questions on 1,800 videos leave 578 beside one for each
FINE, COARSE = COMPARE
JOINT = PAIR[0]
Pair = tuple[ScoredVideo, ScoredVideo]


def pair(videos: Sequence[ScoredVideo], ctx: StageContext) -> list[ScoredVideo]:
    """Return the videos with the pairs drawn for each dataset, each pair with its first video."""
    datasets: dict[str, list[ScoredVideo]] = defaultdict(list)
    for video in videos:
        datasets[video.dataset].append(video)
    partners: dict[str, list[Partner]] = defaultdict(list)
    for name, members in sorted(datasets.items()):
        asked = members[0].pairs
        count = asked if asked is not None else len(members) // _USUAL
        pairs = draw_pairs(name, members, count, ctx.seed)
        if len(pairs) < count:
            ctx.notes.append(
                f"{name}: {count:,} pairs are asked for, but {len(members):,} videos make only "
                f"{len(pairs):,}: all are used"
            )
        for first, partner in graded(pairs):
            partners[first.id].append(partner)
    return [structs.replace(video, partners=tuple(partners[video.id])) for video in videos]


def draw_pairs(dataset: str, videos: Sequence[ScoredVideo], count: int, seed: int) -> list[Pair]:
    """Return ``count`` pairs, or all there are; which video comes first is random too."""
    shuffled = sorted(videos, key=lambda video: (seed_for(seed, "pair", video.id), video.id))
    pairs = []
    for one, other in islice(_all_pairs(len(shuffled)), count):
        both = sorted((shuffled[one], shuffled[other]), key=lambda video: video.id)
        rng_for(seed, "first", dataset, *(video.id for video in both)).shuffle(both)
        pairs.append((both[0], both[1]))
    return pairs


def _all_pairs(count: int) -> Iterator[tuple[int, int]]:
    """Yield every two of so many once: in the round r, each meets the one r away by exclusive or.

    Rounds below a power of two stay within groups of that size. One without a partner in a round,
    as the number is no power of two, is not in it.
    """
    for distance in range(1, 1 << max(count - 1, 0).bit_length()):
        for one in range(count):
            other = one ^ distance
            if one < other < count:
                yield one, other


def graded(pairs: Sequence[Pair]) -> Iterator[tuple[ScoredVideo, Partner]]:
    """Yield pairs as coarse if their scores differ by more than the median, else as fine.

    Differences are exact: of 3.2 and 3.0, and of 2.2 and 2.0, neither is the larger one.
    """
    differences = [abs(exactly(one.score) - exactly(other.score)) for one, other in pairs]
    middle = median(differences) if differences else 0
    for (first, second), difference in zip(pairs, differences, strict=True):
        yield (
            first,
            Partner(
                id=second.id,
                name=second.name,
                path=second.path,
                score=second.score,
                interval=second.interval,
                difference=float(difference),
                median=float(middle),
                grain=COARSE if difference > middle else FINE,
            ),
        )


def assign(videos: Sequence[ScoredVideo], ctx: StageContext) -> list[ScoredVideo]:
    """Return the videos with question types and contexts assigned evenly to them and pairs (3.3).

    They are assigned in the order of datasets and intervals, or of fine and coarse, so that no type
    gets the bad videos; within these, chance decides.
    """
    _refuse_without_videos(videos)
    singles = sorted(
        (video.dataset, video.interval, seed_for(ctx.seed, "deal", video.id), video.id)
        for video in videos
    )
    pairs = sorted(
        (video.dataset, partner.grain, seed_for(ctx.seed, "deal", *ids), *ids)
        for video in videos
        for partner in video.partners
        for ids in [(video.id, partner.id)]
    )
    alone = dict(zip((each[-1] for each in singles), _combinations(SINGLE, ctx.seed), strict=False))
    paired = dict(
        zip(
            (each[-2:] for each in pairs), _combinations((JOINT, "Compare"), ctx.seed), strict=False
        )
    )

    def assigned(first: str, partner: Partner) -> Partner:
        question_type, context = paired[first, partner.id]
        context = JOINT if context == JOINT else partner.grain
        return structs.replace(partner, question_type=question_type, context=context)

    return [
        structs.replace(
            video,
            question_type=alone[video.id][0],
            context=alone[video.id][1],
            partners=tuple(assigned(video.id, partner) for partner in video.partners),
        )
        for video in videos
    ]


def _combinations(contexts: Sequence[str], seed: int) -> Iterator[tuple[str, str]]:
    """Yield types with contexts in turn: any six have all combinations of both."""
    types, either = list(QUESTION_TYPES), list(contexts)
    rng = rng_for(seed, "hands", *contexts)
    rng.shuffle(types)
    rng.shuffle(either)
    return zip(cycle(types), cycle(either), strict=False)


def _refuse_without_videos(videos: Sequence[ScoredVideo]) -> None:
    lacking = sorted({video.dataset for video in videos if not video.path})
    if lacking:
        raise ReelbenchError(
            f"The stage assign needs the videos of {', '.join(lacking)}: add `videos: FOLDER` to "
            f"each in {DATASETS}, or stop before it with --until pair."
        )
