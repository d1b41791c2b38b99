"""The nouns of making: a recipe is an ordered list of stages; rows go in, rows come out.

A row that a stage does not let through is rejected, with a reason. What could not be decided,
because a model could not be reached, is neither: it is tried again next time.
"""

import inspect
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from reelbench.base.errors import ReelbenchError
from reelbench.base.parameters import is_like, read_like
from reelbench.data.items import NOTHING, Item
from reelbench.data.manifest import Manifest
from reelbench.data.sources import Sources

if TYPE_CHECKING:
    from reelbench.make.pipeline.context import StageContext


class Row(Protocol):
    """What stages pass on: an ``Item``, or any frozen dataclass or struct that has an ``id``."""

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
        self.words = tuple(words)  # what the models replied
        self.facts = facts  # what was measured


WAITING = "waiting"  # the status of what people are still to decide


class Undecided(Exception):  # noqa: N818
    """A call failed, so nothing is known about a row; or people are still to decide (``WAITING``).

    ``items`` are what they are to decide about, where that is not the row itself.
    """

    def __init__(self, status: str, error: str, items: Sequence[Item] = ()) -> None:
        super().__init__(error)
        self.status, self.error, self.items = status, error, tuple(items)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One step of a recipe, with everything that decides its result.

    ``parameters`` are handed to the work by name. ``version`` is raised when the work changes.
    """

    name: str
    input: type
    output: type
    work: Callable[..., Any]
    roles: tuple[str, ...] = ()  # of models that it asks
    may_ask: tuple[str, ...] = ()  # roles that it asks where a model is named, and does without
    prompts: tuple[str, ...] = ()  # names, all of which decide what comes out
    parameters: Mapping[str, Any] = NOTHING
    version: int = 1
    optional: bool = False  # left out where no model is named for its roles
    # For forecasts, until rows have been seen: the share of rows that is let through (None: what
    # random answers decide), and the tokens of a reply, where that is not a short answer.
    expected_pass_rate: float | None = 1.0
    expected_tokens: int = 0
    filters: bool = False  # whether the share that it rejects is a finding
    labels: tuple[str, ...] = ()  # that it reads with ``ctx.labels``; a change of them redoes it
    trial: bool = False  # done only in a make that ends early, with ``--until``
    # Returns what is wrong with parameters, or an empty string; called before any model is.
    validate: Callable[[Mapping[str, Any]], str] = lambda _parameters: ""

    def __post_init__(self) -> None:
        """Raise an error for parameters that do not pass ``validate``."""
        if fault := self.validate(self.parameters):
            raise ReelbenchError(f"{self.name}.{fault}.")


def as_it_is(row: Any, _ctx: "StageContext") -> Sequence[Any]:
    """Return a row unchanged, as a list."""
    return [row]


@dataclass(frozen=True, kw_only=True)
class RowStage(Stage):
    """A stage that works on one row at a time; each result is kept.

    ``work`` is an ``async`` function of a row, the ``StageContext`` and the parameters by name. It
    returns a list of rows, or raises ``Rejected`` or ``Undecided``. ``reads`` returns, as data,
    what of files decides the result, such as their hashes. A stage that ``writes`` files has
    ``outputs_exist`` return whether those of a row are still there. A forecast makes up replies and
    goes on with what the work returns for them, or with what ``estimate`` returns where a stage has
    one or writes files.
    """

    work: Callable[..., Awaitable[Sequence[Any]]]
    # Of a stage with many tasks, what version the work has for a row: raising that of one task
    # redoes the rows of that task alone.
    version_of: Callable[[Any], Any] | None = None
    writes: bool = False
    reads: Callable[[Any, "StageContext"], Any] = lambda _row, _ctx: None
    outputs_exist: Callable[[Any, "StageContext"], bool] = lambda _row, _ctx: True
    estimate: Callable[[Any, "StageContext"], Sequence[Any]] = as_it_is

    def __post_init__(self) -> None:
        """Raise an error for work that is not asynchronous; wrapped work is checked when called."""
        Stage.__post_init__(self)
        work = self.work
        is_plain = inspect.isfunction(work) and not hasattr(work, "__wrapped__")
        if is_plain and work.__name__ != "<lambda>" and not inspect.iscoroutinefunction(work):
            raise ReelbenchError(not_async(self.name))


def not_async(stage: str) -> str:
    """Return the sentence about work of a row stage that is not asynchronous."""
    return f"The work of the stage {stage} must be a coroutine: write `async def` before it."


@dataclass(frozen=True, kw_only=True)
class BatchStage(Stage):
    """A stage that works on all rows together, such as one that balances, or works in rounds.

    For each row in order, its work returns a row, a list of rows, or why there is none: a
    ``Rejected`` or ``Undecided``. It may be ``async`` and ask models; then, as with one that
    ``filters``, its result is kept while the rows are the same. One that is done ``always`` is not
    kept, and one that ``writes`` files is not done for a forecast, which goes on with what
    ``estimate`` returns.
    """

    work: Callable[..., Sequence[Any] | Awaitable[Sequence[Any]]]
    # What of files decides, as data.
    reads: Callable[[Sequence[Any], "StageContext"], Any] = lambda _rows, _ctx: None
    always: bool = False
    writes: bool = False
    estimate: Callable[[Sequence[Any], "StageContext"], Sequence[Any]] = lambda rows, _ctx: rows


@dataclass(frozen=True, slots=True)
class Role:
    """A role of a recipe, for which a user names models with ``--model ROLE=NAME``."""

    does: str  # in a few words, for the user
    stands_in: str = ""  # the role whose model is used where none is named
    many: bool = False  # whether several models may be named
    verifies: bool = False  # whether a user is warned who names the model that wrote the items


@dataclass(frozen=True, slots=True)
class Flag:
    """An option that a recipe has on the command line: ``--NAME VALUE`` sets parameters.

    Each of ``sets`` is a ``STAGE.PARAMETER`` or a ``sources.PARAMETER``. ``type`` reads the word
    that the user wrote, and raises ``ValueError`` where it cannot.
    """

    name: str
    help: str
    sets: tuple[str, ...]
    type: Callable[[str], Any] = str


def whole_number(word: str) -> int:
    """Return the number from 1 on that a word spells, for the ``type`` of a flag."""
    if not word.isdecimal() or int(word) < 1:
        raise ValueError(f"{word!r} is not a whole number from 1 on")
    return int(word)


SOURCES = "sources"  # what comes before the first stage; its parameters are set by this name


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How sources become a benchmark.

    ``sources`` is called with the paths that ``--source`` names, one unless ``several_sources``,
    none unless ``needs_source``, and with ``source_parameters`` by name.
    """

    name: str
    description: str  # in a line, what it makes and from what
    sources: Callable[..., Sources]
    stages: tuple[Stage, ...]
    roles: Mapping[str, Role]
    manifest: Callable[[Sequence[Item], Path], Manifest]  # from the items and the first source
    several_sources: bool = False
    needs_source: bool = True  # whether --source must be named; else it must not
    source_parameters: Mapping[str, Any] = NOTHING
    home: Any = None  # the folder of its prompts, rules and examples
    categories: tuple[str, ...] = ()  # that its items may have
    media: Literal["out", "source"] = "out"  # where the videos of items are while it is made
    statistics: Callable[[Mapping[str, Sequence[Any]]], Mapping[str, Any]] | None = None
    flags: tuple[Flag, ...] = ()  # for what is changed most often

    def __post_init__(self) -> None:
        """Raise an error for names, stages, flags or roles that do not fit together."""
        _check_names(self)
        _check_flow(self)
        _check_flags(self)
        _check_roles(self)

    def until(self, name: str | None) -> "Recipe":
        """Return the recipe up to a stage; it may end with other rows than items.

        Stages for trials are done in such a recipe alone; one that follows its end belongs to it.
        """
        if name is None:
            whole = tuple(stage for stage in self.stages if not stage.trial)
            return self if whole == self.stages else self.only(whole)
        names = [stage.name for stage in self.stages]
        if name not in names:
            raise ReelbenchError(
                f"The recipe {self.name} has no stage {name!r}; it has {', '.join(names)}."
            )
        end = names.index(name) + 1
        while end < len(self.stages) and self.stages[end].trial:
            end += 1
        return self.only(self.stages[:end])

    def without(self, names: Sequence[str]) -> "Recipe":
        """Return a recipe without some of its stages."""
        for name in names:
            stage = next((stage for stage in self.stages if stage.name == name), None)
            if stage is None or stage.input is not stage.output:
                able = ", ".join(s.name for s in self.stages if s.input is s.output)
                others = f"it can leave out {able}" if able else "all its stages are needed"
                raise ReelbenchError(f"{self.name} cannot leave out the stage {name!r}: {others}.")
        return self.only(tuple(stage for stage in self.stages if stage.name not in names))

    def only(self, stages: tuple[Stage, ...]) -> "Recipe":
        """Return a recipe with some of its stages, without checking that they fit together."""
        short = object.__new__(Recipe)
        short.__dict__.update(self.__dict__, stages=stages)
        return short

    @property
    def parameters(self) -> dict[str, Any]:
        """The values of all parameters, each named ``STAGE.PARAMETER`` or ``sources.PARAMETER``."""
        stages = {stage.name: stage.parameters for stage in self.stages}
        parts = {SOURCES: self.source_parameters, **stages}
        return {f"{part}.{name}": value for part in parts for name, value in parts[part].items()}

    def changed(self, changes: Mapping[str, Any]) -> "Recipe":
        """Return a recipe with other parameters, each named ``STAGE.PARAMETER``.

        All are set before any is validated; everything that is wrong is named at once.
        """
        known = self.parameters
        new: dict[str, dict[str, Any]] = defaultdict(dict)
        faults = []
        if unknown := [name for name in changes if name not in known]:
            has = ", ".join(known) or "none"
            faults.append(f"{self.name} has no parameter {', '.join(unknown)}; it has {has}.")
        for name, value in changes.items():
            where, _, parameter = name.rpartition(".")
            new[where][parameter] = read_like(known.get(name), value)
            if name in known and not is_like(known[name], new[where][parameter]):
                faults.append(f"{name} is {known[name]!r} by default and cannot be {value!r}.")
        stages = list(self.stages)
        for number, stage in enumerate(self.stages if not faults else ()):
            try:
                changed = {**stage.parameters, **new[stage.name]}
                stages[number] = replace(stage, parameters=changed)
            except ReelbenchError as error:
                faults.append(str(error))
        if faults:
            raise ReelbenchError("\n".join(faults))
        read = {**self.source_parameters, **new[SOURCES]}
        return replace(self, stages=tuple(stages), source_parameters=read)


