"""How soon the page of a large run can be used, by Chromium's own clock, beside an empty page.

4,000 items and 10 models, with questions and replies as long as real ones.

Run: python benchmarks/page.py CHROMIUM
"""

import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.data.manifest import Manifest, Protocol
from reelbench.evaluate.condition import Condition
from reelbench.report.report import report_run

ITEMS, MODELS, REPEATS = 4000, 10, 3
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync")
WORDS = ["the", "man", "then", "walks", "slowly", "and", "opens", "a", "red", "door", "while"]
CLOCK = """<script type="module">
    addEventListener("load", () => { document.documentElement.dataset.took = performance.now(); });
</script></body>"""


def main() -> None:
    """Print the best of some attempts for both pages."""
    browser = sys.argv[1] if len(sys.argv) > 1 else shutil.which("chromium")
    if not browser:
        print("no Chromium: name one, such as that of `make chromium`")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "empty.html").write_text("<!doctype html><body><p>nothing</p></body>")
        for title, page in (("empty", folder / "empty.html"), ("report", large_page(folder))):
            took = min(seconds(browser, page, folder) for _ in range(REPEATS))
            size = page.stat().st_size / 1e6
            print(f"{title:8} {size:6.1f} MB {took:6.2f} s")


def seconds(browser: str, page: Path, folder: Path) -> float:
    """Return when the page was loaded, its scripts run."""
    head, _, tail = page.read_text().rpartition("</body>")
    copy = folder / "clocked.html"
    copy.write_text(head + CLOCK + tail)
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [browser, *FLAGS, profile, "--dump-dom", copy.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (took,) = re.findall(r'data-took="([\d.]+)"', done.stdout)
    return float(took) / 1000


def large_page(folder: Path) -> Path:
    """Write the report of a run that was never made."""
    draw = random.Random(1)

    def words(count: int) -> str:
        return " ".join(draw.choices(WORDS, k=count))

    items = tuple(
        Item(
            f"q-{n}",
            "single",
            (Media(f"media/{n // 8}.mp4", 0, 20 + n % 900),),
            f"{words(14)}?",
            tuple(f"{letter} {words(6)}" for letter in "pqrs"),
            ("ABCD"[n % 4],),
        )
        for n in range(ITEMS)
    )
    benchmark = Benchmark(folder / "b", Manifest("large", "1"), items)
    benchmark.save(folder / "b")
    run = folder / "run"
    run.mkdir()
    condition = Condition.of(Protocol(), "protocol", {}).to_record() | {"prompt_digest": "0"}
    about = {"name": "large", "version": "1", "digest": benchmark.digest, "path": "../b"}
    record = {
        "benchmark": about | {"media_digest": "0"},
        "models": [{"name": f"model {m}", "parameters": {}} for m in range(MODELS)],
        "conditions": [condition],
        "seed": 0,
        "versions": {"reelbench": "0"},
    }
    (run / "run.json").write_text(json.dumps(record))
    with (run / "predictions.jsonl").open("w") as file:
        for item in items:
            for m in range(MODELS):
                letter = item.answer[0] if draw.random() < 0.9 - 0.05 * m else draw.choice("ABCD")
                row = {"id": item.id, "model": f"model {m}", "parsed": [letter]}
                file.write(json.dumps(row | {"response": f"{words(8)} ({letter})."}) + "\n")
    return report_run(benchmark, run)


if __name__ == "__main__":
    main()
