"""How often intervals hold the truth, and how wide they are: ours beside the usual ones.

Benchmarks are made whose videos differ by a known amount: their shares right are drawn from a beta
distribution or through a normal distribution of log odds, with the same mean and the same
correlation within videos. Some have videos of given sizes, all with the same mean. In others each
video is drawn from groups that differ in size and in difficulty: the truth is then the mean over
the items of all videos that could be drawn. A setting is left out where fewer than fifteen videos
of the group with the most items are expected: what was hardly drawn is in no interval.

The peers: Student's t with the clustered error (CR2, degrees of freedom after Bell and McCaffrey),
the effective sample size of Korn and Graubard, percentiles of resampled videos, Wilson's with each
video counted once, and Wilson's by item.

Run: python benchmarks/coverage.py [repeats]; above 300 videos a quarter of them
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reelbench.score.beta_binomial import credible_interval
from reelbench.score.intervals import LEVEL, clustered_error, freedom, wilson

Table = NDArray[np.float64]
Ends = tuple[Table, Table]

REPEATS = 2000
MANY = 300  # videos; above, a quarter of the repeats
VIDEOS = (3, 5, 8, 15, 30, 100)
SIZES = {
    "2 each": [2],
    "6 each": [6],
    "40 each": [40],
    "1 to 60": [1, 60, 2, 30, 5, 12],
    "one large": [60, *[3] * 29],
}
SHARES = (0.1, 0.5, 0.85, 0.97)
WAYS = (  # correlations, and how videos differ
    (0.0, "beta"), (0.2, "beta"), (0.5, "beta"), (0.05, "beta"), (0.2, "logistic normal"),
    (0.5, "logistic normal"), (0.05, "logistic normal"),
)  # fmt: skip
DRAWN_VIDEOS = (30, 60, 150, 300, 1000, 3000)
GROUPS = {  # of each: how many of the videos, items on each, share right
    "20 items: easy": [(0.9, 2, 0.5), (0.1, 20, 0.9)],
    "20 items: hard": [(0.9, 2, 0.9), (0.1, 20, 0.5)],
    "10 items: hard": [(0.5, 1, 0.95), (0.5, 10, 0.6)],
    "12 items: easy": [(0.5, 2, 0.4), (0.5, 12, 0.8)],
    "the more, the harder": [(0.3, 2, 0.9), (0.3, 5, 0.8), (0.25, 10, 0.65), (0.15, 25, 0.5)],
    "the more, the easier": [(0.4, 1, 0.3), (0.3, 4, 0.5), (0.2, 10, 0.7), (0.1, 30, 0.9)],
    "15 items: rare errors": [(0.8, 3, 0.97), (0.2, 15, 0.75)],
    "1 to 25, alike": [(0.25, 1, 0.7), (0.25, 4, 0.7), (0.25, 10, 0.7), (0.25, 25, 0.7)],
    "30 items: hard, few": [(0.95, 4, 0.8), (0.05, 30, 0.4)],
    "5 items: hard": [(0.3, 1, 0.9), (0.4, 5, 0.6), (0.3, 15, 0.9)],
    "long tail": [(0.5, 1, 0.85), (0.25, 3, 0.8), (0.15, 8, 0.7), (0.1, 24, 0.55)],
}
ORDERED = ("videos", "correlation")  # in the table
LARGEST = 15  # videos expected in the group with the most items
DRAWS = 300  # resamples, for the peer that resamples
TAIL = (1 - LEVEL) / 2
LEAST, MOST = 0.93, 0.985  # coverage
BOUND = special.ndtri(0.99)


class Setting(NamedTuple):
    """One way to make benchmarks; the share is none where it depends on the size."""

    videos: int
    sizes: str
    share: float | None
    correlation: float
    kind: str


def main() -> None:
    """Print one table by what makes a setting, and where ours covers least."""
    repeats = int(sys.argv[1]) if sys.argv[1:] else REPEATS
    found = {}
    for setting in settings():
        found[setting] = measured(setting, times(setting, repeats))
        print(".", end="", file=sys.stderr, flush=True)
    print(f"{repeats} benchmarks in each of {len(found)} settings; coverage (mean width)\n")
    for title, rows in groups(found):
        print(f"{title:24s}" + "".join(f"{name:>18s}" for name in METHODS))
        for label, members in rows.items():
            values = np.array([found[setting] for setting in members])  # setting, method, both
            cells = (f"{c:9.3f} ({w:.3f})" for c, w in values.mean(axis=0))
            print(f"{label:24s}" + "".join(f"{cell:>18s}" for cell in cells))
        print()
    covered = np.array(list(found.values()))[:, :, 0]
    least = np.sort(covered, axis=0)[: len(covered) // 10].mean(axis=0)
    counts = np.array([[times(setting, repeats)] for setting in found])
    upper = covered + BOUND * np.sqrt(covered * (1 - covered) / counts)
    for label, row in (
        ("mean of the worst tenth", least),
        (f"share under {LEAST} (99 %)", (upper < LEAST).mean(axis=0)),
        (f"share above {MOST}", (covered > MOST).mean(axis=0)),
    ):
        print(f"{label:24s}" + "".join(f"{value:10.3f}        " for value in row))
    print("\nours, the settings where it covers least")
    for setting, row in sorted(found.items(), key=lambda pair: pair[1][0][0])[:8]:
        where = f"{setting.videos} videos, {setting.sizes}, share {setting.share or 'by size'}"
        print(f"  {row[0][0]:.3f}  {where}, correlation {setting.correlation}, {setting.kind}")


def settings() -> Iterator[Setting]:
    """Every setting: numbers of videos, sizes and shares cross, and correlations alternate."""
    for number, values in enumerate(product(VIDEOS, SIZES, SHARES)):
        yield Setting(*values, *WAYS[number % len(WAYS)])
    for number, (videos, sizes) in enumerate(product(DRAWN_VIDEOS, GROUPS)):
        fraction = max(GROUPS[sizes], key=lambda group: group[1])[0]
        kinds = ("beta", "logistic normal")[:: 1 if number % 2 else -1]
        if videos * fraction >= LARGEST:
            yield from (
                Setting(videos, sizes, None, *way) for way in zip((0.1, 0.4), kinds, strict=True)
            )


def times(setting: Setting, repeats: int) -> int:
    """How many benchmarks of a setting are made."""
    return repeats if setting.videos <= MANY else repeats // 4


def groups(found: Mapping[Setting, object]) -> Iterator[tuple[str, dict[str, list[Setting]]]]:
    """The settings by each of what makes them."""
    for field, title in (
        ("videos", "videos"), ("correlation", "correlation"), ("share", "share right"),
        ("sizes", "items on a video"), ("kind", "videos differ by"),
    ):  # fmt: skip
        rows: dict[str, list[Setting]] = {}
        values = {setting: getattr(setting, field) for setting in found}
        ordered = sorted(found, key=values.__getitem__) if field in ORDERED else found
        for setting in ordered:
            value = values[setting]
            rows.setdefault("by size" if value is None else str(value), []).append(setting)
        yield title, rows


def measured(setting: Setting, repeats: int) -> list[tuple[float, float]]:
    """Coverage and mean width of each method."""
    generator = np.random.default_rng([setting.videos, *map(ord, str(setting))])
    shape = repeats, setting.videos
    if setting.share is None:
        fractions, items, shares = np.array(GROUPS[setting.sizes]).T
        group = generator.choice(len(fractions), p=fractions, size=shape)
        counts, means = items[group], shares[group]
        truth = (fractions * items * shares).sum() / (fractions * items).sum()
    else:
        counts = np.tile(np.resize(SIZES[setting.sizes], setting.videos), (repeats, 1)).astype(
            float
        )
        means, truth = np.full(shape, setting.share), setting.share
    right = generator.binomial(counts.astype(int), drawn(generator, setting, means)).astype(float)
    found = []
    for method in METHODS.values():
        low, high = method(right, counts)
        covered = (low <= truth + 1e-9) & (truth <= high + 1e-9)
        found.append((float(covered.mean()), float((high - low).mean())))
    return found


def drawn(generator: np.random.Generator, setting: Setting, means: Table) -> Table:
    """The share right of each video, from its mean."""
    correlation = setting.correlation
    if not correlation:
        return means
    if setting.kind == "beta":
        total = 1 / correlation - 1
        return generator.beta(means * total, (1 - means) * total)
    kinds, which = np.unique(means, return_inverse=True)
    odds = np.array([logistic_normal(float(mean), correlation) for mean in kinds])
    middle, spread = odds[which.reshape(means.shape)].transpose(2, 0, 1)
    return np.asarray(special.expit(middle + spread * generator.normal(size=means.shape)))


def logistic_normal(mean: float, correlation: float) -> tuple[float, float]:
    """The log odds whose shares have this mean and this correlation, by bisection."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(101)
    weights = weights / weights.sum()

    def middle(spread: float) -> float:
        low, high = -60.0, 60.0
        for _ in range(50):
            at = (low + high) / 2
            low, high = (
                (at, high) if weights @ special.expit(at + spread * nodes) < mean else (low, at)
            )
        return low

    low, high = 0.0, 30.0
    for _ in range(30):
        spread = (low + high) / 2
        shares = special.expit(middle(spread) + spread * nodes)
        seen = weights @ (shares - mean) ** 2 / (mean * (1 - mean))
        low, high = (spread, high) if seen < correlation else (low, spread)
    return middle(low), low


