"""Write the report of a run."""

from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

from reelbench.base.files import write_atomically
from reelbench.base.limits import decode_json
from reelbench.base.progress import counted, working
from reelbench.data.benchmark import Benchmark
from reelbench.data.selection import selected_in_words, selection_from
from reelbench.evaluate.captioners import shared_captioners
from reelbench.pages import COLOURS, page
from reelbench.report.category_tables import category_title
from reelbench.report.classes import class_table
from reelbench.report.comparison import condition_pairs, pairs, people, standings
from reelbench.report.criteria import criterion_tables, origins
from reelbench.report.declared import (
    NONE,
    best_cells,
    declared,
    difference_in,
    given_columns,
    guessing_rows,
    interval_of,
    measured_in,
    name_of,
    notes_on,
    second_cells,
    text_of,
    tier_above,
)
from reelbench.report.failures import failures
from reelbench.report.figures import figures, tags_with_values
from reelbench.report.history import history_table
from reelbench.report.items import ITEM_SCRIPTS, ItemPage, item_page
from reelbench.report.profile_figures import position_table
from reelbench.report.provenance import merged_run, provenance
from reelbench.report.rows import main_rows, numbers
from reelbench.report.tables import (
    ablation,
    accuracy_of,
    forms_of,
    judge_orders,
    judged,
    measures,
    named_tables,
)
from reelbench.score.coverage import (
    asked_in_words,
    no_score,
    partly_asked,
    unanswered_in_words,
    unreadable_in_words,
)
from reelbench.score.estimates import few_videos
from reelbench.score.judged import ungraded_in_words
from reelbench.score.rounding import fixed, points, signed
from reelbench.score.score import ScoredRuns, score_runs


def report_run(benchmark: Benchmark, out: Path) -> Path:
    """Score a run, write the report into its folder, and return the path of the page."""
    return write_report(score_runs(benchmark, [out]), out / "report.html")


def write_report(
    scored: ScoredRuns, path: Path, *, embed: float | None = None, since: Path | None = None
) -> Path:
    """Write one report of runs that were scored together, and return the path of the page.

    ``embed`` and ``since`` are those of ``item_page``.
    """
    write_atomically(path, _page(scored, item_page(scored, path, embed, since)))
    return path


def _captioners(run: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the captioners of each cascade by its name."""
    pairs = ((each["name"], each.get("parameters") or {}) for each in run["models"])
    return {name: parameters.get("captioners", []) for name, parameters in pairs}


@working("Writing the page")
def _page(scored: ScoredRuns, browser: ItemPage) -> str:
    benchmark, scores = scored.benchmark, scored.scores
    run = merged_run(scored)
    tags = tags_with_values(scores)
    results = scores["results"]
    drawn = figures(scores, tags)
    named = named_tables(scores)
    by_title = {table.title: name for name, table in named.items()}
    return page(
        __package__,
        "report.html.j2",
        title=benchmark.manifest.title or benchmark.manifest.name,
        styles=["report.css", "items.css"],
        scripts=["elements.js", "figures.js", "tables.js", *ITEM_SCRIPTS],
        data={
            **browser.data,
            "figures": {each.name: each.to_record() for each in drawn},
            "tables": {name: forms_of(table) for name, table in named.items()},
        },
        files=browser.files,
        figures=True,
        media=True,
        facts=_facts(scores, len(run["models"])),
        scores=scores,
        tags=tags,
        saved_as={tag: by_title.get(category_title(scores, tag), tag) for tag in tags},
        measures=measures(scores),
        standings=standings(scores),
        pairs=pairs(scores),
        condition_pairs=condition_pairs(scores),
        history=history_table(scores),
        people=people(scores),
        accuracy_of=accuracy_of,
        no_score=no_score,
        part_warnings=[*asked_in_words(results), *unreadable_in_words(results)],
        few_videos=few_videos,
        sureness=_sureness,
        several_conditions=len({row["condition"] for row in results}) > 1,
        failures=failures(scores) if results else None,
        positions=position_table(scores),
        ablations=[
            (number, ablation(found))
            for number, found in enumerate(scores["ablations"])
            if found["models"]
        ],
        judged=judged(scores),
        criteria=criterion_tables(scores),
        origins=origins(scores),
        classes=class_table(scores, run),
        shared=list(shared_captioners(benchmark.items, _captioners(run))),
        judge_orders=list(zip(judge_orders(scores), scores["judge_orders"], strict=True)),
        declared=[(each, best_cells(each), second_cells(each)) for each in declared(scores)],
        tier_above=tier_above,
        given_columns=given_columns,
        name_of=name_of,
        notes_on=notes_on,
        text_of=text_of,
        measured_in=measured_in,
        difference_in=difference_in,
        guessing_rows=guessing_rows,
        signed=signed,
        interval_of=interval_of,
        nothing=NONE,
        spent=_spent(scored),
        suspects=_suspects(benchmark, scores),
        suspects_note=(scores.get("items") or {}).get("suspects_note"),
        drawings={figure.name: figure for figure in drawn},
        provenance=provenance(scored),
        colours=COLOURS,
        numbers=numbers(scores),
        main=main_rows(scores),
        whole=lambda share: points(share, 0),
        two_digits=lambda value: fixed(value, 2),
        unanswered=lambda row: unanswered_in_words(row) or "none",
        widest=lambda tag, value: max(
            (r["by"][tag][value] for r in results), key=itemgetter("items")
        ),
        partly_asked=partly_asked,
    )


def _facts(scores: Mapping[str, Any], models: int) -> list[str]:
    """Return the facts under the title: benchmark, items, models."""
    about = scores["benchmark"]
    number, total = about["items"], about.get("all_items", about["items"])
    return [
        selected_in_words(number, total, selection_from(about)),
        counted(about["videos"], "video")
        + (f" from {counted(clips, 'clip')}" if (clips := about.get("source_clips")) else ""),
        counted(models, "model"),
        f"{about['name']} {about['version']}",
        *([words] if (words := ungraded_in_words(scores)) else []),
    ]


def _sureness(cell: Mapping[str, Any]) -> str:
    """Return the tooltip of an interval: its standard error and number of videos."""
    error, videos = cell["standard_error"], counted(cell["videos"], "video")
    return videos if error is None else f"standard error {points(error)} points, {videos}"


def _spent(scored: ScoredRuns) -> dict[str, Mapping[str, Any]]:
    """Return what each model used, from the runs' status files; empty where none used anything."""
    found: dict[str, Mapping[str, Any]] = {}
    for out in scored.runs:
        try:
            spent = decode_json((out / "status.json").read_text(encoding="utf-8"))["spent"]
            taken = {name: each for name, each in spent.items() if each["input_tokens"]}
        except (OSError, ValueError, KeyError, TypeError):
            continue  # a run of an earlier version, or one that was killed
        names = scored.names[out].models
        found |= {names.get(name, name): each for name, each in taken.items()}
    return found


def _suspects(benchmark: Benchmark, scores: Mapping[str, Any]) -> list[dict[str, Any]]:
    items = {item.id: item for item in benchmark.items}
    found = (scores.get("items") or {}).get("suspects", ())
    return [{**suspect, "question": items[suspect["id"]].question} for suspect in found[:50]]
