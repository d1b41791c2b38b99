"""The mix of synthetic responses to one question, and the scores that each kind may have.

After MMOU, G.5 and Figures 10-12. Where the paper contradicts itself (combined failures are "1-2
across multiple" criteria and "likely 2-3"), at least two criteria at 2 or less are asked for.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CRITERIA = ("correctness", "completeness", "faithfulness", "clarity")
# How many of each kind, and what tells those of one kind apart.
MIX: dict[str, tuple[str, ...]] = {
    "perfect": ("detailed", "concise", "paraphrase"),
    "correctness": ("", ""),
    "completeness": ("", ""),
    "faithfulness": ("",),
    "clarity": ("",),
    "combined": (
        "incorrect and made up",
        "incomplete and unclear",
        "incorrect, incomplete, made up",
    ),
}
RESPONSES = sum(map(len, MIX.values()))  # 12 to a question
_LOW, _HIGH, _FULL = (2, 3), (4, 5), (5, 5)
_FAILED = 2  # a criterion of a combined failure is at most this
_FEWEST_FAILED = 2  # criteria


@dataclass(frozen=True, slots=True)
class ScoreBand:
    """The least and the most that each criterion may have."""

    bounds: Mapping[str, tuple[int, int]]
    failed: int = 0  # criteria that must be at most 2


def band_of(kind: str) -> ScoreBand:
    """Return the scores that a kind of response may have."""
    if kind == "perfect":
        return ScoreBand(dict.fromkeys(CRITERIA, _FULL))
    if kind == "combined":
        return ScoreBand(dict.fromkeys(CRITERIA, (1, 5)), _FEWEST_FAILED)
    bounds = {name: _LOW if name == kind else _HIGH for name in CRITERIA}
    if kind == "completeness":
        bounds["correctness"] = (2, 5)  # part of an answer, given as the whole, is wrong too
    return ScoreBand(bounds)


def band_fault(kind: str, scores: Mapping[str, int]) -> str:
    """Return what is wrong with the scores of a response of this kind; nothing if all is right."""
    if kind not in MIX:
        return f"{kind!r} is no type of response: it is one of {', '.join(MIX)}"
    band = band_of(kind)
    wrong = [
        f"{name} is {scores[name]}, not {low}" + (f" to {high}" if high > low else "")
        for name, (low, high) in band.bounds.items()
        if not low <= scores[name] <= high
    ]
    failed = sum(score <= _FAILED for score in scores.values())
    if failed < band.failed:
        wrong.append(f"{failed} criteria are at most {_FAILED}, not {band.failed} or more")
    return f"{kind}: {'; '.join(wrong)}" if wrong else ""


def missing_kinds(kinds: Sequence[str]) -> dict[str, int]:
    """Return how many of each kind are still to be written, where some are there."""
    have = Counter(kinds)
    return {kind: len(MIX[kind]) - have[kind] for kind in MIX if have[kind] < len(MIX[kind])}
