"""Read items in other formats, as far as the linter needs them.

A draft has question, options and answer of one line of a file in another format. It is checked, and
never run or scored.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import LETTERS, NOTHING, Item, Kind, Media, freeze
from reelbench.interop.imports.answers import AnswerForm, letters_or_none
from reelbench.interop.imports.values import OptionList, read_options

_QUESTION = ("question", "stem", "query", "prompt")
_OPTIONS = ("options", "choices", "candidates", "answers", "answer_choices")
_ANSWER = ("answer", "correct_label", "correct_labels", "correct_choice", "label", "answer_id",
           "correct_answer", "correct_answers", "gt")  # fmt: skip
_MEDIA = ("media", "video", "video_path", "video_name", "video_id", "videoID", "clip")
_WRITTEN_OUT = ("correct_answer", "correct_answers", "answer_text")


def draft_item(record: Any, number: int) -> Item | None:
    """Return the item of a record in another format; None where it is no closed question."""
    if not isinstance(record, Mapping):
        return None
    question, options = _first(record, _QUESTION), _options(record)
    if not isinstance(question, str) or not question.strip() or not options:
        return None
    answer = _answer(record, options)
    written = {n: record[n] for n in _WRITTEN_OUT if isinstance(record.get(n), str | list)}
    return Item(
        id=str(record.get("id", record.get("question_id", f"line {number}"))),
        kind=_kind(record, options, answer),
        media=(Media(str(_first(record, _MEDIA) or "")),),
        question=question,
        options=options,
        answer=answer,
        extra=freeze(written) or NOTHING,
    )


def _first(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((record[name] for name in names if name in record), None)


def _options(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Options in any form that can be imported."""
    try:
        return read_options(_first(record, _OPTIONS)).texts
    except ValueError:
        return ()


def _answer(record: Mapping[str, Any], options: tuple[str, ...]) -> tuple[str, ...]:
    """The letters of the answer, which may be given as letters, numbers or texts."""
    for name in _ANSWER:
        given = record.get(name)
        parts = given if isinstance(given, list | tuple) else [given]
        letters = [letter for part in parts for letter in _letters(part, OptionList(options))]
        if letters and all(letters):
            return tuple(letters)
    return ()


def _letters(given: Any, options: OptionList) -> tuple[str, ...]:
    """The letters that a value names; one beyond the options as it is, so that it is reported."""
    if isinstance(given, int) and not isinstance(given, bool):
        return (LETTERS[given],) if 0 <= given < len(LETTERS) else ("?",)
    if not isinstance(given, str) or not given.strip():
        return ("",)
    label = given.strip("().: ").upper()
    beyond = (label,) if len(label) == 1 and label in LETTERS else ("",)
    forms: tuple[AnswerForm, ...] = (
        ("text", "letter") if given.strip() in options.texts else ("letter", "text")
    )
    found = (letters_or_none(given, options, form) for form in forms)
    return next((letters for letters in found if letters), beyond)


def _kind(record: Mapping[str, Any], options: tuple[str, ...], answer: tuple[str, ...]) -> Kind:
    named = " ".join(str(record.get(n, "")) for n in ("kind", "type", "question_type")).lower()
    if "multi" in named and "multiple choice" not in named and "multiple-choice" not in named:
        return "multi"
    if sorted(option.strip(" .").lower() for option in options) == ["no", "yes"]:
        return "yesno"
    return "multi" if len(answer) > 1 else "single"
