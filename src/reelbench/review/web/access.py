"""Joining, logging in and out."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from reelbench.review.errors import AccessError
from reelbench.review.web.pages import show
from reelbench.review.web.session import COOKIE, ChangingPerson, CurrentPerson, context_of, remember

router = APIRouter()
Text = Annotated[str, Form(max_length=500)]


@router.get("/login")
def login_page(request: Request) -> Response:
    """Show the form."""
    return show(request, "login.html.j2", None, error="")


@router.post("/login")
def log_in(request: Request, name: Text, password: Text) -> Response:
    """Open a session, or say why not."""
    context = context_of(request)
    address = request.client.host if request.client else ""
    try:
        context.logins.check(name, address)
    except AccessError as error:
        return show(request, "login.html.j2", None, status=429, error=str(error))
    try:
        token = context.accounts.log_in(name, password)
    except AccessError as error:
        context.logins.failed(name, address)
        return show(request, "login.html.j2", None, status=403, error=str(error))
    context.logins.succeeded(name, address)
    return _entered(request, token)


@router.get("/join/{token}")
def join_page(request: Request, token: str) -> Response:
    """Show the form of an invitation."""
    role = context_of(request).accounts.invitation(token)
    return show(request, "join.html.j2", None, role=role, token=token, error="")


@router.post("/join/{token}")
def join(request: Request, token: str, name: Text, password: Text) -> Response:
    """Make an account, or say why not."""
    context = context_of(request)
    try:
        session = context.accounts.join(token, name, password)
    except AccessError as error:
        role = context.accounts.invitation(token)
        values = {"role": role, "token": token, "error": str(error)}
        return show(request, "join.html.j2", None, status=403, **values)
    return _entered(request, session)


@router.get("/enter/{token}")
def enter(request: Request, token: str) -> Response:
    """Let in who started the server on this machine for themselves."""
    context = context_of(request)
    name = context.entries.get(token)
    if name is None:
        raise AccessError("This link is not from this server's start: look in its terminal.")
    return _entered(request, context.accounts.local_session(name))


@router.get("/api/session")
def session(request: Request, person: CurrentPerson) -> Response:
    """Return who is logged in and the token of their pages, for a page of an ended session."""
    return JSONResponse({"person": person.name, "csrf": request.state.csrf})


@router.post("/logout")
def log_out(request: Request, _: ChangingPerson) -> Response:
    """End the session."""
    context_of(request).accounts.log_out(request.cookies[COOKIE])
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE)
    return response


def _entered(request: Request, token: str) -> Response:
    response = RedirectResponse("/", 303)
    remember(request, response, token)
    return response
