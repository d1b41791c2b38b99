"""The media of imported items: found, named as in the benchmark, or said to be missing."""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import write_atomically
from reelbench.base.progress import counted, megabytes
from reelbench.data.items import shown
from reelbench.interop.imports.downloads import download_media
from reelbench.interop.imports.found_media import FoundMedium, MissingMedium, Request
from reelbench.interop.imports.http_files import FetchRules
from reelbench.interop.imports.items import ItemDraft, OddRow
from reelbench.interop.imports.media_files import MediaFinder, media_names, place_media
from reelbench.interop.imports.subtitle_files import find_subtitles
from reelbench.interop.imports.wanted_names import link_in

_MOST_ENTRIES = 300_000  # of a folder that is looked through unasked: some seconds


@dataclass(frozen=True, slots=True)
class MediaRules:
    """Where media are looked for, and what is done about those that are not there."""

    folder: Path | None = None  # that a person named
    keep_missing: bool = False
    look_into_archives: bool = True
    download: FetchRules | None = None  # links are fetched, by these rules
    dry_run: bool = False


@dataclass(slots=True)
class MediaPlan:
    """Which files go where, which items lack theirs, and what there is to say about it."""

    drafts: list[ItemDraft]
    files: dict[str, FoundMedium] = field(default_factory=dict)  # by path in the benchmark
    links: dict[str, str] = field(default_factory=dict)  # that are not fetched, by path
    missing: list[MissingMedium] = field(default_factory=list)
    odd: list[OddRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)  # subtitles to write, by path
    missing_subtitles: list[MissingMedium] = field(default_factory=list)
    remarks: list[OddRow] = field(default_factory=list)  # about rows that are items all the same


def plan_media(
    drafts: Sequence[ItemDraft], folders: "MediaFolders", out: Path, rules: MediaRules
) -> MediaPlan:
    """Find the media of items in the first of the folders that has any of them.

    Where nobody named a folder and no medium is there at all, items are kept, and it is said where
    their media go. Otherwise items without their media are odd rows.
    """
    requests = {request for draft in drafts for request in _requests(draft)}
    found, notes = _found(requests, folders.media, out, rules)
    if found is None:
        plan = _without_media(drafts, rules)
        plan.notes = [*notes, *plan.notes]
        return plan
    names = media_names(found.values())
    plan = MediaPlan([], notes=notes)
    for draft in drafts:
        media = [found[request] for request in _requests(draft)]
        plan.links |= {names[one]: link_in(one.wanted) for one in media if one.reason == "link"}
        absent = [one for one in media if not _will_be_there(one, rules)]
        plan.missing += [
            MissingMedium(draft.item.id, one.wanted, one.reason, one.why) for one in absent
        ]
        if absent and not rules.keep_missing:
            plan.odd.append(_odd(draft, "; ".join(dict.fromkeys(one.why for one in absent))))
            continue
        plan.files |= {names[one]: one for one in media if one.is_found}
        plan.drafts.append(_renamed(draft, [names[one] for one in media]))
        plan.remarks += _spelled_otherwise(draft, media)
    _add_subtitles(plan, folders.subtitles, out, rules)
    plan.notes += _in_words(plan, len(drafts), rules)
    return plan


def put_media(plan: MediaPlan, out: Path, rules: MediaRules) -> MediaPlan:
    """Put the files of a plan into the benchmark's folder; return it without what has none."""
    faults = place_media(plan.files, out)
    for name, text in plan.texts.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out / name, text)
    if rules.download and plan.links:
        fetched = download_media(plan.links, out, rules.download)
        faults |= fetched.faults
        plan.links = {name: plan.links[name] for name in fetched.faults}
        plan.drafts = [_renamed_by(draft, fetched.paths) for draft in plan.drafts]
    kept = []
    for draft in plan.drafts:
        media = zip(draft.item.media, draft.wanted, strict=True)
        absent = [(each.path, wanted) for each, wanted in media if each.path in faults]
        for path, wanted in absent:
            reason = "link" if path in plan.links else "damaged"
            plan.missing.append(MissingMedium(draft.item.id, wanted, reason, faults[path]))
        if absent and not rules.keep_missing:
            plan.odd.append(_odd(draft, faults[absent[0][0]]))
        else:
            kept.append(draft)
    plan.drafts = kept
    return plan


def _will_be_there(one: FoundMedium, rules: MediaRules) -> bool:
    return one.is_found or (one.reason == "link" and rules.download is not None)


def _spelled_otherwise(draft: ItemDraft, media: Sequence[FoundMedium]) -> Iterator[OddRow]:
    """Say of a name that other rows spell in another case which file it was taken for."""
    for wanted, one in zip(draft.wanted, media, strict=True):
        if one.is_found and one.wanted != wanted:
            why = f"imported: but for upper and lower case, {shown(wanted)} is {one.below}"
            yield OddRow(draft.record.file, draft.record.line, draft.item.id, why)


def _add_subtitles(plan: MediaPlan, folders: Sequence[Path], out: Path, rules: MediaRules) -> None:
    found = find_subtitles(plan.drafts, folders, out, rules.look_into_archives)
    plan.drafts[:] = found.drafts
    plan.files |= found.files
    plan.texts |= found.texts
    plan.missing_subtitles += found.missing


def _odd(draft: ItemDraft, why: str) -> OddRow:
    return OddRow(draft.record.file, draft.record.line, draft.item.id, f"video not found: {why}")


