"""The files of subtitles that rows name: found, and laid beside the media they belong to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from reelbench.data.items import freeze
from reelbench.data.paths import SUBTITLE_ENDINGS, beside
from reelbench.interop.imports.found_media import FoundMedium, MissingMedium
from reelbench.interop.imports.items import ItemDraft
from reelbench.interop.imports.media_files import MediaFinder, media_names
from reelbench.interop.imports.subtitle_json import ENDING, subtitle_texts

_THERE = ("several", "empty", "damaged")  # reasons not to take files that have the name


@dataclass(frozen=True, slots=True)
class SubtitlePlan:
    """Items with their subtitles, the files and texts that these are, and those not found."""

    drafts: Sequence[ItemDraft]
    files: Mapping[str, FoundMedium]  # by path in the benchmark
    texts: Mapping[str, str]  # to write, by path
    missing: Sequence[MissingMedium]


def find_subtitles(
    drafts: Sequence[ItemDraft], folders: Sequence[Path], out: Path, look_into_archives: bool
) -> SubtitlePlan:
    """Find the subtitles of items, each in the first folder that has it.

    Whole files become those of the benchmark; JSON becomes SRT on the clock of each clip.
    """
    wanted = {name for draft in drafts for name in draft.subtitles}
    found, reasons = _found(wanted, folders, out, look_into_archives)
    in_json = {
        name: one.path
        for name, one in found.items()
        if one.path and one.path.suffix.lower() == ENDING
    }
    whole = {name: one for name, one in found.items() if name not in in_json}
    names = media_names(whole.values())
    missing = [
        MissingMedium(draft.item.id, name, "missing", reasons[name] or _nowhere(name, folders))
        for draft in drafts
        for name in draft.subtitles
        if name not in found
    ]
    return SubtitlePlan(
        [_with_subtitles(draft, whole, names) for draft in drafts],
        {names[one]: one for one in whole.values()},
        subtitle_texts(drafts, in_json),
        missing,
    )


def _found(
    wanted: set[str], folders: Sequence[Path], out: Path, look_into_archives: bool
) -> tuple[dict[str, FoundMedium], dict[str, str]]:
    """The files by name, and why others that are there cannot be taken.

    JSON is not read in archives.
    """
    found: dict[str, FoundMedium] = {}
    reasons = dict.fromkeys(wanted, "")
    for folder in folders:
        if not (left := sorted(wanted - found.keys())):
            break
        finder = MediaFinder(folder, [out], look_into_archives)
        for name in left:
            one = finder.find(name, kind="subtitles")
            endings = (*SUBTITLE_ENDINGS, ENDING) if one.path else SUBTITLE_ENDINGS
            if one.is_found and one.below.lower().endswith(endings):
                found[name] = one
            elif one.reason in _THERE:
                reasons[name] = f"{one.why}, below {folder}"
    return found, reasons


def _nowhere(name: str, folders: Sequence[Path]) -> str:
    return f"no file {name} below {', nor below '.join(map(str, folders))}"


def _with_subtitles(
    draft: ItemDraft, found: Mapping[str, FoundMedium], names: Mapping[FoundMedium, str]
) -> ItemDraft:
    media = list(draft.item.media)
    for place, name in enumerate(draft.subtitles):
        if name in found and (path := names[found[name]]) not in beside(media[place].path):
            extra = freeze({**media[place].extra, "subtitles": path})
            media[place] = msgspec.structs.replace(media[place], extra=extra)
    return replace(draft, item=msgspec.structs.replace(draft.item, media=tuple(media)))
