"""What was done about narrators, for people to read: a file by video, and shares by category.

Rows are those of ``check_narrator``: the measures are in ``narrator["removal"]``, what is wrong
with a clip in ``flagged``, and what is said of the whole video in ``flags``.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.base.files import write_atomically
from reelbench.make.parts.narrator import REMOVAL
from reelbench.make.parts.shares import stage_table
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import category_of
from reelbench.make.pipeline.stage import BatchStage
from reelbench.score.intervals import Cell, intervals
from reelbench.score.rounding import rounded

NARRATORS_FILE = "narrators.csv"
_MEASURES = (
    "method", "seconds", "others", "words", "left", "share", "inside_db", "outside_db",
    "outside_error_db", "voice",
)  # fmt: skip
_COLUMNS = (
    "id", "category", "seconds", "narrator", "confidence", "clips", "flagged", "flagged clips",
    "flags", *(f"removal {name}" for name in _MEASURES),
)  # fmt: skip
_SHARES = ("category", "of", "videos", "count", "out of", "share", "low", "high")


def report_narrators(rows: type, *, name: str = "report-narrators", **more: Any) -> BatchStage:
    """Return the stage that writes narrators.csv, and shows shares of words left and clips flagged.

    All rows pass as they are.
    """

    def work(found: Sequence[Any], ctx: StageContext) -> list[Any]:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([_COLUMNS, *map(_line, found)])
        write_atomically(ctx.out / NARRATORS_FILE, text.getvalue())
        if found:
            title = "Narrators: words left and clips flagged (shares with 95 % intervals)"
            ctx.tables.append(stage_table(title, _SHARES, list(_shares(found))))
        flags = Counter(flag for row in found for flag in row.flags)
        if flags:
            counts = [[flag, count, len(found)] for flag, count in sorted(flags.items())]
            ctx.tables.append(stage_table("Flags of videos", ("flag", "videos", "of"), counts))
        return list(found)

    return BatchStage(
        name=name, input=rows, output=rows, work=work, writes=True, always=True, **more
    )


def _removal(row: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = row.narrator.get(REMOVAL, {})
    return found


def _line(row: Any) -> list[Any]:
    """Return the line of a video."""
    facts, done = row.narrator, _removal(row)
    flagged = "; ".join(f"{place}: {', '.join(why)}" for place, why in sorted(row.flagged.items()))
    about = [row.id, category_of(row), row.seconds, facts.get("speaker"), facts.get("confidence")]
    counts = [len(row.clips), len(row.flagged), flagged, "; ".join(row.flags)]
    return [*about, *counts, *(done.get(name) for name in _MEASURES)]


def _shares(rows: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield, for all videos and by category, how many words are left and clips flagged."""
    categories = sorted({category for row in rows if (category := category_of(row))})
    for category in ("", *categories):
        own = [row for row in rows if category in ("", category_of(row))]
        for what, counts in (
            ("words of narrators that are left", [_words(row) for row in own]),
            ("clips that are flagged", [(len(row.flagged), len(row.clips)) for row in own]),
        ):
            yield [category or "all", what, len(own), *_share(counts)]


def _words(row: Any) -> tuple[int, int]:
    done = _removal(row)
    return int(done.get("left", 0)), int(done.get("words", 0))


def _share(counts: Sequence[tuple[int, int]]) -> list[Any]:
    """Return a count, of how many, the share and its interval, from the counts of each video."""
    hits, of = sum(hit for hit, _ in counts), sum(all_ for _, all_ in counts)
    if not of:
        return [hits, of, None, None, None]
    videos = [place for place, (_, all_) in enumerate(counts) for _ in range(all_)]
    right = [float(n < hit) for hit, all_ in counts for n in range(all_)]
    low, high = intervals([Cell(videos, right)], len(counts))[0].interval
    return [hits, of, rounded(hits / of), rounded(low), rounded(high)]
