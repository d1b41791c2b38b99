"""Several models answer, all of them rank; the best is the key and the others distract."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from panel import BELL, DOG, SNOW, TYPES, Panel, ensemble, make_film, open_item
from parts import Studio, messages, real_embedder
from servers import Reply, completion
from support import make_item

from reelbench.data.items import Media, freeze
from reelbench.make.parts.answer_and_rank import answer_and_rank, weighted_ranking
from reelbench.make.parts.embed import LOADERS, Embedder
from reelbench.make.parts.perturb import perturb
from reelbench.make.pipeline.stage import Rejected, Undecided


@pytest.fixture(autouse=True)
def _loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOADERS, "use", real_embedder)


def ranking(scores: dict[str, list[float]], weights: dict[str, float]) -> list[int]:
    return weighted_ranking(scores, weights, range(9))


class TestRanking:
    def test_sums_the_scores(self) -> None:
        assert ranking({"a": [1, 5, 3], "b": [9, 8, 3]}, {}) == [1, 0, 2]

    def test_a_bold_scorer_has_no_more_say_than_cautious_ones(self) -> None:
        scores = {"bold": [10.0, 0.0, 0.0], "a": [5.0, 5.5, 5.0], "b": [5.0, 5.5, 5.0]}
        assert ranking(scores, {}) == [1, 0, 2]

    def test_who_scores_all_alike_prefers_nothing(self) -> None:
        assert ranking({"a": [10, 10], "b": [1, 2]}, {"a": 5}) == [1, 0]

    def test_the_strongest_counts_twice(self) -> None:
        scores = {"strong": [4.0, 7.0], "b": [9.0, 4.0]}
        assert ranking(scores, {}) == [0, 1]  # 13 to 11
        assert ranking(scores, {"strong": 2}) == [1, 0]  # 17 to 18

    def test_who_has_no_weight_counts_once(self) -> None:
        scores = {"a": [0.0, 3.0], "b": [2.0, 0.0], "c": [2.0, 0.0]}
        assert ranking(scores, {"a": 3}) == [1, 0]
        assert ranking(scores, {"a": 1}) == [0, 1]

    def test_ties_go_to_who_is_drawn(self) -> None:
        assert weighted_ranking({"a": [5, 5, 5, 6]}, {}, [7, 3, 5, 9]) == [3, 1, 2, 0]
        assert weighted_ranking({"a": [1, 3], "b": [3, 1]}, {}, [2, 1]) == [1, 0]

    def test_a_weight_of_nothing_counts_nothing(self) -> None:
        assert ranking({"a": [9, 0], "b": [1, 2]}, {"a": 0}) == [1, 0]

    def test_does_not_hang_on_the_order_of_rankers(self) -> None:
        scores = {"a": [0.1, 0.3], "b": [0.2, 0.2], "c": [0.3, 0.1]}
        backwards = dict(reversed(scores.items()))
        assert ranking(scores, {}) == ranking(backwards, {})


class TestTheBest:
    def test_becomes_the_key_and_the_others_distract(self, tmp_path: Path) -> None:
        panel = Panel({"a": DOG, "b": SNOW}, {"a": [2, 9, 5], "b": [1, 8, 6]})
        made, server = ensemble(tmp_path, panel)
        assert made.kind == "single"
        assert made.correct == (SNOW,)
        assert sorted(made.options) == sorted([DOG, SNOW, BELL])
        assert made.reference is None
        assert len(server.requests) == 4

    def test_is_that_of_the_weights(self, tmp_path: Path) -> None:
        scores = {"a": [4.0, 7.0, 0], "b": [9.0, 4.0, 0]}
        plain, _ = ensemble(tmp_path, Panel({"a": DOG, "b": SNOW}, scores))
        weighed, server = ensemble(tmp_path, Panel({"a": DOG, "b": SNOW}, scores), weights={"a": 2})
        assert plain.correct == (DOG,)
        assert weighed.correct == (SNOW,)
        assert server.requests == []

    def test_and_all_that_was_said_is_recorded(self, tmp_path: Path) -> None:
        scores = {"a": [2, 9, 5], "b": [1, 8, 6]}
        made, _ = ensemble(tmp_path, Panel({"a": DOG, "b": SNOW}, scores))
        record = made.provenance["answer-and-rank"]
        assert record["candidates"] == (DOG, SNOW, BELL)
        assert record["scores"] == {"a": (2.0, 9.0, 5.0), "b": (1.0, 8.0, 6.0)}

    def test_options_stand_in_an_order_of_the_seed(self, tmp_path: Path) -> None:
        panel = Panel({"a": DOG, "b": SNOW}, {"a": [2, 9, 5]})
        assert ensemble(tmp_path, panel)[0] == ensemble(tmp_path, panel)[0]

    @pytest.mark.parametrize("liked", ["the first place", "the last place", "nothing"])
    def test_is_no_matter_of_places(self, liked: str, tmp_path: Path) -> None:
        """A ranker that goes by places, or likes all alike, makes each candidate the key."""
        scores = {"the first place": [9, 1, 1], "the last place": [1, 1, 9], "nothing": [5, 5, 5]}

        def answer(body: Any, number: int) -> Reply:
            asks = "Score each answer" in body["messages"][0]["content"][-1]["text"]
            given = json.dumps({"scores": scores[liked]})
            return completion(given) if asks else panel(body, number)

        panel = Panel({"a": DOG, "b": SNOW}, {})
        models = {"answerer": ["a", "b"], "ranker": ["a"]}
        rows = [open_item(number, media=()) for number in range(1, 61)]
        (passed,), _ = Studio(tmp_path, answer, models).take(rows, answer_and_rank())
        keys = Counter(item.correct[0] for item in passed.out)
        assert min(keys[each] for each in (DOG, SNOW, BELL)) >= 12, keys


class TestCandidates:
    def test_equal_answers_are_one(self, tmp_path: Path) -> None:
        panel = Panel({"a": DOG, "b": f" {DOG.upper()}. ", "c": SNOW}, {"a": [9, 1]})
        made, _ = ensemble(tmp_path, panel, open_item(reference=None))
        assert made.provenance["answer-and-rank"]["candidates"] == (DOG, SNOW)

    def test_an_answer_stands_where_it_was_first_given(self, tmp_path: Path) -> None:
        panel = Panel({"a": DOG, "b": SNOW, "c": DOG}, {"a": [5, 5]})
        made, _ = ensemble(tmp_path, panel, open_item(reference=None))
        assert made.provenance["answer-and-rank"]["candidates"] == (DOG, SNOW)

    def test_the_preliminary_answer_comes_last(self, tmp_path: Path) -> None:
        panel = Panel({"a": DOG, "b": SNOW}, {"a": [5, 5, 5]})
        made, _ = ensemble(tmp_path, panel)
        assert made.provenance["answer-and-rank"]["candidates"] == (DOG, SNOW, BELL)

    def test_too_few_different_ones(self, tmp_path: Path) -> None:
        panel = Panel({"a": DOG, "b": f"A. {DOG}"}, {"a": [5]})
        why, server = ensemble(tmp_path, panel, open_item(reference=f"{DOG}!"))
        assert isinstance(why, Rejected)
        assert why.reason == "too few different answers"
        assert why.words == (DOG, f"A. {DOG}", f"{DOG}!")
        assert len(server.requests) == 2

    def test_a_blank_one_is_none(self, tmp_path: Path) -> None:
        panel = Panel({"a": DOG, "b": "   "}, {"a": [5, 4]})
        why, _ = ensemble(tmp_path, panel, open_item(reference=None))
        assert isinstance(why, Rejected)

    def test_are_shown_to_rankers_without_names(self, tmp_path: Path) -> None:
        panel = Panel({"alpha": DOG, "beta": SNOW}, {"gamma": [2, 9, 5]})
        _, server = ensemble(tmp_path, panel)
        (asked,) = [n for n, body in enumerate(server.requests) if body["model"] == "gamma"]
        text = messages(server, asked)[0][1]
        assert all(f". {candidate}\n" in text for candidate in (DOG, SNOW, BELL))
        assert "alpha" not in text
        assert "beta" not in text

    @pytest.mark.parametrize(
        "scores", [[1, 2], [1, 2, 3, 4], [1, 2, 11], [1, 2, "3"], [1, 2, True]]
    )
    def test_scores_that_are_not_as_asked_for(self, scores: Any, tmp_path: Path) -> None:
        why, server = ensemble(tmp_path, Panel({"a": DOG, "b": SNOW}, {"a": scores}))
        assert isinstance(why, Rejected)
        assert why.reason == "no JSON as asked for"
        assert len(server.requests) == 2 + 4


class TestAnswersOfAForm:
    def test_are_asked_for_again_where_they_are_not(self, tmp_path: Path) -> None:
        row = open_item(reference="B-anger", context=freeze({"answer_form": "[A-D]-[a-z]+"}))
        panel = Panel({"a": "A-joy", "b": "the one on the left"}, {"a": [9, 5]})
        why, server = ensemble(tmp_path, panel, row)
        assert isinstance(why, Rejected)
        assert "the answer must have the form [A-D]-[a-z]+" in why.detail
        assert [body["model"] for body in server.requests].count("b") == 4


class TestPictures:
    def test_go_to_who_can_see_and_to_nobody_else(self, tmp_path: Path) -> None:
        panel = Panel({"a": DOG, "b": SNOW}, {"a": [2, 9, 5], "b": [1, 8, 6]})
        ensemble(tmp_path, panel, cards=[{"name": "b", "sees": False}])
        assert sorted(panel.seen) == [
            ("a", "candidate", 2), ("a", "rank", 2), ("b", "candidate", 0), ("b", "rank", 0),
        ]  # fmt: skip

    def test_are_of_the_part_that_is_meant(self, tmp_path: Path) -> None:
        def shown(start: float | None, end: float | None) -> Any:
            row = open_item(media=(Media("media/1.mp4", start, end),))
            panel = Panel({"a": DOG, "b": SNOW}, {"a": [2, 9, 5]})
            make_film(tmp_path)
            _, server = ensemble(tmp_path, panel, row)
            return server.requests[0]["messages"][0]["content"][0]

        assert shown(0.0, 0.3) != shown(0.6, 0.9)

    def test_a_film_that_is_gone_rejects_and_asks_nobody(self, tmp_path: Path) -> None:
        stage = answer_and_rank()
        models = {"answerer": ["a"], "ranker": ["a"], "distractor": ["wit"]}
        studio = Studio(tmp_path, models=models)
        (passed,), server = studio.take([open_item()], stage)
        (result,) = passed.results
        assert not isinstance(result, Undecided)
        assert result.rejected is not None
        assert result.rejected.reason == "media"
        assert "no such file" in result.rejected.detail
        assert server.requests == []


class TestFailures:
    def test_one_who_cannot_be_reached_decides_nothing_and_the_rest_is_not_lost(
        self, tmp_path: Path
    ) -> None:
        panel = Panel({"a": DOG, "b": SNOW}, {"a": [2, 9, 5]})

        def failing(body: Any, number: int) -> Reply:
            return (500, {}, b"oops") if body["model"] == "a" else panel(body, number)

        make_film(tmp_path)
        models = {"answerer": ["a", "b"], "ranker": ["a"], "distractor": ["wit"]}
        stage = answer_and_rank(sampling="uniform:2")
        why, _ = Studio(tmp_path, failing, models).work(stage, open_item())
        assert isinstance(why, Undecided)
        made, server = Studio(tmp_path, panel, models).work(stage, open_item())
        assert made[0].correct == (SNOW,)
        assert [body["model"] for body in server.requests] == ["a", "a"]

    def test_the_weights_of_the_embedder_are_loaded_once_for_all_rows(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They take a second, in which nothing else is asked."""
        loads: list[int] = []

        def counting() -> Embedder:
            loads.append(1)
            return real_embedder()

        monkeypatch.setitem(LOADERS, "use", counting)
        rows = [make_item(number, options=(DOG, SNOW), answer=("A",)) for number in range(1, 4)]
        (passed,), _ = Studio(tmp_path, models={"distractor": ["wit"]}).take(
            rows, perturb(TYPES, balance_lengths=False)
        )
        assert len(passed.out) == 3
        assert len(loads) <= 1
