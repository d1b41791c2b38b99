"""What is annotated: labels in an order that works, and files of every name and state."""

import json
import os
from pathlib import Path

import pytest
from annotating import Given, write_sound
from videos import make_video

from reelbench.annotate import registry
from reelbench.annotate.annotate import annotate, clips_in
from reelbench.annotate.registry import in_order, load_operator


@pytest.mark.usefixtures("operators")
class TestOrder:
    def test_a_label_comes_after_all_that_it_reads(self) -> None:
        names = in_order(list(registry.OPERATORS))
        assert sorted(names) == sorted(registry.OPERATORS)
        for place, name in enumerate(names):
            operator = load_operator(name)
            assert set(operator.needs) | set(operator.may_use) <= set(names[:place]), name

    def test_what_is_needed_is_made_too_and_what_may_be_used_is_not(self) -> None:
        assert in_order(["reader"]) == ["plain", "reader"]
        assert in_order(["maybe"]) == ["maybe"]
        assert in_order(["maybe", "reader"]) == ["plain", "reader", "maybe"]
        speaker = set(in_order(["speaker"]))
        assert speaker == {"shots", "faces", "tracks", "sound", "mouth", "speaker"}

    def test_said_twice_is_said_once(self) -> None:
        assert in_order(["plain", "reader", "plain", "reader"]) == ["plain", "reader"]

    def test_an_operator_gets_what_it_may_use_where_it_was_asked_for(self, given: Given) -> None:
        given.add("a.mp4")
        given.annotate("maybe")
        assert given.labels("a.mp4")["maybe"]["value"] == {"read": None}
        given.annotate("maybe", "reader")
        assert given.labels("a.mp4")["maybe"]["value"] == {"read": "x"}
        found = given.annotate("maybe")
        assert found.worked == 0
        assert given.labels("a.mp4")["maybe"]["value"] == {"read": None}


