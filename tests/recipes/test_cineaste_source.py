"""Movies with a ``movie.yaml`` are read, and all that is wrong with them is told at once."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import yaml
from filming import SRT
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of_file
from reelbench.recipes.cineaste.source import Movie, MovieSourceError, Sources, movies_in

Describe = Callable[..., Path]


@pytest.fixture
def describe(tmp_path: Path, clip: Path) -> Describe:
    """Write a movie into the source: two scenes, of which any field can be given."""

    def write(
        name: str = "keeper", *scenes: object, text: str | None = None, **fields: object
    ) -> Path:
        folder = tmp_path / "source" / name
        (folder / "scenes").mkdir(parents=True)
        for number in (1, 2):
            shutil.copy(clip, folder / "scenes" / f"{number}.mp4")
        plain = {
            "title": "The Keeper",
            "summary": "A ship is saved.",
            "scenes": list(scenes) or [scene(1), scene(2)],
        }
        record = {key: value for key, value in (plain | fields).items() if value is not ...}
        (folder / "movie.yaml").write_text(
            text if text is not None else yaml.safe_dump(record, sort_keys=False)
        )
        return tmp_path / "source"

    return write


def scene(number: int, **fields: object) -> dict[str, object]:
    plain = {
        "video": f"scenes/{number}.mp4",
        "title": f"Scene {number}",
        "logline": f"It happens {number}.",
    }
    return {key: value for key, value in (plain | fields).items() if value is not ...}


def told(source: Path) -> str:
    """What is wrong, with the place of the source taken out."""
    with pytest.raises(MovieSourceError) as error:
        movies_in(source)
    return str(error.value).replace(f"{source}/", "")


def ids(sources: Sources) -> list[str]:
    return [movie.id for movie in sources.rows]


def test_a_movie_is_its_scenes_in_order(describe: Describe) -> None:
    source = describe("keeper", scene(2, captions="said.srt"), scene(1), year=1954)
    describe("Alba-2.0")
    (source / "keeper" / "said.srt").write_text(SRT)
    (source / "keeper" / "scenes" / "1.en.vtt").write_text(
        "WEBVTT\n\n00:00.100 --> 00:00.300\nLand!\n"
    )
    (source / ".git").mkdir()
    (source / "notes.txt").write_text("not a movie")

    read = movies_in(source)
    assert ids(read) == ["Alba-2.0", "keeper"]
    assert read.broken == ()
    assert read.warnings == ()
    keeper = read.rows[1]
    assert (keeper.title, keeper.summary, keeper.year) == ("The Keeper", "A ship is saved.", 1954)
    second, first = keeper.scenes
    assert second.video == "keeper/scenes/2.mp4"
    assert second.captions_file == "keeper/said.srt"
    assert second.captions == "Hold on!\nI can't."
    assert second.cues == ((0.0, 0.4, "Hold on!"), (0.5, 0.9, "I can't."))
    assert second.seconds == pytest.approx(1.0, abs=0.05)
    assert second.sha256 == digest_of_file(source / second.video)
    assert first.captions == "Land!"
    assert first.captions_file == "keeper/scenes/1.en.vtt"
    assert read.rows[0].scenes[0].captions == ""
    assert read.rows[0].year is None


def test_a_movie_does_not_depend_on_where_it_lies(describe: Describe, tmp_path: Path) -> None:
    source = describe()
    before = movies_in(source).rows
    moved = Path(shutil.move(source, tmp_path / "moved elsewhere"))
    assert msgspec.json.encode(movies_in(moved).rows) == msgspec.json.encode(before)
    assert msgspec.json.decode(msgspec.json.encode(before), type=tuple[Movie, ...]) == before


def test_everything_wrong_is_listed_at_once(describe: Describe) -> None:
    source = describe("bad name", title=1917, summary=" ", year="1954")
    describe("empty", text="")
    describe("folder-only", scenes=[])
    describe(
        "fields",
        scene(1, title=..., logline=None, caption="x.srt"),
        scene(2, captions="x.txt"),
        "scenes/1.mp4",
        sumary="s",
    )
    (source / "no-file").mkdir()
    said = told(source)
    for part in [
        "bad name: folder: found 'bad name', expected at most 100 of the characters",
        "bad name/movie.yaml:1: title: found 1917, expected text (put a number in quotes",
        "bad name/movie.yaml:2: summary: found ' ', expected text",
        "bad name/movie.yaml:10: year: found '1954', expected a year from 1870 to 2100",
        "empty/movie.yaml: file: found nothing, expected a mapping",
        "folder-only/movie.yaml:3: scenes: found an empty list, expected a list of at least one",
        "fields/movie.yaml:4: scenes[0].title: found nothing",
        "scenes[0].logline: found nothing",
        "scenes[0].caption: found an unknown field, expected a known field: perhaps 'captions'",
        "scenes[1].captions: found 'x.txt', expected a relative path",
        "scenes[2]: found 'scenes/1.mp4', expected a mapping",
        "fields/movie.yaml:12: sumary: found an unknown field, expected a known field: perhaps 'summary'",
        "no-file/movie.yaml: file: found no such file",
        "13 problems to fix first.",
    ]:
        assert part in said, said


@pytest.mark.parametrize(
    ("video", "found"),
    [
        ("scenes/9.mp4", "keeper/scenes/9.mp4, no such file"),
        ("scenes", "keeper/scenes, a folder"),
        ("../other/1.mp4", "it leaves the folder"),
        ("/etc/passwd", "an absolute path"),
        ("https://a.b/c.mp4", "a URL"),
        ("a\\b.mp4", "a backslash"),
        ("x" * 5000 + ".mp4", "no such file"),
        ("a\0b.mp4", "a control character"),
        (["scenes/1.mp4"], "a list"),
        ("link.mp4", "a link to"),
        ("loop.mp4", "not a regular file"),
        ("pipe.mp4", "not a regular file"),
    ],
)
def test_a_video_is_a_file_in_the_movies_folder(
    describe: Describe, tmp_path: Path, clip: Path, video: object, found: str
) -> None:
    source = describe("keeper", scene(1, video=video), scene(2))
    (source / "keeper" / "link.mp4").symlink_to(clip)
    (source / "keeper" / "loop.mp4").symlink_to("loop.mp4")
    os.mkfifo(source / "keeper" / "pipe.mp4")
    said = told(source)
    assert "keeper/movie.yaml:4: scenes[0].video: found" in said
    assert found in said
    assert said.endswith("1 problem to fix first.")


def test_links_within_a_movie_are_followed_and_those_out_of_the_source_are_not(
    describe: Describe, tmp_path: Path
) -> None:
    source = describe("keeper", scene(1, video="one.mp4"))
    (source / "keeper" / "one.mp4").symlink_to("scenes/1.mp4")
    assert movies_in(source).rows[0].scenes[0].video == "keeper/one.mp4"
    outside = Path(shutil.copytree(source / "keeper", tmp_path / "outside", symlinks=True))
    (source / "other").symlink_to(outside)
    assert f"other: folder: found a link to {outside}" in told(source)
    (source / "other").unlink()
    (source / "keeper" / "one.srt").symlink_to(outside / "movie.yaml")
    assert "scenes[0].captions: found keeper/one.srt: keeper/one.srt, a link to" in told(source)


@pytest.mark.parametrize(
    ("captions", "found"),
    [(b"no times in here", "has no line of the form"), (b"\xff\xfe\x00", "is not UTF-8")],
)
def test_captions_that_cannot_be_read_are_refused(
    describe: Describe, captions: bytes, found: str
) -> None:
    source = describe()
    (source / "keeper" / "scenes" / "2.srt").write_bytes(captions)
    said = told(source)
    assert "keeper/movie.yaml:7: scenes[1].captions: found keeper/scenes/2.srt: " in said
    assert found in said


def test_captions_that_are_said_must_be_there(describe: Describe) -> None:
    source = describe("keeper", scene(1, captions="gone.srt"))
    assert "scenes[0].captions: found keeper/gone.srt: keeper/gone.srt, no such file" in told(
        source
    )


def test_a_video_twice_is_a_slip(describe: Describe) -> None:
    source = describe("keeper", scene(1), scene(2), scene(1))
    assert "scenes[2].video: found keeper/scenes/1.mp4, as in scenes[0].video" in told(source)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("title: [", "movie.yaml:1: file: found"),
        ("title: a\ntitle: b", "movie.yaml:2: file: found 'title' twice"),
        (
            "title: a\nscenes:\n- video: a.mp4\n  title: b\n  video: c.mp4",
            "movie.yaml:5: file: found scenes[0].video twice (is a dash missing?)",
        ),
        ("title: \0", "special characters are not allowed"),
        ("title: 2020-13-45", "expected plain YAML"),
        ("!!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("[" * 5000, "nesting deeper than 64 levels"),
        ("- a list", "found a list, expected a mapping"),
        ("&a [*a]", "found a list, expected a mapping"),
        (
            "title: &a {x: *a}\nsummary: 0x" + "f" * 6000 + "\nscenes: 3",
            "a number of more than 1024 bits",
        ),
        ('title: "\\ud800"\nsummary: s\nscenes: {}', "title: found"),
        (
            "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\ntitle: &d [*c,*c,*c,*c,*c,*c]",
            "title: found a list",
        ),
    ],
)
def test_hostile_yaml_is_a_sentence(describe: Describe, text: str, found: str) -> None:
    said = told(describe(text=text))
    assert found in said
    said.encode(errors="strict")


def test_yaml_of_other_editors_is_read(describe: Describe) -> None:
    source = describe()
    path = source / "keeper" / "movie.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert ids(movies_in(source)) == ["keeper"]
    path.write_bytes(b"title: caf\xe9\n")
    assert "movie.yaml:1: file: found byte 0xE9, expected UTF-8" in told(source)


def test_a_broken_video_costs_its_own_movie(describe: Describe, clip: Path) -> None:
    source = describe("whole")
    describe("broken")
    describe("sound")
    describe("half", scene(1, video="half.mkv"))
    (source / "broken" / "scenes" / "1.mp4").write_bytes(b"not a video")
    (source / "broken" / "scenes" / "2.mp4").write_bytes(clip.read_bytes()[:700])
    make_sound(source / "sound" / "scenes" / "2.mp4")
    half = make_video(source / "half" / "half.mkv", seconds=8.0)
    half.write_bytes(half.read_bytes()[: half.stat().st_size // 3])
    read = movies_in(source)
    assert ids(read) == ["whole"]
    reasons = dict(read.broken)
    assert list(reasons) == ["broken", "half", "sound"]
    assert "broken/scenes/1.mp4: cannot be decoded" in reasons["broken"]
    assert "; broken/scenes/2.mp4: " in reasons["broken"]
    assert "half/half.mkv: is cut: " in reasons["half"]
    assert "declares 8.0 s but ends at" in reasons["half"]
    assert reasons["sound"] == "sound/scenes/2.mp4: sound without a picture"


def make_sound(path: Path) -> None:
    import av
    from videos import tone

    with av.open(str(path), "w") as target:
        stream = target.add_stream("aac", rate=16000, layout="mono")
        for frame in tone(1.0):
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))


def test_what_is_no_source_is_said_so(tmp_path: Path, describe: Describe) -> None:
    with pytest.raises(ReelbenchError, match="is not a folder"):
        movies_in(tmp_path / "nowhere")
    (tmp_path / "bare" / ".git").mkdir(parents=True)
    assert "found no folders in it" in told(tmp_path / "bare")
    source = describe()
    (source / "clips.csv").write_text("videoid\n")
    with pytest.raises(ReelbenchError, match="holds both"):
        movies_in(source)
