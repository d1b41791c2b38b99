"""A model's preferences whatever is asked: positions, yes, long options; and how steady it is."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import LETTERS, Item
from reelbench.score.metrics import ONE_RIGHT
from reelbench.score.predictions import ItemOutcome
from reelbench.score.rounding import rounded

Asked = Sequence[tuple[Item, ItemOutcome]]
LEAST_OPTIONS = 5  # of a question, to be pooled with others: MuseBench's (4.3)


def biases(items: Sequence[Item], outcomes: Mapping[str, ItemOutcome]) -> dict[str, Any]:
    """Return the preferences in one model's answers, each beside the same share of the keys."""
    asked = [(item, outcomes[item.id]) for item in items if item.id in outcomes]
    found: dict[str, Any] = {"positions": _positions(asked)}
    pooled = pooled_positions(asked)
    if pooled:
        found["pooled_positions"] = pooled
    yes = _yes(asked)
    if yes:
        found["yes"] = yes
    longest = _longest(asked)
    if longest:
        found["longest"] = longest
    flips = _flips(asked)
    if flips:
        found["order_flips"] = flips
    return found


def _positions(asked: Asked) -> dict[str, dict[str, Any]]:
    """For each number of options: how often each place was chosen, and how often it was right.

    Places are those of the order that was shown; questions with different numbers of options are
    kept apart, since a place that some do not have cannot be chosen there.
    """
    chosen: dict[int, Counter[int]] = defaultdict(Counter)
    right: dict[int, Counter[int]] = defaultdict(Counter)
    for item, outcome in asked:
        count = len(item.options)
        for turn in outcome.turns if item.kind in ONE_RIGHT else ():
            if turn.answer is not None:
                chosen[count].update(_places(turn.order, turn.answer))
                right[count].update(_places(turn.order, item.answer))
    return {
        str(count): {
            "answers": chosen[count].total(),
            "chosen": _shares(chosen[count], count),
            "right": _shares(right[count], count),
        }
        for count in sorted(chosen)
    }


def pooled_positions(asked: Asked, least_options: int = LEAST_OPTIONS) -> dict[str, Any] | None:
    """How often each place was chosen and was right, of all questions with enough options.

    Of those alone where one of several options is to be chosen. The last places are rarer, since
    not all questions have them: a share means something beside that of the keys alone.
    """
    chosen, right = Counter[int](), Counter[int]()
    most = 0
    for item, outcome in asked:
        if item.kind == "single" and len(item.options) >= least_options:
            most = max(most, len(item.options))
            for turn in outcome.turns:
                if turn.answer is not None:
                    chosen.update(_places(turn.order, turn.answer))
                    right.update(_places(turn.order, item.answer))
    if not chosen:
        return None
    return {
        "least_options": least_options,
        "answers": chosen.total(),
        "chosen": _shares(chosen, most),
        "right": _shares(right, most),
    }


def _places(order: Sequence[int], letters: Any) -> list[int]:
    return [order.index(LETTERS.index(letter)) for letter in letters]


def _shares(counter: Counter[int], count: int) -> list[float]:
    return [rounded(counter[place] / counter.total()) for place in range(count)]


def _yes(asked: Asked) -> dict[str, Any] | None:
    """How often yes was said, and how often it was right, to questions of yes and no."""
    yes_count = right = count = 0
    for item, outcome in asked:
        texts = [option.strip().rstrip(".").casefold() for option in item.options]
        if item.kind != "yesno" or "yes" not in texts or outcome.answer is None:
            continue
        letter = LETTERS[texts.index("yes")]
        count += 1
        yes_count += letter in outcome.answer
        right += letter in item.answer
    if not count:
        return None
    return {"answers": count, "chosen": rounded(yes_count / count), "right": rounded(right / count)}


def _longest(asked: Asked) -> dict[str, Any] | None:
    """How often the longest option was chosen, and how often it was right, where there is one."""
    chosen = right = count = 0
    expected = 0.0
    for item, outcome in asked:
        lengths = [len(option) for option in item.options]
        if item.kind != "single" or outcome.answer is None or lengths.count(max(lengths)) > 1:
            continue
        letter = LETTERS[lengths.index(max(lengths))]
        count += 1
        chosen += letter in outcome.answer
        right += letter in item.answer
        expected += 1 / len(lengths)
    if not count:
        return None
    return {
        "answers": count,
        "chosen": rounded(chosen / count),
        "right": rounded(right / count),
        "by_chance": rounded(expected / count),
    }


def _flips(asked: Asked) -> dict[str, Any] | None:
    """How many items got different answers in different orders of their options, or rounds."""
    several = [
        [turn.answer for turn in outcome.turns if turn.answer is not None] for _, outcome in asked
    ]
    several = [answers for answers in several if len(answers) > 1]
    if not several:
        return None
    flipped = sum(len(set(answers)) > 1 for answers in several)
    return {"items": len(several), "flipped": rounded(flipped / len(several))}
