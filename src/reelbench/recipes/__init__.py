"""Recipes: how sources become a benchmark. The list is data; each is imported when used."""

from importlib import import_module

from reelbench.base.errors import ReelbenchError
from reelbench.base.extensions import load_from_file, load_registered, registered, split_file
from reelbench.make.pipeline.stage import Recipe

__all__ = ["RECIPES", "load_recipe"]

RECIPES = {
    "demo": "questions about shapes that move, meet and change; it needs no sources",
    "cineaste": "questions about films that need the whole story",
    "humanvbench-published": "HumanVBench's own rows, as they are published",
    "filters": "what is left of any benchmark without shortcuts, repeats and errors",
    "humanvbench": "sixteen kinds of questions about people in videos, each by its own rule",
    "mmou": "questions that need pictures and sound, with ten options and without",
    "mmou-published": "MMOU's own rows, as they are published",
    "musebench": "why films, pictures, stages and games look as they do, from video essays",
    "qbench-video": "questions about video quality, from videos with scores that people gave",
    "qbench-exact": "questions about video quality whose answers are facts, from your own clips",
    "qbench-published": "Q-Bench-Video's own files, or questions that you wrote like them",
}

GROUP = "reelbench.recipes"  # of entry points, by which packages add recipes


def load_recipe(name: str) -> Recipe:
    """Return a recipe of ours by its name, a user's own as FILE.py, or one of a package."""
    if name.replace("_", "-") in RECIPES:
        module = name.replace("-", "_")
        recipe: Recipe = import_module(f"reelbench.recipes.{module}.recipe").RECIPE
        return recipe
    if own := split_file(name):
        path, attribute = own
        return _checked(load_from_file(path, attribute or "RECIPE", _is_recipe, "a Recipe"), name)
    others = registered(GROUP)
    if name in others:
        return _checked(load_registered(others[name]), name)
    known = "".join(f"\n  {each}: {description}" for each, description in RECIPES.items())
    known += "".join(f"\n  {each}: {point.value}" for each, point in others.items())
    raise ReelbenchError(
        f"There is no recipe {name!r}; name one of these, or a Python file with a RECIPE:{known}"
    )


def _is_recipe(value: object) -> bool:
    return isinstance(value, Recipe)


def _checked(recipe: object, name: str) -> Recipe:
    if not isinstance(recipe, Recipe):
        raise ReelbenchError(f"{name} is not a recipe: it must be a Recipe of reelbench.make.")
    return recipe
