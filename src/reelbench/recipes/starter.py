"""A benchmark to begin with: from someone's videos and questions, or with an example of each."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import file_part, link_or_copy
from reelbench.base.progress import counted, track
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import KINDS, LETTERS, Item, Kind, Media, freeze, shown
from reelbench.data.manifest import Manifest, Protocol
from reelbench.data.paths import VIDEO_ENDINGS, path_escapes
from reelbench.data.question_rules import TO_REPLACE
from reelbench.interop.imports import ImportResult, import_benchmark
from reelbench.media.decode.durations import duration_of
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.decode.sample import parse_sampling
from reelbench.recipes.demo.questions import BUILDERS
from reelbench.recipes.demo.recipe import scene_items
from reelbench.world.compose import compose
from reelbench.world.render import synthesize

EXAMPLE = "example"  # the name of the video that is rendered where there is none
MOST_EXAMPLES = 3  # questions, where nobody wrote any
_YES_NO = ("Yes", "No")


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """A question that a person wrote, not yet about a video."""

    question: str
    options: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class StarterOptions:
    """The answers to the questions of ``reelbench new``."""

    name: str
    root: Path  # the folder to make
    videos: Sequence[Path] = ()  # none: an example is rendered
    video_folder: Path | None = None  # where they were found
    questions: Path | None = None  # a file to import, or a folder
    kind: Kind = "single"
    sampling: str = "uniform:16"
    licence: str = ""
    written: Sequence[TypedQuestion] = ()


@dataclass(frozen=True, slots=True)
class StarterResult:
    """The benchmark that was made, and what there is to say about it."""

    benchmark: Benchmark
    imported: ImportResult | None = None
    notes: list[str] = field(default_factory=list)


def make_starter(options: StarterOptions) -> StarterResult:
    """Make a benchmark in a folder that does not exist yet, whole or not at all."""
    imported, notes = None, list[str]()
    with _new_folder(options.root) as folder:
        protocol = Protocol(sampling=options.sampling)
        if options.questions is not None:
            media = options.video_folder
            imported = import_benchmark(options.questions, folder, media=media, name=options.name)
            found = Benchmark.load(folder)
            own = replace(found.manifest.protocol, sampling=options.sampling)
            licence = options.licence or found.manifest.licence
            manifest = replace(found.manifest, protocol=own, licence=licence)
            Benchmark(folder, manifest, found.items).save(folder)
        else:
            paths = _place_videos(options, folder, notes)
            items = list(_items(options, paths))
            manifest = Manifest(
                file_part(options.name),
                "1",
                title=options.name,
                licence=options.licence,
                protocol=protocol,
            )
            Benchmark(folder, manifest, tuple(items)).save(folder)
    return StarterResult(Benchmark.load(options.root), imported, notes)


def check_folder(root: Path) -> Path:
    """Return the folder to make; raise an error where something is there."""
    if os.path.lexists(root):
        raise ReelbenchError(
            f"{root} exists: name a folder that does not, as in `reelbench new FOLDER`."
        )
    return root


def check_name(text: str) -> str:
    """Return the name of a benchmark; raise an error for one without a letter or digit."""
    name = " ".join(text.split())
    if not any(sign.isalnum() for sign in name) or not name.isprintable() or len(name) > 100:
        raise ReelbenchError(
            f"{shown(text)} is no name: write letters or digits, at most 100 of them."
        )
    return name


def find_videos(text: str) -> tuple[Path, list[Path]]:
    """Return a folder and its videos, also those in folders of it; or one video and its folder."""
    path = _path(text)
    if path.is_file():
        if path.suffix.lower() not in VIDEO_ENDINGS:
            raise ReelbenchError(f"{path} is no video by its name ({', '.join(VIDEO_ENDINGS)}).")
        return path.parent, [path]
    if not path.is_dir():
        raise ReelbenchError(f"{path} does not exist: name a folder of videos, or one video.")
    found = sorted(_videos_below(path))
    if not found:
        raise ReelbenchError(f"There is no video in {path} ({', '.join(VIDEO_ENDINGS)}).")
    return path, found


def _videos_below(path: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(path):
        folders[:] = [each for each in folders if not each.startswith(".")]
        for name in names:
            video = Path(folder, name)
            is_video = name.lower().endswith(VIDEO_ENDINGS) and not name.startswith(".")
            if is_video and video.is_file():  # not a pipe, which would never end
                yield video


def check_questions(text: str, videos: Path | None) -> Path:
    """Return a file or folder of questions that can be imported; raise an error with the reason."""
    path = _path(text)
    if not path.exists():
        raise ReelbenchError(f"{path} does not exist: name a file of questions (CSV, Excel, JSON).")
    import_benchmark(path, Path("unwritten"), media=videos, dry_run=True)
    return path


def check_kind(text: str) -> Kind:
    """Return the kind of questions; raise an error that lists all."""
    for kind in KINDS:
        if text.strip().lower().replace("/", "") == kind:
            return kind
    raise ReelbenchError(f"{shown(text)} is no kind of question: write {', '.join(KINDS)}.")


def check_frames(text: str) -> str:
    """Return a sampling: a number of frames, or a sampling as ``benchmark.yaml`` has it."""
    plain = text.strip()
    return parse_sampling(f"uniform:{plain}" if plain.isdecimal() else plain).text


def typed_question(kind: Kind, question: str, options: str = "", answer: str = "") -> TypedQuestion:
    """Return a question as it was typed: options with ; between them, the answer as letters.

    An option's own words are an answer as well.
    """
    if kind == "open":
        if not answer.strip():
            raise ReelbenchError("An open question needs a reference answer.")
        return TypedQuestion(question, reference=answer.strip())
    if kind == "yesno":
        word = answer.strip().lower()
        if word not in ("yes", "no", "y", "n"):
            raise ReelbenchError(f"{shown(answer)} is neither yes nor no.")
        return TypedQuestion(question, _YES_NO, ("A" if word[0] == "y" else "B",))
    texts = check_options(options)
    letters = tuple(sorted(_letters_in(answer, texts)))
    if not letters:
        last = LETTERS[len(texts) - 1]
        raise ReelbenchError(f"{shown(answer)} is no answer: write a letter from A to {last}.")
    if kind == "single" and len(letters) > 1:
        raise ReelbenchError("A question of kind single has one right answer.")
    return TypedQuestion(question, texts, letters)


def check_options(text: str) -> tuple[str, ...]:
    """Return the options that were typed with ; between them."""
    texts = tuple(part.strip() for part in text.split(";") if part.strip())
    if not 2 <= len(set(texts)) == len(texts) <= len(LETTERS):
        raise ReelbenchError("Write at least two different options, with ; between them.")
    return texts


def _letters_in(answer: str, texts: Sequence[str]) -> set[str]:
    """Return the letters of an answer in letters, or in the words of options; none if neither."""
    known = LETTERS[: len(texts)]
    letters = {sign for sign in answer.upper() if sign not in " ,;"}
    if letters <= set(known):
        return letters
    by_words = {text.casefold(): letter for text, letter in zip(texts, known, strict=False)}
    words = [part.strip().casefold() for part in answer.split(";") if part.strip()]
    return {by_words[word] for word in words} if all(word in by_words for word in words) else set()


def _path(text: str) -> Path:
    """Return the path in a text, as people type it and as terminals drop it."""
    plain = text.strip()
    if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "'\"":
        plain = plain[1:-1]
    return Path(plain).expanduser()


@contextmanager
def _new_folder(root: Path) -> Iterator[Path]:
    """Yield a folder to fill, which gets its name at the end, and is removed where that fails."""
    check_folder(root)
    beside = next(parent for parent in root.absolute().parents if parent.is_dir())
    folder = beside / f".{root.name}-{os.getpid()}.partial"
    folder.mkdir()
    try:
        yield folder
        check_folder(root)
        root.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(root)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _place_videos(options: StarterOptions, folder: Path, notes: list[str]) -> list[str]:
    """Put the videos into the benchmark, and return their paths there; render one if need be."""
    if not options.videos:
        (folder / "media").mkdir()
        (folder / "truth").mkdir()
        video, truth = folder / f"media/{EXAMPLE}.mp4", folder / f"truth/{EXAMPLE}.json"
        run_isolated(synthesize, video, compose(0, EXAMPLE), truth)
        return [f"media/{EXAMPLE}.mp4"]
    placed: list[str] = []
    needed = max(MOST_EXAMPLES, len(options.written))
    elsewhere = 0
    for video in track(options.videos, "Linking videos", len(options.videos), "videos"):
        if len(placed) >= needed and video.stat().st_dev != folder.stat().st_dev:
            elsewhere += 1  # on another disk: a copy of all of them may be large
            continue
        below = video.relative_to(options.video_folder or video.parent).as_posix()
        if fault := _fault(video, f"media/{below}"):
            notes.append(f"{shown(below)} was left out: {fault}.")
            continue
        link_or_copy(video, folder / f"media/{below}")
        placed.append(f"media/{below}")
    if not placed:
        raise ReelbenchError("\n".join([*notes[:10], "There is no video that can be used."]))
    if elsewhere:
        more = counted(elsewhere, "more video")
        notes.append(f"{more}, on another disk: copy those you need into {options.root / 'media'}.")
    return placed


def _fault(video: Path, name: str) -> str:
    """Return why a video cannot be part of a benchmark under a name; empty where it can."""
    if any("\ud800" <= sign <= "\udfff" for sign in name):
        return "a name that is not UTF-8"
    unreadable = "a file that cannot be opened as a video"
    return path_escapes(name) or ("" if duration_of(video) else unreadable)


def _items(options: StarterOptions, paths: Sequence[str]) -> Iterator[Item]:
    if options.written:
        for number, each in enumerate(options.written):
            yield Item(
                id=f"q-{number + 1}",
                kind=options.kind,
                media=(Media(paths[number % len(paths)]),),
                question=each.question,
                options=each.options,
                answer=each.answer,
                reference=each.reference,
            )
    elif not options.videos:
        yield from _example_items(options.kind)
    else:
        for number, path in enumerate(paths[:MOST_EXAMPLES], 1):
            yield _placeholder(options.kind, number, path)


def _example_items(kind: Kind) -> Iterator[Item]:
    """Yield questions about the example video, whose answers are facts."""
    (every,) = scene_items(0, [compose(0, EXAMPLE)], len(BUILDERS))
    asked = "single" if kind == "open" else kind
    seen = [item for item in every if item.kind == asked and "hearing" not in item.tag("senses")]
    if kind == "open":  # without options, a question cannot be about them
        seen = [item for item in seen if " these " not in item.question]
    for number, item in enumerate(seen[:MOST_EXAMPLES], 1):
        plain = item.replace(id=f"q-{number}", provenance={"source": "rendered"})
        if kind == "open":
            reference = ", ".join(item.correct)
            plain = plain.replace(kind="open", options=(), answer=(), reference=reference)
        yield plain


def _placeholder(kind: Kind, number: int, path: str) -> Item:
    """Return a question to be replaced, about someone's own video."""
    options = {
        "single": ("the right answer", "a wrong answer", "another one", "a third one"),
        "multi": ("a right answer", "another right one", "a wrong answer", "another wrong one"),
        "yesno": _YES_NO,
        "open": (),
    }[kind]
    answer = {"single": ("A",), "multi": ("A", "B"), "yesno": ("A",), "open": ()}[kind]
    return Item(
        id=f"q-{number}",
        kind=kind,
        media=(Media(path),),
        question=f"{TO_REPLACE} your question about {Path(path).name}",
        options=options,
        answer=answer,
        reference=f"{TO_REPLACE} a reference answer." if kind == "open" else None,
        tags=freeze({"category": "example"}),
    )
