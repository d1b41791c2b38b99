"""What a published parser makes of one reply."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reelbench.data.items import LETTERS

Choices = Sequence[str]  # the texts of the options, in the order in which they were shown


@dataclass(frozen=True, slots=True)
class ParserReading:
    """The place of the option that was read and by which rule, or among how many it is drawn."""

    place: int | None
    rule: str
    draw: int = 0  # a guess is drawn among so many; past the options, it is none of them


@dataclass(frozen=True, slots=True)
class PublishedParser:
    """A parser that others have published: the program and its version, and where it is used."""

    program: str
    read: Callable[[str, Choices], ParserReading]
    used_by: str
    version: str = ""  # the first that reads so

    @property
    def name(self) -> str:
        """The program and its version, such as ``lmms-eval@0.7.2``."""
        return f"{self.program}@{self.version}" if self.version else self.program

    @property
    def rules(self) -> str:
        """Its rules, in the order in which they are tried."""
        return self.read.__doc__ or ""


def chosen(letter: str, choices: Choices, rule: str) -> ParserReading:
    """Return the reading of a letter; one that no option has is no answer."""
    place = LETTERS.find(letter) if len(letter) == 1 else -1
    if 0 <= place < len(choices):
        return ParserReading(place, rule)
    return ParserReading(None, f"{rule}: no such option")
