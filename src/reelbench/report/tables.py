"""The tables of a report, and how they are written as CSV, Markdown and LaTeX."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.files import write_atomically
from reelbench.report.figures import label, main_rows, shown_tags
from reelbench.score.metrics import METRICS
from reelbench.score.rounding import fixed, percent, points

Scores = Mapping[str, Any]
_LONGEST = 80  # characters of a file's name


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name, what it shows, and its cells as texts. The first column names the row."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: Collection[tuple[int, int]] = ()  # rows and columns of the cells to be set in bold

    def to_csv(self) -> str:
        """Return it for spreadsheets."""
        lines = (self.columns, *self.rows)
        return "".join(",".join(map(_in_csv, line)) + "\n" for line in lines)

    def to_markdown(self) -> str:
        """Return it for a page of text."""
        body = self._spelled(_in_markdown, "**{}**")
        lines = [[*map(_in_markdown, self.columns)], ["---"] * len(self.columns), *body]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def to_latex(self) -> str:
        """Return it for a paper, with the rules of booktabs."""
        kinds = "l" + "r" * (len(self.columns) - 1)
        cells = [[*map(_in_latex, self.columns)], *self._spelled(_in_latex, r"\textbf{{{}}}")]
        lines = [" & ".join(line) + r" \\" for line in cells]
        body = "\n".join(lines[1:])
        title = " ".join(self.title.split())
        return (
            f"% {title}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{lines[0]}\n\\midrule\n"
            f"{body}\n\\bottomrule\n\\end{{tabular}}\n"
        )

    def _spelled(self, spell: Callable[[str], str], bold: str) -> Iterator[list[str]]:
        for place, row in enumerate(self.rows):
            yield [
                bold.format(spell(cell)) if (place, column) in self.best else spell(cell)
                for column, cell in enumerate(row)
            ]


def tables(scores: Scores) -> list[Table]:
    """Return all tables that the scores have something to say for."""
    made = [
        leaderboard(scores),
        *(table for found in declared(scores) for table in (shown(found), sureness(found))),
        measures(scores),
        *(by_tag(scores, tag) for tag in shown_tags(scores)),
        failures(scores),
        *(ablation(found) for found in scores["ablations"] if found["models"]),
        judged(scores),
        *judge_orders(scores),
    ]
    return [table for table in made if table.rows]


def write_tables(scores: Scores, folder: Path) -> list[Path]:
    """Write every table three times into a folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    names: set[str] = set()
    for table in tables(scores):
        name, number = table.name[:_LONGEST], 1
        while name.casefold() in names:  # tags whose names differ in signs alone
            number += 1
            name = f"{table.name[:_LONGEST]}-{number}"
        names.add(name.casefold())
        forms = {".csv": table.to_csv(), ".md": table.to_markdown(), ".tex": table.to_latex()}
        for ending, text in forms.items():
            written.append(folder / f"{name}{ending}")
            write_atomically(written[-1], text)
    return written


def leaderboard(scores: Scores) -> Table:
    """Accuracy of each model with its interval, and what else was measured."""
    rows = scores["results"]
    names = [name for name in METRICS if any(name in row["metrics"] for row in rows)]
    several = len({row["condition"] for row in rows}) > 1
    columns = ["Model", *(["Condition"] if several else []), "Accuracy", "95% interval"]
    columns += [_TITLES[name] for name in names] + ["Answered", "Items"]
    lines = [
        [
            row["model"],
            *([row["condition"]] if several else []),
            percent(row["accuracy"]),
            f"{percent(row['interval'][0])} to {percent(row['interval'][1])}",
            *(_metric(row, name) for name in names),
            str(row["answered"]),
            str(row["items"]),
        ]
        for row in rows
    ]
    blank = [""] * (len(columns) - 2 - several)
    chance = ["chance", *([""] if several else []), percent(scores["chance"]["accuracy"]), *blank]
    return Table("leaderboard", "Leaderboard", columns, [*lines, chance] if lines else [])


