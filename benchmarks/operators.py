"""How well operators do, held against truth: rendered scenes, espeak-ng's voices, and real clips.

    python benchmarks/operators.py [--clips FOLDER] [--only SECTION ...]

FOLDER holds real clips with known facts (default: ../shared/data/video; without it that section is
left out). Sections are shots, tracks, course, text, sound, words, turns, small, clips and damaged.
Seeds are fixed, so figures come out the same each time. All of it takes twelve minutes of CPU. The
figures are on the page docs/operators.md. The parts are in measuring/.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measuring.clips import clips
from measuring.damaged import damaged
from measuring.heard import small, sound, turns, words
from measuring.pictures import course, shots, text
from measuring.tracks import tracks

CLIPS = Path(__file__).parents[2] / "shared" / "data" / "video"
SECTIONS: dict[str, Callable[[Path], None]] = {
    part.__name__: part for part in (shots, tracks, course, text, sound, words, turns, small)
}
REAL: dict[str, Callable[[Path], None]] = {part.__name__: part for part in (clips, damaged)}


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=Path, default=CLIPS, help="real clips with known facts")
    parser.add_argument("--only", nargs="+", choices=[*SECTIONS, *REAL])
    options = parser.parse_args()
    wanted = options.only or [*SECTIONS, *REAL]
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            began = time.monotonic()
            if name in SECTIONS:
                SECTIONS[name](Path(folder))
            elif options.clips.is_dir():
                REAL[name](options.clips)
            print(f"  ({name}: {time.monotonic() - began:.0f} s)")


if __name__ == "__main__":
    main()
