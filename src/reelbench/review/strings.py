"""The texts of the pages, by name, in one file per language."""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.data.item_rules import decode_strictly


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
    """Return the texts of a language, by its name or by a file as ``strings/en.json`` is."""
    known = {each.name.removesuffix(".json"): each for each in _folder().iterdir()}
    if language not in known and not language.endswith(".json"):
        raise ReelbenchError(
            f"The pages have no texts in {language!r}: choose one of {', '.join(sorted(known))}, "
            "or name a file with the translated texts, as de.json."
        )
    english = json.loads(known["en"].read_text("utf-8"))
    if language in known:
        return Strings(language, english | json.loads(known[language].read_text("utf-8")))
    path = Path(language)
    return Strings(path.stem, english | _translated(path, english))


def _translated(path: Path, english: dict[str, str]) -> dict[str, str]:
    """Return the texts of a translator's file; refuse one whose texts would not fit."""
    texts, problems = decode_strictly(path.read_bytes())
    if problems or not isinstance(texts, dict):
        raise ReelbenchError(f"{path} is not a JSON object of names and texts.")
    wrong = [
        f"{path}: {name}: {why}"
        for name, text in texts.items()
        if (why := _misfit(name, text, english))
    ]
    if wrong:
        raise ReelbenchError("\n".join(wrong))
    return texts


def _misfit(name: str, text: object, english: dict[str, str]) -> str:
    if name not in english:
        return "the pages have no text of this name"
    if not isinstance(text, str) or _slots(text) != _slots(english[name]):
        slots = ", ".join(sorted(_slots(english[name]))) or "none"
        return f"expected a text with the same slots as in English ({slots})"
    return ""


def _slots(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def _folder() -> Traversable:
    return files("reelbench.review").joinpath("strings")