def _check_names(recipe: Recipe) -> None:
    names = [stage.name for stage in recipe.stages]
    if not names:
        raise ReelbenchError(f"The recipe {recipe.name} has no stages.")
    if SOURCES in names:
        raise ReelbenchError(
            f"A stage of {recipe.name} is called {SOURCES}, which --set uses for the parameters of "
            "the sources: give it another name."
        )
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ReelbenchError(
            f"The recipe {recipe.name} has more than one stage called {' and '.join(twice)}: "
            "give each a name of its own with name=."
        )


def _check_flow(recipe: Recipe) -> None:
    """Refuse a list of stages that cannot follow each other."""
    for before, after in pairwise(recipe.stages):
        if before.output is not after.input:
            raise ReelbenchError(
                f"The recipe {recipe.name} cannot go on from {before.name}, whose output is "
                f"{before.output.__name__}, to {after.name}, whose input is "
                f"{after.input.__name__}."
            )
    if recipe.stages[-1].output is not Item:
        raise ReelbenchError(
            f"The recipe {recipe.name} must end with a stage whose output is Item; that of "
            f"{recipe.stages[-1].name} is {recipe.stages[-1].output.__name__}."
        )


def _check_flags(recipe: Recipe) -> None:
    for flag in recipe.flags:
        if absent := [name for name in flag.sets if name not in recipe.parameters]:
            raise ReelbenchError(
                f"The flag --{flag.name} of the recipe {recipe.name} sets {' and '.join(absent)}, "
                "which is not one of its parameters."
            )


def _check_roles(recipe: Recipe) -> None:
    for name, role in recipe.roles.items():
        seen = {name}
        while role.stands_in and role.stands_in not in seen and role.stands_in in recipe.roles:
            seen.add(role.stands_in)
            role = recipe.roles[role.stands_in]
        if role.stands_in:
            raise ReelbenchError(
                f"In the recipe {recipe.name}, no model can stand in for the role {name}: "
                f"stands_in={role.stands_in!r} is not a role, or leads back to it."
            )
    asked = {role for stage in recipe.stages for role in (*stage.roles, *stage.may_ask)}
    unknown = asked - set(recipe.roles)
    if unknown:
        raise ReelbenchError(
            f"The recipe {recipe.name} has stages with the roles {', '.join(sorted(unknown))}: add "
            "these to the roles of the recipe."
        )
