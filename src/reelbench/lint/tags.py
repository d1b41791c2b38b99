"""Tags that are not in the benchmark's taxonomy."""

from collections.abc import Iterator, Mapping, Sequence

from reelbench.data.items import Item, Json
from reelbench.lint.findings import Finding


def tag_findings(
    items: Sequence[tuple[int, Item]], taxonomy: Mapping[str, Json]
) -> Iterator[Finding]:
    """Yield a finding for each tag value that the taxonomy does not have."""
    allowed = {tag: set(_names(part)) for tag, part in taxonomy.items()}
    for line, item in items:
        for tag in allowed:
            for value in item.tag(tag):
                if value not in allowed[tag]:
                    message = f"{tag} is {value!r}, which benchmark.yaml's taxonomy does not have"
                    yield Finding.of("UNKNOWN_TAG", message, item, line)


def _names(part: Json) -> Iterator[str]:
    """All names of a taxonomy, which may be a list or a tree: inner nodes are values too."""
    if isinstance(part, dict):
        for name, deeper in part.items():
            yield name
            yield from _names(deeper)
    elif isinstance(part, tuple):
        for deeper in part:
            yield from _names(deeper)
    elif part is not None:
        yield str(part)
