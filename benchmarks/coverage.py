"""How often intervals hold the truth, and how wide they are: ours beside the usual ones.

Benchmarks are made whose videos differ by a known amount: their shares right are drawn from a beta
distribution or through a normal distribution of log odds, with the same mean and the same
correlation within videos. Each setting is a number of videos, their sizes, the share right and the
correlation. The peers: Student's t with the clustered error (CR2, degrees of freedom after Bell
and McCaffrey), the effective sample size of Korn and Graubard, percentiles of resampled videos,
Wilson's with each video counted once, and Wilson's by item.

Run: python benchmarks/coverage.py [repeats]
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

REPEATS = 120
VIDEOS = (3, 5, 8, 15, 30)
SIZES = {
    "2 each": [2],
    "6 each": [6],
    "40 each": [40],
    "1 to 60": [1, 60, 2, 30, 5, 12],
    "one large": [60, *[3] * 29],
}
SHARES = (0.1, 0.5, 0.85, 0.97)
CORRELATIONS = (0.0, 0.05, 0.2, 0.5)
DRAWS = 300  # resamples, for the peer that resamples
TAIL = (1 - LEVEL) / 2


class Setting(NamedTuple):
    """One way to make benchmarks."""

    videos: int
    sizes: str
    share: float
    correlation: float
    kind: str


def main() -> None:
    """Print one table by correlation and share for each number of videos, and where it drops."""
    repeats = int(sys.argv[1]) if sys.argv[1:] else REPEATS
    found = {setting: measured(setting, repeats) for setting in settings()}
    print(f"{repeats} benchmarks in each of {len(found)} settings; coverage (mean width)")
    print("lowest: the mean of the tenth of the settings where it covers least\n")
    for title, rows in groups(found):
        print(f"{title:24s}" + "".join(f"{name:>18s}" for name in METHODS))
        for label, members in rows.items():
            values = np.array([found[setting] for setting in members])  # setting, method, both
            cells = (f"{c:9.3f} ({w:.3f})" for c, w in values.mean(axis=0))
            print(f"{label:24s}" + "".join(f"{cell:>18s}" for cell in cells))
        print()
    values = np.array(list(found.values()))[:, :, 0]
    least = np.sort(values, axis=0)[: len(values) // 10].mean(axis=0)
    print(f"{'lowest':24s}" + "".join(f"{each:10.3f}        " for each in least))
    print("\nours, the settings where it covers least")
    for setting, row in sorted(found.items(), key=lambda pair: pair[1][0][0])[:8]:
        where = f"{setting.videos} videos, {setting.sizes}, share {setting.share}"
        print(f"  {row[0][0]:.3f}  {where}, correlation {setting.correlation}, {setting.kind}")


def settings() -> Iterator[Setting]:
    """Every setting; without correlation both kinds are the same."""
    for values in product(VIDEOS, SIZES, SHARES, CORRELATIONS, ("beta", "logistic normal")):
        setting = Setting(*values)
        if setting.correlation or setting.kind == "beta":
            yield setting


def groups(found: Mapping[Setting, object]) -> Iterator[tuple[str, dict[str, list[Setting]]]]:
    """The settings by each of what makes them."""
    for field, title in (
        ("videos", "videos"), ("correlation", "correlation"), ("share", "share right"),
        ("sizes", "items on a video"), ("kind", "videos differ by"),
    ):  # fmt: skip
        rows: dict[str, list[Setting]] = {}
        for setting in found:
            rows.setdefault(str(getattr(setting, field)), []).append(setting)
        yield title, rows


def measured(setting: Setting, repeats: int) -> list[tuple[float, float]]:
    """Coverage and mean width of each method."""
    generator = np.random.default_rng([setting.videos, *map(ord, str(setting))])
    counts = np.resize(SIZES[setting.sizes], setting.videos)
    right = generator.binomial(counts, drawn(generator, setting, repeats)).astype(float)
    found = []
    for method in METHODS.values():
        low, high = method(right, counts.astype(float))
        covered = (low <= setting.share + 1e-9) & (setting.share <= high + 1e-9)
        found.append((float(covered.mean()), float((high - low).mean())))
    return found


def drawn(generator: np.random.Generator, setting: Setting, repeats: int) -> Table:
    """The share right of each video, in each benchmark."""
    shape, mean, correlation = (repeats, setting.videos), setting.share, setting.correlation
    if not correlation:
        return np.full(shape, mean)
    if setting.kind == "beta":
        total = 1 / correlation - 1
        return generator.beta(mean * total, (1 - mean) * total, shape)
    middle, spread = logistic_normal(mean, correlation)
    return np.asarray(special.expit(middle + spread * generator.normal(size=shape)))


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
    low, high = zip(*(credible_interval(row, counts - row, LEVEL) for row in right), strict=True)
    return np.array(low), np.array(high)


def errors(right: Table, counts: Table) -> tuple[Table, Table, float]:
    """Shares, their clustered errors, and the reach of Student's t."""
    shares = right.sum(axis=1) / counts.sum()
    found = np.array([clustered_error(row, counts) for row in right])
    return shares, found, float(special.stdtrit(freedom(counts), 1 - TAIL))


def student(right: Table, counts: Table) -> Ends:
    """Student's t."""
    shares, error, reach = errors(right, counts)
    return np.maximum(0, shares - reach * error), np.minimum(1, shares + reach * error)


def korn_graubard(right: Table, counts: Table) -> Ends:
    """Clopper's and Pearson's of the effective sample size; of the videos where all agree."""
    shares, error, reach = errors(right, counts)
    z = special.ndtri(1 - TAIL)
    spread = np.maximum(error, 1e-12)
    size = np.where(error > 0, shares * (1 - shares) / spread**2 * (z / reach) ** 2, len(counts))
    size = np.minimum(size, counts.sum())
    wins, losses = shares * size, (1 - shares) * size
    low = special.betaincinv(np.maximum(wins, 1e-9), losses + 1, TAIL)
    high = special.betaincinv(wins + 1, np.maximum(losses, 1e-9), 1 - TAIL)
    return np.where(wins > 0, low, 0.0), np.where(losses > 1e-9, high, 1.0)


def percentiles(right: Table, counts: Table) -> Ends:
    """Plain percentiles of resampled videos."""
    times = np.random.default_rng(0).multinomial(
        len(counts), np.full(len(counts), 1 / len(counts)), DRAWS
    )
    shares = (right @ times.T) / (times @ counts)
    low, high = np.quantile(shares, [TAIL, 1 - TAIL], axis=1)
    return low, high


def by_video(right: Table, counts: Table) -> Ends:
    """Wilson's with each video counted once."""
    return _wilson(right.sum(axis=1) / counts.sum(), len(counts))


def by_item(right: Table, counts: Table) -> Ends:
    """Wilson's as if videos did not matter."""
    return _wilson(right.sum(axis=1) / counts.sum(), int(counts.sum()))


def _wilson(shares: Table, count: int) -> Ends:
    ends = np.array([wilson(float(share), count) for share in shares])
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
