"""How near ``reelbench make --dry-run`` comes to the calls that are then made, on three recipes.

Models are played by a server of scripted ones, so that what they let through and what has to be
repaired is known to nobody but them. Each recipe is forecast with nothing seen, then tried on some
of its sources, then forecast and made for all of them. Cineaste's first row goes by the paper's
rates, which these models do not share; the rows after a trial are to be within 15 %.

Run: python benchmarks/forecast.py
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from actors import Actors, draw, tiny_videos, write_card, write_movie  # type: ignore[import-not-found]
from parts import a_recipe  # type: ignore[import-not-found]
from quality_actors import REVIEWERS, Critics, hang  # type: ignore[import-not-found]
from servers import Reply, Server, completion, serving  # type: ignore[import-not-found]
from support import make_item  # type: ignore[import-not-found]

from reelbench.data.items import Item
from reelbench.data.sources import Sources
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.make import MakeOptions, forecast, make_benchmark
from reelbench.make.pipeline.stage import Recipe, Rejected, RowStage
from reelbench.recipes import load_recipe

TARGET = 0.15
TEXT = {"type": "string", "minLength": 1}
SCORES = {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 10}, "minItems": 3}
FORMAT = "{:14}{:24}{:>10}{:>10}{:>9}"


@dataclass(frozen=True)
class Case:
    """A recipe with its sources and who plays its models."""

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
    print(FORMAT.format("recipe", "what was seen", "forecast", "made", "error"))
    far = []
    for case_of in (cineaste, qbench_video, narrative):
        with tempfile.TemporaryDirectory() as name, case_of(Path(name)) as case:
            put(case, "nothing", case.expected(Path(name) / "a"), case.made(Path(name) / "a", None))
            out = Path(name) / "b"
            case.made(out, case.trial)
            seen = f"{case.trial} sources"
            error = put(case, seen, case.expected(out), case.made(out, None))
            far += [case.recipe.name] if error > TARGET else []
    if far:
        raise SystemExit(f"further off than {TARGET:.0%} after a trial: {', '.join(far)}")


def put(case: Case, seen: str, expected: int, made: int) -> float:
    """Print one row; return how far off it is."""
    error = expected / made - 1
    print(FORMAT.format(case.recipe.name, seen, f"{expected:,}", f"{made:,}", f"{error:+.1%}"))
    return abs(error)


@contextmanager
def cineaste(folder: Path) -> Iterator[Case]:
    """Films of which questions are written, answered blind and answered from the text."""
    videos = tiny_videos(folder / "videos")
    for number in range(8):
        write_movie(folder / "movies", f"film-{number:02d}", videos)
    with serving(Actors(interrupt=fails_sometimes("writer"))) as server:
        names = ("captioner", "writer", "blind", "veracity")
        models = {name: [str(write_card(folder, name, server.url))] for name in names}
        yield Case(load_recipe("cineaste"), folder / "movies", models, server, 3)


@contextmanager
def qbench_video(folder: Path) -> Iterator[Case]:
    """Videos of which questions are written, reviewed by three and turned to their opposite."""
    hang(folder / "sources")
    with serving(Critics(disputed="in part 1 of 5")) as server:
        models = {
            role: [str(write_card(folder, name, server.url)) for name in names]
            for role, names in {"writer": ["writer"], "reviewer": REVIEWERS}.items()
        }
        yield Case(load_recipe("qbench-video"), folder / "sources", models, server, 12)


@contextmanager
def narrative(folder: Path) -> Iterator[Case]:
    """A story of 18 parts, questions about it, answers by three models, ranked by all three."""
    rows = [make_item(number, question=f"Film {number}") for number in range(24)]
    stages = [
        a_stage("narrate", narrate, "teller", expected_tokens=60),
        a_stage("write", write, "teller"),
        a_stage("answer", answer, "answerer"),
        replace(a_stage("judge", judge, "teller"), filters=True),
        a_stage("explain", explain, "teller"),
    ]
    recipe = a_recipe(*stages, name="narrative", sources=lambda _: Sources(rows))
    with serving(storytellers) as server:
        cards = [str(write_card(folder, name, server.url)) for name in ("m1", "m2", "m3")]
        models = {"teller": cards[:1], "answerer": cards}
        yield Case(recipe, folder / "nothing", models, server, 10)


def a_stage(name: str, work: Callable[..., Any], role: str, **fields: Any) -> RowStage:
    """Return a stage from items to items."""
    return RowStage(name=name, input=Item, output=Item, work=work, roles=(role,), **fields)


async def narrate(item: Item, ctx: StageContext) -> list[Item]:
    """Tell each part with what was told before."""
    story = item.question
    for part in range(18):
        story += f"\n{await ctx.text('teller', f'Tell part {part} after: {story}')}"
    return [make_item(int(item.id.split("-")[1]), question=story)]


async def write(item: Item, ctx: StageContext) -> list[Item]:
    """Have three questions written."""
    schema = closed(questions=listed(TEXT, 3))
    reply = await ctx.json("teller", f"Write about {item.question}", schema)
    return [
        make_item(100 * int(item.id.split("-")[1]) + number, question=text)
        for number, text in enumerate(reply.data["questions"])
    ]


async def answer(item: Item, ctx: StageContext) -> list[Item]:
    """Three answer; then each ranks all answers, which it can only do when they are there."""
    models = ctx.models["answerer"]
    prompt, schema = f"Answer {item.question}", closed(answer=TEXT)
    asked = [ctx.json("answerer", prompt, schema, model=model) for model in models]
    answers = sorted({reply.data["answer"] for reply in await together(asked)})
    prompt, schema = f"Rank {item.question}: {answers}", closed(scores=SCORES)
    await together([ctx.json("answerer", prompt, schema, model=model) for model in models])
    return [item]


async def judge(item: Item, ctx: StageContext) -> list[Item]:
    """Let good ones through."""
    reply = await ctx.json("teller", f"Judge {item.question}", closed(good={"type": "boolean"}))
    if not reply.data["good"]:
        raise Rejected("dull")
    return [item]


async def explain(item: Item, ctx: StageContext) -> list[Item]:
    """Have four things explained."""
    await together([ctx.text("teller", f"Explain {n}: {item.question}") for n in range(4)])
    return [item]


def closed(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def listed(entry: Any, count: int) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": entry, "minItems": count}


def storytellers(body: Any, _number: int) -> Reply:
    """Reply as a prompt wants it; every fifth first reply is no JSON, and four of ten are good."""
    prompt, model = body["messages"][0]["content"][0]["text"], body["model"]
    lot = draw(model, prompt)
    verb = prompt.split()[0]
    if verb in ("Tell", "Explain"):
        return completion(f"And so it went, {lot}.")
    if len(body["messages"]) == 1 and draw("bad", model, prompt) < 0.2:
        return completion("Sure! Here you are.")
    values: dict[str, dict[str, Any]] = {
        "Write": {"questions": [f"Why {number} {lot}?" for number in range(3)]},
        "Answer": {"answer": f"{model} says {lot}"},
        "Rank": {"scores": [1, 2, 3]},
        "Judge": {"good": draw("good", prompt) < 0.4},
    }
    return completion(json.dumps(values[verb]))


def fails_sometimes(name: str) -> Callable[[str, str], Reply | None]:
    """Let one model send no JSON to one in four of its prompts, until it is told."""

    def instead(model: str, prompt: str) -> Reply | None:
        bad = model == name and "is not the JSON" not in prompt and draw("bad", prompt) < 0.25
        return completion("Sure! Here you are.") if bad else None

    return instead


if __name__ == "__main__":
    main()
