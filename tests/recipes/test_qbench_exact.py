"""``reelbench make qbench-exact`` from small clips to a benchmark whose keys are measured again."""

import contextlib
import hashlib
import io
import json
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from commands import CapturedCommand
from exact_orders import LAYERED, SPOTS
from exactness import Seen, holds, layers_hold, spot_holds
from filming import bytes_of, check_funnel, lines, stage_of
from ordinary import ordinary_clip, shown
from support import run_here
from videos import tone

from reelbench.data.benchmark import Benchmark
from reelbench.data.clusters import video_clusters
from reelbench.data.items import Item
from reelbench.media.decode.frames import FrameSpec, frames_of
from reelbench.media.measure.quality import CORNERS, DAMAGES, all_qualities, part_of
from reelbench.models.base import ImagePart, Message, Part, Request, TextPart
from reelbench.models.baselines.quality import answer_about_quality

ITEMS, MARGIN = 24, 0.15
QUICK = ("--set", "cut.seconds=1.0", "--set", "damage.longest=128", "--items", ITEMS)


def make(*words: object) -> tuple[int, str, str]:
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        status = run_here("make", "qbench-exact", *words)
    assert "Traceback" not in told.getvalue()
    return status, said.getvalue(), told.getvalue()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exact") / "clips"
    (folder / "deep").mkdir(parents=True)
    ordinary_clip(folder / "one.mp4", 1)
    ordinary_clip(folder / "deep" / "two.mp4", 2)
    return folder


@pytest.fixture(scope="module")
def made(source: Path) -> Path:
    """A whole make, to be read and not to be changed."""
    out = source.parent / "made"
    status, _, told = make("--source", source, "--out", out, *QUICK)
    assert status == 0, told
    return out


@pytest.fixture
def again(made: Path, tmp_path: Path) -> Path:
    """A copy of it to go on with, as far from the clips as the first."""
    return Path(shutil.copytree(made, made.parent / tmp_path.name))


def times(out: Path) -> dict[str, int]:
    """When each video was made."""
    return {p.name: p.stat().st_mtime_ns for p in sorted((out / "make" / "videos").iterdir())}


def media(out: Path) -> dict[str, str]:
    files = sorted((out / "media").iterdir())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def items(out: Path) -> tuple[Item, ...]:
    return Benchmark.load(out).items


def measured(item: Item, out: Path) -> list[Seen]:
    """What the written videos of an item show, without asking what was done to them."""
    found = []
    damage = DAMAGES[str(item.tags["distortion"])]
    for each, fact in zip(item.media, item.provenance["exact"]["videos"], strict=True):
        images = shown(out / each.path, len(item.media))
        after = all_qualities(images)
        corner, begin = None, 0.0
        if item.tags["family"] in ("where", "place"):
            levels = {c: np.mean([_level(damage, part_of(i, c)) for i in images]) for c in CORNERS}
            corner = max(levels, key=lambda c: levels[c])
            assert levels[corner] >= sorted(levels.values())[-2] + MARGIN - 0.01
        if fact.get("begin"):
            course = [_level(damage, image) for image in images]
            middle = (course[0] + course[-1]) / 2
            first = next(n for n, level in enumerate(course) if level > middle)
            begin = (first + 0.25) / len(images)
        found.append(Seen(after, damage.extent(fact["before"], after), corner, begin))
    return found


def _level(damage: Any, image: np.ndarray) -> float:
    return float(damage.level(all_qualities([image])))


