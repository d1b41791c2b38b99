"""How the linter compares texts."""

import re
import unicodedata

# Chinese and Japanese write no blanks between words: there, a character is one.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORDS = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")

_THE_OTHERS = r"(?:of )?(?:the )?(?:above|below|these|them|others?|other options|options|choices)"
_VERDICT = r"(?: (?:is |are |were )?(?:correct|right|true|wrong|false|possible|only))?"
_LETTER = r"\(?[a-z]\)?"
# "All of the above", "both A and C", "A, B and D": wrong as soon as options change places.
_REFERS = re.compile(
    rf"(?:all|both|any|some|neither|either) {_THE_OTHERS}{_VERDICT}"
    rf"|(?:both |only )?(?:options? |answers? |choices? )?{_LETTER}"
    rf"(?:(?:, ?| ?/ ?| ?& ?|,? and |,? or ){_LETTER})+{_VERDICT}"
)
_NONE = re.compile(rf"none(?: {_THE_OTHERS})?{_VERDICT}")
_LABEL = re.compile(r"^\(?[a-z][.):] ?")


def plain(text: str) -> str:
    """Return a text without what makes no difference to a reader: case, width, spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def bare(text: str) -> str:
    """Return a plain text without a label in front ("B. ") and without marks at its ends."""
    return _LABEL.sub("", plain(text), count=1).strip(" .,;:!?'\"")


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text; of one without any, such as a row of signs, the signs."""
    return tuple(_WORDS.findall(plain(text))) or (plain(text),)


def is_none_of_them(option: str) -> bool:
    """Whether an option says that none of the others is right."""
    return _NONE.fullmatch(plain(option).strip(" .!")) is not None


def refers_to_others(option: str) -> bool:
    """Whether an option means something else as soon as options change places."""
    return _REFERS.fullmatch(plain(option).strip(" .!")) is not None
