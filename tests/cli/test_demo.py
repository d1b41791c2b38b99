"""The demo as a user runs it: again, in pieces, killed, stopped."""

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from commands import CapturedCommand, Command
from support import make_item, reelbench

from reelbench.recipes.demo.recipe import make_demo

Save = Callable[..., Path]
WRITTEN = [
    "benchmark/items.jsonl",
    "benchmark/media/scene-01.mp4",
    "benchmark/media/scene-02.mp4",
    "run/predictions.jsonl",
    "run/scores.json",
    "run/report.html",
]
# The first of them is there, and the others are not all: nothing goes on before this returns.
FIRST_VIDEO = ("reelbench.recipes.demo.recipe.run_isolated", 1)


class TestDemo:
    def test_it_says_where_it_is_and_what_to_do_next(self, own_demo: Path) -> None:
        done = reelbench("demo", "--videos", 6, "--out", own_demo)
        assert done.returncode == 0
        assert f"Open {own_demo}/run/report.html in a browser" in done.stderr
        assert "reelbench lint" in done.stderr
        models = [
            line.split()[0] for line in done.stdout.splitlines() if line.startswith("baseline:")
        ]
        assert models[0] == "baseline:pixels"
        assert set(models[1:]) == {"baseline:random", "baseline:longest"}

    def test_make_makes_the_same_by_its_recipe(self, small_demo: Path, tmp_path: Path) -> None:
        made = Path(shutil.copytree(small_demo / "benchmark", tmp_path / "b"))
        for name in ("items.jsonl", "benchmark.yaml", "made.html"):
            (made / name).unlink()
        done = reelbench("make", "demo", "--videos", 6, "--out", made)
        assert done.returncode == 0, done.stderr
        for name in ("items.jsonl", "benchmark.yaml", "made.html"):
            assert (made / name).read_bytes() == (small_demo / "benchmark" / name).read_bytes()
        again = reelbench("make", "demo", "--source", tmp_path, "--out", made)
        assert again.returncode == 2
        assert "leave out --source" in again.stderr

    def test_a_demo_of_an_earlier_version_is_gone_on_with(
        self, small_demo: Path, tmp_path: Path
    ) -> None:
        root = tmp_path / "benchmark"
        for part in ("media", "truth"):
            shutil.copytree(small_demo / "benchmark" / part, root / part)
        for name in ("items.jsonl", "benchmark.yaml"):
            shutil.copy(small_demo / "benchmark" / name, root / name)
        written = {path: path.stat().st_mtime_ns for path in (root / "media").iterdir()}
        make_demo(root, 6)
        assert written == {path: path.stat().st_mtime_ns for path in (root / "media").iterdir()}
        whole = small_demo / "benchmark" / "items.jsonl"
        assert (root / "items.jsonl").read_bytes() == whole.read_bytes()

    def test_what_it_makes(self, small_demo: Path) -> None:
        items = [
            json.loads(line)
            for line in (small_demo / "benchmark" / "items.jsonl").read_text().splitlines()
        ]
        assert len(items) == 54
        assert {item["kind"] for item in items} == {"single", "multi", "yesno"}
        assert all(item["evidence"] for item in items)
        assert all(4 <= len(item["options"]) <= 8 for item in items if item["kind"] != "yesno")

    def test_the_same_bytes_from_the_same_seed(
        self, tiny_demo: Path, small_demo: Path, tmp_path: Path
    ) -> None:
        reelbench("demo", "--videos", 2, "--out", tmp_path)
        for name in WRITTEN:
            assert (tmp_path / name).read_bytes() == (tiny_demo / name).read_bytes(), name
        first = "benchmark/media/scene-01.mp4"
        assert (tmp_path / first).read_bytes() == (small_demo / first).read_bytes()

    def test_nothing_else_is_overwritten(self, own_demo: Path, save: Save) -> None:
        for words in (["--seed", "5", "--out", own_demo], ["--out", save(make_item(1)).parent]):
            done = reelbench("demo", "--videos", 2, *words)
            assert done.returncode == 2
            assert "name another folder" in done.stderr

    def test_fewer_videos_leave_none_behind(self, own_demo: Path) -> None:
        assert reelbench("demo", "--videos", 2, "--out", own_demo).returncode == 0
        assert len(list((own_demo / "benchmark" / "media").iterdir())) == 2

    def test_a_damaged_video_is_made_again(self, own_demo: Path) -> None:
        video = own_demo / "benchmark" / "media" / "scene-02.mp4"
        whole = video.read_bytes()
        video.write_bytes(whole[:-1000])
        assert reelbench("demo", "--videos", 6, "--out", own_demo).returncode == 0
        assert video.read_bytes() == whole

    def test_kill_9_leaves_no_process_and_no_harm(self, tiny_demo: Path, tmp_path: Path) -> None:
        reading, writing = os.pipe()
        words = ["demo", "--videos", 2, "--out", tmp_path]
        with open(os.devnull, "r+b") as nothing:
            streams = (nothing.fileno(), nothing.fileno(), writing)
            process = Command(words, streams, interrupted=(signal.SIGKILL, *FIRST_VIDEO))
        os.close(writing)
        with open(reading) as talk:
            talk.read()  # which ends when the last process that holds the pipe does
        assert process.wait() == -signal.SIGKILL
        media = tmp_path / "benchmark" / "media"
        assert not (tmp_path / "benchmark" / "items.jsonl").exists()
        assert reelbench("demo", "--videos", 2, "--out", tmp_path).returncode == 0
        for name in WRITTEN:
            assert (tmp_path / name).read_bytes() == (tiny_demo / name).read_bytes(), name
        assert len(list(media.iterdir())) == 2

    def test_ctrl_c_leaves_no_half_written_file(self, tmp_path: Path) -> None:
        words = ("demo", "--out", tmp_path / "demo")
        process = CapturedCommand(*words, interrupted=(signal.SIGINT, *FIRST_VIDEO))
        _, talk = process.communicate()
        media = tmp_path / "demo" / "benchmark" / "media"
        assert list(media.glob("scene-*.mp4"))
        assert process.returncode == 130
        assert "Traceback" not in talk
        assert [path.name for path in media.iterdir() if path.name.startswith(".")] == []
        assert reelbench("lint", media.parent, "--fail-on", "never").returncode == 0
        for truth in (media.parent / "truth").iterdir():
            assert (media / f"{truth.stem}.mp4").exists()
