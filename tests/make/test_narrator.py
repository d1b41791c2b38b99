"""The narrator is removed from a video, what is left is measured, and bad clips are flagged."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from msgspec import structs
from narrated import SENTENCE, TURNS, essay, make_essay, tone_level, transcript, worked
from parts import Studio
from videos import decode_plainly, make_video

from reelbench.annotate.common.silenced_video import write_without_speaker
from reelbench.annotate.common.voice_removal import VoiceRemoval
from reelbench.base.errors import ReelbenchError
from reelbench.make.parts.check_narrator import BURNED_IN, INTELLIGIBLE, check_narrator
from reelbench.make.parts.narrator import NO_NARRATOR, silence
from reelbench.make.pipeline.stage import Rejected
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import read_audio
from reelbench.media.subtitles import read_subtitles
from reelbench.recipes.musebench.rows import Essay

MUTE = silence(Essay, method="mute", margin=0.0)
CHECK = check_narrator(Essay)


@pytest.fixture(scope="module")
def silenced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("made")
    return folder, worked(folder, MUTE, essay(folder))


def test_only_the_turns_are_silent_and_the_frames_are_the_same(
    silenced: tuple[Path, Any],
) -> None:
    folder, row = silenced
    assert row.clip == "media/e1.mp4"
    made, source = folder / row.clip, folder / row.file
    for span in TURNS:
        assert tone_level(made, (span[0] + 0.1, span[1] - 0.1), 1500) < -60
    for span in ((0.0, 0.9), (2.6, 3.9), (5.1, 5.9)):
        was, now = (read_audio(path, 16_000, 1, *span)[0] for path in (source, made))
        error = np.mean((now - was) ** 2) / np.mean(was**2)
        assert 10 * np.log10(error) < -25  # what encoding it once more costs
    assert [f for _, f in decode_plainly(made)] == [f for _, f in decode_plainly(source)]


def test_subtitle_streams_and_titles_are_left_behind(silenced: tuple[Path, Any]) -> None:
    folder, row = silenced
    with av.open(str(folder / row.file)) as source:
        assert source.streams.subtitles
        assert SENTENCE in source.metadata.values()
    with av.open(str(folder / row.clip)) as made:
        assert [stream.type for stream in made.streams] == ["video", "audio"]
    raw = (folder / row.clip).read_bytes()
    assert SENTENCE.encode() not in raw


def test_the_same_row_gives_the_same_bytes_and_ends_with_the_last_clip(tmp_path: Path) -> None:
    row = essay(tmp_path, clips=((0.0, 2.0), (2.0, 3.0)))
    stage = silence(Essay, method="attenuate")
    first, again = worked(tmp_path, stage, row), worked(tmp_path, stage, row)
    assert first == again
    info = probe(tmp_path / first.clip)
    assert 3.0 <= info.duration < 3.4  # frames that the last one is decoded from may follow
    assert read_audio(tmp_path / first.clip, 16_000).shape[1] / 16_000 == pytest.approx(
        3.0, abs=0.1
    )


def test_no_clear_narrator_is_rejected_or_kept_untouched_and_flagged(tmp_path: Path) -> None:
    row = essay(tmp_path, narrator={"speaker": None, "reason": "two voices share the talk"})
    why = worked(tmp_path, MUTE, row)
    assert isinstance(why, Rejected)
    assert (why.reason, why.detail) == (NO_NARRATOR, "two voices share the talk")
    kept = worked(tmp_path, silence(Essay, unclear="keep"), row)
    assert kept.flags == (NO_NARRATOR,)
    assert tone_level(tmp_path / kept.clip, (1.2, 2.2), 1500) > -20
    checked = worked(tmp_path, CHECK, kept, {kept.clip: {"transcript": transcript()}})
    assert checked.flagged == {}
    assert (tmp_path / "media/e1.vtt").read_text() == "WEBVTT\n"


def test_others_who_speak_at_the_same_time_are_said_in_the_measures(tmp_path: Path) -> None:
    turns = [
        {"start": 1.0, "end": 2.5, "speaker": "s1"},
        {"start": 2.0, "end": 3.5, "speaker": "s2"},  # over the narrator for half a second
        {"start": 4.0, "end": 5.0, "speaker": "s3"},  # the narrator, taken for another
    ]
    row = essay(tmp_path)
    stage = silence(Essay, method="mute", margin=0.2)
    made = worked(tmp_path, stage, row, {row.clip: {"turns": {"turns": turns}}})
    done = made.narrator["removal"]
    assert done["others"] == 0.5
    assert done["spans"] == [[0.8, 2.5], [3.8, 5.2]]  # no margin into what the other says
    assert tone_level(tmp_path / made.clip, (2.6, 3.4), 300) > -21


def test_a_clip_with_words_of_the_narrator_is_flagged_from_the_threshold_on(
    silenced: tuple[Path, Any],
) -> None:
    folder, row = silenced

    def flagged(heard: str, **settings: Any) -> dict[int, tuple[str, ...]]:
        labels = {row.clip: {"transcript": transcript((1.0, 2.5, heard))}}
        made = worked(folder, check_narrator(Essay, **settings), row, labels)
        found: dict[int, tuple[str, ...]] = made.flagged
        return found

    assert flagged(SENTENCE) == {1: (INTELLIGIBLE,)}
    assert flagged("it is the very last page") == {}  # one word of six may be chance
    assert flagged("the curtain was very dark indeed") == {1: (INTELLIGIBLE,)}
    assert flagged("the curtain was very dark indeed", most_left=0.5) == {}
    assert flagged("nothing here was ever spoken") == {}


def test_every_clip_is_measured_and_the_measures_are_kept(silenced: tuple[Path, Any]) -> None:
    folder, row = silenced
    labels = {row.clip: {"transcript": transcript((1.0, 2.5, "the curtain was dark"))}}
    done = worked(folder, CHECK, row, labels).narrator["removal"]
    first, second = done["clips"]
    assert (first["words"], first["left"], first["heard"]) == (6, 2, 4)
    assert (second["words"], second["left"]) == (0, 0)
    assert first["inside_db"] < -15
    assert abs(first["outside_db"]) < 0.5
    assert second["outside_error_db"] < -25
    assert (done["words"], done["left"], done["share"]) == (6, 2, 0.3333)


def test_what_is_left_of_the_voice_is_compared_with_the_narrator(
    silenced: tuple[Path, Any],
) -> None:
    folder, row = silenced
    was = {"voices": {"speakers": [{"id": "s1", "embedding": [1.0, 0.0]}]}}
    now = {
        "transcript": transcript(),
        "turns": {"turns": [{"start": 1.0, "end": 2.4, "speaker": "s1"}]},
        "voices": {"speakers": [{"id": "s1", "embedding": [0.6, 0.8]}]},
    }
    made = worked(folder, CHECK, row, {row.file: was, row.clip: now})
    assert made.narrator["removal"]["voice"] == 0.6


def test_subtitles_in_the_picture_that_repeat_the_narration_are_flagged(
    silenced: tuple[Path, Any],
) -> None:
    folder, row = silenced
    was = {"narration_text": {"spans": [[3.5, 4.5]]}}
    labels = {row.file: was, row.clip: {"transcript": transcript()}}
    assert worked(folder, CHECK, row, labels).flagged == {2: (BURNED_IN,)}


def test_the_transcript_for_evaluation_is_what_is_heard_without_the_narrator(
    silenced: tuple[Path, Any],
) -> None:
    folder, row = silenced
    was = {"transcript": transcript((1.0, 2.5, SENTENCE), source="subtitles")}
    now = {"transcript": transcript((3.0, 3.8, "You & I <run>"))}
    worked(folder, CHECK, row, {row.file: was, row.clip: now})
    written = folder / "media/e1.vtt"
    assert [(cue.start, cue.text) for cue in read_subtitles(written)] == [(3.0, "You & I <run>")]
    assert SENTENCE not in written.read_text()


def test_a_transcript_from_subtitles_and_a_video_with_its_narrator_are_refused(
    silenced: tuple[Path, Any],
) -> None:
    folder, row = silenced
    labels = {row.clip: {"transcript": transcript((1.0, 2.5, SENTENCE), source="subtitles")}}
    with pytest.raises(ReelbenchError, match="was read from subtitles"):
        worked(folder, CHECK, row, labels)
    with pytest.raises(ReelbenchError, match="put the stage silence before"):
        worked(folder, CHECK, structs.replace(row, clip=row.file))


@pytest.mark.parametrize("parameters", [{"method": "erase"}, {"unclear": "guess"}])
def test_a_wrong_parameter_is_refused_before_anything_is_done(parameters: dict[str, Any]) -> None:
    with pytest.raises(ReelbenchError, match=r"silence\.(method|unclear)"):
        silence(Essay, **parameters)


@pytest.mark.parametrize(
    ("name", "codec", "copied"),
    [("a.webm", "libvpx-vp9", True), ("a.mkv", "libx264", True), ("a.gif.mkv", "mjpeg", False)],
)
def test_frames_that_an_mp4_cannot_hold_are_encoded_anew(
    tmp_path: Path, name: str, codec: str, copied: bool
) -> None:
    plain = make_video(tmp_path / "sound.mp4", seconds=1, sound=1.0)
    source = _with_codec(tmp_path, plain, codec, name)
    out = tmp_path / "out.mp4"
    removal = VoiceRemoval("mute")
    assert write_without_speaker(source, out, [(0.2, 0.8)], removal, 1.0) is copied
    assert probe(out).frame_count == probe(source).frame_count
    assert tone_level(out, (0.3, 0.7), 440) < -60


def _with_codec(folder: Path, sound: Path, codec: str, name: str) -> Path:
    options = {"cpu-used": "8", "deadline": "realtime"} if "vp9" in codec else {}
    out = folder / name
    with av.open(str(sound)) as given, av.open(str(out), "w") as target:
        stream = target.add_stream(codec, rate=10)
        stream.width, stream.height = 48, 32
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        stream.options = options
        heard = target.add_stream("libopus" if name.endswith("webm") else "aac", rate=48000)
        for number in range(10):
            grey = np.full((32, 48, 3), number * 20, np.uint8)
            target.mux(stream.encode(av.VideoFrame.from_ndarray(grey, "rgb24")))
        target.mux(stream.encode(None))
        for frame in given.decode(audio=0):
            frame.pts = None
            target.mux(heard.encode(frame))
        target.mux(heard.encode(None))
    return out


KILLED = """
import os, signal, sys
from pathlib import Path
import reelbench.annotate.common.silenced_video as video
from reelbench.annotate.common.voice_removal import VoiceRemoval
given = video.stream_audio
def until_killed(*facts):
    for number, piece in enumerate(given(*facts)):
        if number == 20:
            os.kill(os.getpid(), signal.SIGKILL)
        yield piece
