"""The interface of operators: each makes one label of a clip."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from reelbench.data.items import Span
from reelbench.media.decode.probe import MediaInfo
from reelbench.media.decode.seek import is_searchable
from reelbench.weights import replacing
from reelbench.weights.registry import find

Value = dict[str, Any]  # plain JSON, documented on the page of labels
Labels = Mapping[str, Value]  # by name
PART_SECONDS = 60.0  # the length of a part of a long clip


@dataclass(frozen=True, slots=True)
class Clip:
    """A media file to label: its path, its hash and its properties."""

    path: Path
    digest: str  # of its bytes
    info: MediaInfo


class NotApplicable(Exception):  # noqa: N818 - it is no error
    """Raised by an operator for a clip that its label does not apply to, with the reason."""


def _with_replaced_weights(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that runs with the weights in the place of its operator's own."""

    @wraps(call)
    def run(self: Any, *given: Any, **named: Any) -> Any:
        with replacing(dict(self.replaced)):
            return call(self, *given, **named)

    return run


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
    cpus: ClassVar[float] = 1.0  # its libraries start a thread for each, or fewer
    gpus: ClassVar[float] = 0.0
    # What a user put in the place of its weights: their names, and another name or a path.
    replaced: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)

    def __init_subclass__(cls, **more: Any) -> None:
        """Let every operator, however it is called, load the weights in the place of its own."""
        super().__init_subclass__(**more)
        for method in ("__call__", "part", "merge"):
            if method in vars(cls):
                setattr(cls, method, _with_replaced_weights(vars(cls)[method]))

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
    def reads(self) -> tuple[str, ...]:
        """The labels that it reads, where they are made."""
        return (*self.needs, *self.may_use)

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

    @property
    def lacks(self) -> str:
        """What the user must provide before it can make any label, as an instruction; or ""."""
        return ""


@dataclass(frozen=True)
class PartOperator(Operator):
    """An operator that can look at parts of a long clip at the same time, in several workers.

    Write ``part`` and ``merge`` in place of ``__call__``. The label must be the same however the
    clip is divided.
    """

    @abstractmethod
    def part(self, clip: Clip, labels: Labels, span: Span) -> Any:
        """Return what is found in the frames from the start to before the end of a span, as JSON.

        Raises ``NotApplicable`` where the label does not apply to the clip at all.
        """

    @abstractmethod
    def merge(self, clip: Clip, labels: Labels, parts: Sequence[Any]) -> Value:
        """Return the label, from the parts in the order of time."""

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the label of a clip that is looked at in one piece."""
        return self.merge(clip, labels, [self.part(clip, labels, (0.0, math.inf))])

    def spans(self, clip: Clip) -> list[Span]:
        """Return the parts of a clip: of about a minute each, or the whole clip if it is short.

        Where the operator has a ``rate``, each begins when a frame is due, so that the same frames
        are looked at as in one piece.
        """
        rate: float = getattr(self, "rate", 1.0)
        # Each part of what cannot be searched, some AVI among it, would be decoded from the start.
        whole = clip.info.format == "avi" or not is_searchable(clip.info.format)
        count = 1 if whole else round(clip.info.duration / PART_SECONDS)
        ticks = sorted({round(number * PART_SECONDS * rate) for number in range(1, count)} - {0})
        edges = [0.0, *(tick / rate for tick in ticks), math.inf]
        return list(pairwise(edges))
