"""The tables of a report, and how they are written as CSV, Markdown and LaTeX."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.files import write_atomically
from reelbench.report.figures import label, main_rows, shown_tags
from reelbench.score.metrics import METRICS

Scores = Mapping[str, Any]
_LONGEST = 80  # characters of a file's name


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name, what it shows, and its cells as texts. The first column names the row."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def to_csv(self) -> str:
        """Return it for spreadsheets."""
        lines = (self.columns, *self.rows)
        return "".join(",".join(map(_in_csv, line)) + "\n" for line in lines)

    def to_markdown(self) -> str:
        """Return it for a page of text."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "".join(f"| {' | '.join(map(_in_markdown, line))} |\n" for line in lines)

    def to_latex(self) -> str:
        """Return it for a paper, with the rules of booktabs."""
        kinds = "l" + "r" * (len(self.columns) - 1)
        lines = [" & ".join(map(_in_latex, line)) + r" \\" for line in (self.columns, *self.rows)]
        body = "\n".join(lines[1:])
        title = " ".join(self.title.split())
        return (
            f"% {title}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{lines[0]}\n\\midrule\n"
            f"{body}\n\\bottomrule\n\\end{{tabular}}\n"
        )


def tables(scores: Scores) -> list[Table]:
    """Return all tables that the scores have something to say for."""
    made = [
        leaderboard(scores),
        measures(scores),
        *(by_tag(scores, tag) for tag in shown_tags(scores)),
        failures(scores),
        *(ablation(found) for found in scores["ablations"] if found["models"]),
        judged(scores),
    ]
    return [table for table in made if table.rows]


def write_tables(scores: Scores, folder: Path) -> list[Path]:
    """Write every table three times into a folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    names: set[str] = set()
    for table in tables(scores):
        name, number = table.name[:_LONGEST], 1
        while name in names:  # tags whose names differ in signs alone
            number += 1
            name = f"{table.name[:_LONGEST]}-{number}"
        names.add(name)
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
    low, high = (f"{100 * end:.0f}" for end in metric["interval"])
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
    name = re.sub(r"\W+", "-", tag.lower()).strip("-") or "tag"
    return Table(f"by-{name}", f"Accuracy by {tag}", ["Model", *values], [*rows, chance])


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
            "" if row["score"] is None else f"{row['score']:.2f}",
            f"{row['scale'][0]:g} to {row['scale'][1]:g}",
            "" if not row["interval"] else "{:.2f} to {:.2f}".format(*row["interval"]),
            f"{row['judged']} of {row['items']}",
            f"{row['invalid_rounds']} of {row['valid_rounds'] + row['invalid_rounds']}",
            *([_with_interval(row["with_closed"])] if "With closed items" in columns else []),
        ]
        for row in scores["judged"]
    ]
    return Table("judged", "Judged replies", columns, rows)


def percent(share: float) -> str:
    """Write a share."""
    return f"{100 * share:.1f}%"


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