_TITLES = {
    "steady": "Steady",
    "caa": "CAA",
    "exact_match": "EM",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
}


def metric_names(scores: Scores) -> list[tuple[str, str]]:
    """The metrics beside accuracy that some result has: their names and short titles."""
    rows = scores["results"]
    return [(n, _TITLES[n]) for n in METRICS if any(n in row["metrics"] for row in rows)]


def measures(scores: Scores) -> Table:
    """What other metrics than accuracy say, with their intervals."""
    names = metric_names(scores)
    rows = [
        [row["model"], *(_with_interval(row["metrics"].get(name)) for name, _ in names)]
        for row in main_rows(scores)
    ]
    return Table(
        "measures", "Other measures", ["Model", *(t for _, t in names)], rows if names else []
    )


def _with_interval(metric: Mapping[str, Any] | None) -> str:
    if metric is None:
        return ""
    low, high = (points(end, 0) for end in metric["interval"])
    return f"{percent(metric['value'])} ({low} to {high})"


def _metric(row: Mapping[str, Any], name: str) -> str:
    return percent(row["metrics"][name]["value"]) if name in row["metrics"] else ""


def by_tag(scores: Scores, tag: str) -> Table:
    """Accuracy by the values of a tag."""
    values = list(scores["chance"]["by"][tag])
    rows = [
        [label(row, scores["results"]), *(percent(row["by"][tag][v]["accuracy"]) for v in values)]
        for row in scores["results"]
    ]
    chance = ["chance", *(percent(scores["chance"]["by"][tag][value]) for value in values)]
    name = _file_name(tag) or "tag"
    return Table(f"by-{name}", f"Accuracy by {tag}", ["Model", *values], [*rows, chance])


def _file_name(text: str) -> str:
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def failures(scores: Scores) -> Table:
    """How many replies could not be read, were refused, or never came."""
    columns = ["Model", "Unreadable", "Refused", "Failed", "Not asked", "Read by a judge"]
    rows = [
        [
            label(row, scores["results"]),
            f"{row['unread']} ({percent(row['rates']['parse_failure'])})",
            f"{row['statuses'].get('refused', 0)} ({percent(row['rates']['refused'])})",
            f"{sum(row['statuses'].get(s, 0) for s in ('error', 'timeout'))} "
            f"({percent(row['rates']['error'])})",
            str(row["missing"] + row["statuses"].get("over_budget", 0)),
            str(row["read_by_judge"]),
        ]
        for row in scores["results"]
    ]
    return Table("failures", "Without an answer", columns, rows)


def ablation(found: Mapping[str, Any]) -> Table:
    """Accuracy over the values of one field of the protocol."""
    field = found["field"].replace("_", " ")
    columns = ["Model", *found["values"], "Best", "Same answer under all"]
    rows = [
        [
            model["model"],
            *map(percent, model["accuracy"]),
            model["best"],
            "" if model["same_answers"] is None else percent(model["same_answers"]),
        ]
        for model in found["models"]
    ]
    name = f"by-{found['field']}-{re.sub(r'[^a-z0-9]+', '-', found['conditions'][0].lower())}"
    return Table(name.strip("-"), f"Accuracy by {field}", columns, rows)


def judged(scores: Scores) -> Table:
    """What judges gave the replies to open questions."""
    columns = ["Model", "Judge", "Rubric", "Score", "Scale", "95% interval", "Judged", "Invalid"]
    columns += ["With closed items"] if any(row["with_closed"] for row in scores["judged"]) else []
    rows = [
        [
            label(row, scores["judged"]),
            row["judge"],
            row["rubric"],
            "" if row["score"] is None else fixed(row["score"], 2),
            f"{row['scale'][0]:g} to {row['scale'][1]:g}",
            "" if not row["interval"] else " to ".join(fixed(end, 2) for end in row["interval"]),
            f"{row['judged']} of {row['items']}",
            f"{row['invalid_rounds']} of {row['valid_rounds'] + row['invalid_rounds']}",
            *([_covering(row["with_closed"])] if "With closed items" in columns else []),
        ]
        for row in scores["judged"]
    ]
    return Table("judged", "Judged replies", columns, rows)


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


