"""The rows of the recipe before there are items: clips, and candidates for tasks."""

from typing import Any

import msgspec

PERSON = "person"
CLIPS = "make/clips"  # the folder of clips, in the folder that is made


class ShotClip(msgspec.Struct, frozen=True):
    """A part of a video without a cut, written as a file of its own."""

    id: str
    clip: str  # its path in the folder that is made
    sha256: str
    source: str
    start: float
    end: float

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.end - self.start


class Candidate(msgspec.Struct, frozen=True):
    """A clip for one task: whom it is about, and what the task's rule found."""

    id: str
    task: str
    clip: str
    sha256: str
    source: str
    seconds: float
    subject: str = PERSON  # or the class of objects that takes the place of people
    target: str = ""  # the id of the person that it is about
    people: tuple[str, ...] = ()  # those who get letters, in the order of the letters
    key: str = ""  # the id of the person who is the answer, where a person is
    confidence: float = 1.0  # of the labels that decide the key
    facts: dict[str, Any] = {}  # what the rule found, such as times
    video: str = ""  # what is asked about, as a path in the folder that is made
    boxed: str = ""  # the same with a box around the target, for who describes it
    lettered: str = ""  # the same with a letter on everyone, for who checks a description
    everyone: tuple[str, ...] = ()  # in the order of the letters in ``lettered``
    texts: dict[str, Any] = {}  # by name: appearance, caption, question, answer, ...

    @property
    def category(self) -> str:
        """What its outcomes are counted by."""
        return self.task


def with_texts(row: Candidate, **texts: Any) -> Candidate:
    """Return a candidate with some texts beside those it has."""
    return msgspec.structs.replace(row, texts={**row.texts, **texts})
