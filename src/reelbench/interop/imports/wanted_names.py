"""What a list calls a medium: a file's name, a path of another machine, an id, or a link."""

import re
import unicodedata
from functools import lru_cache
from urllib.parse import parse_qs, unquote, urlsplit

from reelbench.data.paths import (
    IMAGE_ENDINGS,
    SOUND_ENDINGS,
    SUBTITLE_ENDINGS,
    VIDEO_ENDINGS,
)

KINDS = {
    **dict.fromkeys(IMAGE_ENDINGS, "image"),
    **dict.fromkeys(SOUND_ENDINGS, "sound"),
    **dict.fromkeys(SUBTITLE_ENDINGS, "subtitles"),
    **dict.fromkeys(VIDEO_ENDINGS, "video"),
}
MOST_NAME = 4096  # characters of a path: a longer text names no file


def link_in(wanted: str) -> str:
    """Return the http(s) link that a text is; empty where it is none."""
    text = wanted.strip().strip("<>\"'")
    return text if re.match(r"https?://[^/\s]+", text, re.IGNORECASE) else ""


@lru_cache(maxsize=4096)
def wanted_parts(wanted: str) -> tuple[str, ...]:
    """Return the folders and the name that a list gives; of a link, the name of its file.

    Drives, leading slashes, ``.`` and ``..`` are dropped: the list was written on another machine.
    """
    text = unicodedata.normalize("NFC", wanted.strip().strip("\"'"))
    if len(text) > MOST_NAME or "\0" in text:
        return ()
    if link := link_in(text):
        return tuple(filter(None, [link_name(link)]))
    if text.lower().startswith("file://"):
        text = unquote(text[7:])
    text = re.sub(r"^[A-Za-z]:(?=[/\\])", "", text).replace("\\", "/")
    return tuple(part for part in text.split("/") if part not in ("", ".", ".."))


def link_name(link: str) -> str:
    """Return the name that the file of a link would have: an id of YouTube, or the last part."""
    try:
        address = urlsplit(link)
        host = (address.hostname or "").removeprefix("www.").removeprefix("m.")
        asked = parse_qs(address.query)
    except ValueError:
        return ""
    parts = [unquote(part) for part in address.path.split("/") if part]
    if host in ("youtube.com", "youtube-nocookie.com", "music.youtube.com"):
        if asked.get("v"):
            return plain_name(asked["v"][0])
        if len(parts) > 1 and parts[0] in ("shorts", "embed", "live", "v"):
            return plain_name(parts[1])
    return plain_name(parts[-1]) if parts else plain_name(host)


def plain_name(name: str) -> str:
    """Return a name as one part of a path, without what would lead elsewhere."""
    kept = "".join(sign if sign.isprintable() and sign not in "/\\" else "_" for sign in name)
    kept = unicodedata.normalize("NFC", kept).strip()
    if kept.startswith("~") or re.match(r"[A-Za-z]:", kept):
        kept = f"_{kept[1:]}" if kept.startswith("~") else kept.replace(":", "_", 1)
    return "" if kept in ("", ".", "..") else kept


def split_ending(name: str) -> tuple[str, str]:
    """Return a name without its ending, and the ending in lower case, where it is one of media."""
    stem, dot, ending = name.rpartition(".")
    ending = f".{ending.lower()}"
    return (stem, ending) if dot and stem and ending in KINDS else (name, "")
