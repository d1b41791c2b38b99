"""Small video essays for tests: a picture, sound of known parts, and subtitles inside the file."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
from parts import Studio

from reelbench.data.items import Span
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.media.edit.audio import read_audio
from reelbench.media.edit.write import AudioTrack, video_writer
from reelbench.recipes.musebench.rows import Essay

RATE = 16_000
SECONDS = 6.0
TURNS: tuple[Span, ...] = ((1.0, 2.5), (4.0, 5.0))
SENTENCE = "the curtain divides the whole stage"
SUBTITLES = f"1\n00:00:01,000 --> 00:00:02,500\n{SENTENCE}\n"


def two_tones(seconds: float = SECONDS, channels: int = 1) -> np.ndarray:
    """A low tone throughout, and a high one, the narrator's, during the turns."""
    times = np.arange(round(seconds * RATE)) / RATE
    speaks = np.zeros(len(times), bool)
    for start, end in TURNS:
        speaks |= (times >= start) & (times < end)
    sound = 0.2 * np.sin(2 * np.pi * 300 * times) + 0.3 * speaks * np.sin(2 * np.pi * 1500 * times)
    return np.repeat(sound[None], channels, axis=0).astype(np.float32)


def make_essay(path: Path, seconds: float = SECONDS, channels: int = 1) -> Path:
    """Write an essay as Matroska with a subtitle stream and a title."""
    plain = path.with_name("plain.mp4")
    sound = AudioTrack([two_tones(seconds, channels)], RATE, channels)
    with video_writer(plain, 10, sound=sound) as writer:
        for number in range(round(seconds * 10)):
            grey = np.full((32, 48, 3), number * 4 % 256, np.uint8)
            writer.show(grey, number / 10)
    lines = path.with_name("lines.srt")
    lines.write_text(SUBTITLES)
    with av.open(str(path), "w") as target:
        target.metadata["title"] = SENTENCE
        target.metadata["comment"] = SENTENCE
        _copy([plain, lines], target)
    lines.unlink()
    plain.unlink()
    return path


def _copy(sources: Sequence[Path], target: Any) -> None:
    opened = [av.open(str(source)) for source in sources]
    copies = [{s.index: target.add_stream_from_template(s) for s in one.streams} for one in opened]
    for copy in [copy for own in copies for copy in own.values()]:
        copy.metadata["title"] = SENTENCE
    for one, own in zip(opened, copies, strict=True):
        for packet in one.demux():
            if packet.dts is not None:
                packet.stream = own[packet.stream_index]
                target.mux(packet)
        one.close()


def essay(folder: Path, **fields: Any) -> Essay:
    """Return the row of an essay that was fetched, its narrator found."""
    path = "make/essays/e1.mkv"
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    if not (folder / path).exists():
        make_essay(folder / path)
    narrator = {"speaker": "s1", "confidence": 0.9, "turns": [list(span) for span in TURNS]}
    facts: dict[str, Any] = {
        "id": "e1",
        "file": path,
        "clip": path,
        "seconds": SECONDS,
        "narrator": {**narrator, "words": spoken(SENTENCE, 1.0, 2.5)},
        "clips": ((0.0, 3.0), (3.0, SECONDS)),
    }
    return Essay(**{**facts, **fields})


def spoken(text: str, start: float, end: float) -> list[dict[str, Any]]:
    """Return the words of a text with times, spread over a span."""
    texts = text.split()
    edges = np.linspace(start, end, len(texts) + 1)
    return [
        {"start": float(edges[n]), "end": float(edges[n + 1]), "word": word}
        for n, word in enumerate(texts)
    ]


def transcript(*segments: tuple[float, float, str], source: str = "model") -> dict[str, Any]:
    """Return a transcript with these segments."""
    lines = [
        {"start": start, "end": end, "text": text, "words": spoken(text, start, end)}
        for start, end, text in segments
    ]
    return {"source": source, "language": "en", "segments": lines}


def worked(
    folder: Path, stage: RowStage, row: Any, labels: Mapping[str, Mapping[str, Any]] | None = None
) -> Any:
    """Return the row that a stage makes of one, given the labels of clips; or why there is none."""

    async def one(ctx: StageContext) -> Any:
        ctx.clip_labels.update({clip: dict(found) for clip, found in (labels or {}).items()})
        ctx.stage, ctx.at_work = stage.name, stage
        try:
            (made,) = await stage.work(row, ctx, **stage.parameters)
        except Rejected as why:
            return why
        return made

    result, _ = Studio(folder).with_context(one)
    return result


def tone_level(path: Path, span: Span, tone: float) -> float:
    """Return how loud a tone is in a span of a file, in dB."""
    sound = read_audio(path, RATE, 1, *span)[0]
    times = np.arange(len(sound)) / RATE
    wave = np.exp(-2j * np.pi * tone * times) * np.hanning(len(sound))
    return float(20 * np.log10(abs(wave @ sound) / np.hanning(len(sound)).sum() + 1e-9))


def long_sound(seconds: int) -> Iterator[np.ndarray]:
    """Yield noise in pieces of a second, each another."""
    for number in range(seconds):
        yield np.random.default_rng(number).normal(0, 0.1, (1, RATE)).astype(np.float32)
