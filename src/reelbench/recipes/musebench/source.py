"""The source of essays: videos with public metadata (``make/candidates/catalogue.py``)."""

from collections.abc import Sequence
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.data.sources import Sources
from reelbench.interop.musebench.taxonomy import CATEGORIES, category_named
from reelbench.make.candidates.search import VideoSource, open_source
from reelbench.make.candidates.web import WebSearch
from reelbench.recipes.musebench.rows import CategoryPlan


def essay_source(source: Path) -> VideoSource:
    """Return the source of candidates that a user names."""
    return open_source(source, tuple(CATEGORIES), category_named)


def plans_in(source: Path, categories: Sequence[str] = tuple(CATEGORIES)) -> Sources:
    """Return the categories to fill from a source, and what of the source cannot be used."""
    if unknown := [name for name in categories if category_named(name) is None]:
        raise ReelbenchError(
            f"sources.categories names {', '.join(unknown)}: the categories are "
            f"{', '.join(CATEGORIES)}."
        )
    found = essay_source(source)
    if not isinstance(found, WebSearch) and not any(map(found.considered, CATEGORIES)):
        missing = f": {found.broken[0][1]}" if found.broken else ""
        raise ReelbenchError(f"{source} has no videos that could be chosen{missing}.")
    named = dict.fromkeys(str(category_named(name)) for name in categories)
    return Sources([CategoryPlan(name) for name in named], found.broken, found.warnings)
