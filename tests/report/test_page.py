"""The page works in a real browser, offline, with hostile content in it."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import make_item

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, freeze
from reelbench.data.manifest import Manifest, Protocol
from reelbench.evaluate.run import run_benchmark
from reelbench.report.report import report_run

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr", "--v=0",
    "--virtual-time-budget=20000", "--window-size=1200,900",
]  # fmt: skip
Browse = Callable[[str], tuple[str, str]]


@pytest.fixture
def browse(chromium: str, tmp_path: Path) -> Browse:
    """Open an address; return the page after its script ran, and what the console said."""

    def open_page(address: str) -> tuple[str, str]:
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        command = [chromium, *FLAGS, profile, "--dump-dom", address]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        return done.stdout, "\n".join(console)

    return open_page


def report_of(root: Path, *items: Item, title: str = "", **protocol: Any) -> Path:
    """Run a baseline on these items and return the page."""
    benchmark = Benchmark(
        root / "b", Manifest("b", "1", title=title, protocol=Protocol(**protocol)), items
    )
    benchmark.save(root / "b")
    run_benchmark(benchmark, ["baseline:random"], root / "run")
    return report_run(benchmark, root / "run")


def embedded(page: Path) -> Any:
    """The data that a page carries."""
    text = page.read_text()
    start = text.index('id="data">') + len('id="data">')
    return json.loads(text[start : text.index("</script>", start)])


def test_it_is_interactive_and_silent(small_demo: Path, browse: Browse) -> None:
    page, console = browse((small_demo / "run" / "report.html").as_uri() + "#search=touch")
    assert 'data-ready="true"' in page
    assert console == ""
    items = Benchmark.load(small_demo / "benchmark").items
    texts = [" ".join([item.id, item.question, *item.options]).lower() for item in items]
    found = sum("touch" in text for text in texts)
    assert 0 < found < len(items)
    assert f"{found} of {len(items)} items</output>" in page
    assert page.count('<tr id="item-') == found
    assert 'class="main-svg"' in page


def test_an_item_opens_wherever_it_is_with_frames_key_and_replies(
    small_demo: Path, browse: Browse
) -> None:
    item = Benchmark.load(small_demo / "benchmark").items[50]
    page, _ = browse((small_demo / "run" / "report.html").as_uri() + f"#item={item.id}")
    card = page[page.index('id="detail-title"') :]
    card = card[: card.index("</article>")]
    assert 6 <= card.count('src="data:image/jpeg') <= 12
    assert [
        re.sub("<small.*</small>|<.*?>", "", key)
        for key in re.findall(r'<li class="key">(.*?)</li>', card)
    ] == [f"{letter}{text} (right)" for letter, text in zip(item.answer, item.correct, strict=True)]
    assert card.count('<section class="reply ') == 3


def test_evidence_is_among_the_frames(small_demo: Path) -> None:
    data = embedded(small_demo / "run" / "report.html")
    seen = [
        any(
            start <= frame["time"] <= end
            for frame in data["frames"][video]
            for start, end in item["evidence"]
        )
        for item in data["items"]
        for video in [medium["path"] for medium in item["media"]]
    ]
    assert sum(seen) / len(seen) > 0.9


def test_it_needs_nothing_from_outside(small_demo: Path) -> None:
    page = (small_demo / "run" / "report.html").read_text()
    own = page.replace(page[page.index("<script>") : page.index('<script type="module">')], "")
    assert not re.findall(r"""(?:src|href)=["'](?!data:|#)""", own)
    assert "http:" not in own
    assert "https:" not in own
    assert len(page) < 15_000_000


def test_hostile_texts_stay_texts(tmp_path: Path, browse: Browse) -> None:
    evil = '</script><script>document.title="hacked"</script><img src=x onerror=\'document.title="hacked"\'>'
    items = [
        make_item(
            n,
            question=f"{evil} {n}?",
            options=(evil, "b"),
            answer=("A",),
            tags=freeze({"c": f"{evil}{n}"}),
        )
        for n in range(2)
    ]
    page, console = browse(report_of(tmp_path, *items, title=evil).as_uri() + "#item=q-1")
    assert 'data-ready="true"' in page
    assert "<title>hacked" not in page
    assert console == ""
    assert "&lt;/script&gt;" in page


def test_the_table_has_the_numbers_of_scores_json(small_demo: Path) -> None:
    page = (small_demo / "run" / "report.html").read_text()
    scores = json.loads((small_demo / "run" / "scores.json").read_text())
    for row in scores["results"]:
        assert f'<td class="number strong">{100 * row["accuracy"]:.1f}%</td>' in page
    assert f"{100 * scores['chance']['accuracy']:.1f}%" in page


def test_the_marks_count_what_the_scores_count(tmp_path: Path) -> None:
    items = [make_item(n, question=f"Question {n}?") for n in range(30)]
    data = embedded(report_of(tmp_path, *items, orders=3))
    right = sum(item["replies"][0]["verdict"] == "right" for item in data["items"])
    scores = json.loads((tmp_path / "run" / "predictions.jsonl").read_text().splitlines()[0])
    assert scores["order"] == 0
    from reelbench.score.score import score_run

    benchmark = Benchmark.load(tmp_path / "b")
    assert right == score_run(benchmark, tmp_path / "run").scores["results"][0]["correct"] > 0
    assert len(data["items"][0]["replies"][0]["turns"]) == 3


def test_open_questions_alone_make_a_page_and_no_claim(tmp_path: Path, browse: Browse) -> None:
    item = make_item(1, kind="open", options=(), answer=(), reference="It rains.")
    page, console = browse(report_of(tmp_path, item).as_uri() + "#item=q-1")
    assert 'data-ready="true"' in page
    assert console == ""
    assert 'In words: <bdi dir="auto">It rains.</bdi>' in page
    assert "refused: This baseline answers closed questions only." in page
    assert 'class="is-right"' not in page
