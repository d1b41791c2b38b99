"""A speaker is taken out of a sound during the own turns, and nothing else is changed."""

import pickle
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from narrated import RATE, long_sound

from reelbench.annotate.common.narrator_left import (
    TimedWord,
    sound_changes,
    timed_words,
    words_left,
)
from reelbench.annotate.common.separation import hop_at, sound_of_spectra, spectra_of
from reelbench.annotate.common.voice_removal import (
    VoiceRemoval,
    removal_spans,
    sound_windows,
    without_speaker,
)
from reelbench.base.errors import ReelbenchError
from reelbench.media.edit.audio import write_wav
from reelbench.weights.checkpoint import read_checkpoint


@pytest.mark.parametrize("method", ["attenuate", "mute"])
def test_outside_the_spans_every_sample_is_the_given_one(method: str) -> None:
    given = np.concatenate(list(long_sound(4)), axis=1)
    spans = [(0.0, 0.5), (1.25, 2.5)]
    pieces = np.array_split(given, [100, 5_000, 40_000], axis=1)
    made = np.concatenate(list(without_speaker(pieces, RATE, spans, VoiceRemoval(method))), axis=1)
    inside = np.zeros(given.shape[1], bool)
    for start, end in spans:
        inside[round(start * RATE) : round(end * RATE)] = True
    np.testing.assert_array_equal(made[:, ~inside], given[:, ~inside])
    deep = slice(round(1.3 * RATE), round(2.4 * RATE))
    assert np.abs(made[:, deep]).max() <= np.abs(given[:, deep]).max() * 1.01e-3


def test_the_sound_does_not_jump_where_a_turn_begins_or_ends() -> None:
    flat = np.full((1, 2 * RATE), 0.5, np.float32)
    made = list(without_speaker([flat], RATE, [(0.5, 1.5)], VoiceRemoval("mute")))
    assert np.abs(np.diff(np.concatenate(made, axis=1))).max() < 0.5 / (0.02 * RATE) * 1.01


def test_a_long_sound_is_never_held_as_a_whole() -> None:
    tracemalloc.start()
    count = 0
    for piece in without_speaker(long_sound(300), RATE, [(5.0, 290.0)], VoiceRemoval("attenuate")):
        count += piece.shape[1]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 300 * RATE
    assert most < 300 * RATE * 4 / 10  # bytes; a tenth of the sound


def test_windows_come_with_what_is_around_them_and_cover_everything_once() -> None:
    given = np.arange(1, 1001, dtype=np.float32)[None]
    windows = list(sound_windows([given[:, :7], given[:, 7:650], given[:, 650:]], 90, 30))
    assert all(heard.shape[1] == 150 for _, heard, _ in windows)
    middles = [heard[:, 30 : 30 + count] for _, heard, count in windows]
    np.testing.assert_array_equal(np.concatenate(middles, axis=1), given)
    _, second, _ = windows[1]
    np.testing.assert_array_equal(second[0], given[0, 60:210])


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_spectra_sound_as_before_at_any_rate(rate: int) -> None:
    hop = hop_at(rate)
    given = np.random.default_rng(1).normal(0, 0.1, (2, 40 * hop)).astype(np.float32)
    made = sound_of_spectra(spectra_of(given, hop), hop)
    middle = slice(4 * hop, -4 * hop)
    np.testing.assert_allclose(made[:, middle], given[:, middle], atol=1e-5)


def test_margins_end_where_someone_else_speaks_and_overlaps_stay_in_the_turn() -> None:
    own, others = [(2.0, 4.0), (6.0, 8.0)], [(3.5, 4.5), (5.8, 5.95)]
    assert removal_spans(own, others, 0.2, 8.1) == [(1.8, 4.0), (5.95, 8.1)]


@pytest.mark.parametrize("fields", [{"method": "delete"}, {"margin": -1.0}])
def test_a_removal_that_cannot_be_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ReelbenchError, match=r"unknown; the known ones|below 0"):
        VoiceRemoval(**fields)  # type: ignore[arg-type]


def _said(text: str, start: float = 0.0) -> list[TimedWord]:
    return [TimedWord(start + number / 2, word) for number, word in enumerate(text.split())]


def test_a_word_is_left_if_it_is_heard_near_its_time_and_in_order() -> None:
    spoken = _said("the red curtain divides the stage")
    assert sum(words_left(spoken, _said("a red curtain hides the cage"), (0, 10))) == 3
    assert sum(words_left(spoken, _said("the red curtain", start=5.0), (0, 10))) == 0
    assert sum(words_left(spoken, _said("stage curtain red"), (0, 10))) == 1
    assert words_left(spoken, spoken, (1.0, 2.0)) == [True, True]  # of this clip alone


def test_lines_of_subtitles_without_times_of_words_are_spread() -> None:
    line = {"start": 2.0, "end": 6.0, "text": "Two words", "words": []}
    assert timed_words({"segments": [line]}) == [TimedWord(3.0, "two"), TimedWord(5.0, "words")]


def test_the_change_of_sound_is_measured_within_and_beside_the_spans(tmp_path: Path) -> None:
    was = np.concatenate(list(long_sound(4)), axis=1)
    now = was.copy()
    now[:, RATE : 2 * RATE] *= 0.1
    for name, sound in (("was.wav", was), ("now.wav", now)):
        write_wav(tmp_path / name, sound, RATE)
    clips = [(0.0, 2.0), (2.0, 4.0)]
    first, second = sound_changes(tmp_path / "was.wav", tmp_path / "now.wav", [(1.0, 2.0)], clips)
    assert first.inside == -20.0
    assert first.outside == second.outside == 0.0
    assert second.inside is None
    assert second.error is not None
    assert second.error < -80


def _checkpoint(path: Path, content: object) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/data.pkl", pickle.dumps(content, protocol=2))
    return path


def test_a_checkpoint_of_arrays_is_read_and_one_with_objects_is_refused(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    path = _checkpoint(tmp_path / "a.ckpt", {"w": numbers, "turned": numbers.T})
    read = read_checkpoint(path)
    np.testing.assert_array_equal(read["w"], numbers)
    np.testing.assert_array_equal(read["turned"], numbers.T)
    objects = np.array([print], dtype=object)
    with pytest.raises(ReelbenchError, match="not a PyTorch checkpoint of plain tensors"):
        read_checkpoint(_checkpoint(tmp_path / "b.ckpt", {"w": objects}))
