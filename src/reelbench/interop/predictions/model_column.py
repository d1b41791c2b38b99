"""Which column of a file of predictions names the model, and which only looks as if it did."""

from collections import defaultdict
from collections.abc import Sequence

from reelbench.interop.predictions.columns import Values, columns_called, text_of

_MODELS = ("model", "modelname", "modelid")
_SYSTEMS = ("system", "systemname", "systemid", "llm", "vlm", "mllm")  # or prompts, or tags
_MOST_WORDS = 4  # of a model's name


def model_columns(
    columns: Sequence[str], rows: Sequence[Values], items: Sequence[str | None]
) -> tuple[list[str], list[str]]:
    """Return the columns that name the model, the likeliest first, and those that may do so.

    A system may be a prompt, or a tag of the question, as the nervous one is: that of a model has a
    few words in every row. It is one for the whole file, or several that answered the same items,
    as ``items`` tell, those of the rows.
    """
    systems = [
        column
        for column in columns_called(columns, _SYSTEMS)
        if all(1 <= len(text_of(row.get(column)).split()) <= _MOST_WORDS for row in rows)
    ]
    sure = [column for column in systems if _share_items(column, rows, items)]
    return (
        [*columns_called(columns, _MODELS), *sure],
        [column for column in systems if column not in sure],
    )


def _share_items(column: str, rows: Sequence[Values], items: Sequence[str | None]) -> bool:
    """Whether each value of a column is beside most of the items that rows are about."""
    by_value: dict[str, set[str]] = defaultdict(set)
    for row, item in zip(rows, items, strict=True):
        if item is not None:
            by_value[text_of(row.get(column))].add(item)
    every = set[str]().union(*by_value.values())
    return len(by_value) < 2 or all(2 * len(each) > len(every) for each in by_value.values())
