"""One scale: what a family calls there, slight, severe or none, no other family contradicts."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from exact_orders import CASES, LAYERED, SPOTS, order, showing

from reelbench.media.measure.quality import CORNERS, DAMAGES, STRENGTHS
from reelbench.recipes.qbench_exact.footage import UnfitError
from reelbench.recipes.qbench_exact.layered import layers_of
from reelbench.recipes.qbench_exact.plan import FAMILIES, damages_of
from reelbench.recipes.qbench_exact.targets import QuestionTargets

LEVELS = [round(float(level), 3) for level in np.arange(0, 1.1, 0.02)]
MARGINS = (0.02, 0.2)
# What a question and its key say of the damage that is asked about.
SAID = {
    ("strength", 0): "none", ("strength", 1): "slight", ("strength", 2): "severe",
    ("is", True): "there", ("is", False): "none", ("both", True): "there",
}  # fmt: skip


def claim(family: str, goal: int, turned: bool) -> str:
    if family in ("is", "both"):
        return SAID.get((family, bool(goal) != turned), "")
    return SAID.get(
        (family, goal), "there" if family not in ("which", "compare", "more", "better") else ""
    )


def accepted(targets: QuestionTargets, damage: str, level: float) -> bool:
    """Whether a video of an ordinary segment would do that has so much of the damage."""
    target = targets.video(0, (), 0.0)
    own = target.damage == damage
    if own and not max(target.low, target.least) <= level <= min(target.high, target.most):
        return False
    levels: tuple[float, ...] = ()
    if own and target.corner:
        levels = tuple(level if corner == target.corner else 0.0 for corner in CORNERS)
    try:
        targets.check([target], [showing(damage, level, levels=levels)])
    except UnfitError:
        return False
    return True


@pytest.fixture(scope="module")
def claims() -> dict[str, dict[str, set[float]]]:
    """Of each damage the levels that something is said of, in any family at any margin."""
    found: dict[str, dict[str, set[float]]] = defaultdict(lambda: defaultdict(set))
    for (family, goal, turned), margin in product(CASES, MARGINS):
        said = claim(family, goal, turned)
        if not said or family == "when":  # whose levels are those of its frames, below
            continue
        for damage, seed in product(damages_of(family), range(2)):
            targets = QuestionTargets(order(family, goal, turned, damage, margin=margin), seed)
            found[damage][said] |= {lv for lv in LEVELS if accepted(targets, damage, lv)}
    for damage, margin in product(DAMAGES, MARGINS):
        targets = QuestionTargets(order("what", 0, damage=damage, margin=margin), 0)
        target = targets.video(0, (), 0.0)
        for other, level in product(DAMAGES, LEVELS[:25]):
            if other != damage and DAMAGES[other].quality != DAMAGES[damage].quality:
                seen = showing(damage, (target.low + target.high) / 2)
                facts = DAMAGES[other]
                after = {
                    **seen.after,
                    facts.quality: facts.usual + facts.worse * facts.full * level,
                }
                shown = type(seen)(seen.before, after, 0.5, 0.5, 0.5)
                try:
                    fits = targets.check([target], [shown])
                except UnfitError:
                    continue
                if other in fits:
                    found[other]["none"].add(level)
    return found


class TestOneScale:
    def test_all_damages_have_all_claims(self, claims: dict[str, dict[str, set[float]]]) -> None:
        assert set(claims) == set(DAMAGES)
        for damage, said in claims.items():
            assert set(said) == {"none", "slight", "severe", "there"}, damage
            assert all(said.values()), damage

    @pytest.mark.parametrize("damage", DAMAGES)
    def test_nothing_is_there_and_not_there_at_one_level(
        self, claims: dict[str, dict[str, set[float]]], damage: str
    ) -> None:
        said = claims[damage]
        there = said["there"] | said["slight"] | said["severe"]
        assert max(said["none"]) + 0.1 < min(there)
        assert max(said["slight"]) < min(said["severe"])
        words = {"none": said["none"], "slight": said["slight"], "severe": said["severe"]}
        for word, levels in words.items():
            low, high = STRENGTHS[word]
            assert low - 0.021 <= min(levels), word
            assert max(levels) <= high + 0.021, word

    @pytest.mark.parametrize(("family", "margin"), [*product(FAMILIES, MARGINS)])
    def test_what_is_said_to_be_in_parts_is_there_by_the_same_scale(
        self, family: str, margin: float
    ) -> None:
        least, most = STRENGTHS["slight"][0], STRENGTHS["none"][1]
        for damage, goal in product(damages_of(family), range(FAMILIES[family]["keys"])):
            targets = QuestionTargets(order(family, goal, damage=damage, margin=margin), 1)
            layers = layers_of(targets)
            # Of a spot nothing is said but that it is worse than before and after.
            assert family in SPOTS or all(layer.low >= least for layer in layers)
            assert bool(layers) == (family in LAYERED)
        assert most < least
