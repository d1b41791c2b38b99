"""Why a local model cannot be loaded, in sentences, before its weights are: what to change."""

import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.models.card import Card

_INDEX = "model.safetensors.index.json"
_BITS = {"F64": 64, "F32": 32, "F16": 16, "BF16": 16, "I64": 64, "I32": 32, "I16": 16}
_SIZES = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8}
_MOST_HEADER = 100_000_000  # bytes, as the format has it
_GB = 1e9

_REMOTE = (
    "{name}: {model} is run by code of its own (trust_remote_code), which comes with its weights "
    "and is never run here. Use a version of it that transformers knows (often under the name with "
    "-hf), or serve it apart and use the backend openai."
)
_VISION = (
    "{name}: transformers needs torchvision for the processor of {model}: install the build that "
    "fits your PyTorch ({reason})."
)
_UNKNOWN = (
    "{name}: this transformers ({version}) does not know the architecture of {model}: install a "
    "newer one, or serve it apart and use the backend openai."
)

NO_PROCESSOR = (
    "{name}: {model} has no processor (processor_config.json or preprocessor_config.json): copy it "
    "from the model that it was made of."
)


@contextmanager
def explained(card: Card) -> Iterator[None]:
    """Turn what transformers raises while it loads into a sentence that names the model."""
    try:
        yield
    except ReelbenchError:
        raise
    except Exception as error:  # of whatever library
        raise ReelbenchError(_sentence(card, error)) from error


def check_folder(card: Card) -> None:
    """Raise for a local folder that is no model, or whose files of weights are not whole."""
    folder = Path(card.model)
    if not folder.is_dir():
        if folder.exists() or card.model.startswith(("/", ".", "~")):
            raise ReelbenchError(
                f"{card.name}: {card.model} is no folder: write the folder of a model, or its name "
                "on the Hugging Face hub, such as Qwen/Qwen2.5-VL-7B-Instruct."
            )
        return
    if not (folder / "config.json").is_file():
        raise ReelbenchError(f"{card.name}: {folder} is no model: {_without_config(folder)}.")
    files = weight_files(folder)
    if not files:
        raise ReelbenchError(
            f"{card.name}: {folder} has no weights: no *.safetensors and no pytorch_model*.bin."
        )
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise ReelbenchError(
            f"{card.name}: {folder} lacks {len(missing)} of its {len(files)} files of weights, "
            f"which {_INDEX} names: {', '.join(missing)}. Download it again."
        )
    damaged = [reason for file in files if (reason := _damage(file))]
    if damaged:
        raise ReelbenchError(f"{card.name}: {'; '.join(damaged)}. Download it again.")


def check_fits(card: Card, folder: Path, device: str, part: str = "") -> None:
    """Raise where the weights in a folder are larger than the free memory of a device.

    ``part`` is how the names of the tensors begin that are loaded; all by default.
    """
    needed = weights_size(folder, str(card.parameters.get("dtype", "auto")), part)
    free = free_memory(device)
    if needed is None or free is None or needed <= free:
        return
    raise ReelbenchError(
        f"{card.name}: its weights take {needed / _GB:.1f} GB, and {device} has {free / _GB:.1f} "
        "GB free. In its card's parameters, `dtype: bfloat16` halves float32, `device_map: auto` "
        "spreads it over all GPUs; or load quantised weights."
    )


def weight_files(folder: Path) -> list[Path]:
    """Return the files that hold the weights of a model, present or not."""
    index = folder / _INDEX
    if index.is_file():
        try:
            names = json.loads(index.read_text())["weight_map"].values()
            return [folder / name for name in sorted(set(names))]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ReelbenchError(f"{index} is damaged: download the model again.") from None
    return sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))


def weights_size(folder: Path, dtype: str, part: str = "") -> int | None:
    """Return the bytes that weights take once they are loaded; None where it is not known."""
    files = [file for file in weight_files(folder) if file.is_file()]
    if not files:
        return None
    total = 0
    for file in files:
        if file.suffix != ".safetensors":
            total += file.stat().st_size
            continue
        for name, tensor in _tensors(_header(file)):
            if name.startswith(part):
                total += _bytes(tensor, dtype)
    return total


