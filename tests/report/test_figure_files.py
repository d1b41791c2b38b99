"""Figures become files for a paper: with a size, a legend, and nothing random in them."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item, run_here

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import freeze
from reelbench.pages.figure import Figure, layout_of, points
from reelbench.report.figure_files import figure_formats, for_paper, settled


def figure_of(values: int, models: int) -> Figure:
    cells = [{"accuracy": 0.5, "interval": [0.4, 0.6]}] * values
    names = [f"c{n}" for n in range(values)]
    data = [points(f"model {n}", names, cells, n) for n in range(models)]
    return Figure("f", "Title", "words", data, layout_of("accuracy, %"))


def test_many_points_go_across_the_page_and_few_into_a_column() -> None:
    few, many = for_paper(figure_of(3, 2)), for_paper(figure_of(8, 4))
    assert (few["layout"]["width"], many["layout"]["width"]) == (336, 672)
    assert few["layout"]["paper_bgcolor"] == "#ffffff"


def test_a_legend_names_the_models_and_has_room() -> None:
    one, several = for_paper(figure_of(3, 1)), for_paper(figure_of(3, 4))
    assert (one["layout"]["showlegend"], several["layout"]["showlegend"]) == (False, True)
    assert several["layout"]["height"] > one["layout"]["height"]


def test_formats_are_listed_once_and_others_refused(chromium: str) -> None:
    pytest.importorskip("kaleido")
    assert figure_formats(" SVG,png,svg") == ["svg", "png"]
    for wrong in ("", "gif", "svg,jpg"):
        with pytest.raises(ReelbenchError, match="svg, pdf, png"):
            figure_formats(wrong)


def test_without_a_browser_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("kaleido")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ReelbenchError, match="install chromium"):
        figure_formats("svg")


def test_dates_and_random_names_are_settled() -> None:
    svg = (
        b'<defs id="defs-1a2b3c"/><clipPath id="clip1a2b3cxy"/><g clip-path="url(#clip1a2b3cxy)"/>'
    )
    assert b"1a2b3c" not in settled(svg, "svg")
    assert settled(svg, "svg") == settled(svg.replace(b"1a2b3c", b"ffee00"), "svg")
    pdf = b"/CreationDate (D:20261116214138+00'00')"
    assert len(settled(pdf, "pdf")) == len(pdf)
    assert settled(pdf, "pdf") == settled(pdf.replace(b"2026", b"2031"), "pdf")


def test_the_command_writes_each_figure_in_each_format(chromium: str, tmp_path: Path) -> None:
    pytest.importorskip("kaleido")
    items = [make_item(n, tags=freeze({"Farbe – لون": "ab"[n % 2]})) for n in range(2)]
    blind_benchmark(tmp_path / "b", *items)
    rows: list[dict[str, Any]] = [
        {"id": item.id, "model": model, "parsed": ["B"]} for item in items for model in "xy"
    ]
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["report", "--benchmark", tmp_path / "b", "--predictions", path]
    words += ["--out", tmp_path / "page.html", "--figures", tmp_path / "f"]
    assert run_here(*words, "--figure-format", "svg,pdf,png") == 0
    found = {each.suffix: each for each in sorted((tmp_path / "f").iterdir(), reverse=True)}
    stems = {each.stem for each in (tmp_path / "f").iterdir()}
    assert "accuracy-by-farbe-لون" in stems
    assert len(list((tmp_path / "f").iterdir())) == 3 * len(stems)
    svg = (tmp_path / "f" / "accuracy-by-farbe-لون.svg").read_text()
    assert "accuracy, %" in svg
    assert set(re.findall(r'id="(?:top)?defs-(\w+)"', svg)) == {"figure"}
    assert found[".pdf"].read_bytes().startswith(b"%PDF")
    assert found[".png"].read_bytes().startswith(b"\x89PNG")
    shutil.rmtree(tmp_path / "f")
