"""A run's plan is made anew whenever it is walked; the files of a run do not show it."""

import hashlib
import json
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, completion, serving
from support import blind_benchmark, make_item

from reelbench.base.files import digest_of, digest_of_fields, json_fields, replacing
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.evaluate.condition import Condition
from reelbench.evaluate.plan import RunPlan
from reelbench.evaluate.prompt import load_prompts
from reelbench.evaluate.run import run_benchmark
from reelbench.models.card import Card
from reelbench.models.openai import OpenAIModel
from reelbench.models.seeds import without_seed

ANSWERS: dict[str, dict[str, Any]] = {
    "single": {},
    "multi": {"answer": ("A", "C")},
    "yesno": {"options": ("Yes", "No"), "answer": ("A",)},
    "open": {"options": (), "answer": (), "reference": "a dog"},
}
CONDITIONS = [
    "protocol",
    "often rounds=2 orders=3",
    "circle orders=circular",
    "seen modalities=V+T",
]
REPLIES = ["B", "(A) it is", "The furry thing made a noise.", "C, I am sure", ""]


def items() -> list[Item]:
    """Questions of all kinds about three videos and their parts, in no order of theirs."""
    found = []
    for number in range(12):
        kind = ("single", "multi", "open", "yesno", "single")[number % 5]
        part = (Media(f"media/{number * 5 % 3}.mp4", 0, 4 + number % 2),)
        question = f"Où est le chien {number}? 狗"
        found.append(make_item(number, kind=kind, media=part, question=question, **ANSWERS[kind]))
    return found


def answer(body: dict[str, Any], _: int) -> Reply:
    """Answer by what is asked alone, whenever it comes; some of it is refused."""
    content = json.dumps([body["model"], body["messages"]], sort_keys=True)
    drawn = int(hashlib.sha256(content.encode()).hexdigest(), 16)
    if drawn % 17 == 0:
        return 400, {}, b"out of order"
    if body["model"] != "judge":
        return completion(REPLIES[drawn % len(REPLIES)])
    fields = body["response_format"]["json_schema"]["schema"]["properties"]
    if "choice" not in fields:
        return completion(json.dumps(dict.fromkeys(fields, 3 + drawn % 2)))
    several = fields["choice"]["type"] == "array"
    return completion(json.dumps({"choice": ["A"] if several else "B"}))


def without_time(value: Any) -> Any:
    if isinstance(value, dict):
        later = ("seconds", "started", "seed")  # which are others, or were not there yet
        return {k: without_time(v) for k, v in value.items() if k not in later}
    return [without_time(each) for each in value] if isinstance(value, list) else value


def digest_of_lines(path: Path, root: Path) -> str:
    text = path.read_text().replace(str(root), "")
    lines = text.splitlines() if path.suffix == ".jsonl" else [text]
    rows = [json.dumps(without_time(json.loads(line)), ensure_ascii=False) for line in lines]
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]


def test_the_files_of_a_run_are_what_they_were_when_all_questions_were_held(
    tmp_path: Path,
) -> None:
    benchmark = blind_benchmark(tmp_path / "b", *items(), modalities="T")
    with serving(answer) as server:
        for name in ("near", "far", "judge"):
            fields = {"name": name, "endpoint": server.url, "backoff": 0.01, "retries": 0}
            (tmp_path / f"{name}.yaml").write_text(json.dumps(fields))
        models = [str(tmp_path / "near.yaml"), "baseline:random", str(tmp_path / "far.yaml")]
        judges = [str(tmp_path / "judge.yaml")]
        run_benchmark(benchmark, models, tmp_path / "r", conditions=CONDITIONS, judges=judges)
    with closing(sqlite3.connect(tmp_path / "r" / "journal.sqlite")) as journal:
        found_keys = {key for (key,) in journal.execute("SELECT key FROM responses")}
    keys = sorted(map(without_seed, found_keys))
    names = ["predictions.jsonl", "calls.jsonl", "judgements.jsonl", "usage.json", "status.json"]
    found = {name: digest_of_lines(tmp_path / "r" / name, tmp_path) for name in names}
    assert found | {"keys": digest_of(keys)[:16]} == PINNED


