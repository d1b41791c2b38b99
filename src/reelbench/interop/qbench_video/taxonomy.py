"""The words of Q-Bench-Video (3.3) that its three recipes share, and its protocol (3.4, 11)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reelbench.data.items import Item, freeze
from reelbench.data.manifest import Manifest, Protocol

QUESTION_TYPES = ("Yes-or-No", "What-How", "Open-ended")
CONCERNS = ("Technical", "Aesthetic", "Temporal", "AIGC")
SINGLE = ("Global", "Referring")
COMPARE = ("Compare-fine", "Compare-coarse")
PAIR = ("Joint", *COMPARE)
CONTENT = ("natural", "AIGC", "CG")
TYPE_OF_KIND = {"yesno": "Yes-or-No", "single": "What-How", "open": "Open-ended"}
SPLITS = {"dev": 1192 / 2378, "test": 1186 / 2378}  # 4.1

# 3.4 and 11: 16 frames, of pairs 8 and 8. Lossless, as the questions are about quality.
PROTOCOL = Protocol(sampling="uniform:16", prompt="qbench", frame_encoding="png", rubric="quality")
CONDITIONS = {
    "image-models": {"sampling": "uniform:8"},
    "fps-1": {"sampling": "fps:1"},
    # As the evaluation program that the authors published asks: its frames, in its size and JPEG.
    "published-code": {
        "sampling": "uniform:16,start",
        "frame_size": "long:512",
        "frame_encoding": "jpeg:75",
    },
}

# 12: mean of people, open questions graded by the judge of the models.
PEOPLE = {
    "protocol": (
        "people answer once, without the key and with no way back, after they have watched the "
        "whole video; open answers are graded by the judge of the models. An item is worth the "
        "mean over those who answered it."
    )
}


def quality_manifest(name: str, title: str, items: Sequence[Item], **extra: Any) -> Manifest:
    """Return the manifest of a benchmark about quality: taxonomy, protocol and the four tables."""
    taxonomy = {
        tag: [value for value in values if any(value in item.tag(tag) for item in items)]
        for tag, values in _TAGS.items()
    }
    return Manifest(
        name=name,
        version="1",
        title=title,
        taxonomy=freeze({tag: values for tag, values in taxonomy.items() if values}),
        splits=freeze(_splits(items)),
        protocol=PROTOCOL,
        conditions=freeze(CONDITIONS),
        tables=freeze(_tables(items)),
        extra=freeze(extra),
    )


def published_manifest(name: str, title: str, items: Sequence[Item]) -> Manifest:
    """Return the manifest, with values in its taxonomy that only the files have."""
    manifest = quality_manifest(name, title, items)
    taxonomy = dict(manifest.taxonomy)
    for tag in _OPEN_LISTS:
        listed = list(taxonomy.get(tag, ()))
        own = {value for item in items for value in item.tag(tag)} - set(listed)
        if own:
            taxonomy[tag] = [*listed, *sorted(own)]
    return replace(manifest, taxonomy=freeze(taxonomy))


_OPEN_LISTS = ("context", "concern")  # tags of which files may have values of their own
_TAGS = {
    "question_type": QUESTION_TYPES,
    "concern": CONCERNS,
    "context": (*SINGLE, *PAIR),
    "content": CONTENT,
    "split": tuple(SPLITS),
}


def _splits(items: Sequence[Item]) -> dict[str, Any]:
    """The splits that items are in, where each is in one."""
    found = [item.tag("split") for item in items]
    return {s: {} for s in sorted(set().union(*found))} if all(len(s) == 1 for s in found) else {}


def _tables(items: Sequence[Item]) -> dict[str, Mapping[str, Any]]:
    """Tables 2 and 3 of the test split, 6 and 7 of the dev split; of all items without splits."""
    splits = [split for split in ("test", "dev") if any(split in i.tag("split") for i in items)]
    numbers = {"test": (2, 3), "dev": (6, 7)}
    tables: dict[str, Mapping[str, Any]] = {}
    for split in splits or [""]:
        where = {"split": split} if split else {}
        suffix = f" ({split})" if split else ""
        first, second = numbers.get(split, (2, 3))
        tables[f"table-{first}"] = {
            "title": f"Question types and quality concerns{suffix}",
            "where": where,
            "people": PEOPLE,
            "columns": {
                **{value: {"question_type": value} for value in QUESTION_TYPES},
                **{value: {"concern": value} for value in CONCERNS},
                "Overall": {},
            },
        }
        tables[f"table-{second}"] = {
            "title": f"Single videos and video pairs{suffix}",
            "where": where,
            "people": PEOPLE,
            "columns": {
                **{value: {"context": value} for value in SINGLE},
                "Single, overall": {"context": list(SINGLE)},
                **{value: {"context": value} for value in PAIR},
                "Pairs, overall": {"context": list(PAIR)},
            },
        }
    return tables
