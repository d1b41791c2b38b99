"""The texts of the pages, by name, in one file per language."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from reelbench.base.errors import ReelbenchError


@dataclass(frozen=True, slots=True)
class Strings:
    """The texts of one language; what it lacks is taken from English."""

    language: str
    texts: dict[str, str]

    def text(self, name: str, **values: object) -> str:
        """Return a text with its slots filled in."""
        return self.texts[name].format(**values)


@cache
def strings_in(language: str = "en") -> Strings:
    """Return the texts of a language."""
    known = {each.name.removesuffix(".json"): each for each in _folder().iterdir()}
    if language not in known:
        raise ReelbenchError(
            f"The pages have no texts in {language!r}: choose one of {', '.join(sorted(known))}."
        )
    english = json.loads(known["en"].read_text("utf-8"))
    return Strings(language, english | json.loads(known[language].read_text("utf-8")))


def _folder() -> Traversable:
    return files("reelbench.review").joinpath("strings")
