"""Models that describe, sort and ask as they are told, and labels of people by hand."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from parts import Studio, recipe_of
from servers import Reply, Server, completion
from videos import make_video

from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.prompts import load_prompts
from reelbench.make.pipeline.run import Pipeline, StageResult
from reelbench.make.pipeline.stage import Rejected, Stage
from reelbench.make.pipeline.store import RowResult
from reelbench.recipes.humanvbench.clip_facts import ClipFacts
from reelbench.recipes.humanvbench.recipe import RECIPE
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.recipes.humanvbench.select import LEAST_CONFIDENCE, RULES
from reelbench.recipes.humanvbench.tasks import HOME, TASKS, TaskLabels

MODELS = {"captioner": ["seer"], "checker": ["referee"], "writer": ["pen"]}
LOOKS = "A woman with a red scarf."
FACE = "She smiles, and then frowns."
Labels = dict[str, Any]


def stage(name: str) -> Stage:
    return next(each for each in RECIPE.stages if each.name == name)


def candidate(task: str, name: str = "c", **fields: Any) -> Candidate:
    """A candidate as it is after its videos are rendered."""
    plain = {"seconds": 8.0, "target": "p1", "video": "v.mp4", "boxed": "boxed.mp4"}
    return Candidate(
        id=f"{task}-{name}",
        task=task,
        clip="clip.mp4",
        sha256="0",
        source="a.mp4",
        **(plain | fields),
    )


def track(seconds: float, height: float = 100.0, rate: float = 5.0) -> Labels:
    times = [step / rate for step in range(round(seconds * rate) + 1)]
    boxes = [{"time": time, "box": [10, 10, 90, 10 + height]} for time in times]
    return {"start": 0.0, "end": seconds, "boxes": boxes}


def labels(*tracks: Labels, **more: Any) -> Labels:
    """The labels of a clip of people, one for each track."""
    people = [
        {"id": f"p{n}", "tracks": [each], "confidence": 0.9} for n, each in enumerate(tracks, 1)
    ]
    return {
        "format": {"width": 1280, "height": 720},
        "tracks": {"people": people},
        "count": {"people": len(tracks), "guess": len(tracks), "confidence": 0.8},
        "appearance": {"people": [{"id": "p1", "text": LOOKS}]},
        "expression": {"people": [{"id": "p1", "text": FACE}]},
        **more,
    }


def selected(
    task: str, found: Labels, seconds: float = 8.0, **fields: Any
) -> list[Candidate] | str:
    """What the rule of a task selects, or the reason why it selects nothing."""
    row = Candidate(f"{task}-c", task, "clip.mp4", "0", "a.mp4", seconds, **fields)
    clip = ClipFacts(row, TaskLabels(TASKS[task], found, row.subject))
    try:
        numbers = {k: v for k, v in TASKS[task].numbers.items() if k != LEAST_CONFIDENCE}
        return RULES[task](clip, **numbers)
    except Rejected as why:
        return why.reason


def targets(chosen: list[Candidate] | str) -> list[str] | str:
    return chosen if isinstance(chosen, str) else [each.target for each in chosen]


class Models:
    """Models that reply by what they are asked, and what they were asked."""

    def __init__(self, **replies: Any) -> None:
        self.replies = replies  # by model: JSON, or several in turn
        self.asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, body: Mapping[str, Any], _number: int) -> Reply:
        name = body["model"]
        given = self.replies[name]
        turns = given if isinstance(given, list) else [given]
        with self._lock:
            reply = turns[min(self.asked[name], len(turns) - 1)]
            self.asked[name] += 1
        return completion(reply(body) if callable(reply) else json.dumps(reply))


def take(
    folder: Path, models: Callable[..., Reply], rows: Sequence[Candidate], *names: str
) -> tuple[list[Any], Server, list[str]]:
    """Take candidates through stages; return each last outcome, the server and the notes."""
    for name in ("v.mp4", "boxed.mp4", "lettered.mp4"):
        make_video(folder / name, seconds=1 + len(name) / 10, rate=5)
    studio = Studio(folder, models, MODELS, prompts=load_prompts(HOME, None, None))

    async def through(ctx: StageContext) -> Any:
        ctx.clip_labels["clip.mp4"] = labels(track(8))
        passed = await Pipeline(recipe_of(*map(stage, names)), ctx, ctx.store).take(rows)
        return passed[-1], list(ctx.notes)

    (passed, notes), server = studio.with_context(through)
    return outcomes(passed), server, notes


def outcomes(passed: StageResult) -> list[Any]:
    return [
        (each.rejected or list(each.rows)) if isinstance(each, RowResult) else each
        for each in passed.results
    ]


def text_of(body: Mapping[str, Any]) -> str:
    return str(body["messages"][0]["content"][-1]["text"])


ACTIONS = {"Action_Change": True, "Action_Sequence": "She sits, then waves."}
CAUSES = {"causal_events_exist": True, "causal_events_description": "A dog barks, so she runs."}


TOLD = {"appearance": LOOKS, "caption": "The person is on the left.", "models": {"captioner": "seer"}}  # fmt: skip


def captioned(task: str, name: str = "c", caption: str = FACE, **texts: Any) -> Candidate:
    return candidate(
        task,
        name,
        texts={
            "appearance": LOOKS,
            "caption": caption,
            "models": {"captioner": "seer"},
            **texts,
        },
    )
