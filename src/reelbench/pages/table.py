"""A table, and how it is written as CSV, Markdown and LaTeX."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from reelbench.pages.latex import in_latex, latex_table


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name, what it shows, and its cells as texts. The first column names the row."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: Collection[tuple[int, int]] = ()  # rows and columns of the cells to be set in bold
    second: Collection[tuple[int, int]] = ()  # and of those to be underlined
    groups: Collection[int] = ()  # rows that name those below them, over all columns
    ends: int = 0  # rows at the end that are no results, such as chance: a rule parts them
    note: str = ""  # a sentence for the caption, behind the title

    def to_csv(self) -> str:
        """Return it for spreadsheets."""
        lines = (self.columns, *self.rows)
        return "".join(",".join(map(_in_csv, line)) + "\n" for line in lines)

    def to_markdown(self) -> str:
        """Return it for a page of text."""
        body = self._spelled(_in_markdown, "**{}**", "<u>{}</u>")
        lines = [[*map(_in_markdown, self.columns)], ["---"] * len(self.columns), *body]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def to_latex(self) -> str:
        """Return it for a paper: a float with a caption, a label and the rules of booktabs."""
        body = self._spelled(in_latex, r"\textbf{{{}}}", r"\underline{{{}}}")
        return latex_table(
            self.name,
            (self.title, self.note),
            [*map(in_latex, self.columns)],
            list(body),
            self.groups,
            self.ends,
        )

    def _spelled(self, spell: Callable[[str], str], bold: str, line: str) -> Iterator[list[str]]:
        marks = dict.fromkeys(self.second, line) | dict.fromkeys(self.best, bold)
        for place, row in enumerate(self.rows):
            yield [
                marks.get((place, column), "{}").format(spell(cell))
                for column, cell in enumerate(row)
            ]


def _in_csv(cell: str) -> str:
    """Quote what must be; Python's own writer forgets a lone carriage return.

    What a spreadsheet would take for a formula gets a quote in front; numbers stay numbers.
    """
    if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        cell = f"'{cell}"
    if not re.search(r'[",\r\n]', cell):
        return cell
    doubled = cell.replace('"', '""')
    return f'"{doubled}"'


_FORMULA = re.compile(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_ONE_NUMBER = r"[+-]?(?:\d++(?:,\d++)*+(?:\.\d++)?|\.\d++)(?:[eE][+-]?\d++)?\s?%?"
_PAIR = rf"{_ONE_NUMBER}(?: (?:to|of) {_ONE_NUMBER})?"
_NUMBER = re.compile(rf"{_PAIR}(?: \({_PAIR}\))?|-")


def _in_markdown(cell: str) -> str:
    return " ".join(cell.replace("\\", "\\\\").replace("|", "\\|").split())
