"""How busy a GPU is over time, as nvidia-smi samples it."""

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

COMMAND = (
    *("nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"),
    *("-lms", "50"),
)


@contextmanager
def sampled() -> Iterator[list[tuple[float, float]]]:
    """Yield a list that fills with times and percents while the block runs."""
    found: list[tuple[float, float]] = []
    try:
        process = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True)
    except OSError:
        yield found
        return

    def read() -> None:
        assert process.stdout
        found.extend((time.monotonic(), float(line)) for line in process.stdout if line.strip())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield found
    finally:
        process.terminate()
        process.wait()
        reader.join()
