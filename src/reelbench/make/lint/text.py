"""How the linter compares texts."""

import re
import unicodedata

# Chinese and Japanese write no blanks between words: there, a character is one.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORDS = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
NONE_OF_THEM = re.compile(r"none of (the above|these|them|the (other )?options)\W*", re.IGNORECASE)
# "Both A and C", "A and B", "all of the above": wrong as soon as options change places.
REFERS_TO_OTHERS = re.compile(
    r"all of (the above|these|them)\b|\bboth (\(?[A-H]\)?) and (\(?[A-H]\)?)(?!\w)"
    r"|^\W*(options? )?\(?[A-H]\)? (and|or|&) \(?[A-H]\)?\W*$",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """Return a text without what makes no difference to a reader: case, width, spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def words(text: str) -> list[str]:
    """Return the words of a text, without punctuation."""
    return _WORDS.findall(plain(text))


def is_none_of_them(option: str) -> bool:
    """Whether an option says that none of the others is right."""
    return NONE_OF_THEM.fullmatch(option.strip()) is not None
