"""The annotate room's promises: nothing is done twice, and what goes wrong costs itself alone."""

import importlib.util
import json
import math
import multiprocessing
import os
import shutil
import signal
import sqlite3
import threading
import time
import wave
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import operators_for_tests as ours
import pytest
from actors import said_to, write_card
from operators_for_tests import counts, looks, perform_with_these
from servers import Reply, Server, completion, json_reply, serving
from support import run_here
from videos import make_video

from reelbench.annotate import registry
from reelbench.annotate.annotate import Annotated, annotate, clips_in, label_file
from reelbench.annotate.registry import in_order, load_operator
from reelbench.engine.local import LocalEngine
from reelbench.errors import ReelbenchError
from reelbench.models.load import load_model

Start = Callable[..., Any]


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Small videos, all different; copy them."""
    folder = tmp_path_factory.mktemp("films")
    return [
        make_video(folder / f"{n}.mp4", seconds=0.4 + n / 5, rate=5, sound=0.4) for n in range(8)
    ]


@pytest.fixture(scope="module")
def engine() -> Iterator[LocalEngine]:
    engine = LocalEngine(2)
    yield engine
    engine.close()


@pytest.fixture(autouse=True)
def operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let our operators be among those that there are."""
    names = dict(registry.OPERATORS)
    ours.register(names)
    monkeypatch.setattr(registry, "OPERATORS", names)


class Given:
    """A folder of clips, and one for their labels."""

    def __init__(self, root: Path, films: list[Path], engine: LocalEngine) -> None:
        self.films, self.engine = films, engine
        self.clips, self.out = root / "clips", root / "out"
        self.clips.mkdir()

    def add(self, *names: str) -> None:
        """Add clips, each of other bytes than those before."""
        for name in names:
            path = self.clips / name
            path.parent.mkdir(parents=True, exist_ok=True)
            number = sum(1 for each in self.clips.rglob("*") if each.is_file())
            film = self.films[number % len(self.films)].read_bytes()
            # Bytes behind its end are not read, and make it another clip.
            path.write_bytes(film + b"\0\0\0\x0cfree%04d" % number)

    def annotate(self, *labels: str, **more: Any) -> Annotated:
        return annotate(self.clips, labels, self.out, self.engine, **more)

    def command(self, labels: str, *words: object) -> int:
        return run_here("annotate", self.clips, "--labels", labels, "--out", self.out, *words)

    def labels(self, name: str) -> dict[str, Any]:
        """The labels of a clip, as anyone reads them: strictly."""
        text = label_file(self.out, name).read_text()
        return dict(json.loads(text, parse_constant=no_json)["labels"])

    def summary(self) -> dict[str, Any]:
        return dict(json.loads((self.out / "annotate.json").read_text(), parse_constant=no_json))

    def written(self) -> dict[str, bytes]:
        """All that is written for people and programs, by name."""
        files = [path for path in self.out.rglob("*") if path.is_file()]
        return {
            path.relative_to(self.out).as_posix(): path.read_bytes()
            for path in files
            if ".sqlite" not in path.name
        }

    def stored(self) -> list[tuple[str, Any]]:
        """The maker and the body of all that is kept."""
        with closing(sqlite3.connect(self.out / "labels.sqlite")) as shelf:
            rows = shelf.execute("SELECT maker, body FROM results").fetchall()
        return [(maker, json.loads(body, parse_constant=no_json)) for maker, body in rows]


def no_json(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


@pytest.fixture
def given(tmp_path: Path, films: list[Path], engine: LocalEngine) -> Given:
    return Given(tmp_path, films, engine)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start commands as processes that begin at once; what they say is in ``told``."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["operators_for_tests", "reelbench.annotate.annotate"])
    running = []

    def started(*words: object) -> Any:
        args = ([*map(str, words)], str(tmp_path / "told"))
        process = processes.Process(target=perform_with_these, args=args)
        process.start()
        running.append(process)
        return process

    yield started
    for process in running:
        process.kill()
        process.join()


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.005)


def write_sound(path: Path, seconds: float = 1.0) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        samples = [round(9000 * math.sin(n / 5)) for n in range(int(16000 * seconds))]
        file.writeframes(b"".join(n.to_bytes(2, "little", signed=True) for n in samples))


class TestOrder:
    def test_a_label_comes_after_all_that_it_reads(self) -> None:
        names = in_order(list(registry.OPERATORS))
        assert sorted(names) == sorted(registry.OPERATORS)
        for place, name in enumerate(names):
            operator = load_operator(name)
            assert set(operator.needs) | set(operator.may_use) <= set(names[:place]), name

    def test_what_is_needed_is_made_too_and_what_may_be_used_is_not(self) -> None:
        assert in_order(["reader"]) == ["plain", "reader"]
        assert in_order(["maybe"]) == ["maybe"]
        assert in_order(["maybe", "reader"]) == ["plain", "reader", "maybe"]
        speaker = set(in_order(["speaker"]))
        assert speaker == {"shots", "faces", "tracks", "sound", "mouth", "speaker"}

    def test_said_twice_is_said_once(self) -> None:
        assert in_order(["plain", "reader", "plain", "reader"]) == ["plain", "reader"]

    def test_an_operator_gets_what_it_may_use_where_it_was_asked_for(self, given: Given) -> None:
        given.add("a.mp4")
        given.annotate("maybe")
        assert given.labels("a.mp4")["maybe"]["value"] == {"read": None}
        given.annotate("maybe", "reader")
        assert given.labels("a.mp4")["maybe"]["value"] == {"read": "x"}
        found = given.annotate("maybe")
        assert found.worked == 0
        assert given.labels("a.mp4")["maybe"]["value"] == {"read": None}


