"""The nouns of making: a recipe is an ordered list of stages; rows go in, rows come out.

A row that a stage does not let through is rejected, with a reason. What could not be decided,
because a model could not be reached, is neither: it is tried again next time.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from reelbench.base.errors import ReelbenchError
from reelbench.base.parameters import is_like
from reelbench.data.items import NOTHING, Item
from reelbench.data.manifest import Manifest
from reelbench.data.sources import Sources

if TYPE_CHECKING:
    from reelbench.make.pipeline.context import StageContext


class Row(Protocol):
    """What stages pass on: an ``Item``, or any frozen msgspec struct that has an ``id``."""

    @property
    def id(self) -> str:
        """A name of its own among the rows of one stage."""


class Rejected(Exception):  # noqa: N818 - it is no error
    """A row is not let through."""

    def __init__(
        self,
        reason: str,
        detail: str = "",
        words: Sequence[str] = (),
        facts: Mapping[str, Any] = NOTHING,
    ) -> None:
        super().__init__(reason)
        self.reason = reason  # one of a few, to be counted
        self.detail = detail  # what is wrong with this one
        self.words = tuple(words)  # what the models said
        self.facts = facts  # what was measured


class Undecided(Exception):  # noqa: N818
    """A call failed, so nothing is known about a row."""

    def __init__(self, status: str, error: str) -> None:
        super().__init__(error)
        self.status, self.error = status, error


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One step of a recipe, and all that decides what it makes of a row.

    ``parameters`` are handed to the work by name. ``version`` is raised when the work changes.
    """

    name: str
    input: type
    output: type
    work: Callable[..., Any]
    roles: tuple[str, ...] = ()  # of models that it asks
    prompts: tuple[str, ...] = ()  # names, all of which decide what comes out
    parameters: Mapping[str, Any] = NOTHING
    version: int = 1
    optional: bool = False  # left out where nobody plays its roles
    filters: bool = False  # whether the share that it rejects is a finding
    flags: bool = False  # whether what fails is let through, with a note that says so
    # Says what is wrong with parameters, before anything is paid for.
    validate: Callable[[Mapping[str, Any]], str] = lambda _parameters: ""

    def __post_init__(self) -> None:
        """Refuse parameters that cannot be meant."""
        if fault := self.validate(self.parameters):
            raise ReelbenchError(f"{self.name}.{fault}.")


@dataclass(frozen=True, kw_only=True)
class RowStage(Stage):
    """A stage that looks at one row at a time; what it made of it is kept.

    One that ``writes`` files says by ``outputs_exist`` whether those that a row names are still
    there. ``reads`` returns, as data, what of files decides the result. ``estimate`` makes what a
    forecast goes on with, in which no model is asked and no file written; ``expected_pass_rate`` is
    the share of rows that is then let through, and ``expected_tokens`` the length of a reply, where
    that is not a short answer.
    """

    work: Callable[..., Awaitable[Sequence[Any]]]
    writes: bool = False
    reads: Callable[[Any, "StageContext"], Any] = lambda _row, _ctx: None
    outputs_exist: Callable[[Any, "StageContext"], bool] = lambda _row, _ctx: True
    estimate: Callable[[Any, "StageContext"], Sequence[Any]] = lambda row, _ctx: [row]
    expected_pass_rate: float = 1.0
    expected_tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class BatchStage(Stage):
    """A stage that must see all rows, such as one that balances; it asks nobody.

    For each row that goes in, in order, its work returns a row or why it is rejected.
    """

    work: Callable[..., Sequence[Any]]
    # What of files decides, as data.
    reads: Callable[[Sequence[Any], "StageContext"], Any] = lambda _rows, _ctx: None


