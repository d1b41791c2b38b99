"""Models by the roles that they have in a recipe."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from reelbench.base.errors import ReelbenchError
from reelbench.make.pipeline.stage import Recipe, Role
from reelbench.models.base import ChatModel, is_greedy
from reelbench.models.load import Loader

RoleModels = Mapping[str, tuple[ChatModel, ...]]


def parse_roles(words: Sequence[str], recipe: Recipe) -> dict[str, list[str]]:
    """Return the models named by role in ``ROLE=MODEL`` words; an unknown role raises an error."""
    named: dict[str, list[str]] = defaultdict(list)
    for word in words:
        role, equals, model = word.partition("=")
        if not equals or role not in recipe.roles or not model:
            known = "".join(f"\n  {name}: {each.does}" for name, each in recipe.roles.items())
            raise ReelbenchError(
                f"--model {word!r} does not name a role of {recipe.name} and a model: write "
                "ROLE=MODEL, such as writer=openai:gpt-4o, with one of these roles:"
                f"{known or ' (it has none)'}"
            )
        named[role].append(model)
    for role, models in named.items():
        if len(models) > 1 and not recipe.roles[role].many:
            raise ReelbenchError(
                f"The role {role} takes one model, and --model names {len(models)}: "
                f"{', '.join(models)}."
            )
    return dict(named)


def load_models(
    recipe: Recipe, named: Mapping[str, Sequence[str]], may_serve: Iterable[str] | None = None
) -> RoleModels:
    """Load the models of all roles; one that is named twice is loaded once, with one rate limit.

    ``may_serve`` are the cards that may start a server; None for all.
    """
    loader = Loader(may_serve)
    role_models: dict[str, tuple[ChatModel, ...]] = {}
    for role, part in recipe.roles.items():
        names = named.get(role) or _standing_in(recipe.roles, part, named)
        if names:
            models = dict.fromkeys(loader.load(name) for name in names)
            if len(models) > 1 and not part.many:
                names = ", ".join(model.card.name for model in models)
                raise ReelbenchError(
                    f"The role {role} takes one model, and {names} could stand in for it: "
                    f"name one with --model {role}=NAME."
                )
            role_models[role] = tuple(models)
    _check_names(role_models)
    return role_models


def _standing_in(
    roles: Mapping[str, Role], part: Role, named: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    while part.stands_in:
        if part.stands_in in named:
            return named[part.stands_in]
        part = roles[part.stands_in]
    return ()


def _check_names(role_models: RoleModels) -> None:
    known: dict[str, ChatModel] = {}
    for model in (model for models in role_models.values() for model in models):
        if known.setdefault(model.card.name, model) is not model:
            raise ReelbenchError(
                f"Two models are called {model.card.name}: set another name in the card of one, so "
                "that their replies can be told apart."
            )


def missing_roles(recipe: Recipe, role_models: RoleModels) -> str:
    """Return a sentence about the roles that need a model and have none; empty where all have."""
    needed = {role for stage in recipe.stages if not stage.optional for role in stage.roles}
    lacking = [role for role in recipe.roles if role in needed and role not in role_models]
    lines = "".join(f"\n  --model {role}=...  {recipe.roles[role].does}" for role in lacking)
    return f"{recipe.name} needs a model for:{lines}" if lacking else ""


def repeated_roles(recipe: Recipe) -> set[str]:
    """Return the roles whose models answer the same question several times, by ``seeds``."""
    return {
        role
        for stage in recipe.stages
        if stage.parameters.get("seeds", 1) > 1
        for role in (*stage.roles, *stage.may_ask)
    }


def warnings_about(recipe: Recipe, role_models: RoleModels) -> Iterator[str]:
    """Yield warnings about models that are a poor choice for a role."""
    writers = {model for role in ("writer", "distractor") for model in role_models.get(role, ())}
    repeated = repeated_roles(recipe)
    for role, part in recipe.roles.items():
        for model in role_models.get(role, ()):
            if part.verifies and model in writers:
                yield (
                    f"{model.card.name} has the role {role} and checks what it wrote itself: a "
                    f"model tends to accept its own errors; name another with --model {role}=NAME"
                )
            if part.verifies and role in repeated and is_greedy(model):
                yield (
                    f"{model.card.name} has the role {role} at temperature 0: its repeated answers "
                    "differ only by the order of the options"
                )
