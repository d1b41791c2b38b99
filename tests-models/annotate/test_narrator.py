"""The narrator by real models: voices compared as PyTorch does, and essays mixed of known parts."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw, ImageFont
from support import SHARED
from torch.nn.functional import batch_norm, conv1d, pad

from reelbench.annotate.common.audio import bridged, common
from reelbench.annotate.common.ecapa import WEIGHTS, mel_features, voice_embedding
from reelbench.annotate.common.narrator_evidence import total
from reelbench.annotate.operator import Clip, Value
from reelbench.annotate.operators.narration_text import repeated_narration
from reelbench.annotate.operators.text import ScreenText
from reelbench.annotate.registry import in_order, load_operator
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import SPEECH_RATE, read_audio, write_wav
from reelbench.media.edit.write import video_writer
from reelbench.weights import weights_file

VIDEO = SHARED / "data" / "video"
clips = pytest.mark.skipif(not VIDEO.is_dir(), reason="the real clips of ../shared are not here")
espeak = pytest.mark.skipif(
    shutil.which("espeak-ng") is None, reason="espeak-ng is not installed (apt install espeak-ng)"
)
NARRATION = (
    "What the camera shows here is not the fight itself, but the silence after it.",
    "The light falls from the left, and the colour drains out of the room.",
    "We hear the door before we see it, and that small delay is all there is to fear.",
    "The painter left this corner empty for a reason that nobody in the room would name.",
    "In the second act the music stops, so that steps become the rhythm of the scene.",
    "Every cut lands on a breath, until the face of the dancer fills the frame.",
)


class PyTorchEcapa:
    """The same network in PyTorch, written down independently."""

    def __init__(self) -> None:
        self.weights = torch.load(weights_file(WEIGHTS), "cpu", weights_only=True)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        x = self.layer(torch.tensor(features.T[None]), "blocks.0", 1)
        outs = [x := self.block(x, f"blocks.{block}", block + 1) for block in (1, 2, 3)]
        x = self.layer(torch.cat(outs, 1), "mfa", 1)
        whole = [x.mean(2, True), x.std(2, correction=0, keepdim=True)]
        context = torch.cat([x, *(each.expand_as(x) for each in whole)], 1)
        scores = self.conv(torch.tanh(self.layer(context, "asp.tdnn", 1)), "asp.conv")
        attention = scores.softmax(2)
        mean = (attention * x).sum(2)
        deviation = (attention * (x - mean[..., None]) ** 2).sum(2).clamp(1e-12).sqrt()
        pooled = self.normal(torch.cat([mean, deviation], 1)[..., None], "asp_bn")
        found = self.conv(pooled, "fc")[0, :, 0].numpy()
        return found / np.linalg.norm(found)

    def block(self, x: torch.Tensor, name: str, distance: int) -> torch.Tensor:
        first, *parts = self.layer(x, f"{name}.tdnn1", 1).chunk(8, 1)
        outs = [first]
        for number, part in enumerate(parts):
            heard = part + outs[-1] if number else part
            outs.append(self.layer(heard, f"{name}.res2net_block.blocks.{number}", distance))
        out = self.layer(torch.cat(outs, 1), f"{name}.tdnn2", 1)
        squeezed = torch.relu(self.conv(out.mean(2, True), f"{name}.se_block.conv1"))
        return x + out * torch.sigmoid(self.conv(squeezed, f"{name}.se_block.conv2"))

    def layer(self, x: torch.Tensor, name: str, distance: int) -> torch.Tensor:
        width = self.weights[f"{name}.conv.conv.weight"].shape[2]
        reach = distance * (width - 1) // 2
        padded = pad(x, (reach, reach), "reflect") if reach else x
        out = self.conv(padded, f"{name}.conv", distance)
        return self.normal(torch.relu(out), f"{name}.norm")

    def conv(self, x: torch.Tensor, name: str, distance: int = 1) -> torch.Tensor:
        own = (self.weights[f"{name}.conv.{part}"] for part in ("weight", "bias"))
        return conv1d(x, *own, dilation=distance)

    def normal(self, x: torch.Tensor, name: str) -> torch.Tensor:
        parts = ("running_mean", "running_var", "weight", "bias")
        return batch_norm(x, *(self.weights[f"{name}.norm.{part}"] for part in parts))


@clips
def test_voices_are_embedded_as_pytorch_does() -> None:
    sound = read_audio(VIDEO / "video5.mp4")[0]
    reference = PyTorchEcapa()
    for heard in (sound[: 2 * SPEECH_RATE], sound[20_000:33_000]):
        expected = reference(mel_features(heard))
        np.testing.assert_allclose(voice_embedding(heard), expected, atol=1e-5)


@clips
def test_a_real_voice_is_nearer_to_itself_than_to_others() -> None:
    pieces = [("speech_two_faces", 2.0, 4.0), ("speech_two_faces", 4.6, 7.2), ("video5", 3.0, 6.0)]
    one, again, other = (
        voice_embedding(read_audio(VIDEO / f"{name}.mp4", start=start, end=end)[0])
        for name, start, end in pieces
    )
    assert one @ again > 0.4
    assert one @ other < 0.2


def test_a_hundredth_of_a_second_and_silence_have_an_embedding() -> None:
    for samples in (np.zeros(160, np.float32), np.zeros(0, np.float32)):
        found = voice_embedding(samples)
        assert found.shape == (192,)
        assert np.isfinite(found).all()


def spoken(folder: Path, voice: str, text: str) -> np.ndarray:
    """Speech of espeak-ng without the silence around it, at a level of 0.08."""
    path = folder / "spoken.wav"
    subprocess.run(["espeak-ng", "-v", voice, "-w", str(path), text], check=True)
    sound = read_audio(path)[0]
    loud = np.flatnonzero(np.abs(sound) > 0.01)
    return levelled(sound[loud[0] : loud[-1] + 1])


def levelled(sound: np.ndarray) -> np.ndarray:
    return np.asarray(sound * 0.08 / np.sqrt(np.mean(sound**2)), np.float32)


def excerpt(name: str, start: float, end: float) -> np.ndarray:
    return levelled(read_audio(VIDEO / f"{name}.mp4", start=start, end=end)[0])


def mixed(path: Path, parts: list[tuple[str, np.ndarray]]) -> dict[str, list[tuple[float, float]]]:
    """Write parts one after the other, and return when each name is heard."""
    moment, sounds = 0.0, []
    truth: dict[str, list[tuple[float, float]]] = {}
    for name, sound in parts:
        length = len(sound) / SPEECH_RATE
        truth.setdefault(name, []).append((moment, moment + length))
        sounds += [sound, np.zeros(SPEECH_RATE // 4, np.float32)]
        moment += length + 0.25
    write_wav(path, np.concatenate(sounds)[None], SPEECH_RATE)
    return truth


def narrator_of(path: Path) -> Value:
    clip = Clip(path, str(path), probe(path))
    labels: dict[str, Value] = {}
    for name in in_order(["sound", "narrator"]):
        labels[name] = load_operator(name)(clip, labels)
    return labels["narrator"]


@clips
@espeak
def test_the_narrator_of_a_mixed_essay_is_found_and_the_films_are_left(tmp_path: Path) -> None:
    music = excerpt("animation_trailer", 28.0, 52.0)
    said = [("narrator", spoken(tmp_path, "en-gb+m5", text)) for text in NARRATION]
    for number in (1, 3):
        voice = said[number][1]
        said[number] = ("narrator", voice + 0.2 * np.resize(music, len(voice)))
    film = [("film", excerpt("video5", 3.0, 7.0)), ("film", excerpt("speech_two_faces", 2.0, 7.2))]
    truth = mixed(
        tmp_path / "essay.wav",
        [*said[:2], film[0], *said[2:4], ("music", music[: 4 * SPEECH_RATE]), film[1], *said[4:]],
    )
    found = narrator_of(tmp_path / "essay.wav")
    assert found["speaker"] == found["guess"]
    assert found["confidence"] >= 0.7
    turns = bridged([(start, end) for start, end in found["turns"]], 0.3)
    right = total(common(turns, truth["narrator"]))
    precision, recall = right / total(turns), right / total(truth["narrator"])
    print(round(precision, 3), round(recall, 3))
    assert precision > 0.93
    assert recall > 0.93
    assert total(common(turns, truth["film"])) < 1.0


@espeak
def test_two_who_talk_with_each_other_have_no_narrator(tmp_path: Path) -> None:
    voices = ("en-us+f3", "en-us+m7")
    parts = [
        (voices[n % 2], spoken(tmp_path, voices[n % 2], text)) for n, text in enumerate(NARRATION)
    ]
    mixed(tmp_path / "talk.wav", parts)
    found = narrator_of(tmp_path / "talk.wav")
    assert found["speaker"] is None
    assert "Two voices share the speech" in found["reason"]


@clips
@pytest.mark.parametrize("name", ["animation_trailer.mp4", "video3.mp4", "video5.mp4"])
def test_music_a_song_and_a_short_clip_have_no_narrator(name: str) -> None:
    assert narrator_of(VIDEO / name)["speaker"] is None


def with_captions(path: Path, texts: list[str]) -> Clip:
    """A grey video in which each text stands for two seconds."""
    font = ImageFont.load_default(22)
    with video_writer(path, 4) as writer:
        for number, text in enumerate(texts):
            picture = Image.new("RGB", (640, 360), (60, 70, 80))
            ImageDraw.Draw(picture).text((40, 310), text, "white", font)
            for frame in range(8):
                writer.show(np.asarray(picture), 2.0 * number + frame / 4)
    return Clip(path, str(path), probe(path))


def test_burned_in_subtitles_are_read_and_known_as_the_narration(tmp_path: Path) -> None:
    texts = ["The light falls from the left", "and the colour drains", "out of the empty room"]
    words = [
        {"start": 2.0 * n + 0.3 * k, "end": 2.0 * n + 0.3 * k + 0.3, "word": word}
        for n, text in enumerate(texts)
        for k, word in enumerate(text.lower().split())
    ]
    clip = with_captions(tmp_path / "captions.mp4", texts)
    lines = ScreenText()(clip, {})["lines"]
    found = repeated_narration(lines, words)
    assert found["spans"] == [[0.0, pytest.approx(6.0, abs=0.3)]]
    assert found["shares"][0] > 0.8
    later = [{**word, "start": word["start"] + 30, "end": word["end"] + 30} for word in words]
    assert repeated_narration(lines, later)["spans"] == []
