"""The annotate room's promise that nothing is done twice, killed or not."""

import os
import shutil
import signal
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import operators_for_tests as ours
import pytest
from annotating import Given, Start
from operators_for_tests import counts, hold, let_go, looks
from support import is_gone, rows_held, wait_until

from reelbench.annotate.annotate import annotate
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.annotate.registry import load_operator
from reelbench.base.errors import ReelbenchError
from reelbench.engine.local import LocalEngine


@dataclass(frozen=True)
class Renamed(Operator):
    """The operator ``other`` with another name for its parameter."""

    name: ClassVar[str] = "other"
    former_names: ClassVar[Mapping[str, str]] = {"scale": "size"}
    scale: float = 1.0

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        raise AssertionError("the label is there already")


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
        assert second.outcomes == first.outcomes, (
            "what comes from the store is what came from the worker"
        )

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

    def test_a_renamed_parameter_keeps_its_labels_and_its_former_name(
        self, given: Given, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given.add("a.mp4", "b.mp4")
        assert given.annotate("other", parameters={"other": {"size": 3.0}}).worked == 2
        monkeypatch.setattr(ours, "Other", Renamed)
        for name in ("size", "scale"):
            found = given.annotate("other", parameters={"other": {name: 3.0}})
            assert found.worked == 0
        assert given.labels("a.mp4")["other"]["operator"]["parameters"] == {"scale": 3.0}
        assert load_operator("tracks", looks=3) == load_operator("tracks", faces_per_track=3)

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
        for aim in (1, 5):
            # Not all of it before anyone has looked; what is on its way is killed anywhere.
            hold(given.clips, "slow", counts(given.clips)["slow"] + aim + 1)
            process = start(*words)
            wait_until(lambda aim=aim: rows_held(given.out / "labels.sqlite", "results") >= aim)
            process.kill()
            process.join()
            wait_until(lambda: all(is_gone(worker) for _, _, worker in looks(given.clips)))
            kept, before = len(given.stored()), len(looks(given.clips))
            assert aim <= kept < 20
        let_go(given.clips)
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
            wait_until(lambda: counts(given.clips)["slow"] > 0)
            name, process = next(look[1:] for look in looks(given.clips) if look[0] == "slow")
            os.kill(process, signal.SIGKILL)
            victim.append(name)
            let_go(given.clips)

        hold(given.clips, "slow", 0)
        killer = threading.Thread(target=kill)
        killer.start()
        found = given.annotate("slow", "plain")
        killer.join()
        assert found.failures == [(victim[0], "slow", "the worker crashed (SIGKILL)")]
        assert len([1 for maker, _ in given.stored() if maker == "slow"]) == 3
        again = given.annotate("slow", "plain")
        assert again.worked == 1
        assert not again.failures
        assert not given.summary()["failures"]

    @pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
    def test_stopped_it_ends_at_once_keeps_what_is_done_and_goes_on(
        self, given: Given, start: Start, tmp_path: Path, sign: int
    ) -> None:
        given.add("a.mp4", "b.mp4")
        words = ["annotate", given.clips, "--labels", "plain,slow", "--out", given.out]
        process = start(*words, "--set", "slow.seconds=600")
        wait_until(lambda: rows_held(given.out / "labels.sqlite", "results") == 2)
        wait_until(lambda: counts(given.clips)["slow"] > 0)
        os.kill(process.pid, sign)
        process.join()  # and does not wait for what nobody wants any more
        assert process.exitcode == 130
        told = (tmp_path / "told").read_text()
        assert "Stopped." in told
        assert "Traceback" not in told
        for label, _, worker in looks(given.clips):
            if label == "slow":
                wait_until(lambda worker=worker: is_gone(worker))
        assert [maker for maker, _ in given.stored()] == ["plain", "plain"]
        assert given.annotate("plain").worked == 0

    def test_two_at_once_on_one_folder_are_told_so(
        self, given: Given, start: Start, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("a.mp4")
        words = ["annotate", given.clips, "--labels", "slow", "--out", given.out]
        start(*words, "--set", "slow.seconds=600")
        wait_until(lambda: bool(looks(given.clips)))
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
