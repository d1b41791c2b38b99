"""Real speech on its way into records of MuseBench: heard by Whisper, or read from subtitles."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from essays import prompts, rejected
from parts import Studio, recipe_of
from support import SHARED

from reelbench.make import label
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline
from reelbench.recipes.musebench.fetch import fetch
from reelbench.recipes.musebench.records import record
from reelbench.recipes.musebench.rows import Essay

VIDEO = SHARED / "data" / "video"
SUBTITLES = {
    "german": "Heute haben wir nach zwei Jahren der Verhandlungen sehr viel erreicht.",
    "english": "This is what an author wrote about the light in the room.",
}


@pytest.mark.skipif(not VIDEO.exists(), reason="../shared/data/video is not there")
def test_what_is_said_is_heard_or_read_and_its_language_is_known(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    files = {"spoken": "speech_two_faces.mp4", "silent": "single_face.mp4"}
    for name, file in (files | dict.fromkeys(SUBTITLES, "single_face.mp4")).items():
        shutil.copyfile(VIDEO / file, source / f"{name}.mp4")
    for name, text in SUBTITLES.items():
        cue = f"1\n00:00:00,200 --> 00:00:02,000\n{text}\n"
        (source / f"{name}.srt").write_text(cue)
    stages = (
        fetch(),
        label(["transcript", "language"], rows=Essay, root=lambda ctx: ctx.out),
        record(),
    )
    names = [*files, *SUBTITLES]

    async def through(ctx: StageContext) -> Any:
        rows = [Essay(id=name, file=f"{name}.mp4") for name in names]
        return await Pipeline(recipe_of(*stages), ctx, ctx.store).take(rows)

    passed, _ = Studio(tmp_path, prompts=prompts()).with_context(through)
    results = dict(zip(names, passed[-1].results, strict=True))
    assert rejected(results["silent"])[0] == "no speech"
    assert rejected(results["german"])[0] == "narrator speaks another language"
    found = {}
    for name in ("spoken", "english"):
        found[name] = json.loads((tmp_path / "records" / f"{name}.json").read_text())[
            "transcription"
        ]
    assert "two years of negotiations" in found["spoken"]["text"]
    assert (found["spoken"]["source"], found["spoken"]["language"]) == ("model", "en")
    assert found["english"]["text"] == SUBTITLES["english"]
    assert (found["english"]["source"], found["english"]["language"]) == ("subtitles", "en")
