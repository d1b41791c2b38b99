"""Proper nouns: which ones the texts about a source have, and where a question repeats one.

Names are found by their capital letters, so that texts without them give none, and by the marks of
titles in Chinese. In a list of names, one in small letters is found however it is written, and one
with capitals only with them: "Grace" is no grace.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from reelbench.base.text import without_accents, word_set
from reelbench.make.parts.perceptible import is_known_word, is_motion

# Letters but those of scripts without case and blanks, where a name in Latin letters may stand.
LETTERS_OF_WORDS = r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
WORD = re.compile(rf"{LETTERS_OF_WORDS}(?:['’]{LETTERS_OF_WORDS})*")
_ORDINARY = word_set(
    """
    a about above across act after again against all almost along already also although always
    am among an and another any anyone anything are around art artist as at away be because
    before behind being below beneath beside between beyond both but by can chapter cinema
    classic come could creator critic deep despite did different director do does down during
    each early either else end episode essay even every everyone everything explained far few
    film final finally first five for four from full game gameplay games genius get give go
    going good great guide had half has have he hello her here hers hidden him his history hour
    how however i idea if in inside instead into is it its itself just know last later less let
    life like little look love made make making many master masterpiece may me meaning might
    minute more most movie movies much must my near never new next night no nobody none nor not
    nothing now of off often ok on once one only onto or other others our out outside over part
    perfect perhaps person play player players please power psychology real review right same
    scene secret see seen series set several she should since so some someone something soon
    special still story style subscribe such take technique than thank thanks that the their
    them themselves then there these they thing think this those though three through throughout
    time to today together too toward towards true truth two under unlike until up upon us use
    used uses using very via video viewer viewers volume was watch way we welcome well were what
    whatever when where whether which while who whole whom whose why will with within without
    work works world would year yes yet you your
    """
)
# Shortened terms of the arts, which name nobody.
_ABBREVIATIONS = word_set(
    "3d 2d ai ar asmr bgm bpm cg cgi dj dof dslr dvd fov fps fx hdr hud iso lcd led lgbt mc mr ms "
    "npc ost ots pc pov pvp qte raw rgb rpg sfx tv ui uk us usa uv vfx vhs vr wip ok"
)
_TITLES = ("mr", "mrs", "ms", "dr", "st", "prof", "capt", "sgt", "lt", "jr", "sr")
_ENDS_SENTENCE = re.compile(r"[.!?…:;\n\"“‘«「『。]")
_JOINED_BY = word_set("of the and in de la le du van von der al di da")
_CHINESE_TITLE = re.compile(r"《([^》]{2,40})》")
_LEET = str.maketrans("013457", "oieast")
_SURE = 2  # times that a word with a capital is seen to take it for a name in small letters too
_LONG_ENOUGH = 4  # letters of such a word: shorter ones are too many other words


def names_in(titles: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names in texts about a source and in its titles, where all words have capitals.

    A word that the texts also have in small letters is a name only with its capital, and only if
    that is how they have it more often.
    """
    seen = _Seen()
    for line in (line for text in texts for line in text.splitlines()):
        if not line.isupper():  # which tells nothing
            (seen.add_title if _is_title(line) else seen.add)(line)
    for title in titles:
        seen.add_title(title)
    return tuple(sorted(set(seen.names())))


@dataclass
class _Seen:
    """How often words were seen with a capital inside sentences, in titles, and without one."""

    inside: Counter[str] = field(default_factory=Counter)
    begins: Counter[str] = field(default_factory=Counter)
    titled: Counter[str] = field(default_factory=Counter)
    small: Counter[str] = field(default_factory=Counter)
    written: dict[str, str] = field(default_factory=dict)
    phrases: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        words = list(_placed(text))
        for word, begins, _ in words:
            low = word.lower()
            if word == low:
                self.small[low] += 1
            elif not begins or not word[1:].islower():
                self.inside[low] += 1
                self.written.setdefault(low, word)
            else:
                self.begins[low] += 1
                self.written.setdefault(low, word)
        self.phrases.update(_phrases(words))
        self.phrases.update(_CHINESE_TITLE.findall(text))
        self.lines.append(text)

    def add_title(self, text: str) -> None:
        for word, *_ in _placed(text):
            low = word.lower()
            if word == low:
                self.small[low] += 1
            else:
                self.titled[low] += 1
                self.written.setdefault(low, word if not word.isupper() else word.capitalize())
        self.phrases.update(_CHINESE_TITLE.findall(text))

    def names(self) -> Iterator[str]:
        yield from filter(self._is_name, self.phrases)
        for low, written in self.written.items():
            if is_ordinary(low) or len(low) < 2:
                continue
            inside, small = self.inside[low], self.small[low]
            often = inside + self.begins[low] + self.titled[low] >= _SURE
            if inside and not small and often and len(low) >= _LONG_ENOUGH:
                yield low
            elif inside > small or (not small and self._may_be_one(low)):
                yield written

    def _is_name(self, phrase: str) -> bool:
        """Whether several words are a name, not a term that was written with capitals once."""
        if any(phrase in line for line in self.lines) and WORD.search(phrase):
            return False  # it is there in small letters, too
        unusual = (word for word in phrase.split() if not is_ordinary(word))
        return self.phrases[phrase] >= _SURE or any(not self.small[word] for word in unusual)

    def _may_be_one(self, low: str) -> bool:
        """Whether a word that is never seen in small letters may be a name: it begins a sentence.

        Words such as "interestingly" and "looking" do so as well.
        """
        return bool(self.titled[low]) or not low.endswith(("ly", "ing", "ed"))


