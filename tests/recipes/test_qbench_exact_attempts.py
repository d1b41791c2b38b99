"""A question is made by the first attempt that succeeds, whatever ends those before it."""

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ordinary import ordinary_clip

from reelbench.media.errors import MediaError
from reelbench.recipes.qbench_exact import videos
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.plan import QuestionPlan


def test_attempts_that_end_their_worker_together_are_made_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of them did it is not known, and the others are worth a try."""
    source = tmp_path / "clips"
    source.mkdir()
    ordinary_clip(source / "clip.mp4", 1, 2.0, 20)
    parts = [Segment(f"clip.mp4#{n}", "clip.mp4", "", n, n + 1.0) for n in range(2)]
    order = QuestionPlan(
        "x", "what", "noise", "noise", 0, False, tuple((p,) for p in parts), margin=0.1
    )
    isolated = videos.run_isolated

    def ends(work: Any, path: Path, attempts: Any, *rest: Any, limit: float) -> Any:
        if attempts[0].segments[0] == parts[0]:
            raise MediaError(path, "ended the process that decoded it")
        return isolated(work, path, attempts, *rest, limit=limit)

    monkeypatch.setattr(videos, "run_isolated", ends)
    client = SimpleNamespace(stopping=threading.Event())
    context: Any = SimpleNamespace(out=tmp_path / "out", source=source, seed=0, client=client)
    (question,) = asyncio.run(videos.damage(order, context, longest=128))
    assert question.videos[0].segment == parts[1]
