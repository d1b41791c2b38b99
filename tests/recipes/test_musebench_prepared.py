"""Essays on their whole way to captions: the make waits for people, who vet them in a review."""

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from actors import perform, said_to, write_card
from review.serving import local, served
from servers import Reply, completion, serving
from support import run_here, starting, wait_until
from videos import make_video

# The labels are written by hand: operators need weights.
RECIPE = """
from importlib.resources import files
from essays import LABELS
from reelbench.data.items import Item, Media
from reelbench.data.manifest import Manifest
from reelbench.make import BatchStage, Recipe, Role, RowStage, Sources
from reelbench.recipes.musebench.captions import caption
from reelbench.recipes.musebench.fetch import fetch
from reelbench.recipes.musebench.records import record
from reelbench.recipes.musebench.rows import Essay
from reelbench.recipes.musebench.segments import segment
from reelbench.recipes.musebench.categorise import categorise
from reelbench.recipes.musebench.vetting import vetted, vetter, vetting, vetting_question

def sources(source):
    names = ["a", "b", "lost"]
    return Sources([Essay(id=n, file=n + ".mp4", category="Game Arts", title=n) for n in names])

def by_hand(essays, ctx):
    ctx.clip_labels |= {essay.clip: dict(LABELS) for essay in essays}
    return essays

async def asked(essay, ctx):
    media = (Media(essay.file),)
    return [Item(essay.id, "open", media, "What is it?", reference="It.", tags={"category": essay.category})]

RECIPE = Recipe(
    name="prepared", description="for tests", sources=sources, home=files("reelbench.recipes.musebench"),
    roles={name: Role("for tests") for name in ("curator", "vetter", "captioner")},
    stages=(
        fetch(),
        BatchStage(name="label-essays", input=Essay, output=Essay, work=by_hand, always=True),
        record(), categorise(), vetting_question(), vetter(), vetting(), vetted(), segment(), caption(),
        RowStage(name="ask", input=Essay, output=Item, work=asked),
    ),
    manifest=lambda items, source: Manifest("prepared", "1"),
)
"""


class Captioner:
    """Captions clips; the second one only when it is told to go on."""

    def __init__(self) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()

    def __call__(self, body: dict[str, Any], _number: int) -> Reply | None:
        if clip_of(body) == 2:
            self.reached.set()
            self.go_on.wait(60)
        return completion('{"caption": "It is a wall in the sun."}')


def clip_of(body: dict[str, Any]) -> int:
    return int(re.findall(r"frames of clip (\d+) of", said_to(body))[0])


def test_the_make_waits_for_people_and_pays_for_nothing_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out, recipe = tmp_path / "source", tmp_path / "out", tmp_path / "prepared.py"
    source.mkdir()
    for number, name in enumerate(("a", "b")):
        make_video(source / f"{name}.mp4", seconds=2 + number / 5, sound=2, rate=5)
    recipe.write_text(RECIPE)
    models = Captioner()
    with serving(models) as server:
        card = write_card(tmp_path, "captioner", server.url)
        words = ("make", recipe, "--source", source, "--out", out, "--model", f"captioner={card}")
        assert run_here(*words) == 1
        assert "2 rows wait for people: " in capsys.readouterr().err
        assert not server.requests, "what people may remove is not paid for"

        with served(out, "--local", "--protocol", "musebench-vet") as review:
            someone = local(review)
            for decision in ("change", "reject"):
                task = someone.next("musebench-vet")
                assert task is not None
                video = f"/media/musebench-vet/0?item={task['item']}"
                wait_until(
                    lambda path=video: someone.send("GET", f"/api{path}")[1]["status"] == "ready"
                )
                assert someone.send("GET", video, headers={"range": "bytes=0-99"})[0] == 206
                assert someone.act(task, "answered", {"choice": [0]})[0] == 200
                body: dict[str, Any] = {"decision": decision}
                body |= {"tags": ["not an analysis"]} if decision == "reject" else {}
                stage = task["options"].index("Stage Performing Arts")
                body |= {"changes": {"answer": [stage]}} if decision == "change" else {}
                assert someone.act(task, "verdict", body)[0] == 200
            assert someone.next("musebench-vet") is None

        words = (*words, "--set", "segment.seconds=1.0", "--set", "segment.least=0.5")
        with starting(perform, tmp_path / "told") as started:
            process = started(*words)
            wait_until(models.reached.is_set)  # the second clip
            process.kill()
            process.join()
        models.go_on.set()
        assert run_here(*words) == 0
        assert [clip_of(body) for body in server.requests] == [1, 2, 2], "1 was paid for"
    (item,) = [json.loads(line) for line in (out / "items.jsonl").read_text().splitlines()]
    assert item["tags"] == {"category": "Stage Performing Arts"}
    rejects = [json.loads(line) for line in (out / "rejects.jsonl").read_text().splitlines()]
    why = {each["id"]: (each["stage"], each["detail"]) for each in rejects}
    assert len(why) == 2
    assert why["lost"][0] == "fetch"
    assert ("vetting", "not an analysis") in why.values()
