"""The weights that operators load: the registry, where they are stored, how to fetch them."""

from collections.abc import Collection

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.base.progress import note
from reelbench.weights.find import path_here, path_of, weights_file
from reelbench.weights.load import from_weights, loaded
from reelbench.weights.optional import import_extra
from reelbench.weights.own import content_digest, replacing
from reelbench.weights.registry import find, is_registered

__all__ = [
    "from_weights",
    "import_extra",
    "loaded",
    "provide",
    "replacing",
    "sha256_of",
    "weights_file",
]


def sha256_of(reference: str) -> str:
    """Return the hash that identifies weights, by their name in the registry or by their path.

    That of registered files is the registered one; what a user brings is hashed as it is.
    """
    digests = [file.sha256 for file in find(reference).files] if is_registered(reference) else []
    if not digests:
        return content_digest(path_of(reference))
    return digests[0] if len(digests) == 1 else digest_of(digests)


def provide(references: Collection[str], offline: bool = False) -> None:
    """Fetch the weights that are not on this machine; raise one error that lists every failure."""
    named = [reference for reference in sorted(references) if is_registered(reference)]
    for reference in sorted(set(references) - set(named)):
        path_of(reference)  # a user's own: it is there, or that is said
    absent = [weights for name in named if path_here(weights := find(name)) is None]
    if not absent:
        return
    from reelbench.weights.pull import pull

    problems = pull(absent, note, offline)
    if problems:
        raise ReelbenchError("\n".join(problems.values()))
