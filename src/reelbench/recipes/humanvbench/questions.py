"""Questions with their first answers, written from captions (3.3, L.1)."""

from collections.abc import Mapping
from typing import Any

from reelbench.make.parts.shape import TEXT, closed, listed
from reelbench.make.parts.wording import one_sentence_fault, revealed_fault
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.captions import CAPTION, speaks_of_mark, target_words
from reelbench.recipes.humanvbench.rows import Candidate, with_texts

ATTITUDES = ("positive", "negative", "neutral")
_PAIR = {"question": TEXT, "answer": TEXT, "decisive": listed(TEXT, 1)}
# The prompt of each task, and what its reply has beside a question and an answer.
QUESTIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "ER": ("question-emotion", _PAIR),
    "ETA": ("question-emotion-change", _PAIR),
    "AR": (
        "question-attitude",
        {
            "question": TEXT,
            "answer": TEXT,
            "attitude": {"type": "string", "enum": list(ATTITUDES)},
        },
    ),
    "BTA": ("question-actions", _PAIR),
    "BCA": ("question-causes", {**_PAIR, "asks": {"type": "string", "enum": ["cause", "result"]}}),
}
QUESTION_PROMPTS = (*(prompt for prompt, _ in QUESTIONS.values()), "pair")


async def question(row: Candidate, ctx: StageContext) -> list[Candidate]:
    """Give a candidate its question and the first answer to it."""
    if row.task not in QUESTIONS or CAPTION not in row.texts:
        return [row]
    prompt, fields = QUESTIONS[row.task]
    looks = str(row.texts.get("appearance", ""))
    # Of things, no label tells the looks: the box must do.
    called = "by looks, not by the red box" if looks else f'"the {row.subject} in the red box"'
    words = ctx.prompts.prompt(
        prompt,
        caption=row.texts[CAPTION],
        target=target_words(row),
        subject=row.subject,
        pair=ctx.prompts.prompt("pair", subject=row.subject, called=called).strip(),
    )
    reply = await ctx.json(
        "writer", words, closed(fields), check=lambda data: pair_fault(data, looks)
    )
    if reply.data is None:
        raise Rejected("no usable question", reply.failure, [reply.words])
    found = {name: value for name, value in reply.data.items() if name != "decisive"}
    models = {**row.texts["models"], "writer": ctx.model("writer").card.name}
    texts = {name: value.strip() for name, value in found.items()}
    return [with_texts(row, models=models, **texts)]


def pair_fault(reply: Mapping[str, Any], looks: str) -> str:
    """Return what is wrong with a question and its answer; "" where nothing is."""
    asked, answer = reply["question"], reply["answer"]
    if fault := one_sentence_fault(answer):
        return f"answer: {fault}"
    if looks and speaks_of_mark(asked):
        return "question: call whom it is about by looks, not by the box"
    if "attitude" in reply:
        named = [each for each in ATTITUDES if each in asked.lower()]
        if named and len(named) < len(ATTITUDES):
            return "question: name all three attitudes, or none"
        if reply["attitude"] not in answer.lower():
            return "answer: it must name the attitude"
        asked = " ".join(word for word in asked.split() if not _is_attitude(word))
        return _as_fault(revealed_fault(asked, answer, [reply["attitude"]], looks))
    return _as_fault(revealed_fault(asked, answer, reply["decisive"], looks))


def _is_attitude(word: str) -> bool:
    return word.strip(".,:;?!()\"'").lower() in ATTITUDES


def _as_fault(fault: str) -> str:
    return f"do not give the answer away: {fault}" if fault else ""
