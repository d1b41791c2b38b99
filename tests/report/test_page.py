"""The page works in a real browser, offline, with hostile content in it."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support import make_item

from reelbench.benchmark import Benchmark
from reelbench.cli.run import finish
from reelbench.evaluate.run import run_benchmark

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr", "--v=0",
    "--virtual-time-budget=20000", "--window-size=1200,900",
]  # fmt: skip


@pytest.fixture
def browse(chromium: str, tmp_path: Path) -> Callable[[str], tuple[str, str]]:
    """Open an address; return the page after its script ran, and what the console said."""

    def open_page(address: str) -> tuple[str, str]:
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        command = [chromium, *FLAGS, profile, "--dump-dom", address]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        return done.stdout, "\n".join(console)

    return open_page


def test_it_is_interactive_and_silent(
    small_demo: Path, browse: Callable[[str], tuple[str, str]]
) -> None:
    page, console = browse((small_demo / "run" / "report.html").as_uri() + "#search=touch")
    assert 'data-ready="true"' in page
    assert console == ""
    items = Benchmark.load(small_demo / "benchmark").items
    texts = [" ".join([item.id, item.question, *item.options]).lower() for item in items]
    found = sum("touch" in text for text in texts)
    assert 0 < found < len(items)
    assert f"{found} of {len(items)} items</output>" in page
    assert page.count('<details id="item-') == min(found, 40)
    assert 'class="main-svg"' in page


def test_an_item_opens_with_its_frames_key_and_replies(
    small_demo: Path, browse: Callable[[str], tuple[str, str]]
) -> None:
    item = Benchmark.load(small_demo / "benchmark").items[3]
    page, _ = browse((small_demo / "run" / "report.html").as_uri() + f"#item={item.id}")
    card = page[page.index(f'id="item-{item.id}"') :]
    card = card[: card.index("</details>")]
    assert card.count('src="data:image/jpeg') == 8
    assert [
        re.sub("<.*?>", "", key) for key in re.findall(r'<li class="key">(.*?)</li>', card)
    ] == [f"{letter}{text} (right)" for letter, text in zip(item.answer, item.correct, strict=True)]
    assert card.count("<tr>") == 3


def test_it_needs_nothing_from_outside(small_demo: Path) -> None:
    page = (small_demo / "run" / "report.html").read_text()
    own = page.replace(page[page.index("<script>") : page.index('<script type="module">')], "")
    assert not re.findall(r"""(?:src|href)=["'](?!data:|#)""", own)
    assert "http" not in own
    assert len(page) < 15_000_000


def test_hostile_texts_stay_texts(tmp_path: Path, browse: Callable[[str], tuple[str, str]]) -> None:
    evil = '</script><script>document.title="hacked"</script><img src=x onerror=\'document.title="hacked"\'>'
    from reelbench.items import freeze
    from reelbench.manifest import Manifest

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
    benchmark = Benchmark(tmp_path / "b", Manifest("evil", "1", title=evil), tuple(items))
    benchmark.save(tmp_path / "b")
    run_benchmark(benchmark, ["baseline:random"], tmp_path / "run")
    finish(benchmark, tmp_path / "run", seed=0)
    page, console = browse((tmp_path / "run" / "report.html").as_uri() + "#item=q-1")
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
