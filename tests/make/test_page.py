"""The funnel's picture and the page of a make: they add up, escape everything and stay small."""

import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs
from support import make_item

from reelbench.items import Item, Media, freeze
from reelbench.make.charts import bins_of, category_colours, distribution, many, number
from reelbench.make.funnel import funnel_record
from reelbench.make.page import balance, write_pages
from reelbench.make.page_facts import answerability
from reelbench.make.page_svg import picture_of
from reelbench.make.pipeline import Passed
from reelbench.make.stage import Each, Rejected, Stage, Undecided
from reelbench.make.store import Result
from reelbench.seeds import rng_for

CATEGORIES = (
    "Visual Reasoning",
    "State Changes",
    "Temporal Ordering",
    "Cause and Effect",
    "Message Understanding",
)
EASY = (0.45, 0.62, 0.66, 0.74, 0.8)  # how often each is answered blind
SVG = "{http://www.w3.org/2000/svg}"


class Movie(msgspec.Struct, frozen=True):
    id: str


class Commission(msgspec.Struct, frozen=True):
    id: str
    category: str


class Draft(msgspec.Struct, frozen=True):
    id: str
    category: str


async def nothing(row: Any, desk: Any) -> Sequence[Any]:
    raise AssertionError("no stage works here")


def stage(name: str, takes: type = Item, gives: type = Item) -> Stage:
    return Each(name=name, takes=takes, gives=gives, work=nothing, filters=takes is Item)


def filtered(name: str, items: Sequence[Item], right_of: Any, drops: Any, of: int = 5) -> Passed:
    """A filter that asked: each item is right so often, and dropped or not for it."""
    results: list[Result | Undecided] = []
    for item in items:
        right = right_of(item)
        answers = ["B"] * right + ["C", None, "A", "D", "C", "A"][: of - right]
        facts = {"right": right, "of": of, "answers": answers, "models": {"llama-3.1-70b": right}}
        if drops(right):
            words = [
                f"llama-3.1-70b: {a or 'I cannot tell.'} It is what films like this one do."
                for a in answers
            ]
            detail = f"{right} of {of} answers are right"
            results.append(Result(rejected=Rejected(f"dropped by {name}", detail, words, facts)))
        else:
            noted = freeze({**item.provenance, name: facts})
            results.append(Result([structs.replace(item, provenance=noted)]))
    return Passed(stage(name), items, results)


