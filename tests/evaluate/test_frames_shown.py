"""What a benchmark's protocol says about frames is what a model gets."""

import json
import os
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support import blind_benchmark, make_item
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.evaluate.run import run_benchmark
from reelbench.models.base import ImagePart, Request, Response
from reelbench.models.baselines.shortcuts import Offline
from reelbench.models.card import Card

BLIND = ["baseline:random"]


class TestFrames:
    @pytest.fixture
    def seen(self, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[ImagePart, ...]]:
        """Question -> the pictures that came with it, as a model sees them."""
        seen: dict[str, tuple[ImagePart, ...]] = {}

        class Looking(Offline):
            sees = True

            async def ask(self, request: Request) -> Response:
                seen[request.question] = request.pictures
                return Response("ok", "A")

        monkeypatch.setattr(
            "reelbench.models.load.Loader.load", lambda *_: Looking(Card(name="looking"))
        )
        return seen

    def benchmark(self, root: Path, *items: Item, **protocol: Any) -> Benchmark:
        (root / "media").mkdir(parents=True)
        make_video(root / "media" / "a.mp4")
        return blind_benchmark(root, *items, **protocol)

    def item(self, question: str, **fields: Any) -> Item:
        return make_item(1, id=question, question=question, media=(Media("media/a.mp4"),), **fields)

    def test_size_and_encoding(
        self, tmp_path: Path, seen: dict[str, tuple[ImagePart, ...]]
    ) -> None:
        benchmark = self.benchmark(
            tmp_path / "b", self.item("Q?"), frame_size="long:64", frame_encoding="png"
        )
        run_benchmark(benchmark, ["x"], tmp_path / "r")
        assert len(seen["Q?"]) == 16
        assert {picture.media_type for picture in seen["Q?"]} == {"image/png"}
        assert Image.open(BytesIO(seen["Q?"][0].data)).size == (64, 36)
        condition = json.loads((tmp_path / "r" / "run.json").read_text())["conditions"][0]
        assert (condition["frame_size"], condition["frame_encoding"]) == ("long:64", "png")

    def test_each_question_gets_its_own_evidence(
        self, tmp_path: Path, seen: dict[str, tuple[ImagePart, ...]]
    ) -> None:
        items = [
            self.item("Early?", evidence=((0.0, 1.0),)),
            self.item("Late?", evidence=((3.0, 4.0),)),
        ]
        benchmark = self.benchmark(tmp_path / "b", *items, sampling="uniform:2,evidence=only")
        run_benchmark(benchmark, ["x"], tmp_path / "r")
        times = {question: [p.time for p in pictures] for question, pictures in seen.items()}
        assert times == {"Early?": [0.25, 0.75], "Late?": [3.25, 3.75]}

    def test_what_is_left_of_a_video_where_the_protocol_allows_it(
        self, tmp_path: Path, seen: dict[str, tuple[ImagePart, ...]]
    ) -> None:
        benchmark = self.benchmark(tmp_path / "b", self.item("Q?"), accept_damage=True)
        path = make_video(
            tmp_path / "b" / "media" / "a.mp4", seconds=8, container={"movflags": "+faststart"}
        )
        os.truncate(path, path.stat().st_size // 2)
        run_benchmark(benchmark, ["x"], tmp_path / "r")
        assert len(seen["Q?"]) == 16
        (warning,) = json.loads((tmp_path / "r" / "status.json").read_text())["warnings"]
        assert warning.startswith("media/a.mp4: is cut: ")
        assert "declares 8.0 s but ends at" in warning

    @pytest.mark.parametrize("protocol", [{"frame_size": "big"}, {"frame_encoding": "bmp"}])
    def test_wrong_words_before_any_work(self, protocol: dict[str, str], tmp_path: Path) -> None:
        benchmark = self.benchmark(tmp_path / "b", self.item("Q?"), **protocol)
        with pytest.raises(ReelbenchError, match="is not valid"):
            run_benchmark(benchmark, BLIND, tmp_path / "r")
        assert not (tmp_path / "r").exists()
