"""How HumanVBench asks to be run: protocol, conditions and tables, for what is made and published.

The models of the paper see the frames that each is used to (appendix I, Table 8); the protocol has
the sixteen of appendix G, so that all are shown the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import Item, freeze
from reelbench.data.manifest import Manifest, Protocol
from reelbench.interop.humanvbench.taxonomy import (
    DENSITIES,
    DESCRIBED,
    DIMENSIONS,
    HEADINGS,
    SURPRISE,
    TASK,
    TASKS,
    TIMED,
    VISION,
)
from reelbench.interop.used_taxonomy import used_values

# Appendix I: letters alone. Models that hear get the sound; others are asked under video-only.
PROTOCOL = Protocol(
    sampling="uniform:16",
    prompt="humanvbench",
    modalities="V+A+T",
    frame_size="long:768",
    sound_encoding="mp3",
)
# What the paper varies, it varies with pictures alone: so these are held against video-only.
CONDITIONS: Mapping[str, Mapping[str, Any]] = {
    "video-only": {"modalities": "V+T"},
    "audio-only": {"modalities": "A+T"},
    "text-only": {"modalities": "T"},
    "timestamps": {"modalities": "V+T", "timestamps": True},
    "frames": {"modalities": "V+T", "sampling": ["uniform:4", "uniform:8", "uniform:16"]},
}
_MAIN = ["protocol", "video-only"]
_SPEECH = [dimension for dimension, tasks in DIMENSIONS.items() if set(tasks).isdisjoint(VISION)]
_ALL = "All 16"


def _tasks(*names: str) -> dict[str, Any]:
    return {name: {TASK: name} for name in names}


def _with_means() -> dict[str, Any]:
    """The sixteen tasks, each dimension's mean behind its four, and the means of 12 and of 16."""
    columns: dict[str, Any] = {}
    for dimension, tasks in DIMENSIONS.items():
        columns |= {**_tasks(*tasks), HEADINGS[dimension]: {"mean_of": list(tasks)}}
    means = {"Vision 12": {"mean_of": list(VISION)}, _ALL: {"mean_of": list(TASKS)}}
    return columns | means


def _by_density() -> dict[str, Any]:
    """Each dimension in each bin, and the mean of the dimensions that have items in the bin."""
    columns: dict[str, Any] = {}
    for density in DENSITIES:
        parts = {
            f"{HEADINGS[dimension]}, {density}": {"dimension": dimension, "density": density}
            for dimension in DIMENSIONS
        }
        columns |= {**parts, f"Mean, {density}": {"mean_of": list(parts)}}
    return columns


TABLES: Mapping[str, Mapping[str, Any]] = {
    "table-4": {
        "title": "Accuracy by task, with the means of each dimension (Tables 1 and 4)",
        "conditions": _MAIN,
        "pooled_chance": True,
        "columns": {
            **_with_means(),
            "Minutes": {"measured": "minutes"},
            "Memory": {"measured": "memory_gb"},
        },
    },
    "table-2a": {
        "title": "Emotions of people who speak (Table 2a)",
        "conditions": _MAIN,
        "averages": ["models"],
        "where": {TASK: "ER"},
        "columns": {
            "ER": {},
            "Speaking": {"speaking": "yes", "against": "ER"},
            "Surprise": {"wrong_options_with": list(SURPRISE)},
            "Surprise, speaking": {
                "speaking": "yes",
                "wrong_options_with": list(SURPRISE),
                "against": "Surprise",
            },
        },
    },
    "table-2b": {
        "title": "Tasks about times, with and without the times of frames (Table 2b)",
        "conditions": ["video-only", "timestamps"],
        "against": "video-only",
        "averages": ["models"],
        "columns": {**_tasks(*TIMED), "Mean": {"mean_of": list(TIMED)}},
    },
    "table-5": {
        "title": "Speech-visual alignment with pictures, sound and both (Table 5)",
        "conditions": ["protocol", "video-only", "audio-only"],
        "against": "protocol",
        "columns": {
            task: column
            for dimension in _SPEECH
            for task, column in {
                **_tasks(*DIMENSIONS[dimension]),
                "Mean": {"mean_of": list(DIMENSIONS[dimension])},
            }.items()
        },
    },
    "table-6": {
        "title": "Four, eight and sixteen frames (Table 6)",
        "conditions": ["frames"],
        "against": "frames/sampling=uniform:4",
        "columns": {**_with_means(), "Minutes": {"measured": "minutes"}},
    },
    "table-7": {
        "title": "How many people are seen: low, medium and high density (Table 7)",
        "conditions": _MAIN,
        "averages": ["tiers"],
        "columns": _by_density(),
    },
    "figure-7": {
        "title": "How many of the models choose each wrong option (appendix E)",
        "kind": "distractors",
        "conditions": _MAIN,
        "columns": {
            "The six": {TASK: list(DESCRIBED)},
            **_tasks(*DESCRIBED),
            "All": {},
        },
    },
}


def humanvbench_manifest(title: str, items: Sequence[Item], **extra: Any) -> Manifest:
    """Return the manifest of a benchmark like HumanVBench; its taxonomy has what its items have.

    Tasks that are none of the sixteen, such as those of another subject, come behind them.
    """
    there = {task for item in items for task in item.tag(TASK)}
    tasks: dict[str, list[str]] = {
        dimension: [task for task in names if task in there]
        for dimension, names in DIMENSIONS.items()
    }
    tasks["Others"] = sorted(there - set(TASKS))
    by_dimension = {name: some for name, some in tasks.items() if some}
    taxonomy = {**({TASK: by_dimension} if by_dimension else {}), **used_values(items, _TAGS)}
    return Manifest(
        name="humanvbench",
        version="1",
        title=title,
        taxonomy=freeze(taxonomy),
        protocol=PROTOCOL,
        conditions=freeze(dict(CONDITIONS)),
        tables=freeze(dict(TABLES)),
        extra=freeze(extra),
    )


_TAGS: Mapping[str, tuple[str, ...]] = {
    "dimension": tuple(DIMENSIONS),
    "density": DENSITIES,
    "speaking": ("yes", "no"),
}
