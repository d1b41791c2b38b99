"""The interface of operators: each makes one label of a clip."""

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
    """A media file to label: its path, its hash and its properties."""

    path: Path
    digest: str  # of its bytes
    info: MediaInfo


class NotApplicable(Exception):  # noqa: N818 - it is no error
    """Raised by an operator for a clip that its label does not apply to, with the reason."""


@dataclass(frozen=True)
class Operator(ABC):
    """Makes one label of a clip. A frozen dataclass: its fields are its parameters.

    ``name`` is the name of its label. Heavy imports and models are loaded when it is first called;
    a worker keeps them for all its clips. Only the clip, the labels in ``needs`` and ``may_use``
    and the parameters may decide the label: everything is cached by them.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ()  # labels that it requires; they are made first
    may_use: ClassVar[tuple[str, ...]] = ()  # labels that it reads if they are made as well
    weights: ClassVar[tuple[str, ...]] = ()  # names in the registry of weights
    source: ClassVar[str] = ""  # hash of the file of a user's own operator; set when it is loaded
    # Names that parameters had before, by their present names: they are still understood, and
    # labels that were made under them are found again.
    former_names: ClassVar[Mapping[str, str]] = {}
    cpus: ClassVar[float] = 1.0
    gpus: ClassVar[float] = 0.0

    @abstractmethod
    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the label of a clip, plain JSON; raise ``NotApplicable`` where there is none.

        ``labels`` has the labels in ``needs``, and those in ``may_use`` that were made.
        """

    def beside(self, clip: Clip) -> Any:
        """Return what else decides the label, such as the hash of a file beside the clip."""
        del clip
        return None

    @property
    def uses(self) -> tuple[str, ...]:
        """The weights that it loads with its present parameters."""
        return self.weights

    @property
    def parameters(self) -> dict[str, Any]:
        """Its parameters as plain data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
