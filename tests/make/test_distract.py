"""Distractors: as many of each kind as asked for, each with its strategy, none that stands out."""

import json
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, by_turns, messages
from servers import Reply, Server, completion
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.data.items import Item, freeze
from reelbench.make.parts.distract import STRATEGIES, distract
from reelbench.make.pipeline.stage import Rejected, Undecided

CONTEXT = "A boat leaves the harbour; its mast breaks in a storm."
TEXTS = ("its sail tears", "her rudder jams", "a plank floats", "the anchor slips")
STAGE = distract(from_context=2, out_of_context=1)


def one(number: int = 0, **fields: Any) -> dict[str, Any]:
    plain = {
        "text": TEXTS[number],
        "strategy": list(STRATEGIES)[number],
        "from_context": number < 2,
        "explanation": f"because of {number}",
    }
    return plain | fields


def reply(*distractors: Any, answers: Any = ({"explanation": "it is seen"},)) -> str:
    return json.dumps({"answers": list(answers), "distractors": list(distractors)})


GOOD = reply(one(0), one(1), one(2))


def item(**fields: Any) -> Item:
    plain: dict[str, Any] = {
        "question": "What happens to the boat?",
        "options": ("its mast breaks", "old wrong one"),
        "answer": ("A",),
        "context": freeze({"text": CONTEXT}),
        "provenance": freeze({"writer": "pen"}),
    }
    return make_item(1, **(plain | fields))


def distracted(
    folder: Path, *replies: str | Reply, row: Item | None = None, seed: int = 0, **parameters: Any
) -> tuple[Any, Server]:
    stage = distract(**({"from_context": 2, "out_of_context": 1} | parameters))
    studio = Studio(folder, by_turns(*replies), {"distractor": ["wit"]}, seed=seed)
    result, server = studio.work(stage, row or item())
    return (result[0] if isinstance(result, list) else result), server


class TestWhatIsAsked:
    def test_question_key_context_counts_and_strategies(self, tmp_path: Path) -> None:
        _, server = distracted(tmp_path, GOOD)
        ((_, text),) = messages(server, 0)
        for part in ("What happens to the boat?", "The right answer is: its mast breaks", CONTEXT):
            assert part in text
        assert "- 2 from the content" in text
        assert "- 1 that are plausible" in text
        for name, meaning in STRATEGIES.items():
            assert f"- {name}: {meaning}" in text

    def test_not_the_options_that_are_replaced(self, tmp_path: Path) -> None:
        _, server = distracted(tmp_path, GOOD)
        assert "old wrong one" not in messages(server, 0)[0][1]

    def test_the_context_that_was_kept_comes_before_others(self, tmp_path: Path) -> None:
        context = freeze({"sha256": digest_of("kept"), "text": "not this"})
        studio = Studio(tmp_path, by_turns(GOOD), {"distractor": ["wit"]}, texts=["kept"])
        _, server = studio.work(STAGE, item(context=context))
        assert "<material>\nkept\n</material>" in messages(server, 0)[0][1]

    def test_a_context_in_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "c.md").write_text("from a file")
        row = item(context=freeze({"file": "c.md"}))
        _, server = distracted(tmp_path, GOOD, row=row)
        assert "from a file" in messages(server, 0)[0][1]

    def test_a_file_that_is_gone_is_a_sentence(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match=r"The context of q-1 .*gone\.md, does not exist"):
            distracted(tmp_path, GOOD, row=item(context=freeze({"file": "gone.md"})))

    def test_an_item_without_context_is_a_sentence(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match=r"q-1 has no context.*context\.text"):
            distracted(tmp_path, GOOD, row=item(context=freeze({})))


class TestGood:
    def test_replace_the_options_and_keep_the_key(self, tmp_path: Path) -> None:
        made, server = distracted(tmp_path, GOOD)
        assert len(server.requests) == 1
        assert made.kind == "single"
        assert made.correct == ("its mast breaks",)
        assert sorted(made.options) == sorted(["its mast breaks", *TEXTS[:3]])

    def test_record_strategy_and_explanation_of_each(self, tmp_path: Path) -> None:
        made, _ = distracted(tmp_path, GOOD)
        record = made.provenance["distract"]
        how = [{k: v for k, v in one(n).items() if k != "explanation"} for n in range(3)]
        assert record == freeze({"model": "wit", "distractors": how})
        assert made.context["explanations"] == {
            "its mast breaks": "it is seen",
            **{TEXTS[n]: f"because of {n}" for n in range(3)},
        }
        assert made.provenance["writer"] == "pen"

    def test_an_open_question_becomes_a_closed_one(self, tmp_path: Path) -> None:
        row = item(kind="open", options=(), answer=(), reference="its mast breaks")
        made, _ = distracted(tmp_path, GOOD, row=row)
        assert (made.kind, made.correct) == ("single", ("its mast breaks",))
        assert made.reference == "its mast breaks"
        assert len(made.options) == 4

    def test_stand_in_an_order_of_the_seed_and_the_id(self, tmp_path: Path) -> None:
        def order(seed: int, name: str = "q-1") -> tuple[str, ...]:
            made, _ = distracted(tmp_path, GOOD, row=item(id=name), seed=seed)
            assert made.correct == ("its mast breaks",)
            return tuple(made.options)

        assert order(3) == order(3)
        assert len({order(seed) for seed in range(6)}) > 2
        assert len({order(0, f"q-{number}") for number in range(6)}) > 2

    def test_other_strategies_of_a_recipe(self, tmp_path: Path) -> None:
        own = {"swap": "swaps two things"}
        said = reply(*(one(number, strategy="swap") for number in range(3)))
        made, server = distracted(tmp_path, GOOD, said, strategies=own)
        assert len(server.requests) == 2
        assert "- swap: swaps two things" in messages(server, 0)[0][1]
        assert made.provenance["distract"]["distractors"][0]["strategy"] == "swap"


