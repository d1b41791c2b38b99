"""Changes to prompts that a model proposed: kept beside a benchmark, decided by people, applied.

``prompt-changes/changes.jsonl`` holds each change whole: the prompt before and after, the reason,
the drafts that it came from, and what became of it. People decide in a review, or by lines of their
own in ``verdicts.jsonl``; the next make puts what they accepted into the user's folder of prompts.
"""

import difflib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import structs

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import file_part, json_line, write_atomically
from reelbench.data.items import Item, freeze
from reelbench.data.verdicts import VERDICTS_FILE, Verdict, read_verdicts
from reelbench.evaluate.prompt import slot_counts
from reelbench.make.parts.verdicts import verdicts_on

CHANGES_FOLDER = "prompt-changes"
CHANGES_FILE = f"{CHANGES_FOLDER}/changes.jsonl"
NEW_TEXT = "reference"  # the field of a verdict's changes that has the prompt as a person edited it
CHANGE = "change"  # the entry of an item's context that holds the change it stands for
UNDONE = ("open", "accepted")  # states after which there is something to come
_AROUND = 2  # unchanged lines by which the place of a change is found again
Record = TypeVar("Record", bound=msgspec.Struct)


class ReviewedDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A draft as the reviewer read it, with how many blind answers were right."""

    id: str
    question: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    right: int
    of: int
    passed: bool


class PromptRound(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured of the drafts that one version of a prompt gave."""

    prompt: str
    category: str
    number: int
    version: str  # the hash of all that the writer was told
    drafts: int
    asked: int  # of the drafts, those that were answered blind
    passed: int  # and those that passed
    rate: float | None
    interval: tuple[float | None, float | None]


class PromptChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of one prompt, with where it came from and what became of it."""

    id: str
    before: str
    after: str
    reason: str
    model: str  # that proposed it
    rounds: tuple[PromptRound, ...]  # of this prompt; the last one is that of the drafts
    drafts: tuple[ReviewedDraft, ...]  # those that the reason refers to
    read: tuple[str, ...]  # the ids of all drafts that the reviewer read
    state: Literal["open", "accepted", "applied", "rejected", "outdated"] = "open"
    who: str = ""  # decided
    comment: str = ""
    applied: str = ""  # the prompt as it was written, where that is not ``after``

    @property
    def round(self) -> PromptRound:
        """The round of the drafts that it came from."""
        return self.rounds[-1]

    @property
    def prompt(self) -> str:
        """The name of the prompt."""
        return self.round.prompt

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        lines = difflib.unified_diff(
            self.before.splitlines(),
            self.after.splitlines(),
            f"a/{self.prompt}.md",
            f"b/{self.prompt}.md",
            lineterm="",
        )
        return "".join(f"{line}\n" for line in lines)

    @property
    def item(self) -> Item:
        """The item that people decide about in its place; its reference is the new prompt."""
        record: dict[str, Any] = msgspec.to_builtins(self)
        hidden = ("after", "state", "who", "comment", "applied")
        return Item(
            id=self.id,
            kind="open",
            media=(),
            question=f"{self.round.category}: {self.prompt}.md, round {self.round.number}",
            reference=self.after,
            tags=freeze({"category": self.round.category}),
            context=freeze({CHANGE: {n: value for n, value in record.items() if n not in hidden}}),
        )


def read_changes(out: Path) -> list[PromptChange]:
    """Return the changes to prompts that were proposed for a benchmark, in their order."""
    return read_records(out / CHANGES_FILE, PromptChange)


def read_records(path: Path, kind: type[Record]) -> list[Record]:
    """Return the records of a file, one a line; none where there is no file."""
    if not path.exists():
        return []
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found.append(msgspec.json.decode(line, type=kind))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ReelbenchError(
                f"{path}, line {number}, is damaged ({error}): remove the line. What a model "
                "proposed is in the journal, and is not asked for again."
            ) from None
    return found


def write_changes(out: Path, changes: Sequence[PromptChange]) -> None:
    """Write all changes, and a file for each that ``patch -p1`` understands."""
    (out / CHANGES_FOLDER).mkdir(parents=True, exist_ok=True)
    for each in changes:
        words = " ".join(each.reason.split())
        head = f"{each.id}, proposed by {each.model} ({each.state}): {words}\n\n"
        write_atomically(out / _diff_file(each), head + each.diff)
    lines = [json_line(msgspec.to_builtins(each)) for each in changes]
    write_atomically(out / CHANGES_FILE, "".join(lines))


def _diff_file(change: PromptChange) -> str:
    return f"{CHANGES_FOLDER}/{file_part(change.id)}.diff"


def slot_fault(before: str, after: str) -> str:
    """Return what keeps a text from taking the place of a prompt; empty where nothing does.

    Slots may be neither lost nor invented, and nothing may be written that nobody can see.
    """
    had, has = slot_counts(before), slot_counts(after)
    faults = []
    for name in sorted({*had, *has}):
        if has[name] < had[name]:
            faults.append(f"the slot {{{{{name}}}}} is lost")
        elif has[name] > had[name]:
            faults.append(f"the slot {{{{{name}}}}} is {'doubled' if had[name] else 'invented'}")
    if hidden := sorted({sign for sign in after if _is_hidden(sign)} - set(before)):
        faults.append(f"it has signs that cannot be seen ({', '.join(map(ascii, hidden))})")
    if after.split() == before.split():
        faults.append("it says what it said before")
    return "; ".join(faults)


def _is_hidden(sign: str) -> bool:
    return sign not in "\n\t" and unicodedata.category(sign) in ("Cc", "Cf", "Cn", "Co", "Cs")


def carried_over(current: str, before: str, after: str) -> str | None:
    """Return a text with the changes from one text to another made in it; None if they do not fit.

    Lines around each change must be found in it, and in one place alone.
    """
    old, new, lines = before.splitlines(), after.splitlines(), current.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(_AROUND):
        (_, old_from, _, new_from, _), (_, _, old_to, _, new_to) = group[0], group[-1]
        block, size = old[old_from:old_to], old_to - old_from
        places = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == block]
        if len(places) != 1:
            return None
        lines[places[0] : places[0] + size] = new[new_from:new_to]
    return "\n".join(lines) + ("\n" if current.endswith("\n") else "")


@dataclass(frozen=True, slots=True)
class SettledChanges:
    """What people's decisions make of prompts: new texts by name, and what is to be said of it."""

    changes: Sequence[PromptChange] = ()  # all that there are, as they stand then
    texts: Mapping[str, str] = freeze({})
    notes: tuple[str, ...] = ()
    is_new: bool = False

    def write(self, out: Path, folder: Path | None) -> None:
        """Write the prompts first: a change that is in one already is done by the next make."""
        if not self.is_new:
            return
        for name, text in self.texts.items():
            assert folder is not None, "a change was applied without a folder of prompts"
            write_atomically(folder / f"{name}.md", text)
        write_changes(out, self.changes)


