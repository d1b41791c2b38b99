"""A spot that is damaged for a while: as visible, large, long and hidden as the margin has it."""

import json
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from exact_orders import TAKE, asked
from exactness import layers_hold, spot_holds
from ordinary import ordinary_clip, shown

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.data.manifest import read_manifest
from reelbench.media.measure.local import NINTHS
from reelbench.media.measure.quality import DAMAGES, NOT_THERE, all_qualities
from reelbench.media.measure.visibility import BANDS
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.degraded import SeenLayer, WrittenVideo
from reelbench.recipes.qbench_exact.footage import DamageTarget, SegmentFrames, UnfitError
from reelbench.recipes.qbench_exact.layered import check_layers, layers_of
from reelbench.recipes.qbench_exact.plan import QuestionPlan
from reelbench.recipes.qbench_exact.recipe import RECIPE
from reelbench.recipes.qbench_exact.spots import hidden_in
from reelbench.recipes.qbench_exact.targets import QuestionTargets
from reelbench.recipes.qbench_exact.videos import MadeQuestion, write_videos
from reelbench.score.score import score_predictions

SEGMENT = Segment("clip.mp4#0000", "clip.mp4", "0" * 64, 0.0, 1.0)
GOALS = {"spot": 9, "hidden": 4}


def targets(
    family: str, goal: int = 0, margin: float = 0.1, seed: int = 0, damage: str = "noise"
) -> QuestionTargets:
    kind = DAMAGES[damage].kinds[0]
    order = QuestionPlan("x", family, damage, kind, goal, False, ((TAKE,),), margin)
    return QuestionTargets(order, seed)


def size(target: DamageTarget) -> tuple[float, float, float]:
    """Side, length and least visibility."""
    assert target.region is not None
    assert target.jnds is not None
    return target.region[2] - target.region[0], target.end - target.begin, target.jnds[0]


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ordinary_clip(tmp_path_factory.mktemp("spots") / "clip.mp4", 1, 1.0, 20)


def made(clip: Path, out: Path, wanted: QuestionTargets) -> Item:
    question = write_videos([clip], [SEGMENT], wanted, [out], 128)
    assert isinstance(question, MadeQuestion), question
    return asked(question)


class TestMargins:
    @pytest.mark.parametrize(("family", "seed"), [*product(GOALS, range(5))])
    def test_a_small_one_is_smaller_shorter_and_nearer_to_the_threshold(
        self, family: str, seed: int
    ) -> None:
        found = [size(layers_of(targets(family, 1, m, seed))[0]) for m in (0.02, 0.1, 0.2)]
        for hard, easy in pairwise(found):
            assert all(one < other for one, other in zip(hard[:2], easy[:2], strict=True))
        assert 1.2 <= found[0][2] <= 1.5
        assert 6 <= found[2][2] <= 20

    @pytest.mark.parametrize("family", GOALS)
    def test_how_visible_it_is_does_not_hang_on_the_key(self, family: str) -> None:
        """Or the tag would tell it."""
        for seed in range(5):
            sizes = {size(layers_of(targets(family, g, 0.15, seed))[0])[2] for g in range(4)}
            assert len(sizes) == 1

    @pytest.mark.parametrize("margin", [0.02, 0.2])
    def test_it_lies_in_the_ninth_or_in_the_quarter_of_the_key(self, margin: float) -> None:
        for seed, (goal, (row, column)) in product(range(5), enumerate(NINTHS.values())):
            (target,) = layers_of(targets("spot", goal, margin, seed))
            assert target.region is not None
            left, top, right, bottom = target.region
            assert column / 3 - 1e-9 <= left < right <= (column + 1) / 3 + 1e-9
            assert row / 3 - 1e-9 <= top < bottom <= (row + 1) / 3 + 1e-9
            assert 1 / 16 < target.begin < target.end < 15 / 16
        for seed, goal in product(range(20), range(4)):
            (target,) = layers_of(targets("hidden", goal, margin, seed))
            assert goal / 4 < target.begin < target.end < (goal + 1) / 4
            frames = [n for n in range(16) if target.begin <= (n + 0.5) / 16 < target.end]
            assert 2 <= len(frames) <= 3

    def test_a_small_one_hides_it_where_more_is_needed_to_be_noticed(self, clip: Path) -> None:
        footage = SegmentFrames(clip, SEGMENT, 128, 1)
        severe = {}
        for margin in (0.02, 0.2):
            (place,) = hidden_in(footage, targets("hidden", 1, margin))
            images = footage.damaged(place, 0.2, 0, footage.images)
            changed = [images[number] for number in footage.own(place)]
            # As visible as one tile for as long: pooled over fewer pixels it counts less.
            severe[margin] = footage.jnds(place, changed) / (size(place)[0] * 9) ** 0.5
        assert severe[0.02] < 0.8 * severe[0.2]


