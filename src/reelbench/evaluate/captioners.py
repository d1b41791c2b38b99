"""Cascades that caption with the models from whose captions the wrong options were written."""

from collections.abc import Iterator, Mapping, Sequence

from reelbench.data.items import Item

_ROLES = ("picture-captioner", "sound-captioner")


def shared_captioners(
    items: Sequence[Item], captioners: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield a sentence for each cascade, by name, that shares captioners with the benchmark.

    Its captions are what the wrong options were made from or against, so that they tell it which
    options are from the video.
    """
    used = {
        note["models"][role]
        for item in items
        for note in item.provenance.values()
        if isinstance(note, Mapping) and isinstance(note.get("models"), Mapping)
        for role in _ROLES
        if role in note["models"]
    }
    for name, own in captioners.items():
        if shared := sorted(used & set(own)):
            yield (
                f"{name} captions with {' and '.join(shared)}, from whose captions the wrong "
                "options of this benchmark were written: compare it with other models with care"
            )
