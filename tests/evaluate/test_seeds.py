"""Seeds of a run: each round has its own, they are recorded, and what was answered stays so."""

import json
from pathlib import Path
from typing import Any

import pytest
from servers import Server, completion, serving
from support import blind_benchmark, make_item

from reelbench.evaluate.run import run_benchmark

JUDGED = '{"choice": "B"}'


def card(folder: Path, server: Server, name: str = "far", **parameters: Any) -> str:
    path = folder / f"{name}.yaml"
    fields = {"name": name, "endpoint": server.url, "retries": 0, "parameters": parameters}
    path.write_text(json.dumps(fields))
    return str(path)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def server() -> Any:
    with serving(lambda body, _: completion(JUDGED if body["model"] == "judge" else "Hm.")) as one:
        yield one


def test_rounds_judges_and_records(tmp_path: Path, server: Server) -> None:
    benchmark = blind_benchmark(
        tmp_path / "b", make_item(1), make_item(2), modalities="T", rounds=3
    )
    far, judge = card(tmp_path, server, temperature=0.7), card(tmp_path, server, "judge")
    run_benchmark(benchmark, [far], tmp_path / "r", 5, judges=[judge])
    sent = [body["seed"] for body in server.requests if body["model"] == "far"]
    assert len(sent) == len(set(sent)) == 6
    calls = rows(tmp_path / "r" / "calls.jsonl")
    assert sorted(row["seed"] for row in calls) == sorted(sent)
    rounds = [body["seed"] for body in server.requests if body["model"] == "judge"]
    assert len(rounds) == len(set(rounds)) == 2 * 5, "equal replies are judged once, in five rounds"
    record = json.loads((tmp_path / "r" / "run.json").read_text())
    assert [each["sends_seeds"] for each in record["models"] + record["judges"]] == [True, True]

    asked = len(server.requests)
    run_benchmark(benchmark, [], tmp_path / "r")
    assert len(server.requests) == asked, "a run keeps its seed"
    run_benchmark(benchmark, [far], tmp_path / "again", 5)
    again = server.requests[asked:]
    drawn = sorted(body["seed"] for body in again)
    assert drawn == sorted(sent), "the same seed, the same requests, whatever their order"


def test_a_greedy_run_is_as_it_was_and_further_rounds_ask_for_no_reply_twice(
    tmp_path: Path, server: Server
) -> None:
    far = card(tmp_path, server)
    once = blind_benchmark(tmp_path / "b", make_item(1), modalities="T")
    run_benchmark(once, [far], tmp_path / "r")
    assert "seed" not in server.requests[0]
    assert "sends_seeds" not in (tmp_path / "r" / "run.json").read_text()
    run_benchmark(once, [far], tmp_path / "r", conditions=["protocol", "again rounds=3"])
    assert ["seed" in body for body in server.requests] == [False, True, True]
    seeds = {row["round"]: row.get("seed") for row in rows(tmp_path / "r" / "calls.jsonl")[1:]}
    assert seeds[0] is None
    assert None not in (seeds[1], seeds[2])
