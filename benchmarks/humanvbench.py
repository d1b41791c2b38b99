"""How often the rules of HumanVBench's closed tasks are right, on scenes whose truth is known.

    python benchmarks/humanvbench.py [--faces FOLDER] [--out FOLDER] [--scale N] [--clips FOLDER]

Heads are cut out of the clips in --faces (default: ../shared/data/video) and pasted on walls; they
come and go, and their mouths open with the speech of espeak-ng (install it with apt install
espeak-ng). The scenes, about --scale x 25 of them, then go through the stages of the recipe up to
the selection, and what each rule selects is held against the truth. With --clips, what the rules
select of real clips is printed line by line, to be looked at. A scene takes about a minute of one
core; in --out everything is kept, and a second run does only what has changed.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from people_rendered.heads import Head, load_heads
from people_rendered.scenes import Scene, planned, render
from people_rendered.truth import SceneTruth, fits

from reelbench.client.client import Client
from reelbench.client.journal import open_journal
from reelbench.make.parts.source_videos import videos_in
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.prompts import load_prompts
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.store import RowResult, open_store
from reelbench.recipes.humanvbench.recipe import RECIPE
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.recipes.humanvbench.select import LEAST_CONFIDENCE
from reelbench.recipes.humanvbench.tasks import TASKS as SPECS
from reelbench.score.intervals import wilson

FACES = Path(__file__).parents[2] / "shared" / "data" / "video"
KINDS = {"panel": 8, "voice-over": 2, "both": 2, "alone": 4, "comes": 5, "crowd": 4}
TASKS = ("T2H", "HC", "ATD", "AVSM", "ASD", "AVAD", "SCM")
FACE_HEIGHT = 120.0  # pixels
LABELS = tuple(dict.fromkeys(name for task in TASKS for name in SPECS[task].labels))
# Heads sway by a few pixels, and clips of other people may be small.
SETTINGS: dict[str, dict[str, Any]] = {
    "suitable": {"least_width": 1, "least_height": 1},
    "human-centric": {"least_motion": 0.0},
    "candidates": {"tasks": list(TASKS)},
    # What the rules of these tasks read; how people look is for descriptions.
    "label": {"labels": [name for name in LABELS if name not in ("appearance", "bodies")]},
    # Whatever a rule would take; which of it is certain enough is counted apart.
    "select": {f"{task}_{LEAST_CONFIDENCE}": 0.0 for task in TASKS},
}


@dataclass
class Outcome:
    """What the rules made of one clip."""

    row: Candidate  # as it was before the selection
    selected: Sequence[Candidate]
    reason: str
    labels: dict[str, Any]


def main() -> None:
    """Render, label, select and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faces", type=Path, default=FACES, help="clips to cut heads out of")
    parser.add_argument("--out", type=Path, help="keep scenes and labels here")
    parser.add_argument("--scale", type=float, default=1.0, help="how many scenes, times 25")
    parser.add_argument("--clips", type=Path, help="real clips, to print what is said of them")
    options = parser.parse_args()
    with TemporaryDirectory() as temporary:
        out = options.out or Path(temporary)
        if options.clips:
            _print_real(outcomes_of(options.clips, out / "made-real"))
            return
        heads = load_heads(options.faces, FACE_HEIGHT)
        counts = {kind: max(1, round(number * options.scale)) for kind, number in KINDS.items()}
        scenes = planned(heads, 0, counts)
        _render_all(scenes, heads, out / "scenes")
        _print_rendered(scenes, heads, outcomes_of(out / "scenes", out / "made"))


def _render_all(scenes: Sequence[Scene], heads: Sequence[Head], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for scene in scenes:
        path = folder / f"{scene.name}.mp4"
        if not path.exists():
            with TemporaryDirectory() as temporary:
                render(scene, heads, path, Path(temporary))


def outcomes_of(source: Path, out: Path) -> list[Outcome]:
    """Take all videos of a folder through the recipe, up to the selection."""
    names = [stage.name for stage in RECIPE.stages]
    stages = tuple(
        replace(stage, parameters={**stage.parameters, **SETTINGS.get(stage.name, {})})
        for stage in RECIPE.stages[: names.index("select") + 1]
    )
    (out / "make").mkdir(parents=True, exist_ok=True)
    with open_journal(out / "journal.sqlite") as journal, open_store(out / "rows.sqlite") as store:
        ctx = StageContext(
            source, out, store, Client(journal), {}, load_prompts(None, None, None), 0
        )
        rows = videos_in(source).rows
        passed = asyncio.run(Pipeline(RECIPE.only(stages), ctx, ctx.store).take(rows))
        before, after = passed[-2].out, passed[-1].results
        return [_outcome(row, result, ctx) for row, result in zip(before, after, strict=True)]


def _outcome(row: Candidate, result: Any, ctx: StageContext) -> Outcome:
    labels = ctx.clip_labels[row.clip]
    if isinstance(result, RowResult) and result.rejected:
        return Outcome(row, (), result.rejected.reason, labels)
    return Outcome(row, getattr(result, "rows", ()), "", labels)


def _print_rendered(
    scenes: Sequence[Scene], heads: Sequence[Head], outcomes: Sequence[Outcome]
) -> None:
    by_name = {f"{scene.name}.mp4": scene for scene in scenes}
    known = [each for each in outcomes if each.row.source in by_name]
    print("| task | clips | fit | candidates | right | certain enough | right | share, 95 % |")
    print("|---|---|---|---|---|---|---|---|")
    wrong: list[str] = []
    for task in TASKS:
        asked = [each for each in known if each.row.task == task]
        fitting = sum(fits(by_name[each.row.source], heads, task) for each in asked)
        held: list[tuple[float, bool]] = []  # confidence, and whether the key is right
        for each in asked:
            truth = SceneTruth(by_name[each.row.source], heads, each.labels)
            for row in each.selected:
                held.append((row.confidence, truth.is_right(row)))
                wrong += [] if held[-1][1] else [f"{task} {row.source} {row.facts} {held[-1][0]}"]
        least = SPECS[task].numbers.get(LEAST_CONFIDENCE, 0.0)
        kept = [right for confidence, right in held if confidence >= least]
        before = f"{len(asked)} | {fitting} | {len(held)} | {sum(right for _, right in held)}"
        print(f"| {task} | {before} | {len(kept)} | {sum(kept)} | {_share(sum(kept), len(kept))} |")
    print("\nWhy others were left out:")
    for task in TASKS:
        reasons = Counter(each.reason for each in known if each.row.task == task and each.reason)
        print(f"  {task}: {', '.join(f'{why} {count}' for why, count in reasons.most_common())}")
    print("\nWrong:", *wrong, sep="\n  ")


def _share(right: int, made: int) -> str:
    if not made:
        return "-"
    low, high = wilson(right / made, made)
    return f"{right / made:.2f} ({low:.2f} to {high:.2f})"


def _print_real(outcomes: Sequence[Outcome]) -> None:
    for each in outcomes:
        for row in each.selected:
            found = {"key": row.key, "target": row.target, "people": row.people, **row.facts}
            print(row.task, row.source, f"{row.seconds:.1f} s", f"{row.confidence:.2f}", found)
        if not each.selected:
            print(each.row.task, each.row.source, "-", each.reason)


if __name__ == "__main__":
    main()
