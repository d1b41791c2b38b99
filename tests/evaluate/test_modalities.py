"""What of a video goes over the wire: frames, sound, film and words, by condition and by card."""

import base64
import io
import json
import os
import shutil
import wave
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from servers import Server, completion, serving
from support import blind_benchmark, make_item, run_here
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.evaluate.run import run_benchmark
from reelbench.report.tables import leaderboard

SRT = """1
00:00:00,200 --> 00:00:00,800
Before the window.

2
00:00:01,500 --> 00:00:02,000
Inside the window.

3
00:00:02,900 --> 00:00:03,500
Across its end.

4
00:00:03,600 --> 00:00:03,900
After the window.
"""
IMAGE, SOUND, FILM, TEXT = "image_url", "input_audio", "video_url", "text"


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seconds of video with sound."""
    return make_video(tmp_path_factory.mktemp("m") / "a.mp4", sound=4.0)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(lambda *_: completion("B")) as server:
        yield server


@pytest.fixture
def root(video: Path, tmp_path: Path) -> Path:
    root = tmp_path / "b"
    (root / "media").mkdir(parents=True)
    shutil.copy(video, root / "media" / "a.mp4")
    return root


class Asked:
    """Runs a benchmark of one question about seconds 1 to 3, and tells what was sent."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root, self.server = root, server
        self.out = root.parent / "r"

    def benchmark(self, *items: Item, **protocol: Any) -> Benchmark:
        return blind_benchmark(self.root, *(items or (item(),)), **protocol)

    def model(self, **card: Any) -> str:
        path = self.root.parent / "card.yaml"
        fields = {"name": "far", "endpoint": self.server.url, "backoff": 0.01, "retries": 0, **card}
        path.write_text(json.dumps(fields))
        return str(path)

    def __call__(self, *items: Item, card: Any = None, **protocol: Any) -> list[dict[str, Any]]:
        """Return the parts of the one message that was sent, less the question."""
        before = len(self.server.requests)
        benchmark = self.benchmark(*items, **{"sampling": "uniform:4", **protocol})
        self.state = run_benchmark(benchmark, [self.model(**(card or {}))], self.out)
        assert self.state.failures == []
        (body,) = self.server.requests[before:]
        *shown, question = body["messages"][0]["content"]
        assert question["text"].startswith("What happens in scene 1?")
        return shown

    def failure(self, *items: Item, card: Any = None, **protocol: Any) -> str:
        """Return why the one question failed, which was never sent."""
        before = len(self.server.requests)
        benchmark = self.benchmark(*items, **protocol)
        (failure,) = run_benchmark(benchmark, [self.model(**(card or {}))], self.out).failures
        assert len(self.server.requests) == before
        assert failure["status"] == "error"
        return str(failure["error"])


@pytest.fixture
def asked(root: Path, server: Server) -> Asked:
    return Asked(root, server)


def item(number: int = 1, start: float | None = 1.0, end: float | None = 3.0, **more: Any) -> Item:
    extra = freeze(more.pop("medium", {}))
    media = (Media(more.pop("path", "media/a.mp4"), start, end, extra),)
    return make_item(number, media=media, **more)


def kinds(parts: list[dict[str, Any]]) -> list[str]:
    return [part["type"] for part in parts]


def heard(part: dict[str, Any]) -> np.ndarray:
    """Decode a sound as whoever hears it would."""
    assert part["input_audio"]["format"] == "wav"
    with wave.open(io.BytesIO(base64.b64decode(part["input_audio"]["data"]))) as file:
        assert (file.getframerate(), file.getnchannels()) == (16000, 1)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def film(part: dict[str, Any]) -> tuple[float, bool]:
    """The length of a video that was sent, and whether it has sound."""
    head, data = part["video_url"]["url"].split(",")
    assert head == "data:video/mp4;base64"
    with av.open(io.BytesIO(base64.b64decode(data))) as container:
        sound = bool(container.streams.audio)
        frames = list(container.decode(video=0))
    return frames[-1].time - frames[0].time + 1 / 25, sound


HEARS = {"hears": True}


@pytest.mark.parametrize(("modalities", "expected"), [
    ("T", []), ("A+T", [SOUND]), ("V+T", [IMAGE] * 4), ("V+A+T", [IMAGE] * 4 + [SOUND]),
])  # fmt: skip
def test_a_model_that_sees_and_hears(modalities: str, expected: list[str], asked: Asked) -> None:
    shown = asked(card=HEARS, modalities=modalities)
    assert kinds(shown) == expected
    if SOUND in expected:
        sound = heard(shown[-1])
        assert len(sound) == pytest.approx(2 * 16000, abs=16)
        assert np.abs(sound[8000:-8000]).max() > 5000  # the tone, not silence