class TestKeys:
    @pytest.mark.parametrize(("family", "goal", "margin", "damage"), [
        ("spot", 4, 0.02, "noise"), ("spot", 8, 0.2, "under-exposure"),
        ("hidden", 0, 0.2, "noise"), ("hidden", 3, 0.05, "noise"),
    ])  # fmt: skip
    def test_they_are_right_by_what_the_clip_and_the_file_differ_in(
        self, clip: Path, tmp_path: Path, family: str, goal: int, margin: float, damage: str
    ) -> None:
        wanted = targets(family, goal, margin, damage=damage)
        item = made(clip, tmp_path / "out.mp4", wanted)
        images, clean = shown(tmp_path / "out.mp4", 1), shown(clip, 1)
        assert spot_holds(item, images, clean) > (1.0 if margin == 0.02 else 1.5)
        wrong = next(letter for letter in item.letters if letter not in item.answer)
        assert spot_holds(item.replace(answer=(wrong,)), images, clean) < 1
        (video,) = item.provenance["exact"]["videos"]
        (layer,) = video["layers"]
        (target,) = layers_of(wanted)
        assert target.jnds is not None
        assert target.jnds[0] <= layer["jnd"] <= target.jnds[1]
        most = BANDS[str(item.tags["visibility"])]
        assert most / 2 < layer["jnd"] <= most or layer["jnd"] > 8
        assert item.evidence == ((round(layer["begin"], 3), round(layer["end"], 3)),) or all(
            abs(one - other) < 2e-3
            for one, other in zip(item.evidence[0], (layer["begin"], layer["end"]), strict=True)
        )


class TestRefused:
    def test_what_the_frames_do_not_show_is_never_written(self, clip: Path, tmp_path: Path) -> None:
        out = tmp_path / "out.mp4"
        wanted = targets("spot", 1, 0.2, damage="over-exposure")
        refused = write_videos([clip], [SEGMENT], wanted, [out], 128)
        assert refused == "it is as clear in another part of the picture, or at another time"
        assert not out.exists()

    def seen(self, extent: float, rises: np.ndarray) -> WrittenVideo:
        layer = SeenLayer(DamageTarget("noise", "noise"), 0.5, extent, 0.5, (), (4, 6), 2.0)
        return WrittenVideo({}, {}, layers=(layer,), rises=tuple(map(tuple, rises.tolist())))

    def test_what_is_as_clear_elsewhere(self) -> None:
        rises = np.full((9, 4), 1.0)
        rises[2, 1] = 3.0
        check_layers(targets("spot", 2), self.seen(0.3, rises))
        check_layers(targets("hidden", 1), self.seen(0.3, rises))
        for family, goal in (("spot", 3), ("hidden", 2)):
            with pytest.raises(UnfitError, match="as clear in another part"):
                check_layers(targets(family, goal), self.seen(0.3, rises))
        rises[5, 3] = 2.8
        for family, goal in (("spot", 2), ("hidden", 1)):
            with pytest.raises(UnfitError, match="as clear in another part"):
                check_layers(targets(family, goal), self.seen(0.3, rises))

    def test_what_is_less_than_the_margin(self) -> None:
        rises = np.zeros((9, 4))
        rises[2, 1] = 3.0
        with pytest.raises(UnfitError, match=r"noise grew by 0\.09 alone"):
            check_layers(targets("spot", 2, 0.1), self.seen(0.09, rises))


