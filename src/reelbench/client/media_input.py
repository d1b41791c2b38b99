"""The media that go with a prompt: frames, audio, video and subtitles of any clips.

A ``MediaInput`` says what is to be shown, as data: it decodes nothing until it is rendered. Runs
build theirs from an item and a condition, stages and operators from a file, and ``for_card``
reduces either to what a model takes. A model that does not hear gets subtitles instead; a clip with
sound that has none is an error.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from PIL import Image

from reelbench.base.errors import ReelbenchError
from reelbench.client.query_frames import asks_for_query, query_record, resolved
from reelbench.data.items import Span
from reelbench.data.paths import SOUND_ENDINGS, SUBTITLE_ENDINGS, Folder, beside
from reelbench.media.decode.frames import (
    FrameSpec,
    frames_of,
    planned_frames,
    shortfalls,
    spans_of,
)
from reelbench.media.decode.isolated import probe_isolated
from reelbench.media.decode.sample import parse_sampling
from reelbench.media.digests import media_digest
from reelbench.media.edit.audio_export import sound_of
from reelbench.media.edit.video_export import footage_of
from reelbench.media.errors import MediaError, refuse_no_file
from reelbench.media.subtitles import read_subtitles, within
from reelbench.models.base import TRANSCRIPT, AudioPart, ImagePart, Part, TextPart, VideoPart
from reelbench.models.card import Card

_STAMP = "0" * 16  # as long as the four tokens that "12.5 s" takes
Subtitles = Literal["never", "unheard", "always"]  # unheard: for models that do not hear


@dataclass(frozen=True, slots=True)
class RenderedMedia:
    """Media as the parts of a message, and warnings about them."""

    parts: Sequence[Part] = ()
    warnings: Sequence[str] = ()

    @property
    def frame_counts(self) -> tuple[int, ...]:
        """The number of frames of each video."""
        return tuple(map(len, frame_times(self.parts)))


NO_MEDIA = RenderedMedia()


def frame_times(parts: Iterable[Part]) -> list[list[float]]:
    """Return when the frames of a message are in their video: a list for each video."""
    times: list[list[float]] = [[]]
    for part in parts:
        if isinstance(part, ImagePart):
            times[-1].append(part.time)
        elif part == _heading(len(times) + 1):
            times.append([])
    return times


class PromptMedia(Protocol):
    """The protocol of whatever media go with a prompt."""

    def record(self) -> dict[str, Any]:
        """Return, as plain data, what decides the reply; nothing where nothing is shown."""

    def render(self) -> RenderedMedia:
        """Return the parts of the message; it may decode for a while."""

    def placeholders(self) -> RenderedMedia:
        """Return blank parts of the same number and size, for forecasts."""


@dataclass(frozen=True, slots=True)
class MediaClip:
    """One video: its file, which part and frames of it to show, and its file of subtitles."""

    path: Path
    spec: FrameSpec
    subtitles: Path | None = None


@dataclass(frozen=True)
class MediaInput:
    """What is shown of one video, or of several under their numbers."""

    clips: tuple[MediaClip, ...]
    frames: bool = False
    audio: str = ""  # its encoding, "wav" or "mp3"; empty for none
    video: str = ""  # "clip", "file" or "file with sound": instead of frames
    subtitles: Subtitles = "never"
    timestamps: bool = False  # before each frame
    query: str = ""  # the text that frames are chosen by, where the sampling asks for one
    root: Path | None = None  # the folder that no file may lie outside of, wherever links lead

    @classmethod
    def of(
        cls,
        *paths: Path,
        sampling: str = "uniform:16",
        start: float | None = None,
        end: float | None = None,
        evidence: tuple[Span, ...] = (),
        size: str = "",
        encoding: str = "jpeg:90",
        frames: bool = True,
        audio: bool = False,
        subtitles: Subtitles = "unheard",
        timestamps: bool = False,
        query: str = "",
    ) -> "MediaInput":
        """Return the media of these files; several files share the sampling's frames.

        ``start`` and ``end`` are seconds, of every file. Subtitles are those that lie beside a file
        under its name; by default they are read by models that do not hear the audio. ``query`` is
        the text that the sampling ``query:8`` chooses frames by.
        """
        spec = FrameSpec(
            sampling, start, end, evidence, shared_by=len(paths), size=size, encoding=encoding
        )
        read = subtitles == "always" or (subtitles == "unheard" and audio)
        clips = (MediaClip(path, spec, subtitles_beside(path) if read else None) for path in paths)
        return cls(
            tuple(clips),
            frames=frames,
            audio="wav" if audio else "",
            subtitles=subtitles if read else "never",
            timestamps=timestamps,
            query=query,
        )

    def __bool__(self) -> bool:
        """Whether anything is shown at all."""
        return bool(self.frames or self.audio or self.video or self.subtitles == "always")

    def for_card(self, card: Card, asked: str = "") -> "MediaInput":
        """Return the part of it that a model with this card takes.

        ``asked`` names the question in the error where the model takes fewer frames than needed.
        """
        watched = self.frames or bool(self.video)
        video: str = card.video if watched and card.video != "frames" else ""
        frames = watched and card.sees and not video
        if frames and self.timestamps and card.video == "frames":
            raise ReelbenchError(
                f"{card.name} gets the frames as one video, with no room for the times that "
                "`timestamps: true` writes between them: write `timestamps: false` in the "
                'condition, or `video: ""` in its card.'
            )
        clips = tuple(_limited(clip, 0 if video else card.frames) for clip in self.clips)
        samplings = [parse_sampling(clip.spec.sampling) for clip in clips]
        if frames and card.frames:
            least = sum(max(1, len(sampling.moments)) for sampling in samplings)
            _check_limit(card, least, asked or ", ".join(clip.path.name for clip in clips))
        for sampling in samplings:
            if video and (sampling.evidence or sampling.moments or sampling.choice):
                raise ReelbenchError(
                    f"{card.name} gets videos, for which sampling {sampling.text} cannot be used: "
                    'write `video: ""` in its card to show it frames.'
                )
        audible = bool(self.audio) or self.video.endswith("sound")
        heard = audible and card.hears
        read = self.subtitles == "always" or (self.subtitles == "unheard" and audible and not heard)
        if card.backend == "baseline" and not all(clip.subtitles for clip in clips):
            read = False  # which it would not look at: it must not fail for want of them
        if video == "file" and heard:
            video, heard = "file with sound", False
        return replace(
            self,
            clips=clips if read else tuple(replace(clip, subtitles=None) for clip in clips),
            frames=frames,
            audio=self.audio if heard else "",
            video=video,
            subtitles="always" if read else "never",
        )

    @cached_property
    def order(self) -> tuple[Any, ...]:
        """A sort key that puts equal media side by side: by video, by part, by the rest."""
        specs = tuple(clip.spec for clip in self.clips)
        parts = tuple((spec.start or 0, spec.end is None, spec.end or 0) for spec in specs)
        texts = tuple(str(clip.subtitles) for clip in self.clips) if self._read else ()
        shown = (self.frames, self.audio, self.video, self.timestamps, self.query)
        ways = (repr(specs), *shown, texts)
        return tuple(str(clip.path) for clip in self.clips), parts, ways

    @property
    def _read(self) -> bool:
        return self.subtitles == "always"

    def record(self, digest: Callable[[Path], str | None] | None = None) -> dict[str, Any]:
        """Return what decides the reply: which bytes are shown, and how.

        ``digest`` returns the hash of a file; one that is not there is a ``MediaError`` by default.
        """
        if not self:
            return {}
        digest = digest or _file_digest
        # The names are those of every run so far: keys of requests are made of them.
        found: dict[str, Any] = {"media": [digest(clip.path) for clip in self.clips]}
        if self.frames:
            specs = [asdict(clip.spec) for clip in self.clips]
            found |= {"frames": specs, "timestamps": self.timestamps}
            if any(asks_for_query(clip.spec) for clip in self.clips):
                found["query"] = query_record(self.query)
        else:
            found["parts"] = [_part_of(clip.spec, bool(self.video)) for clip in self.clips]
        if self.audio or self.video or self._read:
            texts = [clip.subtitles for clip in self.clips] if self._read else []
            found |= {"sound": self.audio, "video": self.video, "shows": self.frames}
            found["words"] = [path and digest(path) for path in texts]
        return found

    def render(self) -> RenderedMedia:
        """Return it as the parts of a message; raise ``MediaError`` for what cannot be shown."""
        parts: list[Part] = []
        warnings: list[str] = []
        for clip in self._headed(parts):
            file, spec = self._inside(clip.path), clip.spec
            if self.frames and not self._is_sound(clip):
                warnings += self._add_frames(parts, clip)
            if self.video and not self._is_sound(clip):
                parts.append(_video(file, spec, self.video))
            if self.audio:
                heard = sound_of(file, spec, self.audio)
                if heard is None:
                    warnings.append(f"{self._name(clip)}: it has no sound")
                else:
                    parts.append(AudioPart(heard.data, heard.media_type, heard.seconds))
            self._add_subtitles(parts, clip)
        return RenderedMedia(parts, warnings)

    def placeholders(self) -> RenderedMedia:
        """Return blank parts of the same number and size as ``render`` does.

        Nothing is decoded; raise ``MediaError`` for what could not be shown.
        """
        parts: list[Part] = []
        for clip in self._headed(parts):
            plan = planned_frames(self._inside(clip.path), clip.spec)
            if self.frames and plan.count:
                blank = ImagePart(_blank(plan.width, plan.height), "image/png", 0.0)
                stamp = [TextPart(_STAMP)] if self.timestamps else []
                parts += [*stamp, blank] * plan.count
            if self.video:
                rate, heard = plan.count / plan.seconds, self.video.endswith("sound")
                parts.append(VideoPart(b"", "video/mp4", plan.seconds, rate=rate, heard=heard))
            if self.audio and plan.has_audio:
                parts.append(AudioPart(b"", "audio/wav", plan.seconds))
            self._add_subtitles(parts, clip)
        return RenderedMedia(parts)

    def _headed(self, parts: list[Part]) -> Iterator[MediaClip]:
        """Yield the clips to be shown, each after its heading where they are several."""
        for number, clip in enumerate(self.clips if self else (), 1):
            if len(self.clips) > 1:
                parts.append(_heading(number))
            yield clip

    def _is_sound(self, clip: MediaClip) -> bool:
        """Whether a clip is heard alone, beside another that is seen, such as a picture."""
        return len(self.clips) > 1 and clip.path.suffix.lower() in SOUND_ENDINGS

    def _name(self, clip: MediaClip) -> str:
        return str(clip.path.relative_to(self.root) if self.root else clip.path)

    def _inside(self, path: Path) -> Path:
        """Return a file to be shown; refuse one that became a link to elsewhere since loading."""
        if self.root is not None:
            reason = Folder(self.root).outside(path.relative_to(self.root).as_posix())
            if reason:
                raise MediaError(path, f"lies outside of the benchmark ({reason})")
        return path

    def _add_frames(self, parts: list[Part], clip: MediaClip) -> list[str]:
        found = frames_of(clip.path, resolved(clip.path, clip.spec, self.query))
        for picture in found.pictures:
            if self.timestamps:
                parts.append(TextPart(f"{picture.time:.1f} s"))
            parts.append(ImagePart(picture.data, found.media_type, picture.time))
        return [f"{self._name(clip)}: {warning}" for warning in found.warnings]

    def _add_subtitles(self, parts: list[Part], clip: MediaClip) -> None:
        """Add the subtitles of the part that is shown, if it has sound."""
        if not self._read:
            return
        file, spec = self._inside(clip.path), clip.spec
        refuse_no_file(file)
        info = probe_isolated(file)
        shortfalls(file, info, spec)
        if clip.subtitles is None:
            if not info.has_audio:
                return
            raise MediaError(
                file,
                "has sound, but no subtitles to read instead: put a "
                f"{' or '.join(SUBTITLE_ENDINGS)} of the same name beside it, or use a condition "
                "without A and subtitles",
            )
        cues = read_subtitles(self._inside(clip.subtitles))
        cues = within(cues, spans_of(file, info, spec))
        lines = [f"[{cue.start:.1f} s] {cue.text}" for cue in cues]
        parts.append(TextPart("\n".join([TRANSCRIPT, *(lines or ["(nothing)"])])))


def subtitles_beside(path: Path) -> Path | None:
    """Return the file of subtitles that lies beside a video under its name, if there is one."""
    return next((file for file in map(Path, beside(str(path))) if file.is_file()), None)


def _heading(number: int) -> TextPart:
    return TextPart(f"Video {number}:")


def _limited(clip: MediaClip, frames: int) -> MediaClip:
    sampling = parse_sampling(clip.spec.sampling).at_most(frames)
    return replace(clip, spec=replace(clip.spec, sampling=sampling.text))


def _check_limit(card: Card, least: int, asked: str) -> None:
    if least > card.frames:
        raise ReelbenchError(
            f"{card.name} takes {card.frames} frames at most and cannot be asked {asked}, which "
            f"needs {least}: choose another sampling, or leave the question out."
        )


def _file_digest(path: Path) -> str:
    refuse_no_file(path)
    return media_digest(path)


def _part_of(spec: FrameSpec, watched: bool) -> list[Any]:
    """Return which part of a medium is shown: all that decides what is heard or read of it."""
    sampling = spec.sampling if watched else parse_sampling(spec.sampling).evidence
    return [spec.start, spec.end, sampling, spec.evidence, spec.accept_damage]


def _video(file: Path, spec: FrameSpec, how: str) -> VideoPart:
    whole, heard = how.startswith("file"), how.endswith("sound")
    clip = footage_of(file, spec, cut=not whole, muted=not heard)
    place = (spec.start, spec.end) if whole else (None, None)
    return VideoPart(clip.data, clip.media_type, clip.seconds, *place, clip.rate, heard)


def _blank(width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.new("1", (width, height)).save(file, "png")
    return file.getvalue()
