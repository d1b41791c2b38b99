"""From the options of a run to the plan of its questions, before anything is asked."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted, track
from reelbench.client.budget import Budget
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.captioners import shared_captioners
from reelbench.evaluate.condition import Condition, conditions_for
from reelbench.evaluate.item_media import subtitles_of
from reelbench.evaluate.judge import Judges
from reelbench.evaluate.plan import RunPlan
from reelbench.evaluate.prompt import PromptSet, load_prompts
from reelbench.evaluate.rubric import Rubric, load_rubric
from reelbench.media.digests import media_digest
from reelbench.models.base import ChatModel, is_greedy
from reelbench.models.cascade import Cascade, members_of
from reelbench.models.load import CARDS, Loader
from reelbench.models.servers import commands_of


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run, added to those of an earlier run in the same folder."""

    models: Sequence[str] = ()
    conditions: Sequence[str] = ()
    condition_file: Path | None = None
    judges: Sequence[str] = ()
    without: Sequence[str] = ()  # names of models, judges and conditions of it to drop
    seed: int | None = None
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that a run needs to begin; models and judges by name or path of their card."""

    models: Mapping[str, ChatModel]
    judges: Mapping[str, ChatModel]
    everyone: Sequence[ChatModel]  # the members of cascades among them
    budget: Budget
    warnings: Sequence[str]
    conditions: Mapping[Condition, PromptSet]
    rubrics: Mapping[str, Rubric]  # of the conditions, by name
    judging: Judges
    digests: Mapping[str, str | None]
    seed: int
    plan: RunPlan


def prepare(
    benchmark: Benchmark, wanted: RunOptions, earlier: Mapping[str, Any], out: Path
) -> Prepared:
    """Return the loaded models, conditions, prompts and questions; refuse what is wrong."""
    kinds = {item.kind for item in benchmark.items}
    kept = {
        part: [each for each in earlier.get(part, ()) if each["name"] not in wanted.without]
        for part in ("models", "judges", "conditions")
    }
    loader = Loader([*wanted.models, *wanted.judges])
    models = _loaded(loader, wanted.models, kept["models"], out)
    judges = _loaded(loader, wanted.judges, kept["judges"], out)
    everyone = list(members_of([*models.values(), *judges.values()]))
    _check(models, everyone)
    conditions = conditions_for(
        benchmark.manifest, wanted.condition_file, wanted.conditions, kept["conditions"]
    )
    prompts = {c: load_prompts(c.protocol.prompt, benchmark.root, kinds) for c in conditions}
    names = {condition.protocol.rubric for condition in conditions if "open" in kinds and judges}
    rubrics = {name: load_rubric(name, benchmark.root) for name in names}
    named = {c.name: rubrics[c.protocol.rubric] for c in conditions if rubrics}
    judging = Judges(list(judges.values()), named)
    seed = run_seed(wanted, earlier)
    budget = wanted.budget or Budget(**earlier.get("budget", {}))
    digests = _digests(benchmark, words=any(_reads(condition) for condition in conditions))
    plan = RunPlan(benchmark, list(models.values()), prompts, digests, seed)
    plan.check()
    cascades = {m.card.name: m for m in models.values() if isinstance(m, Cascade)}
    captioners = {name: [c.card.name for c in m.captioners] for name, m in cascades.items()}
    warnings = [
        *_warnings(models.values(), conditions),
        *_missing_media(benchmark, models.values(), conditions, digests),
        *_other_servers(everyone, earlier),
        *judging.warnings(),
        *_without_judge(benchmark, judges),
        *shared_captioners(benchmark.items, captioners),
    ]
    return Prepared(
        models, judges, everyone, budget, warnings, prompts, rubrics, judging, digests, seed, plan
    )


def _missing_media(
    benchmark: Benchmark,
    models: Collection[ChatModel],
    conditions: Sequence[Condition],
    digests: Mapping[str, str | None],
) -> Iterator[str]:
    """Yield a warning where models need media that are missing; raise where all of them are."""
    named = {medium.path for item in benchmark.items for medium in item.media}
    missing = sorted(p for p in named if digests[p] is None and not (benchmark.root / p).exists())
    shown = [c.protocol.modalities for c in conditions]
    needing = [
        model.card.name
        for model in models
        if all(("V" in s and model.card.sees) or ("A" in s and model.card.hears) for s in shown)
    ]
    if not missing or not needing:
        return
    what = (
        f"{len(missing):,} of {len(named):,} media files are missing (the first: "
        f"{benchmark.root / missing[0]}), and {', '.join(needing)} cannot answer without "
        "them"
    )
    put_there = f"put them below {benchmark.root}, or import again with --media FOLDER"
    if len(missing) == len(named) and len(needing) == len(models):
        raise ReelbenchError(f"{what}: {put_there}.")
    yield f"{what}, so that their questions fail: {put_there}"


def run_seed(wanted: RunOptions, earlier: Mapping[str, Any]) -> int:
    """Return the seed of a run: that of an earlier call, or the one that is given, or 0."""
    return int(earlier.get("seed", wanted.seed or 0))


def _without_judge(benchmark: Benchmark, judges: Mapping[str, ChatModel]) -> Iterator[str]:
    """Yield a warning where replies to open questions will have no grade."""
    count = sum(item.kind == "open" for item in benchmark.items)
    if count and not judges:
        yield (
            f"{counted(count, 'open item')}: no judge, so that replies are kept but not graded; "
            "add --judge NAME to this command, now or later: nothing is asked again"
        )


def _reads(condition: Condition) -> bool:
    return condition.protocol.subtitles or "A" in condition.protocol.modalities


def _loaded(
    loader: Loader, wanted: Sequence[str], earlier: Sequence[Mapping[str, Any]], out: Path
) -> dict[str, ChatModel]:
    """Load models by name, or by the path of a card as seen from the run."""
    sources = [model.get("from", model["name"]) for model in earlier]
    sources += [_seen_from(out, name) if name.endswith(CARDS) else name for name in wanted]
    return {
        source: loader.load(
            os.path.normpath(out.resolve() / source) if source.endswith(CARDS) else source
        )
        for source in dict.fromkeys(sources)
    }


def _seen_from(out: Path, card: str) -> str:
    """Return the path of a card as seen from the run, so that both can be moved together."""
    return os.path.relpath(Path(card).resolve(), out.resolve())


def _check(models: Mapping[str, ChatModel], everyone: Sequence[ChatModel]) -> None:
    if not models:
        raise ReelbenchError("No model to ask: name at least one, such as --model baseline:random.")
    named: dict[str, ChatModel] = {}
    for model in everyone:
        if named.setdefault(model.card.name, model) is not model:
            raise ReelbenchError(
                f"Two models are called {model.card.name}: give each a name of its own in its "
                "card, so that their results can be told apart."
            )


def _warnings(models: Iterable[ChatModel], conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield warnings about input that models do not take, and about rounds at temperature 0."""
    models = list(models)
    for card in (model.card for model in models if model.card.backend != "baseline"):
        blind = [c.name for c in conditions if "V" in c.protocol.modalities and not card.sees]
        if blind and not card.hears:
            yield (
                f"{card.name} takes no pictures, as its card has `sees: false`: under "
                f"{', '.join(blind)} it is asked with text alone"
            )
        heard = [c.name for c in conditions if "A" in c.protocol.modalities and not card.hears]
        if heard:
            yield (
                f"{card.name} does not hear, as its card has `hears: false`, which is the default: "
                f"under {', '.join(heard)} it reads subtitles instead, and what has sound but no "
                "subtitles fails. If it takes sound, write `hears: true`"
            )
    repeated = [condition.name for condition in conditions if condition.protocol.rounds > 1]
    for model in models if repeated else ():
        if is_greedy(model):
            yield (
                f"{model.card.name} is asked at temperature 0, so that the rounds of "
                f"{', '.join(repeated)} will be much the same: write parameters: "
                "{temperature: 1} in its card"
            )


def _other_servers(models: Iterable[ChatModel], earlier: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning for each model whose server was started by another command earlier."""
    recorded = earlier.get("servers")
    before = recorded if isinstance(recorded, dict) else {}
    for name, command in commands_of(models).items():
        if before.get(name, command) != command:
            yield (
                f"the server of {name} is started by another command than earlier in this "
                "run: its earlier replies are kept. If other weights or another precision answer "
                "now, give it another name in its card"
            )


def _digests(benchmark: Benchmark, words: bool) -> dict[str, str | None]:
    """Hash each file once; one that cannot be read fails its own questions later, by name."""
    media = {media for item in benchmark.items for media in item.media}
    paths = {medium.path for medium in media}
    if words:
        found = (subtitles_of(benchmark.root, medium) for medium in media)
        paths |= {path.relative_to(benchmark.root).as_posix() for path in found if path}
    digests: dict[str, str | None] = {}
    for path in track(sorted(paths), "Hashing media", len(paths), "files"):
        file = benchmark.root / path
        try:
            # Not a pipe or a device, which would never end.
            digests[path] = media_digest(file) if file.is_file() else None
        except OSError:
            digests[path] = None
    return digests
