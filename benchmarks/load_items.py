"""How long 100,000 items take to load and validate, beside a bare json.loads of the same lines.

Run: python benchmarks/load_items.py
"""

import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from reelbench.data.benchmark import items_text, read_items
from reelbench.data.items import Item, Media, freeze

COUNT = 100_000
REPEATS = 3


def make_item(number: int) -> Item:
    """Return an item of the size that published benchmarks have."""
    return Item(
        id=f"q-{number:06d}",
        kind="single",
        media=(Media(f"media/v{number // 8:05d}.mp4", 10.0, 20.5),),
        question=f"What does the person in the red coat do after the door closes ({number})?",
        options=(
            "She picks up the phone and walks to the window",
            "She sits down beside the child and reads aloud",
            "She hands the letter to the man at the table",
            "She switches off the light and leaves the room",
        ),
        answer=("ABCD"[number % 4],),
        evidence=((12.0, 15.5),),
        tags=freeze({"category": "order", "skills": ["temporal", "action"]}),
        context=freeze({"caption": "A woman in a red coat stands in a kitchen. " * 3}),
        provenance=freeze({"recipe": "benchmark", "seed": number}),
    )


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the least CPU time of a few runs."""
    best = float("inf")
    for _ in range(REPEATS):
        gc.collect()
        began = time.process_time()
        result = work()
        best = min(best, time.process_time() - began)
        del result
    return best


def main() -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.jsonl"
        path.write_text(items_text([make_item(n) for n in range(COUNT)]))
        bare = cpu_seconds(lambda: [json.loads(line) for line in path.open("rb")])
        ours = cpu_seconds(lambda: read_items(path))
        size = path.stat().st_size / 1e6
    print(f"{COUNT:,} items, {size:.0f} MB, Python {sys.version.split()[0]}, CPU seconds")
    print(f"bare json.loads    {bare:6.2f}")
    print(f"read and validate  {ours:6.2f}   {ours / bare:.2f} x bare")


if __name__ == "__main__":
    main()