# What a run wrote when it held all its questions in a list, without seconds.
PINNED = {
    "predictions.jsonl": "f5475f51d4d13db0",
    "calls.jsonl": "2feda91af731349a",
    "judgements.jsonl": "1d107f22e2c3ed93",
    "usage.json": "4b3baa981d2dce6b",
    "status.json": "f6b10283c8a1e9c6",
    "keys": "b099570ec5829467",
}


def plan_of(folder: Path, models: int, count: int = 40) -> RunPlan:
    chosen = [make_item(n, media=(Media(f"media/{n % 9}.mp4"),)) for n in range(count)]
    benchmark = blind_benchmark(folder, *chosen)
    names = ("protocol", "often")
    changes: list[dict[str, Any]] = [{}, {"rounds": 2, "orders": 2}]
    conditions = [
        Condition.of(benchmark.manifest.protocol, name, change)
        for name, change in zip(names, changes, strict=True)
    ]
    prompts = {each: load_prompts("default", folder) for each in conditions}
    cards = [Card(name=f"m{n}", endpoint="http://x", sees=n % 2 > 0) for n in range(models)]
    asked = [OpenAIModel(card) for card in cards]
    digests = {media.path: "bytes" for item in chosen for media in item.media}
    return RunPlan(benchmark, asked, prompts, digests, 0)


def test_a_plan_can_be_walked_again_and_knows_its_length(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 3)
    asks = list(plan)
    assert len(plan) == len(asks) == 40 * 3 * (1 + 2 * 2)
    assert list(plan) == asks


def test_by_clip_are_all_questions_and_each_clip_is_shown_once(tmp_path: Path) -> None:
    benchmark = blind_benchmark(tmp_path, *items())
    plan = plan_of(tmp_path, 3)
    plan = RunPlan(benchmark, plan.models, plan.conditions, dict.fromkeys(media_of(benchmark)), 1)
    clips = list(plan.by_clip())
    together = [ask for clip in clips for ask in clip]
    assert sorted(map(repr, together)) == sorted(map(repr, plan))
    assert len({clip.media.order for clip in clips}) == len(clips) < len(plan)
    assert all(ask.media.order == clip.media.order for clip in clips for ask in clip)
    videos = [clip.media.clips[0].path for clip in clips]
    assert videos == sorted(videos)


def media_of(benchmark: Benchmark) -> list[str]:
    return [media.path for item in benchmark.items for media in item.media]


def test_what_a_baseline_is_shown_does_not_depend_on_the_models_before_it(tmp_path: Path) -> None:
    item = make_item(1)
    benchmark = blind_benchmark(tmp_path, item, modalities="A+T")
    condition = Condition.of(benchmark.manifest.protocol, "protocol", {})
    prompts = {condition: load_prompts("default", tmp_path)}
    deaf = OpenAIModel(Card(name="deaf", endpoint="http://x", sees=False))
    first = OpenAIModel(Card(name="first", endpoint="http://x", sees=False, backend="baseline"))
    for models in ([deaf, first], [first, deaf]):
        shown = {
            ask.model.card.name: ask.media.subtitles
            for ask in RunPlan(benchmark, models, prompts, {item.media[0].path: "x"}, 0)
        }
        assert shown == {"deaf": "always", "first": "never"}


@pytest.mark.parametrize("way", [iter, RunPlan.by_clip])
def test_memory_does_not_grow_with_models(way: Any, tmp_path: Path) -> None:
    def peak(models: int) -> int:
        plan = plan_of(tmp_path, models)
        next(iter(plan))  # what it holds of its models
        tracemalloc.start()
        for each in way(plan):
            for _ in [] if way is iter else each:
                pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(64) < 1.5 * peak(8)


@pytest.mark.parametrize("fields", [
    {"b": 1, "a": [1, {"z": None, "y": 1.5}], "ab": "ä\n\"狗"}, {}, {"half": "\ud83d", "ä": "ä"},
    {"prompt": "\u2028", "draw": [0, "\udc00"]},
], ids=repr)  # fmt: skip
def test_a_hash_of_fields_is_the_hash_of_the_object(fields: dict[str, Any]) -> None:
    assert digest_of_fields(json_fields(fields)) == digest_of(fields)


def test_a_file_written_bit_by_bit_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")

    def write_half() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "before"
    with replacing(path) as file:
        file.write(b"af")
        file.write(b"ter")
    assert path.read_text() == "after"
