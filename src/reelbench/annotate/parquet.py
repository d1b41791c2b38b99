"""Labels as one Parquet table: a row for each clip and label."""

from pathlib import Path

from reelbench.annotate.outcomes import Annotated
from reelbench.base.files import canonical_json
from reelbench.weights import import_extra


def write_parquet(found: Annotated) -> Path:
    """Write ``labels.parquet`` and return its path.

    Its columns: clip, sha256, label, fate (value, none or failed) and said (the value or the
    reason, as JSON).
    """
    arrow = import_extra("pyarrow", "annotate")
    parquet = import_extra("pyarrow.parquet", "annotate")
    rows = [
        (name, found.clips[name].digest, label, *next(iter(outcome.items())))
        for name, labels in found.outcomes.items()
        for label, outcome in labels.items()
    ]
    table = arrow.table(
        {
            "clip": [row[0] for row in rows],
            "sha256": [row[1] for row in rows],
            "label": [row[2] for row in rows],
            "fate": [row[3] for row in rows],
            "said": [canonical_json(row[4]) for row in rows],
        }
    )
    path = found.out / "labels.parquet"
    partial = path.with_suffix(".partial")
    parquet.write_table(table, partial)
    partial.replace(path)
    return path
