"""Drafts whose question or first answer is in the words of a model, or of a template (L.1, L.2)."""

from collections.abc import Callable, Mapping
from typing import Any

from reelbench.data.items import LETTERS
from reelbench.make.parts.answer_and_rank import ANSWER_FORM
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.recipes.humanvbench.tasks import TASKS

_LETTER_EMOTION = r"[{letters}] ?[-\u2013] ?\w[^.]*\.?"  # EIC: such as B-anger
_ROLES = {"caption": "captioner", "question": "writer"}  # who writes which text


def _open(row: Candidate) -> dict[str, Any]:
    """Return the fields of an item with a question and its first answer, as a model wrote them."""
    tags = {name: row.texts[name] for name in ("polarity", "asks") if name in row.texts}
    return {
        "question": _text(row, "question"),
        "reference": _text(row, "answer"),
        "tags": tags,
        "context": _context(row),
    }


def _attitude(row: Candidate) -> dict[str, Any]:
    options = TASKS[row.task].options
    question = _text(row, "question")
    return {
        "question": question,
        "kind": "single",
        "options": options,
        "answer": [LETTERS[options.index(row.texts["attitude"].capitalize())]],
        "context": {**_context(row), "explanation": row.texts["answer"]},
    }


def _compared(row: Candidate) -> dict[str, Any]:
    letters = LETTERS[: len(row.people)]
    listed = f"{', '.join(letters[:-1])} and {letters[-1]}"
    task = TASKS[row.task]
    return {
        "question": task.question.format(letters=listed),
        "reference": task.first_answer,
        "context": {ANSWER_FORM: _LETTER_EMOTION.format(letters=letters)},
    }


def _described(row: Candidate) -> dict[str, Any]:
    caption = _text(row, "caption")
    question = TASKS[row.task].question.format(subject=row.subject)
    return {"question": question, "reference": caption, "context": _context(row)}


def _text(row: Candidate, name: str) -> str:
    if not row.texts.get(name):
        lacking = [f"--model {role}=NAME" for text, role in _ROLES.items() if text not in row.texts]
        raise Rejected("needs models", f"Add {' '.join(lacking)}.")
    return str(row.texts[name])


def _context(row: Candidate) -> dict[str, str]:
    """Return what the item was made from; no evaluated model is shown it."""
    return {name: row.texts[name] for name in ("caption", "appearance") if row.texts.get(name)}


IN_WORDS: Mapping[str, Callable[[Candidate], dict[str, Any]]] = {
    **dict.fromkeys(("ER", "ETA", "BTA", "BCA"), _open),
    "AR": _attitude,
    "EIC": _compared,
    "H2T": _described,
}
