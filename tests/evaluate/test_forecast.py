"""A dry run says what a run would ask, take and cost, and neither asks nor writes."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, Server, completion, serving
from support import blind_benchmark, make_item, run_here
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.evaluate.forecast import Forecasts, RunForecast, forecast
from reelbench.evaluate.prepare import RunOptions
from reelbench.evaluate.run import run_benchmark

PRICE = {"input": 10.0, "output": 100.0}


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("f") / "a.mp4", sound=4.0)


@pytest.fixture
def root(video: Path, tmp_path: Path) -> Path:
    (tmp_path / "b" / "media").mkdir(parents=True)
    shutil.copy(video, tmp_path / "b" / "media" / "a.mp4")
    return tmp_path / "b"


def question(number: int, **fields: Any) -> Item:
    media = (Media("media/a.mp4", 1.0, 3.0),)
    return make_item(number, **{"media": media, "question": f"Question {number}?", **fields})


def opened(number: int) -> Item:
    return question(number, kind="open", options=(), answer=(), reference="A dog.")


def card(folder: Path, server: Server | None = None, name: str = "far", **more: Any) -> str:
    url = server.url if server else "http://127.0.0.1:9/v1"
    fields = {"name": name, "endpoint": url, "backoff": 0.01, "retries": 0, **more}
    (folder / f"{name}.yaml").write_text(json.dumps(fields))
    return str(folder / f"{name}.yaml")


def answer(body: dict[str, Any], _: int) -> Reply:
    judging = body["model"] == "judge"
    return completion('{"reason": "so", "score": 2}' if judging else "B")


def foreseen(benchmark: Benchmark, out: Path, *models: str, **wanted: Any) -> list[RunForecast]:
    return forecast(benchmark, RunOptions(models, **wanted), out).rows


ITEMS = [question(n) for n in range(5)]


class TestRequests:
    @pytest.mark.parametrize(("items", "conditions", "protocol"), [
        (ITEMS, [], {}),
        (ITEMS, [], {"orders": 3, "rounds": 2}),
        (ITEMS, [], {"orders": "circular"}),
        (ITEMS, ["blind modalities=T", "protocol"], {}),
        ([question(1, id="x"), question(1, id="y"), question(2)], [], {}),  # two are the same
        ([*ITEMS, opened(9)], [], {}),
        (ITEMS, ["blind modalities=T sampling=uniform:2 sampling=uniform:4"], {}),  # nothing is shown
        (ITEMS, ["protocol", "again rounds=3"], {}),  # of which the first was asked already
    ])  # fmt: skip
    def test_as_many_as_a_run_then_asks(
        self, items: list[Item], conditions: list[str], protocol: Any, root: Path, tmp_path: Path
    ) -> None:
        benchmark = blind_benchmark(root, *items, **{"sampling": "uniform:2", **protocol})
        with serving(answer) as server:
            models, judges = [card(tmp_path, server)], [card(tmp_path, server, "judge")]
            rows = foreseen(
                benchmark, tmp_path / "r", *models, conditions=conditions, judges=judges
            )
            assert server.requests == []
            run_benchmark(benchmark, models, tmp_path / "r", conditions=conditions, judges=judges)
            assert sum(row.requests for row in rows) == len(server.requests)

    def test_what_is_answered_is_not_counted_again(self, root: Path, tmp_path: Path) -> None:
        benchmark = blind_benchmark(root, *ITEMS, sampling="uniform:2")
        with serving(answer) as server:
            model = card(tmp_path, server)
            run_benchmark(benchmark, [model], tmp_path / "r")
            (row,) = foreseen(benchmark, tmp_path / "r")
            assert (row.requests, row.known, row.input_tokens, row.usd) == (0, 5, 0, None)
            rows = foreseen(benchmark, tmp_path / "r", conditions=["again rounds=2"])
            assert [(r.step, r.requests, r.known) for r in rows] == [("protocol", 0, 5), ("again", 5, 5)]  # fmt: skip

    def test_what_is_judged_is_not_counted_again(self, root: Path, tmp_path: Path) -> None:
        benchmark = blind_benchmark(root, opened(1), modalities="T")
        with serving(answer) as server:
            models, judges = [card(tmp_path, server)], [card(tmp_path, server, "judge")]
            run_benchmark(benchmark, models, tmp_path / "r", judges=judges)
            asked = len(server.requests)
            run_benchmark(benchmark, [], tmp_path / "r")
            assert len(server.requests) == asked
        assert sum(row.requests for row in foreseen(benchmark, tmp_path / "r")) == 0

    def test_judges_have_rows_of_their_own(self, root: Path, tmp_path: Path) -> None:
        benchmark = blind_benchmark(root, opened(1), opened(2), question(3), modalities="T")
        rows = foreseen(benchmark, tmp_path / "r", card(tmp_path), judges=[card(tmp_path, name="judge")])  # fmt: skip
        assert [(r.card.name, r.step, r.requests) for r in rows] == [
            ("far", "protocol", 3),
            ("judge", "judging protocol", 10),
        ]


class TestTokens:
    @pytest.mark.parametrize(("sampling", "more", "frames"), [
        ("uniform:16", {}, 16), ("fps:2", {}, 4), ("uniform:16", {"frames": 4}, 4), ("fps:8,max=5", {}, 5),
    ])  # fmt: skip
    def test_frames_are_counted_as_the_card_says(
        self, sampling: str, more: Any, frames: int, root: Path, tmp_path: Path
    ) -> None:
        benchmark = blind_benchmark(root, *ITEMS, sampling=sampling)
        model = card(tmp_path, frame_tokens=1000, reply_tokens=7, **more)
        (seen,) = foreseen(benchmark, tmp_path / "r", model)
        (blind,) = foreseen(benchmark, tmp_path / "r", model, conditions=["blind modalities=T"])
        assert seen.input_tokens - blind.input_tokens == 5 * frames * 1000
        assert seen.output_tokens == 5 * 7
        assert 5 * 20 < blind.input_tokens < 5 * 80  # about 140 characters each

    def test_frames_by_their_size_where_it_says_nothing(self, root: Path, tmp_path: Path) -> None:
        benchmark = blind_benchmark(root, question(1), sampling="uniform:4", frame_size="long:280")
        rows = foreseen(benchmark, tmp_path / "r", card(tmp_path), conditions=["protocol", "blind modalities=T"])  # fmt: skip
        expected = 4 * math.ceil(280 / 28) * math.ceil(158 / 28)  # 28 pixels a side
        assert rows[0].input_tokens - rows[1].input_tokens == expected

    def test_sound_by_its_seconds(self, root: Path, tmp_path: Path) -> None:
        benchmark = blind_benchmark(root, question(1))
        conditions = ["heard modalities=A+T", "blind modalities=T"]
        rows = foreseen(benchmark, tmp_path / "r", card(tmp_path, hears=True), conditions=conditions)  # fmt: skip
        assert rows[0].input_tokens - rows[1].input_tokens == 2 * 32

    def test_words_by_their_length(self, root: Path, tmp_path: Path) -> None:
        (root / "media" / "a.srt").write_text("00:01.500 --> 00:02.000\n" + "word " * 400)
        benchmark = blind_benchmark(root, question(1))
        conditions = ["read modalities=A+T", "blind modalities=T"]
        rows = foreseen(benchmark, tmp_path / "r", card(tmp_path), conditions=conditions)
        assert rows[0].input_tokens - rows[1].input_tokens == pytest.approx(500, abs=15)

    def test_a_silent_film_has_no_tokens_of_sound(self, root: Path, tmp_path: Path) -> None:
        benchmark = blind_benchmark(root, question(1), sampling="uniform:4")
        model = card(tmp_path, video="clip", frame_tokens=1000)
        rows = foreseen(benchmark, tmp_path / "r", model, conditions=["protocol", "blind modalities=T"])  # fmt: skip
        assert rows[0].input_tokens - rows[1].input_tokens == 4 * 1000

    def test_they_cost_the_price(self, root: Path, tmp_path: Path) -> None:
        benchmark = blind_benchmark(root, *ITEMS)
        models = [card(tmp_path, price=PRICE), card(tmp_path, name="near")]
        priced, free = foreseen(benchmark, tmp_path / "r", *models)
        cost = (priced.input_tokens * 10 + priced.output_tokens * 100) / 1e6
        assert priced.usd == pytest.approx(cost)
        assert free.usd is None
        assert Forecasts([priced], {}).usd == pytest.approx(cost)
        assert Forecasts([priced, free], {}).usd is None


def dry(root: Path, out: Path, *words: str) -> int:
    return run_here("run", root, "--out", out, "--dry-run", *words)


class TestCommand:
    def test_a_table_and_nothing_asked_or_written(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        blind_benchmark(root, *ITEMS, sampling="uniform:4")
        with serving(answer) as server:
            model = card(tmp_path, server, price=PRICE, frame_tokens=250, reply_tokens=10)
            before = sorted(tmp_path.rglob("*"))
            assert dry(root, tmp_path / "r", "--model", model) == 0
            assert server.requests == []
        assert sorted(tmp_path.rglob("*")) == before
        heading, row, total = capsys.readouterr().out.splitlines()
        assert heading.split("  ")[0] == "model"
        name, condition, to_ask, answered, tokens_in, tokens_out, cost = row.split()
        assert (name, condition, to_ask, answered, tokens_out) == ("far", "protocol", "5", "0", "50")  # fmt: skip
        taken = int(tokens_in.replace(",", ""))
        assert 5 * 4 * 250 < taken < 5 * 4 * 250 + 5 * 80
        usd = (taken * 10 + 50 * 100) / 1e6
        assert (cost, total) == (f"${usd:.4f}", f"total: ${usd:.4f}")

    def test_a_run_that_is_there_stays_as_it_is(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        benchmark = blind_benchmark(root, *ITEMS, modalities="T")
        run_benchmark(benchmark, ["baseline:longest"], tmp_path / "r")
        before = {path: path.read_bytes() for path in (tmp_path / "r").iterdir()}
        assert dry(root, tmp_path / "r", "--condition", "more rounds=2") == 0
        assert {path: path.read_bytes() for path in (tmp_path / "r").iterdir()} == before
        lines = [line.split()[:4] for line in capsys.readouterr().out.splitlines()[1:3]]
        assert lines == [["baseline:longest", "protocol", "0", "5"], ["baseline:longest", "more", "5", "5"]]  # fmt: skip

    def test_media_that_cannot_be_shown_are_told(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (root / "media" / "broken.mp4").write_text("not a video")
        broken = [question(n, media=(Media(f"media/{name}.mp4"),)) for n, name in enumerate(("broken", "absent"), 7)]  # fmt: skip
        blind_benchmark(root, *ITEMS, *broken)
        assert dry(root, tmp_path / "r", "--model", card(tmp_path)) == 0
        out, err = capsys.readouterr()
        assert out.splitlines()[1].split()[2] == "5"
        assert "2 questions cannot be asked: their media cannot be read." in err
        assert "broken.mp4: cannot be decoded" in err
        assert "absent.mp4: no such file" in err

    def test_what_is_wrong_is_told_as_in_a_run(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        blind_benchmark(root, *ITEMS)
        assert dry(root, tmp_path / "r", "--model", "gpt") == 2
        assert dry(root, tmp_path / "r") == 2
        assert dry(root, tmp_path / "r", "--model", card(tmp_path), "--budget", "plenty") == 2
        err = capsys.readouterr().err
        assert "There is no model 'gpt'" in err
        assert "name at least one" in err
        assert "The budget 'plenty'" in err
