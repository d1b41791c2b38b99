"""The weights that operators load: the registry, where they are stored, how to fetch them."""

from collections.abc import Collection

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.base.progress import note
from reelbench.weights.find import path_here, weights_file
from reelbench.weights.optional import import_extra
from reelbench.weights.registry import find

__all__ = ["import_extra", "provide", "sha256_of", "weights_file"]


def sha256_of(name: str) -> str:
    """Return the hash that identifies weights: of their file, or of the hashes of several files."""
    digests = [file.sha256 for file in find(name).files]
    return digests[0] if len(digests) == 1 else digest_of(digests)


def provide(names: Collection[str], offline: bool = False) -> None:
    """Fetch the weights that are not on this machine; raise one error that lists every failure."""
    absent = [weights for name in sorted(names) if path_here(weights := find(name)) is None]
    if not absent:
        return
    from reelbench.weights.pull import pull

    problems = pull(absent, note, offline)
    if problems:
        raise ReelbenchError("\n".join(problems.values()))
