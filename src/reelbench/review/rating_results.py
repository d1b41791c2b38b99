"""What ratings come to: means, spread and agreement of each axis in each category."""

from collections.abc import Sequence
from dataclasses import dataclass

from reelbench.base.files import file_part
from reelbench.pages import Table
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.queue import ReviewQueue
from reelbench.review.review import Review
from reelbench.review.subjects import CATEGORY
from reelbench.score.rated_groups import GroupKey, RatedGroup, rated_groups
from reelbench.score.ratings import NO_GROUP, Ratings, Scale, table_of
from reelbench.score.rounding import fixed

AXIS = "axis"
GroupedRow = tuple[str, str, str, str, str]  # subject, category, axis, rater, rating


@dataclass(frozen=True, slots=True)
class RatingResults:
    """The results of one rate queue, calibration left out."""

    protocol: ReviewProtocol
    tag: str  # whose values are the categories
    rows: tuple[GroupedRow, ...]
    groups: tuple[RatedGroup, ...]  # by category and axis, and over them
    calibration: int  # items that everyone rated to learn the scale, and that are not in it

    @property
    def axes(self) -> list[str]:
        """The names of the axes, and an empty one for all of them."""
        return list(dict.fromkeys(axis for _, axis in (each.key for each in self.groups)))

    @property
    def categories(self) -> list[str]:
        """The categories, and an empty text for all of them."""
        return list(dict.fromkeys(name for name, _ in (each.key for each in self.groups)))

    def group(self, category: str, axis: str) -> RatedGroup | None:
        """Return one group; None where nobody has rated in it."""
        return next((each for each in self.groups if each.key == (category, axis)), None)

    @property
    def file(self) -> str:
        """The name of the file of all ratings among the exports."""
        return f"ratings/{file_part(self.protocol.name)}.csv"

    @property
    def summary_file(self) -> str:
        """The name of the file of the results among the exports."""
        return f"ratings/{file_part(self.protocol.name)}-by-{file_part(self.tag)}.csv"

    @property
    def command(self) -> str:
        """The command that gives the same numbers from the exported file."""
        categories = ",".join(self.protocol.axes[0].categories)
        return (
            f"reelbench agree {self.file} --weights {self.protocol.weights} "
            f"--categories {categories} --by {self.tag} --by {AXIS}"
        )

    def to_csv(self) -> str:
        """Return all ratings as ``reelbench agree`` reads them with ``--by``."""
        columns = ("subject", self.tag, AXIS, "rater", "rating")
        return Table("ratings", "Ratings", columns, self.rows).to_csv()

    def summary_csv(self) -> str:
        """Return the results: a row for each category and axis, and for all of them."""
        columns = (self.tag, AXIS, "items", "incomplete", "raters", "mean", "sd", "ac2", "low",
                   "high", "weights", "categories")  # fmt: skip
        scales = {axis.name: " ".join(axis.categories) for axis in self.protocol.axes}
        rows = [self._summary_row(each, scales.get(each.key[1], "")) for each in self.groups]
        return Table("results", "Results", columns, rows).to_csv()

    def _summary_row(self, group: RatedGroup, scale: str) -> list[str]:
        ends = group.interval or (None, None)
        numbers = (group.mean, group.sd, group.value, *ends)
        return [
            *(part or "all" for part in group.key),
            *map(str, (group.subjects, group.left_out, group.raters)),
            *("" if number is None else fixed(number, 4) for number in numbers),
            self.protocol.weights,
            scale,
        ]


def rating_results(review: Review) -> list[RatingResults]:
    """Return the results of all rate queues in which someone has rated."""
    queues = sorted(review.queues.values(), key=lambda queue: queue.name)
    found = (_results(queue) for queue in queues if queue.protocol.page == "rate")
    return [each for each in found if each.rows]


def _results(queue: ReviewQueue) -> RatingResults:
    protocol, learnt = queue.protocol, queue.calibration_set()
    tag = protocol.sample.per or protocol.calibration.per or CATEGORY
    rows = [
        (item, ", ".join(subject.tag(tag)) or NO_GROUP, axis.name, who, str(rating[axis.name]))
        for axis in protocol.axes
        for item, subject in sorted(queue.subjects().items())
        if item not in learnt
        for who, rating in sorted(queue.progress(subject).ratings.items())
        if axis.name in rating
    ]
    rows.sort(key=lambda row: row[1])
    groups = rated_groups(_cells(protocol, rows), protocol.weights, least=protocol.reviewers)
    return RatingResults(protocol, tag, tuple(rows), tuple(groups), len(learnt))


def _cells(protocol: ReviewProtocol, rows: Sequence[GroupedRow]) -> dict[GroupKey, Ratings]:
    scales = {axis.name: Scale.of(axis.categories) for axis in protocol.axes}
    parts: dict[GroupKey, list[tuple[str, str, object]]] = {}
    for subject, category, axis, who, rating in rows:
        parts.setdefault((category, axis), []).append((subject, who, rating))
    return {
        key: table_of(part, scales[key[1]], f"{protocol.name}.csv") for key, part in parts.items()
    }
