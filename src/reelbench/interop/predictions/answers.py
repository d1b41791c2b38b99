"""What a prediction says: numbers of options from 0 or 1, truths, or replies that a parser reads.

The reading is chosen over all rows of a file, never row by row, and where two fit and nothing in
the file decides, it is asked for.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import LETTERS, Item, shown
from reelbench.interop.imports.answers import ANSWER_FORMS, AnswerForm, letters_or_none, yes_no
from reelbench.interop.imports.values import OptionList
from reelbench.score.row_status import is_failure, was_cut

PREDICTION_FORMS = ("reply", "index", "index1", "truth")
# What programs write for no answer.
_NOTHING = {"", "nan", "none", "null", "n/a", "#n/a", "<na>", "-", "-1", "-1.0"}
_NULL = {"nan", "none", "null", "<na>"}  # what they write for no reply at all
_NUMBERS = re.compile(r"[\[(]?\s*+\d{1,4}(\.0)?(\s*+,\s*+\d{1,4}(\.0)?)*+\s*+[\])]?")
_READABLE = 0.8  # of a column's cells, for it to have keys


@dataclass(frozen=True, slots=True)
class AskedValue:
    """A cell about an item, and the order in which its row has the options, if that is another."""

    item: Item
    value: Any
    order: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was answered, or a program says so: none, unless that is an option."""
        if isinstance(self.value, str | int | float) and self.item.kind != "open":
            text = str(self.value).strip()
            options = {option.strip().casefold() for option in self.item.options}
            return text.casefold() in _NOTHING and text.casefold() not in options
        return self.value in (None, "", [], {})

    @property
    def is_null(self) -> bool:
        """Whether there is no value, rather than one that says nothing."""
        return self.value is None or (self.is_empty and str(self.value).strip().casefold() in _NULL)

    def letters(self, form: AnswerForm) -> list[str] | None:
        """The letters in the benchmark's order that the cell names; None where it names none."""
        texts = self.item.options
        shown_texts = tuple(texts[place] for place in self.order) if self.order else texts
        found = letters_or_none(self.value, OptionList(shown_texts), form)
        if found is None or not self.order:
            return None if found is None else list(found)
        return sorted(LETTERS[self.order[LETTERS.index(letter)]] for letter in found)


@dataclass(frozen=True, slots=True)
class PredictionForm:
    """How a column's values are read, and why so."""

    name: str
    why: str
    is_read: bool = False  # whether the column has what a parser read, and no replies

    def fields(self, asked: AskedValue) -> dict[str, Any]:
        """Return the fields of a prediction in our form."""
        value = asked.value
        if asked.is_null and self.name == "reply" and not self.is_read:
            return {"response": None}
        if asked.is_empty:
            return {"parsed": None}
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if asked.item.kind == "open" or is_failure(text):
            return {"response": text}
        if self.name == "reply":
            return {"response": text, **self._parts(asked, text)}
        # What cannot be read so is left for the check of rows, which refuses it by name.
        return {"response": text, "parsed": numbered(asked, self.name) or [text]}

    def _parts(self, asked: AskedValue, text: str) -> dict[str, Any]:
        """Letters where the value is no text: a truth, or a list; else the order of options."""
        if text.strip().lower() in ("true", "false") and (letter := truth(asked)):
            return {"parsed": letter}
        if isinstance(asked.value, list):
            found = asked.letters("letter") or asked.letters("text")
            if found and (len(found) == 1 or asked.item.kind == "multi"):
                return {"parsed": found}
        return {"permutation": list(asked.order)} if asked.order else {}


def reply_in(value: Any) -> Any:
    """Return the reply in a cell as logs have it: in lists of one, in the answer of a server, or as
    the likelihoods of options, of which the largest counts.
    """
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping):
        *_, inner = _unwrapped(value)
        return inner if inner is None or isinstance(inner, str) else value
    if isinstance(value, list) and (likelihoods := _likelihoods(value)):
        return LETTERS[likelihoods.index(max(likelihoods))]
    return value


def was_cut_in(value: Any) -> bool:
    """Return whether the envelope of a reply says that it ended at a limit of tokens."""
    return any(was_cut(layer) for layer in _unwrapped(value) if isinstance(layer, Mapping))


def _unwrapped(value: Any) -> Iterator[Any]:
    """The envelope of a chat completion, from the outermost layer to the text."""
    for step in ("body", "choices", "message", "content", "text"):
        if isinstance(value, list) and value:
            value = value[0]
        yield value
        if isinstance(value, Mapping) and step in value:
            value = value[step]
    yield value


