"""Prompts are Markdown files with named slots, one file per kind of question."""

import re
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from reelbench.errors import ReelbenchError
from reelbench.files import digest_of
from reelbench.item_rules import path_escapes
from reelbench.items import LETTERS, Item, Kind

KINDS: tuple[Kind, ...] = ("single", "multi", "yesno", "open")
_SLOT = re.compile(r"\{\{(\w+)\}\}")
_SLOTS = {"question", "options"}


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The four texts of a prompt variant; ``digest`` is recorded with every run."""

    name: str
    texts: dict[Kind, str]

    @property
    def digest(self) -> str:
        """The hash of all four texts."""
        return digest_of(self.texts)

    def render(self, item: Item, order: tuple[int, ...]) -> str:
        """Fill in an item, its options in the given order."""
        options = [f"{LETTERS[i]}. {item.options[place]}" for i, place in enumerate(order)]
        slots = {"question": item.question, "options": "\n".join(options)}
        return _SLOT.sub(lambda slot: slots[slot[1]], self.texts[item.kind]).strip()


def load_prompts(name: str, root: Path) -> PromptSet:
    """Load a variant of ours by name, or a benchmark's own by the path of its folder."""
    ours = _ours().joinpath(name)
    if "/" not in name and ours.is_dir():
        texts = {kind: ours.joinpath(f"{kind}.md").read_text(encoding="utf-8") for kind in KINDS}
    else:
        texts = _own_texts(name, root)
    for kind, text in texts.items():
        unknown = set(_SLOT.findall(text)) - _SLOTS
        if unknown:
            raise ReelbenchError(
                f"The prompt {name}/{kind}.md has the slot {{{{{unknown.pop()}}}}}; "
                f"there are only {{{{question}}}} and {{{{options}}}}."
            )
    return PromptSet(name, texts)


def _ours() -> Traversable:
    return files(__package__).joinpath("prompts")


def _own_texts(name: str, root: Path) -> dict[Kind, str]:
    folder = root / name
    if path_escapes(name) or not folder.is_dir():
        known = ", ".join(
            sorted(p.name for p in files("reelbench.evaluate").joinpath("prompts").iterdir())
        )
        raise ReelbenchError(
            f"There is no prompt {name!r}: name one of ours ({known}) or a folder inside the "
            f"benchmark with {', '.join(f'{kind}.md' for kind in KINDS)}."
        )
    texts: dict[Kind, str] = {}
    for kind in KINDS:
        file = folder / f"{kind}.md"
        if file.is_file():
            texts[kind] = file.read_text(encoding="utf-8")
    return texts
