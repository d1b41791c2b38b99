"""Ratings by category and axis: means, spread and AC2, checked against numbers from a pocket calculator.

With quadratic weights on 0 to 5, a step of d earns 1 - d * d / 25; all 36 weights sum up to 27.6, so
that chance is 27.6 / 30 = 0.92 times the sum of p (1 - p) over the shares p of the numbers.
"""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from review.steps import ANN, BEN, CAT, act, opened
from support import make_item, run_here

from reelbench.review.desk import desk_figures
from reelbench.review.export import write_export
from reelbench.review.protocol import Axis, ReviewProtocol, Sample
from reelbench.review.rating_results import rating_results
from reelbench.review.review import Review

RATE = ReviewProtocol(
    "rate", "rate", "Rate", "benchmark", reviewers=2, weights="quadratic",
    axes=(Axis("Quality"), Axis("Trace")), calibration=Sample(0.0, 1, "category"),
)  # fmt: skip
# (Ann, Ben) on Quality, and on Trace; of each category, what is drawn for calibration comes extra.
GAME = [((5, 5), (3, 5)), ((4, 4), (4, 4)), ((5, 4), (4, 4))]
STAGE = [((3, 5), (2, 2)), ((4, 4), (2, 2))]
# Quality, Game: observed 1 - 1/75, shares 1/2 and 1/2: (74/75 - 0.46) / 0.54
# Trace, Game: observed 1 - 4/75, shares 1/6, 4/6, 1/6: (71/75 - 0.46) / 0.54 as p (1 - p) is 1/2 again
# Quality, Stage: observed 0.92. An item that one person alone rated, with 0, counts for the shares, as
# the handbook has it: 1/3, 1/6, 1/3, 1/6, whose p (1 - p) sum up to 13/18: (0.92 - 0.664444) / 0.335556
# Trace, Stage: all alike: 1
EXPECTED = {
    ("Game", "Quality"): (3, 4.5, 0.5, 0.975309),
    ("Game", "Trace"): (3, 4.0, 0.0, 0.901235),
    ("Game", "all"): (3, 4.25, 0.25, (0.975309 + 0.901235) / 2),
    ("Stage", "Quality"): (2, 4.0, 0.0, 0.761589),
    ("Stage", "Trace"): (2, 2.0, 0.0, 1.0),
    ("Stage", "all"): (2, 3.0, 0.0, (0.761589 + 1) / 2),
    ("all", "Quality"): (5, 4.3, 0.447214, (0.975309 + 0.761589) / 2),
    ("all", "Trace"): (5, 3.2, 1.095445, (0.901235 + 1) / 2),
    ("all", "all"): (5, 3.75, 0.707107, (0.975309 + 0.901235 + 0.761589 + 1) / 4),
}


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Review]:
    names = ["Game"] * 4 + ["Stage"] * 4
    items = [make_item(n).replace(tags={"category": name}) for n, name in enumerate(names)]
    with opened(tmp_path / "b", items, RATE) as review:
        queue = review.queue(RATE.name)
        left = {"Game": list(GAME), "Stage": list(STAGE)}
        planned = {}
        for item, subject in queue.subjects().items():
            (name,) = subject.tag("category")
            if item not in queue.calibration_set() and left[name]:
                planned[item] = left[name].pop(0)
        for person in (ANN, BEN, CAT):
            while task := review.next_task(person, RATE.name):
                at = 0 if person is ANN else 1
                quality, trace = planned.get(task["item"], ((0, 5), (0, 5)))
                if person is not ANN and task["item"] not in {*planned, *queue.calibration_set()}:
                    break  # the last of Stage has the rating of one person alone
                rating = {"Quality": quality[at], "Trace": trace[at]}
                act(review, person, task, "rated", rating=rating)
        yield review


def test_means_spread_and_agreement_of_each_category_and_axis(
    review: Review, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (results,) = rating_results(review)
    assert results.calibration == 2
    found = {
        tuple(part or "all" for part in each.key): (each.subjects, each.mean, each.sd, each.value)
        for each in results.groups
    }
    assert list(found) == list(EXPECTED)
    for key, numbers in EXPECTED.items():
        assert found[key] == pytest.approx(numbers, abs=1e-6), key
    stage = results.group("Stage", "Quality")
    assert stage is not None
    assert (stage.left_out, stage.raters) == (1, 2)
    assert desk_figures(review, []).results == [results]

    write_export(review, tmp_path / "out")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / results.summary_file).read_text())))
    assert [(row["category"], row["axis"]) for row in rows] == list(EXPECTED)
    assert rows[0]["mean"] == "4.5000"
    assert (rows[0]["ac2"], rows[0]["weights"]) == ("0.9753", "quadratic")
    assert rows[0]["categories"] == "0 1 2 3 4 5"
    assert rows[0]["low"]

    words = results.command.split()[1:]
    words[1] = str(tmp_path / "out" / words[1])
    assert run_here(*words, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    again = {
        (each["category"] or "all", each["axis"] or "all"): each["value"]
        for each in record["groups"]
    }
    assert again == pytest.approx({key: numbers[3] for key, numbers in EXPECTED.items()}, abs=1e-6)


def test_groups_are_printed_with_their_average_and_a_wrong_column_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.csv"
    rows = ["a,1,5,5", "a,2,4,4", "a,3,5,4", ",1,3,5", ",2,4,4"]
    path.write_text("\n".join(["axis,id,Ann,Ben", *rows]) + "\n")
    words = ("agree", path, "--weights", "quadratic", "--categories", "0,1,2,3,4,5")
    assert run_here(*words, "--by", "axis") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines[1:]] == ["a", "none", "all"]
    assert [line[5] for line in lines[1:]] == ["0.975309", "0.811765", "0.893537"]
    assert run_here(*words, "--by", "art") != 0
    assert "no column art" in capsys.readouterr().err
    assert run_here(*words, "--by", "axis", "--sample", "2") != 0
    assert "one --method" in capsys.readouterr().err
