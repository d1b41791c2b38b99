"""The letters and numbers that options are labelled with, in Latin and in other scripts."""

from collections.abc import Collection

from reelbench.data.items import LETTERS

# Arabic has two orders, of which a file shows by its letters which one it has.
ALPHABETS = (
    LETTERS, LETTERS.lower(), "אבגדהוזחטי", "أبجدهوزحطي", "ابجدهوزحطي", "أبتثجحخدذر", "ابتثجحخدذر",
    "АБВГДЕЖЗИК", "абвгдежзик", "ΑΒΓΔΕΖΗΘΙΚ", "αβγδεζηθικ", "甲乙丙丁戊己庚辛壬癸",
    "가나다라마바사아자차", "①②③④⑤⑥⑦⑧⑨⑩",
)  # fmt: skip
OTHER_LETTERS = "".join(dict.fromkeys("".join(ALPHABETS[2:])))
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


def in_sequence(first: str, count: int) -> list[str]:
    """Return so many labels from the first one on; none where labels do not begin so."""
    if first in ("0", "1"):
        return [str(number) for number in range(int(first), int(first) + count)]
    found = next((signs for signs in ALPHABETS if first and first == signs[0]), "")
    return list(found[:count])


def longest_run(labels: Collection[str]) -> list[str]:
    """Return the labels that follow each other from a first one on, in the alphabet of most."""
    runs = [[str(number) for number in range(first, 100)] for first in (0, 1)]
    runs += [list(signs) for signs in ALPHABETS]
    return max((_begun(run, labels) for run in runs), key=len)


def _begun(run: list[str], labels: Collection[str]) -> list[str]:
    end = next((place for place, label in enumerate(run) if label not in labels), len(run))
    return run[:end]


def half_width(text: str) -> str:
    """Return a text of the same length with full-width Latin signs as ordinary ones."""
    return text.translate(_FULL_WIDTH)