class TestTwoAtOnce:
    @pytest.mark.parametrize(("damage", "goal"), [("noise", 0), ("noise", 1)])
    def test_both_are_there_and_the_others_are_not(
        self, clip: Path, tmp_path: Path, damage: str, goal: int
    ) -> None:
        item = made(clip, tmp_path / "out.mp4", targets("together", goal, damage=damage))
        images = shown(tmp_path / "out.mp4", 1)
        assert layers_hold(item, images) > 0.35 - NOT_THERE
        assert item.options.index(item.correct[0]) == goal
        pairs = [tuple(option.lower().split(" and ")) for option in item.options]
        assert len(set(pairs)) == 4
        assert {detail for detail, _ in pairs} == {"blur", "noise"}
        (light, colour) = sorted({o for _, o in pairs}, key=lambda o: "exposure" not in o)
        assert light in ("over-exposure", "under-exposure")
        assert colour in ("colour cast", "oversaturation"), "any of the four could be right"
        assert "visibility" not in item.tags

    def test_another_that_is_visible_too_is_refused(self) -> None:
        wanted = targets("together", 0, damage="noise")
        usual = {facts.quality: facts.usual for facts in DAMAGES.values()}
        layers = tuple(
            SeenLayer(replace(target, low=0.4), 0.5, 0.4, 0.6, (), (0, 16))
            for target in layers_of(wanted)
        )
        noisy = usual | {"noise": 15.0}
        assert len(check_layers(wanted, WrittenVideo(usual, noisy, layers=layers))) == 2
        blurred = noisy | {"sharpness": DAMAGES["blur"].usual - 0.1}
        with pytest.raises(UnfitError, match="blur is visible too"):
            check_layers(wanted, WrittenVideo(usual, blurred, layers=layers))

    def test_one_that_the_other_swallows_is_refused(self) -> None:
        layers = tuple(
            SeenLayer(DamageTarget(name, name), 0.5, 0.4, level, (), (0, 16))
            for name, level in (("noise", 0.6), ("low contrast", 0.34))
        )
        qualities = all_qualities([np.zeros((32, 32, 3), np.uint8)])
        with pytest.raises(UnfitError, match="not visible beside the other"):
            check_layers(targets("together"), WrittenVideo(qualities, qualities, layers=layers))


def test_the_manifest_has_a_table_by_visibility(clip: Path, tmp_path: Path) -> None:
    """So that people and models stand side by side, band by band."""
    item = made(clip, tmp_path / "out.mp4", targets("spot", 4))
    other = item.replace(id="y", tags={**item.tags, "visibility": "over 8"})
    manifest = RECIPE.manifest([item, other], tmp_path)
    table = manifest.tables["visibility"]
    bands = [str(item.tags["visibility"]), "over 8"]
    assert table["columns"] == {band: {"visibility": band} for band in bands}
    assert "people" in table
    assert manifest.taxonomy["visibility"] == tuple(bands)
    (tmp_path / "benchmark.yaml").write_text(manifest.to_yaml())
    assert read_manifest(tmp_path / "benchmark.yaml")[1] == []
    (tmp_path / "media").mkdir()
    (tmp_path / "out.mp4").rename(tmp_path / item.media[0].path)
    rows = [item.to_record(), other.to_record()]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    right, wrong = item.answer[0], next(x for x in item.letters if x not in item.answer)
    given = {"m": (right, wrong), "human:a": (right, right), "human:b": (wrong, right)}
    answers = [
        {"id": name, "model": model, "parsed": [letter]}
        for model, letters in given.items()
        for name, letter in zip(("x", "y"), letters, strict=True)
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    scores = score_predictions(Benchmark.load(tmp_path), tmp_path / "p.jsonl")
    table = next(each for each in scores["tables"] if each["name"] == "visibility")
    found = {row["model"]: [cell["value"] for cell in row["cells"]] for row in table["rows"]}
    assert found == {"m": [1.0, 0.0], "people": [0.5, 1.0]}
    none = item.replace(tags={n: v for n, v in item.tags.items() if n != "visibility"})
    assert "visibility" not in RECIPE.manifest([none], tmp_path).tables
