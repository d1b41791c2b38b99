"""Which clips a task is asked about, and about whom: each task by its own rule (L.1, L.2)."""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import structs

from reelbench.annotate.common.coco import CLASSES
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.clip_facts import ClipFacts
from reelbench.recipes.humanvbench.rows import PERSON, Candidate, ShotClip
from reelbench.recipes.humanvbench.rules import behaviour, emotion, people, speech
from reelbench.recipes.humanvbench.tasks import TASKS, TaskLabels, numbers_of

# A rule is handed a clip and the task's numbers by name; it returns one candidate or several,
# or raises ``Rejected``.
Rule = Callable[..., list[Candidate]]
RULES: Mapping[str, Rule] = {**emotion.RULES, **people.RULES, **behaviour.RULES, **speech.RULES}
NEEDED = ("captioner", "writer", "answerer")  # roles that work before people do
ACTION_TASKS = {"AST", "TSA"}
LEAST_CONFIDENCE = "least_confidence"  # the number of a task below which its labels do not count
FOR_THINGS = ("H2T", "ATD", "BCA")  # 4.5: attributes, appearance intervals, causes


async def candidates(
    clip: ShotClip, _ctx: StageContext, *, tasks: Sequence[str], subject: str
) -> list[Candidate]:
    """Return a candidate of each task for a clip."""
    return [
        Candidate(
            id=f"{task}-{clip.id}",
            task=task,
            clip=clip.clip,
            sha256=clip.sha256,
            source=clip.source,
            seconds=clip.seconds,
            subject=subject,
        )
        for task in tasks_for(tasks, subject)
    ]


def task_names(word: str) -> list[str]:
    """Return the tasks that a word lists; raise ValueError for one that is none."""
    names = [name.strip().upper() for name in word.split(",") if name.strip()]
    if fault := _unknown_tasks(names):
        raise ValueError(fault)
    return names


def subject_name(word: str) -> str:
    """Return what a word names, if the detector finds such; raise ValueError if not."""
    name = word.strip().lower()
    if name in CLASSES:
        return name
    near = get_close_matches(name, CLASSES, n=3, cutoff=0.5)
    known = f"near it are {', '.join(near)}" if near else f"it knows {', '.join(CLASSES)}"
    raise ValueError(
        f"the detector finds no {word!r}; {known}. What only a detector of your own finds is named "
        f"by --set human-centric.subject={name} --set candidates.subject={name}"
    )


def tasks_fault(parameters: Mapping[str, Any]) -> str:
    """Return what is wrong with the tasks and the subject together; empty if nothing is."""
    tasks, subject = parameters["tasks"], parameters.get("subject", PERSON)
    if fault := _unknown_tasks(tasks):
        return f"tasks: {fault}"
    if tasks_for(tasks, subject):
        return ""
    fitting = ", ".join(FOR_THINGS)
    return f"tasks: none of {', '.join(tasks)} is asked about a {subject}; {fitting} are"


def _unknown_tasks(tasks: Sequence[str]) -> str:
    unknown = sorted(set(tasks) - set(TASKS))
    known = ", ".join(TASKS)
    return f"HumanVBench has no task {', '.join(unknown)}; it has {known}" if unknown else ""


def tasks_for(tasks: Sequence[str], subject: str) -> list[str]:
    """Return the tasks to make, all by default; for things other than people, those that fit."""
    wanted = set(tasks or TASKS)
    if ACTION_TASKS & wanted:  # one annotation serves both
        wanted = wanted - ACTION_TASKS | {"TSA"}
    known = [task for task in TASKS if task in RULES and task in wanted]
    return known if subject == PERSON else [task for task in known if task in FOR_THINGS]


async def select(
    row: Candidate, ctx: StageContext, *, least_confidence: float, **numbers: Any
) -> list[Candidate]:
    """Let through what the rule of the task selects, where its labels are certain enough."""
    clip = ClipFacts(row, TaskLabels(TASKS[row.task], ctx.labels(row), row.subject))
    limits = numbers_of(row.task, numbers)
    least = max(least_confidence, limits.pop(LEAST_CONFIDENCE, 0.0))
    chosen = RULES[row.task](clip, **limits)
    certain = [each for each in chosen if each.confidence >= least]
    if not certain:
        best = max(each.confidence for each in chosen)
        silent = "".join(
            f" The label {name} gives no confidence." for name in sorted(clip.without_confidence)
        )
        raise Rejected(
            "labels not certain enough",
            f"The confidence is {best:.2f}, below {least:g}.{silent}",
            facts={"confidence": best},
        )
    if len(chosen) == 1:
        return certain
    return [structs.replace(each, id=f"{each.id}-{each.target}") for each in certain]


async def with_models(row: Candidate, ctx: StageContext) -> list[Candidate]:
    """Let through what the models that are named can go on with, before videos are rendered."""
    lacking = [role for role in TASKS[row.task].models if role in NEEDED and role not in ctx.models]
    if lacking:
        raise Rejected("needs models", f"Add {' '.join(f'--model {r}=NAME' for r in lacking)}.")
    return [row]


def named_models(_row: Candidate, ctx: StageContext) -> list[str]:
    """Return for which of the roles a model is named."""
    return [role for role in NEEDED if role in ctx.models]
