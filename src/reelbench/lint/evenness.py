"""How unlikely a benchmark's regularities would be if key positions were random."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reelbench.base.seeds import seed_for

ENOUGH = 5  # expected keys per place below which the chi-square law does not hold
SIMULATIONS = 20_000
EXACT = 500  # bets up to which their law is computed exactly

Stratum = tuple[int, int]  # places, and how many of them are right


def evenness_of(strata: Mapping[Stratum, Counter[int]]) -> dict[str, Any] | None:
    """Return a chi-square test of whether positions are even, or None where there are none.

    Where counts are small, the distribution of their part is simulated instead.
    """
    statistic, freedom = 0.0, 0
    simulated = np.zeros(SIMULATIONS)
    by_law = True
    generator = np.random.Generator(np.random.PCG64(seed_for("evenness")))
    for (places, right), counts in sorted(strata.items()):
        size = counts.total() // right
        if right == places:
            continue
        statistic += _chi_square(np.array([[counts[p] for p in range(places)]]), size, right)[0]
        freedom += places - 1
        if size * right / places >= ENOUGH:
            simulated += generator.chisquare(places - 1, SIMULATIONS)
        else:
            by_law = False
            simulated += _chi_square(_even_draws(generator, size, places, right), size, right)
    if not freedom:
        return None
    beyond = int((simulated >= statistic - 1e-9).sum())
    p = special.chdtrc(freedom, statistic) if by_law else (1 + beyond) / (1 + SIMULATIONS)
    return {"chi_square": round(statistic, 3), "degrees_of_freedom": freedom, "p": float(p)}


def _chi_square(counts: NDArray[Any], size: int, right: int) -> NDArray[np.float64]:
    """The statistic of each row of counts."""
    places = counts.shape[1]
    expected = size * right / places
    # The places of one item's several keys exclude each other, which shrinks the spread.
    spread = expected * (1 - right / places) * places / (places - 1)
    return np.asarray(((counts - expected) ** 2 / spread).sum(axis=1), np.float64)


def _even_draws(
    generator: np.random.Generator, size: int, places: int, right: int
) -> NDArray[np.int64]:
    """Return simulated counts of random key positions."""
    if right == 1:
        return generator.multinomial(size, [1 / places] * places, SIMULATIONS)
    counts = np.zeros((SIMULATIONS, places), np.int64)
    for _ in range(size):
        order = generator.random((SIMULATIONS, places)).argsort(axis=1)
        counts += order < right
    return counts


def at_least(wins: int, chances: Sequence[float]) -> float:
    """Return the probability of so many wins or more in bets with these chances."""
    if len(chances) <= EXACT:
        law = np.zeros(len(chances) + 1)  # of how many are won, one bet after the other
        law[0] = 1.0
        for chance in chances:
            law[1:] = law[1:] * (1 - chance) + law[:-1] * chance
            law[0] *= 1 - chance
        return min(1.0, float(law[wins:].sum()))
    mean = sum(chances)
    spread = sum(chance * (1 - chance) for chance in chances) ** 0.5
    return float(special.ndtr((mean - wins + 0.5) / max(spread, 1e-9)))


def binomial_p(hits: int, of: int, chance: float) -> float:
    """Return the p-value of so many hits, by an exact binomial test."""
    counts = np.arange(of + 1)
    ways = special.gammaln(of + 1) - special.gammaln(counts + 1) - special.gammaln(counts[::-1] + 1)
    law = np.exp(ways + special.xlogy(counts, chance) + special.xlog1py(counts[::-1], -chance))
    rarer = law <= law[hits] * (1 + 1e-7)  # equal ones differ in their last digits
    return min(1.0, float(law[rarer].sum()))
