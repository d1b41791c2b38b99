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
from reelbench.media.decode.frames import Wish, frames_of, shortfalls, spans_of
from reelbench.media.decode.isolated import probe_safely
from reelbench.media.decode.sample import parse_sampling
from reelbench.media.edit.audio_export import sound_of
from reelbench.media.edit.video_export import footage_of
from reelbench.media.errors import MediaError, refuse_no_file
from reelbench.media.subtitles import read_subtitles, within
from reelbench.models.base import Part, Picture, Sound, Text, Video
from reelbench.models.card import Card


@dataclass(frozen=True)
class Show:
    """What is shown of one item's media, to whoever can take in the same."""

    paths: tuple[str, ...]
    wishes: tuple[Wish, ...]
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
        clips = [(wish.start or 0, wish.end is None, wish.end or 0) for wish in self.wishes]
        return self.paths, clips, repr(self)

    def record(self, digests: Mapping[str, str | None]) -> dict[str, Any]:
        """Return what decides the reply: which bytes are shown, and how."""
        if not self:
            return {}
        said: dict[str, Any] = {"media": [digests[path] for path in self.paths]}
        if self.frames:
            wishes = [asdict(wish) for wish in self.wishes]
            said |= {"frames": wishes, "timestamps": self.timestamps}
        else:
            said["parts"] = [_part_of(wish, watched=bool(self.video)) for wish in self.wishes]
        if self.sound or self.video or self.words:
            said |= {"sound": self.sound, "video": self.video, "shows": self.frames}
            said["words"] = [path and digests[path] for path in self.words]
        return said


def _part_of(wish: Wish, watched: bool) -> list[Any]:
    """Which part of a medium is meant: all that decides what is heard or read of it."""
    sampling = wish.sampling if watched else parse_sampling(wish.sampling).evidence
    return [wish.start, wish.end, sampling, wish.evidence, wish.accept_damage]


def show_for(benchmark: Benchmark, item: Item, condition: Condition, card: Card) -> Show:
    """Return what a model with this card is shown of an item."""
    protocol, senses = condition.protocol, condition.protocol.modalities.split("+")
    looking, hearing = "V" in senses and card.sees, "A" in senses
    video: str = card.video if "V" in senses else ""
    sampling = condition.sampling.at_most(0 if video else card.frames)
    if looking and not video and card.frames:
        _check_limit(card, len(item.media) * max(1, len(sampling.moments)), item)
    wishes = tuple(
        Wish(
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
        wishes=wishes,
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
    for number, (path, wish) in enumerate(zip(show.paths, show.wishes, strict=True)):
        if len(show.paths) > 1:
            parts.append(_heading(number + 1))
        file = _file_of(benchmark, path)
        if show.frames:
            warnings += _add_frames(parts, file, path, wish, show.timestamps)
        if show.video:
            parts.append(_video(file, wish, show.video))
        if show.sound:
            heard = sound_of(file, wish, show.sound)
            if heard is None:
                warnings.append(f"{path}: no sound in it to be heard")
            else:
                parts.append(Sound(heard.data, heard.media_type, heard.seconds))
        if show.words:
            parts += _words(benchmark, path, show.words[number], wish)
    return parts, warnings


def _file_of(benchmark: Benchmark, name: str) -> Path:
    """Return a file to be shown; what became a link to elsewhere since loading is not shown."""
    reason = Folder(benchmark.root).outside(name)
    if reason:
        raise MediaError(benchmark.root / name, f"lies outside of the benchmark ({reason})")
    return benchmark.root / name


def _heading(number: int) -> Text:
    return Text(f"Video {number}:")


def frames_among(parts: Sequence[Part]) -> tuple[int, ...]:
    """Return how many frames of each video there are among what is shown."""
    counts = [0]
    for part in parts:
        if isinstance(part, Picture):
            counts[-1] += 1
        elif part == _heading(len(counts) + 1):
            counts.append(0)
    return tuple(counts)


def _add_frames(
    parts: list[Part], file: Path, path: str, wish: Wish, timestamps: bool
) -> list[str]:
    clip = frames_of(file, wish)
    for picture in clip.pictures:
        if timestamps:
            parts.append(Text(f"{picture.time:.1f} s"))
        parts.append(Picture(picture.data, clip.media_type, picture.time))
    return [f"{path}: {warning}" for warning in clip.warnings]


def _video(file: Path, wish: Wish, how: str) -> Video:
    whole = how.startswith("file")
    shot = footage_of(file, wish, cut=not whole, muted=not how.endswith("sound"))
    place = (wish.start, wish.end) if whole else (None, None)
    heard = how.endswith("sound")
    return Video(shot.data, shot.media_type, shot.seconds, *place, shot.rate, heard)


def _words(benchmark: Benchmark, path: str, subtitles: str | None, wish: Wish) -> list[Part]:
    text = subtitles_text(benchmark, path, subtitles, wish)
    return [] if text is None else [Text(text)]


def subtitles_text(
    benchmark: Benchmark, path: str, subtitles: str | None, wish: Wish
) -> str | None:
    """Return what is said in the part that a wish is about; None where nothing can be heard."""
    file = _file_of(benchmark, path)
    refuse_no_file(file)
    info = probe_safely(file)
    shortfalls(file, info, wish)
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
    cues = within(cues, spans_of(file, info, wish))
    lines = [f"[{cue.start:.1f} s] {cue.text}" for cue in cues]
    return "\n".join(["What is said:", *(lines or ["(nothing)"])])
