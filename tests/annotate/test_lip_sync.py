"""How far lips and sound agree, on lips and sound that are made up."""

import numpy as np
import pytest
from talking import SECONDS, mouth_of, sound_of, syllables

from reelbench.annotate.common.lip_sync import (
    STEP,
    Agreement,
    agreement,
    curve_by_shift,
    lips_on_grid,
    speech_bands,
)

COUNT = round(SECONDS / STEP)


def compared(mouth: np.ndarray, sound: np.ndarray) -> Agreement:
    bands = speech_bands(sound)
    return agreement(bands, *lips_on_grid(mouth, len(bands)))


def test_lips_agree_with_their_own_sound_and_not_with_that_of_others() -> None:
    own = compared(mouth_of(syllables(1)), sound_of(syllables(1)))
    other = compared(mouth_of(syllables(2)), sound_of(syllables(1)))
    assert own.correlation > 0.2
    assert own.deviations > 4
    assert other.correlation < own.correlation / 2
    assert other.deviations < 2


@pytest.mark.parametrize("shift", [2.0, 3.4, 5.0])
def test_sound_that_is_shifted_by_seconds_gives_no_confidence(shift: float) -> None:
    found = compared(mouth_of(syllables(1)), np.roll(sound_of(syllables(1)), round(shift * 16000)))
    assert found.deviations < 2.5


@pytest.mark.parametrize("lag", [-0.16, -0.08, 0.08, 0.16])
def test_a_lag_of_the_sound_is_found(lag: float) -> None:
    own = compared(mouth_of(syllables(1)), sound_of(syllables(1)))
    late = compared(mouth_of(syllables(1)), np.roll(sound_of(syllables(1)), round(lag * 16000)))
    assert late.lag - own.lag == pytest.approx(lag, abs=STEP * 1.01)


def test_a_shift_of_one_column_against_another_is_found_exactly() -> None:
    random = np.random.default_rng(3)
    sound = random.normal(size=(200, 1))
    known = np.arange(200) >= 40
    curve = curve_by_shift(sound, np.roll(sound, -7, axis=0), known, np.ones(1))
    assert curve.argmax() == 7
    assert curve.max() == pytest.approx(1.0)
    # The same as one by one.
    chosen = np.roll(sound, -3, axis=0)[known, 0], np.roll(sound, -7, axis=0)[known, 0]
    assert curve[3] == pytest.approx(np.corrcoef(*chosen)[0, 1])


def test_a_still_mouth_and_silence_agree_with_nothing() -> None:
    still = mouth_of(syllables(1))
    still[:, 1:] = [0.01, 0.5, 0.2, 1.0]
    assert compared(still, sound_of(syllables(1))).correlation == pytest.approx(0, abs=0.05)
    silent = np.zeros(round(SECONDS * 16000), np.float32)
    assert compared(mouth_of(syllables(1)), silent).correlation == pytest.approx(0, abs=1e-6)


def test_a_mouth_is_not_known_before_it_is_seen_nor_in_a_gap() -> None:
    mouth = mouth_of(syllables(1))
    times = mouth[:, 0]
    lips, known = lips_on_grid(mouth[(times > 1) & ((times < 3) | (times > 4))], COUNT)
    assert lips.shape == (COUNT, 8)
    grid = np.arange(COUNT) * STEP
    assert not known[grid < 0.9].any()
    assert not known[(grid > 3.1) & (grid < 3.9)].any()
    assert known[(grid > 1.1) & (grid < 2.9)].all()
    assert not lips_on_grid(mouth[:1], COUNT)[1].any()


def test_what_is_too_short_to_be_shifted_gives_no_confidence() -> None:
    short = round(1.5 * 16000)
    mouth = mouth_of(syllables(1))
    assert compared(mouth[mouth[:, 0] < 1.5], sound_of(syllables(1))[:short]).deviations == 0
