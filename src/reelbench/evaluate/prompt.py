"""Prompts are Markdown files with named slots, one file per kind of question.

The number of frames is known only after sampling, so that its slots are filled last, from what is
really shown. A paragraph with such a slot is left out where there are no frames.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import accumulate
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.data.items import KINDS, LETTERS, Item, Kind
from reelbench.data.paths import inner_path

_SLOT = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_OF_FRAMES = {"frames", "frames_1", "frames_2"}  # how many in all; which are of which video
_PARAGRAPH = re.compile(r".+?(?:\n\s*\n|\Z)", re.DOTALL)
_PAIR = "-pair"  # behind the kind, in the name of the file for items with two videos


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of one question, but for the number of frames."""

    text: str
    slots: Mapping[str, str]

    @property
    def unfilled(self) -> str:
        """The text with the slots of frames unfilled, for the key of a request."""
        kept = {slot: f"{{{{{slot}}}}}" for slot in _OF_FRAMES}
        return fill(self.text, {**self.slots, **kept})

    def with_frames(self, frames: Sequence[int]) -> str:
        """Return the text for so many frames of each video; paragraphs on none are left out."""
        slots = _frame_slots(frames)
        kept = (
            paragraph
            for paragraph in _PARAGRAPH.findall(self.text)
            if slots_of(paragraph) & _OF_FRAMES <= slots.keys()
        )
        return fill("".join(kept), {**self.slots, **slots})


def _frame_slots(frames: Sequence[int]) -> dict[str, str]:
    """Return the slots of frames: how many there are, and which of them are of which video."""
    if not sum(frames):
        return {}
    slots = {"frames": str(sum(frames))}
    for number, (count, last) in enumerate(zip(frames, accumulate(frames), strict=True), 1):
        if count:
            slots[f"frames_{number}"] = f"{last - count + 1}-{last}" if count > 1 else str(last)
    return slots


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The texts of a prompt variant, by file; ``digest`` is recorded with every run."""

    name: str
    texts: dict[str, str]

    @property
    def digest(self) -> str:
        """The hash of all texts."""
        return digest_of(self.texts)

    def render(self, item: Item, order: tuple[int, ...]) -> Prompt:
        """Return the prompt of an item, with its options in the given order."""
        options = lettered([item.options[place] for place in order])
        own = self.texts.get(f"{item.kind}{_PAIR}") if len(item.media) > 1 else None
        return Prompt(own or self.texts[item.kind], {"question": item.question, "options": options})


def fill(text: str, slots: Mapping[str, str]) -> str:
    """Return a prompt with its slots filled; slots inside these texts are left alone."""
    return _SLOT.sub(lambda slot: slots[slot[1]], text).strip()


def slots_of(text: str) -> set[str]:
    """Return the names of the slots of a prompt."""
    return set(slot_counts(text))


def slot_counts(text: str) -> Counter[str]:
    """Return how often each slot stands in a prompt."""
    return Counter(_SLOT.findall(text))


def lettered(options: Sequence[str]) -> str:
    """Return the options one per line, each after its letter."""
    return "\n".join(
        f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False)
    )


def load_prompts(name: str, root: Path, kinds: Collection[Kind] = KINDS) -> PromptSet:
    """Return a built-in prompt by name, or one in the benchmark by the path of its folder."""
    ours = files(__package__) / "prompts"
    names = sorted(variant.name for variant in ours.iterdir())
    folder = ours / name if name in names else inner_folder(name, root, "prompt", names)
    there = {entry.name for entry in folder.iterdir()}
    pairs = [f"{kind}{_PAIR}" for kind in kinds if f"{kind}{_PAIR}.md" in there]
    texts: dict[str, str] = {}
    problems = [
        f"{file} is named after no kind of question" for file in sorted(there) if _strays(file)
    ]
    for stem in sorted([*kinds, *pairs]):
        try:
            texts[stem] = (folder / f"{stem}.md").read_text(encoding="utf-8")
            problems += [f"{stem}.md {problem}" for problem in _problems(stem, texts[stem])]
        except (OSError, UnicodeDecodeError) as error:
            reason = (
                "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
            )
            problems.append(f"{stem}.md {reason}")
    if problems:
        raise ReelbenchError(
            f"The prompt {name!r} cannot be used: {'; '.join(problems)}. A prompt needs the "
            "slots {{question}} and, but for open questions, {{options}}; in paragraphs of their "
            "own it may have {{frames}}, {{frames_1}} and {{frames_2}}."
        )
    return PromptSet(name, texts)


def _strays(file: str) -> bool:
    """Whether a file would never be used, because its name is misspelled."""
    ending = f"{_PAIR}.md"
    return file.endswith(ending) and file.removesuffix(ending) not in KINDS


def _problems(stem: str, text: str) -> Iterator[str]:
    slots = slots_of(text)
    needed = {"question"} if stem.removesuffix(_PAIR) == "open" else {"question", "options"}
    for slot in sorted(needed - slots):
        yield f"lacks the slot {{{{{slot}}}}}"
    for slot in sorted(slots - needed - _OF_FRAMES):
        yield f"has the unknown slot {{{{{slot}}}}}"
    for paragraph in map(slots_of, _PARAGRAPH.findall(text)):
        for slot in sorted(paragraph & needed) if paragraph & _OF_FRAMES else ():
            yield (
                f"has the slot {{{{{slot}}}}} in a paragraph about frames, which is left out where "
                "there are none"
            )


def inner_folder(name: str, root: Path, thing: str, names: Sequence[str]) -> Path:
    """Return a folder in the benchmark; refuse one that, or whose files, lie outside of it."""
    if not (root / name).is_dir():
        raise ReelbenchError(
            f"There is no {thing} {name!r}: name a built-in one ({', '.join(names)}) or a folder "
            "inside the benchmark."
        )
    folder = inner_path(root, name)
    for entry in sorted(folder.iterdir()):
        inner_path(root, f"{name}/{entry.name}")
    return folder
