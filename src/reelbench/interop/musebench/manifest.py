"""How MuseBench asks to be run: protocol, conditions and tables, for what is made.

Section 4.1: one frame a second of the evidence clips, or as many as a model takes (``frames`` in
its card); who hears gets the sound without the narrator, others its transcript as text. The prompt
tells whether one or several options are right, and never how many.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import Item, freeze
from reelbench.data.manifest import Manifest, Protocol
from reelbench.interop.musebench.taxonomy import CATEGORIES, CATEGORY, SHORT, SUBDOMAIN, SUBDOMAINS
from reelbench.interop.used_taxonomy import used_values

PROTOCOL = Protocol(
    sampling="fps:1", modalities="V+A+T", frame_size="long:768", sound_encoding="mp3"
)
# Table 2 takes modalities away; 4.3 looks at key frames. The paper tells no number of frames: ours
# is the eight of its cards (appendix G), so that all samplings show as many.
CONDITIONS: Mapping[str, Mapping[str, Any]] = {
    "video-only": {"modalities": "V+T"},
    "audio-only": {"modalities": "A+T"},
    "text-only": {"modalities": "T"},
    "samplings": {"sampling": ["uniform:8", "keyframes:8"]},
    "query": {"sampling": "query:8"},  # apart, since it needs weights
}
# The paper tells neither how its Random row guesses nor how its Human row was made: both are ours.
RANDOM = "subsets"
PEOPLE = {
    "title": "Human",
    "protocol": (
        "people who did not make the items answer them once, alone, in the browser: with the clip "
        "and its sound, without the narrator, and told whether one or several options are right. "
        "An item is worth the mean of those who answered it."
    ),
}
_ROWS = {
    "conditions": ["protocol"],
    "modality": True,
    "tiers": True,
    "random": RANDOM,
    "people": PEOPLE,
    "second_best": True,
}
_SINGLE_AND_MULTI = {"CAA": "caa", "EM": "exact_match"}
_SETS = {"P": "precision", "R": "recall"}
_F1 = {"mean F1": "f1", "F1 of means": "f1_of_means", "micro F1": "f1_micro"}


def _columns(metrics: Mapping[str, str], **chosen: str) -> dict[str, Any]:
    """Return a column for each metric, of the items that are chosen by a tag."""
    before = "".join(f"{SHORT.get(value, value)} " for value in chosen.values())
    return {f"{before}{name}": {**chosen, "metric": metric} for name, metric in metrics.items()}


def _by_category(metrics: Mapping[str, str]) -> dict[str, Any]:
    return {
        name: column
        for category in CATEGORIES
        for name, column in _columns(metrics, category=category).items()
    }


_ALL = {"ACC": "accuracy", **_SINGLE_AND_MULTI}
TABLES: Mapping[str, Mapping[str, Any]] = {
    "table-1": {
        "title": "Accuracy, chance-adjusted accuracy and exact match by category (Table 1)",
        **_ROWS,
        "columns": {**_columns(_ALL), **_by_category(_SINGLE_AND_MULTI)},
    },
    "table-2": {
        "title": "Accuracy with text, sound, pictures and all of them (Table 2)",
        "random": RANDOM,
        "columns": {
            "T": {"condition": "text-only"},
            "A+T": {"condition": "audio-only"},
            "V+T": {"condition": "video-only"},
            "V+A+T": {"condition": "protocol"},
        },
    },
    "table-7": {
        "title": "Accuracy, CAA, precision, recall and F1 by category (Table 7)",
        **_ROWS,
        "columns": {
            **_by_category(
                {"ACC": "accuracy", "CAA": "caa", **_SETS, "F1 of means": "f1_of_means"}
            ),
            "ACC": {"metric": "accuracy"},
        },
    },
    "f1": {
        "title": "F1 three ways: the mean of F1 (Eq. 2), F1 of means (as in Table 7), micro (D.2)",
        **_ROWS,
        "columns": {**_columns({**_SETS, **_F1}), **_by_category(_F1)},
    },
    "subdomains": {
        "title": "Accuracy by sub-domain",
        **_ROWS,
        "columns": {
            name: {SUBDOMAIN: name, "metric": "accuracy"}
            for parts in SUBDOMAINS.values()
            for name in parts
        },
    },
    "key-frames": {
        "title": "Eight frames: evenly spread, key frames, and by the question (4.3)",
        "conditions": ["samplings", "query"],
        "against": "samplings/sampling=uniform:8",
        "random": RANDOM,
        "columns": {**_columns(_ALL)},
    },
}
_TAGS = {
    CATEGORY: tuple(CATEGORIES),
    SUBDOMAIN: tuple(part for parts in SUBDOMAINS.values() for part in parts),
}


def musebench_manifest(title: str, items: Sequence[Item], **extra: Any) -> Manifest:
    """Return the manifest of a benchmark like MuseBench; its taxonomy has what its items have."""
    return Manifest(
        name="musebench",
        version="1",
        title=title,
        taxonomy=freeze(used_values(items, _TAGS)),
        protocol=PROTOCOL,
        conditions=freeze(dict(CONDITIONS)),
        tables=freeze(dict(TABLES)),
        extra=freeze(extra),
    )
