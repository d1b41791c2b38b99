"""How fast clips are annotated, beside Data-Juicer's operators for what both can say.

    python benchmarks/annotate.py [CLIP] [--peer PYTHON]
    python benchmarks/annotate.py CLIP --long LABELS

CLIP is a 720p video (default: the trailer in ../shared, where that is). PYTHON is one that has
py-data-juicer 1.6.1, opencv-contrib-python-headless and scenedetect-headless; without it our own
figures are printed alone. CPU is that of all processes, start-up included; beside it stands what
the same command takes where the libraries in each worker start as many threads as they like (unset
OMP_NUM_THREADS and its like, or there is nothing to see). The factor of real time is over four
copies of the clip, on all cores; each copy differs by a byte, or it would be looked at once. With
--long, labels of one long video are made on one core, on all cores in one piece, and on all cores
in parts.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reelbench.media.decode.isolated import probe_isolated

TRAILER = Path(__file__).parents[2] / "shared" / "data" / "video" / "animation_trailer.mp4"
COPIES = 4
LABELS = {"shots": "shots", "motion": "motion", "shots, faces, tracks": "shots,faces,tracks"}
PEERS = {"shots": "scenes", "motion": "motion"}

WAYS = {  # of one long video: further words of the command, and the seconds of a part
    "one core, one piece": (("--workers", "1"), "inf"),
    "all cores, one piece": ((), "inf"),
    "all cores, in parts": ((), "60"),
}
IN_PARTS_OF = """
import sys
from reelbench.annotate import operator
from reelbench.cli import main
operator.PART_SECONDS = float(sys.argv.pop(1))
sys.exit(main(sys.argv[1:]))
"""
UNLIMITED = """
import sys
from reelbench.base import workers
from reelbench.cli import main
workers.thread_settings = lambda threads: {}
sys.exit(main(sys.argv[1:]))
"""
PEER = """
import sys
from data_juicer.utils.constant import Fields
what, path, out = sys.argv[1:4]
if what == "motion":
    from data_juicer.ops.filter.video_motion_score_filter import VideoMotionScoreFilter
    sample = {"videos": [path], Fields.stats: {}, Fields.source_file: path}
    VideoMotionScoreFilter().compute_stats_single(sample)
else:
    from data_juicer.ops.mapper.video_split_by_scene_mapper import VideoSplitBySceneMapper
    sample = {"text": "<__dj__video>", "videos": [path], Fields.source_file: path}
    VideoSplitBySceneMapper(save_dir=out).process_single(sample)
"""


def measured(command: list[str]) -> tuple[float, float]:
    """Run a command; return the seconds it took, of CPU in all its processes and by the clock."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return cpu, time.monotonic() - began


def copies_of(clip: Path, folder: Path, count: int) -> Path:
    """Write copies that play the same and are not the same bytes."""
    folder.mkdir(parents=True)
    for number in range(count):
        free = (9 + number).to_bytes(4, "big") + b"free" + bytes(1 + number)  # an empty box
        (folder / f"{number}{clip.suffix}").write_bytes(clip.read_bytes() + free)
    return folder


def annotate(clips: Path, labels: str, out: Path) -> list[str]:
    """Return the command as a user types it."""
    words = ["annotate", str(clips), "--labels", labels, "--out", str(out)]
    return [sys.executable, "-m", "reelbench", *words]


def long_video(clip: Path, labels: str) -> None:
    """Print what the labels of one long video cost in each way, and whether they are the same."""
    print(f"{'way':24}{'CPU s':>8}{'wall s':>8}{'cores':>7}")
    files: set[bytes] = set()
    for way, (more, part) in WAYS.items():
        with tempfile.TemporaryDirectory() as folder:
            words = [*annotate(clip, labels, Path(folder))[3:], *more]
            cpu, wall = measured([sys.executable, "-c", IN_PARTS_OF, part, *words])
            files.add((Path(folder) / "labels" / f"{clip.name}.json").read_bytes())
        print(f"{way:24}{cpu:8.1f}{wall:8.1f}{cpu / wall:7.2f}", flush=True)
    print("the same bytes" if len(files) == 1 else "OTHER BYTES")


def main() -> None:
    """Measure, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clip", type=Path, nargs="?", default=TRAILER)
    parser.add_argument("--peer", help="a Python with py-data-juicer")
    parser.add_argument("--long", metavar="LABELS", help="how one long video uses the cores")
    options = parser.parse_args()
    if not options.clip.is_file():
        sys.exit(f"{options.clip} is not there: name a clip.")
    seconds = probe_isolated(options.clip).duration
    print(f"{options.clip.name}, {seconds:.0f} s\n")
    if options.long:
        long_video(options.clip, options.long)
        return
    heads = f"{'peer CPU s':>12}{'ratio':>8}{'x real time':>13}"
    print(f"{'label':22}{'CPU s':>8}{'unlimited':>11}{heads}")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        one, four = copies_of(options.clip, root / "one", 1), copies_of(options.clip, root / "4", 4)
        for name, labels in LABELS.items():
            cpu, _ = measured(annotate(one, labels, root / f"out {name}"))
            words = annotate(one, labels, root / f"out unlimited {name}")[3:]
            unlimited, _ = measured([sys.executable, "-c", UNLIMITED, *words])
            _, wall = measured(annotate(four, labels, root / f"out 4 {name}"))
            theirs = ratio = ""
            if options.peer and name in PEERS:
                words = [options.peer, "-c", PEER, PEERS[name], str(options.clip), folder]
                peer, _ = measured(words)
                theirs, ratio = f"{peer:.1f}", f"{peer / cpu:.1f}"
            factor = COPIES * seconds / wall
            print(f"{name:22}{cpu:8.1f}{unlimited:11.1f}{theirs:>12}{ratio:>8}{factor:13.1f}")


if __name__ == "__main__":
    main()
