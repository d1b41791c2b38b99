"""Fonts for drawings: Pillow's own for English, one of the system's for every other script."""

import os
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from PIL import ImageFont

from reelbench.base.progress import announce

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
# Tried first, where the system has them; Pillow finds them by their names.
_USUAL = (
    "DejaVuSans.ttf",
    "NotoSans-Regular.ttf",
    "NotoSansCJK-Regular.ttc",
    "DroidSansFallbackFull.ttf",
)
_ENDINGS = (".ttf", ".ttc", ".otf")
_EAST_ASIAN = {"CJK", "HANGUL", "HIRAGANA", "KATAKANA", "BOPOMOFO", "FULLWIDTH", "IDEOGRAPHIC"}
_SCRIPTS = {"CJK": "Chinese"}  # where Unicode calls it otherwise
_MOST_LETTERS = 60  # of a text that are looked for
_MOST_FILES = 40  # that are opened in search of letters
_NO_LETTER = "\U0010fffe"  # which no font has


def font_for(text: str, size: int) -> Font:
    """Return a font with the letters of a text; a note says once which script there is none for."""
    if text.isascii():
        return _font("", size)
    letters = sorted({letter for letter in text if not letter.isspace()}, reverse=True)
    return _font(_covering("".join(letters[:_MOST_LETTERS])), size)


@lru_cache(maxsize=128)
def _font(name: str, size: int) -> Font:
    return ImageFont.truetype(name, size) if name else ImageFont.load_default(size)


@cache
def _covering(letters: str) -> str:
    """Return the font that has most of these letters, the first of those that have as many."""
    best, most = "", frozenset[str]()
    for name in _candidates(letters):
        has = _letters_in(name, letters)
        if len(has) > len(most):
            best, most = name, has
        if len(most) == len(letters):
            break
    for letter in letters:
        if letter not in most and unicodedata.category(letter)[0] in "LN":
            _say_missing(_script(letter))
    return best


def _letters_in(name: str, letters: str) -> frozenset[str]:
    try:
        font = _font(name, 20)
        none = _picture(font, _NO_LETTER)
        return frozenset(letter for letter in letters if _picture(font, letter) != none)
    except (OSError, ValueError):  # a file that is no font, or none that Pillow can read
        return frozenset()


def _picture(font: Font, letter: str) -> tuple[bytes, tuple[int, int]]:
    mask = font.getmask(letter)
    return bytes(mask), mask.size


def _candidates(letters: str) -> Iterator[str]:
    """Yield fonts to try: the usual ones, then those that fontconfig knows for these letters."""
    yield from ("", *_USUAL)
    rare = [letter for letter in letters if not letter.isascii()]
    yield from (_by_fontconfig(rare) or _in_folders())[:_MOST_FILES]


def _by_fontconfig(letters: Sequence[str]) -> list[str]:
    """Return the files of fonts that have a letter, by ``fc-list``; none where it is not there."""
    program = shutil.which("fc-list")
    if program is None:
        return []
    found: dict[str, None] = {}
    for letter in letters[:3]:
        done = subprocess.run(  # noqa: S603
            [program, f":charset={ord(letter):x}", "--format", "%{file}\n"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        found |= dict.fromkeys(_plain_first(done.stdout.splitlines()))
    return list(found)


def _in_folders() -> list[str]:
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    folders = [
        data / "fonts",
        home / ".fonts",
        home / "Library" / "Fonts",
        Path("/usr/local/share/fonts"),
        Path("/usr/share/fonts"),
        Path("/Library/Fonts"),
        Path("/System/Library/Fonts"),
    ]
    files = [str(path) for folder in folders for path in folder.rglob("*")]
    return _plain_first(files)


def _plain_first(files: Sequence[str]) -> list[str]:
    """Return font files, those of plain letters before bold, slanted and narrow ones."""
    fonts = [file for file in files if file.lower().endswith(_ENDINGS)]
    return sorted(fonts, key=lambda file: ("Regular" not in file, len(Path(file).name), file))


def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split()[0].split("-")[0]


@cache
def _say_missing(script: str) -> None:
    package = "fonts-noto-cjk" if script in _EAST_ASIAN else "fonts-noto-core"
    name = _SCRIPTS.get(script, script.title())
    announce(
        f"Previews have no font for {name} letters and draw boxes for them: install one (on "
        f"Debian: apt install {package}), and make the previews again."
    )
