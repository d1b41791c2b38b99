"""Replies without their reasoning, Markdown, LaTeX and unusual character forms.

Every function takes time linear in the length of its text, whatever the text is: a model that loops
until its limit repeats any mark as often as it likes.
"""

import re
import unicodedata

_THINKING = "think|thinking|thought|thoughts|reasoning|analysis|scratchpad"
_THOUGHT = re.compile(
    rf"<\|?(?P<closes>/?)(?:seed:)?(?:{_THINKING})\|?>|◁(?P<closes2>/?)think▷|\[(?P<closes3>/?)THINK\]"
    r"|<\|(?:begin_of_thought|START_THINKING)\|>"
    r"|<\|(?P<closes4>end_of_thought|END_THINKING)\|>",
    re.IGNORECASE,
)
# The channels of open models, with their tokens and with the tokens left out in decoding.
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]{0,80}<\|message\|>")
_BARE_CHANNEL = re.compile(r"\s*analysis[A-Z]")
_FINAL = "assistantfinal"
# Special tokens, by their shape: <|im_end|>, </s>, and at the end of a line <eoa> or [EOS].
_TOKEN = re.compile(
    r"<[|\uff5c][^|\uff5c<>\s]{1,40}[|\uff5c]>|</?s>|<start_of_turn>(?:model)?|\[/?INST\]"
)
_LAST_TOKEN = re.compile(
    r"(?<=\S)[ \t]*+(?:<(?P<angled>[A-Za-z_0][\w ]{1,40}\|?)>"
    r"|\[/?(?P<square>[A-Z]{3,8})\])(?=\s|<|$)"
)
_USER_TURN = re.compile(
    r"<\|im_start\|>\s?user|<\|user\|>|<start_of_turn>user|\[INST\]|<\|start_header_id\|>user"
)
# What models and their prompts put an answer between.
ANSWER_TAGS = (
    "answers?|ans|final[_ ]?answer|choice|option|conclusion|prediction"
    "|final|result|solution|verdict"
)
_MEANT = re.compile(f"{ANSWER_TAGS}|{_THINKING}", re.IGNORECASE)
_CLOSED = re.compile(r"</([A-Za-z_][\w ]{1,40})>")
_ANSWER_LETTERS = re.compile("[A-J]+")
_WRAPPER = re.compile(
    r"(?P<wraps>\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|operatorname|rm|bf)\s*\{)"
    r"|(?P<open>\{)|(?P<close>\})"
)
_LETTER_COMMAND = re.compile(
    r"\\(?!boxed|fbox)[a-zA-Z]{2,14}\s?\{\s?(\(?[A-Z]\)?)(?:\.(?=\s?\}))?\s?\}"
)
_HTML = re.compile(
    r"</?(?:b|strong|i|em|u|p|br|hr|sub|sup|span|font|mark|big|small|code|center|div|h[1-6]|kbd)"
    r"(?:\s[^<>\n]{0,80})?/?>"
)
_STRUCK = re.compile(r"~~[^~\n]{1,80}~~|<(?P<tag>del|strike)>[^<>\n]{1,80}</(?P=tag)>")
_MATHS = re.compile(r"\\[()\[\]]|\$+|\\[,;! ]")
_EMPHASIS = re.compile(r"\*+|__+|~~+|`+|^[ \t]*(?:#+|>(?!\s*[\d.$-]))[ \t]*", re.MULTILINE)
_ODD_SIGNS: dict[int, str] = {  # single signs that stand for sentences, and letters in squares
    0xFDFA: " ",
    0xFDFB: " ",
    **{0x1F130 + 32 * row + place: chr(65 + place) for row in range(3) for place in range(26)},
}
_SIGNS = str.maketrans({
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u00b4\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f\u2033", '"'),
    # Marks of direction and joining that cannot be seen.
    **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u2060\u2066\u2067\u2069\ufeff\ufe0f"),
})  # fmt: skip


def without_reasoning(reply: str) -> str:
    """Return a reply without its reasoning; empty if that was cut off."""
    return _parts(reply)[0]


def unclosed_reasoning(reply: str) -> str:
    """Return the reasoning that a reply opens and never closes."""
    return _parts(reply)[1]


def _parts(reply: str) -> tuple[str, str]:
    text = _final_channel(reply)
    if not text:
        return "", reply
    kept: list[str] = []
    place, thinking = 0, False
    for tag in _THOUGHT.finditer(text):
        if any(tag.groups()):  # some models only close what they did not open
            kept = kept if thinking else []
            place, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[place : tag.start()])
            place, thinking = tag.end(), True
    if thinking:
        return "".join(kept).strip(), text[place:]
    return "".join([*kept, text[place:]]).strip(), ""


def _final_channel(reply: str) -> str:
    channels = list(_CHANNEL.finditer(reply))
    if channels:
        last = channels[-1]
        return reply[last.end() :] if last[1] == "final" else ""
    if _FINAL in reply:
        return reply.rpartition(_FINAL)[2]
    return "" if _BARE_CHANNEL.match(reply) else reply


def without_tokens(text: str) -> str:
    """Return a text without the tokens that a model ends, begins or boxes its turns with.

    What it crossed out is left out, too, and a turn that it makes up for its user.
    """
    if turn := _USER_TURN.search(text, len(text) - len(text.lstrip())):
        text = text[: turn.start()] if text[: turn.start()].strip() else text
    text = _STRUCK.sub("", text)
    text = text.replace("<|begin_of_box|>", "\\boxed{").replace("<|end_of_box|>", "}")
    text = _TOKEN.sub("", text)
    closed = {name.lower() for name in _CLOSED.findall(text)}

    def unless_meant(found: re.Match[str]) -> str:
        if found["square"]:
            return found[0] if _ANSWER_LETTERS.fullmatch(found["square"]) else ""
        name = found["angled"].lower()
        return found[0] if name in closed or _MEANT.fullmatch(name) else ""

    return _LAST_TOKEN.sub(unless_meant, text).strip()


def without_markup(text: str) -> str:
    """Return a text without Markdown and LaTeX, with letters and marks in their plain forms."""
    text = unicodedata.normalize("NFKC", text.translate(_ODD_SIGNS)).translate(_SIGNS)
    if "<" in text:
        text = _HTML.sub("", text)
    if "\\" in text:
        text = _LETTER_COMMAND.sub(r"\1 ", _LETTER_COMMAND.sub(r"\1", text))
    return _EMPHASIS.sub("", _unwrapped(_MATHS.sub(" ", text))).strip()


def _unwrapped(text: str) -> str:
    """Take ``\\text{...}`` and its kin off what they wrap; what is never closed stays."""
    if "\\" not in text:
        return text
    opened: list[tuple[int, int] | None] = []
    cuts: list[tuple[int, int]] = []
    for brace in _WRAPPER.finditer(text):
        if brace["wraps"]:
            opened.append(brace.span())
        elif brace["open"]:
            opened.append(None)
        elif opened and (wrapper := opened.pop()):
            cuts += [wrapper, brace.span()]
    parts, place = [], 0
    for start, end in sorted(cuts):
        parts.append(text[place:start])
        place = end
    return "".join([*parts, text[place:]])


def plain(text: str) -> str:
    """Return a text as it is compared: no case, no marks around it, single spaces."""
    return " ".join(without_markup(text).casefold().strip(MARKS).split())


MARKS = " \t\r\n.,;:!*_`'\"()[]{}$\\|。、【】،؛।•·"
