"""The columns of a file while it is found out what they are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from reelbench.interop.imports.mapping import ImportMapping, Source, several
from reelbench.interop.imports.profile import Profile, profile_of
from reelbench.interop.records import SourceRecord


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """What a column was taken for, and why."""

    column: str
    field: str
    why: str
    example: str = ""
    doubt: str = ""  # a sentence to the user, where it may be something else


@dataclass
class Recogniser:
    """The columns of a file, of which each is taken for at most one field."""

    records: Sequence[SourceRecord]
    columns: list[str]
    fixed: ImportMapping = field(default_factory=ImportMapping)  # what a person has said
    uses: dict[str, ColumnUse] = field(default_factory=dict)
    fields: dict[str, Source] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    changes: dict[str, Any] = field(default_factory=dict)  # of the mapping, beside fields and tags
    known: dict[str, Profile] = field(default_factory=dict)

    @cached_property
    def profiles(self) -> Mapping[str, Profile]:
        """What the values of each column are like."""
        return {name: self.profile(name) for name in self.columns}

    def profile(self, name: str) -> Profile:
        """What the values of a column are like."""
        if name not in self.known:
            self.known[name] = profile_of(name, self.records)
        return self.known[name]

    def free(self) -> list[Profile]:
        """The columns that are taken for nothing so far, without those that hold nothing."""
        return [
            p
            for name, p in self.profiles.items()
            if name not in self.uses and p.filled and not self._is_of_options(name)
        ]

    def _is_of_options(self, name: str) -> bool:
        """Whether a column stands within objects that are options: their labels are no key."""
        use = self.uses.get(name.rpartition(".")[0])
        return use is not None and use.field == "options"

    def take(self, name: str, source: Source, why: str) -> None:
        """Take columns for a field."""
        self.fields[name] = source
        for column in several(source):
            self.use(column, name, why)

    def use(self, column: str, name: str, why: str, doubt: str = "") -> None:
        """Note what a column is, or why it is nothing."""
        example = self.profiles[column].example if column in self.profiles else ""
        self.uses.setdefault(column, ColumnUse(column, name, why, example, doubt))

    def named(self, wanted: Sequence[str], test: Callable[[Profile], bool]) -> Profile | None:
        """Return the free column with the first of these names whose values are right."""
        found = [p for p in self.free() if p.key in wanted and test(p)]
        return min(found, key=lambda p: wanted.index(p.key), default=None)
