"""The demo's recipe: compose scenes, render them, and ask questions that their truth answers.

It needs no sources. Every answer is a fact of the rendered scene. The positions of keys, the ranks
of right numbers and times, and yes against no are balanced.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import yaml

from reelbench.base.files import sweep_partial_files
from reelbench.base.seeds import rng_for
from reelbench.base.workers import cores
from reelbench.client.client import Stopped
from reelbench.data.benchmark import ITEMS_FILE, MANIFEST_FILE
from reelbench.data.items import LETTERS, Item, Media, freeze
from reelbench.data.manifest import Manifest, Protocol, read_manifest
from reelbench.data.sources import Sources
from reelbench.make.parts.balance import KeyPlacer
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.folder import read_make
from reelbench.make.pipeline.make import MakeOptions, MakeResult, make_benchmark
from reelbench.make.pipeline.stage import BatchStage, Flag, Recipe, RowStage, whole_number
from reelbench.media.decode.isolated import run_isolated
from reelbench.recipes.demo.questions import BUILDERS, SceneQuestion
from reelbench.world.compose import compose
from reelbench.world.render import RENDERER_VERSION, is_synthesized, synthesize
from reelbench.world.scene import Scene

NAME = "reelbench-demo"
VIDEOS, QUESTIONS_PER_VIDEO = 24, 9
_RENDERING = threading.Semaphore(cores())
QUESTIONS: dict[str, dict[str, Any]] = yaml.safe_load(
    files(__package__).joinpath("questions.yaml").read_text()
)


class PlannedScene(msgspec.Struct, frozen=True):
    """A scene to be made; its name and the seed decide all of it."""

    id: str


class RenderedScene(msgspec.Struct, frozen=True):
    """A scene whose video and truth file exist."""

    id: str


def planned_scenes(videos: int) -> Sources:
    """Return a planned scene for each video."""
    return Sources([PlannedScene(f"scene-{number:02d}") for number in range(1, videos + 1)])


async def render(planned: PlannedScene, ctx: StageContext) -> list[RenderedScene]:
    """Write the video of a scene and its truth, if they are not there yet."""
    (ctx.out / "media").mkdir(exist_ok=True)
    (ctx.out / "truth").mkdir(exist_ok=True)
    scene = compose(ctx.seed, planned.id)

    def write() -> None:
        with _RENDERING:  # not in line for a worker, where Ctrl-C would no longer stop it
            if ctx.client.stopping.is_set():
                raise Stopped
            if not is_synthesized(scene, *_files(ctx.out, scene)):
                video, truth = _files(ctx.out, scene)
                run_isolated(synthesize, video, scene, truth)

    await asyncio.to_thread(write)
    return [RenderedScene(scene.name)]


def is_rendered(rendered: RenderedScene, ctx: StageContext) -> bool:
    """Whether the files of a scene are still there, as they were made."""
    scene = compose(ctx.seed, rendered.id)
    return is_synthesized(scene, *_files(ctx.out, scene))


def ask(
    rendered: Sequence[RenderedScene], ctx: StageContext, *, questions: int
) -> list[list[Item]]:
    """Return some of the questions that each scene can answer; remove videos of other scenes."""
    scenes = [compose(ctx.seed, each.id) for each in rendered]
    _tidy(ctx.out, {scene.name for scene in scenes})
    return list(scene_items(ctx.seed, scenes, questions))


def _tidy(out: Path, wanted: set[str]) -> None:
    """Remove what an earlier demo left: videos that are too many, and files half written."""
    for truth in (out / "truth").glob("scene-*.json"):
        if truth.stem not in wanted:
            (out / "media" / f"{truth.stem}.mp4").unlink(missing_ok=True)
            truth.unlink()
    for folder in (out / "media", out / "truth"):
        if folder.exists():
            sweep_partial_files(folder)


def _files(out: Path, scene: Scene) -> tuple[Path, Path]:
    return out / _video(scene), out / _truth(scene)


def _video(scene: Scene) -> str:
    return f"media/{scene.name}.mp4"


def _truth(scene: Scene) -> str:
    return f"truth/{scene.name}.json"


def scene_items(seed: int, scenes: Sequence[Scene], questions: int) -> Iterator[list[Item]]:
    """Yield at most so many questions about each scene, with their keys balanced over all."""
    placer = KeyPlacer(seed)
    asked: Counter[str] = Counter()
    number = 0
    for scene in scenes:
        names = list(BUILDERS)
        rng_for(seed, "choice of questions", scene.name).shuffle(names)
        items: list[Item] = []
        for name in names:
            if len(items) == questions:
                break
            # As many with yes as with no; half of the questions begin with no.
            yes = (asked[name] + list(BUILDERS).index(name)) % 2 == 0
            draft = BUILDERS[name](scene, rng_for(seed, name, scene.name), yes)
            item = draft and _item(seed, scene, name, draft, placer, f"demo-{number + 1:03d}")
            if item:
                number += 1
                asked[name] += 1
                items.append(item)
        yield items


def _item(
    seed: int, scene: Scene, name: str, draft: SceneQuestion, placer: KeyPlacer, item_id: str
) -> Item | None:
    question = QUESTIONS[name]
    wrong: Sequence[str] | None = draft.wrong
    if draft.ladder:
        wrong = placer.neighbours(draft.ladder, draft.right[0], item_id)
    if wrong is None:
        return None
    options = [*draft.right, *wrong]
    rng_for(seed, "options", item_id).shuffle(options)
    if question["kind"] == "yesno":
        options = ["Yes", "No"]
    elif question["kind"] == "single":
        options.remove(draft.right[0])
        options.insert(placer.position(len(options) + 1), draft.right[0])
    return Item(
        id=item_id,
        kind=question["kind"],
        media=(Media(_video(scene)),),
        question=question["ask"].format(**draft.slots),
        options=tuple(options),
        answer=tuple(LETTERS[i] for i, text in enumerate(options) if text in draft.right),
        evidence=draft.evidence,
        tags=freeze({"category": question["category"], "senses": question["senses"]}),
        context=freeze({"truth": _truth(scene)}),
        provenance=freeze({"recipe": "demo", "question": name, "seed": seed}),
    )


def _manifest(items: Sequence[Item], _source: Path) -> Manifest:
    return Manifest(
        name=NAME,
        version=_version(items[0].provenance["seed"]),
        title="Shapes that move, meet and change: a video benchmark whose answers are facts",
        licence="Apache-2.0",
        taxonomy=freeze(
            {
                "category": sorted({item.tags["category"] for item in items}),
                "senses": ["sight", "hearing"],
            }
        ),
        protocol=Protocol(sampling="fps:2", timestamps=True),
    )


def _version(seed: int) -> str:
    return f"1.{seed}"


RECIPE = Recipe(
    name="demo",
    description="questions about shapes that move, meet and change, from nothing but a seed",
    sources=planned_scenes,
    needs_source=False,
    source_parameters={"videos": VIDEOS},
    stages=(
        RowStage(
            name="render",
            input=PlannedScene,
            output=RenderedScene,
            work=render,
            version=RENDERER_VERSION,
            writes=True,
            outputs_exist=is_rendered,
            estimate=lambda planned, _ctx: [RenderedScene(planned.id)],
        ),
        BatchStage(
            name="ask",
            input=RenderedScene,
            output=Item,
            work=ask,
            parameters={"questions": QUESTIONS_PER_VIDEO},
        ),
    ),
    roles={},
    manifest=_manifest,
    flags=(Flag("videos", "how many videos to make", ("sources.videos",), whole_number),),
)


def make_demo(root: Path, videos: int = VIDEOS, seed: int = 0) -> MakeResult:
    """Make the demo benchmark in a folder; what is there already is not made again."""
    if not read_make(root) and (root / ITEMS_FILE).exists():
        manifest, _ = read_manifest(root / MANIFEST_FILE)
        # Of a version that kept no record of its making: the same items are written again.
        if manifest and (manifest.name, manifest.version) == (NAME, _version(seed)):
            (root / ITEMS_FILE).unlink()
    options = MakeOptions(parameters={"sources.videos": videos}, seed=seed)
    return make_benchmark(RECIPE, root, options)