def is_ordinary(word: str) -> bool:
    """Whether a word in small letters is one of the usual ones, or of things seen and heard."""
    return word in _ORDINARY or word in _ABBREVIATIONS or is_known_word(word)


def _placed(text: str) -> Iterator[tuple[str, bool, str]]:
    """Yield each word without its possessive, whether a sentence begins with it, what precedes."""
    end, before = 0, ""
    for found in WORD.finditer(text):
        gap = text[end : found.start()]
        begins = bool(_ENDS_SENTENCE.search(gap)) if end else True
        if gap.startswith(".") and before.lower() in _TITLES:
            begins = False
        end, before = found.end(), re.sub(r"['’]s$", "", found[0])
        if not re.match(r"(?i)i(?:['’]|$)", before):
            yield before, begins, gap


def _is_title(line: str) -> bool:
    """Whether a line is written as titles are: its longer words have capitals, or all letters."""
    long: list[str] = [word for word in WORD.findall(line) if len(word) > 3]
    return sum(word[0].isupper() for word in long) > 0.5 * len(long)


def _phrases(words: Sequence[tuple[str, bool, str]]) -> Iterator[str]:
    """Yield names of several words, in small letters: capitals one after the other."""
    run: list[str] = []
    for word, begins, gap in words:
        capital = word != word.lower() and not (begins and is_ordinary(word.lower()))
        if run and gap in (" ", "-") and (capital or word in _JOINED_BY):
            run.append(word)
            continue
        yield from _phrase(run)
        run = [word] if capital else []
    yield from _phrase(run)


def _phrase(run: Sequence[str]) -> Iterator[str]:
    """Yield a run as a name; with "and" or "in", which may stand between two, its parts too."""
    parts: list[list[str]] = [[]]
    for word in run:
        if word in ("and", "in"):
            parts.append([])
        else:
            parts[-1].append(word)
    for named in (list(run), *(parts if len(parts) > 1 else ())):
        while named and named[-1].lower() in _JOINED_BY:
            named.pop()
        while named and named[0].lower() in _JOINED_BY:
            named.pop(0)
        if sum(word not in _JOINED_BY for word in named) > 1:
            yield " ".join(named).lower()


_TOKEN = re.compile(r"[^\W_]+(?:['’.\-·_]+[^\W_]+)*")
_ENDING = re.compile(r"(?i)(?:s|ian|ians|esque|ish|like)$")
_SPELT = re.compile(r"(?<!\w)(?:[^\W\d_][ .\-]){2,}[^\W\d_](?!\w)")


def named_in(text: str, names: Collection[str]) -> str:
    """Return the first of some names that a text has, as it is written there; empty if none.

    Accents, hyphens, endings, digits in place of letters and blanks between letters hide none.
    """
    text = _SPELT.sub(lambda spelt: re.sub(r"[ .\-]", "", spelt[0]), text)
    tokens: list[str] = _TOKEN.findall(text)
    words = [name for name in names if WORD.fullmatch(name)]
    anyhow = {without_accents(name) for name in words if name.islower()}
    capital = {without_accents(name) for name in words if not name.islower()}
    for token in tokens:
        for form in _forms(token):
            shouted = form.isupper() and form.capitalize() in capital
            if form.lower() in anyhow or form in capital or shouted:
                return token
    running = f" {' '.join(without_accents(token).lower() for token in tokens)} "
    squeezed = {without_accents(re.sub(r"\W", "", token)).lower() for token in tokens}
    for name in sorted(set(names).difference(words)):
        parts = [without_accents(token).lower() for token in _TOKEN.findall(name)]
        unspaced = not WORD.search(name) and name in text
        if unspaced or f" {' '.join(parts)} " in running or "".join(parts) in squeezed:
            return name
    return ""


def _forms(token: str) -> Iterator[str]:
    """Yield the words that a token may be: its parts, or all of it, without endings."""
    for part in (token, re.sub(r"\W", "", token), *re.split(r"\W", token)):
        plain = without_accents(re.sub(r"['’]s?$", "", part))
        spelt = plain if plain.isalpha() else plain.translate(_LEET)
        yield from dict.fromkeys(
            (plain, spelt, *(_ENDING.sub("", each) for each in (plain, spelt)))
        )


def begins_with_a_name(text: str) -> str:
    """Return an unusual word that begins a sentence as only a name does: "Geralt walks".

    An English noun in the singular has an article there, unless it is one of a few.
    """
    words = list(_placed(text))
    owners = {found[1] for found in _OWNER.finditer(text)}
    for (word, begins, _), (after, *_) in pairwise([*words, ("", True, "")]):
        named = begins and word[:1].isupper() and not is_ordinary(word.lower())
        if named and not word.endswith("ly") and (word in owners or _is_verb(after)):
            return word
    return ""


_OWNER = re.compile(rf"({LETTERS_OF_WORDS})['’]s\b")


def _is_verb(word: str) -> bool:
    return word.endswith("s") and is_motion(word)


def mixed_alphabets(text: str) -> str:
    """Return a word whose letters are of two alphabets, such as a Latin one with a Cyrillic a."""
    found: list[str] = WORD.findall(text)
    for word in found:
        kinds = {unicodedata.name(sign, "").split(" ")[0] for sign in word if sign.isalpha()}
        if "LATIN" in kinds and kinds & {"CYRILLIC", "GREEK", "ARMENIAN"}:
            return word
    return ""


def is_shortened_name(word: str) -> bool:
    """Whether a word in capitals may be that of a name, such as a title's; not "TV" or "HUD"."""
    short = word.removesuffix("s")
    return len(short) > 2 and short.isupper() and not is_ordinary(short.lower())
