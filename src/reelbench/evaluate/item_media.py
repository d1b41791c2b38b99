"""What is shown of an item's media under a protocol."""

from pathlib import Path

from reelbench.client.media_input import MediaClip, MediaInput, Subtitles, subtitles_beside
from reelbench.data.items import Item, Media
from reelbench.data.manifest import Protocol
from reelbench.data.paths import inner_path
from reelbench.media.decode.frames import FrameSpec
from reelbench.media.decode.sample import parse_sampling


def item_media(root: Path, item: Item, protocol: Protocol) -> MediaInput:
    """Return the media of an item of the benchmark in a folder, for a model that takes all kinds.

    ``MediaInput.for_card`` reduces it to what a model takes.
    """
    modalities = protocol.modalities.split("+")
    sampling = parse_sampling(protocol.sampling)
    subtitles: Subtitles = "unheard" if "A" in modalities else "never"
    if protocol.subtitles:
        subtitles = "always"
    clips = tuple(
        MediaClip(
            root / media.path,
            FrameSpec(
                sampling=sampling.text,
                start=media.start,
                end=media.end,
                evidence=item.evidence if sampling.evidence else (),
                shared_by=len(item.media),
                size=protocol.frame_size,
                encoding=protocol.frame_encoding,
                accept_damage=protocol.accept_damage,
            ),
            None if subtitles == "never" else subtitles_of(root, media),
        )
        for media in item.media
    )
    return MediaInput(
        clips,
        frames="V" in modalities,
        audio=protocol.sound_encoding if "A" in modalities else "",
        subtitles=subtitles,
        timestamps=protocol.timestamps,
        query=item.question if sampling.choice == "query" else "",
        root=root,
    )


def subtitles_of(root: Path, media: Media) -> Path | None:
    """Return the subtitle file that a medium names, or that lies beside it."""
    named = media.extra.get("subtitles")
    return subtitles_beside(root / media.path) if named is None else inner_path(root, named)
