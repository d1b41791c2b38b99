"""One file of anyone's predictions, brought into our form; what was taken for what is noted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reelbench.data.items import Problem, shown
from reelbench.interop.predictions.answers import (
    AskedValue,
    PredictionForm,
    key_agreement,
    prediction_form,
    reply_in,
    was_cut_in,
)
from reelbench.interop.predictions.columns import (
    CONDITIONS,
    IDS,
    KEYS,
    Values,
    columns_called,
    flat,
    plain_name,
    prediction_columns,
    text_of,
)
from reelbench.interop.predictions.evidence import FileEvidence
from reelbench.interop.predictions.matching import ItemIndex, Match
from reelbench.interop.predictions.model_column import model_columns
from reelbench.interop.predictions.names import file_name, model_of
from reelbench.interop.predictions.options import OptionColumns
from reelbench.interop.predictions.row_numbers import as_rows, ids_or_rows, repeated_numbers
from reelbench.interop.records import read_records
from reelbench.score.row_status import status_of, was_cut, with_status

_READ = ("parsed", "extracted")  # beginnings of the names of columns that a parser filled
_SEEN = 200  # rows that show whether a column has ids
_SAME_KEYS = 0.95  # of the keys in a file, for it to be about this benchmark
_NAMED = 10  # ids that a sentence names
_FORMS = {
    "reply": "replies",
    "index": "numbers of options from 0",
    "index1": "numbers of options from 1",
    "truth": "truths, 1 for yes",
}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user says of the files: the form of answers, columns by role, unknown ids."""

    answers_as: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    skip_unmatched: bool = False


