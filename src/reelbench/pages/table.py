"""A table, and how it is written as CSV, Markdown and LaTeX."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name, what it shows, and its cells as texts. The first column names the row."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: Collection[tuple[int, int]] = ()  # rows and columns of the cells to be set in bold
    second: Collection[tuple[int, int]] = ()  # and of those to be underlined

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
        """Return it for a paper, with the rules of booktabs."""
        kinds = "l" + "r" * (len(self.columns) - 1)
        marks = (r"\textbf{{{}}}", r"\underline{{{}}}")
        cells = [[*map(_in_latex, self.columns)], *self._spelled(_in_latex, *marks)]
        lines = [" & ".join(line) + r" \\" for line in cells]
        body = "\n".join(lines[1:])
        title = " ".join(self.title.split())
        return (
            f"% {title}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{lines[0]}\n\\midrule\n"
            f"{body}\n\\bottomrule\n\\end{{tabular}}\n"
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
_ONE_NUMBER = r"[+-]?(?:\d[\d,]*)?\.?\d+(?:[eE][+-]?\d+)?\s?%?"
_PAIR = rf"{_ONE_NUMBER}(?: (?:to|of) {_ONE_NUMBER})?"
_NUMBER = re.compile(rf"{_PAIR}(?: \({_PAIR}\))?|-")


def _in_markdown(cell: str) -> str:
    return " ".join(cell.replace("\\", "\\\\").replace("|", "\\|").split())


_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {character: f"\\{character}" for character in "&%$#_{}"}


def _in_latex(cell: str) -> str:
    text = " ".join("".join(_SPECIAL.get(character, character) for character in cell).split())
    # Behind the end of a row, these would belong to that.
    return f"{{{text[0]}}}{text[1:]}" if text.startswith(("[", "*")) else text
