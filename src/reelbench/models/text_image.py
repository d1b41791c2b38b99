"""How well pictures fit a text, by an embedding of both: CLIP, SigLIP or another of their kind.

The weights are a folder as transformers saves it. None is in a package: a user names one by an
environment variable, or puts one where ``reelbench weights`` looks for it.
"""

import io
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from reelbench.base.cache import cache_path
from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.media.digests import folder_digest

VARIABLE = "REELBENCH_TEXT_IMAGE"
WEIGHTS = "text_image"  # the name in the registry of weights
_KEPT = 20_000  # embeddings of pictures; each takes some kilobytes
_BATCH = 16


def text_image_folder() -> Path:
    """Return the folder of the weights; an error says where to put some."""
    named = os.environ.get(VARIABLE)
    folder = Path(named).expanduser() if named else cache_path("weights") / WEIGHTS
    if not (folder / "config.json").is_file():
        raise ReelbenchError(
            f"The sampling query:N needs text-image embeddings, and there is no config.json in "
            f"{folder}: set {VARIABLE} to a folder with CLIP or SigLIP as transformers saves it, "
            "or choose keyframes:N."
        )
    return folder


def text_image_digest() -> str:
    """Return the hash of all files of the weights."""
    return folder_digest(text_image_folder())


def picture_scores(text: str, pictures: Sequence[bytes]) -> list[float]:
    """Return the cosine of the angle between a text and each of some encoded pictures."""
    return _scorer(text_image_folder(), os.getpid()).scores(text, pictures)


@cache
def _scorer(folder: Path, _process: int) -> "_Scorer":
    return _Scorer(folder)


Vector = NDArray[np.float64]


class _Scorer:
    """The weights, loaded once; pictures are embedded once for all texts."""

    def __init__(self, folder: Path) -> None:
        try:
            self._torch = import_module("torch")
            transformers = import_module("transformers")
        except ImportError as error:
            raise ReelbenchError(
                f"Text-image embeddings need transformers and PyTorch: {install_command('hf')}"
            ) from error
        try:
            self._model = transformers.AutoModel.from_pretrained(folder, local_files_only=True)
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, local_files_only=True
            )
            self._pictures = transformers.AutoImageProcessor.from_pretrained(
                folder, local_files_only=True
            )
            for name in ("get_text_features", "get_image_features"):
                getattr(self._model, name)
        except Exception as error:  # of whatever library
            reason = " ".join(str(error).split())[:300]
            raise ReelbenchError(
                f"{folder} holds no text-image embeddings that transformers can load ({reason})."
            ) from error
        self._model.eval()
        if self._torch.cuda.is_available():
            self._model.to("cuda")
        # SigLIP was trained on texts that are all of one length.
        usual = str(self._model.config.model_type)
        self._padding = "max_length" if usual.startswith("siglip") else True
        self._length = self._model.config.text_config.max_position_embeddings
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def scores(self, text: str, pictures: Sequence[bytes]) -> list[float]:
        with self._lock:
            digests = [sha256(picture).hexdigest() for picture in pictures]
            new = {d: p for d, p in zip(digests, pictures, strict=True) if d not in self._known}
            self._embed(new)
            own = self._text(text)
            found = [round(float(self._known[digest] @ own), 6) for digest in digests]
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found

    def _embed(self, pictures: dict[str, bytes]) -> None:
        names = list(pictures)
        for start in range(0, len(names), _BATCH):
            batch = names[start : start + _BATCH]
            opened = [Image.open(io.BytesIO(pictures[name])).convert("RGB") for name in batch]
            inputs = self._pictures(images=opened, return_tensors="pt")
            vectors = self._vectors(self._model.get_image_features, inputs)
            self._known |= dict(zip(batch, vectors, strict=True))

    def _text(self, text: str) -> Vector:
        inputs = self._tokenizer(
            [text],
            padding=self._padding,
            truncation=True,
            max_length=self._length,
            return_tensors="pt",
        )
        return self._vectors(self._model.get_text_features, inputs)[0]

    def _vectors(self, embed: Any, inputs: Any) -> list[Vector]:
        with self._torch.inference_mode():
            found = embed(**inputs.to(self._model.device))
        # Earlier versions of transformers return the tensor itself.
        rows = np.asarray(getattr(found, "pooler_output", found).float().cpu(), np.float64)
        return [row / np.linalg.norm(row) for row in rows]
