"""Open questions by criterion and by tag, and beside the same questions with options."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from reelbench.data.items import PAIR, Item
from reelbench.score.grades import Grades, mean_grade, open_shares
from reelbench.score.results import ModelResult
from reelbench.score.rounding import rounded

CORRECTNESS = "correctness"  # the criterion by which an open answer is poor, where there is one
POOR = 0.25  # of the way from the worst grade to the best: 2 of 1 to 5


def criterion_rows(
    grades: Grades,
    asked: Sequence[Item],
    result: ModelResult | None,
    clusters: Mapping[str, int],
) -> list[dict[str, Any]]:
    """Return the mean of each criterion with its interval, and by each value of each tag.

    A question without a reply counts as the lowest score, as it does overall.
    """
    rows = []
    for name in grades.criteria:
        own = grades.of_criterion(name)
        shares = open_shares(asked, result, own)
        rows.append(
            {
                "criterion": name,
                **mean_grade(own, asked, shares, clusters),
                "by": _by_tag(own, [item for item in asked if item.id in shares]),
            }
        )
    return rows


def _by_tag(grades: Grades, items: Sequence[Item]) -> dict[str, dict[str, Any]]:
    worst = grades.scale[0]
    return {
        tag: {
            value: {
                "items": len(members),
                "score": rounded(
                    fsum(grades.scores.get(item.id, worst) for item in members) / len(members)
                ),
            }
            for value, members in sorted(values.items())
        }
        for tag, values in sorted(_tagged(items).items())
    }


def _tagged(items: Sequence[Item]) -> dict[str, dict[str, list[Item]]]:
    found: dict[str, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        for tag in item.tags:
            for value in dict.fromkeys(item.tag(tag)):
                found[tag][value].append(item)
    return found


def closed_counterparts(grades: Grades, result: ModelResult | None) -> dict[str, Any] | None:
    """Hold questions that are asked both with options and without against each other.

    They are linked, or have the same words and media. A model that is right with options and poor
    without knew the answer by its looks. Poor is a correctness below 2 of 1 to 5; where a judge
    gives one grade alone, as low a grade.
    """
    if result is None:
        return None
    criterion = CORRECTNESS if CORRECTNESS in grades.criteria else ""
    own = grades.of_criterion(criterion)
    closed = {_question_of(item): item for item in result.items}
    worst, best = own.scale
    answers = result.answers
    pairs: list[tuple[Item, bool, bool]] = []  # with options right, without poor
    for item in result.opened:
        counterpart = closed.get(_question_of(item))
        if counterpart is not None and item.id in own.scores:
            right = answers.get(counterpart.id) == frozenset(counterpart.answer)
            pairs.append((item, right, own.scores[item.id] < worst + POOR * (best - worst)))
    if not pairs:
        return None
    by_item = {item.id: (right, poor) for item, right, poor in pairs}
    tagged = _tagged([item for item, _, _ in pairs])
    return {
        **_shares(list(by_item.values())),
        **({"criterion": criterion} if criterion else {}),
        **(
            {
                "by": {
                    tag: {v: _shares([by_item[i.id] for i in members]) for v, members in vs.items()}
                    for tag, vs in sorted(tagged.items())
                }
            }
            if tagged
            else {}
        ),
    }


def _question_of(item: Item) -> Any:
    """Return what an item shares with the other one of its question."""
    return item.extra.get(PAIR) or (item.question, item.media)


def _shares(pairs: Sequence[tuple[bool, bool]]) -> dict[str, Any]:
    right, poor = zip(*pairs, strict=True)
    among = [r for r, p in pairs if p]
    return {
        "pairs": len(pairs),
        "closed_right": rounded(sum(right) / len(right)),
        "open_poor": rounded(sum(poor) / len(poor)),
        "closed_right_among_poor": rounded(sum(among) / len(among)) if among else None,
    }
