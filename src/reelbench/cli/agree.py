"""``reelbench agree``."""

import argparse
import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.cli.say import put, put_table, tell
from reelbench.score.rounding import fixed


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "weights:      identity, linear, quadratic, ordinal, radical, ratio\n"
        "coefficients: percent, cohen, conger, fleiss, ac1, ac2, krippendorff\n\n"
        "examples:\n"
        "  reelbench agree ratings.csv --weights identity --categories yes,no\n"
        "  reelbench agree ratings.csv --weights linear --categories 0,1,2,3,4,5 --method ac2\n"
        "  reelbench agree answers.csv --weights identity --categories A,B,C,D --method cohen "
        "--sample 240"
    )
    parser.add_argument("ratings", type=Path, help="CSV or JSONL: a row per subject, or per rating")
    parser.add_argument(
        "--weights", required=True, help="how much credit near misses earn (identity: none)"
    )
    parser.add_argument(
        "--categories",
        required=True,
        help="all that raters could choose, used or not: 0,1,2,3,4,5 (words from low to high)",
    )
    parser.add_argument(
        "--method",
        action="append",
        metavar="COEFFICIENT",
        help="a coefficient; may come several times (default: all that apply)",
    )
    parser.add_argument("--id", metavar="COLUMN", help="the column that names the subjects")
    parser.add_argument(
        "--sample",
        type=int,
        metavar="N",
        help="measure it on N subjects, drawn from those with two ratings or more",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default: 0)")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def main(options: argparse.Namespace) -> int:
    """Measure the agreement and print the table."""
    from reelbench.base.files import pretty_json
    from reelbench.score.agreement import METHOD, agreement
    from reelbench.score.ratings import Scale, read_ratings

    scale = Scale.of(next(csv.reader([options.categories], skipinitialspace=True), []))
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
