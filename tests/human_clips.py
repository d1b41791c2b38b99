"""Clips of people as labels made by hand, and the stages of HumanVBench over them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from parts import Studio, recipe_of

from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.stage import Rejected, Stage
from reelbench.make.pipeline.store import RowResult
from reelbench.recipes.humanvbench.clip_facts import ClipFacts
from reelbench.recipes.humanvbench.recipe import RECIPE
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.recipes.humanvbench.select import RULES
from reelbench.recipes.humanvbench.tasks import TASKS, TaskLabels

RATE = 8.0  # boxes a second
WIDTH, HEIGHT = 1280, 720
Labels = dict[str, Any]


def seen(start: float, end: float, left: float = 600, going_to: float | None = None) -> Labels:
    """A track: a face of 100 pixels that stays, or goes from one place to another."""
    times = [start + step / RATE for step in range(round((end - start) * RATE) + 1)]
    last = left if going_to is None else going_to
    boxes = []
    for time in times:
        x = left + (last - left) * (time - start) / max(end - start, 1e-9)
        boxes.append({"time": time, "box": [x, 100, x + 100, 220], "score": 0.9})
    return {"shot": 0, "start": start, "end": end, "boxes": boxes}


def a_clip(
    seconds: float = 10.0,
    people: int = 2,
    *,
    speaks: Sequence[bool | None] = (True, False),
    looks: Sequence[str] = ("male", "female"),
    voices: Sequence[str] = ("male",),
    **more: Any,
) -> Labels:
    """Labels of a clip in which all are there throughout; ``more`` replaces labels as a whole."""
    ids = [f"p{number}" for number in range(1, people + 1)]
    spoken = [*speaks, *[False] * people][:people]
    kinds = [*looks, *["female"] * people][:people]
    tracks = [seen(0, seconds, left=100 + 150 * n) for n in range(people)]
    labels: Labels = {
        "format": {"width": WIDTH, "height": HEIGHT, "seconds": seconds},
        "tracks": {"people": [
            {"id": who, "tracks": [track], "confidence": 0.99}
            for who, track in zip(ids, tracks, strict=True)
        ]},
        "count": {"people": people, "guess": people, "confidence": 0.98, "most_at_once": people},
        "demographics": {"people": [
            demographic(who, kind) for who, kind in zip(ids, kinds, strict=True)
        ]},
        "voice_demographics": {"speakers": [
            demographic(f"s{n}", kind) for n, kind in enumerate(voices, 1)
        ]},
        "sound": {
            "spans": [{"start": 0.0, "end": seconds, "kind": "speech", "score": 0.99}],
            "shares": {"speech": 1.0},
        },
        "speaker": {"people": [
            {"id": who, "speaks": value, "guess": bool(value), "confidence": 0.97, "spans": []}
            for who, value in zip(ids, spoken, strict=True)
        ]},
        "transcript": {"text": "It rained all night long and then it stopped.", "confidence": 0.95},
        "language": {"spoken": "en", "written": None, "confidence": {"spoken": 1.0}},
    }  # fmt: skip
    return {**labels, **more}


def demographic(who: str, kind: str) -> Labels:
    """A face or a voice of a male, a female, a child, or of nobody knows whom."""
    age = {"child": "child", "unknown": None}.get(kind, "adult")
    gender = None if kind in ("child", "unknown") else kind
    return {
        "id": who,
        "gender": gender,
        "age_group": age,
        "confidence": {"gender": 0.96, "age_group": 0.94},
    }


def candidate(task: str, name: str = "c", seconds: float = 10.0, **fields: Any) -> Candidate:
    return Candidate(
        id=f"{task}-{name}",
        task=task,
        clip=f"make/clips/{name}.mp4",
        sha256=name,
        source=f"{name}.mp4",
        seconds=seconds,
        **fields,
    )


def stage(name: str, **parameters: Any) -> Stage:
    """A stage of the recipe, with other parameters where some are given."""
    made = next(each for each in RECIPE.stages if each.name == name)
    return replace(made, parameters={**made.parameters, **parameters})


def take(
    folder: Path, rows: Sequence[Any], labels: Mapping[str, Labels], *stages: Stage
) -> list[Any]:
    """Take rows through stages over labels by clip; return the last outcomes, row by row."""

    async def through(ctx: StageContext) -> list[Any]:
        for name, found in labels.items():
            ctx.clip_labels[f"make/clips/{name}.mp4"] = dict(found)
        return await Pipeline(recipe_of(*stages), ctx, ctx.store).take(rows)

    passed, _ = Studio(folder).with_context(through)
    return [_outcome(result) for result in passed[-1].results]


def _outcome(result: Any) -> Any:
    """The rows that came out, or why there are none."""
    if isinstance(result, RowResult):
        return result.rejected or list(result.rows)
    return result


def selected(task: str, labels: Labels, subject: str = "person", **numbers: Any) -> Any:
    """What the rule of a task makes of a clip: candidates, or why there are none."""
    row = candidate(task, seconds=labels["format"]["seconds"], subject=subject)
    clip = ClipFacts(row, TaskLabels(TASKS[task], labels, subject))
    limits = {**TASKS[task].numbers, **numbers}
    limits.pop("least_confidence", None)  # which the stage looks at, for all tasks alike
    try:
        return RULES[task](clip, **limits)
    except Rejected as why:
        return why


def reason(outcome: Any) -> str:
    """Why a clip is rejected; empty where it is not."""
    return outcome.reason if isinstance(outcome, Rejected) else ""
