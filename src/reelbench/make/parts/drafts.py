"""Writing tasks, the form of questions, and drafts: questions as a model wrote them.

A task asks for questions about one source. A ``QuestionForm`` describes each kind of question that
may be written; the JSON schema of a reply follows from it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import structs

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import LETTERS, Kind, Media
from reelbench.make.parts.shape import TEXT, closed, listed

Bounds = tuple[int, int]  # at least, at most
_NUMBER = {"type": "number", "minimum": 0}
YES_NO = ("Yes", "No")
NAMES = "names"  # in an item's context: the proper nouns in the texts about its source


class QuestionForm(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that a model writes for a question of one kind.

    With ``distractors=(0, 0)``, ``distract`` has them written later: until then, a single-choice
    question is an open one with its key as reference, and a multi-select one has its keys alone.
    """

    kind: Kind = "single"
    distractors: Bounds = (3, 3)  # of single and multi-select questions
    keys: Bounds = (2, 4)  # right options of multi-select questions
    parts: str = ""  # the field that holds the numbers of the source's parts, such as "scenes"
    parts_first: bool = False  # whether they are chosen before the question is written
    times: bool = False  # whether ``evidence`` is asked for: [start, end] in seconds
    explanations: bool = False  # whether each option says why it is right or wrong
    fields: dict[str, Any] = {}  # further fields, each with its JSON schema
    tags: dict[str, str] = {}  # which of them become tags of the item, and of what name

    def __post_init__(self) -> None:
        """Raise an error for numbers of options that no item can have."""
        (fewest, most), (least, largest) = self.keys, self.distractors
        total = (largest + most) if self.kind == "multi" else largest + 1
        if not (2 <= fewest <= most and 0 <= least <= largest and total <= len(LETTERS)):
            raise ReelbenchError(
                f"A {self.kind} question cannot have {fewest} to {most} keys and {least} to "
                f"{largest} distractors: an item has at most {len(LETTERS)} options."
            )

    def schema(self, *, names_kind: bool = False) -> dict[str, Any]:
        """Return the JSON schema of one question; with ``names_kind``, it has a field ``kind``."""
        option = closed({"text": TEXT, "explanation": TEXT}) if self.explanations else TEXT
        answers: dict[Kind, dict[str, Any]] = {
            "single": {"answer": option},
            "multi": {"answers": listed(option, *self.keys)},
            "yesno": {"answer": {"enum": list(YES_NO)}},
            "open": {"reference": TEXT},
        }
        has_options = self.kind in ("single", "multi") and self.distractors[1] > 0
        span = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}
        parts = {self.parts: listed({"type": "integer"}, 1)} if self.parts else {}
        return closed(
            {
                **({"kind": {"enum": [self.kind]}} if names_kind else {}),
                **(parts if self.parts_first else {}),
                "question": TEXT,
                **answers[self.kind],
                **({"distractors": listed(option, *self.distractors)} if has_options else {}),
                **self.fields,
                "reasoning": TEXT,
                **parts,  # a field that is there already keeps its place
                **({"evidence": listed(span, 1)} if self.times else {}),
            }
        )

    def example(self, *, names_kind: bool = False) -> dict[str, Any]:
        """Return a question of usual length that fits the schema, for forecasts."""

        def option(number: int) -> Any:
            text = f"word{number} " * 8
            return {"text": text, "explanation": "why " * 15} if self.explanations else text

        key = YES_NO[0] if self.kind == "yesno" else option(0)
        wrong = range(100, 100 + self.distractors[1])
        every = {
            "kind": self.kind,
            "question": "what " * 20,
            "answer": key,
            "answers": [option(number) for number in range(self.keys[0])],
            "reference": "words " * 50,
            "distractors": [option(number) for number in wrong],
            "reasoning": "why " * 30,
            "evidence": [[0.0, 1.0]],
            self.parts or "parts": [1],
            **{name: _example(schema) for name, schema in self.fields.items()},
        }
        return {name: every[name] for name in self.schema(names_kind=names_kind)["properties"]}


