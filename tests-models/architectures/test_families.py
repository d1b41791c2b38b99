"""Each family by its own config and processor: replies with shared tokens equal those without."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from asked import alone, asked, frames, generator, loaded, sound, together
from families import FAMILIES, make_family
from transformers import logging

from reelbench.models.base import Part, TextPart
from reelbench.models.local.inputs import decoded, processed, prompt_text
from reelbench.models.local.prefix import PROVEN, is_proven

logging.set_verbosity_error()
logging.disable_progress_bar()
# Of processors that make arrays of tensors.
pytestmark = pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")
Folder = Callable[[str], Path]
NOT_PROVEN = {"qwen3_5", "paligemma"}
COUNTS = (5, 3, 9)  # frames of each video
CASES = [
    (name, kind)
    for name, family in FAMILIES.items()
    for kind in family.takes.split() or ["text"]
    if name not in NOT_PROVEN
]


@pytest.fixture(scope="session")
def family(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The folder of a family's model, made when it is first asked for."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        seen = {"pixtral", "mistral3"} | {n for n in FAMILIES if "video" in FAMILIES[n].takes}
        if name in seen and not find_spec("torchvision"):
            pytest.skip("transformers needs torchvision for its processor")
        if name == "smolvlm" and not find_spec("num2words"):
            pytest.skip("transformers needs num2words for its processor")
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name)
            make_family(name, made[name])
        return made[name]

    return folder


def media(name: str, kind: str, seed: int, count: int) -> list[Part]:
    takes = FAMILIES[name].takes
    shown: list[Part] = [*frames(seed, count)] if "image" in takes else []
    return [*shown, sound(seed, 0.3 * count)] if kind == "audio" else shown


def fields(name: str, kind: str) -> dict[str, object]:
    sees = "image" in FAMILIES[name].takes
    return {"sees": sees, "hears": kind == "audio", "video": "frames" if kind == "video" else ""}


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_replies_with_sharing_are_those_without(family: Folder, name: str, kind: str) -> None:
    model = loaded(family(name), **fields(name, kind))
    assert is_proven(model)
    groups = [asked(*media(name, kind, seed, count)) for seed, count in enumerate(COUNTS)]
    plain = alone(model, groups)
    assert together(model, groups) == plain
    if kind != "text":
        assert len({replies[0] for replies in plain}) > 1  # it looks, or listens
    assert len(set(plain[1])) > 1  # and reads


def test_every_proven_architecture_is_proven_here() -> None:
    known = {name for name, _ in CASES} | {"llava"}
    assert known >= PROVEN


@pytest.mark.parametrize("name", sorted(NOT_PROVEN))
def test_what_is_not_proven_is_asked_without_sharing(family: Folder, name: str) -> None:
    model = loaded(family(name))
    assert not is_proven(model)
    requests = asked(*frames(1, 3))
    texts = [prompt_text(model, each) for each in requests]
    batch = processed(model, texts, [decoded(model, each) for each in requests])
    replies = [reply.text for reply in generator(model).plain_replies(batch, requests)]
    assert [replies] == alone(model, [requests])


def test_each_video_is_one_with_its_own_times(family: Folder) -> None:
    model = loaded(family("qwen2_5_vl"), video="frames")
    parts = [TextPart("Video 1:"), *frames(1, 4, 0.5), TextPart("Video 2:"), *frames(2, 2, 3.0)]
    request = asked(*parts)[0]
    found = processed(model, [prompt_text(model, request)], [decoded(model, request)])
    assert found["video_grid_thw"][:, 0].tolist() == [2, 1]  # two frames are one step
    first, second = found["second_per_grid_ts"].tolist()
    assert first == pytest.approx(2 * 0.5 * 3 * 1.3 / 3)
    assert second == pytest.approx(2 * 3.0 * 1.1)
    text = model.tokenizer.decode(found["input_ids"][0])
    assert text.index("Video 1:") < text.index("<|video_pad|>") < text.index("Video 2:")


def test_the_times_of_frames_are_written_into_the_prompt(family: Folder) -> None:
    model = loaded(family("qwen3_vl"), video="frames")
    request = asked(*frames(1, 4, 2.0))[0]  # at 0, 2.2, 4.8 and 7.8 seconds
    found = processed(model, [prompt_text(model, request)], [decoded(model, request)])
    text = model.tokenizer.decode(found["input_ids"][0])
    assert "<1.1 seconds>" in text  # between the first and the second
    assert "<6.3 seconds>" in text


def test_the_frames_are_ours_and_all_of_them(family: Folder) -> None:
    """A processor that sampled frames by itself would leave some out."""
    model = loaded(family("llava_onevision"), video="frames")
    request = asked(*frames(1, 70, 0.1))[0]
    found = processed(model, [prompt_text(model, request)], [decoded(model, request)])
    assert found["pixel_values_videos"].shape[1] == 70


@pytest.mark.parametrize("name", ["qwen2_5_omni_thinker", "qwen2_audio"])
def test_it_listens(family: Folder, name: str) -> None:
    model = loaded(family(name), **fields(name, "audio"))
    shown: list[Part] = [*frames(1, 2)] if "image" in FAMILIES[name].takes else []
    groups = [asked(*shown, sound(seed, 1.0)) for seed in (1, 2)]
    first, second = alone(model, groups)
    assert first != second


def test_an_omni_model_is_loaded_without_what_it_speaks_with(family: Folder) -> None:
    model = loaded(family("qwen2_5_omni_thinker"), hears=True)
    assert model.architecture == "qwen2_5_omni_thinker"
    assert model.sampling_rate == 16_000
    assert not hasattr(model.model, "talker")


def test_sound_at_another_rate_is_resampled(family: Folder) -> None:
    model = loaded(family("qwen2_audio"), sees=False, hears=True)
    (samples,) = decoded(model, asked(sound(1, 0.5, rate=8_000))[0]).sounds
    assert len(samples) == pytest.approx(8_000, abs=64)
