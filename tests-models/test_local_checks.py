"""A model that cannot be loaded is a sentence that says what to change."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked import asked, frames, loaded
from families import make_family

from reelbench.base.errors import ReelbenchError
from reelbench.client.media_input import MediaInput
from reelbench.models.card import Card
from reelbench.models.load import load_model
from reelbench.models.local.checks import check_fits, free_memory, weights_size
from reelbench.models.local.inputs import prompt_text, video_metadata
from reelbench.models.local.weights import context_of


@pytest.fixture
def copy(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "copy"))


@pytest.fixture(scope="session")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    make_family("llama", folder)
    return folder


def _config(folder: Path, **fields: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


def _cut(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-10])


def _garble(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\xff" * 100)


def _shard(folder: Path) -> None:
    index = {"metadata": {}, "weight_map": {"a": "x-1.safetensors", "b": "x-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def _without_processor(folder: Path) -> None:
    for name in ("processor_config.json", "preprocessor_config.json"):
        (folder / name).unlink(missing_ok=True)


def _without_template(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()


def _adapter(folder: Path) -> None:
    (folder / "config.json").rename(folder / "adapter_config.json")


def _remote(folder: Path) -> None:
    names = {"AutoConfig": "configuration_mine.MyConfig"}
    _config(folder, model_type="mine", auto_map=names)
    (folder / "configuration_mine.py").write_text("raise SystemExit('it was run')")


BROKEN: list[tuple[Callable[[Path], None], str]] = [
    (lambda folder: (folder / "config.json").unlink(), "no config.json"),
    (lambda folder: (folder / "config.json").write_text("{"), "cannot be loaded"),
    (lambda folder: (folder / "model.safetensors").unlink(), "has no weights"),
    (_cut, "10 bytes are missing"),
    (_garble, "header cannot be read"),
    (_shard, "lacks 2 of its 2 files of weights.*x-1.safetensors, x-2.safetensors"),
    (_without_processor, "has no processor"),
    (_without_template, "chat_template.jinja"),
    (_adapter, "it is an adapter"),
    (lambda folder: _config(folder, model_type="tomorrow"), "does not know the architecture"),
    (_remote, "never run here"),
]


@pytest.mark.parametrize(("damage", "sentence"), BROKEN)
def test_what_is_broken_is_said(copy: Path, damage: Callable[[Path], None], sentence: str) -> None:
    damage(copy)
    with pytest.raises(ReelbenchError, match=sentence) as error:
        loaded(copy)
    assert str(copy) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_that_is_not_there() -> None:
    with pytest.raises(ReelbenchError, match="is no folder"):
        loaded(Path("/not/there"))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [({"hears": True}, "`hears: false`"), ({"video": "frames"}, '`video: ""`')],
)
def test_what_a_model_does_not_take_is_said_before_its_weights_are_read(
    tiny: Path, fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ReelbenchError, match=sentence):
        loaded(tiny, **fields)


def test_pictures_for_a_text_model(text_model: Path) -> None:
    model = loaded(text_model)
    assert prompt_text(model, asked()[0]).endswith("assistant: ")
    with pytest.raises(ReelbenchError, match="llama takes no pictures: write `sees: false`"):
        prompt_text(model, asked(*frames(1, 1))[0])


def test_a_text_model_without_a_chat_template_gets_the_text(
    text_model: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(text_model, tmp_path / "plain"))
    (folder / "chat_template.jinja").unlink()
    model = loaded(folder)
    assert prompt_text(model, asked()[0]) == "What is this?\n\n"
    assert "no chat template" in model.notes[0]


def test_a_model_that_does_not_fit(tiny: Path, tmp_path: Path) -> None:
    card = Card(name="m", backend="hf", model=str(tiny))
    check_fits(card, tiny, "cpu")
    size = weights_size(tiny, "auto")
    assert size is not None
    assert size == 2 * (weights_size(tiny, "bfloat16") or 0)
    free = free_memory("cpu")
    assert free is not None
    header = {"a": {"dtype": "F32", "shape": [free], "data_offsets": [0, 4 * free]}}
    text = json.dumps(header).encode()
    file = tmp_path / "model.safetensors"
    file.write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(ReelbenchError, match=r"GB free.*`dtype: bfloat16`.*`device_map: auto`"):
        check_fits(card, tmp_path, "cpu")


def test_the_context_counts_what_stretches_it(tiny: Path) -> None:
    from transformers import GPT2Config, LlamaConfig, MambaConfig

    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1000}
    yarn["rope_theta"] = 10_000.0
    assert loaded(tiny).context == 4096
    assert context_of(LlamaConfig(max_position_embeddings=1000, rope_parameters=yarn)) == 4000
    assert context_of(GPT2Config(n_positions=77)) == 77
    assert context_of(MambaConfig()) is None


def test_times_between_frames_are_exact_to_a_millisecond() -> None:
    found = video_metadata([1.0, 1.5, 7.125])
    assert [each / found["fps"] for each in found["frames_indices"]] == [1.0, 1.5, 7.125]
    rate = len(found["frames_indices"]) / found["total_num_frames"] * found["fps"]
    assert rate == pytest.approx(2 / 6.125, rel=1e-3)
    assert video_metadata([3.0])["total_num_frames"] == 1000


def test_only_local_models_get_frames_as_a_video(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text("{name: m, backend: openai, endpoint: http://x, video: frames}")
    with pytest.raises(ReelbenchError, match="unless the backend is hf"):
        load_model(str(file))


def test_frames_as_a_video_leave_no_room_for_times_between_them(tmp_path: Path) -> None:
    card = Card(name="m", backend="hf", video="frames")
    media = MediaInput.of(tmp_path / "a.mp4")
    assert media.for_card(card).frames
    assert not media.for_card(card).video
    with pytest.raises(ReelbenchError, match="`timestamps: false`"):
        MediaInput.of(tmp_path / "a.mp4", timestamps=True).for_card(card)


def test_a_reply_is_asked_again_when_frames_become_a_video(tmp_path: Path) -> None:
    found = []
    for video in ("", "frames"):
        (tmp_path / "m.yaml").write_text(
            json.dumps({"name": "m", "backend": "hf", "model": "x", "video": video})
        )
        found.append(load_model(str(tmp_path / "m.yaml")).parameters)
    assert found[0] != found[1]
    assert "video" not in found[0]  # keys of earlier runs stay as they are
