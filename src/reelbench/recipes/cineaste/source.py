"""What Cinéaste is made from: movies, each some scenes in order with captions, title and log-line.

A source is a folder in one of two layouts.

**One folder per movie.** Its name is the movie's id, which names files and begins the ids of
items: letters, digits, ``.``, ``_`` and ``-``. In it is a ``movie.yaml``::

    title: The Lighthouse Keeper
    summary: An old keeper and his niece save a ship, and he forgives his brother.
    year: 1954                          # may be left out
    scenes:                             # in the order of the film
      - video: scenes/01.mp4            # inside the movie's folder
        title: The Storm Begins
        logline: Tom sees the ship's light and runs for the lamp.
        captions: captions/01.srt       # .srt or .vtt; may be left out
        upload_year: 2012               # may be left out

Without ``captions``, a file of the video's name beside it is used: ``01.srt``,
``01.vtt``, ``01.en.srt`` or ``01.en.vtt``. A scene may have none. Folders whose names begin with
a dot are left alone.

**CondensedMovies**, as https://github.com/m-bain/CondensedMovies has it, or anything laid out
alike: CSV files in the folder or in its ``metadata``, and videos.

- ``clips.csv``, a clip per line: ``videoid``, ``imdbid`` (the movie's id), ``clip_idx`` (the place
  of the clip in the film), ``clip_name`` (the scene's title), ``title`` (the film's) and, where
  known, ``clip_tot`` (of how many), ``year`` and ``upload_year``. The dataset has -1 for a number
  that is not known.
- ``descriptions.csv``: ``videoid``, ``description``: the log-lines. Without it they are empty.
- ``summaries.csv``: ``imdbid``, ``summary`` (or ``plot``): the films' summaries, which the dataset
  does not hold: its ``movie_info.csv`` has genre and country alone. A column ``summary`` or
  ``plot`` in ``movie_info.csv`` or ``movies.csv`` does as well.
- ``movies.csv``: ``imdbid``, ``title``, ``year``, each better than what ``clips.csv`` says, where
  it is there.
- ``durations.csv``: ``videoid``, ``duration``: the seconds of a clip without the advertisement
  that the channel appends. Videos that are longer are warned about, not cut.
- ``videos/<videoid>.<ending>`` or ``videos/<year>/<videoid>.<ending>`` (the year of the upload,
  or any one folder), where the dataset's script puts them, with captions beside them. Other
  columns and files are ignored.

Nobody has all of CondensedMovies. A film without videos, or without a summary, is left out, and so
is a clip that was taken down, has no name, or has a number that cannot be told from another's
(``clip_order.py``). A video that cannot be used costs its clip; in the first layout, where a film
is its scenes, it costs its movie. All of these are named with the reason.

What is wrong in files of text, paths and captions is listed all at once, as a ``MovieSourceError``.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import structs

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import some_of
from reelbench.data.benchmark import BenchmarkError
from reelbench.data.items import Problem
from reelbench.data.paths import SUBTITLE_ENDINGS, link_outside
from reelbench.data.sources import Sources
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.decode.probe import probe
from reelbench.media.digests import media_digest, remembered
from reelbench.media.errors import MediaError
from reelbench.media.subtitles import Cue, read_subtitles
from reelbench.recipes.cineaste.condensed import (
    Film,
    ListedScene,
    ReadFilms,
    metadata_folder,
    read_condensed,
)
from reelbench.recipes.cineaste.described import MOVIE_FILE, read_described

_OUTRO = 3.0  # seconds by which a clip may be longer than durations.csv has it


class MovieScene(msgspec.Struct, frozen=True):
    """One scene. Its paths are relative to the source, which may move."""

    video: str
    sha256: str
    seconds: float
    title: str
    logline: str
    captions: str  # what is said, a line for each cue
    captions_file: str = ""
    cues: tuple[tuple[float, float, str], ...] = ()
    offset: float = 0.0  # where it begins in the joined video
    description: str = ""  # what is seen
    # In which year. Left out of records where nobody tells it, so that rows of earlier makes,
    # which lack it, are still the same rows.
    uploaded: int | msgspec.UnsetType = msgspec.UNSET


class Movie(msgspec.Struct, frozen=True):
    """A film as its scenes; nothing in it depends on where the source lies."""

    id: str
    title: str
    summary: str
    scenes: tuple[MovieScene, ...]
    year: int | None = None
    media: str = ""  # the joined video's path in the benchmark
    sha256: str = ""  # of the joined video
    seconds: float = 0.0  # of the joined video


class MovieSourceError(BenchmarkError):
    """A source that cannot be read as it is; every problem in it is listed."""


def movies_in(source: Path | str) -> Sources:
    """Return the movies of a folder in either layout; raise ``MovieSourceError`` with all problems.

    What cannot be used is in ``broken``, and of movies that are returned in ``without``.
    """
    source = Path(source)
    read = _read_films(source)
    problems, movies = list(read.problems), []
    for film in read.films:
        found: list[Problem] = []
        scenes = [_scene(source, film, clip, found) for clip in film.clips]
        problems += found
        kept = tuple(scene for scene in scenes if scene is not None)
        movies.append(Movie(film.id, film.title, film.summary, kept, film.year))
    if problems:
        raise MovieSourceError(problems)
    return _measured(source, sorted(movies, key=lambda movie: movie.id), read)


def _read_films(source: Path) -> ReadFilms:
    """Return the films that the files of the source describe, in either layout."""
    if not source.is_dir():
        raise ReelbenchError(
            f"{source} is not a folder: name one with a folder per movie, or with clips.csv, in "
            "--source."
        )
    tables, described = metadata_folder(source), any(source.glob(f"[!.]*/{MOVIE_FILE}"))
    if tables and described:
        raise ReelbenchError(
            f"{source} holds both clips.csv and folders with {MOVIE_FILE}: keep one of the two."
        )
    return read_condensed(source, tables) if tables else read_described(source)


def _scene(
    source: Path, film: Film, clip: ListedScene, problems: list[Problem]
) -> MovieScene | None:
    """Return a scene with its captions, not measured yet; None where a file of it is wrong."""
    fault = _fault(source, film.folder, clip.video)
    if fault:
        expected = f"a file in {source / film.folder}: copy it there, or mount its folder"
        problems.append(clip.place.problem("MEDIA_PATH", "video", fault, expected))
        return None
    captions = clip.captions or _beside(source, clip.video)
    try:
        cues = _cues(source, film.folder, captions) if captions else []
    except MediaError as error:
        found, expected = f"{captions}: {error.reason}", "SubRip or WebVTT"
        problems.append(clip.place.problem("CAPTIONS", "captions", found, expected))
        return None
    return MovieScene(
        clip.video,
        "",
        0.0,
        clip.title,
        clip.logline,
        "\n".join(cue.text for cue in cues),
        captions,
        tuple((cue.start, cue.end, cue.text) for cue in cues),
        uploaded=msgspec.UNSET if clip.uploaded is None else clip.uploaded,
    )


def _beside(source: Path, video: str) -> str:
    """Find the captions of the video's name, with the language that download scripts add."""
    stem = video.removesuffix(Path(video).suffix)
    names = (f"{stem}{language}{ending}" for language in ("", ".en") for ending in SUBTITLE_ENDINGS)
    return next((name for name in names if os.path.lexists(source / name)), "")


