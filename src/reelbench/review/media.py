"""The videos of a review as browsers can play them: each looked into once, and encoded once.

What browsers cannot play is encoded anew in the background, one file at a time, in a process that
can be killed. Results lie in ``review/media/``, by the hash of the file that they were made of.
"""

import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import write_atomically
from reelbench.base.workers import WorkerError, WorkerPool
from reelbench.data.paths import inner_path
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.digests import Identity, identity_of, media_digest
from reelbench.media.edit.playable import PlayableMedia, inspect, transcode
from reelbench.media.errors import MediaError, refuse_no_file

VERSION = 1  # raise it when a change alters what is kept
_AT_ONCE = 1.5  # seconds for which the first request waits: most files are ready by then
_TRY_AGAIN = 30.0  # seconds after which a file that failed is looked at again
_SLOWEST = 100.0  # times its duration, that encoding a video may take
_WORST = 3600.0  # seconds that it may take in any case


@dataclass(slots=True)
class MediaJob:
    """Where a file stands on its way to the browser."""

    identity: Identity
    status: Literal["ready", "preparing", "failed"] = "preparing"
    message: str = ""
    media: PlayableMedia | None = None
    path: Path | None = None  # what is served, once it is ready
    reports: Path | None = None  # the file that tells how much is done
    done: float = 0.0  # the share that was told last
    ended: float = 0.0
    settled: threading.Event = field(default_factory=threading.Event)

    @property
    def progress(self) -> float:
        """The share that is done; it never goes back."""
        if self.reports is not None:
            with suppress(OSError, ValueError):
                self.done = max(self.done, float(self.reports.read_text()))
        return 1.0 if self.status == "ready" else self.done


class MediaLibrary:
    """The media of a benchmark's folder; threads may share it."""

    def __init__(self, root: Path) -> None:
        self._root, self._folder = root, root / "review" / "media"
        self._encoders = WorkerPool(1)
        self._jobs: dict[str, MediaJob] = {}
        self._lock, self._turn = threading.Lock(), threading.Lock()

    def find(self, name: str) -> MediaJob:
        """Return where a file of the benchmark stands; what is new is begun."""
        try:
            path = inner_path(self._root, name)
        except ReelbenchError:  # which says where the file is, and that is nobody's business
            return _failed(f"{name} is not inside the benchmark's folder.")
        try:
            refuse_no_file(path)
            identity = identity_of(path)
        except MediaError as error:
            return _failed(f"{name}: {error.reason}.")
        except OSError as error:
            return _failed(f"{name}: {error.strerror}.")
        with self._lock:
            job = self._jobs.get(name)
            is_new = job is None or job.identity != identity or _is_stale(job)
            if job is None or is_new:
                job = self._jobs[name] = MediaJob(identity)
                work = threading.Thread(target=self._prepare, args=(job, path, name), daemon=True)
                work.start()
        if is_new:
            job.settled.wait(_AT_ONCE)
        return job

    def _prepare(self, job: MediaJob, path: Path, name: str) -> None:
        try:
            job.media, job.path = self._prepared(job, path)
            job.status = "ready"
        except MediaError as error:
            job.message = f"{name} cannot be played: {error.reason}."
        except WorkerError as error:
            job.message = f"{name} cannot be played: encoding it {error}."
        except (ReelbenchError, OSError) as error:
            reason = str(error).replace(f"{self._root}{os.sep}", "").rstrip(".")
            job.message = (
                f"{name} cannot be prepared for the browser: {reason}. Tell the organiser."
            )
        except Exception as error:  # of a library, on whatever the file holds
            job.message = f"{name} cannot be prepared for the browser: {error}."
        finally:
            if job.status != "ready":
                job.status, job.ended = "failed", time.monotonic()
            job.settled.set()

    def _prepared(self, job: MediaJob, path: Path) -> tuple[PlayableMedia, Path]:
        """Return what a player must know, and the file that is served."""
        key = f"{media_digest(path)[:32]}-{VERSION}"
        facts = self._folder / f"{key}.json"
        known = _read(facts)
        if known is None:
            known = run_isolated(inspect, path)
            self._folder.mkdir(parents=True, exist_ok=True)
            if not known.type:
                job.reports = self._folder / f"{key}.progress"
                job.reports.unlink(missing_ok=True)  # of a server that was killed
                known = self._encoded(path, facts, job.reports, known.duration)
            with suppress(ReelbenchError, OSError):  # it is looked into again, then
                write_atomically(facts, msgspec.json.encode(known))
        return known, self._folder / known.file if known.file else path

    def _encoded(self, path: Path, facts: Path, reports: Path, seconds: float) -> PlayableMedia:
        """Encode a video anew, unless that was done while this one waited for its turn."""
        limit = max(_WORST, _SLOWEST * seconds)
        with self._turn:
            known = _read(facts)
            return known or self._encoders.call(
                transcode, path, facts.with_suffix(""), reports, limit=limit
            )


def _read(facts: Path) -> PlayableMedia | None:
    """Return what was found out earlier, where that, and what was encoded, is still there."""
    try:
        known = msgspec.json.decode(facts.read_bytes(), type=PlayableMedia)
    except (OSError, msgspec.DecodeError):
        return None
    return known if not known.file or (facts.parent / known.file).is_file() else None


def _failed(message: str) -> MediaJob:
    return MediaJob((0, 0, 0, 0, 0), "failed", message)


def _is_stale(job: MediaJob) -> bool:
    """Whether a file failed and may be tried again: a disk may be less full by now."""
    return job.status == "failed" and time.monotonic() - job.ended > _TRY_AGAIN