@dataclass(frozen=True, slots=True)
class MediaFolders:
    """Where media are looked for, and where subtitles are, the likeliest folder first."""

    media: Sequence[Path]
    subtitles: Sequence[Path]


def folders_for(source: Path, media: Path | None, fixed: str, more: Sequence[Path]) -> MediaFolders:
    """Return the folders to look in: for media the one that was named alone, if one was.

    Subtitles are looked for near the source too: they often lie beside the folder of the videos.
    """
    if media is not None and not media.is_dir():
        raise ReelbenchError(f"{media} is no folder: name one with the videos in --media.")
    near = source if source.is_dir() else source.parent
    places = [*more, *([near / fixed] if fixed else []), near]
    found = [place for place in dict.fromkeys(places) if place.is_dir() and _is_small(place)]
    if media is None:
        return MediaFolders(found, found)
    return MediaFolders([media], list(dict.fromkeys([media, *found])))


def _is_small(folder: Path) -> bool:
    entries = 0
    for _, folders, files in os.walk(folder):
        entries += len(folders) + len(files)
        if entries > _MOST_ENTRIES:
            return False
    return True


def _requests(draft: ItemDraft) -> list[Request]:
    hints = tuple(value for name in draft.item.tags for value in draft.item.tag(name))
    return [(wanted, hints) for wanted in draft.wanted]


def _found(
    requests: set[Request], folders: Sequence[Path], out: Path, rules: MediaRules
) -> tuple[Mapping[Request, FoundMedium] | None, list[str]]:
    """What each name means in the first folder that has any of them; None where none has.

    With it come sentences about folders and archives that cannot be read.
    """
    best: Mapping[Request, FoundMedium] | None = None
    notes: list[str] = []
    for folder in folders:
        finder = MediaFinder(folder, [out], rules.look_into_archives)
        found = finder.find_all(sorted(requests))
        if any(one.is_found for one in found.values()):
            return found, finder.notes
        notes += finder.notes
        best = found if rules.folder else best
    return best, list(dict.fromkeys(notes))


def _renamed(draft: ItemDraft, paths: Sequence[str]) -> ItemDraft:
    media = tuple(
        msgspec.structs.replace(medium, path=path)
        for medium, path in zip(draft.item.media, paths, strict=True)
    )
    return replace(draft, item=msgspec.structs.replace(draft.item, media=media))


def _renamed_by(draft: ItemDraft, names: Mapping[str, str]) -> ItemDraft:
    return _renamed(draft, [names.get(medium.path, medium.path) for medium in draft.item.media])


def _without_media(drafts: Sequence[ItemDraft], rules: MediaRules) -> MediaPlan:
    absent = [
        [FoundMedium(name, reason="link" if link_in(name) else "missing") for name in d.wanted]
        for d in drafts
    ]
    names = media_names(one for media in absent for one in media)
    pairs = zip(drafts, absent, strict=True)
    kept = [_renamed(draft, [names[one] for one in media]) for draft, media in pairs]
    first = kept[0].item.media[0].path if kept else "media/"
    count = len(set(names.values()))
    note = (
        f"No videos are here: put {counted(count, 'file')} into the benchmark's folder (the first "
        f"is {first}), or import again with --media FOLDER."
    )
    links = {names[one]: link_in(one.wanted) for one in names if one.reason == "link"}
    if links:
        more = _links_in_words(links.values(), rules)
        note = more if len(links) == count else f"{note} {more}"
    return MediaPlan(kept, links=links, notes=[note])


def _links_in_words(links: Collection[str], rules: MediaRules) -> str:
    """Say how many videos are links, and of which hosts: nobody else is asked for anything."""
    hosts = Counter(link.split("/")[2] for link in links).most_common()
    named = ", ".join(host for host, _ in hosts[:3]) + (", ..." if len(hosts) > 3 else "")
    text = f"{counted(len(links), 'video is a link', 'videos are links')} ({named})"
    if rules.download:
        return f"{text}, which --download fetches."
    return f"{text}: import/links.txt lists them, and --download fetches them."


def _in_words(plan: MediaPlan, items: int, rules: MediaRules) -> Iterator[str]:
    hows = Counter(one.how for one in plan.files.values())
    by_other = [f"{n:,} {_HOW[how]}" for how, n in sorted(hows.items()) if how in _HOW]
    more = f" ({', '.join(by_other)})" if by_other else ""
    yield f"{counted(len(plan.files), 'file')} of media found{more}."
    sizes = [one.packed.size for one in plan.files.values() if one.packed]
    if sizes:
        amount = megabytes(sum(sizes))
        yield f"{counted(len(sizes), 'file')} of them in archives, {amount} when unpacked."
    if plan.missing:
        reasons = Counter(one.reason for one in plan.missing)
        words = ", ".join(f"{n:,} {reason}" for reason, n in reasons.most_common())
        lacking = len({one.id for one in plan.missing})
        yield f"{lacking:,} of {counted(items, 'item')} without their media: {words}."
    if plan.links:
        yield _links_in_words(plan.links.values(), rules)
    if plan.missing_subtitles:
        names = {one.wanted for one in plan.missing_subtitles}
        first = plan.missing_subtitles[0]
        yield (
            f"{counted(len(names), 'file')} of subtitles not found, and left out, such as "
            f"{shown(first.wanted)} ({first.why}): import/missing_subtitles.csv lists them."
        )


_HOW = {
    "ending": "by the name without an ending",
    "case": "in other case",
    "id": "by the id in their names",
}