def ours(right: Table, counts: Table) -> Ends:
    """What the scores have."""
    ends = np.array([
        credible_interval(row, sizes - row, LEVEL, clustered_error(row, sizes), freedom(sizes))
        for row, sizes in zip(right, counts, strict=True)
    ])  # fmt: skip
    return ends[:, 0], ends[:, 1]


def errors(right: Table, counts: Table) -> tuple[Table, Table, Table]:
    """Shares, their clustered errors, and the reach of Student's t."""
    shares = right.sum(axis=1) / counts.sum(axis=1)
    found = np.array([clustered_error(*row) for row in zip(right, counts, strict=True)])
    return shares, found, special.stdtrit([freedom(row) for row in counts], 1 - TAIL)


def student(right: Table, counts: Table) -> Ends:
    """Student's t."""
    shares, error, reach = errors(right, counts)
    return np.maximum(0, shares - reach * error), np.minimum(1, shares + reach * error)


def korn_graubard(right: Table, counts: Table) -> Ends:
    """Clopper's and Pearson's of the effective sample size; of the videos where all agree."""
    shares, error, reach = errors(right, counts)
    z = special.ndtri(1 - TAIL)
    spread = np.maximum(error, 1e-12)
    size = np.where(error > 0, shares * (1 - shares) / spread**2 * (z / reach) ** 2, len(counts[0]))
    size = np.minimum(size, counts.sum(axis=1))
    wins, losses = shares * size, (1 - shares) * size
    low = special.betaincinv(np.maximum(wins, 1e-9), losses + 1, TAIL)
    high = special.betaincinv(wins + 1, np.maximum(losses, 1e-9), 1 - TAIL)
    return np.where(wins > 0, low, 0.0), np.where(losses > 1e-9, high, 1.0)


