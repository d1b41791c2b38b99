"""What a run took, by model and condition: kept when it goes on, and shown in tables that ask for it."""

import json
from pathlib import Path

from support import make_item
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import freeze
from reelbench.data.manifest import Manifest
from reelbench.evaluate.run import run_benchmark
from reelbench.evaluate.usage import USAGE_FILE, read_usage
from reelbench.score.score import score_run

COLUMNS = {"All": {}, "Minutes": {"measured": "minutes"}, "Memory": {"measured": "memory_gb"}}


def test_seconds_are_summed_by_condition_and_stay_when_a_run_goes_on(tmp_path: Path) -> None:
    items = tuple(make_item(n) for n in range(3))
    tables = freeze({"t": {"columns": COLUMNS}})
    root = tmp_path / "b"
    Benchmark(root, Manifest("b", "1", tables=tables), items).save(root)
    (root / "media").mkdir()
    for n in range(3):
        make_video(root / "media" / f"{n}.mp4", seconds=0.4, rate=5)
    bench, out = Benchmark.load(root), tmp_path / "run"
    run_benchmark(
        bench, ["baseline:random"], out, conditions=["few sampling=uniform:2", "protocol"]
    )
    rows = json.loads((out / USAGE_FILE).read_text())
    assert [(row["condition"], row["calls"]) for row in rows] == [("few", 3), ("protocol", 3)]
    assert all(row["seconds"] >= 0 for row in rows)

    # A machine with a device has seen more memory before; nothing is asked this time.
    for row in rows:
        row |= {"seconds": 0, "memory_bytes": 3 * 2**30}
    (out / USAGE_FILE).write_text(json.dumps(rows))
    run_benchmark(bench, ["baseline:random"], out)
    again = read_usage(out)
    assert {row["memory_gb"] for row in again.values()} == {3.0}
    (table,) = score_run(bench, out).scores["tables"]
    minutes = {row["condition"]: row["cells"][1]["value"] for row in table["rows"]}
    assert minutes == {
        condition: round(row["seconds"] / 60, 6) for (_, condition), row in again.items()
    }
    assert [row["cells"][2]["value"] for row in table["rows"]] == [3.0, 3.0]


def test_a_run_without_the_file_has_nothing_measured(tmp_path: Path) -> None:
    assert read_usage(tmp_path) == {}
    (tmp_path / USAGE_FILE).write_text("[3]")
    assert read_usage(tmp_path) == {}
