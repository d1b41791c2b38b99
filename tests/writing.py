"""A writing task for tests, the replies of its writer, and what becomes of them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from parts import Studio, by_turns
from servers import Reply, Server

from reelbench.base.files import digest_of
from reelbench.make.parts.drafts import Draft, MediaRef, QuestionForm, WritingTask
from reelbench.make.parts.rules import load_rules
from reelbench.make.parts.write import check_drafts, write
from reelbench.make.pipeline.funnel import funnel_record
from reelbench.make.pipeline.prompts import Prompts
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.stage import Rejected
from reelbench.make.pipeline.store import RowResult

CONTEXT = "# A film\n\nScene 1: a boat leaves. Scene 2: a storm. Scene 3: it returns {{count}}."
PROMPT = "Write {{count}} questions.\n{{context}}\n{{rules}}\n{{examples}}\n{{reply}}"
RULES = """
name: ours
version: "7"
red_lines:
  - {id: R1, text: Never name a scene by its number., check: no_scene_numbers}
  - {id: R2, text: Options are about equally long., check: {similar_length: 2}}
categories:
  Weather:
    - {id: W1, text: Name nobody., check: no_proper_nouns}
"""
WRITE, CHECK = write(("ask", "reply"), 2), check_drafts()


def prompts(rules: str = "", **more: Any) -> Prompts:
    texts = {"ask": PROMPT, "reply": "Reply with JSON."}
    return Prompts(texts, load_rules(rules) if rules else None, more)


def writing_task(number: int = 1, **fields: Any) -> WritingTask:
    plain: dict[str, Any] = {
        "id": f"film-{number}",
        "prompt": "ask",
        "media": (MediaRef("media/film.mp4"),),
        "forms": (QuestionForm(parts="scenes"),),
        "context": digest_of(CONTEXT),
        "context_file": "contexts/film.md",
        "parts": ((0.0, 5.0), (5.0, 9.5), (9.5, 20.0)),
        "tags": {"category": "Weather", "film": "A film"},
    }
    return WritingTask(**(plain | fields))


def question(number: int = 1, **fields: Any) -> dict[str, Any]:
    plain = {
        "question": f"What happens to the boat in storm {number}?",
        "answer": "its mast breaks",
        "distractors": ["its sail tears", "its crew sings", "its hull leaks"],
        "reasoning": "The mast is seen to break.",
        "scenes": [2, 3],
    }
    return plain | fields


def reply(*questions: Any) -> str:
    return json.dumps({"questions": list(questions)})


GOOD = reply(question(1), question(2))


def studio(folder: Path, *replies: str | Reply, rules: str = "", **card: Any) -> Studio:
    models = {"writer": [{"name": "pen", **card}]}
    return Studio(folder, by_turns(*replies), models, prompts(rules), texts=[CONTEXT])


def written(folder: Path, *replies: str | Reply, **more: Any) -> tuple[Any, Server]:
    """The drafts of one task, or why there are none."""
    return studio(folder, *replies, **more).work(WRITE, writing_task())


def made(folder: Path, *replies: str | Reply, **more: Any) -> tuple[list[StageResult], Server]:
    """One task through writing and checking."""
    return studio(folder, *replies, **more).take([writing_task()], WRITE, CHECK)


def reasons(passed: StageResult) -> Counter[str]:
    """Why rows were rejected, counted as the funnel counts them."""
    (stage,) = funnel_record([passed], ())["stages"]
    rejected = [r.rejected for r in passed.results if isinstance(r, RowResult) and r.rejected]
    assert stage["rejected"] == len(rejected)
    return Counter(each.reason for each in rejected)


def checked(folder: Path, said: Any, rules: str = "", **fields: Any) -> Any:
    """What the check makes of one draft: an item, or why it is none."""
    draft = Draft(id="d", task=writing_task(**fields), reply=said, writer="pen")
    result, _ = Studio(folder, prompts=prompts(rules)).work(CHECK, draft)
    return result if isinstance(result, Rejected) else result[0]
