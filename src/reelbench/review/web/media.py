"""Videos, by ranges of bytes: an item says which, never the request."""

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse

from reelbench.data.paths import inner_path
from reelbench.review.web.session import CurrentPerson, context_of

router = APIRouter()


@router.get("/media/{queue}/{number}")
def medium(request: Request, queue: str, number: int, item: str, person: CurrentPerson) -> Response:
    """Return a video of an item that was handed out to this person."""
    review = context_of(request).review
    asked = review.queue(queue)
    subject = asked.subjects().get(item)
    if subject is None or not 0 <= number < len(subject.media):
        raise HTTPException(404, "There is no such video.")
    review.check_may_see(person, asked, subject)
    return FileResponse(inner_path(review.root, subject.media[number].path))
