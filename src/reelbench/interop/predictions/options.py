"""The options as a row of predictions has them, which may be in another order than the item's."""

from collections import defaultdict
from collections.abc import Sequence

from reelbench.data.items import Item
from reelbench.interop.imports.column_names import OPTIONS, QUESTION, series_part
from reelbench.interop.imports.values import (
    OptionList,
    checked_options,
    even,
    is_blank,
    read_options,
    split_question,
    text_of,
)
from reelbench.interop.predictions.columns import PROMPTS, Values, columns_called


class OptionColumns:
    """The columns in which a file shows options: one with all, one for each, or the prompt."""

    def __init__(self, columns: Sequence[str], prediction: str) -> None:
        others = [name for name in columns if name != prediction]
        self._whole = columns_called(others, OPTIONS)
        self._prompts = columns_called(others, (*QUESTION, *PROMPTS))
        series: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for name in others:
            if part := series_part(name.rsplit("/", 1)[-1]):
                series[part[0]].append((part[1].upper().rjust(2), name))
        self._series = [[name for _, name in sorted(each)] for each in series.values()]
        runs = [each for each in series.values() if _is_run([label for label, _ in each])]
        self.one_each = frozenset(name for each in runs for _, name in each)  # A, B, C and so on

    def order_in(self, row: Values, item: Item) -> tuple[int, ...]:
        """Return the item's options in the order of the row, by place; () where it is the same.

        A row that shows other options, or none, is taken to have them as the item has.
        """
        texts = [even(option) for option in item.options]
        if not texts or len(set(texts)) < len(texts):
            return ()
        for found in self._shown(row):
            shown = [even(text) for text in found]
            if sorted(shown) == sorted(texts):
                order = tuple(texts.index(text) for text in shown)
                return () if order == tuple(range(len(order))) else order
        return ()

    def has_options(self, row: Values, item: Item) -> bool | None:
        """Whether a row shows the options of an item, in any order; None where it shows none."""
        found = [sorted(map(even, texts)) for texts in self._shown(row)]
        return sorted(map(even, item.options)) in found if found else None

    def _shown(self, row: Values) -> list[tuple[str, ...]]:
        found = []
        for name in self._whole:
            if is_blank(row.get(name)):
                continue
            try:
                found.append(read_options(row.get(name)).texts)
            except ValueError:
                continue
        for names in self._series:
            cells = [text_of(row.get(name)) for name in names if not is_blank(row.get(name))]
            if len(cells) > 1:
                found.append(tuple(cells))
        for name in self._prompts:
            options = split_question(text_of(row.get(name)))[1]
            found += [] if options is None else [_from_prompt(options)]
        return found


def _is_run(labels: Sequence[str]) -> bool:
    """Whether labels begin with A and B, as those of options do, and not ``q`` and ``a``."""
    return {"A", "B"} <= {label.strip() for label in labels}


def _from_prompt(options: OptionList) -> tuple[str, ...]:
    """Options without what a prompt says behind the last one."""
    try:
        texts = checked_options(options).texts
    except ValueError:
        return ()
    return (*texts[:-1], texts[-1].split("\n")[0].strip())
