"""Speech-visual alignment (L.2): who speaks, whose voice it is, when it fits, what is said."""

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from reelbench.annotate.operator import Value
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.clip_facts import SPEECH, ClipFacts
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.score.rounding import percent

CHILD = "child"
ENGLISH = "en"
# The end of a sentence: no abbreviation, no initial, no "..." of a speaker who goes on.
_END = re.compile(r"(?<!\bMr|\bMs|\bDr|\bSt)(?<!\bMrs)(?<!\b[A-Z])(?<!\.)[.!?][\"')\]]*(?=\s|$)")


def active_speaker(
    clip: ClipFacts, *, least_people: int, most_people: int, least_seconds: float
) -> list[Candidate]:
    """Select clips of some people, all of them followed, of whom exactly one speaks (ASD)."""
    clip.require_seconds(least_seconds)
    clip.require_speech()
    lettered = clip.everyone(least_people, most_people)
    speaking = _speaking(clip)
    if len(speaking) != 1:
        raise Rejected("not exactly one speaker", f"{len(speaking)} of {len(lettered)} speak.")
    key = speaking[0]["id"]
    if key not in lettered:
        raise Rejected("nobody is tracked", f"{key} speaks, whose face was not followed.")
    certain = min(clip.confidence("count"), *_certainties(clip, clip.speakers()))
    return [structs.replace(clip.row, key=key, people=lettered, confidence=certain)]


def fitting_voice(
    clip: ClipFacts, *, least_people: int, most_people: int, least_seconds: float, coverage: float
) -> list[Candidate]:
    """Select clips with one voice that fits the looks of one person alone (AVSM).

    Looks and voices are those of a man, a woman or a child; children's voices tell no gender.
    """
    clip.require_seconds(least_seconds)
    clip.require_speech()
    lettered = clip.everyone(least_people, most_people)
    for person in clip.subjects():
        share = person.seconds / clip.seconds
        if share <= coverage:
            seen, needed = percent(share, 0), percent(coverage, 0)
            detail = f"{person.id} is seen for {seen} of the clip, not over {needed}."
            raise Rejected("someone is seen too briefly", detail)
    voices = clip.label("voice_demographics")["speakers"]
    if len(voices) != 1:
        raise Rejected("not exactly one voice", f"There are {len(voices)}.")
    voice, voice_certain = _man_woman_or_child(clip, voices[0], "voice")
    described = {person["id"]: person for person in clip.label("demographics")["people"]}
    missing = [who for who in lettered if who not in described]
    if missing:
        raise Rejected("looks not certain", ", ".join(missing))
    looks = {who: _man_woman_or_child(clip, described[who], "looks") for who in lettered}
    fitting = [who for who, (kind, _) in looks.items() if kind == voice]
    if len(fitting) != 1:
        kinds = ", ".join(kind for kind, _ in looks.values())
        raise Rejected("the voice does not fit exactly one", f"A voice of a {voice}; {kinds}.")
    certain = min(clip.confidence("count"), voice_certain, *(share for _, share in looks.values()))
    return [structs.replace(clip.row, key=fitting[0], people=lettered, confidence=certain)]


def reversible(
    clip: ClipFacts, *, most_people: int, longer_than: float, least_speech: float
) -> list[Candidate]:
    """Select clips of few people, one of whom speaks, with speech in every third (AVAD).

    Where a third is silent, reversing its sound changes nothing, and two options would be right.
    """
    clip.require_longer_than(longer_than)
    clip.require_speech()
    clip.count(1, most_people)
    speaking = [person for person in clip.speakers() if person["speaks"]]
    if not speaking:
        raise Rejected("no active speaker", "Nobody was seen to speak for certain.")
    third = clip.seconds / 3
    for number in range(3):
        heard = _speech_within(clip.label("sound")["spans"], number * third, (number + 1) * third)
        if heard < least_speech:
            raise Rejected("a third without speech", f"{heard:.2f} s in third {number + 1}.")
    certain = min(clip.confidence("count"), max(_certainties(clip, speaking)))
    return [structs.replace(clip.row, confidence=certain)]


def transcribed(
    clip: ClipFacts, *, people: int, longer_than: float, longer_than_characters: int
) -> list[Candidate]:
    """Select clips of one person who is seen to speak, in English and long enough (SCM).

    Only whole sentences count: half of one would stand out among those that a model writes.
    """
    clip.require_longer_than(longer_than)
    clip.require_speech()
    clip.count(people, people)
    speaking = [person for person in clip.speakers() if person["speaks"]]
    if not speaking:
        raise Rejected("no active speaker", "Nobody was seen to speak for certain.")
    transcript, language = clip.label("transcript"), clip.label("language")
    if language["spoken"] != ENGLISH:
        raise Rejected("not English", str(language["spoken"]))
    text = _whole_sentences(transcript)
    if len(text) <= longer_than_characters:
        sentences = f"{len(text)} characters in whole sentences"
        detail = f"{sentences}, not over {longer_than_characters}: {transcript['text']}"
        raise Rejected("too little is said", detail)
    shares = [clip.confidence("count"), max(_certainties(clip, speaking))]
    certain = min(*shares, clip.confidence("transcript"))
    return [structs.replace(clip.row, confidence=certain, facts={"transcript": text})]


def _whole_sentences(transcript: Value) -> str:
    """Return a transcript without the parts of sentences that the edges of the clip cut off."""
    text = " ".join((transcript["text"] or "").split())
    ends = [mark.end() for mark in _END.finditer(text)]
    dropped, kept = transcript.get("dropped", []), transcript.get("segments", [])[:1]
    begun = any(word["start"] < segment["start"] for word in dropped for segment in kept)
    first = text.lstrip("\"'([")[:1]
    begins = (first.isupper() or first.isdecimal()) and not begun
    start = ends[0] if ends and not begins else 0
    return text[start : max([*ends, start])].strip()


def _speaking(clip: ClipFacts) -> list[Value]:
    """Return who speaks; reject where it is not certain of someone."""
    people = clip.speakers()
    unsure = [person["id"] for person in people if person["speaks"] is None]
    if unsure:
        raise Rejected("not certain who speaks", ", ".join(unsure))
    return [person for person in people if person["speaks"]]


def _certainties(clip: ClipFacts, people: Sequence[Value]) -> list[float]:
    return [clip.certainty("speaker", person) for person in people]


def _man_woman_or_child(clip: ClipFacts, label: Value, what: str) -> tuple[str, float]:
    """Return what a voice or a face is said to be, and how certain that is."""
    name = "voice_demographics" if what == "voice" else "demographics"
    age, gender = label.get("age_group"), label.get("gender")
    if age == CHILD:
        return CHILD, clip.certainty(name, label, "age_group")
    if age is None or gender is None:
        raise Rejected(f"{what} not certain", f"{label['id']}: {gender or '-'}, {age or '-'}")
    return str(gender), clip.certainty(name, label, "age_group", "gender")


def _speech_within(spans: Sequence[Value], start: float, end: float) -> float:
    return sum(
        max(0.0, float(min(span["end"], end) - max(span["start"], start)))
        for span in spans
        if span["kind"] == SPEECH
    )


RULES: Mapping[str, Callable[..., list[Candidate]]] = {
    "AVSM": fitting_voice,
    "ASD": active_speaker,
    "AVAD": reversible,
    "SCM": transcribed,
}
