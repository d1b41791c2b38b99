"""Several models answer, all of them rank; the best is the key and the others distract."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from parts import Studio, messages, pictures, real_embedder
from servers import Reply, Server, completion
from support import make_item
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item, Media, freeze
from reelbench.make.parts.answer_and_rank import answer_and_rank, weighted_ranking
from reelbench.make.parts.balance_stages import balance_key_positions
from reelbench.make.parts.embed import LOADERS, Embedder
from reelbench.make.parts.only import only
from reelbench.make.parts.perturb import perturb
from reelbench.make.parts.write import check_drafts
from reelbench.make.pipeline.stage import Rejected, Undecided

TYPES = {"time": "changes when it is", "colour": "changes a colour"}
DOG, SNOW, BELL = "a dog barks at the gate", "it snows on the roof", "a bell rings in the tower"


@pytest.fixture(autouse=True)
def _loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOADERS, "use", real_embedder)


def open_item(number: int = 1, **fields: Any) -> Item:
    plain = {"kind": "open", "options": (), "answer": (), "question": f"What happens {number}?"}
    return make_item(number, **(plain | {"reference": BELL} | fields))


class Panel:
    """Models that answer, rank and change as they are told, by name."""

    def __init__(
        self,
        answers: Mapping[str, str],
        scores: Mapping[str, Sequence[float]],
        changed: Sequence[Any] = (),
        same: Sequence[str] = (),  # what the judge takes for the key
    ) -> None:
        self.answers, self.scores, self.changed = answers, scores, list(changed)
        self.same = same
        self.seen: list[tuple[str, str, int]] = []  # who, which prompt, how many pictures

    def __call__(self, body: Any, _: int) -> Reply:
        text = body["messages"][0]["content"][-1]["text"]
        name = body["model"]
        if text.startswith("Answer this question"):
            kind, said = "candidate", json.dumps({"answer": self.answers[name]})
        elif "Suppose the right answer is true" in text:
            other = text.split("Other answer: ")[1].split("\n")[0]
            kind, said = "distinct", json.dumps({"distinct": other not in self.same})
        elif "Score each answer" in text:
            kind, said = "rank", json.dumps({"scores": self.scores[name]})
        else:
            kind, one = "perturb", self.changed.pop(0) if len(self.changed) > 1 else self.changed[0]
            said = json.dumps(one)
        self.seen.append((name, kind, pictures(body)))
        return completion(said)


def ensemble(
    folder: Path,
    panel: Panel,
    row: Item | None = None,
    cards: Sequence[Mapping[str, Any]] = (),
    **parameters: Any,
) -> tuple[Any, Server]:
    make_film(folder)
    known = {card["name"]: card for card in cards}
    models: dict[str, Any] = {
        "answerer": [known.get(name, {"name": name}) for name in panel.answers],
        "ranker": [known.get(name, {"name": name}) for name in panel.scores],
        "distractor": ["wit"],
    }
    stage = answer_and_rank(sampling="uniform:2", **parameters)
    result, server = Studio(folder, panel, models).work(stage, row or open_item())
    return (result[0] if isinstance(result, list) else result), server


def perturbed(folder: Path, *changed: Any, **parameters: Any) -> tuple[Any, Server]:
    """What becomes of an item one of whose wrong options means what its key means."""
    row = make_item(1, options=(NEAR, BELL, SNOW), answer=("B",))
    studio = Studio(folder, Panel({}, {}, changed), {"distractor": ["wit"]})
    result, server = studio.work(perturb(**({"error_types": TYPES} | parameters)), row)
    return (result[0] if isinstance(result, list) else result), server


def make_film(folder: Path) -> None:
    path = folder / "media" / "1.mp4"
    if not path.exists():
        path.parent.mkdir(parents=True)
        make_video(path, seconds=1.0)


class TestRanking:
    def test_sums_the_scores(self) -> None:
        assert weighted_ranking({"a": [1, 5, 3], "b": [9, 8, 3]}, {}) == [1, 0, 2]

    def test_a_bold_scorer_has_no_more_say_than_cautious_ones(self) -> None:
        scores = {"bold": [10.0, 0.0, 0.0], "a": [5.0, 5.5, 5.0], "b": [5.0, 5.5, 5.0]}
        assert weighted_ranking(scores, {}) == [1, 0, 2]

    def test_who_scores_all_alike_prefers_nothing(self) -> None:
        assert weighted_ranking({"a": [10, 10], "b": [1, 2]}, {"a": 5}) == [1, 0]

    def test_the_strongest_counts_twice(self) -> None:
        scores = {"strong": [4.0, 7.0], "b": [9.0, 4.0]}
        assert weighted_ranking(scores, {}) == [0, 1]  # 13 to 11
        assert weighted_ranking(scores, {"strong": 2}) == [1, 0]  # 17 to 18

    def test_who_has_no_weight_counts_once(self) -> None:
        scores = {"a": [0.0, 3.0], "b": [2.0, 0.0], "c": [2.0, 0.0]}
        assert weighted_ranking(scores, {"a": 3}) == [1, 0]
        assert weighted_ranking(scores, {"a": 1}) == [0, 1]

    def test_ties_go_to_who_came_first(self) -> None:
        assert weighted_ranking({"a": [5, 5, 5, 6]}, {}) == [3, 0, 1, 2]
        assert weighted_ranking({"a": [1, 3], "b": [3, 1]}, {}) == [0, 1]

    def test_a_weight_of_nothing_counts_nothing(self) -> None:
        assert weighted_ranking({"a": [9, 0], "b": [1, 2]}, {"a": 0}) == [1, 0]

    def test_does_not_hang_on_the_order_of_rankers(self) -> None:
        scores = {"a": [0.1, 0.3], "b": [0.2, 0.2], "c": [0.3, 0.1]}
        backwards = dict(reversed(scores.items()))
        assert weighted_ranking(scores, {}) == weighted_ranking(backwards, {})


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


class TestCandidates:
    def test_equal_answers_are_one(self, tmp_path: Path) -> None:
        panel = Panel({"a": DOG, "b": f" {DOG.upper()}. ", "c": SNOW}, {"a": [9, 1]})
        made, _ = ensemble(tmp_path, panel, open_item(reference=None))
        assert made.provenance["answer-and-rank"]["candidates"] == (DOG, SNOW)

    def test_an_answer_stands_where_it_was_first_given(self, tmp_path: Path) -> None:
        """Else ties, which go to who came first, would go to another."""
        panel = Panel({"a": DOG, "b": SNOW, "c": DOG}, {"a": [5, 5]})
        made, _ = ensemble(tmp_path, panel, open_item(reference=None))
        assert made.provenance["answer-and-rank"]["candidates"] == (DOG, SNOW)
        assert made.correct == (DOG,)

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
        assert f"1. {DOG}\n2. {SNOW}\n3. {BELL}" in text
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


NEAR = "a bell is ringing in the tower"
FAR = "a bell rings in the tower at noon"


CHANGED = {"text": FAR, "error_type": "time"}


class TestPerturbing:
    """What means nearly the same as the key is changed, within the types that a task allows."""

    def test_what_is_too_like_the_key_is_changed(self, tmp_path: Path) -> None:
        made, server = perturbed(tmp_path, {"text": f" {FAR} ", "error_type": "time"})
        assert made.correct == (BELL,)
        assert sorted(made.options) == sorted([BELL, FAR, SNOW])
        assert made.provenance["perturb"]["perturbed"] == (freeze({**CHANGED, "was": NEAR}),)
        ((_, asked),) = messages(server, 0)
        assert f"Text: {NEAR}" in asked
        assert f"Right answer: {BELL}" in asked
        assert "- time: changes when it is\n- colour: changes a colour" in asked

    @pytest.mark.parametrize(("bad", "fault"), [
        ({"text": FAR, "error_type": "mood"}, "error_type: 'mood' is not one of ['time', 'colour']"),
        ({"text": NEAR, "error_type": "time"}, "the text has not been changed"),
        ({"text": BELL.upper(), "error_type": "time"}, "that is one of the other options"),
        ({"text": FAR}, "'error_type' is a required property"),
    ], ids=["another type", "unchanged", "the key", "no type"])  # fmt: skip
    def test_a_change_that_is_not_allowed(self, bad: Any, fault: str, tmp_path: Path) -> None:
        made, server = perturbed(tmp_path / "repaired", bad, CHANGED)
        assert FAR in made.options
        assert fault in messages(server, len(server.requests) - 1)[-1][1]
        why, server = perturbed(tmp_path / "rejected", bad)
        assert isinstance(why, Rejected)
        assert why.reason == "no JSON as asked for"
        assert fault in why.detail
        assert len(server.requests) == 4

    def test_a_change_never_makes_an_option_twice(self, tmp_path: Path) -> None:
        twice = {"text": f"{SNOW.capitalize()}.", "error_type": "time"}
        made, _ = perturbed(tmp_path, twice, CHANGED)
        texts = [option.casefold().strip(".") for option in made.options]
        assert len(set(texts)) == len(texts)

    def test_how_like_is_too_like_is_a_parameter(self, tmp_path: Path) -> None:
        made, server = perturbed(tmp_path, CHANGED, alike=0.9999)
        assert made.provenance["perturb"]["perturbed"] == ()
        assert made.options == (NEAR, BELL, SNOW)
        assert server.requests == []

    def test_each_category_may_have_error_types_of_its_own(self, tmp_path: Path) -> None:
        by_category = {"events": TYPES, "moods": {"degree": "more or less of it"}}
        row = make_item(1, options=(NEAR, BELL), answer=("B",), tags=freeze({"category": "moods"}))
        panel = Panel({}, {}, [{"text": FAR, "error_type": "degree"}])
        studio = Studio(tmp_path, panel, {"distractor": ["wit"]})
        made, _ = studio.work(perturb(by_category), row)
        assert FAR in made[0].options
        other = structs.replace(row, tags=freeze({"category": "places"}))
        with pytest.raises(ReelbenchError, match="'places', for which perturb has no error types"):
            studio.work(perturb(by_category), other)


class TestTheJudge:
    """Embeddings do not tell left from right: a model says whether an option is wrong."""

    LEFT, RIGHT, UP = (
        f"the man in the red coat walks to the {way}" for way in ("left", "right", "top")
    )

    def judged(self, folder: Path, same: Sequence[str], *changed: Any, **more: Any) -> Any:
        row = make_item(1, options=(self.LEFT, SNOW), answer=("A",), **more)
        panel = Panel({}, {}, changed, same)
        studio = Studio(folder, panel, {"distractor": ["wit"], "judge": ["fair"]})
        result, _ = studio.work(perturb(TYPES, alike=0.9999, judge="judge"), row)
        return (result[0] if isinstance(result, list) else result), panel

    def test_keeps_what_is_wrong(self, tmp_path: Path) -> None:
        made, panel = self.judged(tmp_path, [])
        assert made.options == (self.LEFT, SNOW)
        assert [kind for _, kind, _ in panel.seen] == ["distinct"]

    def test_has_changed_what_is_not_and_looks_at_it_again(self, tmp_path: Path) -> None:
        words = "it snows on the roof of the house"
        made, panel = self.judged(tmp_path, [SNOW], {"text": words, "error_type": "time"})
        assert sorted(made.options) == sorted([self.LEFT, words])
        assert [kind for _, kind, _ in panel.seen] == ["distinct", "perturb", "distinct"]

    def test_gives_up_when_no_change_makes_it_wrong(self, tmp_path: Path) -> None:
        words = "it snows on the roof of the house"
        why, panel = self.judged(tmp_path, [SNOW, words], {"text": words, "error_type": "time"})
        assert isinstance(why, Rejected)
        assert why.reason == "no distinct distractor"
        assert [kind for _, kind, _ in panel.seen].count("perturb") == 3

    @pytest.mark.parametrize(("text", "fault"), [
        ("a cat sleeps under the table all day", "another text"),
        ("it snows on", "much longer or shorter"),
    ])  # fmt: skip
    def test_a_change_is_small_and_of_similar_length(
        self, text: str, fault: str, tmp_path: Path
    ) -> None:
        why, _ = self.judged(tmp_path, [SNOW], {"text": text, "error_type": "time"})
        assert isinstance(why, Rejected)
        assert fault in why.detail

    def test_an_answer_that_was_given_twice_becomes_a_distractor(self, tmp_path: Path) -> None:
        panel = Panel(
            {"a": DOG, "b": SNOW, "c": DOG},
            {"a": [9, 5, 1]},
            [{"text": "a dog barks at the door", "error_type": "time"}],
        )
        make_film(tmp_path)
        models = {"answerer": ["a", "b", "c"], "ranker": ["a"], "distractor": ["wit"]}
        stages = (answer_and_rank(sampling="uniform:2"), perturb(TYPES, alike=0.9999))
        passed, _ = Studio(tmp_path, panel, models).take([open_item()], *stages)
        (made,) = passed[-1].out
        assert made.correct == (DOG,)
        assert sorted(made.options) == sorted([DOG, SNOW, BELL, "a dog barks at the door"])


class TestAnswersOfAForm:
    def test_are_asked_for_again_where_they_are_not(self, tmp_path: Path) -> None:
        row = open_item(reference="B-anger", context=freeze({"answer_form": "[A-D]-[a-z]+"}))
        panel = Panel({"a": "A-joy", "b": "the one on the left"}, {"a": [9, 5]})
        why, server = ensemble(tmp_path, panel, row)
        assert isinstance(why, Rejected)
        assert "the answer must have the form [A-D]-[a-z]+" in why.detail
        assert [body["model"] for body in server.requests].count("b") == 4


class TestOnly:
    def test_items_without_the_tag_pass_unchanged(self, tmp_path: Path) -> None:
        make_film(tmp_path)
        panel = Panel({"a": DOG, "b": SNOW}, {"a": [2, 9, 5]})
        models = {"answerer": ["a", "b"], "ranker": ["a"], "distractor": ["wit"]}
        stage = only(answer_and_rank(sampling="uniform:2"), "category", ["deeds"])
        rows = [
            open_item(1, tags=freeze({"category": "deeds"})),
            open_item(2, tags=freeze({"category": "words"})),
        ]
        (passed,), server = Studio(tmp_path, panel, models).take(rows, stage)
        assert [item.kind for item in passed.out] == ["single", "open"]
        assert len(server.requests) == 3

    def test_a_stage_over_all_rows_sees_those_alone(self, tmp_path: Path) -> None:
        rows = [
            make_item(n, options=("x", "y"), answer=("A",), tags=freeze({"category": tag}))
            for n, tag in enumerate(["even", "even", "fixed", "fixed"], 1)
        ]
        stage = only(balance_key_positions(), "category", ["even"])
        (passed,), _ = Studio(tmp_path, models={}).take(rows, stage)
        assert sorted(item.answer for item in passed.out[:2]) == [("A",), ("B",)]
        assert list(passed.out[2:]) == rows[2:]

    def test_a_stage_that_makes_items_cannot_pass_them_by(self) -> None:
        with pytest.raises(ReelbenchError, match="cannot pass items by"):
            only(check_drafts(), "category", ["deeds"])


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
        (passed,), _ = Studio(tmp_path, models={"distractor": ["wit"]}).take(rows, perturb(TYPES))
        assert len(passed.out) == 3
        assert len(loads) <= 1
