"""How MMOU asks to be run: protocol, conditions and tables, for what is made and what is published.

The paper tells neither its answer prompts nor how many frames are shown (4.2, E): both are ours.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import Item, freeze
from reelbench.data.manifest import Manifest, Protocol
from reelbench.interop.mmou.taxonomy import DOMAINS, DURATIONS, POSITIONS, SKILLS
from reelbench.interop.used_taxonomy import used_values

# 4.2: five orders of the options, the majority counts; pictures and sound.
PROTOCOL = Protocol(
    sampling="uniform:64",
    orders=5,
    modalities="V+A+T",
    frame_size="long:768",
    sound_encoding="mp3",
    rubric="criteria",
)
# 4.1: a cascade is a model of its own, and is asked under the protocol.
CONDITIONS: Mapping[str, Mapping[str, Any]] = {
    "video-only": {"modalities": "V+T"},
    "audio-only": {"modalities": "A+T"},
    "text-only": {"modalities": "T"},
    "prompts": {"prompt": ["default", "reasoned"]},
    "one-order": {"orders": 1},
}
_CLOSED, _OPEN = {"kind": "single"}, {"kind": "open"}
TABLES: Mapping[str, Mapping[str, Any]] = {
    "table-3": {
        "title": "Accuracy by domain and duration",
        "where": _CLOSED,
        "columns": {
            **{name: {"domain": name} for name in DOMAINS},
            **{name: {"duration": name} for name in DURATIONS},
            "Overall": {},
        },
    },
    "figure-5": {
        "title": "Accuracy by skill",
        "where": _CLOSED,
        "columns": {name: {"skills": name} for name in SKILLS},
    },
    "figure-6": {
        "title": "Accuracy by where the evidence lies in the video",
        "where": _CLOSED,
        "columns": {name: {"evidence_position": name} for name in POSITIONS},
    },
    "open-ended": {
        "title": "Open-ended answers by skill, as a share of the best grade",
        "where": _OPEN,
        "columns": {**{name: {"skills": name} for name in SKILLS}, "Overall": {}},
    },
}
_TAGS = {
    "skills": tuple(SKILLS),
    "domain": tuple(DOMAINS),
    "subcategory": tuple(part for parts in DOMAINS.values() for part in parts),
    "duration": DURATIONS,
    "evidence_position": POSITIONS,
}


def mmou_manifest(title: str, items: Sequence[Item], **extra: Any) -> Manifest:
    """Return the manifest of a benchmark like MMOU; its taxonomy has what its items have."""
    return Manifest(
        name="mmou",
        version="1",
        title=title,
        taxonomy=freeze(used_values(items, _TAGS)),
        protocol=PROTOCOL,
        conditions=freeze(dict(CONDITIONS)),
        tables=freeze(_tables(items)),
        extra=freeze(extra),
    )


def _tables(items: Sequence[Item]) -> dict[str, Any]:
    """Return the tables; that of open questions only where there are some."""
    kinds = {item.kind for item in items} or {"single", "open"}
    return {name: each for name, each in TABLES.items() if each["where"]["kind"] in kinds}
