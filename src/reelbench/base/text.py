"""Comparison of questions and options as texts, as the linter needs it."""

import html
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
    """Return a text normalized: without differences of case, width and white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def bare(text: str) -> str:
    """Return a plain text without a label in front ("B. ") and without marks at its ends."""
    return _LABEL.sub("", plain(text), count=1).strip(" .,;:!?'\"")


def without_accents(text: str) -> str:
    """Return a text without the marks above and below its letters."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text; of one without any, such as a row of signs, the signs."""
    return tuple(_WORDS.findall(plain(text))) or (plain(text),)


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as a text, with blanks between them."""
    return frozenset(text.split())


def is_none_of_them(option: str) -> bool:
    """Whether an option says that none of the others is right."""
    return _NONE.fullmatch(plain(option).strip(" .!")) is not None


def refers_to_others(option: str) -> bool:
    """Whether an option means something else as soon as options change places."""
    return _REFERS.fullmatch(plain(option).strip(" .!")) is not None


# Scripts that write no blanks between words, or put endings onto them: there a text is looked for
# as it stands. Thai, Lao, Burmese and Khmer; Hangul; Chinese and Japanese.
_RUNNING = re.compile(rf"[{_UNSPACED}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uac00-\ud7af]")
_ARTICLE = re.compile(r"^(?:an?|the) ")


def mentions(text: str, option: str) -> bool:
    """Whether a text contains the words of an option."""
    if _RUNNING.search(option):
        wanted = _run_together(option)
        return len(wanted) > 1 and wanted in _run_together(text)
    core = _ARTICLE.sub("", " ".join(words(option)))
    return len(core.replace(" ", "")) > 2 and f" {core} " in f" {' '.join(words(text))} "


def _run_together(text: str) -> str:
    return "".join(c for c in plain(text) if unicodedata.category(c)[0] in "LMN")


_MEDIUM = r"(?:videos?|vidéo|vídeo|clips?|films?|movies?|footage|recordings?|frames|images?)"
_THE = r"(?:(?:the|this|these|given|provided|following|above|entire|whole|short|el|la|le|cette) )*"
_ABOUT = rf"{_THE}(?:content of {_THE})?{_MEDIUM}(?: (?:clip|content|above|provided|shown|below))*"
# What is said before a question that is always about the video, and says nothing more.
_PREAMBLE = re.compile(
    rf"(?:(?:please |now |then |and )*"
    rf"(?:(?:in|from|throughout|within|during|watch|watching|see|view|consider|considering|given|for|en|"
    rf"dans|im|after watching|looking at|look at|according to|based (?:up)?on|judging (?:by|from)|"
    rf"as (?:shown|seen) in|with (?:regard|respect) to|"
    rf"(?:based on |from |according to )?what (?:you|we|can be|is) (?:can )?(?:see|seen|shown) in)"
    rf" {_ABOUT}"
    rf"|answer {_THE}questions?(?: (?:about|based on|on) {_ABOUT})?)"
    r"[ ,:.;]+)+"
)
_AFTERTHOUGHT = re.compile(
    rf" (?:(?:shown|seen) )?(?:in|during|throughout|of) {_ABOUT}(?=[ ?.!]*$)"
)
_PREAMBLE_UNSPACED = re.compile(
    r"(?:请)?(?:(?:根据|依据|按照|结合|观看)(?:这|该|本|此)?[段个]?(?:视频|影片|片段|录像)(?:的?内容)?"
    r"|在?(?:这|该|本|此)?[段个]?(?:视频|影片|片段|录像)(?:的?内容)?[中里内]"
    r"|(?:この|その)?(?:動画|映像|ビデオ)(?:の中)?では?)[,、:。 ]*"
)


def asked_words(question: str) -> tuple[str, ...]:
    """Return the words of a question without those that only say it is about the video."""
    text = plain(question)
    for pattern in (_PREAMBLE, _PREAMBLE_UNSPACED):
        found = pattern.match(text)
        text = text[found.end() :] if found else text
    return words(_AFTERTHOUGHT.sub("", text) or question)


_TAGS = "br|hr|div|span|strong|em|small|sub|sup|img|video|audio|image|table|tr|td|th|ul|ol|li|font|"
_TAGS += "code|pre|script|style|iframe|input|button|center|h[1-6]|html|body|svg|mark|del|ins|label"
_HTML = re.compile(
    rf"</?(?:{_TAGS})(?:\s[^<>]*)?/?>|(?<!\w)<[abipqsu](?:\s[^<>]*)?>|</[abipqsu]>|<!--"
    r"|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});",
    re.IGNORECASE,
)


def html_in(text: str) -> str:
    """Return the first piece of HTML in a text, a tag or a character spelt out; "" without any."""
    for found in _HTML.finditer(text):
        if not found[0].startswith("&") or html.unescape(found[0]) != found[0]:
            return found[0]
    return ""


def width(text: str) -> int:
    """Return how long a text looks: a Chinese character is twice as wide as a letter."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in plain(text))
