"""``reelbench agree``."""

import argparse
import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.cli.say import put, put_table, tell
from reelbench.score.rounding import fixed

if TYPE_CHECKING:
    from reelbench.score.rated_groups import RatedGroup
    from reelbench.score.ratings import Scale


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "weights:      identity, linear, quadratic, ordinal, radical, ratio\n"
        "coefficients: percent, cohen, conger, fleiss, ac1, ac2, krippendorff\n\n"
        "examples:\n"
        "  reelbench agree ratings.csv --weights identity --categories yes,no\n"
        "  reelbench agree ratings.csv --weights linear --categories 0,1,2,3,4,5 --method ac2\n"
        "  reelbench agree answers.csv --weights identity --categories A,B,C,D --method cohen "
        "--sample 240\n"
        "  reelbench agree rate.csv --weights quadratic --categories 0,1,2,3,4,5 --by category "
        "--by axis"
    )
    parser.add_argument(
        "ratings", type=Path, help="CSV or JSONL file: one row per subject, or one per rating"
    )
    parser.add_argument(
        "--weights", required=True, help="partial credit for near misses (identity: none)"
    )
    parser.add_argument(
        "--categories",
        required=True,
        help="every category that raters could choose, also unused ones, lowest first: 0,1,2,3,4,5",
    )
    parser.add_argument(
        "--method",
        action="append",
        metavar="COEFFICIENT",
        help="coefficient to compute; repeatable (default: all that apply)",
    )
    parser.add_argument("--id", metavar="COLUMN", help="column with the subject ids")
    parser.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="COLUMN",
        help="report agreement for each value of this column, and the average; repeatable",
    )
    parser.add_argument(
        "--sample",
        type=int,
        metavar="N",
        help="use N randomly chosen subjects with at least two ratings",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default: 0)")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def main(options: argparse.Namespace) -> int:
    """Measure the agreement and print the table."""
    from reelbench.base.files import pretty_json
    from reelbench.score.agreement import METHOD, agreement
    from reelbench.score.ratings import Scale, read_ratings

    scale = Scale.of(next(csv.reader([options.categories], skipinitialspace=True), []))
    if options.by:
        return _by_groups(options, scale)
    ratings = read_ratings(options.ratings, scale, options.id)
    if options.sample is not None:
        if options.sample < 2:
            raise ReelbenchError("--sample takes the number of subjects, 2 or more.")
        ratings = ratings.sample(options.sample, options.seed)
    found = agreement(ratings, options.weights, options.method or ())
    record = {
        **ratings.to_record(),
        **({"sample": options.sample, "seed": options.seed} if options.sample else {}),
        "weights": options.weights,
        "interval": METHOD,
        "coefficients": [coefficient.to_record() for coefficient in found],
    }
    undefined = [coefficient.name for coefficient in found if coefficient.value is None]
    if undefined:
        why = (
            f"{options.ratings}: all ratings are of one category, so that any agreement could be "
            f"chance and nothing can be said by {', '.join(undefined)}"
        )
        if len(undefined) == len(found):
            raise ReelbenchError(f"{why}: percent and ac1 or ac2 still have a value.")
        tell(f"{why}.")
    if options.json:
        put(pretty_json(record).rstrip("\n"))
    else:
        _put_table(record)
    return 0


def _by_groups(options: argparse.Namespace, scale: "Scale") -> int:
    """Measure one coefficient in each group, and print it with means and standard deviations."""
    from reelbench.base.files import pretty_json
    from reelbench.score.agreement import METHOD, METHODS
    from reelbench.score.rated_groups import rated_groups
    from reelbench.score.ratings import read_grouped

    if len(options.method or ()) > 1 or options.sample is not None:
        raise ReelbenchError("--by takes one --method, and no --sample.")
    plain = options.weights == "identity"
    (method,) = options.method or ["ac1" if plain else "ac2"]
    cells = read_grouped(options.ratings, scale, options.by, options.id)
    found = rated_groups(cells, options.weights, method)
    if options.json:
        facts = {"file": str(options.ratings), "method": method, "weights": options.weights,
                 "categories": list(scale.categories), "interval": METHOD}  # fmt: skip
        groups = [each.to_record(options.by) for each in found]
        put(pretty_json({**facts, "by": options.by, "groups": groups}).rstrip("\n"))
        return 0
    rows = [(*(part or "all" for part in each.key), *_cells(each)) for each in found]
    heading = ("subjects", "raters", "mean", "sd", METHODS[method][0], "95% interval")
    put_table((*options.by, *heading), rows)
    tell(
        f"Weights {options.weights}, categories {','.join(scale.categories)}. Means and standard "
        "deviations are over subjects with at least two ratings, averaged per subject first. "
        f"In rows marked all, the coefficient is the mean over groups. Interval: {METHOD}."
    )
    return 0


def _cells(group: "RatedGroup") -> tuple[str, ...]:
    centre, spread = ("" if each is None else fixed(each, 3) for each in (group.mean, group.sd))
    value = "undefined" if group.value is None else fixed(group.value, 6)
    ends = group.interval
    interval = " to ".join(fixed(end, 3) for end in ends) if ends else ""
    return str(group.subjects), str(group.raters), centre, spread, value, interval


def _put_table(record: Mapping[str, Any]) -> None:
    """Write a row per coefficient, each with the weights and categories that it hangs on."""
    rows = []
    for row in record["coefficients"]:
        known = row["value"] is not None
        rows.append(
            (
                row["name"],
                record["weights"],
                ",".join(record["categories"]),
                fixed(row["value"], 6) if known else "undefined",
                " to ".join(fixed(end, 3) for end in row["interval"]) if known else "",
                fixed(row["observed"], 3),
                fixed(row["chance"], 3),
            )
        )
    put_table(
        ("coefficient", "weights", "categories", "value", "95% interval", "observed", "chance"),
        rows,
    )
    paired, raters = record["subjects_with_two_ratings"], len(record["raters"])
    tell(
        f"{counted(record['subjects'], 'subject')} ({paired} with two ratings or more), "
        f"{counted(raters, 'rater')}, {counted(record['ratings'], 'rating')}, "
        f"{record['missing']} missing. Interval: {record['interval']}."
    )
