"""Conditions: grids from files, flags and the benchmark itself; orders of options and rounds."""

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from servers import completion, serving
from support import blind_benchmark, make_item

from reelbench.base.errors import ReelbenchError
from reelbench.cli import main
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import freeze
from reelbench.data.manifest import Manifest, Protocol, read_manifest
from reelbench.evaluate.condition import Condition, conditions_for, option_orders
from reelbench.evaluate.run import run_benchmark
from reelbench.score.score import score_run

BLIND = ["baseline:longest"]
ITEMS = tuple(make_item(n, question=f"Question {n}?") for n in range(4))
MANIFEST = Manifest(
    "grids",
    "1",
    protocol=Protocol(sampling="uniform:16", orders=2),
    conditions=freeze({"blind": {"modalities": "T"}, "late": {"sampling": ["fps:1", "fps:2"]}}),
)


def predictions(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "predictions.jsonl").read_text().splitlines()]


def named(*words: str, file: Path | None = None) -> dict[str, Protocol]:
    return {c.name: c.protocol for c in conditions_for(MANIFEST, file, words)}


class TestGrids:
    def test_a_field_said_twice_spans(self) -> None:
        found = named("few sampling=uniform:4 sampling=uniform:8 orders=3")
        assert list(found) == ["few/sampling=uniform:4", "few/sampling=uniform:8"]
        assert [p.sampling for p in found.values()] == ["uniform:4", "uniform:8"]
        assert {p.orders for p in found.values()} == {3}

    def test_every_value_with_every_other(self) -> None:
        words = "g sampling=uniform:4 sampling=fps:2,max=8 timestamps=true timestamps=false"
        assert set(named(words)) == {
            "g/sampling=uniform:4,timestamps=true",
            "g/sampling=uniform:4,timestamps=false",
            "g/sampling=fps:2,max=8,timestamps=true",
            "g/sampling=fps:2,max=8,timestamps=false",
        }

    def test_the_same_from_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "grid.yaml"
        file.write_text(
            "few: {sampling: ['uniform:4', 'uniform:8'], orders: 3}\nblind:\n  modalities: T\nplain:\n"
            "last: {fixed_last: ['All of them', 'None']}\n"
        )
        found = named(file=file)
        assert list(found) == ["few/sampling=uniform:4", "few/sampling=uniform:8", "blind", "plain", "last"]  # fmt: skip
        assert found["few/sampling=uniform:8"].orders == 3
        assert found["blind"].modalities == "T"
        assert found["plain"] == MANIFEST.protocol
        assert found["last"].fixed_last == ("All of them", "None")  # one list, not two conditions

    def test_what_is_not_changed_is_the_protocols(self) -> None:
        assert named("blind")["blind"] == Protocol(sampling="uniform:16", orders=2, modalities="T")

    def test_the_benchmarks_own_are_picked_by_name(self) -> None:
        found = named("blind", "late", "protocol")
        assert list(found) == ["blind", "late/sampling=fps:1", "late/sampling=fps:2", "protocol"]
        assert found["protocol"] == MANIFEST.protocol

    def test_only_the_protocol_where_nothing_is_named(self) -> None:
        assert named() == {"protocol": MANIFEST.protocol}

    def test_flags_come_after_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "g.yaml").write_text("few: {sampling: 'uniform:4'}\n")
        found = named("few sampling=uniform:2", file=tmp_path / "g.yaml")
        assert {name: p.sampling for name, p in found.items()} == {"few": "uniform:2"}

    def test_of_benchmark_yaml(self, tmp_path: Path) -> None:
        (tmp_path / "b.yaml").write_text(
            "name: n\nversion: '1'\nconditions:\n  few: {sampling: ['uniform:4', 'uniform:8']}\n"
        )
        manifest, problems = read_manifest(tmp_path / "b.yaml")
        assert problems == []
        assert manifest is not None
        assert [c.name for c in conditions_for(manifest, None, ["few"])] == [
            "few/sampling=uniform:4",
            "few/sampling=uniform:8",
        ]

    @pytest.mark.parametrize(("conditions", "where"), [
        ("{few: {sampling: 3}}", "conditions.few.sampling"),
        ("{few: {sampling: ['uniform:4', 3]}}", "conditions.few.sampling"),
        ("{few: {frames: 3}}", "conditions.few"),
        ("{few: 3}", "conditions.few"),
        ("{few: {metrics: [accuracy]}}", "conditions.few"),
        ("[few]", "conditions"),
    ])  # fmt: skip
    def test_of_benchmark_yaml_wrong(self, conditions: str, where: str, tmp_path: Path) -> None:
        (tmp_path / "b.yaml").write_text(f"name: n\nversion: '1'\nconditions: {conditions}\n")
        manifest, problems = read_manifest(tmp_path / "b.yaml")
        assert manifest is None
        assert where in [problem.field for problem in problems]


