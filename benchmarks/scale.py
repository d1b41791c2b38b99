"""Whether time and memory grow no faster than the work: tenfold three times, without media.

The work grows in three ways, one at a time: items about the same clips, clips with an item each,
and models. Each step of a user's is done in a process of its own: loading the items, linting them,
planning a run (all keys, by clip and in order), running it with baselines, scoring it, writing its
page. CPU seconds are those of the step alone, memory is what the step holds at its peak beyond what
the process held before it. ``x`` is how much a figure grew for ten times the work: up to ten is
in proportion, and what costs the same for little as for nothing grows less.

The items have words of their own, as real ones do. Scores and pages compare every pair of models,
so that this part of them grows with the square; they are measured up to a hundred models.

Run: python benchmarks/scale.py [--largest N] [--only items|clips|models]
"""

import argparse
import gc
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from decoding.loaders import peak_mb

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.data.manifest import Manifest

STEPS = ("load", "lint", "plan", "run", "score", "page")
PAIRED = ("score", "page")  # compare every pair of models
MOST_PAIRED = 100  # models
LEAST = {"cpu": 0.01, "mb": 1.0}  # to say how much more another is
WAYS = ("items", "clips", "models")
GROWN = 4  # sizes: tenfold three times
FEW_CLIPS, FEW_ITEMS, FEW_MODELS = 10, 20, 3
SYLLABLES = ("ka", "lo", "mi", "ren", "tu", "sor", "vel", "ni", "po", "dra", "shi", "ber")
HEAD = "{:8}{:6}" + "{:>12}{:>9}{:>7}" * 2


@dataclass(frozen=True)
class Size:
    """How much work there is."""

    items: int
    clips: int
    models: int

    @property
    def questions(self) -> int:
        """How many a run asks."""
        return self.items * self.models


def main() -> None:
    """Print one table for each way to grow."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=10_000, help="items; a tenth of it, models")
    parser.add_argument("--only", choices=WAYS)
    parser.add_argument("--measure", nargs=2, metavar=("STEP", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure[0], Path(options.measure[1]))))
        return
    # A journal is on disk before it counts: on a disk in memory, that is not what is measured.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        for way in [options.only] if options.only else WAYS:
            print_growth(way, sizes(way, options.largest), Path(name))


def sizes(way: str, largest: int) -> list[Size]:
    """Return the sizes of one way to grow."""
    grown = [largest // 10**step for step in reversed(range(GROWN))]
    if way == "models":
        return [Size(FEW_ITEMS, FEW_CLIPS, max(1, number // 10)) for number in grown]
    if way == "clips":
        return [Size(number, number, FEW_MODELS) for number in grown]
    return [Size(number, FEW_CLIPS, FEW_MODELS) for number in grown]


def print_growth(way: str, grown: list[Size], folder: Path) -> None:
    """Measure all steps at all sizes; print what each took, and how much more than the last."""
    print(f"\nMore {way}: {', '.join(f'{size.questions:,}' for size in grown)} questions")
    print(HEAD.format(way, "", "CPU s", "us each", "x", "peak MB", "KB each", "x"))
    found = {size: steps_of(size, folder / f"{way}-{size.questions}") for size in grown}
    for step in STEPS:
        before: dict[str, float] | None = None
        for size in (each for each in grown if step in found[each]):
            row, now = [step, f"{getattr(size, way):,}"], found[size][step]
            for name, unit in (("cpu", 1e6), ("mb", 1e3)):
                each = f"{now[name] * unit / size.questions:.1f}"
                enough = before is not None and before[name] >= LEAST[name]
                ratio = f"{now[name] / before[name]:.1f}" if before and enough else ""
                row += [f"{now[name]:.2f}", each, ratio]
            print(HEAD.format(*row), flush=True)
            before = now


def steps_of(size: Size, folder: Path) -> dict[str, dict[str, float]]:
    """Do all steps, each in a process of its own."""
    write(size, folder)
    found = {}
    for step in STEPS:
        if step in PAIRED and size.models > MOST_PAIRED:
            continue
        command = [sys.executable, __file__, "--measure", step, str(folder)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found[step] = json.loads(done.stdout.splitlines()[-1])
    return found


def write(size: Size, folder: Path) -> None:
    """Write a benchmark whose media are not there, and the cards of its models."""
    draw = random.Random(1)
    words = ["".join(draw.choices(SYLLABLES, k=3)) for _ in range(5000)]

    def text(count: int) -> str:
        return " ".join(draw.choices(words, k=count))

    items = tuple(
        Item(
            f"q-{n}",
            "single",
            (Media(f"media/{n % size.clips}.mp4", 0, 20),),
            f"What {text(12)}?",
            tuple(f"{text(6)}" for _ in range(4)),
            (draw.choice("ABCD"),),
            tags=freeze({"category": f"c{n % 8}"}),
        )
        for n in range(size.items)
    )
    Benchmark(folder / "b", Manifest("large", "1"), items).save(folder / "b")
    for number in range(size.models):
        kind = ("random", "longest", "first", "random")[number % 4]
        card = {"name": f"m{number}", "backend": "baseline", "model": kind}
        (folder / f"m{number}.yaml").write_text(json.dumps(card))


def measured(step: str, folder: Path) -> dict[str, float]:
    """Do one step; return its CPU seconds, and the megabytes that it added at its peak."""
    work = prepared(step, folder)
    gc.collect()
    held, began = resident_mb(), time.process_time()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    work()
    return {"cpu": time.process_time() - began, "mb": max(peak_mb() - held, 0.0)}


def resident_mb() -> float:
    """The memory that this process holds now."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def prepared(step: str, folder: Path) -> Callable[[], object]:
    """Return a step, its modules imported and what it begins with loaded."""
    from reelbench.evaluate.prepare import RunOptions, prepare
    from reelbench.evaluate.run import run_benchmark
    from reelbench.lint.lint import lint_benchmark
    from reelbench.report.report import write_report
    from reelbench.score.score import score_runs

    root, out = folder / "b", folder / "run"
    if step == "load":
        return lambda: Benchmark.load(root)
    if step == "lint":
        return lambda: lint_benchmark(root, check_media=False)
    benchmark = Benchmark.load(root)
    models = [str(path) for path in sorted(folder.glob("*.yaml"))]
    if step == "plan":
        plan = prepare(benchmark, RunOptions(models), {}, out).plan
        return lambda: (
            sum(1 for clip in plan.by_clip() for _ in clip) == sum(1 for _ in plan) == len(plan)
        )
    if step == "run":
        return lambda: run_benchmark(benchmark, models, out)
    if step == "score":
        return lambda: score_runs(benchmark, [out])
    scored = score_runs(benchmark, [out])
    return lambda: write_report(scored, out / "report.html")


if __name__ == "__main__":
    main()