class TestTheBenchmark:
    def test_it_loads_and_lint_finds_nothing_wrong(self, made: Path) -> None:
        benchmark = Benchmark.load(made)
        assert len(benchmark.items) == ITEMS
        assert benchmark.manifest.name == "qbench-exact"
        assert benchmark.manifest.protocol.frame_encoding == "png"
        assert run_here("lint", made) == 0
        check_funnel(made)

    def test_media_are_those_of_the_items_and_no_others(self, made: Path) -> None:
        named = [each.path for item in items(made) for each in item.media]
        assert len(named) == len(set(named))
        assert {f"media/{name}" for name in media(made)} == set(named)

    def test_a_clip_is_one_draw_and_in_one_split(self, made: Path) -> None:
        splits: dict[str, set[str]] = {}
        videos: Counter[str] = Counter()
        for item in items(made):
            (clip,) = {fact["source"] for fact in item.provenance["exact"]["videos"]}
            assert item.source_clips == (clip,)
            splits.setdefault(clip, set()).update(item.tag("split"))
            videos[clip] += len(item.media)
        assert sorted(map(sorted, splits.values())) == [["dev"], ["test"]]
        assert max(videos.values()) < 1.5 * min(videos.values())
        assert len(set(video_clusters(items(made)).values())) == 2

    def test_all_families_damages_and_concerns_come(self, made: Path) -> None:
        tags = [item.tags for item in items(made)]
        families = {tag["family"] for tag in tags}
        assert len(families) >= 16
        assert set(LAYERED) <= families
        assert len({tag["distortion"] for tag in tags}) >= 6
        concerns = {c for tag in tags for c in tag["concern"]}
        assert {"Technical", "Aesthetic"} <= concerns <= {"Technical", "Aesthetic", "Temporal"}

    def test_keys_are_right_by_what_is_measured_in_the_written_videos(
        self, made: Path, source: Path
    ) -> None:
        for item in items(made):
            family = item.tags["family"]
            if family in SPOTS:
                (fact,) = item.provenance["exact"]["videos"]
                clean = shown(source / fact["source"], 1, fact["from"], fact["to"])
                assert spot_holds(item, shown(made / item.media[0].path, 1), clean) > 1
                continue
            if family in LAYERED:
                images = shown(made / item.media[0].path, 1)
                assert layers_hold(item, images) > 0.05, (item.question, item.correct)
                continue
            seen = measured(item, made)
            right = holds(item, seen)
            if family == "when":
                assert right > 0, item.question
            else:
                halved = ("is", "both", "strength", "compare")  # to what divides two answers
                least = MARGIN / 2 if family in halved else MARGIN
                assert right >= least - 0.01, (item.question, item.correct, right)

    def test_what_is_written_down_is_what_is_measured(self, made: Path, source: Path) -> None:
        for item in items(made):
            facts = item.provenance["exact"]
            assert facts["margin"] == MARGIN
            assert facts["damage"] == item.tags["distortion"]
            for each, fact in zip(item.media, facts["videos"], strict=True):
                path = made / each.path
                assert fact["written"] == hashlib.sha256(path.read_bytes()).hexdigest()
                clip = (source / fact["source"]).read_bytes()
                assert fact["sha256"] == hashlib.sha256(clip).hexdigest()
                after = all_qualities(shown(path, len(item.media)))
                assert fact["after"] == pytest.approx(after, abs=2e-4)
                before = all_qualities(
                    shown(source / fact["source"], len(item.media), fact["from"], fact["to"])
                )
                if item.tags["family"] == "copy":
                    continue  # four of it, in half of its size
                assert fact["before"] == pytest.approx(before, rel=0.02, abs=0.05)
                assert fact["to"] - fact["from"] == 1
                assert 0 <= fact["severity"] <= 1
                assert fact["kind"] in DAMAGES[fact["damage"]].kinds
                if not {"begin", "corner", "layers"} & set(fact):
                    damage = DAMAGES[fact["damage"]]
                    extent = damage.extent(fact["before"], fact["after"])
                    assert extent == pytest.approx(fact["extent"], abs=0.01)
                    assert damage.level(after) == pytest.approx(fact["level"], abs=1e-3)

    def test_pixels_answer_far_above_chance(self, made: Path) -> None:
        closed = [item for item in items(made) if item.answer]
        right = chance = 0.0
        for item in closed:
            parts: list[Part] = []
            for number, each in enumerate(item.media, 1):
                parts.append(TextPart(f"Video {number}:"))
                clip = frames_of(
                    made / each.path,
                    FrameSpec("uniform:16", shared_by=len(item.media), encoding="png"),
                )
                parts += [ImagePart(p.data, clip.media_type, p.time) for p in clip.pictures]
            asking = Request(
                "k", (Message("user", tuple(parts)),), item.kind, item.question, item.options
            )
            said = answer_about_quality(asking)
            right += [item.letters[place] for place in said] == list(item.answer)
            chance += item.chance
        assert right >= 0.75 * len(closed) > 1.5 * chance

    def test_the_page_and_the_statistics_say_what_was_made(self, made: Path) -> None:
        assert "Severity of" in (made / "made.html").read_text()
        told = json.loads((made / "statistics.json").read_text())
        assert told["numbers"]["segments"] == 12
        clean = told["distributions"]["Sharpness of segments"]
        assert 0 < len(clean) <= 12
        assert all(0 < value < 1 for value in clean)
        assert stage_of(made, "cut")["out"] == 12