def test_the_whole_sound_where_the_item_names_no_window(asked: Asked) -> None:
    (sound,) = asked(item(start=None, end=None), card=HEARS, modalities="A+T")
    assert len(heard(sound)) == pytest.approx(4 * 16000, abs=1600)


def test_mp3(asked: Asked) -> None:
    (sound,) = asked(card=HEARS, modalities="A+T", sound_encoding="mp3")
    assert sound["input_audio"]["format"] == "mp3"
    with av.open(io.BytesIO(base64.b64decode(sound["input_audio"]["data"]))) as container:
        seconds = (
            sum(f.samples for f in container.decode(audio=0)) / container.streams.audio[0].rate
        )
    assert seconds == pytest.approx(2.0, abs=0.15)


class TestWords:
    @pytest.mark.parametrize(("modalities", "more"), [
        ("A+T", [TEXT]), ("V+A+T", [IMAGE] * 4 + [TEXT]), ("V+T", [IMAGE] * 4), ("T", []),
    ])  # fmt: skip
    def test_who_does_not_hear_reads_what_is_said_in_the_window(
        self, modalities: str, more: list[str], asked: Asked, root: Path
    ) -> None:
        (root / "media" / "a.srt").write_text(SRT)
        shown = asked(modalities=modalities)
        assert kinds(shown) == more
        if TEXT in more:
            assert shown[-1]["text"].splitlines() == [
                "What is said:",
                "[1.5 s] Inside the window.",
                "[2.9 s] Across its end.",
            ]

    def test_in_webvtt(self, asked: Asked, root: Path) -> None:
        (root / "media" / "a.vtt").write_text("WEBVTT\n\n00:01.500 --> 00:02.000\n<v A>Hello.\n")
        assert asked(modalities="A+T")[0]["text"] == "What is said:\n[1.5 s] Hello."

    def test_where_nothing_is_said_in_the_window(self, asked: Asked, root: Path) -> None:
        (root / "media" / "a.srt").write_text(SRT)
        (words,) = asked(item(start=0.9, end=1.2), modalities="A+T")
        assert words["text"] == "What is said:\n(nothing)"

    def test_beside_whatever_else_is_shown(self, asked: Asked, root: Path) -> None:
        (root / "media" / "a.srt").write_text(SRT)
        shown = asked(card=HEARS, modalities="V+A+T", subtitles=True)
        assert kinds(shown) == [IMAGE] * 4 + [SOUND, TEXT]
        assert kinds(asked(modalities="T", subtitles=True)) == [TEXT]

    def test_none_to_read_is_a_failure_that_names_the_file(self, asked: Asked) -> None:
        error = asked.failure(modalities="A+T")
        assert "media/a.mp4: has sound, but no subtitles to read instead" in error

    @pytest.mark.parametrize("card", [{}, HEARS])
    def test_a_silent_video_needs_none(self, card: Any, asked: Asked, root: Path) -> None:
        make_video(root / "media" / "a.mp4")
        assert kinds(asked(card=card, modalities="V+A+T")) == [IMAGE] * 4
        told = ["media/a.mp4: it has no sound"] if card else []
        assert sorted(asked.state.warnings - asked.state.announced) == told

    def test_an_empty_file_says_that_nothing_is_said(self, asked: Asked, root: Path) -> None:
        (root / "media" / "a.vtt").write_text("WEBVTT\n")
        assert asked(modalities="A+T")[0]["text"] == "What is said:\n(nothing)"

    def test_a_file_that_holds_none(self, asked: Asked, root: Path) -> None:
        (root / "media" / "a.srt").write_text("Dear diary.")
        assert "media/a.srt: has no line of the form" in asked.failure(modalities="A+T")

    def test_another_file_that_the_item_names(self, asked: Asked, root: Path) -> None:
        (root / "media" / "a.srt").write_text("00:01.500 --> 00:02.000\nNot this.\n")
        (root / "words").mkdir()
        (root / "words" / "en.srt").write_text(SRT)
        (words,) = asked(item(medium={"subtitles": "words/en.srt"}), modalities="A+T")
        assert "Inside the window." in words["text"]
        assert "Not this" not in words["text"]

    def test_a_named_file_that_is_not_there(self, asked: Asked) -> None:
        one = item(medium={"subtitles": "absent.srt"})
        assert "absent.srt: no such file" in asked.failure(one, modalities="A+T")

    @pytest.mark.parametrize("path", ["../secret.srt", "/etc/passwd", "a/../../s.srt", 3])
    def test_a_path_that_leaves_the_benchmark(self, path: Any, asked: Asked, root: Path) -> None:
        (root.parent / "secret.srt").write_text(SRT)
        with pytest.raises(
            ReelbenchError, match=r"media\[0\]\.subtitles: found .*, expected a file"
        ):
            asked.benchmark(item(medium={"subtitles": path}), modalities="A+T")
        assert not asked.out.exists()

    @pytest.mark.parametrize("named", [True, False])
    def test_a_link_to_words_outside_is_refused_when_loaded_and_when_shown(
        self, named: bool, asked: Asked, root: Path
    ) -> None:
        (root.parent / "secret.srt").write_text(SRT)
        link = root / "media" / ("b.srt" if named else "a.srt")
        one = item(medium={"subtitles": "media/b.srt"} if named else {})
        benchmark = asked.benchmark(one, modalities="A+T")
        link.symlink_to(root.parent / "secret.srt")
        with pytest.raises(ReelbenchError, match=r"subtitles: found .*, a link to .*secret\.srt"):
            Benchmark.load(root)
        with suppress(ReelbenchError):
            run_benchmark(benchmark, [asked.model()], asked.out)
        assert not asked.server.requests

    def test_an_edited_file_is_asked_about_again(self, asked: Asked, root: Path) -> None:
        path = root / "media" / "a.srt"
        path.write_text(SRT)
        asked(modalities="A+T")
        again = run_benchmark(
            asked.benchmark(modalities="A+T", sampling="uniform:4"), [], asked.out
        )
        assert (again.counts.asked, again.counts.known) == (0, 1)
        os.utime(path, (1, 1))
        again = run_benchmark(Benchmark.load(root), [], asked.out)
        assert again.counts.asked == 0
        path.write_text(SRT.replace("Inside", "Within"))
        assert "Within the window." in asked(modalities="A+T")[0]["text"]

    def test_an_edited_file_is_nothing_to_who_does_not_read_it(
        self, asked: Asked, root: Path
    ) -> None:
        (root / "media" / "a.srt").write_text(SRT)
        asked(card=HEARS, modalities="V+A+T")
        (root / "media" / "a.srt").write_text(SRT.replace("Inside", "Within"))
        assert run_benchmark(Benchmark.load(root), [], asked.out).counts.asked == 0


