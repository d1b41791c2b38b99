"""The two filters of Cinéaste remove and keep at the rates that binomial arithmetic predicts."""

import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from actors import KINDS, Actors, draw, roles
from scipy import stats
from servers import serving

from reelbench.data.sources import Sources
from reelbench.make.parts.drafts import MediaRef, QuestionForm, WritingTask
from reelbench.make.parts.filters import filter_blind, filter_context
from reelbench.make.parts.write import check_drafts, write
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.make import MakeOptions, MakeResult, make_benchmark
from reelbench.make.pipeline.stage import RowStage
from reelbench.recipes.cineaste.recipe import CATEGORIES, RECIPE

SKILL = {
    ("blind", "fine"): 0.3, ("blind", "guessable"): 0.9, ("blind", "false"): 0.5,
    ("veracity", "fine"): 0.95, ("veracity", "guessable"): 0.85, ("veracity", "false"): 0.5,
}  # fmt: skip
FILTERS = ("independence", "veracity")
FILMS, QUESTIONS, SEEDS = 24, 3, 5


class Film(msgspec.Struct, frozen=True):
    """A film without a video: these filters read."""

    id: str


async def ordered(film: Film, ctx: StageContext) -> list[WritingTask]:
    """Order questions of every category about a text of two scenes."""
    scenes = "\n\n".join(f"### Scene {n}: Title {n}\n\nSeen: {film.id}." for n in (1, 2))
    context = ctx.store.keep(f"# Film {film.id}\n\n{scenes}")
    return [
        WritingTask(
            id=f"{film.id}-{slug}",
            prompt=slug,
            media=(MediaRef(f"media/{film.id}.mp4"),),
            forms=(QuestionForm(distractors=(4, 4), parts="scenes"),),
            context=context,
            context_file=f"context/{film.id}.md",
            parts=((0.0, 10.0), (10.0, 20.0)),
            tags={"category": category},
        )
        for category, slug in CATEGORIES.items()
    ]


def make(root: Path, films: int, actors: Actors, connections: int = 64) -> MakeResult:
    """Make what the recipe makes from where questions are written on."""
    recipe = replace(
        RECIPE,
        sources=lambda _: Sources([Film(f"f{number:02d}") for number in range(films)]),
        stages=(
            RowStage(name="order", input=Film, output=WritingTask, work=ordered),
            write((*CATEGORIES.values(), "reply"), actors.questions),
            check_drafts(),
            filter_blind(SEEDS, drop_at=5),
            filter_context(SEEDS, keep_at=0.8),
        ),
        statistics=None,
    )
    root.mkdir(parents=True, exist_ok=True)
    with serving(actors) as server:
        words = roles(root / "cards", server.url, connections=connections)[1::2]
        named = dict(word.split("=", 1) for word in words)
        models = {role: [card] for role, card in named.items()}
        return make_benchmark(
            recipe, root / "bench", MakeOptions(sources=[root / "films"], models=models)
        )


@dataclass(frozen=True)
class Proof:
    """What was planted, and how often each filter's model was right about each question."""

    made: MakeResult
    kinds: Mapping[str, str]  # by question
    out: Path

    def right(self, name: str) -> dict[str, list[int]]:
        """Right answers of five, by kind, of all questions that came to a filter."""
        found: dict[str, list[int]] = defaultdict(list)
        for line in (self.out / "rejects.jsonl").read_text().splitlines():
            reject = json.loads(line)
            seen = reject["row"]["provenance"] | {reject["stage"]: reject["facts"]}
            if name in seen:
                found[self.kinds[reject["row"]["question"]]].append(seen[name]["right"])
        for item in self.made.items:
            found[self.kinds[item.question]].append(item.provenance[name]["right"])
        return found

    def stage(self, name: str) -> dict[str, Any]:
        return next(dict(s) for s in self.made.funnel["stages"] if s["stage"] == name)

    def came_to(self, name: str) -> Iterator[tuple[str, str]]:
        """The category and the kind of every question that came to a filter."""
        (passed,) = [each for each in self.made.passed if each.stage.name == name]
        for item in passed.rows:
            yield item.tags["category"], self.kinds[item.question]


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Proof:
    root = tmp_path_factory.mktemp("proof")
    actors = Actors(questions=QUESTIONS, skill=SKILL, by_count=True)
    made = make(root, FILMS, actors)
    kinds = {question: kind for question, (kind, _) in actors.planted.items()}
    return Proof(made, kinds, root / "bench")


def dropped(name: str, kind: str) -> float:
    """The probability that a filter drops a question of this kind."""
    if name == "independence":
        return SKILL["blind", kind] ** 5
    return float(stats.binom.cdf(3, SEEDS, SKILL["veracity", kind]))  # fewer than 4 of 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FILTERS)
