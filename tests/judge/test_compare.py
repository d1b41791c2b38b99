"""Agreement of two judges: the coefficients are those of others, the intervals are by video."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from support import blind_benchmark, make_item, reelbench

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Media
from reelbench.evaluate.rubric import Rubric, load_rubric
from reelbench.judge.bands import CRITERIA
from reelbench.judge.compare import compare_judges
from reelbench.judge.scores import ScoredResponse, criterion_weights, read_scores
from reelbench.score.agreement import agreement
from reelbench.score.ratings import Ratings, Scale


@pytest.fixture
def rubric(tmp_path: Path) -> Rubric:
    return load_rubric("criteria", tmp_path)


def judged(
    seed: int, noise: float, models: int = 1, videos: int = 30, each: int = 4
) -> dict[Any, ScoredResponse]:
    """Scores that follow a truth, which all seeds share, and some noise."""
    truth, rng = np.random.default_rng(0), np.random.default_rng(seed)
    found = {}
    for model in range(models):
        for video in range(videos):
            for n in range(each):
                level = truth.normal(2 + model * 0.7, 1.0)
                scores = {
                    name: int(np.clip(round(level + rng.normal(0, noise)), 1, 5))
                    for name in CRITERIA
                }
                name = f"m{model}" if models > 1 else ""
                found[f"{video}/{n}", name] = ScoredResponse(scores, f"v{video}", name)
    return found


def test_the_coefficients_are_those_of_others(rubric: Rubric) -> None:
    first, second = judged(1, 0.5), judged(2, 0.5)
    found = compare_judges(first, second, rubric)
    assert found["responses"] == 120
    assert found["videos"] == 30
    row = next(row for row in found["criteria"] if row["criterion"] == "clarity")
    one = np.array([first[key].scores["clarity"] for key in sorted(first)])
    other = np.array([second[key].scores["clarity"] for key in sorted(first)])
    assert row["exact"]["value"] == pytest.approx(np.mean(one == other), abs=1e-6)
    assert row["within_one"]["value"] == pytest.approx(np.mean(abs(one - other) <= 1), abs=1e-6)
    assert row["spearman"]["value"] == pytest.approx(
        stats.spearmanr(one, other).statistic, abs=1e-6
    )
    ratings = Ratings(
        Path("x"),
        Scale.of([1, 2, 3, 4, 5]),
        tuple(map(str, range(120))),
        ("a", "b"),
        np.stack([one, other], 1) - 1,
    )
    (kappa,) = agreement(ratings, "quadratic", ["cohen"])
    assert row["quadratic_kappa"]["value"] == pytest.approx(kappa.value, abs=1e-6)
    for name in ("exact", "within_one", "spearman", "quadratic_kappa"):
        low, high = row[name]["interval"]
        assert low < row[name]["value"] < high
    assert compare_judges(first, second, rubric) == found


def test_intervals_are_wider_where_responses_of_a_video_hang_together(rubric: Rubric) -> None:
    first = judged(1, 0.4, videos=40, each=1)
    second = judged(2, 0.9, videos=40, each=1)

    def copied(scores: dict[Any, ScoredResponse]) -> dict[Any, ScoredResponse]:
        return {(f"{key[0]}x{n}", ""): one for key, one in scores.items() for n in range(5)}

    alone = compare_judges(first, second, rubric)["criteria"][0]["quadratic_kappa"]
    five = compare_judges(copied(first), copied(second), rubric)["criteria"][0]["quadratic_kappa"]
    assert five == alone  # five copies of each say nothing new


def test_few_videos_give_a_value_without_an_interval(rubric: Rubric) -> None:
    found = compare_judges(judged(1, 0.5, videos=4), judged(2, 0.5, videos=4), rubric)
    assert found["criteria"][0]["spearman"]["interval"] is None
    assert found["criteria"][0]["spearman"]["value"] is not None


def test_a_judge_that_always_says_the_same_has_no_rank_correlation(rubric: Rubric) -> None:
    first = judged(1, 0.5)
    flat = {
        key: ScoredResponse(dict.fromkeys(CRITERIA, 3), one.video) for key, one in first.items()
    }
    row = compare_judges(first, flat, rubric)["criteria"][0]
    assert row["spearman"] == {"value": None, "interval": None}
    assert row["quadratic_kappa"]["value"] == 0


def test_the_order_of_models(rubric: Rubric) -> None:
    first, second = judged(1, 0.3, models=4), judged(2, 0.3, models=4)
    models = compare_judges(first, second, rubric)["models"]
    assert models["names"] == ["m0", "m1", "m2", "m3"]
    assert models["ranks"] == [[4, 3, 2, 1]] * 2
    assert models["kendall"]["value"] == models["spearman"]["value"] == 1
    turned = {(key[0], f"m{3 - int(key[1][1])}"): one for key, one in second.items()}
    assert compare_judges(first, turned, rubric)["models"]["kendall"]["value"] == -1
    weights = criterion_weights(rubric)
    given = [
        sum(weights[name] * score for name, score in one.scores.items())
        for key, one in first.items()
        if key[1] == "m0"
    ]
    assert models["means"][0][0] == pytest.approx(np.mean(given), abs=1e-6)


def test_scores_off_the_scale_are_refused(rubric: Rubric) -> None:
    right = {("a", ""): ScoredResponse({"clarity": 1}, "v")}
    with pytest.raises(ReelbenchError, match="outside of 1 to 5"):
        compare_judges(right, {("a", ""): ScoredResponse({"clarity": 7}, "v")}, rubric)


def test_models_with_equal_means_have_the_same_rank(rubric: Rubric) -> None:
    def scores(model: str, *rows: tuple[int, ...]) -> dict[Any, ScoredResponse]:
        return {
            (f"{n}", model): ScoredResponse(dict(zip(CRITERIA, row, strict=True)), f"v{n}", model)
            for n, row in enumerate(rows)
        }

    # The same sums, added up in another order.
    rows = [(4, 4, 1, 3), (5, 4, 4, 3), (4, 3, 5, 2), (5, 2, 3, 2)]
    both = scores("m", *rows) | scores("n", *rows[::-1]) | scores("o", *rows[2:], *rows[:2])
    found = compare_judges(both, both, rubric)["models"]
    assert found["ranks"] == [[1, 1, 1], [1, 1, 1]]
    assert found["kendall"]["value"] is None


def test_correctness_counts_half(rubric: Rubric) -> None:
    sixth = 0.5 / 3
    assert criterion_weights(rubric) == pytest.approx(
        dict(zip(CRITERIA, (0.5, sixth, sixth, sixth), strict=True))
    )


class TestFiles:
    def test_scores_of_people_as_a_table(self, rubric: Rubric, tmp_path: Path) -> None:
        path = tmp_path / "people.csv"
        path.write_text("id,video,correctness,completeness,faithfulness,clarity\na,v,5,4,,3\n")
        (scored,) = read_scores(str(path), rubric).values()
        assert scored == ScoredResponse({"correctness": 5, "completeness": 4, "clarity": 3}, "v")

    def test_judgements_of_a_run(self, rubric: Rubric, tmp_path: Path) -> None:
        def reply(score: int) -> dict[str, Any]:
            from reelbench.models.judge.grammar import Choice, Fixed, fill_parts, reply_parts

            parts = reply_parts(rubric.schema)
            values = {
                p.path: score if isinstance(p, Choice) else "so"
                for p in parts
                if not isinstance(p, Fixed)
            }
            return {"reply": json.loads(fill_parts(parts, values))}

        row = {
            "id": "q-1",
            "model": "m",
            "condition": "c",
            "order": 0,
            "round": 0,
            "judge": "j",
            "rubric": "criteria",
            "score": 1,
        }
        rows = [
            row | {"rounds": [reply(2), reply(3), reply(3), {"failure": "x", "status": "error"}]},
            row | {"judge": "k", "rounds": [reply(5)]},
            row | {"rubric": "choice", "rounds": []},
        ]
        path = tmp_path / "judgements.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in rows))
        items = blind_benchmark(tmp_path / "b", make_item(1, media=(Media("media/a.mp4"),))).items
        (scored,) = read_scores(f"{path}#j", rubric, items).values()
        assert scored == ScoredResponse(dict.fromkeys(CRITERIA, 3), "0", "m c")
        with pytest.raises(ReelbenchError, match="has the scores of j, k: name one judge"):
            read_scores(str(path), rubric)
        with pytest.raises(ReelbenchError, match="of none of x"):
            read_scores(f"{path}#x", rubric)

    def test_judgements_after_another_rubric_are_left_out(
        self, rubric: Rubric, tmp_path: Path
    ) -> None:
        rating = {name: {"score": 3, "reason": "so"} for name in CRITERIA}
        row = {"id": "q", "model": "m", "judge": "j", "rounds": [{"reply": {"ratings": rating}}]}
        other = {**row, "rounds": [{"reply": {"reason": "so", "score": 2}}]}
        path = tmp_path / "judgements.jsonl"
        lines = [{**other, "rubric": "points"}, {**row, "rubric": "criteria"}]
        path.write_text("".join(json.dumps(each) + "\n" for each in lines))
        (scored,) = read_scores(str(path), rubric).values()
        assert scored.scores == dict.fromkeys(CRITERIA, 3)

    def test_two_scores_of_one_response_are_refused(self, rubric: Rubric, tmp_path: Path) -> None:
        path = tmp_path / "people.csv"
        path.write_text("id,model,clarity\na,m,5\na,n,4\na,m,3\n")
        with pytest.raises(ReelbenchError, match=r"people.csv:4 has a second score of a by m"):
            read_scores(str(path), rubric)

    def test_a_row_without_scores_is_named(self, rubric: Rubric, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        path.write_text('{"id": "a", "scores": {"clarity": "good"}}\n')
        with pytest.raises(ReelbenchError, match=r"x.jsonl:1 holds no scores"):
            read_scores(str(path), rubric)

    def test_the_command(self, tmp_path: Path) -> None:
        for name, seed in (("a", 1), ("b", 2)):
            rows = [
                {"id": key[0], "model": key[1], "video": one.video, "scores": one.scores}
                for key, one in judged(seed, 0.4, models=3, videos=8, each=2).items()
            ]
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        files = (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
        done = reelbench("judge", "compare", *files)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[0].split() == [
            "criterion",
            "exact",
            "within",
            "one",
            "Spearman",
            "quadratic",
            "kappa",
        ]
        assert "order of models, Kendall: 1.000" in done.stdout
        assert "48 responses of 8 videos" in done.stderr
        record = json.loads(reelbench("judge", "compare", *files, "--json").stdout)
        assert [row["criterion"] for row in record["criteria"]] == list(CRITERIA)
        other = tmp_path / "c.csv"
        other.write_text("id,clarity\nnobody,3\n")
        assert (
            "No response is in both files" in reelbench("judge", "compare", files[0], other).stderr
        )
