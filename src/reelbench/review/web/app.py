"""The application: what is shared by all requests, and how errors become answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException

from reelbench.base.errors import ReelbenchError
from reelbench.review.database import DatabaseDownError
from reelbench.review.errors import (
    AccessError,
    ActionError,
    BusyError,
    ChangedItemError,
    ConflictError,
)
from reelbench.review.media import MediaLibrary
from reelbench.review.people import Accounts, LoginLimit
from reelbench.review.review import Review
from reelbench.review.strings import Strings
from reelbench.review.verdict_file import VerdictWriter
from reelbench.review.web import access, desk, media, pages, tasks
from reelbench.review.web.guard import Guard
from reelbench.review.web.session import LogInFirstError


@dataclass(slots=True)
class AppContext:
    """What every request needs; it is found at ``request.app.state.context``."""

    review: Review
    accounts: Accounts
    title: str
    strings: Strings
    logins: LoginLimit = field(default_factory=LoginLimit)
    entries: dict[str, str] = field(default_factory=dict)  # local links, and whom they let in
    address: str = ""  # where people find the pages
    media: MediaLibrary = field(init=False)

    def __post_init__(self) -> None:
        self.media = MediaLibrary(self.review.root)


def create_app(context: AppContext, hosts: tuple[str, ...] = ()) -> FastAPI:
    """Return the application of a review; requests for other ``hosts`` are refused, if any."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with VerdictWriter(context.review):
            yield

    app = FastAPI(
        title="Reelbench review", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    app.state.context = context
    for part in (access, pages, tasks, media, desk):
        app.include_router(part.router)
    app.add_exception_handler(ReelbenchError, _refused)
    app.add_exception_handler(HTTPException, _not_there)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_middleware(Guard, hosts=hosts)
    return app


def _refused(request: Request, error: Exception) -> Response:
    """Answer what cannot be done with a sentence; pages get a page, scripts get JSON."""
    if isinstance(error, LogInFirstError) and not _is_script(request):
        return RedirectResponse("/login", 303)
    body: dict[str, object] = {"error": str(error), "kind": type(error).__name__}
    if isinstance(error, ConflictError):
        body["events"] = [
            {"who": each.who, "type": each.type, "time": each.time, "seq": each.seq,
             "body": each.body}
            for each in error.events
        ]  # fmt: skip
    if isinstance(error, ActionError):
        body["problems"] = list(error.problems)
    status = _status(error)
    if _is_script(request):
        return JSONResponse(body, status)
    return pages.error_page(request, str(error), status)


def _status(error: Exception) -> int:
    for kind, status in (
        (LogInFirstError, 401),
        (DatabaseDownError, 503),
        (BusyError, 503),
        (ConflictError, 409),
        (ChangedItemError, 410),
        (ActionError, 422),
        (AccessError, 403),
    ):
        if isinstance(error, kind):
            return status
    return 400


def _not_there(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if _is_script(request):
        return JSONResponse({"error": error.detail}, error.status_code)
    message = "There is no such page." if error.detail == "Not Found" else str(error.detail)
    return pages.error_page(request, message, error.status_code)


def _not_understood(request: Request, error: Exception) -> Response:
    """Name what is missing or wrong in a request; what it holds is not sent back."""
    assert isinstance(error, RequestValidationError)
    names = dict.fromkeys(str(each["loc"][-1]) for each in error.errors())
    return _refused(request, ActionError(f"Missing or wrong: {', '.join(names)}."))


def _is_script(request: Request) -> bool:
    return request.url.path.startswith(("/api/", "/media/"))