def _example(schema: Mapping[str, Any]) -> Any:
    """Return the shortest value that a simple schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "array":
        return [_example(schema.get("items", {}))]
    return {"integer": 1, "number": 1.0, "boolean": True}.get(schema.get("type", ""), "word")


class MediaRef(msgspec.Struct, frozen=True):
    """A video in the benchmark, or the part of it from ``start`` to ``end`` seconds."""

    path: str
    start: float | None = None
    end: float | None = None

    @property
    def media(self) -> Media:
        """The same, as items have it."""
        return Media(self.path, self.start, self.end)


class WritingTask(msgspec.Struct, frozen=True, kw_only=True):
    """A row for ``write``: questions about one source, each in one of the given forms."""

    id: str
    prompt: str  # the name of the prompt that asks for them
    media: tuple[MediaRef, ...]  # of the items; what is shown to a writer who is shown something
    forms: tuple[QuestionForm, ...] = (QuestionForm(),)
    count: Bounds | None = None  # of questions in a reply; that of the stage where it is None
    slots: dict[str, str] = {}  # texts for slots of the prompt, such as guidance
    context: str = ""  # the digest of a kept text, which fills {{context}}
    context_file: str = ""  # where that text is put in the benchmark
    parts: tuple[tuple[float, float], ...] = ()  # seconds of the source's parts, numbered from 1
    unquoted: tuple[str, ...] = ()  # texts that a question must not hold word for word
    names: tuple[str, ...] = ()  # proper nouns in the texts about the source; see ``names.py``
    rules: str = ""  # the digest of a kept rule set; the recipe's rules hold where it is empty
    rules_for: str = ""  # the category whose rules and examples hold; that of the tags by default
    tags: dict[str, Any] = {}
    provenance: dict[str, Any] = {}

    @property
    def category(self) -> str:
        """The category that its items are tagged with."""
        return str(self.tags.get("category", ""))

    def with_provenance(self, facts: Mapping[str, Any]) -> "WritingTask":
        """Return the task with more in the provenance of its items."""
        return structs.replace(self, provenance={**self.provenance, **facts})

    def form_of(self, reply: Any) -> QuestionForm | None:
        """Return the form that one question of a reply is meant to have."""
        if len(self.forms) == 1:
            return self.forms[0]
        kind = reply.get("kind") if isinstance(reply, dict) else None
        return next((form for form in self.forms if form.kind == kind), None)

    def schema(self, count: int | Bounds | None) -> dict[str, Any]:
        """Return the JSON schema of a reply: a list of questions, or one alone."""
        several = len(self.forms) > 1
        schemas = [form.schema(names_kind=several) for form in self.forms]
        one = {"anyOf": schemas} if several else schemas[0]
        if count is None:
            return one
        bounds = (1, None) if isinstance(count, int) else count
        return closed({"questions": listed(one, *bounds)})


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A question as a model wrote it, not yet checked."""

    id: str
    task: WritingTask
    reply: Any
    writer: str
    stage: str = "write"  # that had it written
    by_people: bool = False  # who are not held to the rules that a program can check

    @property
    def category(self) -> str:
        """The category of its task."""
        return self.task.category


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a question as it was written: right ones, wrong ones, and why they are."""

    keys: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    explanations: dict[str, str] = field(default_factory=dict)

    @property
    def options(self) -> tuple[str, ...]:
        """All of them, the right ones first."""
        return (*self.keys, *self.wrong)


def choices_of(form: QuestionForm, reply: Mapping[str, Any]) -> Choices:
    """Return the options of a question that fits the form's schema; none for open ones."""
    if form.kind == "open":
        return Choices()
    if form.kind == "yesno":
        other = next(each for each in YES_NO if each != reply["answer"])
        return Choices((reply["answer"],), (other,))
    keys = reply["answers"] if form.kind == "multi" else [reply["answer"]]
    wrong = reply.get("distractors", ())
    explanations = {
        each["text"].strip(): each["explanation"].strip()
        for each in (*keys, *wrong)
        if form.explanations
    }
    return Choices(_texts(keys), _texts(wrong), explanations)


def _texts(options: Sequence[Any]) -> tuple[str, ...]:
    return tuple((each["text"] if isinstance(each, dict) else each).strip() for each in options)
