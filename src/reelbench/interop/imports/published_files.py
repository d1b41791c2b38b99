"""Forms of three papers that have readers of their own, which know more than a mapping can say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reelbench.data.items import Item
from reelbench.data.manifest import Manifest
from reelbench.data.sources import Sources
from reelbench.interop.humanvbench.manifest import humanvbench_manifest
from reelbench.interop.humanvbench.published import published_humanvbench
from reelbench.interop.mmou.manifest import mmou_manifest
from reelbench.interop.mmou.published import published_rows_in
from reelbench.interop.qbench_video.source import questions_in
from reelbench.interop.qbench_video.taxonomy import published_manifest


@dataclass(frozen=True, slots=True)
class PaperReader:
    """Reads the files of one paper into items, and writes its manifest."""

    read: Callable[[Path, Path | None], Sources]  # a source, and where its media are
    manifest: Callable[[str, Sequence[Item]], Manifest]  # a title, and the items


PAPERS = {
    "humanvbench": PaperReader(
        lambda source, media: published_humanvbench(source, media=media), humanvbench_manifest
    ),
    "mmou": PaperReader(
        lambda source, media: published_rows_in(source, media, strict=False), mmou_manifest
    ),
    "q-bench-video": PaperReader(
        lambda source, media: questions_in(source, media, strict=False),
        lambda title, items: published_manifest("q-bench-video", title, items),
    ),
}
