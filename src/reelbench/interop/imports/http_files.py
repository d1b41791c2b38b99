"""One file from the web: resumed where it broke off, within a limit, and checked to be a medium."""

import hashlib
import http.client
import ipaddress
import os
import shutil
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from reelbench import __version__
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import write_atomically
from reelbench.base.progress import megabytes
from reelbench.interop.imports.signatures import HEAD, head_of, is_media, not_media
from reelbench.media.errors import MediaError

MOST_BYTES = 10 * 10**9  # of one file
_TIMEOUT = 60  # seconds without a byte
_CHUNK = 1 << 18
_LONGEST_PAUSE = 60.0
_LEAST_RATE = 1024  # bytes a second: a host that is slower never ends
_BUSY = (408, 425, 429, 500, 502, 503, 504)
_TEXTS = ("text/", "application/json", "application/xml", "application/xhtml")


class WebPageError(MediaError):
    """A link that leads to a web page, and not to a file."""


class HostError(MediaError):
    """A host that failed each time it was asked."""


class _TryAgainError(Exception):
    """A failure that may be over soon."""

    def __init__(self, why: str, pause: float = 0.0) -> None:
        super().__init__(why)
        self.pause = pause


@dataclass(frozen=True, slots=True)
class FetchRules:
    """What is fetched, and how often it is tried."""

    most_bytes: int = MOST_BYTES
    tries: int = 4
    media_only: bool = True
    stopped: threading.Event = field(default_factory=threading.Event)  # once set, nothing goes on
    pause: Callable[[float], None] | None = None  # waits between tries; for tests

    def rest(self, seconds: float) -> None:
        """Wait before the next try, unless all is stopped."""
        (self.pause or self.stopped.wait)(seconds)


def fetch_file(url: str, path: Path, partial: Path, rules: FetchRules) -> None:
    """Download a file to a path; raise ``MediaError`` with the reason where that is not possible.

    What has come is kept in ``partial``, and the next time only the rest is asked for.
    """
    if not url.lower().startswith(("http://", "https://")):
        raise MediaError(url, "cannot be downloaded: give an address with http:// or https://")
    why = ""
    for attempt in range(rules.tries):
        try:
            _attempt(url, partial, rules)
        except _TryAgainError as error:
            why = str(error)
            if attempt + 1 < rules.tries:
                rules.rest(min(max(error.pause, 2.0**attempt), _LONGEST_PAUSE))
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(partial, path)
        _validator(partial).unlink(missing_ok=True)
        return
    raise HostError(url, f"cannot be downloaded: {why}")


def _attempt(url: str, partial: Path, rules: FetchRules) -> None:
    have, headers = _range(partial)
    try:
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - http, see above
        with _OPENER.open(request, timeout=_TIMEOUT) as reply:
            _receive(url, reply, have, partial, rules)
    except urllib.error.HTTPError as error:
        _refuse_status(url, error, partial)
    except urllib.error.URLError as error:
        if isinstance(error.reason, _RefusedRedirectError):
            raise MediaError(url, f"cannot be downloaded: {error.reason}") from None
        raise _TryAgainError(str(error.reason)) from None
    except (http.client.InvalidURL, ValueError) as error:
        raise MediaError(url, f"cannot be downloaded: {error}") from None
    except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
        raise _TryAgainError(str(error) or type(error).__name__) from None
    except OSError as error:
        raise ReelbenchError(
            f"{partial} cannot be written ({error.strerror}): make room, or see to the disk, and "
            "give the same command again, which goes on from here."
        ) from error


def _range(partial: Path) -> tuple[int, dict[str, str]]:
    """Return how many bytes are there, and the headers that ask for the rest."""
    headers = {"User-Agent": f"reelbench/{__version__}", "Accept-Encoding": "identity"}
    validator = _validator(partial)
    if not (partial.is_file() and validator.is_file()):
        partial.unlink(missing_ok=True)  # it cannot be known whether the file is still the same
        return 0, headers
    have = partial.stat().st_size
    if not have:
        return 0, headers
    tag = validator.read_text()
    return have, {**headers, "Range": f"bytes={have}-", "If-Range": tag}


def _validator(partial: Path) -> Path:
    return partial.with_name(f"{partial.name}.tag")


def _refuse_status(url: str, error: urllib.error.HTTPError, partial: Path) -> None:
    why = f"{error.code} {error.reason}"
    error.close()
    if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        _discard(partial)
        raise _TryAgainError(why) from None
    if error.code in _BUSY:
        after = error.headers.get("Retry-After", "") if error.headers else ""
        raise _TryAgainError(why, float(after) if after.isdecimal() else 0.0) from None
    raise MediaError(url, f"cannot be downloaded: {why}") from None


def _discard(partial: Path) -> None:
    partial.unlink(missing_ok=True)
    _validator(partial).unlink(missing_ok=True)


