"""Three hundred ways to break a file: an error with a name, or frames; never a crash, a hang or a flood."""

import random
import resource
from pathlib import Path

import pytest
from videos import make_video

from reelbench.media import safely
from reelbench.media.errors import MediaError
from reelbench.media.frames import Wish, frames_of
from reelbench.media.store import FrameStore

KINDS = {
    "a.mp4": ("libx264", {"preset": "ultrafast", "threads": "1", "g": "20"}),
    "b.mkv": ("libx264", {"preset": "fast", "threads": "1", "g": "20", "bf": "3"}),
    "c.avi": ("mpeg4", {"g": "20"}),
}
EACH = 100


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Break a file in one of the ways files break."""
    place, end = rng.randrange(len(data)), len(data)
    length = rng.choice([1, 4, 64, 4096])
    way = rng.randrange(7)
    if way == 0:  # cut off
        return data[: rng.choice([0, 1, 7, 100, place, end // 2, end - 1])]
    if way == 1:  # zeros where data was
        return data[:place] + bytes(min(length, end - place)) + data[place + length :]
    if way == 2:  # noise where data was
        return data[:place] + rng.randbytes(min(length, end - place)) + data[place + length :]
    if way == 3:  # the header, above all
        head = rng.randrange(min(2000, end))
        return data[:head] + rng.randbytes(4) + data[head + 4 :]
    if way == 4:  # absurd numbers in the header
        head = rng.randrange(min(2000, end))
        return data[:head] + b"\xff" * 4 + data[head + 4 :]
    if way == 5:  # a piece missing
        return data[:place] + data[place + length :]
    return (
        data[:place] + data[place : place + length] * 3 + data[place + length :]
    )  # a piece thrice


def frames_or_error(path: Path, store: FrameStore) -> int | MediaError:
    try:
        return len(frames_of(path, Wish("uniform:4"), store).pictures)
    except MediaError as error:
        return error


@pytest.mark.parametrize("name", KINDS)
def test_mutations(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safely, "LIMIT", 20.0)
    codec, options = KINDS[name]
    whole = make_video(tmp_path / name, codec, options, seconds=3, sound=3).read_bytes()
    store = FrameStore(tmp_path / "store", limit=10**9)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcomes = {"frames": 0, "error": 0}
    for number in range(EACH):
        path = tmp_path / f"{number}-{name}"
        path.write_bytes(damaged(whole, random.Random(f"{name} {number}")))
        outcome = frames_or_error(path, store)
        if isinstance(outcome, MediaError):
            assert path.name in str(outcome)
            assert outcome.reason
            outcomes["error"] += 1
        else:
            assert outcome == 4
            outcomes["frames"] += 1
        path.unlink()
    assert outcomes["error"] > 5
    assert outcomes["frames"] > 5
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200_000  # kilobytes