class TestFiles:
    def test_what_is_no_clip_is_rejected_with_its_name_and_the_others_go_on(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("good.mp4")
        film = given.films[7].read_bytes()
        (given.clips / "nothing.mp4").touch()
        (given.clips / "words.mp4").write_text("This is no video at all.\n" * 50)
        (given.clips / "half.mp4").write_bytes(film[: len(film) // 3])
        (given.clips / "noise.mkv").write_bytes(bytes(range(256)) * 40)
        (given.clips / "notes.txt").write_text("not even called a clip")
        (given.clips / "folder.mp4").mkdir()
        (given.clips / "dangling.mp4").symlink_to(given.clips / "nowhere.mp4")
        os.mkfifo(given.clips / "pipe.mp4")
        assert given.command("format,plain") == 1
        told = capsys.readouterr().err
        broken = given.summary()["broken"]
        assert set(broken) == {"half.mp4", "noise.mkv", "nothing.mp4", "words.mp4"}
        for name, reason in broken.items():
            assert f"rejected: {given.clips / name}" in told
            assert name in reason
        assert "Traceback" not in told
        assert set(given.summary()["clips"]) == {"good.mp4"}
        assert "value" in given.labels("good.mp4")["format"]

    def test_nothing_but_broken_files(
        self, given: Given, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (given.clips / "a.mp4").write_text("no video")
        assert given.command("format") == 1
        assert "rejected: " in capsys.readouterr().err
        assert set(given.summary()["broken"]) == {"a.mp4"}

    def test_a_clip_that_is_damaged_inside_gets_a_label_or_a_reason(self, given: Given) -> None:
        whole = make_video(given.clips.with_name("whole.mp4"), seconds=1, sound=1)
        data = bytearray(whole.read_bytes())
        middle = len(data) // 2
        data[middle : middle + 6000] = bytes(n * 37 % 251 for n in range(6000))
        (given.clips / "damaged.mp4").write_bytes(data)
        given.add("good.mp4")
        found = given.annotate("format", "fingerprint", "loudness")
        assert found.worked == 6
        for label in given.labels("damaged.mp4").values():
            assert set(label) - {"operator"} <= {"value", "none", "failed"}
        assert not [failure for failure in found.failures if failure[0] == "good.mp4"]

    def test_any_name_of_a_file_will_do(self, given: Given) -> None:
        names = [
            "a name with  blanks.mp4",
            "ünïcode/映画 🎬.mp4",
            "-dash.mp4",
            "quote'\"and$dollar.mp4",
            "new\nline.mp4",
            "dots.v1.2.mp4",
            "UPPER.MP4",
            "[x]*?.mp4",
            os.fsdecode(b"no-utf8-\xff.mp4"),
        ]
        given.add(*names)
        found = given.annotate("format")
        assert not found.failures
        assert set(found.clips) == set(names)
        for name in names:
            assert given.labels(name)["format"]["value"]["seconds"] > 0
        assert given.annotate("format").worked == 0

    @pytest.mark.parametrize("name", ["映" * 80 + ".mp4", "l" * 251 + ".mp4"], ids=["wide", "long"])
    def test_a_name_as_long_as_names_may_be(self, given: Given, name: str) -> None:
        given.add(name, "映画.mp4")
        found = given.annotate("format")
        assert "value" in given.labels("映画.mp4")["format"]
        is_labelled = len(list((given.out / "labels").iterdir())) == 2
        assert is_labelled or name in found.broken, "it has labels, or a reason why not"

    def test_links_to_clips_are_clips(self, given: Given) -> None:
        given.add("a.mp4")
        (given.clips / "link.mp4").symlink_to("a.mp4")
        found = given.annotate("plain")
        assert set(found.clips) == {"a.mp4", "link.mp4"}
        assert found.worked == 1
        assert given.labels("link.mp4") == given.labels("a.mp4")

    def test_sound_alone(self, given: Given) -> None:
        write_sound(given.clips / "tone.wav")
        given.add("a.mp4")
        found = given.annotate("format", "loudness", "fingerprint", "quality")
        assert not found.failures
        labels = given.labels("tone.wav")
        assert labels["loudness"]["value"]["lufs"] == pytest.approx(-14, abs=4)
        assert labels["format"]["value"]["width"] == 0
        for label in ("fingerprint", "quality"):
            assert "no video" in labels[label]["none"]

    def test_a_picture_without_sound(self, given: Given) -> None:
        make_video(given.clips / "mute.mp4", seconds=0.6, rate=5)
        found = given.annotate("loudness", "fingerprint")
        assert not found.failures
        assert "none" in given.labels("mute.mp4")["loudness"]
        assert "value" in given.labels("mute.mp4")["fingerprint"]

    def test_one_clip_may_be_the_source(self, given: Given) -> None:
        given.add("a.mp4", "b.mp4")
        found = annotate(given.clips / "b.mp4", ["plain"], given.out, given.engine)
        assert list(found.clips) == ["b.mp4"]
        assert "value" in given.labels("b.mp4")["plain"]
        assert given.annotate("plain").worked == 1, "it is known when its folder is the source"

    @pytest.mark.parametrize("place", ["labels of mine", "."])
    def test_labels_inside_the_folder_of_clips_are_not_clips(
        self, given: Given, place: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given.add("a.mp4")
        given.out = given.clips / place
        assert given.command("plain", "--preview") == 0
        assert len(list(given.clips.rglob("*.mp4"))) == 2, "there is a preview"
        assert given.command("plain") == 0
        assert list(given.summary()["clips"]) == ["a.mp4"]
        assert "0 pieces of work done now." in capsys.readouterr().err

    @pytest.mark.parametrize("names", [("a.mp4", "a.m4v"), ("b.v1.mp4", "b.v2.mp4")], ids=str)
    def test_each_clip_has_its_own_preview(self, given: Given, names: tuple[str, str]) -> None:
        given.add(*names)
        assert given.command("format", "--preview") == 0
        assert len(list((given.out / "preview").rglob("*.mp4"))) == 2
        assert len(list((given.out / "preview").rglob("*.png"))) == 2

    def test_no_preview_of_a_sound(self, given: Given, capsys: pytest.CaptureFixture[str]) -> None:
        write_sound(given.clips / "tone.wav")
        given.add("z.mp4")
        assert given.command("format", "--preview") == 0
        assert "tone.wav: contains no video" in capsys.readouterr().err
        assert len(list((given.out / "preview").rglob("*.png"))) == 1


def test_clips_come_in_the_order_of_their_names(given: Given) -> None:
    given.add("b.mp4", "a/z.mp4", "a.mp4", "c.mov")
    clips, broken = clips_in(given.clips)
    assert list(clips) == sorted(clips, key=lambda name: Path(name))
    assert not broken
    assert len({clip.digest for clip in clips.values()}) == 4


def test_clips_that_show_the_same_are_named(given: Given) -> None:
    film = given.films[-1].read_bytes()
    (given.clips / "whole.mp4").write_bytes(film)
    (given.clips / "same.mp4").write_bytes(film + b"\0\0\0\x0cfreemore")
    given.annotate("fingerprint")
    (pair,) = json.loads((given.out / "annotate.json").read_text())["twins"]
    assert {pair["longer"], pair["shorter"]} == {"whole.mp4", "same.mp4"}
    given.annotate("plain")
    assert "twins" not in json.loads((given.out / "annotate.json").read_text())
