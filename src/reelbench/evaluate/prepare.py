"""From what is wanted to all there is to ask, before anything is asked."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.benchmark import Benchmark
from reelbench.errors import ReelbenchError
from reelbench.evaluate.ask import Ask, plan
from reelbench.evaluate.condition import Condition, conditions_for
from reelbench.evaluate.prompt import PromptSet, load_prompts
from reelbench.evaluate.rubric import Rubric, load_rubric
from reelbench.evaluate.show import subtitles_of
from reelbench.media.digests import media_digest
from reelbench.models.base import ChatModel
from reelbench.models.load import CARDS, load_model
from reelbench.progress import track


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user asks for, beside what an earlier run in the same folder has."""

    models: Sequence[str] = ()
    conditions: Sequence[str] = ()
    condition_file: Path | None = None
    judges: Sequence[str] = ()
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that a run needs to begin. Models and judges are named by where they come from."""

    models: Mapping[str, ChatModel]
    judges: Mapping[str, ChatModel]
    conditions: Mapping[Condition, PromptSet]
    rubrics: Mapping[str, Rubric]  # of the conditions, by name
    digests: Mapping[str, str | None]
    seed: int
    asks: Sequence[Ask]


def prepare(benchmark: Benchmark, wanted: Wanted, earlier: Mapping[str, Any]) -> Prepared:
    """Load models, conditions and prompts; raise a sentence for whatever is wrong with them."""
    kinds = {item.kind for item in benchmark.items}
    models = _loaded(wanted.models, earlier.get("models", ()), {})
    # Who also answers is the same as judge: its limits are for both.
    judges = _loaded(wanted.judges, earlier.get("judges", ()), models)
    if not models:
        raise ReelbenchError("No model to ask: name at least one, such as --model baseline:random.")
    conditions = conditions_for(
        benchmark.manifest,
        wanted.condition_file,
        wanted.conditions,
        earlier.get("conditions", ()),
    )
    prompts = {c: load_prompts(c.protocol.prompt, benchmark.root, kinds) for c in conditions}
    names = {condition.protocol.rubric for condition in conditions if "open" in kinds and judges}
    rubrics = {name: load_rubric(name, benchmark.root) for name in names}
    seed = earlier.get("seed", wanted.seed or 0)
    digests = _digests(benchmark, words=any(_reads(condition) for condition in conditions))
    asks = list(plan(benchmark, list(models.values()), prompts, digests, seed))
    return Prepared(models, judges, prompts, rubrics, digests, seed, asks)


def _reads(condition: Condition) -> bool:
    return condition.protocol.subtitles or "A" in condition.protocol.modalities


def _loaded(
    wanted: Sequence[str], earlier: Sequence[Mapping[str, Any]], known: Mapping[str, ChatModel]
) -> dict[str, ChatModel]:
    """Load models by where they come from: a name, or the path of a card."""
    sources = [model.get("from", model["name"]) for model in earlier]
    sources += [os.path.abspath(name) if name.endswith(CARDS) else name for name in wanted]
    models = {source: known.get(source) or load_model(source) for source in dict.fromkeys(sources)}
    names: dict[str, str] = {}
    for source, model in models.items():
        other = names.setdefault(model.card.name, source)
        if other != source:
            raise ReelbenchError(
                f"{other} and {source} are both called {model.card.name}: give each a name of its "
                "own, or nobody can tell their results apart."
            )
    return models


def _digests(benchmark: Benchmark, words: bool) -> dict[str, str | None]:
    """Hash each file once; one that cannot be read fails its own questions later, by name."""
    media = {media.path: media for item in benchmark.items for media in item.media}
    paths = set(media)
    if words:
        found = (subtitles_of(benchmark, medium) for medium in media.values())
        paths |= {path for path in found if path is not None}
    digests: dict[str, str | None] = {}
    for path in track(sorted(paths), "Hashing media", len(paths), "files"):
        file = benchmark.root / path
        try:
            # Not a pipe or a device, which would never end.
            digests[path] = media_digest(file) if file.is_file() else None
        except OSError:
            digests[path] = None
    return digests
