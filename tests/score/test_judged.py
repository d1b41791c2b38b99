"""What judges gave, as means, coverage and intervals, and two judges against each other, by hand."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark
from reelbench.data.clusters import video_clusters
from reelbench.data.items import Item, Media
from reelbench.score.grades import read_grades
from reelbench.score.intervals import Cell, intervals
from reelbench.score.judged import summed_up
from reelbench.score.score import score_predictions


def opened(number: int, video: str = "") -> Item:
    return make_item(
        number, kind="open", options=(), answer=(), reference="r",
        media=(Media(f"media/{video or number}.mp4"),),
    )  # fmt: skip


def judgement(number: int, score: float | None, **fields: Any) -> dict[str, Any]:
    """A row; where there is no score, all rounds have failed."""
    valid = [{"reply": {"score": score}}] * 5
    failed = [{"failure": "HTTP 500", "status": "error"}] * 5
    return {
        "id": f"q-{number}", "model": "m", "condition": "protocol", "order": 0, "round": 0,
        "judge": "one", "rubric": "points", "score": score, "scale": [0, 2],
        "rounds": failed if score is None else valid, **fields,
    }  # fmt: skip


def scored(folder: Path, benchmark: Benchmark, *rows: Any) -> dict[str, Any]:
    path = folder / "judgements.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    opened = [item for item in benchmark.items if item.kind == "open"]
    return summed_up(read_grades([path], benchmark), opened, [], video_clusters(benchmark.items))


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    """Four open questions about a video each, and a closed one."""
    return blind_benchmark(tmp_path / "b", *map(opened, range(1, 5)), make_item(5))


def test_means_and_coverage(benchmark: Benchmark, tmp_path: Path) -> None:
    rounds = [{"score": 1}, {"score": 2}, *[{"failure": "no JSON", "status": "ok"}] * 3]
    (row,) = scored(
        tmp_path, benchmark, judgement(1, 2.0), judgement(2, 0.4), judgement(3, 1.5, rounds=rounds), judgement(4, None),
    )["judged"]  # fmt: skip
    assert (row["model"], row["condition"], row["judge"], row["rubric"]) == (
        "m",
        "protocol",
        "one",
        "points",
    )
    assert (row["items"], row["judged"], row["coverage"]) == (4, 3, 0.75)
    assert row["score"] == pytest.approx((2.0 + 0.4 + 1.5) / 3, abs=1e-6)
    assert (row["valid_rounds"], row["invalid_rounds"]) == (5 + 5 + 2, 3 + 5)
    assert list(row["scale"]) == [0, 2]
    # A video each: the interval of the share of the best, on the scale.
    (estimate,) = intervals([Cell(range(3), [1.0, 0.2, 0.75])], 3)
    assert row["interval"] == pytest.approx([2 * end for end in estimate.interval], abs=1e-5)


def test_an_item_counts_once_however_often_it_was_asked(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    again = [judgement(1, score, round=n) for n, score in enumerate((2.0, 1.0, 0.0))]
    (row,) = scored(tmp_path, benchmark, *again, judgement(2, 0.0))["judged"]
    assert (row["judged"], row["score"]) == (2, 0.5)


@pytest.mark.parametrize("scale", [[0, 2], [1, 5], [-1, 1]])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("videos", [1, 3, 12])
def test_intervals_stay_on_the_scale(
    scale: list[float], share: float, videos: int, tmp_path: Path
) -> None:
    items = [opened(n, f"v{n % videos}") for n in range(24)]
    benchmark = blind_benchmark(tmp_path / "b", *items)
    worst, best = scale
    spread = [worst if n < 24 * (1 - share) else best for n in range(24)]
    rows = [judgement(n, score, scale=scale) for n, score in enumerate(spread)]
    (row,) = scored(tmp_path, benchmark, *rows)["judged"]
    low, high = row["interval"]
    assert worst <= low <= row["score"] <= high <= best
    assert high - low > 0.05 * (best - worst)
    assert row == scored(tmp_path, benchmark, *rows)["judged"][0]


def test_where_nothing_was_judged(benchmark: Benchmark, tmp_path: Path) -> None:
    (row,) = scored(tmp_path, benchmark, judgement(1, None))["judged"]
    assert (row["score"], row["interval"], row["coverage"]) == (None, None, 0.0)


def test_choices_are_no_grades(benchmark: Benchmark, tmp_path: Path) -> None:
    choice = {"choice": ["B"], "rubric": "choice", "rounds": [{"reply": {"choice": "B"}}]}
    row = {k: v for k, v in judgement(5, 1.0).items() if k not in ("score", "scale")} | choice
    assert scored(tmp_path, benchmark, row) == {"judged": [], "judges": []}


def test_a_reply_may_have_a_field_of_any_name(benchmark: Benchmark, tmp_path: Path) -> None:
    rounds = [{"reply": {"failure": "none that I can see", "score": 2}}] * 5
    (row,) = scored(tmp_path, benchmark, judgement(1, 2.0, rounds=rounds))["judged"]
    assert (row["valid_rounds"], row["invalid_rounds"]) == (5, 0)


class TestTwoJudges:
    def pair(self, folder: Path, benchmark: Benchmark, *rows: Any) -> dict[str, Any]:
        (pair,) = scored(folder, benchmark, *rows)["judges"]
        return pair

    def test_by_hand(self, benchmark: Benchmark, tmp_path: Path) -> None:
        """On three replies that both judged: 0, 1, 2 against 0.4, 2, 2; the fourth one alone did."""
        ones = [judgement(n, s) for n, s in ((1, 0.0), (2, 1.0), (3, 2.0), (4, 2.0))]
        twos = [judgement(n, s, judge="two") for n, s in ((1, 0.4), (2, 2.0), (3, 2.0), (4, None))]
        pair = self.pair(tmp_path, benchmark, *ones, *twos)
        assert (pair["judges"], pair["rubric"], pair["replies"]) == (["one", "two"], "points", 3)
        assert pair["means"] == pytest.approx([1.0, 4.4 / 3], abs=1e-6)
        assert pair["same"] == pytest.approx(1 / 3, abs=1e-6)
        assert pair["within_one"] == 1.0
        # Ranks 1, 2, 3 against 1, 2.5, 2.5: covariance 1.5 / sqrt(2 * 1.5).
        assert pair["correlation"] == pytest.approx(1.5 / 3**0.5, abs=1e-6)
        assert pair["model_rank_correlation"] is None  # of one model

    def test_the_ranks_of_models(self, benchmark: Benchmark, tmp_path: Path) -> None:
        given = {"a": (0.0, 2.0), "b": (1.0, 1.0), "c": (2.0, 0.0)}
        rows = [
            judgement(1, score, model=model, judge=judge)
            for model, scores in given.items()
            for judge, score in zip(("one", "two"), scores, strict=True)
        ]
        pair = self.pair(tmp_path, benchmark, *rows)
        assert (pair["correlation"], pair["model_rank_correlation"]) == (-1.0, -1.0)
        assert (pair["same"], pair["within_one"]) == (pytest.approx(1 / 3, abs=1e-6), pytest.approx(1 / 3, abs=1e-6))  # fmt: skip

    def test_who_does_not_vary_correlates_with_nobody(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        ones = [judgement(n, 1.0) for n in (1, 2)]
        twos = [judgement(n, float(n), judge="two") for n in (1, 2)]
        assert self.pair(tmp_path, benchmark, *ones, *twos)["correlation"] is None

    def test_not_on_different_rubrics_nor_without_a_common_reply(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        other = judgement(1, 5.0, judge="two", rubric="criteria", scale=[1, 5])
        assert scored(tmp_path, benchmark, judgement(1, 1.0), other)["judges"] == []
        apart = judgement(2, 1.0, judge="two")
        assert scored(tmp_path, benchmark, judgement(1, 1.0), apart)["judges"] == []


@pytest.mark.parametrize("line", [
    "{", "[]", "{}", '{"id": "q-1"}', "\n", json.dumps(judgement(1, 1.0, scale=[0])),
    json.dumps(judgement(1, 1.0, rounds=3)), json.dumps(judgement(1, 1.0, model=3)),
    json.dumps(judgement(1, 1.0) | {"score": "good"}), json.dumps(judgement(1, float("nan"))),
])  # fmt: skip
def test_a_damaged_file_is_named(line: str, benchmark: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text(json.dumps(judgement(2, 1.0)) + "\n" + line + "\n")
    with pytest.raises(ReelbenchError, match=r"j\.jsonl:2 is not a valid judgement"):
        read_grades([path], benchmark)


def test_they_are_part_of_the_scores(benchmark: Benchmark, tmp_path: Path) -> None:
    predictions = tmp_path / "p.jsonl"
    predictions.write_text('{"id": "q-5", "parsed": ["B"]}\n{"id": "q-1", "response": "r"}\n')
    (tmp_path / "j.jsonl").write_text(json.dumps(judgement(1, 1.0)) + "\n")
    scores = score_predictions(benchmark, predictions, judgements=tmp_path / "j.jsonl")
    assert [row["score"] for row in scores["judged"]] == [1.0]
    assert [row["accuracy"] for row in scores["results"]] == [1.0]
    without = score_predictions(benchmark, predictions, judgements=tmp_path / "absent.jsonl")
    assert (without["judged"], without["judges"]) == ([], [])


def test_the_same_question_with_options_and_without(tmp_path: Path) -> None:
    """Three twins: right and good, right and poor, wrong and poor; and an open one alone."""
    opens = [make_item(n, kind="open", options=(), answer=(), reference="r") for n in range(1, 5)]
    closed = [make_item(n, id=f"c-{n}", kind="single") for n in range(1, 4)]
    benchmark = blind_benchmark(tmp_path / "b", *opens, *closed)
    given = {1: 2.0, 2: 0.0, 3: 0.4, 4: 2.0}
    rows = [
        {"id": f"c-{n}", "model": "m", "parsed": [letter]}
        for n, letter in ((1, "B"), (2, "B"), (3, "A"))
    ]
    rows += [{"id": f"q-{n}", "model": "m", "response": "so"} for n in given]
    predictions, judgements = tmp_path / "p.jsonl", tmp_path / "j.jsonl"
    predictions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    judgements.write_text("".join(json.dumps(judgement(n, s)) + "\n" for n, s in given.items()))
    (row,) = score_predictions(benchmark, predictions, judgements=judgements)["judged"]
    assert row["twins"] == {
        "pairs": 3, "closed_right": 0.666667, "open_poor": 0.666667, "closed_right_among_poor": 0.5,
    }  # fmt: skip
    # Two of three closed ones right, and 1, 0, 0.2 and 1 of the best for the open ones.
    assert row["with_closed"]["value"] == pytest.approx((2 + 2.2) / 7, abs=1e-6)