class TestFrames:
    @pytest.mark.parametrize(("sampling", "count"), [
        ("uniform:16", 4), ("uniform:2", 2), ("fps:8", 4), ("fps:1", 2), ("fps:8,max=3", 3),
        ("uniform:16,ends", 4), ("times:1.5,2", 2),
    ])  # fmt: skip
    def test_no_more_than_the_card_allows(self, sampling: str, count: int, asked: Asked) -> None:
        assert kinds(asked(card={"frames": 4}, sampling=sampling)) == [IMAGE] * count

    def test_more_moments_than_the_card_allows(self, asked: Asked) -> None:
        benchmark = asked.benchmark(sampling="times:1,1.5,2")
        with pytest.raises(ReelbenchError, match="more times than the 2 frames"):
            run_benchmark(benchmark, [asked.model(frames=2)], asked.out)

    @pytest.mark.parametrize(("frames", "sampling"), [
        (4, "uniform:16"), (5, "uniform:16"), (4, "fps:8"), (1, "uniform:16"), (3, "times:1.5,2"),
    ])  # fmt: skip
    def test_two_videos_share_what_the_card_allows(
        self, frames: int, sampling: str, asked: Asked, root: Path
    ) -> None:
        shutil.copy(root / "media" / "a.mp4", root / "media" / "b.mp4")
        media = (Media("media/a.mp4", 1.0, 3.0), Media("media/b.mp4", 1.0, 3.0))
        benchmark = asked.benchmark(make_item(1, media=media), sampling=sampling)
        try:
            run_benchmark(benchmark, [asked.model(frames=frames)], asked.out)
        except ReelbenchError:
            return  # a sentence is as good: the server would refuse it
        content = asked.server.requests[0]["messages"][0]["content"]
        assert kinds(content).count(IMAGE) <= frames