def _likelihoods(value: Sequence[Any]) -> list[float]:
    """The first numbers of pairs of a number and a truth, as harnesses log options; else []."""
    pairs = []
    for each in value:
        while isinstance(each, list) and len(each) == 1:
            each = each[0]
        if not isinstance(each, list) or len(each) != 2 or str(each[1]) not in ("True", "False"):
            return []
        try:
            pairs.append(float(each[0]))
        except (TypeError, ValueError):
            return []
    return pairs if len(pairs) <= len(LETTERS) else []


def numbered(asked: AskedValue, form: str) -> list[str] | None:
    """Return the letters that numbers mean in one form; None where they mean none."""
    if form == "truth":
        return truth(asked)
    if isinstance(asked.value, bool):
        return None
    return asked.letters(_AS_ANSWER[form])


_AS_ANSWER: Mapping[str, AnswerForm] = {"index": "index", "index1": "index1", "reply": "text"}


def truth(asked: AskedValue) -> list[str] | None:
    """Return the letter of yes or no for a truth, or for 1 or 0."""
    read = yes_no(asked.value if asked.value not in (0, 1) else bool(asked.value))
    if read is None and str(asked.value).strip() in ("0", "1"):
        read = yes_no(str(asked.value).strip() == "1")
    words = [option.strip(" .").casefold() for option in asked.item.options]
    if read is None or sorted(words) not in (["no", "yes"], ["false", "true"]):
        return None
    wanted = ("yes", "true") if read[1] == "A" else ("no", "false")
    return [LETTERS[place] for place, word in enumerate(words) if word in wanted]


def prediction_form(
    asked: Sequence[AskedValue], keys: Sequence[AskedValue], named: str, file: str
) -> PredictionForm:
    """Return how values are to be read; ``keys`` are those that the file itself gives, if any."""
    if named:
        return PredictionForm(named, "as --answers-as says")
    given = [each for each in asked if each.item.kind != "open" and not each.is_empty]
    if not given or not all(_is_numeric(each.value) for each in given):
        return PredictionForm("reply", "a parser reads them")
    forms = ("index", "index1", "truth", "reply")
    fitting = [form for form in forms if all(numbered(each, form) for each in given)]
    if len(fitting) > 1:
        fitting = _decided_by_keys(fitting, keys) or fitting
    if len(fitting) == 1:
        return PredictionForm(fitting[0], _why(fitting[0], given))
    raise ReelbenchError(_undecided(fitting, given, file))


def _is_numeric(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_numeric, value))
    return isinstance(value, int) or _NUMBERS.fullmatch(str(value).strip()) is not None


def _decided_by_keys(fitting: Sequence[str], keys: Sequence[AskedValue]) -> list[str]:
    """The forms in which the keys of the file are those of the benchmark."""
    known = [key for key in keys if key.item.answer and not key.is_empty]
    if not known or not all(_is_numeric(key.value) for key in known):
        return []
    return [
        form
        for form in fitting
        if all(numbered(key, form) == sorted(key.item.answer) for key in known)
    ]


def key_agreement(keys: Sequence[AskedValue]) -> tuple[int, int] | None:
    """Return how many keys of a file are those of the items, and of how many that can be read, in
    the form that fits best; None where they are no keys.
    """
    known = [key for key in keys if key.item.answer and not key.is_empty]
    found = []
    for form in ANSWER_FORMS:
        letters = [(key, key.letters(form)) for key in known]
        read = [(key, each) for key, each in letters if each is not None]
        if read and len(read) >= _READABLE * len(known):
            found.append((sum(each == sorted(key.item.answer) for key, each in read), len(read)))
    return max(found, key=lambda pair: pair[0] / pair[1], default=None)


def _why(form: str, given: Sequence[AskedValue]) -> str:
    texts = [(str(each.value).strip().removesuffix(".0"), each.item) for each in given]
    if form == "index" and any(text == "0" for text, _ in texts):
        return "a 0 is among them"
    full = [text for text, item in texts if text == str(len(item.options))]
    if form == "index1" and full:
        return f"a {full[0]} for {full[0]} options is among them"
    return _REASONS.get(form, "no other reading fits")


_REASONS = {"truth": "they answer yes-no questions", "reply": "they are texts of options"}


def _undecided(fitting: Sequence[str], given: Sequence[AskedValue], file: str) -> str:
    if fitting:
        meant = {"index": "from 0", "index1": "from 1", "truth": "1 for yes", "reply": "texts"}
        readings = ", ".join(f"--answers-as {form} ({meant[form]})" for form in fitting)
        return (
            f"The predictions in {file} are numbers that can be read in several ways, and nothing "
            f"in the file tells which: say one of {readings}."
        )
    forms = ("index", "index1")
    odd = next((e for e in given if not any(numbered(e, form) for form in forms)), given[0])
    return (
        f"The predictions in {file} are numbers, and not those of options: {odd.item.id} has "
        f"{len(odd.item.options)} options, and the file {shown(odd.value)}. Name the column with "
        "the predictions, as in --column prediction=NAME."
    )
