"""The tables that the paper prints of models (4.2, 4.4, supplement), for ``benchmark.yaml``."""

from collections.abc import Mapping
from typing import Any

# The paper has proprietary models first, then open ones; who is which is ``tier`` in a card.
_GROUPS = {"tiers": True, "best_by_tier": True, "second_best": True}
AVERAGE = "Avg. Accuracy"  # over items: so 16 of the paper's 20 come out


def paper_tables(codes: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """Return the tables, with a column for each category; ``codes`` are the categories by code."""
    columns = {code: {"category": name} for code, name in codes.items()} | {AVERAGE: {}}
    note = ", ".join(f"{code}: {name}" for code, name in codes.items()) + "."
    return {
        "table-2": {
            "title": "Accuracy by category (Table 2)",
            "note": note,
            "conditions": [
                "protocol",
                "frames-64",
                "frames-128",
                "frames-20",
                "fps-0.1",
                "frames-and-captions",
            ],
            "frames": True,
            **_GROUPS,
            "columns": columns,
        },
        "table-3": {
            "title": "Accuracy by number of frames, without captions (Tables 3 and 5)",
            "note": note,
            "conditions": ["frames"],
            "frames": True,
            **_GROUPS,
            "columns": columns,
        },
        "table-4": {
            "title": "Steady accuracy from text alone: the question, and with captions (Table 4)",
            "note": note,
            "conditions": ["no-context", "captions"],
            **_GROUPS,
            "columns": {name: {**column, "metric": "steady"} for name, column in columns.items()},
        },
    }
