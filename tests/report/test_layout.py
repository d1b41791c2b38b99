"""Nothing of a page is cut: on a wide screen, on a phone, on paper; texts go the way they are read."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item

from reelbench.data.items import Media, freeze
from reelbench.report.report import write_report
from reelbench.score.predictions import read_rows
from reelbench.score.score import score_rows

MODELS = (
    "Qwen2.5-VL-72B-Instruct",
    "gpt-4o-2024-11-20",
    "نموذج عربي",
    "LLaVA-Video-7B",
    "baseline:random",
    "human:ann",
)
CATEGORIES = (
    *("Temporal Ordering and Sequencing", "اللون الغالب في المشهد الأخير", "זמן", "counting"),
    *("attribute", "camera motion", "spatial memory", "emotion", "speech", "objects", "music"),
)
WIDE = """() => {
  const width = document.documentElement.clientWidth;
  const cut = [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => box.closest("section").id);
  const outside = [...document.querySelectorAll("main table, main p, main h2, main h3, main dd")]
    .filter((part) => !part.closest("#items") && part.getBoundingClientRect().right > width + 1)
    .map((part) => `${part.tagName} in ${part.closest("section").id}`);
  return { page: document.documentElement.scrollWidth - width, cut, outside };
}"""


# Words of names that stand on two lines, and rows that are taller than the name that begins them.
BROKEN = r"""() => {
  const broken = [];
  for (const head of document.querySelectorAll("main table th")) {
    if (head.closest("#items")) continue;
    const texts = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
    for (let text; (text = texts.nextNode());) for (const word of text.data.matchAll(/[^\s:/_-]+/g)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) broken.push(word[0]);
    }
  }
  const tall = [...document.querySelectorAll(".leaderboard tbody tr, #comparison tbody tr")].filter((row) => {
    const range = document.createRange();
    range.selectNodeContents(row.cells[0]);
    return row.offsetHeight > range.getBoundingClientRect().height + 22;
  }).map((row) => row.innerText);
  const scrolls = [...document.querySelectorAll(".scroll")].filter((box) => box.scrollHeight > box.clientHeight + 1);
  return { broken, tall, scrolls: scrolls.length };
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of several models and conditions, many categories, and right-to-left names."""
    folder = tmp_path_factory.mktemp("layout")
    items = [
        make_item(
            n,
            media=(Media(f"{n // 3}.mp4", 0, 10),),
            tags=freeze({"category": CATEGORIES[n % len(CATEGORIES)]}),
            kind="multi" if n % 5 == 4 else "single",
            answer=("B", "C") if n % 5 == 4 else ("B",),
        )
        for n in range(44)
    ]
    benchmark = blind_benchmark(folder / "b", *items)
    draw = random.Random(1)
    rows = [
        {"id": item.id, "model": m, "condition": c, "parsed": [*item.answer] if draw.random() < 0.7 else ["A"]}
        for m in MODELS
        for c in ("protocol", "silent")
        for item in items
    ]  # fmt: skip
    path = folder / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return write_report(score_rows(benchmark, read_rows(path, benchmark)), folder / "page.html")


def test_nothing_is_cut_at_1400_on_a_phone_and_on_paper(page: Path, chromium: str) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    found: dict[str, Any] = {}
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1400, "height": 900})
        opened.goto(page.as_uri())
        found["wide"] = opened.evaluate(WIDE)
        opened.set_viewport_size({"width": 390, "height": 800})
        found["phone"] = opened.evaluate(WIDE)
        opened.emulate_media(media="print")
        opened.set_viewport_size({"width": 718, "height": 1000})  # A4 between its margins
        found["paper"] = opened.evaluate(WIDE)
        browser.close()
    assert found["wide"] == {"page": 0, "cut": [], "outside": []}
    assert found["phone"]["page"] == 0  # what is wider scrolls by itself
    assert found["paper"] == {"page": 0, "cut": [], "outside": []}


@pytest.mark.parametrize("width", [390, 800])
def test_on_small_screens_words_stay_whole_and_rows_low(
    page: Path, chromium: str, width: int
) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": width, "height": 900})
        opened.goto(page.as_uri())
        found = opened.evaluate(BROKEN)
        browser.close()
    assert found == {"broken": [], "tall": [], "scrolls": 0}
