"""What of an item's media a model is shown under a condition: frames, sound, video, words.

A model gets of a condition's modalities what it can take in. What it cannot hear it reads, where
there are subtitles, so that no signal is dropped in silence; where there are none, that is said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.data.paths import SUBTITLE_ENDINGS, Folder, beside, inner_path
from reelbench.evaluate.condition import Condition
from reelbench.media.decode.frames import FrameSpec, frames_of, shortfalls, spans_of
from reelbench.media.decode.isolated import probe_isolated
from reelbench.media.decode.sample import parse_sampling
from reelbench.media.edit.audio_export import sound_of
from reelbench.media.edit.video_export import footage_of
from reelbench.media.errors import MediaError, refuse_no_file
from reelbench.media.subtitles import read_subtitles, within
from reelbench.models.base import AudioPart, ImagePart, Part, TextPart, VideoPart
from reelbench.models.card import Card


@dataclass(frozen=True)
class Show:
    """What is shown of one item's media, to whoever can take in the same."""

    paths: tuple[str, ...]
    specs: tuple[FrameSpec, ...]
    frames: bool = False
    sound: str = ""  # its encoding; empty for none
    video: str = ""  # "clip", "file" or "file with sound"
    words: tuple[str | None, ...] = ()  # the file of subtitles of each medium, where it has one
    timestamps: bool = False

    def __bool__(self) -> bool:
        """Whether anything is shown at all."""
        return bool(self.frames or self.sound or self.video or self.words)

    @cached_property
    def order(self) -> tuple[Any, ...]:
        """Sorts what is alike together: a video first, then its parts, then the ways to show it."""
        clips = [(spec.start or 0, spec.end is None, spec.end or 0) for spec in self.specs]
        return self.paths, clips, repr(self)

    def record(self, digests: Mapping[str, str | None]) -> dict[str, Any]:
        """Return what decides the reply: which bytes are shown, and how."""
        if not self:
            return {}
        said: dict[str, Any] = {"media": [digests[path] for path in self.paths]}
        if self.frames:
            specs = [asdict(spec) for spec in self.specs]
            said |= {"frames": specs, "timestamps": self.timestamps}
        else:
            said["parts"] = [_part_of(spec, watched=bool(self.video)) for spec in self.specs]
        if self.sound or self.video or self.words:
            said |= {"sound": self.sound, "video": self.video, "shows": self.frames}
            said["words"] = [path and digests[path] for path in self.words]
        return said


def _part_of(spec: FrameSpec, watched: bool) -> list[Any]:
    """Which part of a medium is meant: all that decides what is heard or read of it."""
    sampling = spec.sampling if watched else parse_sampling(spec.sampling).evidence
    return [spec.start, spec.end, sampling, spec.evidence, spec.accept_damage]


def show_for(benchmark: Benchmark, item: Item, condition: Condition, card: Card) -> Show:
    """Return what a model with this card is shown of an item."""
    protocol, senses = condition.protocol, condition.protocol.modalities.split("+")
    looking, hearing = "V" in senses and card.sees, "A" in senses
    video: str = card.video if "V" in senses else ""
    sampling = condition.sampling.at_most(0 if video else card.frames)
    if looking and not video and card.frames:
        _check_limit(card, len(item.media) * max(1, len(sampling.moments)), item)
    specs = tuple(
        FrameSpec(
            sampling=sampling.text,
            start=media.start,
            end=media.end,
            evidence=item.evidence if sampling.evidence else (),
            shared_by=len(item.media),
            size=protocol.frame_size,
            encoding=protocol.frame_encoding,
            accept_damage=protocol.accept_damage,
        )
        for media in item.media
    )
    if video and (sampling.evidence or sampling.moments):
        raise ReelbenchError(
            f'{card.name} watches videos and cannot be shown {sampling.text}: write `video: ""` in '
            "its card to show it frames."
        )
    heard = hearing and card.hears
    reads = protocol.subtitles or (hearing and not heard)
    if video == "file" and heard:
        video, heard = "file with sound", False
    return Show(
        paths=tuple(media.path for media in item.media),
        specs=specs,
        frames=looking and not video,
        sound=protocol.sound_encoding if heard else "",
        video=video,
        words=tuple(subtitles_of(benchmark, media) for media in item.media) if reads else (),
        timestamps=protocol.timestamps,
    )


