"""A make of Cinéaste whose filters are a real model, and what they decide on each question."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from deciding.figures import Taken, taken
from deciding.films import Film, writing
from reelbench.data.items import Item
from reelbench.make.pipeline.funnel import FLAGGED
from reelbench.make.pipeline.make import MakeOptions, MakeResult, make_benchmark
from reelbench.models.load import Loader
from reelbench.recipes.cineaste.recipe import RECIPE

STAGES = {"independence": "blind", "veracity": "hallucinated"}  # with why each drops a question


@dataclass(frozen=True, slots=True)
class Filtered:
    """The questions with what both filters found, and what that took."""

    items: Sequence[Item]
    kept: Sequence[str]  # the names of those that a make keeps
    undecided: int
    costs: dict[str, Taken]  # by stage

    def decisions(self) -> dict[str, str]:
        """Return what becomes of each question: the first filter that drops it, or ``keep``."""
        return {
            item.id: next((why for name, why in STAGES.items() if is_dropped(item, name)), "keep")
            for item in self.items
        }

    def unreadable(self, stage: str) -> int:
        """Return how many of a filter's answers could not be read."""
        return sum(a is None for item in self.items for a in item.provenance[stage]["answers"])


def is_dropped(item: Item, stage: str) -> bool:
    """Whether a filter drops an item."""
    return bool(item.provenance[stage].get(FLAGGED))


def filtered(films: Sequence[Film], card: str, out: Path, seeds: Mapping[str, int]) -> Filtered:
    """Make a benchmark of films with a model as blind and veracity; go on where it was stopped.

    It is made as anyone would, and then once more with filters that only report, so that each has
    decided on every question.
    """
    blind = Loader().load(card).card
    # Another name, so that the journal tells what each role took; the same server.
    renamed = {"name": f"{blind.name}-veracity", "model": blind.model or blind.name}
    veracity = msgspec.to_builtins(blind) | renamed
    asked = {f"{stage}.seeds": count for stage, count in seeds.items()}
    asked["independence.drop_at"] = seeds["independence"]
    with writing(films, out) as writer:
        (out / "veracity.yaml").write_text(json.dumps(veracity))
        models = {"writer": [writer], "blind": [card], "veracity": [str(out / "veracity.yaml")]}

        def made(drop: bool) -> MakeResult:
            parameters = asked | {f"{stage}.drop": drop for stage in STAGES}
            options = MakeOptions([out / "source"], models, parameters=parameters)
            return make_benchmark(RECIPE, out / "bench", options)

        kept = [item.id for item in made(drop=True).items]
        every = made(drop=False)
    journal = out / "bench" / "make" / "journal.sqlite"
    names = {"independence": blind.name, "veracity": renamed["name"]}
    costs = {stage: taken(journal, name) for stage, name in names.items()}
    return Filtered(every.items, kept, len(every.funnel["undecided"]), costs)
