"""Three hundred ways to break a file: an error with a name, or frames; never a crash, a hang or a flood."""

import random
import resource
from collections import Counter
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from videos import make_video

from reelbench.media.decode import isolated
from reelbench.media.decode.frames import ClipFrames, FrameSpec, frames_of
from reelbench.media.decode.store import FrameStore
from reelbench.media.errors import MediaError

KINDS = {
    "a.mp4": ("libx264", {"preset": "ultrafast", "threads": "1", "g": "20"}),
    "b.mkv": ("libx264", {"preset": "fast", "threads": "1", "g": "20", "bf": "3"}),
    "c.avi": ("mpeg4", {"g": "20"}),
}
EACH = 100
BOTH = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


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


def outcome_of(path: Path, store: FrameStore) -> ClipFrames | MediaError:
    try:
        return frames_of(path, FrameSpec("uniform:4", encoding="png"), store)
    except MediaError as error:
        return error


def pictures_of(clip: ClipFrames) -> np.ndarray:
    return np.stack([np.asarray(Image.open(BytesIO(p.data)), int) for p in clip.pictures])


@pytest.mark.parametrize("name", KINDS)
def test_mutations(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "LIMIT", 20.0)
    codec, options = KINDS[name]
    source = make_video(tmp_path / name, codec, options, seconds=3, sound=3)
    whole = source.read_bytes()
    store = FrameStore(tmp_path / "store", limit=10**9)
    right = pictures_of(outcome_of(source, store))
    isolated.close()
    before = [resource.getrusage(who).ru_maxrss for who in BOTH]
    outcomes: Counter[str] = Counter()
    for number in range(EACH):
        path = tmp_path / f"{number}-{name}"
        path.write_bytes(damaged(whole, random.Random(f"{name} {number}")))
        outcome = outcome_of(path, store)
        if isinstance(outcome, MediaError):
            assert path.name in str(outcome)
            assert outcome.reason
            assert "took over" not in outcome.reason
            outcomes["error"] += 1
        else:
            assert len(outcome.pictures) == 4
            shown = pictures_of(outcome)
            outcomes["right" if np.array_equal(shown, right) else "other"] += 1
        path.unlink()
    isolated.close()  # so that the workers' memory is counted
    assert outcomes["error"] > 5
    if name == "b.mkv":  # it has checksums, so that nothing goes unnoticed
        assert outcomes["error"] > EACH - 5, outcomes
    else:
        assert outcomes["right"] > 5
    # Some changes cannot be told from another video: a codec without checks decodes noise.
    assert outcomes["other"] < EACH / 10, outcomes
    grown = [resource.getrusage(who).ru_maxrss - b for who, b in zip(BOTH, before, strict=True)]
    assert max(grown) < 400_000  # kilobytes