class TestFilm:
    def test_the_window_without_sound(self, asked: Asked) -> None:
        (part,) = asked(card={"video": "clip"})
        seconds, sound = film(part)
        assert seconds == pytest.approx(2.0, abs=0.05)
        assert not sound

    def test_its_sound_apart(self, asked: Asked) -> None:
        shown = asked(card={"video": "clip", **HEARS}, modalities="V+A+T")
        assert kinds(shown) == [FILM, SOUND]
        assert film(shown[0]) == (pytest.approx(2.0, abs=0.05), False)
        assert len(heard(shown[1])) == pytest.approx(2 * 16000, abs=16)

    def test_a_whole_video_is_muted_too(self, asked: Asked) -> None:
        (part,) = asked(item(start=None, end=None), card={"video": "clip"})
        assert film(part) == (pytest.approx(4.0, abs=0.05), False)

    def test_only_where_there_is_v(self, asked: Asked) -> None:
        assert kinds(asked(card={"video": "clip", **HEARS}, modalities="A+T")) == [SOUND]
        assert asked(card={"video": "clip"}, modalities="T") == []

    @pytest.mark.parametrize("sampling", ["uniform:4,evidence=only", "fps:1,evidence=except", "times:1"])  # fmt: skip
    def test_no_evidence_of_a_film(self, sampling: str, asked: Asked) -> None:
        benchmark = asked.benchmark(item(evidence=((1.0, 2.0),)), sampling=sampling)
        with pytest.raises(ReelbenchError, match="far gets videos, for which sampling"):
            run_benchmark(benchmark, [asked.model(video="clip")], asked.out)
        assert not asked.out.exists()


class TestEvidence:
    def test_only_its_sound_and_words(self, asked: Asked, root: Path) -> None:
        (root / "media" / "a.srt").write_text(SRT)
        one = item(evidence=((1.4, 1.9),))
        shown = asked(one, card=HEARS, modalities="V+A+T", subtitles=True, sampling="uniform:2,evidence=only")  # fmt: skip
        assert kinds(shown) == [IMAGE, IMAGE, SOUND, TEXT]
        assert len(heard(shown[2])) == pytest.approx(8000, abs=16)
        assert shown[3]["text"] == "What is said:\n[1.5 s] Inside the window."

    def test_all_but_it(self, asked: Asked, root: Path) -> None:
        (root / "media" / "a.srt").write_text(SRT)
        one = item(evidence=((1.4, 2.1),))
        shown = asked(one, modalities="A+T", sampling="uniform:2,evidence=except")
        assert shown[-1]["text"] == "What is said:\n[2.9 s] Across its end."


@pytest.mark.timeout(200)
def test_a_pipe_is_not_waited_for(asked: Asked, root: Path) -> None:
    os.mkfifo(root / "media" / "p.mp4")
    one = item(path="media/p.mp4")
    assert "not a file" in asked.failure(one, card=HEARS, modalities="A+T")


def test_a_card_that_does_not_hear_is_named_before_anything_is_asked(
    root: Path, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what then fails for want of it is shown as no score, in the terminal and on the page."""
    items = [make_item(n, media=(Media("media/a.mp4"),), question=f"Why {n}?") for n in range(3)]
    blind_benchmark(root, *items, modalities="V+A+T")
    card = {"name": "deaf", "endpoint": server.url}
    (tmp_path / "deaf.yaml").write_text(json.dumps(card))
    words = ["--model", tmp_path / "deaf.yaml", "--condition", "protocol"]
    words += ["--condition", "seen modalities=V+T", "--out", tmp_path / "r"]
    assert run_here("run", root, *words) == 1
    said = capsys.readouterr()
    assert said.err.startswith("warning: deaf does not hear")
    assert said.err.count("hears: true") == 1
    (failed, seen) = sorted(line for line in said.out.splitlines() if line.startswith("deaf"))
    assert "no score: 3 of 3 failed" in failed
    assert "%" not in failed
    assert "100.0%" in seen
    scores = json.loads((tmp_path / "r" / "scores.json").read_text())
    (row,) = [row for row in leaderboard(scores).rows if "protocol" in row]
    assert not any("%" in cell for cell in row)
    assert scores["ablations"][0]["models"] == []
    page = (tmp_path / "r" / "report.html").read_text()
    assert "no score: 3 of 3 failed" in page
