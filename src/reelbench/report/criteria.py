"""Tables of open answers by criterion, and of the same questions with options and without."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.pages.table import Table
from reelbench.report.rows import label
from reelbench.score.rounding import fixed, percent

Scores = Mapping[str, Any]
_MOST_VALUES = 20  # of a tag: more make no table that one can read


def criterion_tables(scores: Scores) -> list[Table]:
    """Return the means by criterion, the same by each tag, and what options add to them."""
    judged = [row for row in scores["judged"] if row.get("criteria")]
    linked = [row for row in scores["judged"] if row["twins"]]
    made = [
        _overall(judged),
        *(_by_tag(judged, tag) for tag in _tags(judged)),
        *(_counterparts(linked, tag) for tag in ("", *_tags_of_pairs(linked))),
    ]
    return [table for table in made if table.rows]


def _overall(judged: Sequence[Mapping[str, Any]]) -> Table:
    names = _names(judged)
    rows = []
    for row in judged:
        found = {each["criterion"]: each for each in row["criteria"]}
        cells = [_with_interval(found.get(name, {})) for name in names]
        rows.append([label(row, judged), row["judge"], *cells, _with_interval(row)])
    columns = ["Model", "Judge", *(name.capitalize() for name in names), "Overall"]
    return Table("criteria", "Open answers by criterion", columns, rows)


def _by_tag(judged: Sequence[Mapping[str, Any]], tag: str) -> Table:
    names = _names(judged)
    rows = []
    for row in judged:
        found = {each["criterion"]: each["by"].get(tag, {}) for each in row["criteria"]}
        values: Mapping[str, Any] = next(iter(found.values()), {})
        for value, group in values.items():
            # Another rubric has other criteria.
            cells = [_two(found.get(name, {}).get(value, {}).get("score")) for name in names]
            rows.append([_named(row, judged), value, *cells, str(group["items"])])
    heading = _heading(tag)
    columns = ["Model", heading, *(name.capitalize() for name in names), "Items"]
    title = f"Open answers by criterion and {heading.lower()}"
    return Table(f"criteria-by-{tag}", title, columns, rows)


def _counterparts(linked: Sequence[Mapping[str, Any]], tag: str) -> Table:
    rows = []
    for row in linked:
        groups = row["twins"].get("by", {}).get(tag, {}) if tag else {"all": row["twins"]}
        for value, group in groups.items():
            share = group["closed_right_among_poor"]
            rows.append(
                [
                    _named(row, linked),
                    value,
                    str(group["pairs"]),
                    percent(group["open_poor"]),
                    "" if share is None else percent(share),
                ]
            )
    columns = ["Model", _heading(tag) or "Questions", "Pairs", "Poor without options"]
    columns.append("Of these, right with options")
    title = "The same questions with options" + (f", by {_heading(tag).lower()}" if tag else "")
    return Table(f"with-options{f'-by-{tag}' if tag else ''}", title, columns, rows)


def origins(scores: Scores) -> Table:
    """Return which wrong options models chose, by where these come from."""
    rows = []
    for row in scores.get("origins", ()):
        shares = [
            f"{percent(each['share'])} ({percent(each['offered'])} of the wrong options)"
            if each["share"] is not None
            else ""
            for each in row["origins"].values()
        ]
        rows.append([label(row, scores["origins"]), *shares, str(row["wrong"])])
    names = [name.capitalize() for row in scores.get("origins", ())[:1] for name in row["origins"]]
    title = "Wrong choices by the origin of the option"
    return Table("wrong-by-origin", title, ["Model", *names, "Wrong"], rows)


def _named(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Name a result, by its judge too where several judged."""
    several = len({(each["judge"], each["rubric"]) for each in rows}) > 1
    return label(row, rows) + (f" ({row['judge']}, {row['rubric']})" if several else "")


def _names(judged: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(each["criterion"] for row in judged for each in row["criteria"]))


def _tags(judged: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the tags that have more than one value, and not too many."""
    groups = [each["by"] for row in judged for each in row["criteria"]]
    yield from _readable(groups)


def _tags_of_pairs(linked: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from _readable([row["twins"].get("by", {}) for row in linked])


def _readable(groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for tag in dict.fromkeys(tag for group in groups for tag in group):
        values = {value for group in groups for value in group.get(tag, ())}
        if 1 < len(values) <= _MOST_VALUES:
            yield tag


def _heading(tag: str) -> str:
    return tag.replace("_", " ").capitalize()


def _with_interval(mean: Mapping[str, Any]) -> str:
    score, interval = _two(mean.get("score")), mean.get("interval")
    return f"{score} ({' to '.join(map(_two, interval))})" if interval else score


def _two(score: float | None) -> str:
    return "" if score is None else fixed(score, 2)