def settle_changes(out: Path, folder: Path | None, prompts: Mapping[str, str]) -> SettledChanges:
    """Return what becomes of the open changes, by the verdicts there are and by the prompts.

    Only prompts in ``folder``, which is the user's, are changed. Nothing is written.
    """
    changes = read_changes(out)
    if not any(each.state in UNDONE for each in changes):
        return SettledChanges(changes)
    verdicts = read_verdicts(out / VERDICTS_FILE)
    texts, made, notes = dict(prompts), [], []
    for change in changes:
        settled = change
        if change.state in UNDONE:
            found = _agreed(verdicts_on(change.item, verdicts, verdicts))
            settled, note = _settled(change, found, texts.get(change.prompt), folder)
            notes += [note] if note else []
            if settled.state == "applied":
                texts[change.prompt] = settled.applied or settled.after
        made.append(settled)
    new = {name: text for name, text in texts.items() if prompts.get(name) != text}
    return SettledChanges(made, new, tuple(notes), made != changes)


def _agreed(given: Sequence[Verdict]) -> Verdict | None:
    """Return the verdict that holds: the settled one, else the last where all decide alike."""
    settled = [each for each in given if each.settled]
    alike = len({each.decision for each in given}) == 1
    return settled[-1] if settled else given[-1] if alike else None


def _settled(
    change: PromptChange, verdict: Verdict | None, current: str | None, folder: Path | None
) -> tuple[PromptChange, str]:
    """Return a change as it stands after a verdict, and a sentence for the user."""
    file = f"{change.prompt}.md"
    if verdict is None:
        if current == change.before:  # also where it was accepted, and that was taken back
            return structs.replace(change, state="open", who="", comment=""), ""
        return structs.replace(change, state="outdated"), (
            f"{change.id} is no longer offered: {file} was edited since it was proposed"
        )
    own = {"who": verdict.who, "comment": verdict.comment}
    if verdict.decision == "reject":
        return structs.replace(change, state="rejected", **own), ""
    edited = verdict.new_fields.get(NEW_TEXT)
    after = edited if isinstance(edited, str) else change.after
    if fault := slot_fault(change.before, after):
        return structs.replace(change, state="outdated", **own), (
            f"{change.id} was accepted with another text, which is not used: {fault}"
        )
    text = None if current is None else _with_change(current, change.before, after)
    if text is None:
        return structs.replace(change, state="outdated", **own), (
            f"{change.id} was accepted and is not applied: {file} was edited since, and the lines "
            f"that it changes are no longer there; {_diff_file(change)} has it"
        )
    if folder is None:
        return structs.replace(change, state="accepted", **own), (
            f"{change.id} was accepted and waits: name a folder for prompts of your own with "
            "--prompts FOLDER, where it is applied"
        )
    applied = "" if text == change.after else text
    made = structs.replace(change, state="applied", applied=applied, **own)
    return made, f"{change.id} was accepted and goes into {folder / file}"


def _with_change(current: str, before: str, after: str) -> str | None:
    """Return a prompt with a change in it, which may be there already; None if it does not fit."""
    made, undone = carried_over(current, before, after), carried_over(current, after, before)
    # Both fit where lines at an end come or go alone: one that lengthens the prompt has been made
    # where it can be undone, and one that shortens it has not where it can be made.
    is_there = undone is not None and (made is None or len(after) > len(before))
    return current if is_there or current == after else made
