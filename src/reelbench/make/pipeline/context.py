"""What a stage is handed: models by their roles, prompts, and the folders it reads and writes."""

import asyncio
import copy
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from reelbench.annotate.operator import Value
from reelbench.base.errors import ReelbenchError
from reelbench.client.client import Client
from reelbench.client.media_input import MediaInput
from reelbench.client.structured import Check, Structured, ask_json
from reelbench.data.items import Item
from reelbench.engine.local import LocalEngine
from reelbench.make.pipeline.prompts import Prompts
from reelbench.make.pipeline.roles import RoleModels
from reelbench.make.pipeline.stage import Rejected, Stage, Undecided
from reelbench.make.pipeline.store import RowStore
from reelbench.models.base import ChatModel, Response, token_limit
from reelbench.models.secrets import redacted

if TYPE_CHECKING:
    from reelbench.engine.base import Engine
    from reelbench.make.parts.rules import RuleSet
    from reelbench.make.pipeline.run import StageResult

Result = TypeVar("Result")
_ROUND = 1_000  # requests that a stage may repeat within a round, see `derived`


class StageContext:
    """What stages are handed: models by role, prompts, labels, folders, the engine and the seed."""

    def __init__(
        self,
        source: Path,
        out: Path,
        store: RowStore,
        client: Client,
        role_models: RoleModels,
        prompts: Prompts,
        seed: int,
    ) -> None:
        self.source, self.out, self.store, self.seed = source, out, store, seed
        self.client, self.models, self.prompts = client, role_models, prompts
        self.sources: tuple[Path, ...] = (source,)  # all that were named
        self.media = out  # where the videos of items are
        self.engine: Callable[[], Engine] = LocalEngine  # where operators run
        self.clip_labels: dict[str, dict[str, Value]] = {}  # by clip, as `label` found them
        self.labelled: dict[str, set[str]] = defaultdict(set)  # those without a value too
        self.stage = ""  # the name of the one at work
        self.at_work: Stage | None = None  # it may use only what it declares
        self.stages: tuple[Stage, ...] = ()  # all that the rows go through
        self.passed: Sequence[StageResult] = ()  # what came of those before, rejects included
        self.is_forecast = False  # then replies are made up, and nothing is written or fetched
        self.imagined: set[str] = set()  # in a forecast: ids of rows whose words are made up
        # Of each stage: replies that came as JSON, and calls that they took.
        self.replies: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self.notes: list[str] = []  # shown to the user as warnings when the make ends
        # Shown on the page of the make: ``title``, ``columns`` and ``rows``.
        self.tables: list[Mapping[str, Any]] = []
        self.round = 0  # of work in rounds, in which the same is asked anew

    def derived(self, *, rules: "RuleSet | None" = None, round: int = 0) -> Self:
        """Return a context like this one, with other rules, that asks for new replies each round.

        Rows that go through stages in a round of their own have results of their own.
        """
        other = copy.copy(self)
        other.round = round
        if rules is not None:
            other.prompts = replace(self.prompts, rules=rules)
        return other

    def kept(self, digest: str) -> str:
        """Return the text that an earlier stage stored under a digest with ``store.keep``."""
        text = self.store.kept(digest)
        assert text is not None, f"no stage kept {digest}"
        return text

    def labels(self, row: Any) -> Mapping[str, Value]:
        """Return the labels of a row's clip by name, without those that have no value.

        A stage lists the labels it reads in ``labels``; reading any other raises an error.
        """
        clip = clip_of(row)
        found = self.clip_labels.get(clip, {})
        if self.at_work is None:
            return found
        return DeclaredLabels(self.at_work, found, partial(self.no_label, clip))

    def no_label(self, _clip: str, name: str) -> Exception:
        """Return the exception to raise where a clip has no value for a declared label."""
        return KeyError(name)

    def model(self, role: str) -> ChatModel:
        """Return the model of a role that has exactly one."""
        self._check_role(role)
        (model,) = self.models[role]
        return model

    def _check_role(self, role: str) -> None:
        at_work = self.at_work
        if at_work is not None and role not in (*at_work.roles, *at_work.may_ask):
            raise ReelbenchError(
                f"The stage {at_work.name} asks the role {role}, which it does not declare: "
                f'write roles=("{role}",) in the stage, and add {role} to the recipe\'s roles.'
            )

    async def text(
        self,
        role: str,
        prompt: str,
        media: MediaInput | None = None,
        *,
        round: int = 0,
        model: ChatModel | None = None,
    ) -> str:
        """Return the text that the model of a role replies to a prompt.

        Of ``media`` it is shown what it can take in. ``round`` distinguishes repeated requests with
        the same prompt; ``model`` selects one of a role that has several. A refusal raises
        ``Rejected``, a failed or truncated reply ``Undecided``.
        """
        self._check_role(role)
        model = model or self.model(role)
        response = await self.client.ask_prompt(
            model,
            prompt,
            _for(model, media),
            round=self._number(round),
            draw=(self.seed, ""),
        )
        if response.status == "truncated":  # half a text is none to go on with
            raise Undecided("truncated", f"{response.error}: raise {token_limit(model)}")
        return _text_of(response).strip()

    async def json(
        self,
        role: str,
        prompt: str,
        schema: Mapping[str, Any],
        *,
        media: MediaInput | None = None,
        round: int = 0,
        check: Check = lambda _: "",
        model: ChatModel | None = None,
    ) -> Structured:
        """Return a model's reply to a prompt as JSON that fits a schema.

        ``check`` returns what is wrong with data that fits the schema, or an empty string; the
        reply is then sent back once for repair. The result has ``data``, or None and why in
        ``failure``. The other arguments are those of ``text``.
        """
        self._check_role(role)
        model = model or self.model(role)
        shown = _for(model, media)
        result = await ask_json(
            self.client,
            model,
            prompt,
            schema,
            role,
            self._number(round),
            media=shown,
            check=check,
        )
        if result.status == "ok":
            self.replies[self.stage][0] += 1
            self.replies[self.stage][1] += result.calls
        if result.status == "truncated":
            raise Undecided("truncated", f"{result.failure}: raise {token_limit(model)}")
        if result.status != "ok":
            _text_of(Response(result.status, error=result.failure))
        return result

    async def choice(
        self,
        model: ChatModel,
        item: Item,
        order: Sequence[int],
        prompt: str,
        round: int = 0,
        media: MediaInput | None = None,
        repeated: bool = False,
    ) -> Response:
        """Return a model's response to a closed question, its options shown in the given order.

        ``repeated`` is whether it is asked in several rounds: then each has a seed of its own.
        """
        response = await self.client.ask_prompt(
            model,
            prompt,
            _for(model, media),
            question=item.question,
            kind=item.kind,
            options=tuple(item.options[place] for place in order),
            round=self._number(round),
            draw=(self.seed, item.id),
            repeated=repeated,
        )
        _text_of(response)
        return response

    def _number(self, round: int) -> int:
        return self.round * _ROUND + round


