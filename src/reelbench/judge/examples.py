"""Rows as tokens, and the order in which they are trained on: of like length, so that little is
padded, and the same in every run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import track
from reelbench.base.seeds import rng_for
from reelbench.data.benchmark import BenchmarkError
from reelbench.data.items import Problem
from reelbench.judge.sharegpt import RatedResponse
from reelbench.models.judge.decode import encode_part
from reelbench.models.judge.folder import JudgeFolder
from reelbench.models.judge.grammar import FreeText, part_text, reply_parts, values_in
from reelbench.models.judge.prompt import PromptTooLongError, prompt_tokens

_STEPS_SORTED = 16  # steps whose rows are sorted by length together


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A prompt and its reply as tokens; only those of the reply have a loss."""

    prompt: tuple[int, ...]
    reply: tuple[int, ...]

    @property
    def length(self) -> int:
        """All its tokens."""
        return len(self.prompt) + len(self.reply)


def make_examples(
    tokenizer: Any, rows: Sequence[RatedResponse], folder: JudgeFolder, source: str
) -> list[TrainingExample]:
    """Return rows as tokens, part by part as a served judge writes them.

    Long captions are cut as in serving. A row that is too long without one is refused by name.
    """
    parts = reply_parts(folder.schema)
    examples, problems = [], []
    for row in track(rows, "Reading rows", len(rows), "rows"):
        values = values_in(parts, row.reply)
        reply: list[int] = []
        for part in parts:
            tokens = encode_part(tokenizer, part_text(part, values))
            reply += tokens[: folder.reason_tokens] if isinstance(part, FreeText) else tokens
        if tokenizer.eos_token_id is not None:
            reply.append(tokenizer.eos_token_id)
        try:
            prompt = prompt_tokens(tokenizer, row.prompt, folder)
        except PromptTooLongError as error:
            problems.append(Problem("TOO_LONG", row.id, str(error), "a shorter one", source))
            continue
        examples.append(TrainingExample(tuple(prompt), tuple(reply)))
    if problems:
        raise BenchmarkError(problems)
    return examples


def plan_steps(lengths: Sequence[int], batch: int, epochs: int, seed: int) -> list[tuple[int, ...]]:
    """Return which examples each step takes: all of them once an epoch, those of a step alike."""
    if batch < 1 or epochs < 1:
        raise ReelbenchError("A training has at least one row a step and one epoch.")
    steps: list[tuple[int, ...]] = []
    for epoch in range(epochs):
        rng = rng_for(seed, "judge epoch", epoch)
        order = list(range(len(lengths)))
        rng.shuffle(order)
        chunk = batch * _STEPS_SORTED
        for start in range(0, len(order), chunk):
            near = sorted(order[start : start + chunk], key=lambda place: lengths[place])
            made = [tuple(near[at : at + batch]) for at in range(0, len(near), batch)]
            rng.shuffle(made)
            steps += made
    return steps


def split_step(places: Sequence[int], lengths: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """Split a step into what fits on the device together: so many tokens, padding among them."""
    groups: list[list[int]] = []
    for place in sorted(places, key=lambda place: lengths[place]):
        if groups and lengths[place] * (len(groups[-1]) + 1) <= most:
            groups[-1].append(place)
        else:
            groups.append([place])
    return [tuple(group) for group in groups]


def padded_tokens(steps: Sequence[Sequence[int]], lengths: Sequence[int], most: int) -> float:
    """Return the share of tokens that are padding."""
    groups = [group for step in steps for group in split_step(step, lengths, most)]
    full = sum(max(lengths[p] for p in group) * len(group) for group in groups)
    used = sum(lengths[place] for step in steps for place in step)
    return 1 - used / full if full else 0.0