def declared(scores: Scores) -> list[Mapping[str, Any]]:
    """The tables that the benchmark declares, if there are items for them."""
    return [
        table
        for table in scores.get("tables", ())
        if table["rows"] and any(column["items"] for column in table["columns"])
    ]


def shown(found: Mapping[str, Any]) -> Table:
    """A declared table as a paper prints it: means, and what guessing comes to."""
    rows = [[name_of(row, found), *map(mean_of, row["cells"])] for row in found["rows"]]
    chances = [column["chance"] for column in found["columns"]]
    chance = ["chance", *(NONE if share is None else percent(share) for share in chances)]
    best = {(row, column + 1) for row, column in best_cells(found)}
    return Table(found["name"], found["title"], _columns(found), [*rows, chance], best)


def sureness(found: Mapping[str, Any]) -> Table:
    """How sure the means of a declared table are, and of how many items they are."""
    rows = [
        [name_of(row, found), *(interval_of(cell, percent) or NONE for cell in row["cells"])]
        for row in found["rows"]
    ]
    items = ["items", *(str(column["items"]) for column in found["columns"])]
    title = f"{found['title']}: 95% intervals"
    return Table(f"{found['name']}-intervals", title, _columns(found), [*rows, items])


NONE = "-"  # where there is nothing to take a mean of


def _columns(found: Mapping[str, Any]) -> list[str]:
    return ["Model", *(column["name"] for column in found["columns"])]


def name_of(row: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Name a row: by its condition too, where there are several, and people by their number."""
    name = label(row, found["rows"])
    several = row.get("participants", 1) > 1
    return f"{name}, {row['participants']} participants" if several else name


def mean_of(cell: Mapping[str, Any]) -> str:
    """Write a mean, with how many items it covers where that is not all."""
    if cell["value"] is None:
        return NONE
    whole = cell["covered"] == cell["items"]
    return percent(cell["value"]) + ("" if whole else f" ({cell['covered']} of {cell['items']})")


def interval_of(cell: Mapping[str, Any], spell: Callable[[float], str]) -> str:
    """Write the interval of a mean; nothing where there is none."""
    return "" if cell["interval"] is None else " to ".join(map(spell, cell["interval"]))


_ENOUGH = 0.95  # of the widest cover: a mean of fewer items is not held against the others


def best_cells(found: Mapping[str, Any]) -> set[tuple[int, int]]:
    """Row and column of the best mean of each column, where several can be held together.

    A model whose replies nobody graded has no open questions in its mean, which are the harder
    ones: it does not win by that. People do not compete.
    """
    best = set()
    for column in range(len(found["columns"])):
        cells = {
            (place, column): row["cells"][column]
            for place, row in enumerate(found["rows"])
            if "participants" not in row and row["cells"][column]["covered"]
        }
        widest = max((cell["covered"] for cell in cells.values()), default=0)
        means = {
            place: cell["value"]
            for place, cell in cells.items()
            if cell["covered"] >= _ENOUGH * widest
        }
        if len(means) > 1:
            best |= {place for place, mean in means.items() if mean == max(means.values())}
    return best


def _in_csv(cell: str) -> str:
    """Quote what must be; Python's own writer forgets a lone carriage return."""
    if not re.search(r'[",\r\n]', cell):
        return cell
    doubled = cell.replace('"', '""')
    return f'"{doubled}"'


def _in_markdown(cell: str) -> str:
    return " ".join(cell.replace("\\", "\\\\").replace("|", "\\|").split())


_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {character: f"\\{character}" for character in "&%$#_{}"}


def _in_latex(cell: str) -> str:
    text = " ".join("".join(_SPECIAL.get(character, character) for character in cell).split())
    # Behind the end of a row, these would belong to that.
    return f"{{{text[0]}}}{text[1:]}" if text.startswith(("[", "*")) else text
