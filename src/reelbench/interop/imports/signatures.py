"""What a file is by its first bytes, where its name promises a video."""

import re
from pathlib import Path

HEAD = 512  # bytes that are enough to know


def not_media(head: bytes) -> str:
    """Return what the first bytes of a file are, where they are no medium: a sentence's end."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith(b"version https://git-lfs"):
        return "a Git LFS pointer, not the file itself: run `git lfs pull` in its folder"
    if start.startswith((b"/annex/objects/", b"../.git/annex", b".git/annex")):
        return "a git-annex pointer, not the file itself: run `git annex get` in its folder"
    if start.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")):
        return "a web page, not a medium: its download failed"
    if start.startswith((b'{"error', b'{"message', b"accessdenied", b"<error")):
        return "the error of a server, not a medium: its download failed"
    return ""


def is_media(head: bytes) -> bool:
    """Whether the first bytes are those of a container or stream that holds video or sound."""
    return any(pattern.match(head) for pattern in _SIGNATURES)


def is_subtitles(head: bytes) -> bool:
    """Whether the first bytes are those of SRT or WebVTT, with an arrow between two times."""
    return b" --> " in head or head.removeprefix(b"\xef\xbb\xbf").startswith(b"WEBVTT")


def head_of(path: Path | str) -> bytes:
    """Return the first bytes of a file."""
    with open(path, "rb") as file:
        return file.read(HEAD)


_SIGNATURES = [
    re.compile(pattern, re.DOTALL)
    for pattern in (
        rb"....(ftyp|moov|mdat|free|skip|wide|pnot|styp)",  # MP4, QuickTime
        rb"\x1a\x45\xdf\xa3",  # Matroska, WebM
        rb"RIFF....(AVI |WAVE|WEBP)",
        rb"\x00\x00\x01[\xb0-\xbf]",  # MPEG program stream and video
        rb"G.{187}G",  # MPEG transport stream
        rb"....G.{191}G",  # and with time stamps
        rb"FLV\x01|OggS|fLaC|ID3|\xff[\xe0-\xff]|GIF8|BM",
        rb"\x30\x26\xb2\x75\x8e\x66\xcf\x11",  # ASF: WMV, WMA
        rb"\xff\xd8\xff|\x89PNG",
    )
]
