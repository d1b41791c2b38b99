"""What means the same as the key is changed a little; a stage can be for some items only."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from blind_rules import Blind, beyond_chance
from msgspec import structs
from panel import BELL, DOG, SNOW, TYPES, Panel, make_film, open_item, perturbed
from parts import Studio, messages, real_embedder
from servers import Reply, completion
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import freeze
from reelbench.make.parts.answer_and_rank import answer_and_rank
from reelbench.make.parts.balance_stages import balance_key_positions
from reelbench.make.parts.embed import LOADERS
from reelbench.make.parts.only import only
from reelbench.make.parts.perturb import perturb, to_rewrite
from reelbench.make.parts.shape import drawn_lengths
from reelbench.make.parts.write import check_drafts
from reelbench.make.pipeline.stage import Rejected


@pytest.fixture(autouse=True)
def _loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOADERS, "use", real_embedder)


NEAR = "a bell is ringing in the tower"
FAR = "a bell rings in the tower at noon"


ROOF = "it snows on the roof of the old house"
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
        made, _ = studio.work(perturb(by_category, balance_lengths=False), row)
        assert FAR in made[0].options
        other = structs.replace(row, tags=freeze({"category": "places"}))
        with pytest.raises(ReelbenchError, match="'places', for which perturb has no error types"):
            studio.work(perturb(by_category, balance_lengths=False), other)


class TestTheJudge:
    """Embeddings do not tell left from right: a model says whether an option is wrong."""

    LEFT, RIGHT, UP = (
        f"the man in the red coat walks to the {way}" for way in ("left", "right", "top")
    )

    def judged(self, folder: Path, same: Sequence[str], *changed: Any, **more: Any) -> Any:
        row = make_item(1, options=(self.LEFT, ROOF), answer=("A",), **more)
        panel = Panel({}, {}, changed, same)
        studio = Studio(folder, panel, {"distractor": ["wit"], "judge": ["fair"]})
        result, _ = studio.work(
            perturb(TYPES, alike=0.9999, judge="judge", balance_lengths=False), row
        )
        return (result[0] if isinstance(result, list) else result), panel

    def test_keeps_what_is_wrong(self, tmp_path: Path) -> None:
        made, panel = self.judged(tmp_path, [])
        assert made.options == (self.LEFT, ROOF)
        assert [kind for _, kind, _ in panel.seen] == ["distinct"]

    def test_has_changed_what_is_not_and_looks_at_it_again(self, tmp_path: Path) -> None:
        words = "it snows on the roof of the house"
        made, panel = self.judged(tmp_path, [ROOF], {"text": words, "error_type": "time"})
        assert sorted(made.options) == sorted([self.LEFT, words])
        assert [kind for _, kind, _ in panel.seen] == ["distinct", "perturb", "distinct"]

    def test_gives_up_when_no_change_makes_it_wrong(self, tmp_path: Path) -> None:
        words = "it snows on the roof of the house"
        why, panel = self.judged(tmp_path, [ROOF, words], {"text": words, "error_type": "time"})
        assert isinstance(why, Rejected)
        assert why.reason == "no distinct distractor"
        assert [kind for _, kind, _ in panel.seen].count("perturb") == 3

    @pytest.mark.parametrize(("text", "fault"), [
        ("a cat sleeps under the table all day", "another text"),
        ("it snows on", "it has 11 characters, expected 21 to 82"),
    ])  # fmt: skip
    def test_a_change_is_small_and_of_similar_length(
        self, text: str, fault: str, tmp_path: Path
    ) -> None:
        why, _ = self.judged(tmp_path, [ROOF], {"text": text, "error_type": "time"})
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
        stages = (
            answer_and_rank(sampling="uniform:2"),
            perturb(TYPES, alike=0.9999, balance_lengths=False),
        )
        passed, _ = Studio(tmp_path, panel, models).take([open_item()], *stages)
        (made,) = passed[-1].out
        assert made.correct == (DOG,)
        assert sorted(made.options) == sorted([DOG, SNOW, BELL, "a dog barks at the door"])


class TestLengths:
    """Rankers prefer long answers: the key was the longest option in 39 of 72 items."""

    def test_what_is_much_longer_or_shorter_than_the_key_is_rewritten(self, tmp_path: Path) -> None:
        row = make_item(1, options=(BELL, "it snows"), answer=("A",))
        snows = {"text": "it snows in the valley", "error_type": "time"}
        studio = Studio(tmp_path, Panel({}, {}, [snows]), {"distractor": ["wit"]})
        (made,), server = studio.work(perturb(TYPES, balance_lengths=False), row)
        assert sorted(made.options) == sorted([BELL, snows["text"]])
        assert (
            f"must have {-(-len(BELL) // 2)} to {2 * len(BELL)} characters"
            in messages(server, 0)[0][1]
        )

    def test_what_has_none_of_the_lengths_that_were_drawn_is_rewritten(
        self, tmp_path: Path
    ) -> None:
        def writing(body: Any, number: int) -> Reply:
            text = body["messages"][0]["content"][-1]["text"]
            _, high = map(int, re.findall(r"have (\d+) to (\d+) characters", text)[0])
            old = text.split("Text: ")[1].split("\n")[0]
            new = f"{old} {'again and ' * 9}"[:high].strip()
            return completion(json.dumps({"text": new, "error_type": "time"}))

        rows = [make_item(n, options=(DOG, SNOW, BELL), answer=("A",)) for n in range(1, 31)]
        stage = perturb(TYPES, least_kept=0.1)
        (passed,), _ = Studio(tmp_path, writing, {"distractor": ["wit"]}).take(rows, stage)
        ranks = Counter(sum(len(o) > len(DOG) for o in item.options) for item in passed.out)
        assert set(ranks) == {0, 1, 2}
        assert len(passed.out) >= 20

    def test_the_length_of_the_key_tells_nothing(self) -> None:
        """As rankers choose it, the key is longer than most; what is rewritten obeys."""
        rng, items = Random(1), []
        for number in range(2_000):
            key = "w" * rng.randint(60, 100)
            wrong = ["x" * round(len(key) * rng.uniform(0.4, 1.15)) for _ in range(3)]
            lengths = drawn_lengths(0, f"q{number}", f"a b c {key[6:]}", 3, 2.0)
            unclear = wrong[:1] if rng.random() < 0.3 else []
            kept, rewritten = to_rewrite(wrong[len(unclear) :], unclear, lengths)
            options = [*kept, *("y" * rng.randint(*length) for _, length in rewritten)]
            rng.shuffle(options)
            options.insert(number % 4, key)
            items.append(Blind(options, number % 4))
        assert {len(item.texts) for item in items} == {4}
        assert beyond_chance(items) == {}

    def test_a_key_of_few_words_has_the_length_it_has(self) -> None:
        assert drawn_lengths(0, "q", "B-anger", 3, 2.0) == []


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
