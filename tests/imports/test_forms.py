"""Published benchmarks in their true layouts: recognised, imported, linted, run and scored."""

import csv
import json
import wave
from functools import reduce
from importlib.resources import files
from pathlib import Path
from typing import Any

import harness_layouts
import numpy as np
import published_layouts
import pytest
from PIL import Image
from published_layouts import Layout
from support import run_here
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.interop.imports.form_files import published_forms

LAYOUTS: dict[str, Layout] = {
    name.lower(): found
    for module in (published_layouts, harness_layouts)
    for name, found in vars(module).items()
    if isinstance(found, Layout)
}
Media = tuple[Path, Path, Path]


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Media:
    """One tiny video, one sound and one picture, which all benchmarks share."""
    folder = tmp_path_factory.mktemp("media")
    video = make_video(folder / "v.mp4", seconds=1.0, sound=1.0)
    sound, picture = folder / "s.mp3", folder / "p.png"
    with wave.open(str(sound), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(16000))
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(picture)
    return video, sound, picture


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_a_published_layout_is_recognised_imported_run_and_scored(
    name: str, tmp_path: Path, media: Media, capsys: pytest.CaptureFixture[str]
) -> None:
    layout, folder, run = LAYOUTS[name], tmp_path / "benchmark", tmp_path / "run"
    source = layout.write(tmp_path / "source", *media)
    status = run_here("import", source, "--out", folder)
    talk = capsys.readouterr().err
    assert f"--as {layout.form})" in talk, talk
    assert status == (1 if layout.odd else 0), talk
    benchmark = Benchmark.load(folder)
    check_items(layout, benchmark)
    check_odd_rows(layout, folder)
    assert run_here("lint", folder) == 0, capsys.readouterr()
    is_open = any(item.kind == "open" for item in benchmark.items)  # which no baseline answers
    assert run_here("run", folder, "--model", "baseline:random", "--out", run) == is_open
    assert json.loads((run / "scores.json").read_text())


def check_items(layout: Layout, benchmark: Benchmark) -> None:
    records = {item.id: json.loads(item.to_line()) for item in benchmark.items}
    found = {
        name: (record["kind"], "".join(record.get("answer", ())) or record.get("reference"))
        for name, record in records.items()
    }
    if layout.items:
        assert found == layout.items
    for place, value in layout.facts.items():
        name, *path = place.split(".")
        inside: Any = reduce(step_into, path, records[name])
        assert inside == value or (path[-1] == "path" and inside.endswith(value)), place
    for item in benchmark.items:
        assert all((benchmark.root / medium.path).is_file() for medium in item.media)


def step_into(value: Any, part: str) -> Any:
    return value[int(part)] if isinstance(value, list) else value[part]


def check_odd_rows(layout: Layout, folder: Path) -> None:
    path = folder / "import" / "odd_rows.csv"
    rows = list(csv.DictReader(path.read_text().splitlines())) if path.exists() else []
    texts = [" ".join(row.values()) for row in rows]
    assert len(texts) == len(layout.odd), texts
    assert all(any(part in text for text in texts) for part in layout.odd), texts


def test_every_form_has_a_layout_here_and_is_short_and_cites_its_source() -> None:
    tested = {layout.form for layout in LAYOUTS.values()}
    assert tested == set(published_forms())
    for each in (files("reelbench.interop.imports") / "forms").iterdir():
        text = each.read_text("utf-8")
        assert len(text.splitlines()) <= 40, each.name
        assert text.startswith("# Layout: "), each.name
