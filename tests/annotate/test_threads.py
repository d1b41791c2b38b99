"""Labels are the same bytes however many threads the user allows; models: tests-models/engine."""

import pytest
from annotating import Given
from videos import make_video

from reelbench.engine.local import LocalEngine

LABELS = ("format", "fingerprint", "loudness", "quality", "threads")


def test_labels_do_not_depend_on_threads(given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    make_video(given.clips / "a.mp4", seconds=2, sound=2)
    made = []
    for threads in ("", "1", "8"):
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            monkeypatch.setenv(name, threads)
        given.engine = LocalEngine(1)
        given.out = given.out.with_name(f"out {threads}")
        assert given.annotate(*LABELS).failures == []
        given.engine.close()
        made.append(given.labels("a.mp4"))
    assert set(made[0]) == set(LABELS)
    assert made[0] == made[1] == made[2]
