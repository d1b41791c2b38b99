"""The vocabulary of a category: one YAML file that curation, captions and questions read.

The paper's fallback keywords (Table 5) are printed with a few examples for each block; the other
entries, and all guidance, are ours. Its total, 273, is not the sum of its blocks, which is 277.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.yaml_files import load_yaml
from reelbench.interop.musebench.taxonomy import CATEGORIES

_FILES = {
    "Cinematic Arts": "cinematic.yaml",
    "Static Visual Arts": "static-visual.yaml",
    "Stage Performing Arts": "stage-performing.yaml",
    "Game Arts": "game.yaml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryVocabulary:
    """What a category is about, in the words that prompts are filled with."""

    name: str
    blocks: Mapping[str, tuple[str, ...]]  # keywords for searching, by theme
    focus: tuple[str, ...]  # what keywords are about: four points
    variant_focus: str  # what variants of keywords are to stay within
    positive: tuple[str, ...]  # videos that are relevant
    negative: tuple[str, ...]  # videos that are not
    exclusions: tuple[str, ...]  # videos that are never admitted
    caption_guidance: str  # what captions of clips look at
    question_guidance: str  # what questions ask about, and what never
    scope_description: str  # what distractors stay within

    @property
    def keywords(self) -> tuple[str, ...]:
        """All keywords, block after block."""
        return tuple(keyword for block in self.blocks.values() for keyword in block)


@cache
def vocabulary(category: str) -> CategoryVocabulary:
    """Return the vocabulary of one of the four categories."""
    if category not in CATEGORIES:
        raise ReelbenchError(
            f"There is no category {category!r}; the categories are {', '.join(CATEGORIES)}."
        )
    path = files(__package__) / "categories" / _FILES[category]
    return _vocabulary(load_yaml(path.read_text(encoding="utf-8"))[0])


def _vocabulary(content: Mapping[str, Any]) -> CategoryVocabulary:
    values: dict[str, Any] = {}
    for name, value in content.items():
        if name == "blocks":
            values[name] = {block: tuple(keywords) for block, keywords in value.items()}
        else:
            values[name] = value.strip() if isinstance(value, str) else tuple(value)
    return CategoryVocabulary(**values)
