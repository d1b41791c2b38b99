"""Clips that show one scene are one, in a split and where intervals are computed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from parts import Studio, recipe_of
from support import make_item

from reelbench.annotate.operator import Value
from reelbench.data.clusters import video_clusters
from reelbench.data.items import SOURCE_CLIPS, Item, Media, freeze
from reelbench.make.parts.balance_stages import split
from reelbench.make.parts.scenes import scenes
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.stage import Stage
from reelbench.recipes.qbench_exact.clips import Segment


def prints(seed: int, count: int = 6) -> Value:
    numbers = np.random.default_rng(seed).integers(0, 2**63, count)
    return {"rate": 1.0, "hashes": [f"{int(number):016x}" for number in numbers]}


# b is a piece of a; c is like none.
LABELS = {
    "a.mp4": prints(1),
    "b.mp4": {**prints(1), "hashes": prints(1)["hashes"][1:5]},
    "c.mp4": prints(2),
}


def through(folder: Path, rows: Sequence[Any], *stages: Stage) -> tuple[list[Any], list[str]]:
    async def work(ctx: StageContext) -> tuple[list[Any], list[str]]:
        ctx.clip_labels = {clip: {"fingerprint": value} for clip, value in LABELS.items()}
        passed = await Pipeline(recipe_of(*stages), ctx, ctx.store).take(rows)
        return passed[-1].out, ctx.notes

    made: tuple[list[Any], list[str]] = Studio(folder).with_context(work)[0]
    return made


def about(number: int, *paths: str, **fields: Any) -> Item:
    return make_item(number, media=tuple(map(Media, paths)), **fields)


class TestItems:
    def test_on_clips_of_one_scene_name_it_and_others_stay_as_they_are(
        self, tmp_path: Path
    ) -> None:
        rows = [about(1, "a.mp4"), about(2, "b.mp4"), about(3, "c.mp4"), about(4, "c.mp4", "b.mp4")]
        out, notes = through(tmp_path, rows, scenes())
        assert [item.source_clips for item in out] == [("a.mp4",), ("a.mp4",), (), ("a.mp4",)]
        assert out[2] == rows[2]
        assert notes == ["scenes: these clips show the same and count as one: a.mp4, b.mp4"]

    def test_are_in_one_split_and_one_cluster(self, tmp_path: Path) -> None:
        rows = [about(n, f"{'abcd'[n % 4]}.mp4") for n in range(40)]
        out, _ = through(tmp_path, rows, scenes(), split({"dev": 0.5, "test": 0.5}, ("none",)))
        assert len({item.tags["split"] for item in out if item.media[0].path[0] in "ab"}) == 1
        assert {item.tags["split"] for item in out} == {"dev", "test"}
        assert len(set(video_clusters(out).values())) == 3
        assert len(set(video_clusters(rows).values())) == 4

    def test_what_an_item_says_already_is_kept(self, tmp_path: Path) -> None:
        row = about(1, "b.mp4", extra=freeze({SOURCE_CLIPS: ["film"], "own": 1}))
        (item, _), _ = through(tmp_path, [row, about(2, "a.mp4")], scenes())
        assert item.extra == {SOURCE_CLIPS: ("a.mp4", "film"), "own": 1}

    def test_without_labels_nothing_is_known(self, tmp_path: Path) -> None:
        rows = [about(1, "x.mp4"), about(2, "y.mp4")]
        assert through(tmp_path, rows, scenes()) == (rows, [])
        assert through(tmp_path, [], scenes()) == ([], [])


def test_other_rows_get_the_name_of_their_scene(tmp_path: Path) -> None:
    rows = [Segment(f"{clip}#0", clip, "", 0, 1) for clip in ("b.mp4", "c.mp4", "x.mp4")]
    rows.append(Segment("a.mp4#0", "a.mp4", "", 0, 1))
    out, _ = through(tmp_path, rows, scenes(Segment))
    assert [row.scene for row in out] == ["a.mp4", "c.mp4", "x.mp4", "a.mp4"]