class TestRefusals:
    @pytest.mark.parametrize(("words", "said"), [
        ("protocol sampling=uniform:4", "protocol is the name of the benchmark's own condition"),
        ("few frames=4", "found 'frames', expected one of sampling"),
        ("few metrics=accuracy", "found 'metrics'"),
        ("few orders=0", "conditions.few.orders: found 0, expected a whole number from 1"),
        ("few orders=all", "or circular"),
        ("few rounds=1.5", "conditions.few.rounds: found 1.5"),
        ("few modalities=V", "one of T, A+T, V+T, V+A+T"),
        ("few subtitles=perhaps", "expected true or false"),
        ("few modalities=T modalities=X", "conditions.few.modalities: found 'X'"),
        ("few sampling=", "conditions.few.sampling: found nothing"),
        ("few sampling=uniform:0", "The sampling 'uniform:0' is not valid"),
        ("few sound_encoding=ogg", "The sound encoding 'ogg' is not valid: write wav or mp3"),
        ("few frame_size=big", "is not valid"),
        ("few sampling", "'sampling' has no ="),
        ("few sampling='uniform:4", "No closing quotation"),
        ("few sampling={", "cannot be read"),
        ("", "write a name and what it changes"),
        ("unheard", "grids has no condition 'unheard'; it has protocol, blind, late"),
        ("few prompt=absent", "There is no prompt 'absent'"),
        ("few sampling=[]", "sampling"),
    ])  # fmt: skip
    def test_of_flags_before_any_folder(self, words: str, said: str, tmp_path: Path) -> None:
        benchmark = Benchmark(tmp_path / "b", MANIFEST, ITEMS)
        benchmark.save(tmp_path / "b")
        with pytest.raises(ReelbenchError) as caught:
            run_benchmark(benchmark, BLIND, tmp_path / "r", conditions=[words])
        assert said in str(caught.value)
        assert not (tmp_path / "r").exists()

    @pytest.mark.parametrize(("text", "said"), [
        ("few: {sampling: [", "g.yaml cannot be read"),
        ("few: [sampling]", "g.yaml holds no conditions: write one per line"),
        ("- few", "holds no conditions"),
        ("", "holds no conditions"),
        ("3: {modalities: T}", "holds no conditions"),
        ("protocol: {modalities: T}", "choose another name"),
        ("few: {sampling: [uniform:4, everything]}", "'everything' is not valid"),
        ("few: {orders: []}", "orders"),
        (None, "g.yaml cannot be read"),
        (b"few: \xff", "g.yaml cannot be read"),
    ])  # fmt: skip
    def test_of_files_before_any_folder(
        self, text: str | bytes | None, said: str, tmp_path: Path
    ) -> None:
        if text is not None:
            (tmp_path / "g.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        with pytest.raises(ReelbenchError) as caught:
            run_benchmark(benchmark, BLIND, tmp_path / "r", condition_file=tmp_path / "g.yaml")
        assert said in str(caught.value)
        assert not (tmp_path / "r").exists()

    def test_on_the_command_line(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        blind_benchmark(tmp_path / "b", *ITEMS)
        before = signal.getsignal(signal.SIGTERM)
        try:
            words = ["--model", BLIND[0], "--condition", "few orders=0"]
            done = main(["run", str(tmp_path / "b"), "--out", str(tmp_path / "r"), *words])
        finally:
            signal.signal(signal.SIGTERM, before)
        assert done == 2
        assert "The condition 'few' is not valid" in capsys.readouterr().err
        assert not (tmp_path / "r").exists()


class TestLaterRuns:
    def test_a_new_condition_is_added_and_only_it_is_asked(self, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        run_benchmark(benchmark, BLIND, tmp_path / "r")
        state = run_benchmark(benchmark, [], tmp_path / "r", conditions=["again rounds=3"])
        # The first of the three rounds is what was asked already.
        assert (state.total, state.counts.asked, state.counts.known) == (16, 8, 8)
        record = json.loads((tmp_path / "r" / "run.json").read_text())
        assert [c["name"] for c in record["conditions"]] == ["protocol", "again"]
        assert Counter(r["condition"] for r in predictions(tmp_path / "r")) == {"protocol": 4, "again": 12}  # fmt: skip
        third = run_benchmark(benchmark, [], tmp_path / "r")
        assert (third.total, third.counts.asked) == (16, 0)

    def test_a_name_said_anew_is_what_it_is_said_to_be(self, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        run_benchmark(benchmark, BLIND, tmp_path / "r", conditions=["again rounds=3"])
        state = run_benchmark(benchmark, [], tmp_path / "r", conditions=["again rounds=2"])
        assert (state.total, state.counts.asked) == (8, 0)
        (condition,) = json.loads((tmp_path / "r" / "run.json").read_text())["conditions"]
        assert (condition["name"], condition["rounds"], condition["changes"]) == (
            "again",
            2,
            {"rounds": 2},
        )
        assert {row["round"] for row in predictions(tmp_path / "r")} == {0, 1}

    def test_a_grid_is_run_cell_by_cell(self, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        run_benchmark(benchmark, BLIND, tmp_path / "r", conditions=["g orders=1 orders=circular"])
        rows = predictions(tmp_path / "r")
        assert Counter(r["condition"] for r in rows) == {"g/orders=1": 4, "g/orders=circular": 16}
        names = {row["condition"] for row in score_run(benchmark, tmp_path / "r").scores["results"]}
        assert names == {"g/orders=1", "g/orders=circular"}


NONE = ("a door opens", "a dog barks", "it snows", "None of the above")


class TestOrders:
    def orders(self, number: int = 1, seed: int = 0, **fields: Any) -> list[tuple[int, ...]]:
        options = fields.pop("options", ("a", "b", "c", "d", "e"))
        item = make_item(number, options=options)
        return option_orders(item, Protocol(**fields), seed)

    def test_they_are_seeded_and_each_items_own(self) -> None:
        first = self.orders(1, orders=6)
        assert first == self.orders(1, orders=6)
        assert first[0] == (0, 1, 2, 3, 4)
        assert all(sorted(order) == [0, 1, 2, 3, 4] for order in first)
        assert first != self.orders(2, orders=6)
        assert first != self.orders(1, seed=1, orders=6)
        assert self.orders(1, orders=3) == first[:3]  # more orders leave the first as they are

    @pytest.mark.parametrize(
        "last",
        [
            "None of the above",
            "none of the above.",
            "NONE OF THE ABOVE",
            " None of the above. ",
        ],
    )
    def test_none_of_the_above_stays_last(self, last: str) -> None:
        options = ("a", "b", "c", last)
        assert all(order[-1] == 3 for order in self.orders(options=options, orders=20))
        assert all(order[-1] == 3 for order in self.orders(options=options, orders="circular"))
        moved = {order[:3] for order in self.orders(options=options, orders=60)}
        assert len(moved) == 6  # the others go through all their orders

    def test_an_option_that_is_not_fixed_does_not_stay(self) -> None:
        options = ("a", "b", "c", "None of them")
        assert {order[-1] for order in self.orders(options=options, orders=60)} == {0, 1, 2, 3}
        stays = self.orders(options=options, orders=60, fixed_last=("none of them",))
        assert {order[-1] for order in stays} == {3}

    @pytest.mark.parametrize(("options", "free"), [(("a", "b"), 2), (NONE[:3], 3), (NONE, 3)])
    def test_circular_puts_each_option_in_each_place_once(
        self, options: tuple[str, ...], free: int
    ) -> None:
        orders = self.orders(options=options, orders="circular")
        assert len(orders) == free
        assert orders[0] == tuple(range(len(options)))
        for place in range(free):
            assert sorted(order[place] for order in orders) == list(range(free))

    def test_circular_on_the_wire(self, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", make_item(1, options=NONE), orders="circular", modalities="T")  # fmt: skip
        with serving(lambda *_: completion("A")) as server:
            run_benchmark(benchmark, [card(tmp_path, server.url)], tmp_path / "r")
            asked = [body["messages"][0]["content"][-1]["text"] for body in server.requests]
        assert len(asked) == 3
        assert {text.split("A. ")[1].splitlines()[0] for text in asked} == set(NONE[:3])
        assert all("D. None of the above" in text for text in asked)
        rows = predictions(tmp_path / "r")
        assert sorted(row["parsed"] for row in rows) == [
            ["A"],
            ["B"],
            ["C"],
        ]  # options, not letters


def card(folder: Path, url: str, **more: Any) -> str:
    path = folder / "card.yaml"
    path.write_text(json.dumps({"name": "far", "endpoint": url, "backoff": 0.01, **more}))
    return str(path)


class TestRounds:
    def test_each_is_asked_for_itself_and_the_majority_is_of_options(self, tmp_path: Path) -> None:
        """Two orders and two rounds: three of four replies mean the dog, under two letters."""
        item = make_item(1, answer=("B",))
        benchmark = blind_benchmark(tmp_path / "b", item, orders=2, rounds=2, modalities="T")
        order = option_orders(item, benchmark.manifest.protocol, 0)[1]
        door, dog = ("ABCD"[order.index(place)] for place in (0, 1))
        said: Counter[bool] = Counter()

        def answer(body: dict[str, Any], _: int) -> Any:
            first = "A. a door opens\nB. a dog barks" in body["messages"][0]["content"][-1]["text"]
            said[first] += 1
            return completion("B" if first else dog if said[first] == 1 else door)

        with serving(answer) as server:
            run_benchmark(benchmark, [card(tmp_path, server.url)], tmp_path / "r")
            assert len(server.requests) == 4
        rows = predictions(tmp_path / "r")
        assert [(r["order"], r["round"]) for r in rows] == [(0, 0), (0, 1), (1, 0), (1, 1)]
        assert Counter(tuple(r["parsed"]) for r in rows) == {("B",): 3, ("A",): 1}
        (result,) = score_run(benchmark, tmp_path / "r").scores["results"]
        assert (result["correct"], result["items"], result["statuses"]) == (1, 1, {"ok": 4})

    def test_rows_have_no_round_where_there_is_one(self, tmp_path: Path) -> None:
        benchmark = blind_benchmark(tmp_path / "b", *ITEMS)
        run_benchmark(benchmark, BLIND, tmp_path / "r")
        assert all("round" not in row for row in predictions(tmp_path / "r"))

    def test_an_open_question_is_not_asked_again_for_an_order_of_no_options(
        self, tmp_path: Path
    ) -> None:
        item = make_item(1, kind="open", options=(), answer=(), reference="A dog.")
        assert option_orders(item, Protocol(orders=4), 0) == [()]


def test_a_condition_says_all_that_decides() -> None:
    record = Condition.of(Protocol(), "few", {"sampling": "uniform:4"}).to_record()
    assert record["changes"] == {"sampling": "uniform:4"}
    assert {"modalities", "rounds", "fixed_last", "rubric", "sound_encoding"} <= set(record)
