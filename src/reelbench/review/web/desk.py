"""The organiser's desk."""

from fastapi import APIRouter, Request, Response

from reelbench.review.web.pages import show
from reelbench.review.web.session import Organiser, context_of

router = APIRouter(prefix="/desk")


@router.get("")
def desk(request: Request, person: Organiser) -> Response:
    """Show all queues, people and disputes."""
    queues = context_of(request).review.queues_for(person)
    return show(request, "desk.html.j2", person, queues=queues)
