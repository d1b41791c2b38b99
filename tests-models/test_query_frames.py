"""Frames chosen by a question, with a real CLIP that is tiny and made of chance."""

from pathlib import Path

import pytest
import torch
from tiny import SHAPE, make_tokenizer
from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, SiglipConfig, SiglipModel
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.client.media_input import MediaInput
from reelbench.client.query_frames import resolved
from reelbench.media.decode.frames import FrameSpec, frames_of
from reelbench.models.base import ImagePart
from reelbench.models.text_image import VARIABLE, picture_scores


def make_weights(folder: Path, seed: int = 0, siglip: bool = False) -> Path:
    tokenizer = make_tokenizer()
    size = {"height": 28, "width": 28}
    CLIPImageProcessorPil(size=size, crop_size=size, do_center_crop=False).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    text = {**SHAPE, **ids, "vocab_size": len(tokenizer), "max_position_embeddings": 32}
    vision = {**SHAPE, "image_size": 28, "patch_size": 14}
    torch.manual_seed(seed)
    if siglip:
        model = SiglipModel(SiglipConfig(text_config=text, vision_config=vision))
    else:
        model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=16))
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("v") / "a.mp4", seconds=6)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_weights(tmp_path_factory.mktemp("clip"))


def test_the_frames_that_fit_best_are_shown_in_order(
    clip: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(weights))
    spec = FrameSpec("query:3", start=1.0, end=5.0, size="long:64")
    chosen = resolved(clip, spec, "Why is the patch so bright?")
    times = [float(t) for t in chosen.sampling.removeprefix("times:").split(",")]
    # All candidates, scored here one by one: 4 seconds at two a second, and at least 12.
    every = frames_of(clip, FrameSpec("uniform:12", start=1.0, end=5.0, size="long:448"))
    scored = [
        (picture_scores("Why is the patch so bright?", [picture.data])[0], picture.time)
        for picture in every.pictures
    ]
    assert times == pytest.approx(sorted(time for _, time in sorted(scored, reverse=True)[:3]))
    media = MediaInput.of(
        clip, sampling="query:3", start=1.0, end=5.0, size="long:64", query="Why is the patch so bright?"
    )  # fmt: skip
    parts = media.render().parts
    assert [part.time for part in parts if isinstance(part, ImagePart)] == pytest.approx(times)
    assert len(media.placeholders().parts) == 3


def test_the_key_has_the_question_and_the_weights(
    clip: Path, weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(weights))
    one, same, other = (
        MediaInput.of(clip, sampling="query:2", query=text).record() for text in ("a?", "a?", "b?")
    )
    assert one == same != other
    monkeypatch.setenv(VARIABLE, str(make_weights(tmp_path / "w", seed=1)))
    assert MediaInput.of(clip, sampling="query:2", query="a?").record() != one


def test_siglip_and_long_questions_will_do(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(make_weights(tmp_path / "w", siglip=True)))
    picture = frames_of(clip, FrameSpec("uniform:1", size="long:64")).pictures[0].data
    (score,) = picture_scores("why " * 200, [picture])
    assert -1 <= score <= 1


def test_a_folder_that_is_no_embedding_is_named(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tiny))
    with pytest.raises(ReelbenchError, match="holds no text-image embeddings"):
        picture_scores("a", [b""])
