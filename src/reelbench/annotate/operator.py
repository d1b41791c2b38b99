"""What an operator is: something that says one thing about a clip, and how it came to say it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from reelbench.media.decode.probe import MediaInfo

Value = dict[str, Any]  # plain JSON, documented on the page of labels
Labels = Mapping[str, Value]  # by name


@dataclass(frozen=True, slots=True)
class Clip:
    """A file to look at or listen to, and what is known of it before anyone does."""

    path: Path
    digest: str  # of its bytes
    info: MediaInfo


class NotApplicable(Exception):  # noqa: N818 - it is no error
    """There is nothing to say about this clip, such as about the sound of a silent one."""


@dataclass(frozen=True)
class Operator(ABC):
    """A frozen dataclass: its fields are its parameters, and its name is that of its label.

    Heavy imports and models are loaded when it is first called; a worker keeps them for all clips
    it sees. Nothing but the clip, the labels it needs and its parameters may decide its value.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ()  # labels of other operators
    may_use: ClassVar[tuple[str, ...]] = ()  # labels that make it better, where they were asked for
    weights: ClassVar[tuple[str, ...]] = ()  # names in the registry of weights
    source: ClassVar[str] = ""  # hash of the file of an operator that is not ours
    # Names that parameters had before, by their present names: they are still understood, and
    # labels that were made under them are found again.
    former_names: ClassVar[Mapping[str, str]] = {}
    cpus: ClassVar[float] = 1.0
    gpus: ClassVar[float] = 0.0

    @abstractmethod
    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Look at a clip; raise ``NotApplicable`` with a sentence where there is nothing to say."""

    def beside(self, clip: Clip) -> Any:
        """Return what else decides its value, such as the hash of a file beside the clip."""
        del clip
        return None

    @property
    def uses(self) -> tuple[str, ...]:
        """The weights that it uses, as it was told."""
        return self.weights

    @property
    def parameters(self) -> dict[str, Any]:
        """What it was told, as plain data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
