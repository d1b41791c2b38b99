"""The parser: what a reply to a closed question answers."""

from reelbench.evaluate.parse.answer import complete_answer, parse_answer
from reelbench.evaluate.parse.question import Failure, Parsed

__all__ = ["Failure", "Parsed", "complete_answer", "parse_answer"]
