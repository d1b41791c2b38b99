"""CPU time of `reelbench --help`, beside a bare Python and pip's own help.

Run: python benchmarks/startup.py
"""

import os
import subprocess
import sys

REPEATS = 10
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "reelbench --help": [sys.executable, "-m", "reelbench", "--help"],
    "pip --help": [sys.executable, "-m", "pip", "--help"],
}


def cpu_seconds(command: list[str]) -> float:
    """Return the median CPU time of a child process, user and system together."""
    times = []
    for _ in range(REPEATS):
        before = os.times()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = os.times()
        spent = after.children_user + after.children_system
        times.append(spent - before.children_user - before.children_system)
    return sorted(times)[REPEATS // 2]


def main() -> None:
    """Print one table."""
    times = {name: cpu_seconds(command) for name, command in COMMANDS.items()}
    bare = times["python -c pass"]
    print("CPU seconds, median of", REPEATS)
    for name, seconds in times.items():
        print(f"{name:18} {seconds:6.3f}   {seconds / bare:4.1f} x bare Python")


if __name__ == "__main__":
    main()
