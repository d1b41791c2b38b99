"""Prompts are Markdown files with named slots, one file per kind of question."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from reelbench.errors import ReelbenchError
from reelbench.files import digest_of
from reelbench.item_rules import path_escapes
from reelbench.items import KINDS, LETTERS, Item, Kind

_SLOT = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The texts of a prompt variant, by kind; ``digest`` is recorded with every run."""

    name: str
    texts: dict[Kind, str]

    @property
    def digest(self) -> str:
        """The hash of all texts."""
        return digest_of(self.texts)

    def render(self, item: Item, order: tuple[int, ...]) -> str:
        """Fill in an item, its options in the given order."""
        options = lettered([item.options[place] for place in order])
        slots = {"question": item.question, "options": options}
        return fill(self.texts[item.kind], slots)


def fill(text: str, slots: Mapping[str, str]) -> str:
    """Put texts into the slots of a prompt; what they hold is not read for slots again."""
    return _SLOT.sub(lambda slot: slots[slot[1]], text).strip()


def slots_of(text: str) -> set[str]:
    """Return the names of the slots of a prompt."""
    return set(_SLOT.findall(text))


def lettered(options: Sequence[str]) -> str:
    """Write options one a line, each behind its letter."""
    return "\n".join(
        f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False)
    )


def load_prompts(name: str, root: Path, kinds: Collection[Kind] = KINDS) -> PromptSet:
    """Load a variant of ours by name, or a benchmark's own by the path of its folder."""
    ours = files(__package__) / "prompts"
    names = sorted(variant.name for variant in ours.iterdir())
    folder = ours / name if name in names else inner_folder(name, root, "prompt", names)
    texts: dict[Kind, str] = {}
    problems: list[str] = []
    for kind in sorted(kinds):
        try:
            texts[kind] = (folder / f"{kind}.md").read_text(encoding="utf-8")
            problems += _problems(kind, texts[kind])
        except (OSError, UnicodeDecodeError) as error:
            reason = "is missing" if isinstance(error, FileNotFoundError) else f"has {error}"
            problems.append(f"{kind}.md {reason}")
    if problems:
        raise ReelbenchError(
            f"The prompt {name!r} cannot be used: {'; '.join(problems)}. A prompt has the slots "
            "{{question}} and, but for open questions, {{options}}, and no others."
        )
    return PromptSet(name, texts)


def _problems(kind: Kind, text: str) -> Iterator[str]:
    slots = slots_of(text)
    needed = {"question"} if kind == "open" else {"question", "options"}
    for slot in sorted(needed - slots):
        yield f"{kind}.md lacks the slot {{{{{slot}}}}}"
    for slot in sorted(slots - needed):
        yield f"{kind}.md has the slot {{{{{slot}}}}}"


def inner_folder(name: str, root: Path, thing: str, names: Sequence[str]) -> Path:
    """Return a folder of a benchmark's own, which may not lie outside of it."""
    folder = root / name
    inside = not path_escapes(name) and folder.resolve().is_relative_to(root.resolve())
    if not inside or not folder.is_dir():
        raise ReelbenchError(
            f"There is no {thing} {name!r}: name one of ours ({', '.join(names)}) or a folder "
            "inside the benchmark."
        )
    return folder
