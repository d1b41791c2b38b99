"""What an exact item costs in CPU time, beside an earlier version, and where it goes.

    git worktree add ../before COMMIT
    python benchmarks/exact_time.py --before ../before/src [--clips FOLDER] [--items 40]

Both versions run the same command on the same clips, in turns; the figures are CPU seconds of all
processes. Versions ask other families in other shares, so that the time of a video is the fairer
one. Without ``--before`` this version stands alone. What a profile says of it comes last.
"""

import argparse
import cProfile
import io
import os
import pstats
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from measuring.world import table

from reelbench.base.seeds import seed_for
from reelbench.media.decode.probe import probe
from reelbench.media.errors import MediaError
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.plan import SegmentPlan, plan
from reelbench.recipes.qbench_exact.targets import QuestionTargets
from reelbench.recipes.qbench_exact.videos import write_videos

CLIPS = Path(__file__).parents[2] / "shared" / "data" / "video"
TURNS = 2
MARGIN = 0.15
# Functions of which none calls another, so that their times add up.
PARTS = {
    "writing the video": ("write.py", "show"),
    "decoding the clip": ("footage.py", "_decoded"),
    "decoding what was written": ("frames.py", "decoded_frames"),
    "damaging frames": ("degrade.py", "degrade_images"),
    "measuring one quality": ("quality.py", "seen_in"),
    "measuring all qualities": ("quality.py", "all_qualities"),
}


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=Path, default=CLIPS)
    parser.add_argument("--before", type=Path, help="src of an earlier version")
    parser.add_argument("--items", type=int, default=40)
    options = parser.parse_args()
    if not options.clips.is_dir():
        print(f"{options.clips} is not there: name a folder of clips with --clips")
        return
    ours = Path(__file__).parents[1] / "src"
    trees = {"ours": ours} | ({"before": options.before.resolve()} if options.before else {})
    runs: dict[str, list[tuple[float, int, int, float]]] = {name: [] for name in trees}
    for _ in range(TURNS):  # in turn, so that a busy moment of the machine hits both
        for name, tree in trees.items():
            runs[name].append(made(tree, options.clips, options.items))
    best = {name: min(done) for name, done in runs.items()}
    rows = [
        [name, cpu, items, videos, cpu / items, cpu / videos, size / videos]
        for name, (cpu, items, videos, size) in best.items()
    ]
    each = ["CPU s a question", "CPU s a video", "MB a video"]
    head = ["version", "CPU s", "questions", "videos", *each]
    table(f"qbench-exact of {options.items} items", head, rows)
    if options.before:
        now, then = best["ours"], best["before"]
        for place, what in ((1, "question"), (2, "video")):
            print(f"ours / before: {now[0] / now[place] / (then[0] / then[place]):.2f} a {what}")
    profile(options.clips, options.items)


def made(tree: Path, clips: Path, items: int) -> tuple[float, int, int, float]:
    """Run the command; return its CPU seconds, the questions made, the videos and their MB."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "made"
        words = ["make", "qbench-exact", "--source", str(clips), "--items", str(items)]
        command = [
            sys.executable,
            "-m",
            "reelbench",
            *words,
            "--out",
            str(out),
            "--until",
            "damage",
        ]
        began = os.times()
        done = subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode > 1:
            raise SystemExit(done.stderr)
        ended = os.times()
        questions = len((out / "make" / "damage.jsonl").read_text().splitlines())
        videos = [path.stat().st_size for path in (out / "make" / "videos").glob("*.mp4")]
    cpu = ended.children_user + ended.children_system
    return (
        cpu - began.children_user - began.children_system,
        questions,
        len(videos),
        sum(videos) / 1e6,
    )


def profile(clips: Path, items: int) -> None:
    """Print where the time goes, by a profile of the work that the processes do."""
    segments = [each for path in sorted(clips.iterdir()) for each in _segments(path)]
    context: Any = SimpleNamespace(seed=0, notes=[])
    rows = plan(segments, context, items=items, margin=[MARGIN])
    orders = [order for row in rows if isinstance(row, SegmentPlan) for order in row.orders]
    profiler = cProfile.Profile(time.process_time)
    with tempfile.TemporaryDirectory() as folder:
        profiler.enable()
        for order in orders:
            targets = QuestionTargets(order, seed_for(order.id))
            paths = [clips / segment.path for segment in order.segments[0]]
            outs = [Path(folder) / f"{number}.mp4" for number in range(len(paths))]
            write_videos(paths, order.segments[0], targets, outs, 512)
        profiler.disable()
    stats: Any = pstats.Stats(profiler, stream=io.StringIO())
    whole = stats.total_tt
    spent = {
        part: sum(
            row[3] for (path, _, name), row in stats.stats.items() if (Path(path).name, name) == at
        )
        for part, at in PARTS.items()
    }
    spent["all else"] = whole - sum(spent.values())
    table(
        f"Where {whole:.0f} s of CPU go",
        ["part", "share"],
        [[part, f"{seconds / whole:.0%}"] for part, seconds in spent.items()],
    )


def _segments(path: Path) -> list[Segment]:
    try:
        count = int(probe(path).duration / 4 + 1e-6)
    except MediaError:  # a text beside the clips
        return []
    return [
        Segment(f"{path.name}#{n:04d}", path.name, "", 4.0 * n, 4.0 * n + 4) for n in range(count)
    ]


if __name__ == "__main__":
    main()