class Conversion:
    """The rows of a file in our form, with notes and problems."""

    def __init__(self, path: Path, index: ItemIndex, options: ReadOptions) -> None:
        self.path, self._index, self._options = path, index, options
        self.rows: list[tuple[int, dict[str, Any]]] = []
        self.folder_model = model_of(path)  # for rows that name no model
        file = read_records(path)
        self._blank = "" if file.form == "excel" else None  # which has no null beside empty cells
        self.problems: list[Problem] = list(file.problems)
        self.notes: list[str] = list(file.notes)
        self._lines = [record.line for record in file.records]
        self._values = [flat(record) for record in file.records]
        self._columns = list(dict.fromkeys(name for row in self._values for name in row))
        one_each = OptionColumns(self._columns, "").one_each  # of options, one may be called A
        self._keys = [name for name in columns_called(self._columns, KEYS) if name not in one_each]
        self._hint = ""  # what else the ids of unknown items may be
        if self._values:
            self._convert()

    def _convert(self) -> None:
        prediction = self._prediction_column()
        if not prediction:
            return
        match = self._matched(prediction)
        if not match.count:
            self._say_nothing_fits(match)
            return
        orders = self._orders(match, prediction)
        keys = self._given_keys(match.items, orders, prediction)
        replies = [reply_in(row.get(prediction)) for row in self._values]
        values = [self._blank if reply is None else reply for reply in replies]
        asked = self._asked(match.items, values, orders)
        form = prediction_form(
            [each for each in asked if each],
            keys,
            self._options.answers_as,
            str(self.path),
        )
        form = replace(form, is_read=plain_name(prediction).startswith(_READ))
        model, passed_over = self._model_column(match.items)
        named = f" Model: column {model!r}." if model else ""
        self.notes.append(
            f"{match.count:,} of {len(self._values):,} rows match items. Ids: column "
            f"{match.column!r}, by {match.rule}. Predictions: column {prediction!r}, read as "
            f"{_FORMS[form.name]} ({form.why}).{named}"
        )
        self._compare_keys(keys)
        if passed_over:
            self.notes.append(
                f"Column {passed_over!r} has other values for other items, and was not taken for "
                f"the model: --column model={passed_over} does so."
            )
        self._write_rows(match, asked, form, model, passed_over, prediction)

    def name_after_file(self) -> None:
        """Call the model that the folder named by the file instead."""
        for _, row in self.rows:
            if row.get("model") == self.folder_model:
                row["model"] = file_name(self.path)

    def _orders(self, match: Match, prediction: str) -> list[tuple[int, ...]]:
        """The order of options in each row, where it is not that of the benchmark."""
        columns = OptionColumns(self._columns, prediction)
        orders = [
            columns.order_in(row, self._index.by_id[item]) if item else ()
            for item, row in zip(match.items, self._values, strict=True)
        ]
        if count := sum(map(bool, orders)):
            self.notes.append(
                f"In {count:,} rows the options stand in another order than in the benchmark, "
                "which is taken into account."
            )
        return orders

    def _asked(
        self, items: Sequence[str | None], values: Sequence[Any], orders: Sequence[tuple[int, ...]]
    ) -> list[AskedValue | None]:
        return [
            AskedValue(self._index.by_id[item], value, order) if item else None
            for item, value, order in zip(items, values, orders, strict=True)
        ]

    def _compare_keys(self, keys: Sequence[AskedValue]) -> None:
        """Say so where the keys of the file are not those of the benchmark."""
        same, known = key_agreement(keys) or (0, 0)
        if same < _SAME_KEYS * known:
            self.notes.append(
                f"warning: of {known:,} keys in the file (column {self._keys[0]!r}), {same:,} are "
                "those of the benchmark: its options may stand in another order, or its questions "
                "may be others."
            )

    def _prediction_column(self) -> str:
        if named := self._options.columns.get("prediction", ""):
            return self._known(named)
        found = prediction_columns(self._columns)
        if not found:
            key = f" ({self._keys[0]!r} is taken for the key)" if self._keys else ""
            expected = f"a column with predictions{key}: name it, as in --column prediction=NAME"
            if any(name in self._index.by_id for name in self._columns):
                expected = "a first line with the names of the columns, such as id,prediction"
            self._fault("file", self._all_columns(), expected)
            return ""
        if len(found) > 1:
            others = ", ".join(map(repr, found[1:5]))
            self.notes.append(
                f"Predictions may be in {others} too: --column prediction=NAME takes another."
            )
        return found[0]

    def _all_columns(self) -> str:
        return f"the columns {', '.join(shown(name, 40) for name in self._columns[:40])}"

    def _known(self, named: str) -> str:
        if named in self._columns:
            return named
        self._fault(
            "file", f"no column {named!r}", f"one of {shown(', '.join(self._columns), 200)}"
        )
        return ""

    def _fault(self, name: str, found: str, expected: str) -> None:
        problem = Problem("NO_COLUMN", name, found, expected, str(self.path))
        self.problems += [] if problem in self.problems else [problem]

    def _matched(self, prediction: str) -> Match:
        evidence = FileEvidence(
            self._values, self._columns, prediction, self._index, self._key_agreement
        )
        if row := self._options.columns.get("row", ""):
            match, sentence = Match([None] * len(self._values), row, ""), ""
            if self._known(row) and not self._refuse_repeated(row):
                match, sentence = as_rows(row, self._values, self._index, evidence)
            self.notes += [sentence] if sentence else []
            return match
        named = self._options.columns.get("id", "")
        if named and not self._known(named):
            return Match([None] * len(self._values), named, "")
        known = [named] if named else columns_called(self._columns, IDS)
        others = [] if named else [name for name in self._columns if name not in known]
        exact = [name for name in others if self._has_ids(name)]
        match = self._index.match(self._values, [*known, *exact])
        if match.count == len(self._values):
            again = bool(self._repeated(match.column))
            match, sentence = ids_or_rows(match, self._values, self._index, evidence, again)
            self.notes += [sentence] if sentence else []
            return match
        placed = self._index.by_place(self._values, known, self._key_agreement)
        if placed.count > match.count:
            return placed
        if (
            match.column
            and self._index.by_row(self._values, match.column)
            and not self._repeated(match.column)
        ):
            self._hint = f"; --column row={match.column} takes the numbers for those of rows"
        return match

    def _repeated(self, column: str) -> list[tuple[int, int]]:
        """The places of rows whose number comes twice for one model, and of those before them."""
        numbers = [text_of(row.get(column)) for row in self._values]
        apart = [self._model_column(numbers)[0], self._condition_column(), "order", "round"]
        return repeated_numbers(column, self._values, apart)

    def _refuse_repeated(self, column: str) -> bool:
        """Whether numbers of rows come twice for one model, which is said of each."""
        again = self._repeated(column)
        for place, before in again:
            number = text_of(self._values[place].get(column))
            found = f"{number} once more, as in line {self._lines[before]} with other contents"
            self.problems.append(
                Problem(
                    "DUPLICATE",
                    column,
                    found,
                    "a number once for each model, as rows have (--column model=NAME names models)",
                    str(self.path),
                    self._lines[place],
                )
            )
        return bool(again)

    def _has_ids(self, column: str) -> bool:
        some = [text_of(row.get(column)) for row in self._values[:_SEEN]]
        return len(set(some)) == len(some) and any(each in self._index.by_id for each in some)

    def _key_agreement(self, items: Sequence[str | None]) -> float | None:
        found = key_agreement(self._given_keys(items, [()] * len(items)))
        return found[0] / found[1] if found else None

    def _given_keys(
        self, items: Sequence[str | None], orders: Sequence[tuple[int, ...]], prediction: str = ""
    ) -> list[AskedValue]:
        """The keys that the file itself has, by its first column of keys."""
        columns = [name for name in self._keys if name != prediction][:1]
        values = [row.get(columns[0]) for row in self._values] if columns else [None] * len(items)
        return [each for each in self._asked(items, values, orders) if each]

    def _say_nothing_fits(self, match: Match) -> None:
        if self.problems:
            return
        if not match.column:
            expected = "a column with ids of items: name it, as in --column id=NAME"
            self._fault("file", self._all_columns(), expected)
            return
        theirs = ", ".join(shown(text_of(row.get(match.column))) for row in self._values[:3])
        ours = ", ".join(shown(item.id) for item in self._index.items[:3])
        found = f"{len(self._values):,} ids of which none is of an item, such as {theirs}"
        expected = f"ids such as {ours} (--column id=NAME names another column{self._hint})"
        self._fault(match.column, found, expected)

    def _write_rows(
        self,
        match: Match,
        asked: Sequence[AskedValue | None],
        form: PredictionForm,
        model: str,
        passed_over: str,
        prediction: str,
    ) -> None:
        condition = self._condition_column()
        folder = self.folder_model
        counts = _Counts()
        seen: dict[tuple[Any, ...], AskedValue] = {}
        for line, row, each in zip(self._lines, self._values, asked, strict=True):
            if each is None:
                self._unmatched(line, row, match, counts)
                continue
            ours = {"id": each.item.id, **form.fields(each), **_beside(row, prediction)}
            if name := text_of(row.get(model)) or folder:
                ours["model"] = name
            if name := text_of(row.get(condition)):
                ours["condition"] = name
            place = tuple(ours.get(name) for name in ("id", "model", "condition", "order", "round"))
            if seen.get(place) == each:
                counts.again.append(shown(each.item.id))
                continue
            if place in seen and passed_over:
                self._doubt_model(passed_over, line)
                passed_over = ""  # said once
            seen[place] = each
            ours = with_status(ours)
            if ours.get("status") in ("error", "timeout"):
                counts.failed.append(shown(each.item.id))
            elif each.is_empty:
                counts.empty.append(shown(each.item.id))
            counts.cut += ours.get("status") == "truncated"
            self.rows.append((line, ours))
        self.notes += counts.sentences()

    def _model_column(self, items: Sequence[str | None]) -> tuple[str, str]:
        """The column that names the model, and without one that which may do so; each may be ""."""
        sure, others = model_columns(self._columns, self._values, items)
        found = self._column("model", sure)
        return found, "" if found else next(iter(others), "")

    def _condition_column(self) -> str:
        return self._column("condition", columns_called(self._columns, CONDITIONS))

    def _doubt_model(self, column: str, line: int) -> None:
        """Say which column would tell two predictions for one item apart."""
        found = "several values, each beside some of the items"
        expected = f"models that answered the same (--column model={column} takes it for the model)"
        self.problems.append(Problem("MODEL", column, found, expected, str(self.path), line))

    def _column(self, role: str, found: Sequence[str]) -> str:
        if named := self._options.columns.get(role, ""):
            return self._known(named)
        return next(iter(found), "")

    def _unmatched(self, line: int, row: Values, match: Match, counts: "_Counts") -> None:
        found = shown(text_of(row.get(match.column)))
        counts.unmatched.append(found)
        if not self._options.skip_unmatched:
            expected = f"the id of an item (--skip-unmatched leaves such rows out{self._hint})"
            problem = Problem("UNKNOWN_ID", match.column, found, expected, str(self.path), line)
            self.problems.append(problem)


