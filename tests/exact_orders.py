"""Planned exact questions, and what a video would show: without writing one."""

from types import SimpleNamespace
from typing import Any

from reelbench.data.items import Item
from reelbench.media.measure.quality import DAMAGES
from reelbench.recipes.qbench_exact.asking import ask
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.degraded import WrittenVideo
from reelbench.recipes.qbench_exact.plan import FAMILIES, QuestionPlan
from reelbench.recipes.qbench_exact.videos import MadeQuestion

TAKE = Segment("a#0000", "a", "0" * 64, 0.0, 4.0)
SPOTS = ("spot", "hidden")  # see test_qbench_exact_spots.py
SEVERAL = ("first", "times", "odd", "copy", "worse")  # see test_qbench_exact_layered.py
LAYERED = (*SEVERAL, "together", *SPOTS)
CASES = [
    (family, goal, turned)
    for family, facts in FAMILIES.items()
    if family not in LAYERED
    for goal in range(facts["keys"])
    for turned in ((False, True) if facts.get("turns") else (False,))
]
PAIRS = {"both", "shared", "which", "compare", "more", "better"}
USUAL = {damage.quality: damage.usual for damage in DAMAGES.values()}


def order(
    family: str, goal: int = 0, turned: bool = False, damage: str = "noise", margin: float = 0.1
) -> QuestionPlan:
    segments = (TAKE,) * (2 if family in PAIRS else 1)
    kind = DAMAGES[damage].kinds[0]
    return QuestionPlan("x", family, damage, kind, goal, turned, (segments,), margin)


def showing(damage: str, level: float, **more: Any) -> WrittenVideo:
    """What a segment that was ordinary shows, with so much of a damage."""
    facts = DAMAGES[damage]
    after = USUAL | {facts.quality: facts.usual + facts.worse * facts.full * level}
    return WrittenVideo(USUAL, after, max(level, 0.0), level, level, **more)


def asked(question: MadeQuestion) -> Item:
    (item,) = ask([question], SimpleNamespace(seed=0, notes=[]), items=1)  # type: ignore[arg-type]
    assert isinstance(item, Item)
    return item