LONG = "its mast, which was new that very morning, breaks in two in the wind"
BEGIN = "the tall wooden mast of the old boat from the harbour "
WRONG = [
    pytest.param(reply(one(0), one(1)), "distractors: ", id="too few"),
    pytest.param(reply(*map(one, range(4))), "distractors: ", id="too many"),
    pytest.param(reply(one(0), one(1), one(2, from_context=True)), "3 of the distractors are from the context, not 2", id="too many from the context"),
    pytest.param(reply(one(0), one(1, from_context=False), one(2)), "1 of the distractors are from the context, not 2", id="too few from the context"),
    pytest.param(reply(one(0, strategy="sarcasm"), one(1), one(2)), "distractors.0.strategy: 'sarcasm' is not one of", id="an unknown strategy"),
    pytest.param(reply(one(0, from_context="yes"), one(1), one(2)), "distractors.0.from_context: 'yes' is not of type 'boolean'", id="a word for a truth value"),
    pytest.param(reply({"text": "a b c"}, one(1), one(2)), "'strategy' is a required property", id="no strategy"),
    pytest.param(reply(one(0), one(1), one(2, text=LONG)), "the options have 3 to 14 words", id="much longer"),
    pytest.param(reply(one(0), one(1, text=TEXTS[0].upper()), one(2)), "two of the options are the same", id="twice the same"),
    pytest.param(reply(one(0), one(1, text="B. Its mast breaks."), one(2)), "one is the right answer", id="the key"),
    pytest.param(reply(one(0), one(1), one(2, text="  ")), "", id="a blank one"),
]  # fmt: skip


class TestWrong:
    @pytest.mark.parametrize(("bad", "fault"), WRONG)
    def test_is_repaired_with_what_is_wrong_quoted(
        self, bad: str, fault: str, tmp_path: Path
    ) -> None:
        made, server = distracted(tmp_path, bad, GOOD)
        assert len(server.requests) == 2
        assert fault in messages(server, 1)[-1][1]
        assert sorted(made.options) == sorted(["its mast breaks", *TEXTS[:3]])

    @pytest.mark.parametrize(("bad", "fault"), WRONG)
    def test_and_rejected_where_it_stays_wrong(self, bad: str, fault: str, tmp_path: Path) -> None:
        why, server = distracted(tmp_path, bad)
        assert isinstance(why, Rejected)
        assert why.reason == "no good distractors"
        assert fault in why.detail
        assert why.words == (bad,)
        assert len(server.requests) == 4

    def test_two_that_begin_alike(self, tmp_path: Path) -> None:
        row = item(options=(f"{BEGIN}breaks", "x"))
        texts = [f"{BEGIN}bends", "a long grey sail with two red stripes tears in the wind", "a heavy iron anchor of the other boat drags on the ground"]  # fmt: skip
        bad = reply(*(one(number, text=text) for number, text in enumerate(texts)))
        why, server = distracted(tmp_path, bad, row=row)
        assert isinstance(why, Rejected)
        assert "two options begin with 'the tall wooden mast" in why.detail
        assert "two options begin with" in messages(server, 1)[-1][1]

    def test_all_that_begin_alike(self, tmp_path: Path) -> None:
        row = item(options=("in the old harbour it breaks", "x"))
        bad = reply(*(one(n, text=f"in the old harbour it {verb}") for n, verb in enumerate(["sinks", "sings", "burns"])))  # fmt: skip
        why, _ = distracted(tmp_path, bad, row=row)
        assert isinstance(why, Rejected)
        assert "all options begin with 'in the old harbour'" in why.detail

    def test_how_long_they_may_be_is_a_parameter(self, tmp_path: Path) -> None:
        said = reply(one(0), one(1), one(2, text="a plank of the hull floats away"))
        assert isinstance(distracted(tmp_path / "a", said)[0], Rejected)
        assert isinstance(distracted(tmp_path / "b", said, longest=3.0)[0], Item)


class TestNotAsked:
    @pytest.mark.parametrize("row", [
        item(kind="open", options=(), answer=()),
        item(kind="open", options=(), answer=(), reference=""),
    ], ids=["no reference", "an empty reference"])  # fmt: skip
    def test_an_item_without_a_right_answer(self, row: Item, tmp_path: Path) -> None:
        why, server = distracted(tmp_path, GOOD, row=row)
        assert isinstance(why, Rejected)
        assert why.reason == "no right answer"
        assert server.requests == []


class TestFailures:
    def test_a_refusal(self, tmp_path: Path) -> None:
        why, _ = distracted(tmp_path, completion(None, message={"refusal": "No."}))
        assert isinstance(why, Rejected)
        assert (why.reason, why.words) == ("refused", ("No.",))

    def test_a_server_that_fails(self, tmp_path: Path) -> None:
        why, _ = distracted(tmp_path, (500, {}, b"oops"))
        assert isinstance(why, Undecided)
        assert isinstance(distracted(tmp_path, GOOD)[0], Item)
