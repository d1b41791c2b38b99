"""Compact letters: two models share one if and only if they are not significantly different.

Letters stand for sets of models in which no two differ. A set is begun with each pair that does
not differ and shares no letter yet, and grown by whoever differs from nobody in it; then letters
that say nothing new are taken away (the clique growing of Gramm and others, 2007, Algorithms for
compact letter displays, with the sweeping of Piepho, 2004). Both take little time for any pattern
of differences, where inserting and absorbing (Piepho, 2004) may take exponential time.
"""

from collections.abc import Sequence
from itertools import combinations
from string import ascii_lowercase

Different = Sequence[Sequence[bool]]


def compact_letters(different: Different) -> list[tuple[str, ...]]:
    """Return the letters of each model, from a symmetric table of who differs from whom.

    Models come with the best first: ``a`` is then the letter of the best.
    """
    models = range(len(different))
    alike = [(one, other) for one, other in combinations(models, 2) if not different[one][other]]
    shared: set[tuple[int, int]] = set()
    groups: list[set[int]] = []
    for pair in alike:
        if pair not in shared:
            group = _grown(pair, different)
            groups.append(group)
            shared.update(combinations(sorted(group), 2))
    _sweep(groups)
    lone = [{model} for model in models if not any(model in group for group in groups)]
    kept = sorted([*filter(None, groups), *lone], key=sorted)
    return [tuple(_name(n) for n, group in enumerate(kept) if model in group) for model in models]


def spelled(letters: Sequence[str]) -> str:
    """Write the letters of a model: ``ab``, and apart where there are more than an alphabet."""
    return ("" if all(len(letter) == 1 for letter in letters) else " ").join(letters)


def _grown(pair: tuple[int, int], different: Different) -> set[int]:
    """A set as large as it can be made, those next to the pair first."""
    group = set(pair)
    near = sorted(range(len(different)), key=lambda m: (abs(2 * m - sum(pair)), m))
    for model in near:
        if not any(different[model][member] for member in group):
            group.add(model)
    return group


def _sweep(groups: list[set[int]]) -> None:
    """Take a model out of a set where it shares another one with each of the set's others."""
    for group in groups:
        for model in sorted(group):
            others = [each for each in groups if each is not group and model in each]
            if all(any(mate in each for each in others) for mate in group - {model}):
                group.discard(model)


def _name(number: int) -> str:
    """a to z, then aa, ab and so on."""
    name = ascii_lowercase[number % 26]
    return name if number < 26 else _name(number // 26 - 1) + name
