"""Letters of every script in previews: by a font of the system, or a sentence."""

from pathlib import Path

import pytest
from PIL import ImageFont

from reelbench.annotate.preview import fonts


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what was found and told before; let there be no fontconfig and no fonts."""
    fonts._covering.cache_clear()
    fonts._say_missing.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(fonts, "_in_folders", list)
    monkeypatch.setattr(fonts, "_USUAL", ())


def has(font: fonts.Font, text: str) -> bool:
    none = font.getmask("\U0010fffe")
    return all(bytes(font.getmask(letter)) != bytes(none) for letter in text)


def test_english_needs_no_font_of_the_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert has(fonts.font_for("p1 happy 0.95", 20), "p1happy0.95")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "script", "package"),
    [
        ("안녕하세요", "Hangul", "fonts-noto-cjk"),
        ("こんにちは", "Hiragana", "fonts-noto-cjk"),
        ("今日", "Chinese", "fonts-noto-cjk"),
        ("مرحبا", "Arabic", "fonts-noto-core"),
        ("สวัสดี", "Thai", "fonts-noto-core"),
    ],
)
def test_without_a_font_it_says_once_what_to_install(
    text: str, script: str, package: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for size in (12, 20):
        fonts.font_for(text, size)
        fonts.font_for(f"{text} 2", size)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert f"no font for {script} letters" in lines[0]
    assert f"apt install {package}" in lines[0]


@pytest.mark.parametrize("text", ["café", "Привет", "مرحبا"])
def test_a_font_of_the_system_is_found_and_nothing_is_said(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        path = str(ImageFont.truetype("DejaVuSans.ttf", 10).path)
    except OSError:
        pytest.skip("DejaVu Sans is not on this machine")
    monkeypatch.setattr(fonts, "_in_folders", lambda: ["/no/such.ttf", path])
    assert has(fonts.font_for(text, 20), text)
    assert capsys.readouterr().err == ""
