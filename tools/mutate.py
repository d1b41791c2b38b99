"""Plant small faults, one after the other, in a copy of the tree, and say which the tests miss.

    python tools/mutate.py              all of tools/faults.yaml
    python tools/mutate.py score lint   those in these rooms or files
    python tools/mutate.py 20-29        those of these numbers

Exit status 1 if any survives, or cannot be planted.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
SOURCE = Path("src/reelbench")
LIMIT = 300  # seconds for the tests of one fault


def main(words: list[str]) -> int:
    """Plant the faults that the words choose; print a table."""
    faults = yaml.safe_load((ROOT / "tools" / "faults.yaml").read_text("utf-8"))
    chosen = [(n, fault) for n, fault in enumerate(faults, 1) if _is_chosen(n, fault, words)]
    missed = 0
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        copy = _copy(Path(folder))
        for number, fault in chosen:
            begin = time.monotonic()
            fate = _plant(copy, fault)
            missed += fate != "found"
            seconds = time.monotonic() - begin
            place = f"{fault['file']}: {fault['new']}"
            print(f"{number:3} {fate:12} {seconds:5.0f} s  {place}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults were found.")
    return 1 if missed else 0


def _is_chosen(number: int, fault: dict[str, str], words: list[str]) -> bool:
    for word in words:
        if span := re.fullmatch(r"(\d+)(?:-(\d+))?", word):
            if int(span[1]) <= number <= int(span[2] or span[1]):
                return True
        elif fault["file"].startswith(word):
            return True
    return not words


def _copy(folder: Path) -> Path:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def _plant(copy: Path, fault: dict[str, str]) -> str:
    path = copy / SOURCE / fault["file"]
    whole = path.read_text("utf-8")
    if whole.count(fault["old"]) != 1:
        return "not planted"
    path.write_text(whole.replace(fault["old"], fault["new"]), "utf-8")
    try:
        return "SURVIVED" if _tests_pass(copy, fault["tests"]) else "found"
    finally:
        path.write_text(whole, "utf-8")


def _tests_pass(copy: Path, tests: list[str]) -> bool:
    # No bytecode: a file that changes twice within a second would be taken for the same.
    settings = {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=copy, env=os.environ | settings, capture_output=True, timeout=LIMIT,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False  # a fault that makes them hang is found, too
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
