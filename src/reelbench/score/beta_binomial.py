"""The interval of a share over videos that may differ: a beta-binomial model of the videos.

Each video has a share of its own, drawn from a beta distribution whose mean is the share that is
sought. How alike the items of a video are is their intra-cluster correlation: 0 where videos do
not differ, 1 where a video is all right or all wrong. It is not estimated and then believed, which
fails for few videos: all its values count, each by how well it explains the videos. Where there
are many, the variance that is observed between them tells more than a model.
"""

from math import pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]
Window = tuple[float, float]  # of angles; a share or a correlation is the squared sine of one

_COARSE = (64, 12)  # angles of the share, and of the correlation, where the window is sought
_FINE = (32, 16)  # and within it
_REACH = 3.0  # of the first window: six standard errors if items of a video were all alike
_TAIL = 5e-4  # what may lie outside the second window on each side
_STEPS = 16.0  # numbers of items are rounded to this part of one, so that many videos are alike
_HUGE = 2**31  # more than any video has of such parts
_MODEL = 15.0  # degrees of freedom of an observed error that weigh as much as the model


def credible_interval(
    right: Floats, wrong: Floats, level: float, error: float, freedom: float
) -> tuple[float, float]:
    """Return the interval of the share right, from each video's items that are right and wrong.

    They may be parts of items. The error of the share is that observed between videos, with its
    degrees of freedom: none where there is one video. The priors of the share and of the
    correlation are flat on the angle whose squared sine they are: Jeffreys' for a share.
    """
    share = right.sum() / (right.sum() + wrong.sum())
    observed = share, error**2, freedom
    right, wrong, times = _alike(right, wrong)
    counts = right + wrong
    around = np.arcsin(np.sqrt(share))
    reach = _REACH * np.sqrt((times * counts**2).sum()) / (times * counts).sum()
    windows = (max(0.0, around - reach), min(pi / 2, around + reach)), (0.0, pi / 2)
    for sizes in (_COARSE, _FINE):
        (shares, correlations), edges = _posterior(right, wrong, times, windows, sizes, observed)
        windows = (
            _wider(_ends(_TAIL, edges[0], shares), edges[0]),
            _wider(_ends(_TAIL, edges[1], correlations), edges[1]),
        )
    low, high = np.sin(_ends((1 - level) / 2, edges[0], shares)) ** 2
    return float(min(low, share)), float(max(high, share))


def _alike(right: Floats, wrong: Floats) -> tuple[Floats, Floats, Floats]:
    """The different videos, and how many there are of each."""
    whole = np.rint(right * _STEPS) * _HUGE + np.rint(wrong * _STEPS)
    kinds, times = np.unique(whole.astype(np.int64), return_counts=True)
    found = np.divmod(kinds, _HUGE)
    return found[0] / _STEPS, found[1] / _STEPS, times.astype(np.float64)


def _posterior(
    right: Floats,
    wrong: Floats,
    times: Floats,
    windows: tuple[Window, Window],
    sizes: tuple[int, int],
    observed: tuple[float, float, float],
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Where the share and the correlation may lie within windows, and the edges of the steps.

    The model alone would weigh large videos by less than their items, and where large videos are
    harder its share would not be the one that is reported. So for each correlation a video's log
    likelihood is weighed by its variance over the mean variance. Where videos are equally large,
    that changes nothing. How probable each correlation is comes from the plain model.

    The more videos there are, the less of that counts beside the binomial likelihood of the share
    of all items, of as many independent items as have the variance that is observed between videos.
    A small variance is believed less where the share is near an end: rare videos may be missing.
    """
    edges = np.linspace(*windows[0], sizes[0] + 1), np.linspace(*windows[1], sizes[1] + 1)
    share, correlation = (np.sin((each[1:] + each[:-1]) / 2) ** 2 for each in edges)
    correlation = np.clip(correlation, 1e-6, 1 - 1e-6)
    total = (1 - correlation) / correlation  # of the beta distribution's two numbers
    counts = right + wrong
    items = (times * counts).sum()
    one, other = share[:, None] * total, (1 - share)[:, None] * total
    heights = (
        gammaln(right[:, None, None] + one)
        + gammaln(wrong[:, None, None] + other)
        - (gammaln(one) + gammaln(other))
        - (gammaln(counts[:, None, None] + total) - gammaln(total))
    )
    variance = 1 + (counts[:, None] - 1) * correlation  # of a video's sum, beside independent items
    mean = ((times * counts)[:, None] * variance).sum(axis=0) / items
    plain = (times[:, None, None] * heights).sum(axis=0)
    weighed = ((times[:, None] * variance / mean)[:, None] * heights).sum(axis=0)
    plain = np.exp(plain - plain.max())
    correlations = plain.sum(axis=0) / plain.sum()
    best, seen, freedom = observed
    spread = best * (1 - best)
    if spread and freedom:
        relative = (correlations * mean).sum() / items  # variance of the mean, beside a draw's
        expected = spread * relative / (1 - relative)  # since draws lie closer to their own mean
        degrees = freedom if seen > expected else freedom * 4 * spread
        trust = degrees / (degrees + _MODEL)
        alone = items / mean / (1 - trust + trust * seen / expected)
        logs = best * np.log(share) + (1 - best) * np.log1p(-share)
        weighed = (1 - trust) * weighed + trust * alone * logs[:, None]
    weighed = np.exp(weighed - weighed.max(axis=0))
    shares = (weighed / weighed.sum(axis=0) * correlations).sum(axis=1)
    return (shares, correlations), edges


def _ends(tail: float, edges: Floats, weights: Floats) -> Window:
    """The angles outside which a distribution has so much on each side."""
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    low, high = np.interp([tail * sums[-1], (1 - tail) * sums[-1]], sums, edges)
    return float(low), float(high)


def _wider(window: Window, edges: Floats) -> Window:
    step = edges[1] - edges[0]
    return max(0.0, window[0] - step), min(pi / 2, window[1] + step)