@dataclass(frozen=True, slots=True)
class Role:
    """A part for models to play."""

    does: str
    stands_in: str = ""  # the role whose model plays this one where none is named
    many: bool = False  # whether several models may play it together
    verifies: bool = False  # whether it must not be played by who wrote


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How sources become a benchmark."""

    name: str
    description: str  # in a line, what it makes and from what
    sources: Callable[[Path], Sources]
    stages: tuple[Stage, ...]
    roles: Mapping[str, Role]
    manifest: Callable[[Sequence[Item], Path], Manifest]  # from the items and the source
    home: Any = None  # the folder of its prompts, rules and examples
    categories: tuple[str, ...] = ()  # that its items may have
    media: Literal["out", "source"] = "out"  # where the videos of items are while it is made
    statistics: Callable[[Mapping[str, Sequence[Any]]], Mapping[str, Any]] | None = None
    # Names for what is turned most often, each with the parameters that it sets.
    flags: Mapping[str, tuple[str, ...]] = NOTHING

    def __post_init__(self) -> None:
        """Refuse a list of stages that cannot follow each other."""
        names = [stage.name for stage in self.stages]
        if not names or len(set(names)) < len(names):
            raise ReelbenchError(f"The recipe {self.name} needs stages with names of their own.")
        for before, after in zip(self.stages, self.stages[1:], strict=False):
            if before.output is not after.input:
                raise ReelbenchError(
                    f"The recipe {self.name} cannot go on from {before.name}, whose output is "
                    f"{before.output.__name__}, to {after.name}, whose input is "
                    f"{after.input.__name__}."
                )
        if self.stages[-1].output is not Item:
            raise ReelbenchError(f"The recipe {self.name} does not end with items.")
        unknown = {role for stage in self.stages for role in stage.roles} - set(self.roles)
        for name, role in self.roles.items():
            seen = {name}
            while role.stands_in and role.stands_in not in seen and role.stands_in in self.roles:
                seen.add(role.stands_in)
                role = self.roles[role.stands_in]
            if role.stands_in:
                raise ReelbenchError(
                    f"In the recipe {self.name}, nobody stands in for {name}: {role.stands_in} "
                    "is no role, or leads back to it."
                )
        if unknown:
            raise ReelbenchError(
                f"The recipe {self.name} does not say what {sorted(unknown)} do: add them to roles."
            )

    def until(self, name: str | None) -> "Recipe":
        """Return the part of a recipe up to a stage; it may end with other rows than items."""
        if name is None:
            return self
        names = [stage.name for stage in self.stages]
        if name not in names:
            raise ReelbenchError(
                f"The recipe {self.name} has no stage {name!r}; it has {', '.join(names)}."
            )
        return self.only(self.stages[: names.index(name) + 1])

    def without(self, names: Sequence[str]) -> "Recipe":
        """Return a recipe without some of its stages."""
        for name in names:
            stage = next((stage for stage in self.stages if stage.name == name), None)
            if stage is None or stage.input is not stage.output:
                able = ", ".join(s.name for s in self.stages if s.input is s.output)
                others = f"it can without {able}" if able else "all its stages are needed"
                raise ReelbenchError(f"{self.name} cannot be made without {name!r}; {others}.")
        return self.only(tuple(stage for stage in self.stages if stage.name not in names))

    def only(self, stages: tuple[Stage, ...]) -> "Recipe":
        """Return a recipe with some of its stages, which need not make a whole any more."""
        short = object.__new__(Recipe)
        short.__dict__.update(self.__dict__, stages=stages)
        return short

    def dialled(self, turns: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters, each named ``STAGE.PARAMETER``, that dials are turned to."""
        for name in turns:
            if name not in self.flags:
                has = ", ".join(f"--{flag}" for flag in self.flags) or "no such options"
                raise ReelbenchError(f"{self.name} has no --{name}; it has {has}.")
        return {parameter: turns[name] for name in turns for parameter in self.flags[name]}

    def changed(self, changes: Mapping[str, Any]) -> "Recipe":
        """Return a recipe with other parameters, each named ``STAGE.PARAMETER``."""
        stages = {stage.name: stage for stage in self.stages}
        for name, value in changes.items():
            where, _, parameter = name.rpartition(".")
            stage = stages.get(where)
            if stage is None or parameter not in stage.parameters:
                known = [f"{s.name}.{p}" for s in self.stages for p in s.parameters] or ["nothing"]
                raise ReelbenchError(
                    f"There is nothing called {name} to set; {self.name} has {', '.join(known)}."
                )
            usual = stage.parameters[parameter]
            if not is_like(usual, value):
                raise ReelbenchError(f"{name} is {usual!r} by default and cannot be {value!r}.")
            stages[where] = replace(stage, parameters={**stage.parameters, parameter: value})
        return replace(self, stages=tuple(stages.values()))
