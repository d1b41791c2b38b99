"""Media are found however a folder was unzipped; what is not certain is reported, not guessed."""

import os
import unicodedata
from pathlib import Path

import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.interop.imports.media_files import (
    FoundMedium,
    MediaFinder,
    media_names,
    place_media,
)

VIDEO = b"\0\0\0\x20ftypisom" + b"\0" * 20


def lay(root: Path, *names: str) -> MediaFinder:
    """Write small files, each with a content of its own, and index them."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(VIDEO + name.encode())
    root.mkdir(exist_ok=True)
    return MediaFinder(root)


@pytest.mark.parametrize(
    ("wanted", "there", "how"),
    [
        ("x.mp4", "videos_chunked_01/data/x.mp4", "path"),
        ("videos/x.mp4", "videos/videos/x.mp4", "path"),
        ("videos/x.mp4", "videos_chunked_01/data/x.mp4", "name"),
        ("x.mp4", "data/x.mkv", "ending"),
        ("x.mp4", "x.MP4", "ending"),
        ("x", "x.webm", "ending"),
        ("clip.1", "clip.1.mp4", "ending"),
        ("x.mp4", "x.mp4.mp4", "ending"),
        ("-aBc_1", "a/-aBc_1.mp4", "ending"),
        ("_x y.mp4", "a/_x y.mp4", "path"),
        ("X.mp4", "a/x.mp4", "case"),
        ("/data/user/videos/x.mp4", "all/videos/x.mp4", "name"),
        (r"C:\data\videos\x.mp4", "x.mp4", "name"),
        (r"videos\x.mp4", "videos/x.mp4", "path"),
        ("../videos/./x.mp4", "videos/x.mp4", "path"),
        ("file:///data/a%20b.mp4", "a b.mp4", "name"),
        ("https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=3", "dQw4w9WgXcQ.mp4", "ending"),
        ("https://youtu.be/-Qw4w9WgXcQ", "v/-Qw4w9WgXcQ.mkv", "ending"),
        ("https://example.org/a/x.mp4?token=1", "x.mp4", "path"),
        ("dQw4w9WgXcQ", "A title, long [dQw4w9WgXcQ].webm", "id"),
        ("x.wav", "x.flac", "ending"),
        ('"x.mp4" ', "x.mp4", "path"),
    ],
)
def test_a_medium_is_found(wanted: str, there: str, how: str, tmp_path: Path) -> None:
    found = lay(tmp_path, there, "other/y.mp4", "notes.txt").find(wanted)
    assert (found.path, found.how, found.reason) == (tmp_path / there, how, "")


@pytest.mark.parametrize(("listed", "disk"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_one_letter_in_two_spellings_is_one_letter(listed: str, disk: str, tmp_path: Path) -> None:
    name = "Café Größe.mp4"
    there = unicodedata.normalize(disk, name)  # type: ignore[arg-type]
    found = lay(tmp_path, there).find(unicodedata.normalize(listed, name))  # type: ignore[arg-type]
    assert found.path == tmp_path / there


def test_case_matters_where_two_names_differ_in_it_alone(tmp_path: Path) -> None:
    finder = lay(tmp_path, "aBc.mp4", "abC.mp4")
    assert finder.find("aBc").path == tmp_path / "aBc.mp4"
    unclear = finder.find("ABC")
    assert (unclear.reason, unclear.why) == ("several", "2 files fit 'ABC': aBc.mp4, abC.mp4")


def test_several_files_of_a_name_are_told_apart_by_folders_then_hints(tmp_path: Path) -> None:
    finder = lay(tmp_path, "1_plot/1.mp4", "2_count/1.mp4", "3_ego/part/1.mp4")
    assert finder.find("x/2_count/1.mp4").below == "2_count/1.mp4"
    assert finder.find("1.mp4", ["Plot"]).below == "1_plot/1.mp4"
    assert finder.find("ego/1.mp4").below == "3_ego/part/1.mp4"
    assert finder.find("1.mp4").reason == "several"
    assert finder.find("1.mp4", ["p"]).reason == "several"


def test_copies_of_one_file_are_one_file(tmp_path: Path) -> None:
    lay(tmp_path, "a/x.mp4")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/x.mp4").write_bytes((tmp_path / "a/x.mp4").read_bytes())
    assert MediaFinder(tmp_path).find("x.mp4").below == "a/x.mp4"


def test_two_names_never_share_a_file_that_their_folders_do_not_give_them(tmp_path: Path) -> None:
    finder = lay(tmp_path, "taskB/1.mp4", "z/2.mp4")
    requests = [(name, ()) for name in ("taskA/1.mp4", "taskB/1.mp4", "p/2.mp4", "q/2.mp4",
                                        "./p/2.mp4")]  # fmt: skip
    found = finder.find_all(requests)
    assert [found[one].below for one in requests] == ["", "taskB/1.mp4", "", "", ""]
    lost = found["p/2.mp4", ()]
    assert (lost.reason, lost.why) == (
        "shared",
        "the file that fits, z/2.mp4, fits 2 names of the list, and their folders do not tell "
        "which is meant",
    )
    same = [("d/z/2.mp4", ()), ("z/2.mp4", ("hint",))]
    assert all(one.is_found for one in finder.find_all(same).values())


def found_paths(finder: MediaFinder, *names: str) -> list[str]:
    found = finder.find_all([(name, ()) for name in names])
    return [f"{found[name, ()].wanted} {found[name, ()].below}".strip() for name in names]


def test_names_that_differ_in_case_alone_are_one_file_in_the_spelling_it_has(
    tmp_path: Path,
) -> None:
    finder = lay(tmp_path, "a.mp4", "d/B.mp4", "C.mp4", "c.mp4", "E.mp4")
    assert found_paths(finder, "A.mp4", "a.mp4", "A") == ["a.mp4 a.mp4"] * 3
    assert found_paths(finder, "x/D/b.mp4", "d/B") == ["d/B d/B.mp4"] * 2
    assert found_paths(finder, "C.mp4", "c.mp4") == ["C.mp4 C.mp4", "c.mp4 c.mp4"]
    assert found_paths(finder, "e.mp4", "e") == ["e E.mp4"] * 2  # none is spelled as the file


def test_an_exact_name_keeps_its_file_whoever_comes_near_it(tmp_path: Path) -> None:
    finder = lay(tmp_path, "all/x.mp4", "p/y.mp4", "A film [vid1].mp4")
    found = finder.find_all([("p/x.mp4", ()), ("q/x.mov", ()), ("q/X.mp4", ())])
    assert [one.reason for one in found.values()] == ["", "shared", "shared"]
    assert found["q/X.mp4", ()].why == (
        "no file has this name, and the nearest, all/x.mp4, is the exact one of others"
    )
    assert found_paths(finder, "A film [vid1].mp4", "vid1") == [
        "A film [vid1].mp4 A film [vid1].mp4",
        "vid1",
    ]
    assert found_paths(finder, "q/y.mp4", "p/Y.mp4") == ["q/y.mp4", "p/Y.mp4 p/y.mp4"]


def test_links_are_followed_to_media_only_and_not_in_circles(tmp_path: Path) -> None:
    lay(tmp_path / "disk", "far/x.mp4")
    (tmp_path / "disk/secret").write_text("a password")
    root = tmp_path / "media"
    root.mkdir()
    (root / "far").symlink_to(tmp_path / "disk/far")
    (root / "round").symlink_to(root)
    (root / "s.mp4").symlink_to(tmp_path / "disk/secret")
    (root / "s.srt").symlink_to(tmp_path / "disk/secret")
    (tmp_path / "disk/far.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nhello\n")
    (root / "far.srt").symlink_to(tmp_path / "disk/far.srt")
    (root / "gone.mp4").symlink_to(tmp_path / "nowhere")
    finder = MediaFinder(root)
    assert finder.find("x.mp4").path == root / "far/x.mp4"
    assert finder.find("s.mp4").why.endswith("secret, which is no medium")
    assert finder.find("s.srt").why.endswith("secret, which is no medium")
    assert finder.find("far.srt").path == root / "far.srt"
    assert "nowhere, where there is no file" in finder.find("gone.mp4").why


@pytest.mark.parametrize(
    ("content", "reason", "why"),
    [
        (b"", "empty", "0 bytes"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "damaged", "git lfs pull"),
        (b"\n<!DOCTYPE html><html>", "damaged", "a web page"),
    ],
)
def test_what_only_looks_like_a_video_is_refused(
    content: bytes, reason: str, why: str, tmp_path: Path
) -> None:
    (tmp_path / "x.mp4").write_bytes(content)
    found = MediaFinder(tmp_path).find("x.mp4")
    assert (found.reason, found.path) == (reason, None)
    assert why in found.why


def test_what_is_there_in_another_form_is_named(tmp_path: Path) -> None:
    finder = lay(tmp_path, "frames/x/1.jpg", "frames/x/2.jpg", "y.wav", "._z.mp4", ".git/z.mp4")
    assert "frames/x/ is a folder of 2 images" in finder.find("x.mp4").why
    assert "y.wav is of another kind (sound)" in finder.find("y.mp4").why
    assert finder.find("y").path == tmp_path / "y.wav"
    assert finder.find("z.mp4").reason == "missing"
    assert finder.find("https://example.org/w.mp4").reason == "link"
    assert finder.find("x" * 5000).reason == finder.find("a\0b").reason == "missing"


def test_the_folder_that_is_made_is_not_searched(tmp_path: Path) -> None:
    lay(tmp_path, "out/media/x.mp4")
    assert MediaFinder(tmp_path, [tmp_path / "out"]).find("x.mp4").reason == "missing"


def test_names_in_the_benchmark_do_not_depend_on_how_it_was_unzipped(tmp_path: Path) -> None:
    wanted = ["/mnt/a/videos/x.mp4", "/mnt/a/clips/y.mp4", "videos/z", "media/w.mp4", "v:1.mp4",
              "https://youtu.be/dQw4w9WgXcQ", "~w.mp4"]  # fmt: skip
    expected = ["media/videos/x.mp4", "media/clips/y.mkv", "media/videos/z.mp4", "media/w.mp4",
                "media/v_1.mp4", "media/dQw4w9WgXcQ.mp4", "media/_w.mp4"]  # fmt: skip
    files = ["x.mp4", "y.mkv", "z.mp4", "w.mp4", "v:1.mp4", "dQw4w9WgXcQ.mp4", "~w.mp4"]
    for prefix in ("", "chunk_1/data/"):
        finder = lay(tmp_path / f"p{prefix[:5]}", *(prefix + name for name in files))
        names = media_names(finder.find(name) for name in wanted)
        assert list(names.values()) == expected


def test_two_files_of_one_name_get_two_paths_in_the_benchmark(tmp_path: Path) -> None:
    finder = lay(tmp_path, "a/1.mp4", "b/1.mp4")
    names = media_names([finder.find("1.mp4", ["a"]), finder.find("1.mp4", ["b"])])
    assert list(names.values()) == ["media/a/1.mp4", "media/b/1.mp4"]


def test_links_that_end_alike_get_paths_of_their_own_and_no_name_is_too_long(
    tmp_path: Path,
) -> None:
    links = [f"https://example.org/{folder}/video.mp4" for folder in "ab"]
    long = f"https://example.org/{'é' * 300}.mp4"
    names = list(media_names(map(lay(tmp_path).find, [*links, long])).values())
    assert len(set(names)) == 3
    assert all(name.startswith("media/video-") for name in names[:2])
    assert len(Path(names[2]).name.encode()) < 255


def test_media_are_linked_again_without_harm_and_never_overwrite(tmp_path: Path) -> None:
    finder = lay(tmp_path / "source", "x.mp4", "y.mp4")
    out = tmp_path / "out"
    for _ in range(2):
        place_media({"media/x.mp4": finder.find("x"), "media/y.mp4": finder.folder / "y.mp4"}, out)
    assert (out / "media/x.mp4").samefile(tmp_path / "source/x.mp4")
    with pytest.raises(ReelbenchError, match=r"media/x\.mp4 exists and differs from"):
        place_media({"media/x.mp4": finder.find("y")}, out)
    with pytest.raises(ReelbenchError, match="no file"):
        place_media({"media/z.mp4": FoundMedium("z")}, out)
    assert sorted(os.listdir(out / "media")) == ["x.mp4", "y.mp4"]
