"""The weights inside operators: which there are, where they are, how to get them."""

from collections.abc import Collection

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.base.progress import note
from reelbench.weights.find import path_here, weights_file
from reelbench.weights.needs import needs
from reelbench.weights.registry import find

__all__ = ["needs", "provide", "sha256_of", "weights_file"]


def sha256_of(name: str) -> str:
    """Return what weights are known by: the hash of their file, or of the hashes of several."""
    digests = [file.sha256 for file in find(name).files]
    return digests[0] if len(digests) == 1 else digest_of(digests)


def provide(names: Collection[str], offline: bool = False) -> None:
    """Make sure that weights are here: fetch what is not, or raise a sentence that names it."""
    absent = [weights for name in sorted(names) if path_here(weights := find(name)) is None]
    if not absent:
        return
    from reelbench.weights.pull import pull

    problems = pull(absent, note, offline)
    if problems:
        raise ReelbenchError("\n".join(problems.values()))
