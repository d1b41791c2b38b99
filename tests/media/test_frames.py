"""Frames are decoded once, kept, and never believed when damaged."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image
from support import wait_until
from videos import make_video

from reelbench.base.cache import cache_folder
from reelbench.base.errors import ReelbenchError
from reelbench.media import digests
from reelbench.media.decode import frames, isolated
from reelbench.media.decode.decode import frames_at
from reelbench.media.decode.frames import ClipFrames, FrameSpec, frames_of
from reelbench.media.decode.store import Entry, FrameStore, default_store
from reelbench.media.errors import MediaError


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("v") / "ein Film – 影片.mp4", sound=4.0)


@pytest.fixture
def store(tmp_path: Path) -> FrameStore:
    return FrameStore(tmp_path / "store", limit=10**9)


def images(clip: ClipFrames) -> list[np.ndarray]:
    return [
        np.asarray(Image.open(BytesIO(picture.data)).convert("RGB")) for picture in clip.pictures
    ]


class TestWishes:
    @pytest.mark.parametrize("encoding", ["png", "webp"])
    def test_lossless_is_the_decoded_frame(
        self, encoding: str, video: Path, store: FrameStore
    ) -> None:
        clip = frames_of(video, FrameSpec("times:0.5,3.3", encoding=encoding), store)
        exact = [frame.image for frame in frames_at(video, [0.5, 3.3])]
        assert all(np.array_equal(a, b) for a, b in zip(images(clip), exact, strict=True))
        assert clip.media_type == f"image/{encoding}"

    def test_jpeg_is_near_it_and_smaller(self, video: Path, store: FrameStore) -> None:
        jpeg = frames_of(video, FrameSpec("times:0.5"), store).pictures[0]
        png = frames_of(video, FrameSpec("times:0.5", encoding="png"), store).pictures[0]
        assert len(jpeg.data) < len(png.data)
        assert (jpeg.time, jpeg.shown_at) == (0.5, 0.48)

    def test_sizes(self, video: Path, store: FrameStore) -> None:
        shapes = {
            size: images(frames_of(video, FrameSpec("times:1", size=size), store))[0].shape[:2]
            for size in ("", "long:160", "short:90", "long:4000")
        }
        assert shapes == {
            "": (180, 320),
            "long:160": (90, 160),
            "short:90": (90, 160),
            "long:4000": (180, 320),
        }

    def test_windows_and_evidence(self, video: Path, store: FrameStore) -> None:
        def times(spec: FrameSpec) -> list[float]:
            return [picture.time for picture in frames_of(video, spec, store).pictures]

        assert times(FrameSpec("uniform:2", 1.0, 3.0)) == [1.5, 2.5]
        assert times(FrameSpec("uniform:2", 3.0, 4.9)) == [3.25, 3.75]
        assert times(FrameSpec("uniform:2", 3.0, 99.0, accept_damage=True)) == [3.25, 3.75]
        assert times(FrameSpec("uniform:2,evidence=only", evidence=((1.0, 2.0),))) == [1.25, 1.75]
        assert times(FrameSpec("uniform:4,start", shared_by=2)) == [0.0, 2.0]

    @pytest.mark.parametrize(("spec", "words"), [
        (FrameSpec("uniform:4", start=50.0), r"lasts 4\.00 s, so there is nothing from 50\.0 to its end"),
        (FrameSpec("uniform:4", start=3.0, end=2.0), r"nothing from 3\.0 to 2\.0 s"),
        (FrameSpec("uniform:4,evidence=only"), "selects no part of it"),
    ])  # fmt: skip
    def test_nothing_to_see(
        self, spec: FrameSpec, words: str, video: Path, store: FrameStore
    ) -> None:
        with pytest.raises(MediaError, match=words):
            frames_of(video, spec, store)

    @pytest.mark.parametrize(
        "spec", [FrameSpec("uniform:2", float("nan")), FrameSpec("uniform:2", shared_by=0)]
    )
    def test_what_nobody_can_mean(self, spec: FrameSpec, video: Path, store: FrameStore) -> None:
        with pytest.raises(ReelbenchError, match="start and end must be numbers"):
            frames_of(video, spec, store)

    def test_before_the_start_is_the_start(self, video: Path, store: FrameStore) -> None:
        clip = frames_of(video, FrameSpec("uniform:1", -3.0, 2.0), store)
        assert clip.pictures[0].time == 1.0

    @pytest.mark.parametrize(
        "spec",
        [
            FrameSpec("often"),
            FrameSpec("uniform:1", size="big"),
            FrameSpec("uniform:1", encoding="bmp"),
        ],
    )
    def test_wrong_words(self, spec: FrameSpec, video: Path, store: FrameStore) -> None:
        with pytest.raises(ReelbenchError, match="is not valid"):
            frames_of(video, spec, store)

    def test_a_picture_is_one_frame(self, tmp_path: Path, store: FrameStore) -> None:
        Image.fromarray(np.full((20, 30, 3), 90, np.uint8)).save(tmp_path / "a.png")
        assert len(frames_of(tmp_path / "a.png", FrameSpec("uniform:16"), store).pictures) == 1

    def test_half_a_download_is_refused_or_taken_with_a_warning(
        self, tmp_path: Path, store: FrameStore
    ) -> None:
        path = make_video(tmp_path / "a.mp4", seconds=8, container={"movflags": "+faststart"})
        os.truncate(path, path.stat().st_size // 2)
        with pytest.raises(MediaError, match=r"is cut.*declares 8\.0 s but ends at .*: fetch it"):
            frames_of(path, FrameSpec("uniform:4"), store)
        clip = frames_of(path, FrameSpec("uniform:4", accept_damage=True), store)
        assert len(clip.pictures) == 4
        assert "declares 8.0 s" in clip.warnings[0]

    def test_damage_in_the_middle_is_refused_or_left_out_with_a_warning(
        self, tmp_path: Path, store: FrameStore
    ) -> None:
        options = {"preset": "fast", "threads": "1", "g": "25", "sc_threshold": "0", "bf": "0"}
        path = make_video(tmp_path / "a.mp4", options=options)
        whole = frames_of(path, FrameSpec("uniform:8"), store)
        data = bytearray(path.read_bytes())
        with av.open(str(path)) as container:
            hit = [p for p in container.demux(video=0) if p.size][30]  # of 100, 25 to a key frame
            assert hit.pos is not None
            data[hit.pos + 40 : hit.pos + hit.size] = bytes(hit.size - 40)
        path.write_bytes(data)
        with pytest.raises(MediaError, match=r"a\.mp4: damaged at 1\.20 s"):
            frames_of(path, FrameSpec("uniform:8"), store)
        clip = frames_of(path, FrameSpec("uniform:8", accept_damage=True), store)
        assert clip.warnings == ("2 of 8 frames are damaged and were left out",)
        assert clip.pictures == whole.pictures[:2] + whole.pictures[4:]


class TestOnce:
    def test_the_second_time_no_decoder_is_opened(
        self, video: Path, store: FrameStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = frames_of(video, FrameSpec("uniform:4"), store)

        def refuse(*_: object) -> None:
            raise AssertionError("decoded again")

        monkeypatch.setattr(frames, "run_isolated", refuse)
        for _ in range(3 * 5 * 4):  # questions, orders, models
            assert frames_of(video, FrameSpec("uniform:4"), store) == first

    def test_sixty_at_once_are_one_decode(
        self, video: Path, store: FrameStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        decoded = []
        plain = frames.run_isolated

        def counting(*args: object) -> object:
            decoded.append(args)
            return plain(*args)

        monkeypatch.setattr(frames, "run_isolated", counting)
        with ThreadPoolExecutor(16) as threads:
            asked = [
                threads.submit(frames_of, video, FrameSpec("uniform:8"), store) for _ in range(60)
            ]
        assert len({clip.result() for clip in asked}) == 1
        assert len(decoded) == 1

    def test_what_failed_is_not_tried_again(
        self, store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "a.mp4").write_text("no video at all")
        with pytest.raises(MediaError) as first:
            frames_of(tmp_path / "a.mp4", FrameSpec("uniform:4"), store)
        monkeypatch.setattr(frames, "run_isolated", None)
        with pytest.raises(MediaError) as second:
            frames_of(tmp_path / "a.mp4", FrameSpec("uniform:4"), store)
        assert str(second.value) == str(first.value)

    def test_the_same_bytes_under_another_name(
        self, video: Path, store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = frames_of(video, FrameSpec("uniform:4"), store)
        copy = Path(shutil.copy(video, tmp_path / "copy.mp4"))
        monkeypatch.setattr(frames, "run_isolated", None)
        assert frames_of(copy, FrameSpec("uniform:4"), store) == first

    def test_other_bytes_under_the_same_name(self, store: FrameStore, tmp_path: Path) -> None:
        path = make_video(tmp_path / "a.mp4", seconds=1)
        first = frames_of(path, FrameSpec("uniform:1"), store)
        make_video(path, seconds=2)
        assert frames_of(path, FrameSpec("uniform:1"), store) != first

    def test_a_large_file_is_hashed_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "a.bin"
        path.write_bytes(b"x" * 1000)
        monkeypatch.setattr(digests, "_RECENT", 0)
        digest = digests.media_digest(path)
        monkeypatch.setattr(digests, "digest_of_file", None)
        assert digests.media_digest(path) == digest

    def test_a_changed_file_is_hashed_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "a.bin"
        path.write_bytes(b"x" * 1000)
        os.utime(path, (1, 1))
        monkeypatch.setattr(digests, "_RECENT", 0)
        before, changed = digests.media_digest(path), path.stat().st_ctime_ns
        path.write_bytes(b"y" * 1000)
        while path.stat().st_ctime_ns == changed:  # by a clock that ticks every few milliseconds
            os.utime(path, (1, 1))  # the same size and, says the file, the same time
        assert digests.media_digest(path) != before

    def test_a_file_that_changes_while_it_is_read(
        self, store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = make_video(tmp_path / "a.mp4", seconds=1)
        plain = frames.run_isolated

        def meanwhile(*args: Any) -> object:
            entry = plain(*args)
            path.write_bytes(path.read_bytes() + b"more")
            return entry

        monkeypatch.setattr(frames, "run_isolated", meanwhile)
        with pytest.raises(MediaError, match="changed while it was read"):
            frames_of(path, FrameSpec("uniform:2"), store)
        assert not list(store.folder.glob("*/*"))

    def test_a_copy_of_the_process_has_its_own_workers(
        self, video: Path, store: FrameStore
    ) -> None:
        frames_of(video, FrameSpec("times:1"), store)
        copy = os.fork()
        if not copy:
            try:
                clip = frames_of(video, FrameSpec("times:2"), store)
                isolated.close()
                os._exit(0 if clip.pictures[0].time == 2 else 3)
            finally:
                os._exit(4)
        mine = [
            frames_of(video, FrameSpec(f"times:{n}"), store).pictures[0].time for n in (1.5, 2.5, 3)
        ]
        assert os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) == 0
        assert mine == [1.5, 2.5, 3]

    def test_more_frames_than_anyone_can_send(self, video: Path, store: FrameStore) -> None:
        with pytest.raises(MediaError, match="selects 4000000 frames"):
            frames_of(video, FrameSpec("fps:1000000"), store)


class TestStore:
    entry = Entry({"a": [1, 2.5]}, (b"one", b"", b"three\n\x00"))

    def test_what_is_put_is_got(self, store: FrameStore) -> None:
        store.put("ab12", self.entry)
        assert store.get("ab12") == self.entry
        assert store.get("ab13") is None

    @pytest.mark.parametrize("damage", [
        lambda data: data[:-1], lambda data: data[:10], lambda data: b"", lambda data: data[:-3] + b"xyz",
        lambda data: data.replace(b"2.5", b"2.6"), lambda data: data + b"more", lambda data: b"\x00" * len(data),
    ])  # fmt: skip
    def test_damage_is_thrown_away(self, store: FrameStore, damage: object) -> None:
        store.put("ab12", self.entry)
        path = store.folder / "ab" / "ab12"
        path.write_bytes(damage(path.read_bytes()))
        assert store.get("ab12") is None
        assert not path.exists()

    def test_what_was_not_used_for_longest_goes_first(self, tmp_path: Path) -> None:
        store = FrameStore(tmp_path / "s", limit=10_000)
        for number in range(10):
            store.put(f"{number:02d}", Entry({}, (bytes(1500),)))
            path = store.folder / f"{number:02d}" / f"{number:02d}"
            os.utime(path, (time.time() - 1000 + number, time.time() - 1000 + number))
        assert store.get("00") is not None  # used just now
        store.trim()
        left = [
            number
            for number in range(10)
            if (store.folder / f"{number:02d}" / f"{number:02d}").exists()
        ]
        assert left == [0, 6, 7, 8, 9]
        assert sum(path.stat().st_size for path in store.folder.glob("*/*")) <= 9000

    def test_a_killed_writer_leaves_nothing_that_is_believed(self, tmp_path: Path) -> None:
        program = (
            "import sys, pathlib\nfrom reelbench.media.decode.store import Entry, FrameStore, default_store\n"
            "store = FrameStore(pathlib.Path(sys.argv[1]), limit=10**9)\n"
            "for n in range(10**6): store.put(f'{n % 50:04d}', Entry({'n': n}, (bytes(200_000),) * 5))\n"
        )
        for delay in (0.05, 0.1, 0.15):
            process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "s")])
            wait_until(lambda: any((tmp_path / "s").glob("*/0*")))
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
            store = FrameStore(tmp_path / "s", limit=10**9)
            found = [store.get(f"{n:04d}") for n in range(50)]
            assert all(entry is None or len(entry.pieces) == 5 for entry in found)
            assert any(found)

    def test_a_store_that_cannot_be_written_costs_only_time(
        self, video: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "file").write_text("not a folder")
        store = FrameStore(tmp_path / "file", limit=10**9)
        assert len(frames_of(video, FrameSpec("uniform:2"), store).pictures) == 2

    def test_two_processes_share_it(self, video: Path, tmp_path: Path) -> None:
        program = (
            "import sys, pathlib, json\nfrom reelbench.media.decode.frames import FrameSpec, frames_of\n"
            "from reelbench.media.decode.store import FrameStore\n"
            "store = FrameStore(pathlib.Path(sys.argv[2]), limit=10**9)\n"
            "if __name__ == '__main__':\n"
            "    clip = frames_of(pathlib.Path(sys.argv[1]), FrameSpec('uniform:8'), store)\n"
            "    print(json.dumps([len(p.data) for p in clip.pictures]))\n"
        )
        (tmp_path / "p.py").write_text(program)
        command = [sys.executable, str(tmp_path / "p.py"), str(video), str(tmp_path / "s")]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        first, second = (json.loads(process.communicate()[0]) for process in both)
        assert first == second
        assert len(list((tmp_path / "s").glob("*/*"))) == 1


class TestCacheFolder:
    def test_it_can_be_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REELBENCH_CACHE", str(tmp_path / "mine"))
        assert default_store().folder == tmp_path / "mine" / "frames"

    def test_a_place_that_is_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("REELBENCH_CACHE", str(tmp_path / "file"))
        with pytest.raises(ReelbenchError, match="REELBENCH_CACHE"):
            cache_folder("frames")
        video = make_video(tmp_path / "a.mp4", seconds=1)
        assert len(frames_of(video, FrameSpec("uniform:2")).pictures) == 2  # only not kept

    def test_a_limit_that_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REELBENCH_CACHE_GB", "much")
        with pytest.raises(ReelbenchError, match="a number of gigabytes"):
            default_store()
