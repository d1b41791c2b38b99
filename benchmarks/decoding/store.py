"""The whole way of a clip's frames, run in a process of its own: worker, JPEG, store.

Run, in benchmarks/: python -m decoding.store VIDEO COUNT
"""

import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from decoding.loaders import peak_mb

from reelbench.media.decode import frames, isolated
from reelbench.media.decode.frames import FrameSpec, frames_of
from reelbench.media.decode.store import FrameStore

ASKED = 3 * 5 * 4  # questions, orders, models
BOTH = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def cpu() -> float:
    """CPU seconds of this process and of the workers that have ended."""
    return sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime for who in BOTH)


def main() -> None:
    """Ask once, then as often as a run asks, and print what it cost as JSON."""
    path, spec = Path(sys.argv[1]), FrameSpec(f"uniform:{sys.argv[2]}")
    decodes = 0
    plain = isolated.run_isolated

    def counting(*args: Any) -> object:
        nonlocal decodes
        decodes += 1
        return plain(*args)

    counted = mock.patch.object(frames, "run_isolated", counting)
    with counted, tempfile.TemporaryDirectory() as folder:
        store = FrameStore(Path(folder), limit=10**10)
        began = cpu()
        first = frames_of(path, spec, store)
        isolated.close()  # so that the worker's time and memory are counted
        cold = cpu() - began
        began = cpu()
        for _ in range(ASKED - 1):
            assert frames_of(path, spec, store) == first
        warm = (cpu() - began) / (ASKED - 1)
    figures = {"cold": cold, "warm": warm, "asked": ASKED, "decodes": decodes}
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps({**figures, "peak_mb": peak_mb(), "worker_peak_mb": worker}))


if __name__ == "__main__":
    main()
