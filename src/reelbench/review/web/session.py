"""Who sends a request, and whether the page that sends it is ours."""

import hmac
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from reelbench.review.errors import AccessError
from reelbench.review.people import SESSION_DAYS, Person, csrf_token

if TYPE_CHECKING:
    from reelbench.review.web.app import AppContext

COOKIE = "reelbench_session"


class LogInFirstError(AccessError):
    """Nobody is logged in, or no longer."""


def context_of(request: Request) -> "AppContext":
    """Return what every request needs."""
    context: AppContext = request.app.state.context
    return context


async def current_person(request: Request) -> Person:
    """Return who is logged in; what changes something must come from a page of their session."""
    token, accounts = request.cookies.get(COOKIE, ""), context_of(request).accounts
    person = accounts.known_person(token) if token else None
    if token and person is None:  # the database is asked, which may take a while
        person = await run_in_threadpool(accounts.person, token)
    if person is None:
        raise LogInFirstError("Your session has ended: log in again.")
    request.state.csrf = csrf_token(token)
    return person


async def changing_person(request: Request, person: "CurrentPerson") -> Person:
    """Return who is logged in, for a request that changes something."""
    sent = request.headers.get("x-csrf-token")
    if sent is None and request.headers.get("content-type", "").startswith(
        ("application/x-www-form-urlencoded", "multipart/form-data")
    ):
        sent = str((await request.form()).get("csrf", ""))
    if not hmac.compare_digest((sent or "").encode(), request.state.csrf.encode()):
        raise AccessError("This page is too old: reload it and try again.")
    return person


async def organiser(person: "CurrentPerson") -> Person:
    """Return who is logged in, who must be an organiser."""
    return _as_organiser(person)


def _as_organiser(person: Person) -> Person:
    if not person.may("organiser"):
        raise AccessError("Only organisers see the desk.")
    return person


async def changing_organiser(person: "ChangingPerson") -> Person:
    """Return the organiser who changes something."""
    return _as_organiser(person)


CurrentPerson = Annotated[Person, Depends(current_person)]
ChangingPerson = Annotated[Person, Depends(changing_person)]
Organiser = Annotated[Person, Depends(organiser)]
ChangingOrganiser = Annotated[Person, Depends(changing_organiser)]


def remember(request: Request, response: Response, token: str) -> None:
    """Put the token of a session into the cookie that pages send."""
    response.set_cookie(
        COOKIE,
        token,
        max_age=SESSION_DAYS * 24 * 3600,
        httponly=True,
        samesite="lax",
        secure="https" in (request.url.scheme, context_of(request).address.partition(":")[0]),
    )
