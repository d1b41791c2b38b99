"""Which items hang together: those that share a video, or a clip that videos were made from.

Such items are in one split, and count as one draw where an interval is computed.
"""

from collections.abc import Iterator, Sequence

from reelbench.data.items import Item


def video_clusters(items: Sequence[Item]) -> dict[str, int]:
    """Number the clusters of items that share a video or a clip, directly or through others."""
    leaders = cluster_leaders(items)
    numbers = {name: number for number, name in enumerate(sorted(set(leaders.values())))}
    return {item_id: numbers[name] for item_id, name in leaders.items()}


def cluster_leaders(items: Sequence[Item]) -> dict[str, str]:
    """Return a name for the cluster of each item, by id; the order of items does not matter."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            leader[name] = name = leader[leader[name]]  # the way is shorter for who comes next
        return name

    for item in items:
        first, *others = footage_of(item)
        for other in others:
            # The first in the alphabet leads, so that the order of items does not matter.
            one, two = sorted([find(first), find(other)])
            leader[two] = one
    return {item.id: find(next(footage_of(item))) for item in items}


def footage_of(item: Item) -> Iterator[str]:
    """Yield names for all that an item shows: its files, and the clips that they were made from."""
    for media in item.media:
        yield f"file {media.path}"
    for clip in item.source_clips:
        yield f"clip {clip}"
