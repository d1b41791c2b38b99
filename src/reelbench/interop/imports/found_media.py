"""What a name of a list means: a file, a file in an archive, or the reason why there is none."""

from dataclasses import dataclass
from pathlib import Path

from reelbench.interop.imports.archives import PackedFile
from reelbench.interop.imports.wanted_names import link_in


@dataclass(frozen=True, slots=True)
class FoundMedium:
    """What a name of a list means: a file, a file in an archive, or why there is none.

    ``how`` says how it was found: ``path`` and ``name`` as the list has it, ``ending`` with another
    ending, ``case`` with other upper and lower case, ``id`` by the id in a name of yt-dlp's.
    ``reason`` is one of ``missing``, ``several``, ``shared``, ``link``, ``empty``, ``unsupported``
    and ``damaged``, and ``why`` is its sentence.
    """

    wanted: str
    path: Path | None = None
    packed: PackedFile | None = None
    below: str = ""  # its path below the folder, or in the archive
    how: str = ""
    reason: str = ""
    why: str = ""

    @property
    def is_found(self) -> bool:
        """Whether there is a file, on disk or in an archive."""
        return not self.reason

    @property
    def place(self) -> str:
        """Where the file is, on disk or in which archive: one text for each file."""
        if self.packed:
            return f"{self.packed.archive.label}/{self.packed.number}"
        return str(self.path or link_in(self.wanted) or self.wanted)


Request = tuple[str, tuple[str, ...]]  # what a list names, and hints


@dataclass(frozen=True, slots=True)
class MissingMedium:
    """A file that an item names and that is not there."""

    id: str
    wanted: str
    reason: str
    why: str
