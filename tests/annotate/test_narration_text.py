"""Subtitles in the picture that repeat the narrator, on hand-made lines and words."""

from collections.abc import Sequence

import pytest

from reelbench.annotate.operator import Value
from reelbench.annotate.operators.narration_text import repeated_narration

SENTENCES = (
    "what the camera shows here is not the fight",
    "but the silence that follows after it",
    "the light falls from the left side",
    "and the colour drains out of the room",
)


def spoken(sentences: Sequence[str] = SENTENCES, start: float = 0.0) -> list[Value]:
    """Words that are spoken evenly, four seconds a sentence."""
    found = []
    for number, sentence in enumerate(sentences):
        words = sentence.split()
        step = 4.0 / len(words)
        for place, word in enumerate(words):
            begin = start + 4.0 * number + place * step
            found.append({"start": begin, "end": begin + step, "word": word})
    return found


def shown(texts: Sequence[str], late: float = 0.0, seconds: float = 4.0) -> list[Value]:
    return [
        {"text": text, "start": 4.0 * n + late, "end": 4.0 * n + late + seconds, "score": 0.9}
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize("late", [-1.0, 0.0, 1.0])
def test_subtitles_of_the_narration_are_found_though_they_are_early_or_late(late: float) -> None:
    found = repeated_narration(shown(SENTENCES, late), spoken())
    assert found["spans"] == [[late, 16.0 + late]]
    assert found["shares"][0] > 0.9
    assert found["texts"] == [" ".join(SENTENCES)]
    assert found["seconds"] == 16.0


def test_letters_are_compared_for_blanks_and_signs_are_misread() -> None:
    texts = [text.upper().replace(" ", "").replace("LL", "11") + "." for text in SENTENCES]
    assert repeated_narration(shown(texts), spoken())["spans"] == [[0.0, 16.0]]


def test_a_few_words_at_a_time_are_subtitles_too() -> None:
    words = spoken()
    lines = [
        {"text": f"{a['word']} {b['word']}", "start": a["start"], "end": b["end"]}
        for a, b in zip(words[::2], words[1::2], strict=False)
    ]
    ((start, end),) = repeated_narration(lines, words)["spans"]
    assert (start, end) == pytest.approx((0.0, 16.0), abs=1.0)


def test_a_watermark_beside_them_changes_nothing() -> None:
    always = {"text": "CHANNEL FIVE", "start": 0.0, "end": 60.0}
    signs = shown(["EXIT"] * 4)
    found = repeated_narration([always, *signs, *shown(SENTENCES)], spoken())
    assert found["spans"] == [[0.0, 16.0]]
    assert "EXIT" not in found["texts"][0]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (shown(["The silence that follows"]), spoken()),
        ([{"text": text, "start": 0.0, "end": 9.0} for text in SENTENCES[:2]], spoken()),
        ([{"text": " ".join(SENTENCES), "start": 0.0, "end": 16.0}], spoken()),
        (shown(SENTENCES), spoken(SENTENCES, start=40.0)),
        (shown(SENTENCES), []),
        ([], spoken()),
        (
            shown(
                [
                    "Directed by the brothers of the river",
                    "A film about seven letters",
                    "Nobody knew what was written",
                    "Edited in a small village",
                ]
            ),
            spoken(),
        ),
        (shown(["one", "two", "it", "left"]), spoken(["one", "two", "it", "left"])),
    ],
    ids=[
        "a title that is read out",
        "a quotation",
        "a text that stays",
        "spoken at another time",
        "no words",
        "no text",
        "other text",
        "single words",
    ],
)
def test_text_that_does_not_follow_the_narration_is_none(
    lines: list[Value], words: list[Value]
) -> None:
    assert repeated_narration(lines, words)["spans"] == []


def test_each_run_of_subtitles_is_a_span() -> None:
    later = [
        {**line, "start": line["start"] + 40, "end": line["end"] + 40} for line in shown(SENTENCES)
    ]
    found = repeated_narration([*shown(SENTENCES), *later], [*spoken(), *spoken(start=40.0)])
    assert found["spans"] == [[0.0, 16.0], [40.0, 56.0]]
    assert len(found["shares"]) == len(found["texts"]) == 2


def test_scripts_without_blanks_are_compared_by_their_signs() -> None:
    texts = ["镜头在这里展示的不是打斗", "而是之后的沉默", "光从左边落下来", "颜色从房间里流走了"]
    words = [
        {"start": 4.0 * n + 0.3 * k, "end": 4.0 * n + 0.3 * k + 0.3, "word": sign}
        for n, text in enumerate(texts)
        for k, sign in enumerate(text)
    ]
    assert repeated_narration(shown(texts), words)["spans"] == [[0.0, 16.0]]
