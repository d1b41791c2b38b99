"""F1 of several questions, three ways: the mean of F1, F1 of means, and F1 over all options.

The mean of each question's F1 is a metric like any other, and F1 over all options a share. The
harmonic mean of mean precision and mean recall is neither. It is close to a weighted mean of each
question's precision and recall (its linearisation, exact at the means), so that it has an interval
by the same model of videos as all others.
"""

from dataclasses import dataclass

import numpy as np

from reelbench.score.intervals import Numbers


@dataclass(frozen=True, slots=True)
class LinearF1:
    """F1 of means as a mean over questions."""

    value: float
    shares: Numbers  # of each question, from 0 to 1
    scale: float  # times the mean of the shares is the value: from 1 to 2


def f1_of_means(precision: Numbers, recall: Numbers) -> LinearF1:
    """Return the harmonic mean of the means of precision and recall, of at least one question."""
    p, r = float(np.mean(precision)), float(np.mean(recall))
    if p + r == 0:
        return LinearF1(0.0, np.zeros(len(precision)), 1.0)
    # By how much it grows with each of the means; both together times the means are the value.
    of_precision, of_recall = 2 * (r / (p + r)) ** 2, 2 * (p / (p + r)) ** 2
    scale = of_precision + of_recall
    shares = (of_precision * precision + of_recall * recall) / scale
    return LinearF1(2 * p * r / (p + r), np.clip(shares, 0.0, 1.0), scale)
