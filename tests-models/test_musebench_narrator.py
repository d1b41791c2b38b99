"""A narrator on the way through MuseBench, by real models: in the record, and not in what is shown."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from essays import prompts
from parts import Studio, recipe_of
from support import SHARED

from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline
from reelbench.media.edit.audio import SPEECH_RATE, read_audio
from reelbench.media.edit.write import AudioTrack, video_writer
from reelbench.recipes.musebench.recipe import STAGES
from reelbench.recipes.musebench.rows import Essay

VIDEO = SHARED / "data" / "video"
PLANTED = {  # by the second at which they begin; between them, others speak
    0.3: "The light falls from the left, and the colour drains out of the empty room.",
    4.8: "The painter left this corner empty for a reason that nobody would name.",
    9.0: "Every cut lands on a breath, until the face of the dancer fills the whole frame.",
    20.2: "The music stops early, so that footsteps become the rhythm of the second act.",
    24.6: "A single chair in the middle of the stage is all that the director needs.",
}
DIALOGUE, SECONDS = 14.0, 29
NAMES = ("fetch", "label-essays", "record", "segment", "silence", "label-evaluation")

pytestmark = [
    pytest.mark.skipif(not VIDEO.is_dir(), reason="the real clips of ../shared are not here"),
    pytest.mark.skipif(
        shutil.which("espeak-ng") is None,
        reason="espeak-ng is not installed (apt install espeak-ng)",
    ),
]


def make_essay(path: Path) -> None:
    """Planted sentences over soft music, and a real conversation between them."""
    sound = 0.3 * read_audio(VIDEO / "animation_trailer.mp4", start=4.0, end=4.0 + SECONDS)[0]
    lines = {DIALOGUE: read_audio(VIDEO / "speech_two_faces.mp4", end=6.0)[0]}
    for start, text in PLANTED.items():
        wav = path.with_name("spoken.wav")
        subprocess.run(["espeak-ng", "-v", "en-us", "-w", str(wav), text], check=True)
        lines[start] = read_audio(wav)[0]
    for start, spoken in lines.items():
        at = round(start * SPEECH_RATE)
        sound[at : at + len(spoken)] += spoken / np.abs(spoken).max() / 2
    track = AudioTrack([sound[None].clip(-1, 1)], SPEECH_RATE, 1)
    with video_writer(path, 5, sound=track) as writer:
        for number in range(5 * SECONDS):
            writer.show(np.full((144, 192, 3), number % 256, np.uint8), number / 5)


def test_what_the_narrator_says_is_in_the_record_and_not_in_the_transcript_for_evaluation(
    tmp_path: Path,
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    make_essay(source / "e1.mp4")
    stages = [stage for stage in STAGES if stage.name in (*NAMES, "check-narrator")]

    async def through(ctx: StageContext) -> Any:
        return await Pipeline(recipe_of(*stages), ctx, ctx.store).take(
            [Essay(id="e1", file="e1.mp4")]
        )

    passed, _ = Studio(tmp_path, prompts=prompts()).with_context(through)
    (essay,) = passed[-1].out
    record = json.loads((tmp_path / "records" / "e1.json").read_text())["transcription"]["text"]
    shown = (tmp_path / "media" / "e1.vtt").read_text()
    for words in ("out of the empty room", "left this corner empty", "the middle of the stage"):
        assert words in record
    for word in ("drains", "room", "painter", "corner", "dancer", "footsteps", "chair"):
        assert word not in shown
    assert "negotiations" in record
    assert "negotiations" in shown, "what others say stays"
    assert not essay.flagged
    assert essay.narrator["removal"]["share"] < 0.1