def _check_limit(card: Card, least: int, item: Item) -> None:
    if least > card.frames:
        raise ReelbenchError(
            f"{card.name} takes {card.frames} frames at most and cannot be asked {item.id}, which "
            f"needs {least}: choose another sampling, or leave the question out."
        )


def subtitles_of(benchmark: Benchmark, media: Media) -> str | None:
    """Return the file of subtitles that a medium names, or that lies beside it."""
    named = media.extra.get("subtitles")
    if named is not None:
        inner_path(benchmark.root, named)
        return str(named)
    return next((name for name in beside(media.path) if (benchmark.root / name).is_file()), None)


def parts_of(benchmark: Benchmark, show: Show) -> tuple[list[Part], list[str]]:
    """Return what is shown as the parts of a message, and warnings about it.

    Raises ``MediaError`` for a file that cannot be shown as it should be.
    """
    parts: list[Part] = []
    warnings: list[str] = []
    if not show:
        return parts, warnings
    for number, (path, spec) in enumerate(zip(show.paths, show.specs, strict=True)):
        if len(show.paths) > 1:
            parts.append(_heading(number + 1))
        file = _file_of(benchmark, path)
        if show.frames:
            warnings += _add_frames(parts, file, path, spec, show.timestamps)
        if show.video:
            parts.append(_video(file, spec, show.video))
        if show.sound:
            heard = sound_of(file, spec, show.sound)
            if heard is None:
                warnings.append(f"{path}: no sound in it to be heard")
            else:
                parts.append(AudioPart(heard.data, heard.media_type, heard.seconds))
        if show.words:
            parts += _words(benchmark, path, show.words[number], spec)
    return parts, warnings


def _file_of(benchmark: Benchmark, name: str) -> Path:
    """Return a file to be shown; what became a link to elsewhere since loading is not shown."""
    reason = Folder(benchmark.root).outside(name)
    if reason:
        raise MediaError(benchmark.root / name, f"lies outside of the benchmark ({reason})")
    return benchmark.root / name


def _heading(number: int) -> TextPart:
    return TextPart(f"Video {number}:")


def frames_among(parts: Sequence[Part]) -> tuple[int, ...]:
    """Return how many frames of each video there are among what is shown."""
    counts = [0]
    for part in parts:
        if isinstance(part, ImagePart):
            counts[-1] += 1
        elif part == _heading(len(counts) + 1):
            counts.append(0)
    return tuple(counts)


def _add_frames(
    parts: list[Part], file: Path, path: str, spec: FrameSpec, timestamps: bool
) -> list[str]:
    clip = frames_of(file, spec)
    for picture in clip.pictures:
        if timestamps:
            parts.append(TextPart(f"{picture.time:.1f} s"))
        parts.append(ImagePart(picture.data, clip.media_type, picture.time))
    return [f"{path}: {warning}" for warning in clip.warnings]


def _video(file: Path, spec: FrameSpec, how: str) -> VideoPart:
    whole = how.startswith("file")
    shot = footage_of(file, spec, cut=not whole, muted=not how.endswith("sound"))
    place = (spec.start, spec.end) if whole else (None, None)
    heard = how.endswith("sound")
    return VideoPart(shot.data, shot.media_type, shot.seconds, *place, shot.rate, heard)


def _words(benchmark: Benchmark, path: str, subtitles: str | None, spec: FrameSpec) -> list[Part]:
    text = subtitles_text(benchmark, path, subtitles, spec)
    return [] if text is None else [TextPart(text)]


def subtitles_text(
    benchmark: Benchmark, path: str, subtitles: str | None, spec: FrameSpec
) -> str | None:
    """Return what is said in the part that a wish is about; None where nothing can be heard."""
    file = _file_of(benchmark, path)
    refuse_no_file(file)
    info = probe_isolated(file)
    shortfalls(file, info, spec)
    if subtitles is None:
        if not info.has_audio:
            return None
        raise MediaError(
            file,
            "has sound, but no subtitles to read instead: put a "
            f"{' or '.join(SUBTITLE_ENDINGS)} of the same name beside it, or ask without A and "
            "subtitles",
        )
    cues = read_subtitles(_file_of(benchmark, subtitles))
    cues = within(cues, spans_of(file, info, spec))
    lines = [f"[{cue.start:.1f} s] {cue.text}" for cue in cues]
    return "\n".join(["What is said:", *(lines or ["(nothing)"])])
