"""The figures of a report."""

from collections.abc import Sequence
from typing import Any

from reelbench.data.items import LETTERS
from reelbench.pages.figure import (
    COLOURS,
    Figure,
    dashes_at,
    layout_of,
    marker,
    plain,
    points,
    wrapped,
)
from reelbench.report.profile_figures import pooled_positions, precision_and_recall, profiles
from reelbench.report.radar import radar
from reelbench.report.rows import Scores, main_rows, numbers
from reelbench.score.groups import TOGETHER

_ORDERED = ("length", "evidence")  # groups whose values follow each other
_MOST_VALUES = 24  # of a tag, for a figure that can be read


def figures(scores: Scores, tags: Sequence[str]) -> list[Figure]:
    """Return all figures for which the scores have data."""
    made = [
        *(by_tag(scores, tag, n) for n, tag in enumerate(tags) if tag not in _ORDERED),
        radar(scores, tags[0]) if tags else None,
        *(curve(scores, tag) for tag in _ORDERED if tag in scores["chance"]["by"]),
        *profiles(scores, tags),
        precision_and_recall(scores),
        positions(scores),
        pooled_positions(scores),
        *(ablation(scores, number) for number in range(len(scores["ablations"]))),
        distractors(scores),
    ]
    return [figure for figure in made if figure is not None]


def by_tag(scores: Scores, tag: str, place: int) -> Figure | None:
    """Accuracy by category as points with intervals, one colour per model, and chance as dashes."""
    rows, number = [row for row in main_rows(scores) if tag in row["by"]], numbers(scores)
    if not rows or len(scores["chance"]["by"][tag]) > _MOST_VALUES:
        return None
    chance = [100 * share for share in scores["chance"]["by"][tag].values()]
    dashes = [dashes_at(n - 0.42, n + 0.42, share) for n, share in enumerate(chance)]
    data = [
        points(row["model"], list(row["by"][tag]), list(row["by"][tag].values()),
                number[row["model"]])
        for row in rows
    ]  # fmt: skip
    layout = layout_of("accuracy, %", scattermode="group", scattergap=0.35, shapes=dashes)
    layout["showlegend"] = len(data) > 1
    names = list(scores["chance"]["by"][tag])
    layout["xaxis"] |= {"tickvals": [*map(plain, names)], "ticktext": [*map(wrapped, names)]}
    words = f"Accuracy of each model by {tag}, with intervals; the table below has the numbers."
    return Figure(f"by-tag-{place}", f"Accuracy by {tag}", words, data, layout)


def curve(scores: Scores, tag: str) -> Figure | None:
    """Accuracy along something that grows, such as the length of a video."""
    rows, number = main_rows(scores), numbers(scores)
    if not rows:
        return None
    data = [
        points(row["model"], list(row["by"][tag]), list(row["by"][tag].values()),
                number[row["model"]], True)
        for row in rows
    ]  # fmt: skip
    titles = {"length": "Accuracy by length of the clip",
              "evidence": "Accuracy by where the evidence lies"}  # fmt: skip
    words = f"{titles[tag]}, one line per model, with intervals."
    layout = layout_of("accuracy, %", showlegend=len(data) > 1)
    order = {"categoryorder": "array", "categoryarray": [*map(plain, scores["chance"]["by"][tag])]}
    layout["xaxis"] |= order  # a model that was not asked about one would change it
    return Figure(f"curve-{tag}", titles[tag], words, data, layout)


def positions(scores: Scores) -> Figure | None:
    """How often each position was chosen, beside how often it was right."""
    rows = [row for row in main_rows(scores) if row["bias"]["positions"]]
    number = numbers(scores)
    if not rows:
        return None
    counts = rows[0]["bias"]["positions"]
    count = max(counts, key=lambda name: (counts[name]["answers"], name))
    shown = [row for row in rows if count in row["bias"]["positions"]]
    letters = list(LETTERS[: int(count)])
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": plain(row["model"]),
            "x": letters,
            "y": [100 * share for share in row["bias"]["positions"][count]["chosen"]],
            "marker": {"color": marker(number[row["model"]])["color"]},
        }
        for row in shown
    ]
    right = [100 * share for share in shown[0]["bias"]["positions"][count]["right"]]
    dashes = [dashes_at(place - 0.45, place + 0.45, share) for place, share in enumerate(right)]
    layout = layout_of("share of answers, %", barmode="group", shapes=dashes, showlegend=True)
    layout["yaxis"] = {"title": {"text": "share of answers, %"}, "rangemode": "tozero"}
    words = (
        f"How often each position was chosen, of questions with {count} options; the dashes are "
        "how often it was right."
    )
    return Figure("positions", f"Positions chosen, {count} options", words, data, layout)


def ablation(scores: Scores, number: int) -> Figure | None:
    """Accuracy over the values of one field of the protocol."""
    found = scores["ablations"][number]
    if not found["models"]:
        return None
    data = [
        points(
            model["model"],
            found["values"],
            [{"accuracy": share, "interval": ends}
             for share, ends in zip(model["accuracy"], model["interval"], strict=True)],
            numbers(scores)[model["model"]],
            True,
        )
        for model in found["models"]
    ]  # fmt: skip
    title = f"Accuracy by {found['field'].replace('_', ' ')}"
    words = f"{title}, all else equal, one line per model, with intervals."
    layout = layout_of("accuracy, %", showlegend=len(data) > 1)
    return Figure(f"ablation-{number}", title, words, data, layout)


def distractors(scores: Scores) -> Figure | None:
    """How many wrong options were chosen by none, one, two ... of the models."""
    histogram = (scores.get("items") or {}).get("distractors", {}).get("histogram")
    if not histogram:
        return None
    bar = {
        "type": "bar",
        "x": [str(models) for models in range(len(histogram))],
        "y": list(histogram),
        "marker": {"color": COLOURS[0]},
    }
    layout = layout_of("wrong options")
    layout["xaxis"] |= {"title": {"text": "models that chose it"}}
    layout["yaxis"] = {"title": {"text": "wrong options"}, "rangemode": "tozero"}
    words = "How many wrong options were chosen by how many models; those at 0 mislead nobody."
    return Figure("distractors", "How often wrong options are chosen", words, [bar], layout)


def shown_tags(scores: Scores) -> list[str]:
    """The tags of a table each, the benchmark's own first; those in pairs are many, and last."""

    def place(tag: str) -> tuple[bool, bool, bool, str]:
        return tag.endswith(TOGETHER), tag not in scores["tags"], tag == "kind", tag

    return sorted(scores["chance"]["by"], key=place)


def tags_with_values(scores: Scores) -> list[str]:
    """The tags to show: those with more than one value, the benchmark's own first."""
    tags = [tag for tag in shown_tags(scores) if len(scores["chance"]["by"][tag]) > 1]
    return tags or list(scores["chance"]["by"])[:1]