def free_memory(device: str) -> int | None:
    """Return the free bytes of a device; None where that cannot be found out."""
    import torch

    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(torch.device(device))[0])
    if device != "cpu":
        return None
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found = dict(line.split(":", 1) for line in lines if ":" in line)
        free = int(found["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None
    try:  # of a container
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
        return min(free, int(limit) - int(used))
    except (OSError, ValueError):
        return free


def _without_config(folder: Path) -> str:
    if (folder / "adapter_config.json").is_file():
        return (
            "it is an adapter (adapter_config.json): merge it into its model, and name that folder"
        )
    if any(folder.glob("*.gguf")):
        return "it has GGUF files, which llama.cpp serves (`serve:` with the backend openai)"
    return "it has no config.json"


def _damage(file: Path) -> str:
    """Return what is wrong with a file of weights, if anything is."""
    if file.suffix != ".safetensors":
        return "" if file.stat().st_size else f"{file} is empty"
    try:
        header = _header(file)
        ends = [int(tensor["data_offsets"][1]) for _, tensor in _tensors(header)]
        start = 8 + struct.unpack("<Q", _first(file, 8))[0]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, struct.error):
        return f"{file} is damaged (its header cannot be read)"
    missing = start + max(ends, default=0) - file.stat().st_size
    return f"{file} is damaged ({missing} bytes are missing at its end)" if missing > 0 else ""


def _header(file: Path) -> Mapping[str, Any]:
    (size,) = struct.unpack("<Q", _first(file, 8))
    if size > _MOST_HEADER:
        raise ValueError("too long")
    header: Mapping[str, Any] = json.loads(_first(file, 8 + size)[8:])
    return header


def _tensors(header: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, tensor) for name, tensor in header.items() if name != "__metadata__"]


def _first(file: Path, size: int) -> bytes:
    with file.open("rb") as opened:
        return opened.read(size)


def _bytes(tensor: Mapping[str, Any], dtype: str) -> int:
    kind = str(tensor["dtype"])
    count = prod(tensor["shape"])
    if kind in ("F64", "F32", "F16", "BF16") and dtype in _SIZES:
        return int(count * _SIZES[dtype])
    return int(count * _BITS.get(kind, 8) // 8)


def _sentence(card: Card, error: Exception) -> str:
    import transformers

    text = " ".join(str(error).split())
    names: dict[str, Any] = {"name": card.name, "model": card.model, "reason": text[:200]}
    if "trust_remote_code" in text:
        return _REMOTE.format(**names)
    if "torchvision" in text.lower():
        return _VISION.format(**names)
    if "does not recognize this architecture" in text:
        return _UNKNOWN.format(version=transformers.__version__, **names)
    if re.search(r"Can't load (image processor|feature extractor|processor)", text):
        return NO_PROCESSOR.format(**names)
    if type(error).__name__ == "OutOfMemoryError":
        return (
            f"{card.name}: {card.model} does not fit into the memory of its device ({text[:200]}). "
            "In its card's parameters, `dtype: bfloat16` halves float32, `device_map: auto` "
            "spreads it over all GPUs; or load quantised weights."
        )
    return f"{card.name}: {card.model} cannot be loaded ({type(error).__name__}: {text[:300]})."


def check_senses(card: Card, architecture: str, takes: Sequence[str]) -> None:
    """Raise where a card says that a model takes what its processor has no place for."""
    if card.hears and "audio" not in takes:
        raise ReelbenchError(
            f"{card.name}: {architecture} takes no sound: write `hears: false` in its card; it "
            "then reads subtitles where there are any."
        )
    if card.video == "frames" and "video" not in takes:
        raise ReelbenchError(
            f'{card.name}: {architecture} takes no video: write `video: ""` in its card; it then '
            "gets the frames as pictures."
        )
