"""What the scripts of the pages ask: the next item, saving, drafts, checks."""

from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from reelbench.base.limits import LimitError, check_depth
from reelbench.review.actions import Action
from reelbench.review.errors import ActionError
from reelbench.review.web.session import ChangingPerson, CurrentPerson, context_of
from reelbench.review.written import check_written

router = APIRouter(prefix="/api/q/{queue}")


async def json_body(request: Request, kind: Any) -> Any:
    """Return the body of a request as what it must be."""
    data = await request.body()
    try:
        check_depth(data)
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, LimitError) as error:
        raise ActionError(f"The request cannot be read: {error}.") from None


@router.post("/next")
def next_task(request: Request, queue: str, person: ChangingPerson, besides: str = "") -> Response:
    """Hand out the next item, or one further ``besides`` that in hand; null where there is none."""
    task = context_of(request).review.next_task(person, queue, besides)
    return JSONResponse({"task": task})


@router.get("/discussions")
def discussions(request: Request, queue: str, person: CurrentPerson) -> Response:
    """Return the items in discussion that a person has a say in."""
    return JSONResponse({"items": context_of(request).review.discussions(person, queue)})


@router.get("/task")
def task(request: Request, queue: str, item: str, person: CurrentPerson) -> Response:
    """Return an item that the person has open or has done."""
    return JSONResponse({"task": context_of(request).review.task(person, queue, item)})


@router.post("/events")
async def save(request: Request, queue: str, person: ChangingPerson) -> Response:
    """Keep an action; the answer comes when it is durable."""
    action = await json_body(request, Action)
    review = context_of(request).review
    saved = await run_in_threadpool(review.act, person, queue, action)
    return JSONResponse({"seq": saved.event.seq, "time": saved.event.time, "reveal": saved.reveal})


@router.put("/draft")
async def keep_draft(request: Request, queue: str, item: str, person: ChangingPerson) -> Response:
    """Keep what was typed so far."""
    draft = await json_body(request, dict[str, Any])
    await run_in_threadpool(context_of(request).review.keep_draft, person, queue, item, draft)
    return Response(status_code=204)


@router.post("/check")
async def check(request: Request, queue: str, item: str, person: ChangingPerson) -> Response:
    """Return what is wrong with an item that is being written."""
    review = context_of(request).review
    asked = review.queue(queue)
    record = await json_body(request, dict[str, Any])
    subject = asked.subjects().get(item)
    if subject is None:
        raise ActionError("This video is no longer there.")
    review.check_may_see(person, asked, subject)
    seconds = await run_in_threadpool(asked.seconds, subject)
    _, problems = check_written(asked.protocol, subject, record, seconds=seconds)
    return JSONResponse({"problems": problems})
