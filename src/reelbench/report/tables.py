"""The tables of a report."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelbench.base.files import write_atomically
from reelbench.data.table_rules import F1_OF_MEANS
from reelbench.pages.table import Table
from reelbench.report.category_tables import category_tables
from reelbench.report.comparison import condition_pairs, pairs, people, standings
from reelbench.report.criteria import criterion_tables, origins
from reelbench.report.declared import CAA_MEANS, declared, shown, sureness
from reelbench.report.failures import failures
from reelbench.report.figures import shown_tags
from reelbench.report.history import history_table
from reelbench.report.profile_figures import position_table
from reelbench.report.rows import label, main_rows
from reelbench.score.coverage import best_case, no_score, partly_asked
from reelbench.score.estimates import few_videos
from reelbench.score.metrics import METRICS
from reelbench.score.rounding import fixed, percent, points

Scores = Mapping[str, Any]
_LONGEST = 80  # characters of a file's name


def tables(scores: Scores, intervals: bool = False) -> list[Table]:
    """Return all tables for which the scores have data; ``intervals`` puts those into cells."""
    made = [
        leaderboard(scores),
        people(scores),
        pairs(scores),
        condition_pairs(scores),
        history_table(scores),
        *(t for found in declared(scores) for t in (shown(found, intervals), sureness(found))),
        measures(scores),
        *(t for tag in shown_tags(scores) for t in category_tables(scores, tag, intervals)),
        failures(scores),
        position_table(scores),
        origins(scores),
        *(ablation(found) for found in scores["ablations"] if found["models"]),
        judged(scores),
        *criterion_tables(scores),
        *judge_orders(scores),
    ]
    return [table for table in made if table.rows]


def named_tables(scores: Scores, intervals: bool = False) -> dict[str, Table]:
    """Return all tables, each by a name of its own that a file can have."""
    found: dict[str, Table] = {}
    names: set[str] = set()
    for table in tables(scores, intervals):
        name, number = table.name[:_LONGEST], 1
        while name.casefold() in names:  # tags whose names differ in signs alone
            number += 1
            name = f"{table.name[:_LONGEST]}-{number}"
        names.add(name.casefold())
        found[name] = table
    return found


def forms_of(table: Table) -> dict[str, str]:
    """Return a table in each form, by the ending of its file."""
    return {"csv": table.to_csv(), "md": table.to_markdown(), "tex": table.to_latex()}


def write_tables(scores: Scores, folder: Path, intervals: bool = False) -> list[Path]:
    """Write every table three times into a folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, table in named_tables(scores, intervals).items():
        for ending, text in forms_of(table).items():
            written.append(folder / f"{name}.{ending}")
            write_atomically(written[-1], text)
    return written


def leaderboard(scores: Scores) -> Table:
    """Accuracy of each model with its interval, where it stands, and what else was measured."""
    rows, standing = scores["results"], standings(scores)
    names = [name for name in METRICS if any(name in row["metrics"] for row in rows)]
    several = len({row["condition"] for row in rows}) > 1
    columns = ["Model", *(["Condition"] if several else []), "Accuracy", "95% interval", "SE"]
    columns += ["Videos", *(["Rank", "Letters"] if standing else [])]
    columns += [_TITLES.get(name, name) for name in names] + ["Answered", "Items"]
    partly = any(row["items"] < row["all_items"] for row in rows)
    failing = any(row["failed"] for row in rows)
    columns += [*(["Of items"] if partly else []), *(["If no call had failed"] if failing else [])]
    lines = [
        [
            row["model"],
            *([row["condition"]] if several else []),
            accuracy_of(row),
            no_score(row) or " to ".join(map(percent, row["interval"])),
            ""
            # Of few videos it may come out as nothing, which the interval knows better.
            if row["standard_error"] is None or no_score(row) or few_videos(row)
            else percent(row["standard_error"]),
            str(row["videos"]),
            *(_standing(row, scores, standing) if standing else ()),
            *(_metric(row, name) for name in names),
            str(row["answered"]),
            str(row["items"]),
            *([str(row["all_items"])] if partly else []),
            *([best_case(row)] if failing else []),
        ]
        for row in rows
    ]
    blank = [""] * (len(columns) - 2 - several)
    chance = ["chance", *([""] if several else []), percent(scores["chance"]["accuracy"]), *blank]
    note = [f"{scores['policy'][0].upper()}{scores['policy'][1:]}."]
    rule = scores["comparison"]["letter_rule"] if standing else ""
    note += [f"{rule[0].upper()}{rule[1:]}."] if rule else []
    note += [CAA_MEANS] if "caa" in names else []
    shown = [*lines, chance] if lines else []
    return Table("leaderboard", "Leaderboard", columns, shown, note=" ".join(note))


