"""Problems and warnings about files of questions."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from reelbench.base.progress import counted
from reelbench.data.items import Problem
from reelbench.interop.csv_tables import Place


def place_of(place: Place) -> str:
    """Return where a question is: ``dev.json [3]``, ``both.json test[3]`` or ``mine.jsonl:4``."""
    line, entry = (f":{place.line}" if place.line else ""), place.prefix.rstrip(".")
    return f"{place.file}{line}" + (f" {entry}" if entry else "")


@dataclass
class Notes:
    """Problems, which stop the make, and warnings.

    A warning that many questions share is one sentence, with the first place.
    """

    problems: list[Problem] = field(default_factory=list)
    _odd: dict[str, list[Place]] = field(default_factory=dict)

    def wrong(self, place: Place, name: str, found: str, expected: str) -> None:
        """Add a problem of a field."""
        self.problems.append(place.problem("BAD_FIELD", name, found, expected))

    def odd(self, place: Place, note: str) -> None:
        """Add a warning."""
        self._odd.setdefault(note, []).append(place)

    @property
    def broken(self) -> Iterator[tuple[str, str]]:
        """Yield each problem as the place and the reason, for who goes on without such rows."""
        for problem in self.problems:
            line = f":{problem.line}" if problem.line else ""
            reason = f"{problem.field}: found {problem.found}, expected {problem.expected}"
            yield f"{problem.file}{line}", reason

    @property
    def warnings(self) -> Iterator[str]:
        """Yield a sentence for each warning."""
        for note, places in self._odd.items():
            yield f"{note}: {counted(len(places), 'question')}, the first in {place_of(places[0])}."
