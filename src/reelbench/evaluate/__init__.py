"""Asking: conditions, prompts, the parser, and the run itself."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "Condition",
    "Judgement",
    "RunOptions",
    "RunState",
    "benchmark_of",
    "conditions_for",
    "is_finished",
    "judge_all",
    "majority",
    "parse_answer",
    "read_run",
    "run_benchmark",
    "subtitles_of",
]

if TYPE_CHECKING:
    from reelbench.evaluate.condition import Condition, conditions_for
    from reelbench.evaluate.folder import benchmark_of, is_finished, read_run
    from reelbench.evaluate.item_media import subtitles_of
    from reelbench.evaluate.judge import Judgement, judge_all
    from reelbench.evaluate.parse import parse_answer
    from reelbench.evaluate.prepare import RunOptions
    from reelbench.evaluate.run import run_benchmark
    from reelbench.evaluate.status import RunState
    from reelbench.evaluate.vote import majority

_HOMES = {
    "Condition": "condition",
    "Judgement": "judge",
    "RunOptions": "prepare",
    "RunState": "status",
    "benchmark_of": "folder",
    "conditions_for": "condition",
    "is_finished": "folder",
    "judge_all": "judge",
    "majority": "vote",
    "parse_answer": "parse",
    "read_run": "folder",
    "run_benchmark": "run",
    "subtitles_of": "item_media",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
