"""The interface of operators: each makes one label of a clip."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar

from reelbench.media.decode.probe import MediaInfo
from reelbench.weights import replacing
from reelbench.weights.registry import find

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
    # What a user put in the place of its weights: their names, and another name or a path.
    replaced: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)

    def __init_subclass__(cls, **more: Any) -> None:
        """Let every operator, however it is called, load the weights in the place of its own."""
        super().__init_subclass__(**more)
        if "__call__" in vars(cls):
            cls.__call__ = _with_replaced_weights(cls.__call__)  # type: ignore[method-assign]

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
        """The weights that it loads with its present parameters, by their names in the registry."""
        return self.weights

    @property
    def loads(self) -> dict[str, str]:
        """What it loads for each name in ``uses``: that name, or what a user put in its place."""
        instead = dict(self.replaced)
        return {
            name: instead.get(name, name)
            for name in self.uses
            # What only describes other weights goes with them.
            if name in instead or find(name).part_of not in instead
        }

    @property
    def parameters(self) -> dict[str, Any]:
        """Its parameters as plain data, without the weights that were replaced."""
        names = [each.name for each in fields(self) if each.name != "replaced"]
        return {name: getattr(self, name) for name in names}


def _with_replaced_weights(call: Callable[..., Value]) -> Callable[..., Value]:
    @wraps(call)
    def run(self: Operator, clip: Clip, labels: Labels) -> Value:
        with replacing(dict(self.replaced)):
            return call(self, clip, labels)

    return run
