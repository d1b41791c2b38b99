"""How commands talk: data on stdout, everything else on stderr."""

import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.score.rounding import fixed, percent

if TYPE_CHECKING:
    from reelbench.client.budget import Budget
    from reelbench.client.forecast import CallForecast


def tell(text: str = "") -> None:
    """Say something to the person; it never mixes with data, and no terminal obeys it."""
    if sys.stderr is not None:
        lines = "\n".join(map(printable, text.split("\n")))
        print(lines, file=sys.stderr, flush=True)  # noqa: T201


def put(text: str) -> None:
    """Write data."""
    print(text)  # noqa: T201


def put_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table with aligned columns that also reads well when piped."""
    for line in _aligned(headings, rows):
        put(line)


def tell_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show the person a table, which is no data."""
    for line in _aligned(headings, rows):
        tell(line)


def _aligned(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    shown = [[printable(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()


def printable(text: str) -> str:
    """Spell out what a terminal would obey instead of show."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def put_scores(scores: Mapping[str, Any]) -> None:
    """Write the leaderboard of a ``scores.json``, and what has no answer."""
    from reelbench.data.selection import selected_in_words, selection_from
    from reelbench.score.coverage import asked_in_words, unanswered_in_words, unreadable_in_words

    about = scores["benchmark"]
    if selection := selection_from(about):
        words = selected_in_words(about["items"], about["all_items"], selection)
        tell(f"{printable(words)}.")
    if scores["results"] or scores["humans"]:
        _put_leaderboard(scores)
    rows = scores["results"]
    for text in (*asked_in_words(rows), *unreadable_in_words(rows)):
        tell(f"warning: {printable(text)}")
    for each in scores["humans"]:
        _tell_people(each)
    if scores["judged"]:
        put_judged(scores["judged"])
    tell_ungraded(scores)
    for row in scores["results"]:
        words = unanswered_in_words(row)
        if words:
            tell(f"{printable(row['model'])}: {words}")
    comparison = scores["comparison"]
    warnings = comparison["warnings"] if comparison else ()
    for text in (*warnings, *(text for table in scores["tables"] for text in table["warnings"])):
        tell(f"warning: {printable(text)}")


def tell_ungraded(scores: Mapping[str, Any]) -> None:
    """Say that open items have no grades, where no judge was asked, and how to get them."""
    from reelbench.score.judged import ungraded_in_words

    if words := ungraded_in_words(scores):
        tell(
            f"{words} has graded them; add --judge NAME to the command that made these replies, or "
            "to `score --predictions`: nothing that was answered is asked again."
        )


def _put_leaderboard(scores: Mapping[str, Any]) -> None:
    from reelbench.report.tables import accuracy_of
    from reelbench.score.coverage import no_score
    from reelbench.score.estimates import few_videos
    from reelbench.score.letters import spelled

    comparison = scores["comparison"] or {"models": (), "condition": None}
    letters = {
        (each["model"], comparison["condition"]): spelled(each["letters"])
        for each in comparison["models"]
        if each["letters"]
    }
    headings = ["model", "condition", "accuracy", "95% interval", "letters", "answered", "asked"]
    rows = [
        [
            row["model"],
            row["condition"],
            accuracy_of(row),
            no_score(row)
            or " to ".join(map(percent, row["interval"]))
            + (f" ({few_videos(row)})" if few_videos(row) else ""),
            letters.get((row["model"], row["condition"]), ""),
            f"{row['answered']} of {row['items']}",
            f"{row['items']} of {row['all_items']}",
        ]
        for row in scores["results"]
    ]
    rows += [_people_row(each) for each in scores["humans"]]
    rows.append(["chance", "", percent(scores["chance"]["accuracy"]), "", "", "", ""])
    whole = all(row["items"] == row["all_items"] for row in scores["results"])
    left_out = {*(["asked"] if whole else []), *([] if letters else ["letters"])}
    kept = [number for number, name in enumerate(headings) if name not in left_out]
    put_table([headings[n] for n in kept], [[row[n] for n in kept] for row in rows])
    if letters:
        tell(f"Letters: {comparison['letter_rule']}.")


def _people_row(each: Mapping[str, Any]) -> list[str]:
    """Return the row of people as one, each item counted once."""
    overall = each["overall"]
    return [
        f"people ({each['participants']})",
        each["condition"],
        percent(overall["value"]),
        " to ".join(map(percent, overall["interval"])),
        "",
        f"{overall['covered']} of {overall['items']}",
        "",
    ]


def _tell_people(each: Mapping[str, Any]) -> None:
    """Say how many people the row of people is the mean of, and how far apart they are."""
    from reelbench.report.comparison import people_coverage, people_range

    count = counted(each["participants"], "person", "people")
    words = [f"{printable(each['condition'])}: {count}"]
    words += [f"from {people_range(each)} each"] if each["participants"] > 1 else []
    words += [f"items answered: {people_coverage(each)}"]
    tell(f"People under {'; '.join(words)}.")


def put_judged(judged: Sequence[Mapping[str, Any]]) -> None:
    """Write what judges gave the replies to open questions."""
    from reelbench.report.tables import judged_in_words

    rows = [
        (
            row["model"],
            row["condition"],
            row["judge"],
            "none" if row["score"] is None else fixed(row["score"], 2),
            f"{row['scale'][0]:g} to {row['scale'][1]:g}",
            " to ".join(fixed(end, 2) for end in row["interval"]) if row["interval"] else "",
            judged_in_words(row),
            str(row["unanswered"]),
            str(row["ungraded"]),
        )
        for row in judged
    ]
    headings = ("model", "condition", "judge", "score", "scale", "95% interval", "judged",
                "no reply", "not graded")  # fmt: skip
    put_table(headings, rows)


def put_forecast(step: str, rows: "Sequence[CallForecast]", budget: "Budget | None") -> None:
    """Write what each step would ask each model, what all would cost, and whether that is too much.

    ``step`` is what a step is called: the first heading.
    """
    table = [(row.step, *forecast_cells(row)) for row in rows]
    put_table((step, "model", "to ask", "tokens in", "tokens out", "cost"), table)
    costs = [row.usd for row in rows]
    total = None if None in costs else sum(cost or 0.0 for cost in costs)
    if total is not None:
        put(f"total: ${total:,.4f}")
    if budget and total is not None and total > budget.usd:
        tell(f"That is over the budget of ${budget.usd:,.2f}.")
    if budget and sum(row.input_tokens + row.output_tokens for row in rows) > budget.tokens:
        tell(f"That is over the budget of {budget.tokens:,.0f} tokens.")


def forecast_cells(row: "CallForecast") -> tuple[str, ...]:
    """Return the model, calls, tokens in and out, and cost of a forecast as a table has them."""
    cost = "no price" if row.usd is None else f"${row.usd:,.4f}"
    counts = (row.requests, row.input_tokens, row.output_tokens)
    return (row.card.name, *(f"{count:,}" for count in counts), cost)


def settings(words: Sequence[str], form: str) -> dict[str, Any]:
    """Read ``NAME=VALUE`` as often as it is said, each value as YAML has it."""
    import yaml

    from reelbench.base.yaml_files import load_yaml

    found: dict[str, Any] = {}
    for name, value in named_values(words, form).items():
        try:
            found[name] = load_yaml(value)[0]
        except (yaml.YAMLError, ValueError):
            raise ReelbenchError(f"{f'{name}={value}'!r} sets nothing: write {form}.") from None
    return found


def named_values(words: Sequence[str], form: str) -> dict[str, str]:
    """Read ``NAME=VALUE`` as often as it is said, each value as it is typed."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ReelbenchError(f"{word!r} sets nothing: write {form}.")
        found[name] = value
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