def _cues(source: Path, folder: str, captions: str) -> list[Cue]:
    fault = _fault(source, folder, captions)
    if fault:
        raise MediaError(source / captions, fault)
    return read_subtitles(source / captions)


def _fault(source: Path, folder: str, path: str) -> str:
    """Return why a path is not a file in the folder that it must be in; "" where it is."""
    if outside := link_outside(source / folder, source / path):
        return f"{path}, a link to {outside}"
    full = os.path.realpath(source / path)
    if os.path.isfile(full):
        return ""
    if os.path.isdir(full):
        return f"{path}, a folder"
    return f"{path}, not a regular file" if os.path.lexists(full) else f"{path}, no such file"


def _measured(source: Path, movies: list[Movie], read: ReadFilms) -> Sources:
    """Measure all videos; those that cannot be used cost their clip, or their movie."""
    whole, broken, without = [], list(read.skipped), list(read.without)
    for movie in movies:
        faults: dict[str, str] = {}
        scenes = [_measured_scene(source, scene, faults) for scene in movie.scenes]
        usable = tuple(scene for scene in scenes if scene is not None)
        if faults and not (read.clip_by_clip and usable):
            broken.append((movie.id, "; ".join(f"{video}: {why}" for video, why in faults.items())))
        else:
            without += [(Path(v).stem, f"{v}: {why} ({movie.id})") for v, why in faults.items()]
            whole.append(structs.replace(movie, scenes=usable))
    warnings = [*read.warnings, *_outros(whole, read)]
    return Sources(tuple(whole), tuple(sorted(broken)), tuple(warnings), tuple(without))


def _measured_scene(source: Path, scene: MovieScene, faults: dict[str, str]) -> MovieScene | None:
    """Return a scene with its length and hash; None, and why by its video, for an unusable one."""
    path = source / scene.video
    try:
        # The memory that duration_of has: it alone would not say why, nor refuse mere sound.
        seconds = float(remembered("seconds", path, _seconds))
        return structs.replace(scene, seconds=seconds, sha256=media_digest(path))
    except MediaError as error:
        faults[scene.video] = error.reason
    except OSError as error:
        faults[scene.video] = error.strerror or str(error)
    return None


def _seconds(path: Path) -> str:
    """Return the duration of a video; raise for other files and for incomplete ones."""
    info = run_isolated(probe, path, False)
    if not info.has_video:
        raise MediaError(path, "sound without a picture")
    if info.is_image or info.duration <= 0:
        raise MediaError(path, "a single picture, not a video")
    if info.cut:
        raise MediaError(path, info.cut)
    return repr(info.duration)


def _outros(movies: list[Movie], read: ReadFilms) -> Iterator[str]:
    """Warn of videos that are longer than they are listed: with the channel's advertisement."""
    listed = {clip.video: clip.listed for film in read.films for clip in film.clips}
    longer = [
        scene.video
        for movie in movies
        for scene in movie.scenes
        if (seconds := listed.get(scene.video)) and scene.seconds > seconds + _OUTRO
    ]
    if longer:
        yield (
            f"{len(longer)} of {len(listed)} videos last longer than durations.csv says: the "
            "channel's advertisement may still be at the end (cut it: ffmpeg -i IN -t SECONDS "
            f"-c copy OUT) of {some_of(longer)}."
        )