video.stream_audio = until_killed
removal = VoiceRemoval("mute")
video.write_without_speaker(Path(sys.argv[1]), Path(sys.argv[2]), [(1.0, 2.0)], removal, 6.0)
"""


def test_a_process_killed_midway_leaves_no_half_video(tmp_path: Path) -> None:
    source, out = make_essay(tmp_path / "a.mkv"), tmp_path / "media" / "a.mp4"
    out.parent.mkdir()
    ended = subprocess.run([sys.executable, "-c", KILLED, source, out], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not out.exists()
    write_without_speaker(source, out, [(1.0, 2.0)], VoiceRemoval("mute"), 6.0)
    assert os.listdir(out.parent) == ["a.mp4"]  # what was left is swept


def test_a_folder_that_cannot_be_written_is_named_in_a_sentence(tmp_path: Path) -> None:
    source = make_essay(tmp_path / "a.mkv")
    with pytest.raises(ReelbenchError, match=r"a\.mp4 cannot be written"):
        write_without_speaker(source, Path("/proc/none/a.mp4"), [], VoiceRemoval("mute"), 6.0)


def test_a_video_that_fails_is_rejected_and_tried_again_next_time(tmp_path: Path) -> None:
    row = essay(tmp_path)
    whole = (tmp_path / row.file).rename(tmp_path / "whole.mkv")
    make_video(tmp_path / "silent.mp4", seconds=1).rename(tmp_path / row.file)
    (passed,), _ = Studio(tmp_path).take([row], MUTE)
    (made,) = passed.results
    assert made.rejected.reason == "media"
    assert "contains no sound" in made.rejected.detail
    whole.replace(tmp_path / row.file)
    (passed,), _ = Studio(tmp_path).take([row], MUTE)
    assert [each.clip for each in passed.out] == ["media/e1.mp4"]


def test_a_video_that_is_there_is_not_made_again_and_one_that_is_gone_is(tmp_path: Path) -> None:
    row = essay(tmp_path)

    def taken() -> tuple[Any, int]:
        (passed,), _ = Studio(tmp_path).take([row], MUTE)
        (made,) = passed.out
        return made, (tmp_path / made.clip).stat().st_mtime_ns

    first, written = taken()
    assert taken() == (first, written)
    (tmp_path / first.clip).unlink()
    again, anew = taken()
    assert again == first
    assert anew != written
