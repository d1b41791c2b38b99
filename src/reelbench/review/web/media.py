"""Videos, by ranges of bytes: an item says which, never the request."""

import gzip

import msgspec
from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse

from reelbench.review.media import MediaJob
from reelbench.review.web.session import CurrentPerson, context_of

router = APIRouter()
_FRESH = {"Cache-Control": "private, no-cache"}  # kept by the browser, which asks if it changed


@router.get("/api/media/{queue}/{number}")
def status(request: Request, queue: str, number: int, item: str, person: CurrentPerson) -> Response:
    """Return whether a video can be played yet, and what a player must know of it."""
    job = _found(request, queue, number, item, person)
    shown = {"status": job.status, "progress": job.progress, "message": job.message}
    if job.status == "ready":
        shown |= msgspec.to_builtins(job.media)
    body = msgspec.json.encode(shown)
    headers = {"Vary": "Accept-Encoding"}
    if len(body) > 1000 and "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = gzip.compress(body, 6), "gzip"
    return Response(body, media_type="application/json", headers=headers)


@router.get("/media/{queue}/{number}")
def medium(request: Request, queue: str, number: int, item: str, person: CurrentPerson) -> Response:
    """Return a video of an item that was handed out to this person."""
    job = _found(request, queue, number, item, person)
    if job.media is None or job.path is None or not job.path.is_file():
        raise HTTPException(404, job.message or "This video is being prepared.")
    return FileResponse(job.path, media_type=job.media.type, headers=_FRESH)


def _found(request: Request, queue: str, number: int, item: str, person: CurrentPerson) -> MediaJob:
    context = context_of(request)
    asked = context.review.queue(queue)
    subject = asked.subjects().get(item)
    if subject is None or not 0 <= number < len(subject.media):
        raise HTTPException(404, "There is no such video.")
    context.review.check_may_see(person, asked, subject)
    return context.media.find(subject.media[number].path)