class TestRates:
    def test_a_filter_drops_what_binomial_arithmetic_predicts(
        self, proof: Proof, name: str, kind: str
    ) -> None:
        right = proof.right(name)[kind]
        assert len(right) >= 50
        least = {"independence": lambda r: r == 5, "veracity": lambda r: r < 4}[name]
        chance = dropped(name, kind)
        sigma = math.sqrt(len(right) * chance * (1 - chance))
        assert abs(sum(map(least, right)) - len(right) * chance) <= 4 * sigma

    def test_right_answers_are_spread_as_a_binomial(
        self, proof: Proof, name: str, kind: str
    ) -> None:
        right = proof.right(name)[kind]
        skill = SKILL["blind" if name == "independence" else "veracity", kind]
        expected = stats.binom.pmf(range(SEEDS + 1), SEEDS, skill) * len(right)
        counted = [right.count(number) for number in range(SEEDS + 1)]
        # What is expected less than five times is counted together with its neighbour.
        grouped: list[list[float]] = [[0.0, 0.0]]
        for seen, due in zip(counted, expected, strict=True):
            grouped[-1][0] += seen
            grouped[-1][1] += due
            if grouped[-1][1] >= 5:
                grouped.append([0.0, 0.0])
        rest = grouped.pop()
        grouped[-1] = [grouped[-1][0] + rest[0], grouped[-1][1] + rest[1]]
        assert stats.chisquare(*zip(*grouped, strict=True)).pvalue > 1e-3


class TestTheFunnel:
    def test_what_goes_is_exactly_what_the_counts_say(self, proof: Proof) -> None:
        for item in proof.made.items:
            assert item.provenance["independence"]["right"] < 5
            assert item.provenance["veracity"]["right"] >= 4
        for line in (proof.out / "rejects.jsonl").read_text().splitlines():
            reject = json.loads(line)
            right = reject["facts"]["right"]
            assert right == 5 if reject["stage"] == "independence" else right < 4
            assert len(reject["words"]) == len(reject["facts"]["answers"]) == SEEDS

    @pytest.mark.parametrize("name", FILTERS)
    def test_its_intervals_cover_the_true_rates(self, proof: Proof, name: str) -> None:
        stage, every = proof.stage(name), list(proof.came_to(name))

        def truth(category: str | None) -> float:
            chances = [dropped(name, kind) for each, kind in every if category in (None, each)]
            return sum(chances) / len(chances)

        low, high = stage["interval"]
        assert low < truth(None) < high
        assert low <= stage["rate"] <= high
        assert high - low < 0.15
        covered = [
            group["interval"][0] < truth(category) < group["interval"][1]
            for category, group in stage["by_category"].items()
        ]
        assert len(covered) == 5
        assert sum(covered) >= 4

    def test_it_adds_up_by_stage_and_by_category(self, proof: Proof) -> None:
        stages = proof.made.funnel["stages"]
        assert stages[1]["out"] == FILMS * len(CATEGORIES) * QUESTIONS
        for before, after in pairwise(stages):
            assert before["out"] == after["in"]
        for name in FILTERS:
            stage = proof.stage(name)
            assert stage["in"] == stage["passed"] + stage["rejected"]
            assert stage["undecided"] == 0
            assert stage["rate"] == pytest.approx(stage["rejected"] / stage["in"], abs=1e-6)
            came = Counter(category for category, _ in proof.came_to(name))
            groups = stage["by_category"]
            assert {category: group["in"] for category, group in groups.items()} == came
            for part in ("in", "passed", "rejected", "out"):
                assert sum(group[part] for group in groups.values()) == stage[part]
        rejects = (proof.out / "rejects.jsonl").read_text().splitlines()
        assert len(rejects) == sum(stage["rejected"] for stage in stages)
        assert len(proof.made.items) == stages[-1]["out"]

    def test_each_question_is_asked_five_times_and_no_more(self, proof: Proof) -> None:
        came = sum(proof.stage(name)["in"] for name in FILTERS)
        assert proof.made.counts.asked == SEEDS * came + FILMS * len(CATEGORIES)


class TestConcurrency:
    def test_the_same_rows_come_out_whatever_the_concurrency(self, tmp_path: Path) -> None:
        written = []
        for connections in (1, 64):
            # Who comes first is answered last, as often as not.
            actors = Actors(questions=4, skill=SKILL, interrupt=lambda model, prompt: time.sleep(
                0.004 * draw("pause", model, prompt)))  # fmt: skip
            root = tmp_path / str(connections) / "films"
            made = make(root, 2, actors, connections)
            assert 0 < len(made.items) < 40
            names = ("items.jsonl", "rejects.jsonl", "funnel.json", "benchmark.yaml", "made.html")
            written.append({name: (root / "bench" / name).read_text() for name in names})
        assert written[0] == written[1]
