"""Spleeter in NumPy on a known mix: the voice goes, the music stays, and nothing outside changes."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support import SHARED

from reelbench.annotate.common.separation import hop_at, spectra_of, voice_shares
from reelbench.annotate.common.silenced_video import write_without_speaker
from reelbench.annotate.common.voice_removal import VoiceRemoval, without_speaker
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import read_audio
from reelbench.media.edit.write import AudioTrack, video_writer

TRAILER = SHARED / "data" / "video" / "animation_trailer.mp4"
RATE = 44_100
TURN = (3.0, 9.0)
TEXT = "The camera waits in an empty corridor, and that patience tells us who owns this house."

pytestmark = [
    pytest.mark.skipif(not TRAILER.is_file(), reason="the real clips of ../shared are not here"),
    pytest.mark.skipif(
        shutil.which("espeak-ng") is None,
        reason="espeak-ng is not installed (apt install espeak-ng)",
    ),
]


def parts(folder: Path, rate: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a voice that speaks in one turn, 10 dB over music, and the music."""
    path = folder / "voice.wav"
    subprocess.run(["espeak-ng", "-v", "en-gb", "-s", "150", "-w", path, TEXT], check=True)
    music = read_audio(TRAILER, rate, 2, 4.0, 16.0)
    voice = np.zeros_like(music)
    first, last = (round(moment * rate) for moment in TURN)
    said = read_audio(path, rate, 1)[:, : last - first]
    voice[:, first : first + said.shape[1]] = said
    level = np.sqrt(np.mean(voice[:, first:last] ** 2) / np.mean(music[:, first:last] ** 2))
    return voice * np.float32(10**0.5 / level) / 4, music / 4


def inside(sound: np.ndarray, rate: int) -> np.ndarray:
    return sound[:, round(TURN[0] * rate) : round(TURN[1] * rate)]


def db(sound: np.ndarray) -> float:
    return float(10 * np.log10(np.mean(sound.astype(np.float64) ** 2) + 1e-12))


@pytest.mark.parametrize("rate", [24_000, 44_100, 48_000])
def test_the_voice_falls_by_twenty_db_and_the_music_by_less_than_five(
    tmp_path: Path, rate: int
) -> None:
    voice, music = parts(tmp_path, rate)
    removal = VoiceRemoval("separate")
    given = voice + music
    made = np.concatenate(list(without_speaker([given], rate, [TURN], removal)), axis=1)
    assert abs(db(inside(made, rate)) - db(inside(music, rate))) < 5
    before, after = (inside(each, rate).ravel() for each in (voice, made - music))
    share = abs(before @ after) / (before @ before)
    assert 20 * np.log10(share) < -20
    outside = np.ones(given.shape[1], bool)
    outside[round(TURN[0] * rate) : round(TURN[1] * rate)] = False
    np.testing.assert_array_equal(made[:, outside], given[:, outside])


def test_one_channel_is_separated_as_two_that_are_the_same(tmp_path: Path) -> None:
    voice, music = parts(tmp_path, RATE)
    hop = hop_at(RATE)
    one = (voice + music)[:1, : 512 * hop]
    alone, both = (voice_shares(spectra_of(each, hop)) for each in (one, one.repeat(2, axis=0)))
    np.testing.assert_allclose(alone[0], both.mean(0), atol=1e-3)
    assert alone.shape == (1, 512, 2 * hop + 1)


def test_a_separated_video_has_the_same_bytes_twice(tmp_path: Path) -> None:
    voice, music = parts(tmp_path, RATE)
    source = tmp_path / "a.mp4"
    with video_writer(source, 5, sound=AudioTrack([voice + music], RATE, 2)) as writer:
        for number in range(60):
            writer.show(np.full((32, 48, 3), 4 * number, np.uint8), number / 5)
    digests = set()
    for number in range(2):
        out = tmp_path / f"{number}.mp4"
        assert write_without_speaker(source, out, [TURN], VoiceRemoval("separate"), 10.0)
        digests.add(hashlib.sha256(out.read_bytes()).hexdigest())
    assert len(digests) == 1
    assert probe(out).audio[0].sample_rate == RATE
