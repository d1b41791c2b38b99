"""Transitions between shots out of probabilities, and the network's weights out of their file."""

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from reelbench.annotate.operators.shots import merged, transition_spans
from reelbench.annotate.registry import load_operator
from reelbench.base.errors import ReelbenchError
from reelbench.weights.checkpoint import read_checkpoint


def probabilities(middle: dict[int, float], part: dict[int, float]) -> np.ndarray:
    found = np.zeros((100, 2))
    for column, values in enumerate((middle, part)):
        for frame, value in values.items():
            found[frame, column] = value
    return found


def test_a_cut_is_one_frame_and_a_dissolve_as_long_as_it_lasts() -> None:
    dissolve = dict.fromkeys(range(60, 75), 0.8)
    found = probabilities({20: 0.9, 67: 0.7}, {20: 0.9, **dissolve})
    assert transition_spans(found, 0.5) == [(20, 20), (60, 74)]


def test_a_slow_dissolve_needs_no_middle() -> None:
    assert transition_spans(probabilities({}, dict.fromkeys(range(30, 40), 0.9)), 0.5) == [(30, 39)]
    assert transition_spans(probabilities({}, dict.fromkeys(range(30, 34), 0.9)), 0.5) == []


def test_a_transition_that_the_video_ends_in_leads_to_no_shot() -> None:
    assert transition_spans(probabilities({97: 0.9}, {97: 0.9}), 0.5) == []
    assert transition_spans(probabilities({95: 0.9}, {95: 0.9}), 0.5) == [(95, 95)]


def test_of_transitions_close_to_each_other_the_first_counts() -> None:
    assert merged([(40, 40), (10, 10), (20, 22)], 15) == [(10, 10), (40, 40)]


def test_the_network_is_fetched_only_where_it_is_the_detector() -> None:
    assert load_operator("shots").uses == ("transitions",)
    assert load_operator("shots", detector="content").uses == ()


def checkpoint(path: Path, pickled: bytes, numbers: np.ndarray) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/data/0", numbers.tobytes())
    return path


def tensor_pickle(shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes:
    """The pickle of {"w": a tensor of the storage 0}, as PyTorch writes it."""
    numbers = (
        b"".join(b"K" + bytes([n]) for n in shape),
        b"".join(b"K" + bytes([n]) for n in strides),
    )
    return (
        b"\x80\x02}X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storage"
        b"ctorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06tQK\x00("
        + numbers[0] + b"t(" + numbers[1] + b"t\x89ccollections\nOrderedDict\n)RtRs."
    )  # fmt: skip


def test_tensors_are_read_without_pytorch(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype=np.float32)
    plain = checkpoint(tmp_path / "a.pth", tensor_pickle((2, 3), (3, 1)), numbers)
    np.testing.assert_array_equal(read_checkpoint(plain)["w"], numbers.reshape(2, 3))
    turned = checkpoint(tmp_path / "b.pth", tensor_pickle((3, 2), (1, 3)), numbers)
    np.testing.assert_array_equal(read_checkpoint(turned)["w"], numbers.reshape(2, 3).T)


def test_a_tensor_does_not_reach_beyond_its_numbers(tmp_path: Path) -> None:
    far = checkpoint(
        tmp_path / "a.pth", tensor_pickle((2, 9), (9, 1)), np.arange(6, dtype=np.float32)
    )
    with pytest.raises(ReelbenchError, match="not a PyTorch checkpoint of plain tensors"):
        read_checkpoint(far)


# An array whose type is a text, which only who means harm writes.
ODD_TYPE = (
    b"\x80\x02}X\x01\x00\x00\x00wcnumpy.core.multiarray\n_reconstruct\n)R"
    b"(K\x01)X\x02\x00\x00\x00f4\x89X\x00\x00\x00\x00tbs."
)


@pytest.mark.parametrize(
    "content", [pickle.dumps([1, 2]), pickle.dumps({"w": 1})[:-3], b"", ODD_TYPE]
)
def test_what_names_no_tensors_is_refused_in_a_sentence(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(ReelbenchError, match="not a PyTorch checkpoint of plain tensors"):
        read_checkpoint(checkpoint(tmp_path / "a.pth", content, np.zeros(1)))


def test_a_checkpoint_runs_no_code(tmp_path: Path) -> None:
    class Runs:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (tmp_path / "ran",)

    out = io.BytesIO()
    pickle.dump({"w": Runs()}, out)
    with pytest.raises(ReelbenchError, match="it asks for"):
        read_checkpoint(checkpoint(tmp_path / "a.pth", out.getvalue(), np.zeros(1)))
    assert not (tmp_path / "ran").exists()