class TestAgain:
    def test_a_second_make_does_nothing_anew(self, made: Path) -> None:
        before, files = times(made), bytes_of(made)
        assert make("--out", made)[0] == 0
        assert times(made) == before
        assert bytes_of(made) == files

    def test_a_video_that_is_gone_is_made_again_alone(
        self, made: Path, again: Path, source: Path
    ) -> None:
        pair = next(item for item in items(again) if len(item.media) == 2)
        lost = Path(pair.media[1].path).name
        kept = Path(next(i for i in items(again) if i is not pair).media[0].path).name
        (again / "media" / lost).unlink()
        (again / "make" / "videos" / lost).unlink()
        (again / "media" / kept).unlink()  # this one has its other name still
        before = times(again)
        status, _, told = make("--source", source, "--out", again)
        assert status == 0, told
        changed = {name for name, time in times(again).items() if before.get(name) != time}
        assert changed == {Path(each.path).name for each in pair.media}
        assert media(again) == media(made)
        assert bytes_of(again) == bytes_of(made)

    def test_a_video_that_was_tampered_with_is_made_again(
        self, made: Path, again: Path, source: Path
    ) -> None:
        name = next(iter(media(again)))
        for path in (again / "media" / name, again / "make" / "videos" / name):
            path.write_bytes(path.read_bytes()[:-1] + b"!")
        status, _, told = make("--source", source, "--out", again)
        assert status == 0, told
        assert media(again) == media(made)

    def test_killed_in_the_middle_and_elsewhere_it_ends_the_same(
        self, made: Path, source: Path
    ) -> None:
        out = made.parent / "elsewhere"
        fourth = (signal.SIGKILL, "reelbench.recipes.qbench_exact.videos.run_isolated", 4)
        words = ("make", "qbench-exact", "--source", source, "--out", out, *QUICK)
        assert CapturedCommand(*words, interrupted=fourth).wait() == -signal.SIGKILL
        assert list((out / "make" / "videos").iterdir())
        assert not (out / "items.jsonl").exists()
        status, _, told = make("--out", out)
        assert status == 0, told
        assert bytes_of(out) == bytes_of(made)
        assert media(out) == media(made)


