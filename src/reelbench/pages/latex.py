"""Tables as LaTeX that a paper can take as they are."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence

_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In the encoding that LaTeX begins with, these print as something else.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # And these stop pdfLaTeX, unless packages are loaded.
    "→": r"$\rightarrow$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "−": r"$-$",
    "∞": r"$\infty$",
    "Δ": r"$\Delta$",
    "κ": r"$\kappa$",
}
_MINUS = re.compile(r"(?<![\w.)-])-(?=\.?\d)")  # before a number, and not in a name such as gpt-4
_COLUMN, _PAGE = 52, 118  # characters of a row that fit into a column, and across a page
_PRINTED_BY_ALL = 0x250  # letters from here on need a font that pdfLaTeX does not load
_TYPED = frozenset("–—‘’“”„†‡•…€™‰")


def in_latex(cell: str) -> str:
    """Return a text as LaTeX prints it: no sign in it is a command."""
    whole = " ".join(cell.split())
    whole = "".join(s for s in whole if s in _JOINERS or unicodedata.category(s) not in _UNPRINTED)
    minus = {found.start() for found in _MINUS.finditer(whole)}
    text = "".join(
        "$-$" if place in minus else _SPECIAL.get(sign, sign) for place, sign in enumerate(whole)
    )
    text = re.sub(r"(?<=-)-", "{}-", text)  # two of them would print as one longer one
    # Behind the end of a row, these would belong to that.
    return f"{{{text[0]}}}{text[1:]}" if text.startswith(("[", "*")) else text


_JOINERS = "\u200c\u200d"  # part of how some languages are written
_UNPRINTED = ("Cc", "Cf", "Cs", "Co", "Cn")  # controls, also of direction, and what is no sign


def latex_table(
    name: str,
    caption: tuple[str, str],
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    groups: Collection[int],
    ends: int,
) -> str:
    """Return a float with a caption and a label; cells are LaTeX already.

    ``groups`` are rows that are headings, and ``ends`` so many rows at the end that are no results.
    A table that does not fit into a column goes across the page, one that does not fit there
    is made smaller.
    """
    title, note = (" ".join(part.split()) for part in caption)
    cells = list(zip(columns, *_plain(rows, groups), strict=True))
    width = sum(max(map(_length, column)) for column in cells) + 2 * len(columns)
    kind = "table*" if width > _COLUMN else "table"
    shrunk = width > _PAGE
    lines = [
        *_comments(title, [*columns, *(cell for row in rows for cell in row), note], shrunk),
        f"\\begin{{{kind}}}[t]",
        r"\centering",
        *([r"\small"] if kind == "table*" and not shrunk else []),
        f"\\caption{{{_sentence(title)}{f' {in_latex(note)}' if note else ''}}}",
        f"\\label{{tab:{_label(name)}}}",
        *([r"\resizebox{\textwidth}{!}{%"] if shrunk else []),
        f"\\begin{{tabular}}{{l{''.join(map(_side, cells[1:]))}}}",
        r"\toprule",
        _row(columns),
        r"\midrule",
        *_body(rows, groups, ends, len(columns)),
        r"\bottomrule",
        r"\end{tabular}" + ("}" if shrunk else ""),
        f"\\end{{{kind}}}",
    ]
    return "\n".join(lines) + "\n"


def _plain(rows: Sequence[Sequence[str]], groups: Collection[int]) -> Iterator[Sequence[str]]:
    return (row for place, row in enumerate(rows) if place not in groups)


def _side(column: Sequence[str]) -> str:
    """The side that a column is aligned to: that of numbers, unless all cells are words."""
    given = [cell for cell in column[1:] if cell]
    return "l" if given and all(cell[0].isalpha() for cell in given) else "r"


def _length(cell: str) -> int:
    """How many signs of a cell are printed, roughly."""
    return len(re.sub(r"\\[a-z]+\{?|[{}$\\]", "", cell))


def _comments(title: str, cells: Sequence[str], shrunk: bool) -> Iterator[str]:
    yield f"% {_in_comment(title)}"
    packages = ["booktabs", *(["graphicx"] if shrunk else [])]
    yield f"% Needs \\usepackage{{{','.join(packages)}}}"
    foreign = {s for cell in cells for s in cell if ord(s) >= _PRINTED_BY_ALL and s not in _TYPED}
    if foreign:
        ways = {unicodedata.bidirectional(sign) for sign in foreign}
        bidi = r", \usepackage[bidi=basic]{babel}" if ways & {"R", "AL"} else ""
        yield f"% Needs LuaLaTeX or XeLaTeX, and a font that has these letters{bidi}"


def _in_comment(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _sentence(title: str) -> str:
    text = in_latex(title)
    return text if not text or text[-1] in ".!?" else f"{text}."


def _label(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-") or "table"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _body(
    rows: Sequence[Sequence[str]], groups: Collection[int], ends: int, columns: int
) -> Iterator[str]:
    for place, row in enumerate(rows):
        if place == len(rows) - ends or (place in groups and place):
            yield r"\midrule"
        if place in groups:
            yield f"\\multicolumn{{{columns}}}{{l}}{{\\textit{{{row[0]}}}}} \\\\"
        else:
            yield _row(row)