def planted(questions: int = 2400, movies: int = 20, **more: Any) -> list[Passed]:
    """A make as Cinéaste's: movies, commissions, drafts, items and two filters."""
    rng = rng_for(7, "page", "planted")
    films = [Movie(f"tt{n:03d}") for n in range(movies)]
    orders = [
        [Commission(f"{film.id}-{place}", name) for place, name in enumerate(CATEGORIES)]
        for film in films
    ]
    commissions = [one for row in orders for one in row]
    each = -(-questions // len(commissions))
    drafts = [[Draft(f"{c.id}-{n:02d}", c.category) for n in range(each)] for c in commissions]
    drafts[-1] = drafts[-1][: each - (each * len(commissions) - questions)]
    flat = [one for row in drafts for one in row]
    items = [_item(n, draft, **more) for n, draft in enumerate(flat)]
    written: list[Result | Undecided] = [Result(row) for row in drafts]
    checked = [
        Result(rejected=Rejected(*rng.choice(_RULES))) if rng.random() < 0.04 else Result([item])
        for item in items
    ]
    whole = Passed(stage("check", Draft, Item), flat, checked)
    ease = dict(zip(CATEGORIES, EASY, strict=True))
    blind = filtered(
        "independence",
        whole.out,
        lambda item: _right(rng, ease[item.tag("category")[0]]),
        lambda right: right == 5,
    )
    for place in range(0, min(36, len(blind.rows)), 3):
        blind.results[place] = Undecided("error", "HTTP 503 from http://127.0.0.1:8000: no room")  # type: ignore[index]
    truth = filtered("veracity", blind.out, lambda item: _right(rng, 0.72), lambda right: right < 4)
    return [
        Passed(stage("order", Movie, Commission), films, [Result(row) for row in orders]),
        Passed(stage("write", Commission, Draft), commissions, written),
        whole, blind, truth,
    ]  # fmt: skip


_RULES = [
    ("rule R2", "the key is the longest option"),
    ("not as asked for", "4 distractors were asked for, 3 are there"),
    ("duplicate options", "a lamp; a lamp"),
]


def _item(n: int, draft: Draft, **more: Any) -> Item:
    plain = {
        "question": f"When the two of them meet again by the harbour (moment {n}), what does the older one do with the letter before she answers?",
        "options": (
            "She tears it in two and keeps one half",
            "She folds it into the book on the table",
            "She reads it aloud to the boy",
            "She burns it in the lamp",
            "She gives it back unread",
        ),
    }
    return make_item(
        n,
        id=draft.id,
        media=(Media(f"media/{draft.id[:5]}.mp4"),),
        tags=freeze({"category": draft.category}),
        **(plain | more),
    )


def _right(rng: Any, ease: float) -> int:
    """Questions are easy or not: their answers go together."""
    chance = 0.97 if rng.random() < ease else rng.random()
    return sum(rng.random() < chance for _ in range(5))


RECORD = {
    "recipe": "cineaste", "seed": 7, "source": "../movies",
    "models": {"writer": [{"name": "gpt-4o", "parameters": {"temperature": 0.7}}], "blind": [{"name": "llama-3.1-70b", "parameters": {}}], "veracity": [{"name": "llama-3.1-70b", "parameters": {}}]},
    "rules": {"name": "cineaste", "version": "1", "sha256": "ab" * 32},
    "stages": [{"name": "independence", "version": 1, "roles": ["blind"], "parameters": {"seeds": 5, "drop_at": 5}, "prompts": {"independence": "cd" * 32}}],
    "versions": {"reelbench": "0.1"},
}  # fmt: skip


def statistics() -> dict[str, Any]:
    rng = rng_for(7, "page", "statistics")
    return {
        "numbers": {"movies": 20, "scenes": 181, "hours of video": 6.34},
        "distributions": {
            "Scene duration (s)": [max(20.0, rng.gauss(126, 32)) for _ in range(181)],
            "Scenes per movie": [rng.randint(5, 13) for _ in range(20)],
            "Caption words per scene": [int(rng.expovariate(1 / 240)) for _ in range(181)],
            "Description words per scene": [int(rng.gauss(344, 60)) for _ in range(181)],
            "Year of upload": [rng.randint(2010, 2019) for _ in range(181)],
        },
    }


def written(
    out: Path, passed: Sequence[Passed], found: Any = None, **record: Any
) -> tuple[str, str, Any]:
    """Write the pages; return the picture, the page and the funnel."""
    funnel = funnel_record(passed, [("tt999", "no video")], 7)
    write_pages(out, "cineaste", RECORD | record, funnel, found or {}, passed)
    return (out / "funnel.svg").read_text(), (out / "made.html").read_text(), funnel


class Elements(HTMLParser):
    """The elements of a page, and the text of its tables' rows."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


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
        assert f"→ {told['out']:,} {told['gives']}s</text>" in svg
        assert ("rate" in told) == (told["takes"] == "item")
        if "rate" in told:
            assert f"{told['rejected']:,} rejected, {100 * told['rate']:.1f}% (" in svg
    assert "12 undecided: make again" in svg


def test_bars_are_as_long_as_what_they_count(tmp_path: Path) -> None:
    passed = planted(600)
    funnel = funnel_record(passed, [], 7)
    picture = picture_of("cineaste", funnel)
    assert [step.pill for step in picture.steps] == ["20 movies", "100 commissions", "", "", "", ""]
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
    funnel = funnel_record(passed, [], 7)
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
    first = Passed(
        stage("one"),
        items,
        [Result(rejected=Rejected("bad")), *(Result([item]) for item in items[1:])],
    )
    passed = [first, Passed(stage("two"), first.out, [Result([item]) for item in first.out])]
    _, page, funnel = written(tmp_path, passed)
    assert list(funnel["stages"][1]["by_category"]) == ["b", "a"]
    rows = Elements(page.split('id="stages"')[1].split("</section>")[0]).rows[1:]
    assert [row[0].split()[0] for row in rows] == ["one", "a", "b", "two", "a", "b"]
    last = picture_of("cineaste", funnel).steps[-1]
    assert [piece.words for piece in last.pieces] == ["a: 1", "b: 2"]


def test_categories_before_and_after(tmp_path: Path) -> None:
    funnel = funnel_record(planted(600), [], 7)
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
    kept = Result([structs.replace(items[0], provenance=freeze({EVIL: facts}))])
    lost = Result(rejected=Rejected(EVIL, EVIL, (EVIL, EVIL), facts))
    passed = [Passed(stage(EVIL), items, [kept, lost, Undecided(EVIL, EVIL)])]
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
    passed = [Passed(stage("keep"), items, [Result([item]) for item in items])]
    svg, page, _ = written(tmp_path, passed)
    assert "4 → 4 items" in svg
    assert re.findall(r'<section id="([^"]+)"', page) == ["funnel", "stages", "provenance"]


def test_a_stage_in_which_everything_is_lost(tmp_path: Path) -> None:
    items = [make_item(n, tags=freeze({"category": "x"})) for n in range(4)]
    passed = [
        Passed(stage("drop"), items, [Result(rejected=Rejected("bad"))] * 4),
        Passed(stage("idle"), [], []),
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
    passed = Passed(stage("ask"), items, [*rows[0].results, *rows[1].results])
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
        Passed(
            stage("ask"),
            [item, make_item(2)],
            [Result([noted]), Result(rejected=Rejected("bad", facts=facts))],
        )
    ]
    assert answerability(passed) == []
    written(tmp_path, passed)


def test_three_thousand_items_are_written_fast_and_cut(tmp_path: Path) -> None:
    passed = planted(3000)
    began = time.monotonic()
    funnel = funnel_record(passed, [], 7)
    counted = time.monotonic()
    write_pages(tmp_path, "cineaste", RECORD, funnel, statistics(), passed)
    assert time.monotonic() - counted < 10, f"the funnel took {counted - began:.1f} s"
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
            if isinstance(result, Result) and result.rejected:
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


def test_what_is_not_a_number_is_left_out_of_a_distribution() -> None:
    assert distribution("none", [None, float("nan"), "x", True]) is None
    found = distribution("some", [3, None, 1, 2, 2])
    assert found is not None
    assert (found.count, found.mean, found.median, found.least, found.most) == (4, 2.0, 2.0, 1, 3)
    assert [(bar.low, bar.count) for bar in found.bins] == [(1, 1), (2, 2), (3, 1)]


@pytest.mark.parametrize(
    "values",
    [
        [5],
        [0.1] * 9,
        [0, 1e9],
        [-3, -2.5, 8],
        [1e-9, 2e-9],
        list(range(1000)),
        [1e17, 1e17 + 16],
        [0.3, 0.1 + 0.2],
        [-1e300, 1e300],
    ],
)
def test_every_value_is_in_one_bar(values: list[float]) -> None:
    bars = bins_of(values)
    assert sum(bar.count for bar in bars) == len(values)
    assert len(bars) <= 33
    assert all(bar.high > bar.low for bar in bars)


def test_numbers_as_people_write_them() -> None:
    assert [number(v) for v in (1994, 11729, 0.5, 126.04, 2.0, 2.345, "ten", 0)] == [
        "1994",
        "11,729",
        "0.500",
        "126.0",
        "2",
        "2.35",
        "ten",
        "0",
    ]
    assert [many(unit) for unit in ("movie", "story", "clip", "class", "essay")] == [
        "movies",
        "stories",
        "clips",
        "classes",
        "essays",
    ]


def test_every_category_has_a_colour_of_its_own() -> None:
    funnel = {"stages": [{"by_category": {f"c{n}": {} for n in range(20)}}]}
    colours = category_colours(funnel)
    assert len(set(colours.values())) == 20
    assert all(re.fullmatch(r"#[0-9A-F]{6}", colour) for colour in colours.values())
