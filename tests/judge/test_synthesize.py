"""Rated responses that a model writes: the mix is exact, scores are in their bands, rejects come again."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, Server, completion, serving
from support import blind_benchmark, make_item, reelbench

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import FrozenDict, Media
from reelbench.evaluate.rubric import load_rubric
from reelbench.judge.bands import CRITERIA, MIX, RESPONSES, band_fault, missing_kinds
from reelbench.judge.sharegpt import criterion_scores, read_rows
from reelbench.judge.synthesize import SyntheticSet, rated_rows

GOOD = {
    "perfect": (5, 5, 5, 5),
    "correctness": (2, 5, 5, 5),
    "completeness": (4, 3, 5, 5),
    "faithfulness": (5, 5, 3, 5),
    "clarity": (5, 5, 4, 2),
    "combined": (1, 2, 1, 4),
}


def rated(
    kind: str, number: int, scores: tuple[int, ...] = (), name: str = "intended_error_type"
) -> dict[str, Any]:
    given = dict(zip(CRITERIA, scores or GOOD[kind], strict=True))
    return {
        "synthetic_model_response": f"A {kind} answer, number {number}.",
        name: kind,
        "ratings": {n: {"score": s, "reason": f'It says "{s}".'} for n, s in given.items()},
    }


def reply(responses: list[dict[str, Any]]) -> Reply:
    body = {"question": "?", "reference_answer": "!", "synthetic_responses": responses}
    return completion(json.dumps(body))


def whole_mix() -> list[dict[str, Any]]:
    return [rated(kind, number) for kind, of in MIX.items() for number in range(len(of))]


def asked_for(body: dict[str, Any]) -> Counter[str]:
    """The types and numbers that a prompt asks for."""
    text = body["messages"][0]["content"]
    text = text if isinstance(text, str) else text[0]["text"]
    return Counter({kind: int(n) for n, kind in re.findall(r"^- (\d+) (\w+)", text, re.MULTILINE)})


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    items = [
        make_item(
            n,
            kind="open",
            options=(),
            answer=(),
            reference=f"A dog barks {n} times.",
            media=(Media(f"media/{n // 2}.mp4"),),
            context=FrozenDict(caption="A dog barks in a yard."),
        )
        for n in range(8)
    ]
    return blind_benchmark(tmp_path / "b", *items)


def synthesize(
    benchmark: Benchmark,
    answer: Callable[[dict[str, Any], int], Reply | None],
    out: Path,
    *words: object,
) -> tuple[Any, Server]:
    with serving(answer) as server:
        card = out.parent / "m.yaml"
        card.write_text(
            json.dumps({"name": "m", "endpoint": server.url, "backoff": 0.01, "retries": 0})
        )
        done = reelbench(
            "judge", "synthesize", benchmark.root, "--model", card, "--out", out, *words
        )
    return done, server


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class TestBands:
    def test_the_mix_is_that_of_the_paper(self) -> None:
        counts = {kind: len(of) for kind, of in MIX.items()}
        assert counts == {
            "perfect": 3,
            "correctness": 2,
            "completeness": 2,
            "faithfulness": 1,
            "clarity": 1,
            "combined": 3,
        }
        assert RESPONSES == 12

    @pytest.mark.parametrize(("kind", "scores"), [
        *GOOD.items(),
        ("completeness", (2, 2, 4, 4)),  # a part given as the whole is wrong too
        ("combined", (2, 2, 5, 5)),
        ("combined", (1, 1, 1, 1)),
    ])  # fmt: skip
    def test_scores_within(self, kind: str, scores: tuple[int, ...]) -> None:
        assert band_fault(kind, dict(zip(CRITERIA, scores, strict=True))) == ""

    @pytest.mark.parametrize(("kind", "scores", "fault"), [
        ("perfect", (5, 5, 4, 5), "faithfulness is 4, not 5"),
        ("correctness", (4, 5, 5, 5), "correctness is 4, not 2 to 3"),
        ("correctness", (2, 5, 3, 5), "faithfulness is 3, not 4 to 5"),  # a wrong fact is no hallucination
        ("completeness", (1, 3, 5, 5), "correctness is 1, not 2 to 5"),
        ("completeness", (5, 4, 5, 5), "completeness is 4, not 2 to 3"),
        ("clarity", (3, 5, 5, 2), "correctness is 3, not 4 to 5"),
        ("combined", (2, 3, 3, 3), "1 criteria are at most 2, not 2 or more"),
        ("wrong", (1, 1, 1, 1), "no type of response"),
    ])  # fmt: skip
    def test_scores_outside(self, kind: str, scores: tuple[int, ...], fault: str) -> None:
        assert fault in band_fault(kind, dict(zip(CRITERIA, scores, strict=True)))

    def test_what_is_still_missing(self) -> None:
        assert missing_kinds(["perfect", "perfect", "clarity"]) == {
            "perfect": 1, "correctness": 2, "completeness": 2, "faithfulness": 1, "combined": 3,
        }  # fmt: skip


def test_twelve_responses_to_every_question_split_by_video(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    done, server = synthesize(
        benchmark, lambda *_: reply(whole_mix()), tmp_path / "out", "--test", 0.25
    )
    assert done.returncode == 0, done.stderr
    assert len(server.requests) == 8
    assert asked_for(server.requests[0]) == {kind: len(of) for kind, of in MIX.items()}
    train, test = lines(tmp_path / "out" / "train.jsonl"), lines(tmp_path / "out" / "test.jsonl")
    assert len(train) + len(test) == 8 * 12
    assert len(test) == 2 * 12  # both questions of one video of four
    assert not {row["video"] for row in train} & {row["video"] for row in test}
    by_item = Counter((row["id"].split("/")[0], row["type"]) for row in train + test)
    assert all(by_item[f"q-{n}", kind] == len(of) for n in range(8) for kind, of in MIX.items())
    # The histogram counts what the rows have.
    record = json.loads((tmp_path / "out" / "synthesis.json").read_text())
    rubric = load_rubric("criteria", tmp_path)
    rows = read_rows(tmp_path / "out" / "train.jsonl", rubric) + read_rows(
        tmp_path / "out" / "test.jsonl", rubric
    )
    counted = Counter(criterion_scores(rubric, row.reply)["clarity"] for row in rows)
    assert record["scores"]["clarity"] == {
        f"{score:g}": count for score, count in sorted(counted.items())
    }
    for row in rows:
        scores = {name: int(score) for name, score in criterion_scores(rubric, row.reply).items()}
        assert band_fault(row.kind, scores) == ""
    assert "perfect" in done.stdout


def test_a_judge_is_trained_on_the_prompt_that_a_run_asks(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    from reelbench.evaluate.judge import graded_slots

    synthesize(benchmark, lambda *_: reply(whole_mix()), tmp_path / "out")
    rubric = load_rubric("criteria", tmp_path)
    row = lines(tmp_path / "out" / "train.jsonl")[0]
    item = next(item for item in benchmark.items if item.id == row["id"].split("/")[0])
    prompt = row["conversations"][0]["value"]
    assert prompt == rubric.render(graded_slots(item, "A perfect answer, number 0."))
    assert "A dog barks in a yard." in prompt


def test_what_is_out_of_its_band_is_asked_for_again_and_only_that(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        wanted = asked_for(body)
        responses = [rated(kind, n) for kind, count in wanted.items() for n in range(count)]
        if wanted["perfect"]:  # the first round
            responses = [r for r in whole_mix() if r["intended_error_type"] != "clarity"]
            responses += [rated("clarity", 0, (5, 5, 5, 5))]
        return reply(responses)

    done, server = synthesize(benchmark, answer, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert len(server.requests) == 16
    later = [body for body in server.requests if asked_for(body) == {"clarity": 1}]
    assert len(later) == 8
    assert "clarity is 5, not 2 to 3" in json.dumps(later[0])
    rejected = lines(tmp_path / "out" / "rejected.jsonl")
    assert len(rejected) == 8
    assert rejected[0]["reason"] == "clarity: clarity is 5, not 2 to 3"


def test_a_question_that_stays_incomplete_is_left_out_by_name(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        bad = "barks 3 times" in json.dumps(body)
        return reply(
            [r for r in whole_mix() if not (bad and r["intended_error_type"] == "combined")]
        )

    done, server = synthesize(benchmark, answer, tmp_path / "out", "--rounds", 2)
    assert done.returncode == 1
    assert "left out: q-3: lacks 3 of combined" in done.stderr
    assert len(server.requests) == 9
    rows = lines(tmp_path / "out" / "train.jsonl") + lines(tmp_path / "out" / "test.jsonl")
    assert len(rows) == 7 * 12
    # What was answered is not asked again.
    again, server = synthesize(benchmark, answer, tmp_path / "out", "--rounds", 2)
    assert again.returncode == 1
    assert server.requests == []


def test_the_other_spelling_of_the_type_and_equal_responses(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        responses = whole_mix()
        for each in responses:
            each["intended_error_Type"] = each.pop("intended_error_type").upper()
        return reply([*responses, responses[0]])

    done, _ = synthesize(benchmark, answer, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    rejected = lines(tmp_path / "out" / "rejected.jsonl")
    assert {each["reason"] for each in rejected} == {"the same response twice"}


def test_a_dry_run_counts_and_asks_nothing(benchmark: Benchmark, tmp_path: Path) -> None:
    done, server = synthesize(benchmark, lambda *_: None, tmp_path / "out", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert server.requests == []
    assert re.search(r"judge synthesize\s+m\s+8 ", done.stdout)
    assert not (tmp_path / "out").exists()


def test_without_open_items_nothing_can_be_written(tmp_path: Path) -> None:
    benchmark = blind_benchmark(tmp_path / "b", make_item(1))
    done, _ = synthesize(benchmark, lambda *_: None, tmp_path / "out")
    assert done.returncode == 2
    assert "no open item with a reference answer" in done.stderr


def test_reasons_are_kept_free_of_what_json_would_escape(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    from reelbench.judge.synthesize import SyntheticResponse

    raw = rated("perfect", 0)
    response = SyntheticResponse("Yes.", "perfect", raw["ratings"])
    rubric = load_rubric("criteria", tmp_path)
    (row,) = rated_rows(SyntheticSet(benchmark.items[0], [response]), rubric, "v")
    assert "It says '5'." in json.dumps(row.reply)