class TestOnce:
    def test_a_second_run_does_nothing_and_writes_the_same_bytes(self, given: Given) -> None:
        given.add("a.mp4", "b.mp4", "deep/er/c.mp4")
        labels = ("format", "fingerprint", "loudness", "reader", "maybe")
        first = given.annotate(*labels)
        assert first.worked == 3 * 6
        assert not first.failures
        before = given.written()
        assert set(before) == {
            "annotate.json",
            "labels/a.mp4.json",
            "labels/b.mp4.json",
            "labels/deep/er/c.mp4.json",
        }
        second = given.annotate(*labels)
        assert second.worked == 0
        assert given.written() == before
        assert second.said == first.said, "what comes from the store is what came from the worker"

    def test_the_same_bytes_in_another_folder_and_with_another_number_of_workers(
        self, given: Given
    ) -> None:
        given.add(*(f"{n}.mp4" for n in range(5)))
        given.annotate("fingerprint", "loudness", "plain")
        before = given.written()
        given.out = given.out.with_name("again")
        engine = LocalEngine(1)
        try:
            annotate(given.clips, ["plain", "loudness", "fingerprint"], given.out, engine)
        finally:
            engine.close()
        assert given.written() == before

    def test_a_changed_parameter_redoes_what_reads_the_label_and_nothing_else(
        self, given: Given
    ) -> None:
        given.add("a.mp4", "b.mp4")
        labels = ("plain", "reader", "maybe", "other")
        given.annotate(*labels)
        before = counts(given.clips)
        found = given.annotate(*labels, parameters={"plain": {"word": "y"}})
        assert found.worked == 6
        assert counts(given.clips) - before == {"plain": 2, "reader": 2, "maybe": 2}
        assert given.labels("b.mp4")["maybe"]["value"] == {"read": "y"}
        assert given.labels("b.mp4")["plain"]["operator"]["parameters"] == {"word": "y"}
        assert given.annotate(*labels).worked == 0, "what was said before is still known"
        assert given.labels("b.mp4")["maybe"]["value"] == {"read": "x"}

    def test_a_changed_version_redoes_that_operator(
        self, given: Given, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given.add("a.mp4", "b.mp4")
        given.annotate("reader", "other")
        before = counts(given.clips)
        monkeypatch.setattr(ours.Plain, "version", 2)
        found = given.annotate("reader", "other")
        # It says the same as before, so whoever reads it need not look again.
        assert counts(given.clips) - before == {"plain": 2}
        assert found.worked == 2
        assert given.labels("a.mp4")["plain"]["operator"]["version"] == 2

    def test_other_weights_redo_that_operator(
        self, given: Given, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given.add("a.mp4", "b.mp4")
        given.annotate("plain", "other")
        monkeypatch.setattr(ours.Plain, "weights", ("face",))
        assert given.annotate("plain", "other").worked == 2
        models = given.labels("a.mp4")["plain"]["operator"]["models"]
        assert list(models) == ["face"]
        assert len(models["face"]) == 64
        assert given.annotate("plain", "other").worked == 0

    def test_new_clips_cost_only_themselves_and_a_new_name_costs_nothing(
        self, given: Given
    ) -> None:
        given.add("a.mp4", "b.mp4")
        given.annotate("reader")
        given.add("c.mp4")
        (given.clips / "a.mp4").rename(given.clips / "z.mp4")
        assert given.annotate("reader").worked == 2
        assert [name for _, name, _ in looks(given.clips)[4:]] == ["c.mp4", "c.mp4"]
        assert given.labels("z.mp4")["reader"]["value"] == {"read": "x"}

    def test_a_clip_that_is_written_anew_is_looked_at_anew(self, given: Given) -> None:
        given.add("a.mp4")
        given.annotate("plain")
        shutil.copy(given.films[5], given.clips / "a.mp4")
        assert given.annotate("plain").worked == 1
        size = (given.clips / "a.mp4").stat().st_size
        assert given.labels("a.mp4")["plain"]["value"]["bytes"] == size

    def test_equal_files_are_looked_at_once_and_all_get_the_labels(self, given: Given) -> None:
        given.add("a.mp4")
        (given.clips / "more").mkdir()
        shutil.copy(given.clips / "a.mp4", given.clips / "more" / "a copy.mp4")
        found = given.annotate("plain")
        assert found.worked == len(looks(given.clips)) == 1
        one, other = given.labels("a.mp4"), given.labels("more/a copy.mp4")
        assert one == other
        assert "value" in one["plain"]
        assert set(given.summary()["clips"]) == {"a.mp4", "more/a copy.mp4"}

    def test_equal_files_with_others_beside_them_are_not_the_same(self, given: Given) -> None:
        given.add("a.mp4")
        shutil.copy(given.clips / "a.mp4", given.clips / "b.mp4")
        (given.clips / "a.txt").write_text("one")
        (given.clips / "b.txt").write_text("two")
        given.annotate("sidecar")
        assert given.labels("a.mp4")["sidecar"]["value"] == {"text": "one"}
        assert given.labels("b.mp4")["sidecar"]["value"] == {"text": "two"}
        (given.clips / "b.txt").write_text("three")
        assert given.annotate("sidecar").worked == 1


class TestKilled:
    def test_killed_anywhere_nothing_finished_is_done_twice(
        self, given: Given, start: Start, tmp_path: Path
    ) -> None:
        given.add(*(f"{n}.mp4" for n in range(10)))
        words = (
            "annotate",
            given.clips,
            "--labels",
            "slow,plain",
            "--out",
            given.out,
            "--workers",
            2,
        )
        for aim in (3, 8):
            process = start(*words)
            wait_for(lambda aim=aim: len(looks(given.clips)) >= aim)
            process.kill()
            process.join()
            time.sleep(0.1)  # the workers end with it
            kept, before = len(given.stored()), len(looks(given.clips))
            assert 0 < kept < 20
        last = start(*words)
        last.join()
        told = (tmp_path / "told").read_text()
        assert last.exitcode == 0, told
        assert len(looks(given.clips)) - before == 20 - kept
        assert f"{20 - kept} pieces of work done now." in told
        after = given.written()
        given.out = given.out.with_name("whole")
        given.annotate("slow", "plain")
        assert given.written() == after

    def test_a_worker_that_someone_kills_costs_one_label_which_is_tried_again(
        self, given: Given
    ) -> None:
        given.add("a.mp4", "b.mp4", "c.mp4", "d.mp4")
        victim: list[str] = []

        def kill() -> None:
            wait_for(lambda: bool(looks(given.clips)))
            _, name, process = looks(given.clips)[0]
            os.kill(process, signal.SIGKILL)
            victim.append(name)

        killer = threading.Thread(target=kill)
        killer.start()
        found = given.annotate("slow", "plain", parameters={"slow": {"seconds": 0.5}})
        killer.join()
        assert found.failures == [(victim[0], "slow", "the worker crashed (SIGKILL)")]
        assert len([1 for maker, _ in given.stored() if maker == "slow"]) == 3
        again = given.annotate("slow", "plain", parameters={"slow": {"seconds": 0.5}})
        assert again.worked == 1
        assert not again.failures
        assert not given.summary()["failures"]

    @pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
    def test_stopped_it_ends_at_once_keeps_what_is_done_and_goes_on(
        self, given: Given, start: Start, tmp_path: Path, sign: int
    ) -> None:
        given.add("a.mp4", "b.mp4")
        words = ["annotate", given.clips, "--labels", "plain,slow", "--out", given.out]
        process = start(*words, "--set", "slow.seconds=20")
        wait_for(lambda: counts(given.clips)["slow"] > 0)
        began = time.monotonic()
        os.kill(process.pid, sign)
        process.join(15)
        assert not process.is_alive(), "it waits for what nobody wants any more"
        assert time.monotonic() - began < 5
        assert process.exitcode == 130
        told = (tmp_path / "told").read_text()
        assert "Stopped." in told
        assert "Traceback" not in told
        for label, _, worker in looks(given.clips):
            if label == "slow":
                wait_for(lambda worker=worker: not Path(f"/proc/{worker}").exists(), 5)
        assert [maker for maker, _ in given.stored()] == ["plain", "plain"]
        assert given.annotate("plain").worked == 0

    def test_two_at_once_on_one_folder_are_told_so(
        self, given: Given, start: Start, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("a.mp4")
        words = ["annotate", given.clips, "--labels", "slow", "--out", given.out]
        start(*words, "--set", "slow.seconds=20")
        wait_for(lambda: bool(looks(given.clips)))
        assert given.command("plain") == 2
        told = capsys.readouterr().err
        assert "labels.sqlite is in use: another run writes to this folder" in told
        assert "Traceback" not in told

    def test_a_damaged_store_is_named(self, given: Given) -> None:
        given.add("a.mp4")
        given.annotate("plain")
        with closing(sqlite3.connect(given.out / "labels.sqlite")) as shelf, shelf:
            shelf.execute("UPDATE results SET body = replace(body, 'x', 'z')")
        with pytest.raises(
            ReelbenchError, match=r"labels.sqlite: the result .* of plain is damaged"
        ):
            given.annotate("plain")


FAILURES = {
    "raises": "KeyError: 'nothing of that name'",
    "refuses": "The weights are missing: fetch them.",
    "crashes": "the worker crashed (SIGKILL)",
    "exits": "the worker crashed (exit status 3)",
    "hangs": "the worker took over 4 s",
}
NO_JSON = ("gives-nan", "gives-infinity", "gives-a-set", "gives-numpy", "gives-bytes", "gives-a-lock")  # fmt: skip


class TestFailures:
    def test_what_fails_is_named_and_costs_itself_alone(self, given: Given) -> None:
        given.add(*(f"{name}.mp4" for name in FAILURES), "good 1.mp4", "good 2.mp4")
        found = given.annotate("odd", "on_odd", "helped", "plain", limit=4)
        told = {(clip, label): reason for clip, label, reason in found.failures}
        for name, reason in FAILURES.items():
            assert told.pop((f"{name}.mp4", "odd")) == reason
            assert told.pop((f"{name}.mp4", "on_odd")) == "it needs odd, which failed"
        assert not told
        for name in FAILURES:
            labels = given.labels(f"{name}.mp4")
            assert labels["odd"]["failed"] == FAILURES[name]
            assert labels["helped"]["value"] == {"helped": False}
            assert labels["plain"]["value"]["word"] == "x"
        for name in ("good 1.mp4", "good 2.mp4"):
            assert given.labels(name)["on_odd"]["value"] == {"fine": True}
            assert given.labels(name)["helped"]["value"] == {"helped": True}
        listed = {(f["clip"], f["label"]): f["reason"] for f in given.summary()["failures"]}
        assert listed == {(clip, label): reason for clip, label, reason in found.failures}
        assert not any("failed" in body for _, body in given.stored())

    @pytest.mark.parametrize("names", [NO_JSON, ("gives-mixed-keys",), ("raises-oddly",)], ids=str)
    def test_what_is_no_json_is_a_failure_and_is_not_kept(
        self, given: Given, names: tuple[str, ...]
    ) -> None:
        given.add(*(f"{name}.mp4" for name in names), "good.mp4")
        found = given.annotate("odd", "on_odd", "plain")
        failed = {(clip, label) for clip, label, _ in found.failures}
        assert failed == {(f"{name}.mp4", label) for name in names for label in ("odd", "on_odd")}
        assert given.labels("good.mp4")["on_odd"]["value"] == {"fine": True}
        for name in names:
            assert "value" in given.labels(f"{name}.mp4")["plain"]
        made = [maker for maker, _ in given.stored()]
        assert [made.count(label) for label in ("odd", "on_odd")] == [1, 1]

    def test_no_value_at_all_is_a_failure_too(self, given: Given) -> None:
        given.add("gives-nothing.mp4")
        found = given.annotate("odd", "on_odd")
        assert ("gives-nothing.mp4", "odd") in [failure[:2] for failure in found.failures]
        assert not given.stored()

    def test_what_failed_is_tried_again(self, given: Given) -> None:
        given.add("fails-once.mp4", "good.mp4")
        found = given.annotate("on_odd")
        assert [failure[:2] for failure in found.failures] == [
            ("fails-once.mp4", "odd"), ("fails-once.mp4", "on_odd")]  # fmt: skip
        again = given.annotate("on_odd")
        assert again.worked == 2
        assert not again.failures
        assert given.labels("fails-once.mp4")["on_odd"]["value"] == {"fine": True}

    def test_where_there_is_nothing_to_say_the_reason_is_said_and_kept(self, given: Given) -> None:
        given.add("has-nothing.mp4", "good.mp4")
        found = given.annotate("on_odd", "helped")
        assert not found.failures
        labels = given.labels("has-nothing.mp4")
        assert labels["odd"]["none"] == "it is empty"
        assert labels["on_odd"]["none"] == "odd: it is empty"
        assert labels["helped"]["value"] == {"helped": False}
        assert counts(given.clips)["on_odd"] == 1
        assert given.annotate("on_odd", "helped").worked == 0

    def test_the_command_says_what_failed_and_ends_with_1(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("raises.mp4", "has-nothing.mp4", "good.mp4")
        assert given.command("odd,plain") == 1
        told = capsys.readouterr()
        assert [line.split() for line in told.out.splitlines()[1:]] == [
            ["odd", "1", "1", "1"], ["plain", "3", "0", "0"]]  # fmt: skip
        assert "raises.mp4: odd: KeyError: 'nothing of that name'" in told.err
        assert "1 label failed" in told.err
        assert "annotate.json names them" in told.err
        assert "Traceback" not in told.err


class TestFiles:
    def test_what_is_no_clip_is_rejected_with_its_name_and_the_others_go_on(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("good.mp4")
        film = given.films[7].read_bytes()
        (given.clips / "nothing.mp4").touch()
        (given.clips / "words.mp4").write_text("This is no video at all.\n" * 50)
        (given.clips / "half.mp4").write_bytes(film[: len(film) // 3])
        (given.clips / "noise.mkv").write_bytes(bytes(range(256)) * 40)
        (given.clips / "notes.txt").write_text("not even called a clip")
        (given.clips / "folder.mp4").mkdir()
        (given.clips / "dangling.mp4").symlink_to(given.clips / "nowhere.mp4")
        os.mkfifo(given.clips / "pipe.mp4")
        assert given.command("format,plain") == 1
        told = capsys.readouterr().err
        broken = given.summary()["broken"]
        assert set(broken) == {"half.mp4", "noise.mkv", "nothing.mp4", "words.mp4"}
        for name, reason in broken.items():
            assert f"rejected: {given.clips / name}" in told
            assert name in reason
        assert "Traceback" not in told
        assert set(given.summary()["clips"]) == {"good.mp4"}
        assert "value" in given.labels("good.mp4")["format"]

    def test_nothing_but_broken_files(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (given.clips / "a.mp4").write_text("no video")
        assert given.command("format") == 1
        assert "rejected: " in capsys.readouterr().err
        assert set(given.summary()["broken"]) == {"a.mp4"}

    def test_a_clip_that_is_damaged_inside_gets_a_label_or_a_reason(self, given: Given) -> None:
        whole = make_video(given.clips.with_name("whole.mp4"), seconds=1, sound=1)
        data = bytearray(whole.read_bytes())
        middle = len(data) // 2
        data[middle : middle + 6000] = bytes(n * 37 % 251 for n in range(6000))
        (given.clips / "damaged.mp4").write_bytes(data)
        given.add("good.mp4")
        found = given.annotate("format", "fingerprint", "loudness")
        assert found.worked == 6
        for label in given.labels("damaged.mp4").values():
            assert set(label) - {"operator"} <= {"value", "none", "failed"}
        assert not [failure for failure in found.failures if failure[0] == "good.mp4"]

    def test_any_name_of_a_file_will_do(self, given: Given) -> None:
        names = [
            "a name with  blanks.mp4",
            "ünïcode/映画 🎬.mp4",
            "-dash.mp4",
            "quote'\"and$dollar.mp4",
            "new\nline.mp4",
            "dots.v1.2.mp4",
            "UPPER.MP4",
            "[x]*?.mp4",
            os.fsdecode(b"no-utf8-\xff.mp4"),
        ]
        given.add(*names)
        found = given.annotate("format")
        assert not found.failures
        assert set(found.clips) == set(names)
        for name in names:
            assert given.labels(name)["format"]["value"]["seconds"] > 0
        assert given.annotate("format").worked == 0

    @pytest.mark.parametrize("name", ["映" * 80 + ".mp4", "l" * 251 + ".mp4"], ids=["wide", "long"])
    def test_a_name_as_long_as_names_may_be(self, given: Given, name: str) -> None:
        given.add(name, "映画.mp4")
        found = given.annotate("format")
        assert "value" in given.labels("映画.mp4")["format"]
        is_labelled = len(list((given.out / "labels").iterdir())) == 2
        assert is_labelled or name in found.broken, "it has labels, or a reason why not"

    def test_links_to_clips_are_clips(self, given: Given) -> None:
        given.add("a.mp4")
        (given.clips / "link.mp4").symlink_to("a.mp4")
        found = given.annotate("plain")
        assert set(found.clips) == {"a.mp4", "link.mp4"}
        assert found.worked == 1
        assert given.labels("link.mp4") == given.labels("a.mp4")

    def test_sound_alone(self, given: Given) -> None:
        write_sound(given.clips / "tone.wav")
        given.add("a.mp4")
        found = given.annotate("format", "loudness", "fingerprint", "quality")
        assert not found.failures
        labels = given.labels("tone.wav")
        assert labels["loudness"]["value"]["lufs"] == pytest.approx(-14, abs=4)
        assert labels["format"]["value"]["width"] == 0
        for label in ("fingerprint", "quality"):
            assert "picture" in labels[label]["none"]

    def test_a_picture_without_sound(self, given: Given) -> None:
        make_video(given.clips / "mute.mp4", seconds=0.6, rate=5)
        found = given.annotate("loudness", "fingerprint")
        assert not found.failures
        assert "none" in given.labels("mute.mp4")["loudness"]
        assert "value" in given.labels("mute.mp4")["fingerprint"]

    def test_one_clip_may_be_the_source(self, given: Given) -> None:
        given.add("a.mp4", "b.mp4")
        found = annotate(given.clips / "b.mp4", ["plain"], given.out, given.engine)
        assert list(found.clips) == ["b.mp4"]
        assert "value" in given.labels("b.mp4")["plain"]
        assert given.annotate("plain").worked == 1, "it is known when its folder is the source"

    @pytest.mark.parametrize("place", ["labels of mine", "."])
    def test_labels_inside_the_folder_of_clips_are_not_clips(
        self, given: Given, place: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("a.mp4")
        given.out = given.clips / place
        assert given.command("plain", "--preview") == 0
        assert len(list(given.clips.rglob("*.mp4"))) == 2, "there is a preview"
        assert given.command("plain") == 0
        assert list(given.summary()["clips"]) == ["a.mp4"]
        assert "0 pieces of work done now." in capsys.readouterr().err

    @pytest.mark.parametrize("names", [("a.mp4", "a.m4v"), ("b.v1.mp4", "b.v2.mp4")], ids=str)
    def test_each_clip_has_its_own_preview(self, given: Given, names: tuple[str, str]) -> None:
        given.add(*names)
        assert given.command("format", "--preview") == 0
        assert len(list((given.out / "preview").rglob("*.mp4"))) == 2
        assert len(list((given.out / "preview").rglob("*.png"))) == 2

    def test_no_preview_of_a_sound(self, given: Given, capsys: pytest.CaptureFixture[str]) -> None:
        write_sound(given.clips / "tone.wav")
        given.add("z.mp4")
        assert given.command("format", "--preview") == 0
        assert "tone.wav: no picture in it" in capsys.readouterr().err
        assert len(list((given.out / "preview").rglob("*.png"))) == 1


class TestWords:
    """What the command says to a wrong word: a sentence, and 2."""

    def refused(
        self, given: Given, capsys: pytest.CaptureFixture[str], labels: str, *words: object
    ) -> str:
        status = given.command(labels, *words)
        told = capsys.readouterr().err
        assert "Traceback" not in told
        assert told.startswith("reelbench annotate: ")
        assert status == 2
        assert not looks(given.clips)
        return told

    def test_an_empty_folder(self, given: Given, capsys: pytest.CaptureFixture[str]) -> None:
        assert f"{given.clips} holds no clips (" in self.refused(given, capsys, "plain")

    def test_a_folder_that_is_not_there(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.clips = given.clips.with_name("nowhere")
        told = self.refused(given, capsys, "plain")
        assert "nowhere is not there: name a clip, or a folder of them." in told

    def test_an_unknown_label(self, given: Given, capsys: pytest.CaptureFixture[str]) -> None:
        given.add("a.mp4")
        told = self.refused(given, capsys, "plain,shoes")
        assert "There is no label 'shoes'; there are format, shots, " in told
        assert not given.out.exists()

    @pytest.mark.parametrize("labels", ["", ",", " "])
    def test_no_label(self, given: Given, capsys: pytest.CaptureFixture[str], labels: str) -> None:
        given.add("a.mp4")
        assert "label" in self.refused(given, capsys, labels)

    def test_labels_with_blanks_and_twice(self, given: Given) -> None:
        given.add("a.mp4")
        assert given.command(" plain, reader ,plain,") == 0
        assert list(given.labels("a.mp4")) == ["plain", "reader"]
        assert counts(given.clips) == {"plain": 1, "reader": 1}

    @pytest.mark.parametrize(
        ("word", "says"),
        [
            ("plain", "'plain' sets nothing: write LABEL.NAME=VALUE."),
            ("plain.word", "sets nothing"),
            ("=x", "sets nothing"),
            ("plain=x", "LABEL.NAME=VALUE"),
            ("plain.colour=red", "There is no plain.colour to set"),
            ("plain.word=[", "sets nothing"),
            ("other.size=2", "other is not among the labels plain"),
            ("plain.word=2024-01-01", "plain"),  # a date, to YAML
            ("plain.word=.nan", "plain"),
        ],
    )
    def test_a_parameter_that_cannot_be_set(
        self, given: Given, capsys: pytest.CaptureFixture[str], word: str, says: str
    ) -> None:
        given.add("a.mp4")
        assert says in self.refused(given, capsys, "plain", "--set", word)

    def test_parameters_are_read_as_yaml(self, given: Given) -> None:
        given.add("a.mp4")
        assert (
            given.command("plain,other", "--set", "plain.word=a b=c", "--set", "other.size=2.5")
            == 0
        )
        assert given.labels("a.mp4")["plain"]["value"]["word"] == "a b=c"
        assert given.labels("a.mp4")["other"]["value"] == {"size": 2.5}

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (("--address", "localhost:6379"), "--address is of a Ray cluster: say --engine ray"),
            (("--model", "gpt"), "'gpt' names no captioner: write --model captioner=MODEL."),
            (("--model", "captioner=nobody"), "There is no model 'nobody'"),
            (("--workers", "-1"), "workers"),
        ],
    )
    def test_other_wrong_words(
        self, given: Given, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
    ) -> None:
        given.add("a.mp4")
        assert says in self.refused(given, capsys, "plain", *words)

    def test_the_folder_of_labels_is_a_file(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("a.mp4")
        given.out.write_text("mine")
        assert str(given.out) in self.refused(given, capsys, "plain")
        assert given.out.read_text() == "mine"

    @pytest.mark.skipif(bool(importlib.util.find_spec("pyarrow")), reason="pyarrow is installed")
    def test_parquet_without_its_package_is_a_sentence_and_labels_are_there(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("a.mp4")
        assert given.command("plain", "--parquet") == 2
        assert (
            "pyarrow is not installed: pip install 'reelbench[annotate]'" in capsys.readouterr().err
        )

    def test_a_good_run_says_where_the_labels_are(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("a.mp4")
        assert given.command("plain") == 0
        told = capsys.readouterr()
        assert told.out.splitlines() == [
            "label  clips  nothing to say  failed",
            "plain  1      0               0",
        ]
        assert f"The labels are in {given.out / 'labels'}." in told.err


class Teller:
    """A model that tells from when on it looked."""

    def __call__(self, body: dict[str, Any], _number: int) -> Reply:
        start = said_to(body).split(" s to ")[0].rsplit(" ", 1)[-1]
        return completion(f"Told from {start}.")


def pictures_in(body: dict[str, Any]) -> int:
    content = body["messages"][-1]["content"]
    return sum(part["type"] == "image_url" for part in content if isinstance(part, dict))


@pytest.fixture
def film(given: Given) -> str:
    """A clip of three and a bit seconds."""
    make_video(given.clips / "film.mp4", seconds=3.2, rate=5)
    return "film.mp4"


WINDOW = ("--set", "caption.window=1")


class TestCaption:
    @pytest.fixture
    def server(self) -> Iterator[Server]:
        with serving(Teller()) as server:
            yield server

    def model(self, given: Given, server: Server, **more: Any) -> tuple[str, str]:
        card = write_card(given.out.with_name("cards"), "teller", server.url, **more)
        return "--model", f"captioner={card}"

    def test_a_clip_is_told_part_by_part(self, given: Given, film: str, server: Server) -> None:
        model = self.model(given, server)
        assert given.command("caption,transcript", *WINDOW, "--set", "caption.rate=2", *model) == 0
        value = given.labels(film)["caption"]["value"]
        assert value["model"] == "teller"
        assert [(part["start"], part["end"]) for part in value["parts"]] == [
            (0, 1),
            (1, 2),
            (2, 3.2),
        ]
        assert [part["text"] for part in value["parts"]] == [
            "Told from 0.",
            "Told from 1.",
            "Told from 2.",
        ]
        assert value["text"] == "Told from 0.\nTold from 1.\nTold from 2."
        prompts = [said_to(request) for request in server.requests]
        assert len(prompts) == 3
        assert "(this is the beginning)" in prompts[0]
        assert "Told from 0." in prompts[1]
        assert "Told from 0. Told from 1." in prompts[2]
        heard = ["The dog barked.", "And then the bell rang.", "Nobody came."]
        for place, prompt in enumerate(prompts):
            assert [text in prompt for text in heard] == [n == place for n in range(3)]
        assert [pictures_in(request) for request in server.requests] == [2, 2, 3]

    def test_a_second_run_asks_nothing(self, given: Given, film: str, server: Server) -> None:
        model = self.model(given, server)
        assert given.command("caption", *WINDOW, *model) == 0
        before, calls = given.written(), len(server.calls)
        assert given.command("caption", *WINDOW, *model) == 0
        assert len(server.calls) == calls == 3
        assert given.written() == before

    def test_nothing_is_said_where_nothing_was_heard(
        self, given: Given, film: str, server: Server
    ) -> None:
        assert given.command("caption", *WINDOW, *self.model(given, server)) == 0
        assert all("(nothing)" in said_to(request) for request in server.requests)

    def test_only_parts_with_other_words_are_told_again(
        self, given: Given, film: str, server: Server
    ) -> None:
        words = ("caption,transcript", *WINDOW, *self.model(given, server))
        assert given.command(*words) == 0
        assert given.command(*words, "--set", "transcript.second=It rained.") == 0
        # What is told of the second part is the same as before, so the third is not asked again.
        assert len(server.calls) == 4
        assert "It rained." in said_to(server.requests[-1])

    def test_guidance_and_another_model_are_other_captions(
        self, given: Given, film: str, server: Server
    ) -> None:
        model = self.model(given, server)
        assert given.command("caption", *model) == 0
        assert given.command("caption", *model, "--set", "caption.guidance=Mind the cat.") == 0
        assert "Mind the cat." in said_to(server.requests[-1])
        assert given.command("caption", *self.model(given, server, parameters={"seed": 5})) == 0
        assert len(server.calls) == 3

    def test_killed_between_parts_no_part_is_paid_for_twice(
        self, given: Given, film: str, start: Start, tmp_path: Path
    ) -> None:
        given.add("z.mp4")
        go_on = threading.Event()
        teller = Teller()

        def answer(body: dict[str, Any], number: int) -> Reply:
            if " 1 s to " in said_to(body):
                go_on.wait(30)
            return teller(body, number)

        with serving(answer) as server:
            model = self.model(given, server)
            words = (
                "annotate",
                given.clips,
                "--labels",
                "caption",
                "--out",
                given.out,
                *WINDOW,
                *model,
            )
            process = start(*words)
            wait_for(lambda: len(server.calls) == 3)
            time.sleep(0.3)  # the answers to the two others are on their way
            process.kill()
            process.join()
            go_on.set()
            again = start(*words)
            again.join()
            assert again.exitcode == 0, (tmp_path / "told").read_text()
            asked = [said_to(request) for request in server.requests]
        # Only what was under way when it was killed is asked again.
        assert len(asked) == 5
        assert len(set(asked)) == 4
        assert len(given.labels(film)["caption"]["value"]["parts"]) == 3

    @pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
    def test_stopped_while_a_model_thinks_it_ends_at_once_and_keeps_what_was_told(
        self, given: Given, film: str, start: Start, tmp_path: Path, sign: int
    ) -> None:
        go_on = threading.Event()
        teller = Teller()

        def answer(body: dict[str, Any], number: int) -> Reply:
            if " 1 s to " in said_to(body):
                go_on.wait(30)
            return teller(body, number)

        with serving(answer) as server:
            words = (*WINDOW, *self.model(given, server))
            process = start(
                "annotate", given.clips, "--labels", "caption", "--out", given.out, *words
            )
            wait_for(lambda: len(server.calls) == 2)
            os.kill(process.pid, sign)
            process.join(10)
            assert process.exitcode == 130, (tmp_path / "told").read_text()
            assert "Traceback" not in (tmp_path / "told").read_text()
            go_on.set()
            assert given.command("caption", *words) == 0
            assert len(server.calls) == 4, "the first part was told before"

    def test_no_model_is_a_sentence(
        self, given: Given, film: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert given.command("caption") in (1, 2)
        told = capsys.readouterr().err
        assert "caption asks a model: name one with --model captioner=..." in told
        assert "Traceback" not in told

    def test_a_server_that_fails_costs_that_clip_and_is_named(
        self, given: Given, film: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("z.mp4")
        is_well = False
        teller = Teller()

        def answer(body: dict[str, Any], number: int) -> Reply:
            if " 1 s to " in said_to(body) and not is_well:
                return json_reply({"error": {"message": "no such luck"}}, 400)
            return teller(body, number)

        with serving(answer) as server:
            words = ("caption,plain", *WINDOW, *self.model(given, server, retries=0))
            assert given.command(*words) == 1
            told = capsys.readouterr().err
            assert f"{film}: caption: " in told
            assert "no such luck" in told
            assert "Traceback" not in told
            assert given.labels("z.mp4")["caption"]["value"]["text"] == "Told from 0."
            assert "value" in given.labels(film)["plain"]
            is_well, calls = True, len(server.calls)
            assert given.command(*words) == 0
            assert len(server.calls) == calls + 2, "the first part was told before"

    @pytest.mark.parametrize("reply", ["", "   ", None])
    def test_a_model_that_says_nothing_fails(
        self, given: Given, film: str, reply: str | None, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with serving(lambda body, number: completion(reply)) as server:
            assert given.command("caption", *self.model(given, server, retries=0)) == 1
        assert f"{film}: caption: " in capsys.readouterr().err

    def test_sound_has_nothing_to_describe(self, given: Given, server: Server) -> None:
        write_sound(given.clips / "tone.wav")
        assert given.command("caption", *self.model(given, server)) == 0
        assert given.labels("tone.wav")["caption"]["none"] == "there is no picture to describe"
        assert not server.calls

    def test_who_does_not_see_is_sent_no_frames(
        self, given: Given, film: str, server: Server
    ) -> None:
        assert given.command("caption", *self.model(given, server, sees=False)) == 0
        assert [pictures_in(request) for request in server.requests] == [0]

    @pytest.mark.parametrize(
        "word", ["window=0", "window=-1", "rate=0", "size=huge", "window=long"]
    )
    def test_a_parameter_that_cannot_be_meant_is_a_sentence(
        self, given: Given, film: str, server: Server, word: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        status = given.command("caption", *self.model(given, server), "--set", f"caption.{word}")
        assert status in (1, 2)
        assert "Traceback" not in capsys.readouterr().err

    def test_equal_clips_are_told_once(self, given: Given, film: str, server: Server) -> None:
        shutil.copy(given.clips / film, given.clips / "same.mp4")
        assert given.command("caption", *WINDOW, *self.model(given, server)) == 0
        assert len(server.calls) == 3
        assert given.labels("same.mp4") == given.labels(film)

    def test_from_a_program(self, given: Given, film: str, server: Server) -> None:
        _, word = self.model(given, server)
        found = given.annotate("caption", captioner=load_model(word.removeprefix("captioner=")))
        assert found.said[film]["caption"]["value"]["text"] == "Told from 0."


def test_clips_come_in_the_order_of_their_names(given: Given) -> None:
    given.add("b.mp4", "a/z.mp4", "a.mp4", "c.mov")
    clips, broken = clips_in(given.clips)
    assert list(clips) == sorted(clips, key=lambda name: Path(name))
    assert not broken
    assert len({clip.digest for clip in clips.values()}) == 4
