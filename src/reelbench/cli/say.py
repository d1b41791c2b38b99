"""How commands talk: data on stdout, everything else on stderr."""

import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.errors import ReelbenchError
from reelbench.score.rounding import fixed, percent


def tell(text: str = "") -> None:
    """Say something to the person; it never mixes with data."""
    if sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)  # noqa: T201


def put(text: str) -> None:
    """Write data."""
    print(text)  # noqa: T201


def put_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table with aligned columns that also reads well when piped."""
    shown = [[printable(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        put("  ".join(cells).rstrip())


def printable(text: str) -> str:
    """Spell out what a terminal would obey instead of show."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def put_scores(scores: Mapping[str, Any]) -> None:
    """Write the leaderboard of a ``scores.json``, and what has no answer."""
    from reelbench.score.score import unanswered_in_words

    rows = [
        (
            row["model"],
            row["condition"],
            f"{percent(row['accuracy'])}",
            f"{percent(row['interval'][0])} to {percent(row['interval'][1])}",
            f"{row['answered']} of {row['items']}",
        )
        for row in scores["results"]
    ]
    rows.append(("chance", "", f"{percent(scores['chance']['accuracy'])}", "", ""))
    if scores["results"]:
        put_table(("model", "condition", "accuracy", "95% interval", "answered"), rows)
    if scores["judged"]:
        put_judged(scores["judged"])
    for row in scores["results"]:
        words = unanswered_in_words(row)
        if words:
            tell(f"{printable(row['model'])}: {words}")
    for table in scores["tables"]:
        for warning in table["warnings"]:
            tell(f"warning: {printable(warning)}")


def put_judged(judged: Sequence[Mapping[str, Any]]) -> None:
    """Write what judges gave the replies to open questions."""
    rows = [
        (
            row["model"],
            row["condition"],
            row["judge"],
            "none" if row["score"] is None else fixed(row["score"], 2),
            f"{row['scale'][0]:g} to {row['scale'][1]:g}",
            " to ".join(fixed(end, 2) for end in row["interval"]) if row["interval"] else "",
            f"{row['judged']} of {row['items']}",
        )
        for row in judged
    ]
    headings = ("model", "condition", "judge", "score", "scale", "95% interval", "judged")
    put_table(headings, rows)


def settings(words: Sequence[str], form: str) -> dict[str, Any]:
    """Read ``NAME=VALUE`` as often as it is said, each value as YAML has it."""
    import yaml

    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        try:
            found[name] = yaml.safe_load(value)
        except yaml.YAMLError:
            equals = ""
        if not equals or not name:
            raise ReelbenchError(f"{word!r} sets nothing: write {form}.")
    return found


def command(*words: object) -> str:
    """Spell a command of ours as it works in this shell, to be copied."""
    program = "reelbench" if shutil.which("reelbench") else _own_program()
    return " ".join([program, *(shlex.quote(str(word)) for word in words)])


def _own_program() -> str:
    beside = Path(sys.executable).with_name("reelbench")
    return (
        shlex.quote(str(beside))
        if beside.exists()
        else f"{shlex.quote(sys.executable)} -m reelbench"
    )