class TestSources:
    def test_a_forecast_writes_nothing(self, source: Path, tmp_path: Path) -> None:
        status, said, told = make(
            "--source", source, "--out", tmp_path / "never", *QUICK, "--dry-run"
        )
        assert status == 0, told
        assert not (tmp_path / "never").exists()
        rows = dict(line.split()[:2] for line in said.splitlines()[1:])
        assert rows["plan"] == "12"

    def test_one_file_may_be_the_source(self, source: Path, tmp_path: Path) -> None:
        words = ("--set", "cut.seconds=1.0", "--items", 1)
        status, _, told = make("--source", source / "one.mp4", "--out", tmp_path / "out", *words)
        assert status == 0, told
        (item,) = items(tmp_path / "out")
        assert {fact["source"] for fact in item.provenance["exact"]["videos"]} == {"one.mp4"}
        assert holds(item, measured(item, tmp_path / "out")) >= MARGIN / 2 - 0.01

    def test_what_cannot_be_used_is_named_with_the_reason(
        self, source: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "mixed"
        folder.mkdir()
        shutil.copy(source / "one.mp4", folder / "good.mp4")
        (folder / "text.mp4").write_text("no video at all")
        (folder / "empty.mp4").write_bytes(b"")
        (folder / "cut.mp4").write_bytes((source / "one.mp4").read_bytes()[:9000])
        ordinary_clip(folder / "short.mp4", 1, seconds=0.8)
        ordinary_clip(folder / "frame.mp4", 1, seconds=1 / 20)
        sound_only(folder / "sound.m4a")
        out = tmp_path / "out"
        status, _, told = make("--source", folder, "--out", out, *QUICK, "--until", "order")
        assert status == 0, told
        rejects = {
            row["id"]: (row["reason"], row["detail"]) for row in lines(out / "rejects.jsonl")
        }
        assert {"text.mp4", "empty.mp4", "cut.mp4"} <= set(rejects)
        assert rejects["short.mp4"] == ("too short", "It lasts 0.8 s, less than a segment of 1 s.")
        assert rejects["frame.mp4"][0] == "too short"
        assert rejects["sound.m4a"][0] == "no picture"
        assert all(reason for reason, _ in rejects.values())
        check_funnel(out)

    def test_pictures_of_four_pixels_are_no_reason_to_fail(self, tmp_path: Path) -> None:
        folder = tmp_path / "tiny"
        folder.mkdir()
        with av.open(str(folder / "tiny.mkv"), "w") as target:
            stream = target.add_stream("ffv1", rate=20)
            stream.width = stream.height = 2
            for number in range(20):
                picture = np.full((2, 2, 3), number * 12, np.uint8)
                target.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "rgb24")))
            target.mux(stream.encode(None))
        out = tmp_path / "out"
        words = ("--set", "cut.seconds=1.0", "--items", 2)
        status, _, told = make("--source", folder, "--out", out, *words)
        assert status in (0, 1), told  # they may still be too dark
        rejects = lines(out / "rejects.jsonl")
        assert all(row["reason"] and row["detail"] for row in rejects)
        assert not {row["reason"] for row in rejects} & {"media"}, "the file is whole"
        check_funnel(out)

    def test_an_empty_folder_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "none").mkdir()
        status, _, told = make("--source", tmp_path / "none", "--out", tmp_path / "out", *QUICK)
        assert status == 2
        assert "contains no clips" in told
        assert not (tmp_path / "out").exists()

    def test_where_no_clip_will_do_it_is_said(self, tmp_path: Path) -> None:
        folder = tmp_path / "short"
        folder.mkdir()
        ordinary_clip(folder / "short.mp4", 1, seconds=0.8)
        status, _, told = make("--source", folder, "--out", tmp_path / "out", *QUICK)
        assert status == 1
        assert "No item is left" in told

    def test_takes_of_no_length_are_refused(self, source: Path, tmp_path: Path) -> None:
        words = ("--source", source, "--out", tmp_path / "out", "--set", "cut.seconds=0")
        status, _, told = make(*words)
        assert status == 2
        assert "cut.seconds" in told

    @pytest.mark.parametrize(("margin", "why"), [
        ("0.01", "margin is 0.01: give a number from 0.02 to 0.2"),
        ("0.1,0.3", "margin is 0.3: give a number from 0.02 to 0.2"),
        ("0.1,0.10000001", "margin is 0.1, 0.10000001: give each number once"),
    ])  # fmt: skip
    def test_a_margin_that_cannot_be_kept_is_refused(
        self, source: Path, tmp_path: Path, margin: str, why: str
    ) -> None:
        words = ("--source", source, "--out", tmp_path / "out", "--margin", margin)
        status, _, told = make(*words)
        assert status == 2
        assert why in told

    @pytest.mark.parametrize("margin", ["hard", "0.1,hard", "0.1,,0.2", "nan", ""])
    def test_a_margin_that_is_no_number_is_refused(
        self, source: Path, margin: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit):
            run_here("make", "qbench-exact", "--source", source, "--margin", margin)
        told = capsys.readouterr().err
        assert f"--margin: {margin!r} is not a number, or several as 0.2,0.05" in told


def sound_only(path: Path) -> None:
    with av.open(str(path), "w") as target:
        voice = target.add_stream("aac", rate=16000, layout="mono")
        for frame in tone(2.0):
            target.mux(voice.encode(frame))
        target.mux(voice.encode(None))