def _beside(row: Values, prediction: str) -> dict[str, Any]:
    """Fields of our form that others use alike: the order, the round and the status."""
    found: dict[str, Any] = {}
    for name in ("order", "round"):
        text = text_of(row.get(name))
        if text.isdecimal() and len(text) < 10:
            found[name] = int(text)
    word = next((row[name] for name in row if name.casefold() == "status"), None)
    if text_of(word) and status_of(word) != "ok":
        found["status"] = word
    elif was_cut(row) or was_cut_in(row.get(prediction)):
        found["status"] = "truncated"
    return found


@dataclass(slots=True)
class _Counts:
    """Rows that give no prediction, by the reason."""

    unmatched: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    cut: int = 0  # replies that ended at a limit of tokens

    def sentences(self) -> list[str]:
        """Say how many there are, and name the first."""
        texts = (
            (self.unmatched, "Rows about no item of the benchmark, left out"),
            (self.again, "Rows that say the same once more, counted once"),
            (self.failed, "Rows of failed calls, counted as unanswered"),
            (self.empty, "Rows without a prediction, counted as unanswered"),
        )
        found = [f"{text}: {len(ids):,} ({_first(ids)})." for ids, text in texts if ids]
        cut = f"Replies that were cut off at the limit of tokens: {self.cut:,}."
        return [*found, cut] if self.cut else found


def _first(ids: Sequence[str]) -> str:
    return ", ".join([*ids[:_NAMED], *(["..."] if len(ids) > _NAMED else [])])