class DeclaredLabels(Mapping[str, Value]):
    """The labels of a clip that a stage declares; reading any other raises an error.

    A stage is not done again for changes of labels that it does not declare.
    """

    def __init__(
        self, stage: Stage, found: Mapping[str, Value], no_label: Callable[[str], Exception]
    ) -> None:
        self._stage, self._no_label = stage, no_label
        self._found = {name: found[name] for name in stage.labels if name in found}
        if not stage.labels:
            raise self._undeclared(*(found or ["LABEL"]))

    def __getitem__(self, name: str) -> Value:
        if name not in self._stage.labels:
            raise self._undeclared(name)
        if name not in self._found:
            raise self._no_label(name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def _undeclared(self, *names: str) -> ReelbenchError:
        quoted = "".join(f'"{name}", ' for name in names).rstrip(" ")
        return ReelbenchError(
            f"The stage {self._stage.name} reads labels that it does not declare: write "
            f"labels=({quoted}) in the stage, which is then done again when they change."
        )


def _for(model: ChatModel, media: MediaInput | None) -> MediaInput | None:
    """Return what of some media a model can take in; None where that is nothing."""
    return media.for_card(model.card) or None if media else None


def _text_of(response: Response) -> str:
    """Return the reply's text; raise ``Rejected`` for a refusal, ``Undecided`` for a failure."""
    if response.replied:
        return response.text or ""
    error = redacted(response.error or response.status)
    if response.status == "refused":
        raise Rejected("refused", error, [response.text or error])
    raise Undecided(response.status, error)


def clip_of(row: Any) -> str:
    """Return the path of the clip that a row is about: an item's first medium, or its ``clip``."""
    if isinstance(row, Item):
        return row.media[0].path
    return str(getattr(row, "clip", ""))


async def together(work: Sequence[Awaitable[Result]]) -> list[Result]:
    """Return all results in order; every call is waited for before the first failure is raised."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