def _receive(url: str, reply: Any, have: int, partial: Path, rules: FetchRules) -> None:
    headers: Message = reply.headers
    kept = _kept(reply.status, headers, have, partial)
    kind = headers.get("Content-Type", "").strip().lower()
    if rules.media_only and kind.startswith(_TEXTS):
        _discard(partial)
        raise WebPageError(url, f"is no medium but {kind}")
    if headers.get("Content-Encoding", "identity") != "identity":
        raise MediaError(url, f"comes compressed by {headers['Content-Encoding']}")
    length = headers.get("Content-Length", "")
    expected = kept + int(length) if length.isdecimal() else None
    _check_size(url, expected or 0, kept, partial, rules)
    _keep_validator(partial, headers)
    with partial.open("ab" if kept else "wb") as file:
        count = _stream(url, reply, file, kept, partial, rules)
    if expected is not None and count != expected:
        raise _TryAgainError(f"it ended before its {expected} bytes")
    if rules.media_only:
        _check_content(url, partial)


def _kept(status: int, headers: Message, have: int, partial: Path) -> int:
    """Return how many of the bytes that are there the reply goes on from."""
    if status != http.HTTPStatus.PARTIAL_CONTENT:
        return 0
    tag = _tag(headers)
    if tag and tag != _validator(partial).read_text():
        _discard(partial)
        raise _TryAgainError("it has changed since it broke off")
    given = str(headers.get("Content-Range", "")).removeprefix("bytes ").partition("-")[0]
    if given != str(have):
        raise _TryAgainError(f"it goes on from byte {given or '?'} and not from {have}")
    return have


def _check_size(url: str, expected: int, kept: int, partial: Path, rules: FetchRules) -> None:
    if expected > rules.most_bytes:
        _discard(partial)
        raise MediaError(url, _too_large(rules))
    free = shutil.disk_usage(partial.parent).free
    if expected - kept > free:
        raise ReelbenchError(
            f"{url} is of {megabytes(expected)}, and {partial.parent} has {megabytes(free)} free: "
            "make room, or name a folder on another disk with --out."
        )


def _too_large(rules: FetchRules) -> str:
    return (
        f"is larger than {rules.most_bytes / 1e9:g} GB, the most that is fetched: allow more with "
        "--download-limit"
    )


def _keep_validator(partial: Path, headers: Message) -> None:
    if tag := _tag(headers):
        write_atomically(_validator(partial), tag)
    else:
        _validator(partial).unlink(missing_ok=True)


def _tag(headers: Message) -> str:
    """Return what tells whether the file on the server is still the same; a weak tag does not."""
    tag = str(headers.get("ETag", ""))
    return str(headers.get("Last-Modified", "")) if not tag or tag.startswith("W/") else tag


def _stream(
    url: str, reply: Any, file: IO[bytes], count: int, partial: Path, rules: FetchRules
) -> int:
    began, first = time.monotonic(), count
    while piece := reply.read1(_CHUNK):  # what has come: a kill loses little of it
        seconds = time.monotonic() - began
        if rules.stopped.is_set():
            raise MediaError(url, "cannot be downloaded: it was stopped")
        if seconds > _LONGEST_PAUSE and count - first < seconds * _LEAST_RATE:
            raise _TryAgainError(f"it comes at less than {_LEAST_RATE} bytes a second")
        file.write(piece)
        checked = count < HEAD
        count += len(piece)
        if count > rules.most_bytes:
            _discard(partial)
            raise MediaError(url, _too_large(rules))
        if rules.media_only and checked and count >= HEAD:
            file.flush()
            _check_content(url, partial)  # before the rest is fetched for nothing
    return count


def _check_content(url: str, partial: Path) -> None:
    head = head_of(partial)
    what = not_media(head) or ("" if is_media(head) else "no medium that is known")
    if what:
        _discard(partial)
        kind = WebPageError if "web page" in what else MediaError
        raise kind(url, f"is {what}" if head else "is empty")


class _RefusedRedirectError(Exception):
    """A redirect that is not followed."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but not from the open web into the network of this machine."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        here, there = urlsplit(req.full_url), urlsplit(newurl)
        if there.scheme not in ("http", "https"):
            fp.close()
            raise urllib.error.URLError(_RefusedRedirectError(f"it redirects to {newurl}"))
        moved = here.hostname != there.hostname
        if moved and is_private(there.hostname) and not is_private(here.hostname):
            fp.close()
            why = f"it redirects to {there.hostname}, which is in a private network"
            raise urllib.error.URLError(_RefusedRedirectError(why))
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def is_private(host: str | None) -> bool:
    """Whether a host is in a private network, or this machine."""
    if not host:
        return False
    with suppress(OSError, UnicodeError):
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        addresses = [ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in found]
        return any(not address.is_global for address in addresses)
    return False


_OPENER = urllib.request.build_opener(_Redirects())


def partial_name(url: str) -> str:
    """Return the name of the file in which what has come of a link is kept."""
    return f"{hashlib.sha256(url.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.part"
