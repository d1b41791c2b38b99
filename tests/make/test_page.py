"""The funnel's picture and the page of a make: they add up, escape everything and stay small."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from pages import RECORD, Elements, filtered, planted, stage, statistics, written
from support import make_item

from reelbench.data.items import freeze
from reelbench.make.page.facts import answerability
from reelbench.make.page.page import balance, write_pages
from reelbench.make.page.svg import picture_of
from reelbench.make.pipeline.funnel import funnel_record
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.stage import Rejected, Undecided
from reelbench.make.pipeline.store import RowResult

SVG = "{http://www.w3.org/2000/svg}"


def lines_of(stages: Sequence[Any]) -> Iterator[list[str]]:
    """The counts of the table, as they must stand there."""
    for told in stages:
        for row in (told, *told.get("by_category", {}).values()):
            yield [
                f"{row[name]:,}" if name in row else ""
                for name in ("in", "out", "rejected", "undecided")
            ]


def test_the_page_says_what_the_funnel_says(tmp_path: Path) -> None:
    svg, page, funnel = written(tmp_path, planted(600), statistics())
    rows = Elements(page.split('id="stages"')[1].split("</section>")[0]).rows[1:]
    assert [[cell.strip() for cell in row[1:5]] for row in rows] == list(lines_of(funnel["stages"]))
    for told in funnel["stages"]:
        assert told["in"] == told["passed"] + told["rejected"] + told["undecided"]
        assert f"→ {told['out']:,} {told['output']}s</text>" in svg
        assert ("rate" in told) == (told["input"] == "item")
        if "rate" in told:
            assert f"{told['rejected']:,} rejected, {100 * told['rate']:.1f}% (" in svg
    assert "12 undecided: run make again" in svg


def test_bars_are_as_long_as_what_they_count(tmp_path: Path) -> None:
    passed = planted(600)
    funnel = funnel_record(passed, [])
    picture = picture_of("cineaste", funnel)
    assert [step.pill for step in picture.steps] == [
        "20 movies",
        "100 writing tasks",
        "",
        "",
        "",
        "",
    ]
    longest = 330
    for step, told in zip(picture.steps[2:], funnel["stages"][1:], strict=True):
        lengths = {
            kind: sum(p.width for p in step.pieces if p.kind == kind)
            for kind in ("out", "rejected", "undecided")
        }
        scale = longest / 600
        assert lengths == pytest.approx({kind: told[kind] * scale for kind in lengths})


def test_histograms_count_each_item_once(tmp_path: Path) -> None:
    passed = planted(600)
    funnel = funnel_record(passed, [])
    for measured, told in zip(answerability(passed), funnel["stages"][3:], strict=True):
        assert measured.stage == told["stage"]
        assert sum(each.rows for each in measured.histograms) == told["passed"] + told["rejected"]
        for each in measured.histograms:
            row = told["by_category"][each.category]
            assert sum(lost for _, lost in each.bars) == row["rejected"]
            assert each.chance == pytest.approx(1.0)
        means = [each.mean for each in measured.histograms]
        assert means == sorted(means, reverse=True)
    blind, truth = answerability(passed)
    assert (blind.rejects_answerable, truth.rejects_answerable) == (True, False)
    assert [one.right for one in blind.groups[0].shown] == sorted(
        (one.right for one in blind.groups[0].shown), reverse=True
    )
    assert truth.groups[0].shown[0].right < 4


def test_categories_stand_in_one_order_everywhere(tmp_path: Path) -> None:
    items = [make_item(n, tags=freeze({"category": name})) for n, name in enumerate("abba")]
    first = StageResult(
        stage("one"),
        items,
        [RowResult(rejected=Rejected("bad")), *(RowResult([item]) for item in items[1:])],
    )
    passed = [
        first,
        StageResult(stage("two"), first.out, [RowResult([item]) for item in first.out]),
    ]
    _, page, funnel = written(tmp_path, passed)
    assert list(funnel["stages"][1]["by_category"]) == ["b", "a"]
    rows = Elements(page.split('id="stages"')[1].split("</section>")[0]).rows[1:]
    assert [row[0].split()[0] for row in rows] == ["one", "a", "b", "two", "a", "b"]
    last = picture_of("cineaste", funnel).steps[-1]
    assert [piece.words for piece in last.pieces] == ["a: 1", "b: 2"]


def test_categories_before_and_after(tmp_path: Path) -> None:
    funnel = funnel_record(planted(600), [])
    found = balance(funnel)
    assert found is not None
    assert found.sums == (funnel["stages"][3]["in"], funnel["stages"][4]["out"])
    assert found.after == {
        name: row["out"] for name, row in funnel["stages"][4]["by_category"].items()
    }


EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x00\x0b\ud800\u202e"


def test_what_models_write_is_only_text(tmp_path: Path) -> None:
    facts = {"right": 1, "of": 2, "answers": ["B", EVIL], "models": {EVIL: 1}}
    items = [
        make_item(
            n, id=f"{EVIL}{n}", question=EVIL, options=(EVIL, "b"), tags=freeze({"category": EVIL})
        )
        for n in range(3)
    ]
    kept = RowResult([structs.replace(items[0], provenance=freeze({EVIL: facts}))])
    lost = RowResult(rejected=Rejected(EVIL, EVIL, (EVIL, EVIL), facts))
    passed = [StageResult(stage(EVIL), items, [kept, lost, Undecided(EVIL, EVIL)])]
    found = {"numbers": {EVIL: EVIL}, "distributions": {EVIL: [1, 2]}}
    models = {EVIL: [{"name": EVIL, "parameters": {EVIL: EVIL}}]}
    rules = {"name": EVIL, "version": EVIL, "sha256": EVIL}
    svg, page, _ = written(
        tmp_path, passed, found, models=models, rules=rules, source=EVIL, until=EVIL
    )
    assert "<script>alert" not in page + svg
    assert "&lt;img src=x onerror=alert(2)&gt;" in page
    elements = Elements(page).found
    assert [tag for tag, _ in elements].count("script") == 1
    assert "img" not in {tag for tag, _ in elements}
    assert not [name for _, attributes in elements for name in attributes if name.startswith("on")]
    assert "script" not in {element.tag.removeprefix(SVG) for element in ET.fromstring(svg).iter()}


def test_nothing_is_fetched(tmp_path: Path) -> None:
    _, page, _ = written(tmp_path, planted(100), statistics())
    links = {
        value
        for _, each in Elements(page).found
        for name, value in each.items()
        if name in ("href", "src")
    }
    assert {link for link in links if link and not link.startswith("#")} == {
        "funnel.svg",
        "funnel.json",
        "rejects.jsonl",
    }
    assert "default-src 'none'" in page.replace("&#39;", "'")


def test_the_picture_is_xml_that_reads_aloud(tmp_path: Path) -> None:
    svg, page, _ = written(tmp_path, planted(100))
    root = ET.fromstring(svg)
    assert root.find(f"{SVG}title") is not None
    assert "independence: " in (root.findtext(f"{SVG}desc") or "")
    assert "prefers-color-scheme: dark" in svg
    assert svg in page


def test_no_stage_at_all(tmp_path: Path) -> None:
    svg, page, _ = written(tmp_path, [])
    ET.fromstring(svg)
    assert re.findall(r'<section id="([^"]+)"', page) == ["funnel", "provenance"]


def test_one_stage_that_measures_nothing(tmp_path: Path) -> None:
    items = [make_item(n) for n in range(4)]
    passed = [StageResult(stage("keep"), items, [RowResult([item]) for item in items])]
    svg, page, _ = written(tmp_path, passed)
    assert "4 → 4 items" in svg
    assert re.findall(r'<section id="([^"]+)"', page) == ["funnel", "stages", "provenance"]


def test_a_stage_in_which_everything_is_lost(tmp_path: Path) -> None:
    items = [make_item(n, tags=freeze({"category": "x"})) for n in range(4)]
    passed = [
        StageResult(stage("drop"), items, [RowResult(rejected=Rejected("bad"))] * 4),
        StageResult(stage("idle"), [], []),
    ]
    svg, page, _ = written(tmp_path, passed)
    assert "4 → 0 items" in svg
    assert "0 → 0 items" in svg
    assert "100.0%" in page


def test_answers_in_other_numbers_have_histograms_of_their_own(tmp_path: Path) -> None:
    items = [make_item(n) for n in range(6)]
    rows = [
        filtered("ask", items[:4], lambda _: 2, lambda right: False, of=3),
        filtered("ask", items[4:], lambda _: 1, lambda right: True, of=2),
    ]
    passed = StageResult(stage("ask"), items, [*rows[0].results, *rows[1].results])
    (measured,) = answerability([passed])
    assert [(each.of, each.bars) for each in measured.histograms] == [
        (3, ((0, 0), (0, 0), (4, 0), (0, 0))),
        (2, ((0, 0), (0, 2), (0, 0))),
    ]
    _, page, _ = written(tmp_path, [passed])
    assert "mean <b>2.00</b> of 3 (67%)" in page


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"right": 3},
        {"right": "3", "of": 5},
        {"right": 6, "of": 5},
        {"right": 0, "of": 0},
        {"near": "q-2"},
    ],
)
def test_facts_of_another_kind_are_no_answers(tmp_path: Path, facts: dict[str, Any]) -> None:
    item = make_item(1)
    noted = structs.replace(item, provenance=freeze({"ask": facts}))
    passed = [
        StageResult(
            stage("ask"),
            [item, make_item(2)],
            [RowResult([noted]), RowResult(rejected=Rejected("bad", facts=facts))],
        )
    ]
    assert answerability(passed) == []
    written(tmp_path, passed)


def test_three_thousand_items_are_cut(tmp_path: Path) -> None:
    passed = planted(3000)
    funnel = funnel_record(passed, [])
    write_pages(tmp_path, "cineaste", RECORD, funnel, statistics(), passed)
    page = (tmp_path / "made.html").read_text()
    assert len(page.encode()) < 8e6
    groups = page.split('<details class="group">')[1:]
    assert len(groups) == 10
    assert max(group.count('class="item"') for group in groups) == 300
    assert "rejected and 100 of " in page


def test_long_words_do_not_make_the_page_long(tmp_path: Path) -> None:
    passed = planted(
        3000,
        question="長い問い" * 2000,
        options=tuple(f"{letter}{'選択肢' * 500}" for letter in "ABCDE"),
    )
    for each in passed[3:]:
        for result in each.results:
            if isinstance(result, RowResult) and result.rejected:
                result.rejected.words = ("<" * 5000,) * 5
    _, page, _ = written(tmp_path, passed)
    assert len(page.encode()) < 15e6


def test_the_same_make_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first, second = (
        written(tmp_path / name, planted(300), statistics()) for name in ("one", "two")
    )
    assert first == second
