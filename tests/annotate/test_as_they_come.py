"""Labels are made as soon as they can be, and are on the disk as soon as they are made."""

from collections.abc import Iterator, Sequence

import pytest
from annotating import Given, Start
from operators_for_tests import counts, looks
from support import is_gone, wait_until

from reelbench.annotate import labelling
from reelbench.annotate.annotate import annotate
from reelbench.engine.base import Engine, Job, JobResult
from reelbench.engine.local import LocalEngine


class TestOrder:
    def test_operators_of_one_clip_that_do_not_wait_for_each_other_run_at_the_same_time(
        self, given: Given
    ) -> None:
        given.add("a.mp4")
        assert not given.annotate("left", "right").failures

    def test_a_label_does_not_wait_for_other_clips(self, given: Given) -> None:
        given.add("a.mp4", "b.mp4")
        # It ends when the second clip has a label that reads another one.
        waits = {"left": {"other": "reader", "other_clip": "b.mp4"}}
        engine = LocalEngine(3)
        try:
            found = annotate(given.clips, ["left", "reader"], given.out, engine, waits)
        finally:
            engine.close()
        assert not found.failures

    def test_the_first_clips_are_complete_before_the_last_are_begun(
        self, given: Given, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(labelling, "_MOST_OPEN", 2)
        names = [f"{n}.mp4" for n in range(6)]
        given.add(*names)
        engine = LocalEngine(1)  # of two, one may be given all others while the first one starts
        try:
            annotate(given.clips, ["reader"], given.out, engine)
        finally:
            engine.close()
        order = [(label, name) for label, name, _ in looks(given.clips)]
        assert order.index(("reader", "0.mp4")) < order.index(("plain", "5.mp4"))
        assert counts(given.clips) == {"plain": 6, "reader": 6}


class TestFiles:
    def test_labels_are_written_while_others_are_made_and_what_is_missing_is_named(
        self, given: Given, start: Start
    ) -> None:
        given.add("a.mp4", "b.mp4")
        words = ["annotate", given.clips, "--labels", "reader,slow", "--out", given.out]
        process = start(*words, "--set", "slow.seconds=600", "--workers", 3)
        file = given.out / "labels" / "a.mp4.json"
        wait_until(lambda: file.exists() and "reader" in given.labels("a.mp4"))
        process.kill()
        process.join()
        wait_until(lambda: all(is_gone(worker) for _, _, worker in looks(given.clips)))
        assert given.labels("a.mp4")["reader"]["value"] == {"read": "x"}
        assert "slow" not in given.labels("a.mp4")
        missing = given.summary()["missing"]
        assert {"slow"} <= set(missing["a.mp4"])
        assert {"slow"} <= set(missing["b.mp4"])

    def test_a_whole_run_misses_nothing(self, given: Given) -> None:
        given.add("a.mp4")
        given.annotate("reader")
        assert given.summary()["missing"] == {}

    def test_what_other_parameters_made_is_gone_while_it_is_made_again(
        self, given: Given, start: Start
    ) -> None:
        given.add("a.mp4")
        given.annotate("slow", "other")
        words = ["annotate", given.clips, "--labels", "plain,slow", "--out", given.out]
        process = start(*words, "--set", "slow.seconds=600")
        wait_until(lambda: "plain" in given.labels("a.mp4"))
        process.kill()
        process.join()
        assert set(given.labels("a.mp4")) == {"plain", "other"}
        assert "slow" in given.summary()["missing"]["a.mp4"]


class Stopping:
    """An engine whose user stops it after the first job."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def run(self, jobs: Sequence[Job], limit: float) -> Iterator[JobResult]:
        yield next(iter(self._engine.run(jobs[:1], limit)))
        raise KeyboardInterrupt

    def close(self) -> None:
        """It is used by others."""


def test_a_stopped_run_names_what_is_missing(given: Given) -> None:
    given.add("a.mp4", "b.mp4")
    with pytest.raises(KeyboardInterrupt):
        annotate(given.clips, ["plain"], given.out, Stopping(given.engine))
    assert given.summary()["missing"] == {"b.mp4": ["plain"]}
