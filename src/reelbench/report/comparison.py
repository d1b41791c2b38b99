"""Which models differ, pair by pair, and how people did."""

from collections.abc import Mapping
from typing import Any

from reelbench.base.progress import counted
from reelbench.pages.table import Table
from reelbench.score.letters import spelled
from reelbench.score.rounding import fixed, percent, points, signed

Scores = Mapping[str, Any]
_SMALLEST = 0.0001  # p that is written out


def standings(scores: Scores) -> dict[str, Mapping[str, Any]]:
    """The rank of each model that has one, under the condition where they are compared."""
    comparison = scores["comparison"] or {"models": ()}
    return {
        standing["model"]: {**standing, "shown": spelled(standing["letters"])}
        for standing in comparison["models"]
        if standing["rank"]
    }


def pairs(scores: Scores) -> Table:
    """Each pair of models, the better one first, in the order of the leaderboard."""
    comparison = scores["comparison"] or {"pairs": (), "models": ()}
    place = {each["model"]: number for number, each in enumerate(comparison["models"])}
    ordered = sorted(
        (_best_first(pair, place) for pair in comparison["pairs"]),
        key=lambda pair: [place[model] for model in pair["models"]],
    )
    apart = any(pair["both_answered"] for pair in ordered)
    whole = {row["all_items"] for row in scores["results"]}
    partly = any(pair["items"] not in whole for pair in ordered)
    columns = ["Model", "Other model", "Difference, points", "95% interval", "SE", "p (Holm)"]
    columns += ["Different", "Items needed"]
    columns += ["Items"] if partly else []
    columns += ["Answered", "Where both answered"] if apart else []
    rows = [
        [
            *pair["models"],
            points(pair["difference"]),
            " to ".join(map(points, pair["interval"])),
            "" if pair["standard_error"] is None else points(pair["standard_error"]),
            p_value(pair["p_holm"]),
            "yes" if pair["different"] else "no",
            "" if pair["needed_items"] is None else f"{pair['needed_items']:,}",
            *([f"{pair['items']:,}"] if partly else []),
            *(_where_both_answered(pair) if apart else ()),
        ]
        for pair in ordered
    ]
    note = (
        "The first model less the other on the items that both were asked, with an interval by "
        "video; p is corrected after Holm."
    )
    return Table("pairs", "Pairs of models", columns, rows, note=note)


def _best_first(pair: Mapping[str, Any], place: Mapping[str, int]) -> Mapping[str, Any]:
    one, other = pair["models"]
    if place[one] < place[other]:
        return pair
    both = pair["both_answered"]
    return {**pair, **_turned(pair), "both_answered": both and {**both, **_turned(both)}}


def _turned(found: Mapping[str, Any]) -> dict[str, Any]:
    """The same of two models in the other order."""
    lists = {name: found[name][::-1] for name in ("models", "coverage") if name in found}
    if found["difference"] is None:
        return lists
    low, high = found["interval"]
    return {**lists, "difference": -found["difference"], "interval": [-high, -low]}


def _where_both_answered(pair: Mapping[str, Any]) -> list[str]:
    both, shares = pair["both_answered"], map(percent, pair["coverage"])
    if both is None:
        return ["", ""]
    if both["difference"] is None:
        return [", ".join(shares), "no common item"]
    found = f"{points(both['difference'])} on {counted(both['items'], 'item')}"
    return [", ".join(shares), found]


def p_value(p: float) -> str:
    """Write a p-value, and never one of nothing."""
    return fixed(p, 4) if p >= _SMALLEST else f"<{_SMALLEST}"


def condition_pairs(scores: Scores) -> Table:
    """Each model's conditions against each other, on the same items."""
    found = (scores.get("condition_pairs") or {"pairs": ()})["pairs"]
    rows = [[pair["model"], *pair["conditions"], *paired_cells(pair)] for pair in found]
    columns = ["Model", "Condition", "Other condition", *PAIRED_COLUMNS]
    return Table("conditions", "Conditions, paired", columns, rows)


PAIRED_COLUMNS = (
    *("Accuracy", "Other accuracy", "Difference, points", "95% interval", "p (Holm)", "Different"),
    *("Right to wrong", "Wrong to right", "Items needed", "Items"),
)


def paired_cells(pair: Mapping[str, Any]) -> list[str]:
    """Write two results on the same items: both accuracies, their difference, what changed."""
    return [
        *(percent(count / pair["items"]) for count in pair["correct"]),
        signed(pair["difference"]),
        " to ".join(map(signed, pair["interval"])),
        p_value(pair["p_holm"]),
        "yes" if pair["different"] else "no",
        str(pair["right_to_wrong"]),
        str(pair["wrong_to_right"]),
        "" if pair["needed_items"] is None else f"{pair['needed_items']:,}",
        str(pair["items"]),
    ]


def people(scores: Scores) -> Table:
    """The mean of people who answered as models do; their range is no interval of it."""
    several = len(scores["humans"]) > 1
    columns = ["People", *(["Condition"] if several else []), "Mean of participants"]
    columns += ["Lowest to highest", "Standard deviation", "By item", "95% interval"]
    columns += ["Items answered"]
    rows = [
        [
            counted(each["participants"], "person", "people"),
            *([each["condition"]] if several else []),
            percent(each["accuracy"]),
            people_range(each),
            "" if each["sd"] is None else percent(each["sd"]),
            percent(each["overall"]["value"]),
            " to ".join(map(percent, each["overall"]["interval"])),
            people_coverage(each),
        ]
        for each in scores["humans"]
    ]
    note = (
        "The mean of participants counts each person once, on what they answered. By item, each "
        "item counts once, worth its mean over those who answered it, as in rows called Human: the "
        "same where everyone answered everything."
    )
    return Table("people", "People", columns, rows, note=note)


def people_coverage(each: Mapping[str, Any]) -> str:
    """Write how many closed items someone answered, and how many each person did."""
    overall, (least, most) = each["overall"], each["answered"]
    own = str(least) if least == most else f"{least} to {most}"
    return f"{overall['covered']} of {overall['items']}, {own} by each"


def people_range(each: Mapping[str, Any]) -> str:
    """Write the lowest and the highest of several people; nothing for one."""
    return " to ".join(map(percent, each["range"])) if each["participants"] > 1 else ""
