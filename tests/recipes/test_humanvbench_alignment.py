"""HumanVBench, AVAD: the sound before the chosen second really runs backwards, and no other."""

from pathlib import Path

import av
import numpy as np
import pytest
from human_clips import a_clip, candidate, stage, take
from videos import pictures

from reelbench.media.edit.audio import read_audio
from reelbench.media.edit.write import AudioTrack, video_writer
from reelbench.recipes.humanvbench.marks import REVERSED

RATE = 16_000
SECONDS = 9.0


def noise() -> np.ndarray:
    """Smooth noise: every moment of it is like no other, forwards or backwards."""
    raw = np.random.default_rng(1).normal(0, 1, round(SECONDS * RATE))
    smooth = np.convolve(raw, np.hanning(32), "same")
    return (0.3 * smooth / np.abs(smooth).max()).astype(np.float32)[None]


def alike(heard: np.ndarray, expected: np.ndarray) -> float:
    """The highest correlation of two sounds, at most 40 ms apart."""
    a, b = (each - each.mean() for each in (heard, expected))
    size, reach = 2 * len(b), round(0.04 * RATE)
    spectrum = np.fft.rfft(a, size) * np.conj(np.fft.rfft(b, size))
    by_lag = np.fft.irfft(spectrum, size) / (np.linalg.norm(a) * np.linalg.norm(b))
    return float(max(by_lag[: reach + 1].max(), by_lag[-reach:].max()))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[float, Path]]:
    """The videos of three clips with the same sound, and up to when it is reversed in each."""
    folder = tmp_path_factory.mktemp("made")
    clips = folder / "make" / "clips"
    clips.mkdir(parents=True)
    names = [f"c{number}" for number in range(3)]
    for name in names:
        sound = AudioTrack([noise()], RATE)
        with video_writer(clips / f"{name}.mp4", 10, sound=sound) as writer:
            for number, image in enumerate(pictures(90, 64, 48)):
                writer.show(image, number / 10)
    rows = [candidate("AVAD", name, SECONDS) for name in names]
    labels = {name: a_clip(SECONDS) for name in names}
    stages = (stage("select"), stage("letters"), stage("times"), stage("mark"))
    found = [outcome[0] for outcome in take(folder, rows, labels, *stages)]
    return [(row.facts[REVERSED], folder / row.video) for row in found]


def test_each_third_is_used(made: list[tuple[float, Path]]) -> None:
    assert sorted(point for point, _ in made) == [0, 3, 6]


def test_sound_runs_backwards_before_the_point_and_forwards_after_it(
    made: list[tuple[float, Path]],
) -> None:
    original = noise()[0]
    for point, path in made:
        heard = read_audio(path, RATE)[0]
        place = round(point * RATE)
        window = RATE // 2
        for start in range(0, place, RATE):
            backwards = original[place - start - window : place - start][::-1]
            assert alike(heard[start : start + window], backwards) > 0.9
            assert alike(heard[start : start + window], original[start : start + window]) < 0.3
        for start in range(place, len(original) - window, RATE):
            piece = original[start : start + window]
            assert alike(heard[start : start + window], piece) > 0.9


def test_the_encoding_does_not_tell_which_is_which(made: list[tuple[float, Path]]) -> None:
    def look(path: Path) -> tuple[object, ...]:
        with av.open(str(path)) as container:
            sound, picture = container.streams.audio[0], container.streams.video[0]
            return (
                sound.codec_context.name,
                sound.rate,
                sound.layout.name,
                sound.frames,
                sound.duration,
                picture.codec_context.name,
                picture.frames,
            )

    assert len({look(path) for _, path in made}) == 1
