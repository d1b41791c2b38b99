"""The demo's recipe: compose scenes, render them, and ask what their truth answers.

Every answer is a fact that the renderer obeyed, so a model's error is the model's. The places of
the keys, the ranks of right numbers and times, and yes against no are dealt evenly.
"""

import fcntl
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import sweep_partial_files
from reelbench.base.progress import progress
from reelbench.base.seeds import rng_for
from reelbench.base.workers import each_in_a_process
from reelbench.data.benchmark import ITEMS_FILE, MANIFEST_FILE, Benchmark
from reelbench.data.items import LETTERS, Item, Media, freeze
from reelbench.data.manifest import Manifest, Protocol, read_manifest
from reelbench.make.parts.balance import Dealer
from reelbench.recipes.demo.questions import BUILDERS, SceneQuestion
from reelbench.world.compose import compose
from reelbench.world.render import is_synthesized, synthesize
from reelbench.world.scene import Scene

NAME = "reelbench-demo"
QUESTIONS_PER_VIDEO = 9
QUESTIONS: dict[str, dict[str, Any]] = yaml.safe_load(
    files(__package__).joinpath("questions.yaml").read_text()
)


def make_demo(root: Path, videos: int = 24, seed: int = 0) -> Benchmark:
    """Make the demo benchmark in a folder; what is there already is not made again."""
    root.mkdir(parents=True, exist_ok=True)
    with _alone_in(root):
        _refuse_to_overwrite(root, seed)
        scenes = [compose(seed, f"scene-{number:02d}") for number in range(1, videos + 1)]
        _render_all(root, scenes)
        items = tuple(_items(seed, scenes))
        manifest = Manifest(
            name=NAME,
            version=_version(seed),
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
        benchmark = Benchmark(root, manifest, items)
        benchmark.save(root)
    return benchmark


def _version(seed: int) -> str:
    return f"1.{seed}"


@contextmanager
def _alone_in(root: Path) -> Iterator[None]:
    """Keep a second demo out of the folder; the lock ends with this process, however it ends."""
    with (root / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ReelbenchError(
                f"Another demo is being made in {root}: wait for it, or name another folder."
            ) from None
        yield


def _refuse_to_overwrite(root: Path, seed: int) -> None:
    """Leave a folder alone that holds anything but an earlier demo of the same seed."""
    if not (root / ITEMS_FILE).exists():
        return
    manifest, _ = read_manifest(root / MANIFEST_FILE)
    if manifest is None or manifest.name != NAME or manifest.version != _version(seed):
        raise ReelbenchError(
            f"{root} holds another benchmark, or a demo of another seed: name another folder for "
            "this one with --out."
        )


def _render_all(root: Path, scenes: Sequence[Scene]) -> None:
    media, truth = root / "media", root / "truth"
    media.mkdir(exist_ok=True)
    truth.mkdir(exist_ok=True)
    wanted = {scene.name for scene in scenes}
    for file in truth.glob("scene-*.json"):
        if file.stem not in wanted:  # of a demo that had more videos
            (media / f"{file.stem}.mp4").unlink(missing_ok=True)
            file.unlink()
    jobs = [(scene, root / _video(scene), root / _truth(scene)) for scene in scenes]
    missing = [job for job in jobs if not is_synthesized(*job)]
    try:
        with progress("Rendering videos", len(missing), "videos") as advance:
            for _ in each_in_a_process(synthesize, missing, limit=300):
                advance()
    finally:
        for folder in (media, truth):
            sweep_partial_files(folder)  # of this demo, stopped, or of one that was killed


def _video(scene: Scene) -> str:
    return f"media/{scene.name}.mp4"


def _truth(scene: Scene) -> str:
    return f"truth/{scene.name}.json"


def _items(seed: int, scenes: Sequence[Scene]) -> Iterator[Item]:
    """Ask each scene a few of the questions it can answer."""
    dealer = Dealer(seed)
    asked: Counter[str] = Counter()
    number = 0
    for scene in scenes:
        names = list(BUILDERS)
        rng_for(seed, "choice of questions", scene.name).shuffle(names)
        last = number + QUESTIONS_PER_VIDEO
        for name in names:
            if number == last:
                break
            # As many with yes as with no; half of the questions begin with no.
            yes = (asked[name] + list(BUILDERS).index(name)) % 2 == 0
            draft = BUILDERS[name](scene, rng_for(seed, name, scene.name), yes)
            item = draft and _item(seed, scene, name, draft, dealer, f"demo-{number + 1:03d}")
            if item:
                number += 1
                asked[name] += 1
                yield item


def _item(
    seed: int, scene: Scene, name: str, draft: SceneQuestion, dealer: Dealer, item_id: str
) -> Item | None:
    question = QUESTIONS[name]
    wrong: Sequence[str] | None = draft.wrong
    if draft.ladder:
        wrong = dealer.neighbours(draft.ladder, draft.right[0], item_id)
    if wrong is None:
        return None
    options = [*draft.right, *wrong]
    rng_for(seed, "options", item_id).shuffle(options)
    if question["kind"] == "yesno":
        options = ["Yes", "No"]
    elif question["kind"] == "single":
        options.remove(draft.right[0])
        options.insert(dealer.place(len(options) + 1), draft.right[0])
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
