"""Recipes: how sources become a benchmark. The list is data; each is imported when used."""

import importlib.util
from importlib import import_module
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.make.pipeline.stage import Recipe

RECIPES = {
    "cineaste": "questions about films that need the whole story",
    "filters": "what is left of any benchmark without shortcuts, repeats and errors",
    "qbench-video": "questions about video quality, from videos with scores that people gave",
    "qbench-exact": "questions about video quality whose answers are facts, from your own clips",
    "qbench-published": "Q-Bench-Video's own files, or questions that you wrote like them",
}


def load_recipe(name: str) -> Recipe:
    """Return a recipe of ours by its name, or a user's own by the path of its Python file."""
    if name.replace("_", "-") in RECIPES:
        module = name.replace("-", "_")
        recipe: Recipe = import_module(f"reelbench.recipes.{module}.recipe").RECIPE
        return recipe
    path = Path(name)
    if path.suffix == ".py" and path.is_file():
        return _own(path)
    known = "".join(f"\n  {each}: {text}" for each, text in RECIPES.items())
    raise ReelbenchError(
        f"There is no recipe {name!r}; name one of these, or a Python file with a RECIPE:{known}"
    )


def _own(path: Path) -> Recipe:
    spec = importlib.util.spec_from_file_location("reelbench_own_recipe", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    recipe = getattr(module, "RECIPE", None)
    if not isinstance(recipe, Recipe):
        raise ReelbenchError(f"{path} holds no RECIPE, a reelbench.make.pipeline.stage.Recipe.")
    return recipe
