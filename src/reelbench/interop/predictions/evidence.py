"""What a file has beside its ids that shows which items its rows are about."""

from collections.abc import Callable, Sequence

from reelbench.interop.imports.values import even
from reelbench.interop.predictions.columns import Values, text_of
from reelbench.interop.predictions.matching import Found, ItemIndex, Match
from reelbench.interop.predictions.options import OptionColumns

Share = Callable[[Found], float | None]  # of the rows that agree with their items; None: no sign
_LEAST = 0.8  # of the rows that agree under a reading that is taken
_AHEAD = 0.1  # by which it must be ahead of every other
_SHORTEST = 3  # signs of a prediction that is the text of an option, and no letter


class FileEvidence:
    """Tells readings of the same numbers apart by what the rows say themselves."""

    def __init__(
        self,
        rows: Sequence[Values],
        columns: Sequence[str],
        prediction: str,
        index: ItemIndex,
        keys: Share,
    ) -> None:
        self._rows, self._index, self._prediction = rows, index, prediction
        self._options = OptionColumns(columns, prediction)
        self._signs: dict[str, Share] = {
            "the questions": lambda found: index.same_question(rows, found),
            "the options": self._same_options,
            "the keys": keys,
            "the texts of the predictions": self._texts_of_options,
        }

    def decide(self, readings: Sequence[Match]) -> tuple[Match, str] | None:
        """Return the reading that the file confirms, and by what; None where nothing tells."""
        for sign, share in self._signs.items():
            shares = [share(list(reading.items)) for reading in readings]
            known = [each for each in shares if each is not None]
            if len(known) < len(shares):
                continue
            best = max(known)
            others = [each for each in known if each < best]
            if best >= _LEAST and len(others) == len(known) - 1 and max(others) <= best - _AHEAD:
                return readings[known.index(best)], sign
        return None

    def _same_options(self, found: Found) -> float | None:
        pairs = zip(self._rows, found, strict=True)
        same = [
            self._options.has_options(row, self._index.by_id[item]) for row, item in pairs if item
        ]
        known = [each for each in same if each is not None]
        return sum(known) / len(known) if known else None

    def _texts_of_options(self, found: Found) -> float | None:
        """The share of predictions that are texts of options of their items, where any are."""
        same = known = 0
        for row, item in zip(self._rows, found, strict=True):
            text = even(text_of(row.get(self._prediction)))
            if item and len(text) >= _SHORTEST and not text.isdecimal():
                known += 1
                same += text in map(even, self._index.by_id[item].options)
        return same / known if known else None