def percentiles(right: Table, counts: Table) -> Ends:
    """Plain percentiles of resampled videos."""
    videos = right.shape[1]
    times = np.random.default_rng(0).multinomial(videos, np.full(videos, 1 / videos), DRAWS)
    shares = (right @ times.T) / (counts @ times.T)
    low, high = np.quantile(shares, [TAIL, 1 - TAIL], axis=1)
    return low, high


def by_video(right: Table, counts: Table) -> Ends:
    """Wilson's with each video counted once."""
    return _wilson(right.sum(axis=1) / counts.sum(axis=1), np.full(len(right), right.shape[1]))


def by_item(right: Table, counts: Table) -> Ends:
    """Wilson's as if videos did not matter."""
    return _wilson(right.sum(axis=1) / counts.sum(axis=1), counts.sum(axis=1))


def _wilson(shares: Table, counts: Table) -> Ends:
    ends = np.array([wilson(*row) for row in zip(shares, counts, strict=True)])
    return ends[:, 0], ends[:, 1]


METHODS: dict[str, Callable[[Table, Table], Ends]] = {
    "ours": ours,
    "t (CR2)": student,
    "Korn-Graubard": korn_graubard,
    "percentiles": percentiles,
    "Wilson by video": by_video,
    "Wilson by item": by_item,
}

if __name__ == "__main__":
    main()
