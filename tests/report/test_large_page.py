"""A page of 4,000 items and 10 models stays small, and can be used.

Here it has a quarter of them: each item adds as much as any other, whichever they are.
"""

import json
import random
import subprocess
from pathlib import Path

import pytest
from support import blind_benchmark, make_item

from reelbench.data.items import Media, freeze
from reelbench.data.manifest import Protocol
from reelbench.evaluate.condition import Condition
from reelbench.report.report import report_run

ITEMS, MODELS, ALL_ITEMS, MOST_BYTES = 1000, 10, 4000, 15_000_000
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--window-size=1200,900",
]  # fmt: skip
WORDS = [
    "the",
    "man",
    "then",
    "walks",
    "over",
    "slowly",
    "and",
    "opens",
    "a",
    "red",
    "door",
    "while",
    "his",
    "dog",
    "barks",
    "at",
    "two",
    "birds",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run whose questions, options and replies are as long as real ones."""
    folder, draw = tmp_path_factory.mktemp("large"), random.Random(1)

    def words(count: int) -> str:
        return " ".join(draw.choices(WORDS, k=count))

    items = [
        make_item(
            n,
            media=(Media(f"media/{n // 8}.mp4", 0, 20 + n % 900),),
            question=f"{words(14)}?",
            options=tuple(f"{letter} {words(6)}" for letter in "pqrs"),
            answer=("ABCD"[n % 4],),
            tags=freeze({"skill": f"skill {n % 20}", "scene": f"scene {n % 7}"}),
        )
        for n in range(ITEMS)
    ]
    benchmark = blind_benchmark(folder / "b", *items)
    run = folder / "run"
    run.mkdir()
    record = {
        "benchmark": {"name": "blind", "version": "1", "digest": benchmark.digest,
                      "media_digest": "0", "path": "../b"},
        "models": [{"name": f"model {m}", "parameters": {}} for m in range(MODELS)],
        "conditions": [Condition.of(Protocol(), "protocol", {}).to_record() | {"prompt_digest": "0"}],
        "seed": 0, "versions": {"reelbench": "0"},
    }  # fmt: skip
    (run / "run.json").write_text(json.dumps(record))
    with (run / "predictions.jsonl").open("w") as file:
        for item in items:
            for m in range(MODELS):
                letter = item.answer[0] if draw.random() < 0.9 - 0.05 * m else draw.choice("ABCD")
                reply = f"{words(8)}. The answer is ({letter})."
                row = {"id": item.id, "model": f"model {m}", "response": reply}
                file.write(json.dumps(row | {"parsed": [letter]}) + "\n")
    return report_run(benchmark, run)


def test_it_is_small(page: Path) -> None:
    text = page.read_text()
    start = text.index('id="data">')
    of_items = len(text[start : text.index("</script>", start)].encode())
    assert of_items > 1000 * ITEMS, "what grows with the items is in there"
    assert page.stat().st_size + (ALL_ITEMS // ITEMS - 1) * of_items <= MOST_BYTES


def test_it_becomes_interactive(page: Path, chromium: str, tmp_path: Path) -> None:
    """How soon is measured in benchmarks/page.py."""
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [chromium, *FLAGS, profile, "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{ITEMS:,} of {ITEMS:,} items</output>" in done.stdout