def _standing(
    row: Mapping[str, Any], scores: Scores, standing: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Rank and letters, under the condition where models are compared."""
    if row["condition"] != scores["comparison"]["condition"] or row["model"] not in standing:
        return ["", ""]
    own = standing[row["model"]]
    low, high = own["rank_interval"]
    return [f"{own['rank']} ({low} to {high})" if low < high else f"{own['rank']}", own["shown"]]


def accuracy_of(row: Mapping[str, Any]) -> str:
    """Write an accuracy, from the counts: the share in the file is rounded already.

    Empty where nothing was asked, or every call failed: that would be no score.
    """
    return "" if no_score(row) else percent(row["correct"] / row["items"])


_TITLES = {
    "steady": "Steady",
    "caa": "CAA",
    "exact_match": "EM",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
}


_POOLED = ("precision", "recall", "f1")


def metric_names(scores: Scores) -> list[tuple[str, str]]:
    """The metrics beside accuracy that some result has: their names and short titles."""
    rows = scores["results"]
    return [(n, _TITLES.get(n, n)) for n in METRICS if any(n in row["metrics"] for row in rows)]


def measures(scores: Scores) -> Table:
    """What other metrics than accuracy say, with their intervals."""
    names = metric_names(scores)
    models = main_rows(scores)
    pooled = [name for name in _POOLED if any(name in row["micro"] for row in models)]
    rows = [
        [
            row["model"],
            *(_with_interval(row["metrics"].get(name)) for name, _ in names),
            *([_with_interval(row["metrics"].get(F1_OF_MEANS))] if pooled else []),
            *(_with_interval(row["micro"].get(name)) for name in pooled),
        ]
        for row in models
    ]
    columns = ["Model", *(t for _, t in names), *(["F1 of means"] if pooled else [])]
    columns += [f"Micro {_TITLES[name]}" for name in pooled]
    note = CAA_MEANS if "caa" in dict(names) else ""
    return Table("measures", "Other measures", columns, rows if names else [], note=note)


def _with_interval(metric: Mapping[str, Any] | None) -> str:
    if metric is None:
        return ""
    if metric["interval"] is None:
        return percent(metric["value"])
    low, high = (points(end, 0) for end in metric["interval"])
    return f"{percent(metric['value'])} ({low} to {high})"


def _metric(row: Mapping[str, Any], name: str) -> str:
    shown = name in row["metrics"] and not no_score(row)
    return percent(row["metrics"][name]["value"]) if shown else ""


def _file_name(text: str) -> str:
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def ablation(found: Mapping[str, Any]) -> Table:
    """Accuracy over the values of one field of the protocol."""
    field = found["field"].replace("_", " ")
    columns = ["Model", *found["values"], "Best", "Same answer under all"]
    rows = [
        [
            model["model"],
            *_ablated(model),
            model["best"] or "",
            "" if model["same_answers"] is None else percent(model["same_answers"]),
        ]
        for model in found["models"]
    ]
    name = f"by-{found['field']}-{re.sub(r'[^a-z0-9]+', '-', found['conditions'][0].lower())}"
    return Table(name.strip("-"), f"Accuracy by {field}", columns, rows)


def _ablated(model: Mapping[str, Any]) -> list[str]:
    """The accuracies of a model, with the number of items where that is not the same of all."""
    shares = [percent(share) for share in model["accuracy"]]
    counts = model.get("items", ())
    return [f"{s} ({n:,} items)" for s, n in zip(shares, counts, strict=True)] if counts else shares


def judged(scores: Scores) -> Table:
    """The grades of replies to open questions, by judge."""
    columns = ["Model", "Judge", "Rubric", "Score", "Scale", "95% interval", "SE", "Judged"]
    columns += ["No reply", "Not graded", "Invalid rounds"]
    columns += ["With closed items"] if any(row["with_closed"] for row in scores["judged"]) else []
    rows = [
        [
            label(row, scores["judged"]),
            row["judge"],
            row["rubric"],
            "" if row["score"] is None else fixed(row["score"], 2),
            f"{row['scale'][0]:g} to {row['scale'][1]:g}",
            "" if not row["interval"] else " to ".join(fixed(end, 2) for end in row["interval"]),
            "" if row["standard_error"] is None else fixed(row["standard_error"], 2),
            judged_in_words(row),
            str(row["unanswered"]),
            str(row["ungraded"]),
            f"{row['invalid_rounds']} of {row['valid_rounds'] + row['invalid_rounds']}",
            *([_covering(row["with_closed"])] if "With closed items" in columns else []),
        ]
        for row in scores["judged"]
    ]
    return Table("judged", "Judged replies", columns, rows)


def judged_in_words(row: Mapping[str, Any]) -> str:
    """Write how many open questions were judged, and of how many where not all were asked."""
    asked = partly_asked(row)
    return f"{row['judged']} of {row['items']}" + (f", asked {asked}" if asked else "")


def _covering(mean: Mapping[str, Any] | None) -> str:
    """A mean with its interval, and with how much it covers where that is not all."""
    if mean is None or mean["covered"] == mean["items"]:
        return _with_interval(mean)
    return f"{_with_interval(mean)}, {mean['covered']} of {mean['items']}"


def judge_orders(scores: Scores) -> list[Table]:
    """The mean and the rank that each of several judges gives each model."""
    orders = scores.get("judge_orders", ())
    several = len(orders) > 1
    return [
        Table(
            _file_name(f"judges-{order['condition']}-{order['rubric']}") if several else "judges",
            _order_title(order, several),
            ["Judge", *order["models"]],
            [[judge["judge"], *map(_ranked, judge["means"], judge["ranks"])]
             for judge in order["judges"]],
        )
        for order in orders
    ]  # fmt: skip


def _order_title(order: Mapping[str, Any], several: bool) -> str:
    where = f", {order['condition']}, by {order['rubric']}" if several else ""
    ends = {True: "; the order is the same", False: "; the order is not the same", None: ""}
    return f"Mean grade from 0 to 1 and rank by judge{where}{ends[order['same_order']]}"


def _ranked(mean: float, rank: int) -> str:
    return f"{fixed(mean, 2)} ({rank})"
