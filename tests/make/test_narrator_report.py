"""What was done about narrators is in a file that people read, and in tables by category."""

import csv
from pathlib import Path
from typing import Any

from parts import Studio

from reelbench.make.parts.check_narrator import INTELLIGIBLE
from reelbench.make.parts.narrator_report import report_narrators
from reelbench.make.pipeline.context import StageContext
from reelbench.recipes.musebench.rows import Essay

CLIPS = ((0.0, 10.0), (10.0, 20.0))
REMOVAL = {"method": "mute", "seconds": 12.5, "words": 40, "left": 4, "share": 0.1}
ESSAYS = [
    Essay(
        id="a",
        category="Game Arts",
        clips=CLIPS,
        flags=("truncated at 1800 s",),
        flagged={2: (INTELLIGIBLE,)},
        narrator={"speaker": "s1", "confidence": 0.9, "removal": REMOVAL},
    ),
    Essay(id="b", category="Cinematic Arts", clips=CLIPS, narrator={"speaker": None}),
]


def test_every_flag_and_measure_is_said_and_all_rows_pass(tmp_path: Path) -> None:
    stage = report_narrators(Essay)

    async def through(ctx: StageContext) -> Any:
        return stage.work(ESSAYS, ctx), ctx.tables

    (made, tables), _ = Studio(tmp_path).with_context(through)
    assert made == ESSAYS
    with (tmp_path / "narrators.csv").open() as file:
        first, second = csv.DictReader(file)
    assert (first["flagged clips"], first["flagged"]) == (f"2: {INTELLIGIBLE}", "1")
    assert (first["flags"], first["removal left"]) == ("truncated at 1800 s", "4")
    assert (second["narrator"], second["removal words"]) == ("", "")
    shares, flags = tables
    rows = {(row[0], row[1]): row[2:6] for row in shares["rows"]}
    assert rows["all", "clips that are flagged"] == [2, 1, 4, 0.25]
    assert rows["Game Arts", "words of narrators that are left"] == [1, 4, 40, 0.1]
    assert rows["Cinematic Arts", "words of narrators that are left"] == [1, 0, 0, ""]
    assert flags["rows"] == [["truncated at 1800 s", 1, 2]]
