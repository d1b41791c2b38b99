"""Compare the calls that ``reelbench make --dry-run`` forecasts with those that are then made.

Scripted models on a server play the roles of three recipes. Each recipe is forecast with nothing
seen and made; then, in another folder, tried on some of its sources, forecast again, made. Within
15 % must be: with nothing seen, models that let through what the papers report, for that is what
recipes expect; after a trial, all models. With nothing seen, the rates of other models cannot be
known: their row shows how far off a forecast is then.

Run: python benchmarks/forecast.py
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from actors import (  # type: ignore[import-not-found]
    KINDS,
    SHARES,
    Actors,
    draw,
    tiny_videos,
    write_card,
    write_movie,
)
from filtering import planted  # type: ignore[import-not-found]
from quality_actors import REVIEWERS, Critics, hang  # type: ignore[import-not-found]
from servers import Reply, Server, completion, serving  # type: ignore[import-not-found]

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Media, freeze
from reelbench.data.manifest import Manifest
from reelbench.make.pipeline.make import MakeOptions, forecast, make_benchmark
from reelbench.make.pipeline.stage import Recipe
from reelbench.recipes import load_recipe
from reelbench.recipes.cineaste.recipe import GENERATED, INDEPENDENT, TRUE
from reelbench.recipes.filters.recipe import NOT_BLIND

TARGET = 0.15
FORMAT = "{:14}{:14}{:16}{:>10}{:>10}{:>9}"
PAPER, OTHER = "as in papers", "others"
ITEMS, OPTIONS = 120, 5  # of the benchmark that is filtered
# What a model that does not know gives: a guess. Readers answer without the video, as blind ones.
KNOWS = {("blind", "guessable"), ("reader", "guessable"), *(("veracity", k) for k in KINDS[:2])}
SKILL = {
    (role, kind): 1.0 if (role, kind) in KNOWS else 1 / OPTIONS
    for role in ("blind", "reader", "veracity", "watcher")
    for kind in KINDS
}


@dataclass(frozen=True)
class Case:
    """A recipe with its sources and the models that play its roles."""

    recipe: Recipe
    source: Path
    models: Mapping[str, Sequence[str]]
    server: Server
    trial: int  # sources that it is tried on first

    def options(self, limit: int | None) -> MakeOptions:
        """Name the sources and the models."""
        return MakeOptions(sources=[self.source], models=self.models, limit=limit)

    def expected(self, out: Path) -> int:
        """Forecast the calls for all sources."""
        return sum(row.requests for row in forecast(self.recipe, out, self.options(None))[0])

    def made(self, out: Path, limit: int | None) -> int:
        """Make it, or a part of it; return the calls that were made."""
        before = len(self.server.requests)
        make_benchmark(self.recipe, out, self.options(limit))
        return len(self.server.requests) - before


def main() -> None:
    """Print the calls that were forecast beside those that were made."""
    print(FORMAT.format("recipe", "models", "what was seen", "forecast", "made", "error"))
    far = []
    for case_of, likes in CASES:
        for like in likes:
            with tempfile.TemporaryDirectory() as name, case_of(Path(name), like) as case:
                first, second = Path(name) / "a", Path(name) / "b"
                error = put(case, like, "nothing", case.expected(first), case.made(first, None))
                far += [case.recipe.name] if like == PAPER and error > TARGET else []
                case.made(second, case.trial)
                seen = f"{case.trial} sources"
                error = put(case, like, seen, case.expected(second), case.made(second, None))
                far += [case.recipe.name] if error > TARGET else []
    if far:
        raise SystemExit(f"further off than {TARGET:.0%}: {', '.join(dict.fromkeys(far))}")


def put(case: Case, like: str, seen: str, expected: int, made: int) -> float:
    """Print one row; return how far off it is."""
    error = expected / made - 1
    counts = (f"{expected:,}", f"{made:,}", f"{error:+.1%}")
    print(FORMAT.format(case.recipe.name, like, seen, *counts), flush=True)
    return abs(error)


@contextmanager
def cineaste(folder: Path, like: str) -> Iterator[Case]:
    """Films of which questions are written, answered blind and answered from the text."""
    videos = tiny_videos(folder / "videos")
    for number in range(8):
        write_movie(folder / "movies", f"film-{number:02d}", videos)
    guessable, false = 1 - INDEPENDENT / GENERATED, (INDEPENDENT - TRUE) / GENERATED
    shares = shares_of(guessable, false) if like == PAPER else SHARES
    with serving(Actors(shares=shares, interrupt=fails_sometimes("writer"))) as server:
        names = ("captioner", "writer", "blind", "veracity")
        models = {name: [str(write_card(folder, name, server.url))] for name in names}
        yield Case(load_recipe("cineaste"), folder / "movies", models, server, 3)


@contextmanager
def qbench_video(folder: Path, _like: str) -> Iterator[Case]:
    """Videos of which questions are written, reviewed by three models and negated."""
    hang(folder / "sources")
    with serving(Critics(disputed="in part 1 of 5")) as server:
        models = {
            role: [str(write_card(folder, name, server.url)) for name in names]
            for role, names in {"writer": ["writer"], "reviewer": REVIEWERS}.items()
        }
        yield Case(load_recipe("qbench-video"), folder / "sources", models, server, 12)


@contextmanager
def filters(folder: Path, like: str) -> Iterator[Case]:
    """A finished benchmark whose items are answered blind, by text and from pictures alone."""
    actors = Actors(shares=shares_of(1 - NOT_BLIND, 0.0) if like == PAPER else SHARES, skill=SKILL)
    clips = [path.name for path in tiny_videos(folder / "source" / "clips")]
    context = freeze({"text": "A dog sleeps on the pier."})
    items = [
        planted(actors, n, media=(Media(f"clips/{clips[n % 2]}"),), context=context)
        for n in range(ITEMS)
    ]
    Benchmark(folder / "source", Manifest("theirs", "1"), tuple(items)).save(folder / "source")
    played = {"blind": ["blind"], "ensemble": ["reader-1", "reader-2", "reader-3"]}
    played |= {"veracity": ["veracity"], "watcher": ["watcher"]}
    with serving(actors) as server:
        models = {
            role: [str(write_card(folder, name, server.url)) for name in names]
            for role, names in played.items()
        }
        yield Case(load_recipe("filters"), folder / "source", models, server, ITEMS // 4)


def shares_of(guessable: float, false: float) -> dict[str, float]:
    """Return the shares of questions by kind."""
    return {"fine": 1 - guessable - false, "guessable": guessable, "false": false}


CASES: list[tuple[Callable[[Path, str], AbstractContextManager[Case]], tuple[str, ...]]] = [
    (cineaste, (PAPER, OTHER)),
    (qbench_video, (PAPER,)),
    (filters, (PAPER, OTHER)),
]


def fails_sometimes(name: str) -> Callable[[str, str], Reply | None]:
    """Let one model send no JSON to one in four of its prompts, until it is asked to repair it."""

    def instead(model: str, prompt: str) -> Reply | None:
        bad = model == name and "is not the JSON" not in prompt and draw("bad", prompt) < 0.25
        return completion("Sure! Here you are.") if bad else None

    return instead


if __name__ == "__main__":
    main()
