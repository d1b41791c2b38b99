"""The pages that people see, and the files they are made of."""

import re
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from reelbench.base.files import canonical_json
from reelbench.pages import render
from reelbench.review.people import Person
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.web.session import CurrentPerson, context_of

router = APIRouter()
_POINT = re.compile(r"[-*•] |\d+[.)] ")
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def show(
    request: Request, template: str, person: Person | None, *, status: int = 200, **values: Any
) -> HTMLResponse:
    """Return a page; ``data`` among the values is embedded as JSON for its scripts."""
    context = context_of(request)
    data = {"strings": context.strings.texts, **values.pop("data", {})}
    text = render(
        "reelbench.review",
        template,
        t=context.strings.text,
        title=context.title,
        person=person,
        csrf=getattr(request.state, "csrf", ""),
        data=canonical_json(data).replace("<", "\\u003c"),
        language=context.strings.language,
        **values,
    )
    return HTMLResponse(text, status)


def error_page(request: Request, message: str, status: int) -> HTMLResponse:
    """Return the page that says what went wrong."""
    return show(request, "error.html.j2", None, status=status, message=message)


@router.get("/")
def home(request: Request, person: CurrentPerson) -> Response:
    """Show the queues of a person, first those in which something is left to do."""
    review = context_of(request).review
    queues = sorted(review.queues_for(person), key=lambda each: not each[1]["left"])
    for queue, counts in queues:
        counts["discussions"] = len(review.discussions(person, queue.name))
    data = {"person": person.name}
    return show(request, "home.html.j2", person, queues=queues, data=data)


@router.get("/q/{queue}")
def queue_page(request: Request, queue: str, person: CurrentPerson) -> Response:
    """Show the page of a queue; its script fetches the items."""
    protocol = context_of(request).review.queue(queue).protocol
    data = {"queue": queue, "protocol": protocol_for_page(protocol), "person": person.name}
    return show(
        request, f"{protocol.page}.html.j2", person, protocol=protocol, data=data,
        paragraphs=paragraphs(protocol.instructions),
    )  # fmt: skip


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text: lines broken by a file are joined, points of a list not."""
    found: list[str] = []
    goes_on = False
    for line in map(str.strip, text.splitlines()):
        if line and goes_on and not _POINT.match(line):
            found[-1] += " " + line
        elif line:
            found.append(line)
        goes_on = bool(line)
    return found


def protocol_for_page(protocol: ReviewProtocol) -> dict[str, Any]:
    """Return what the script of a page needs to know of its protocol."""
    names = (
        "name", "page", "title", "instructions", "watch", "pairs", "gap", "kinds", "options",
        "evidence", "agree", "failure_tags", "open_types", "written_answers", "back", "per_day",
        "reviewers",
    )  # fmt: skip
    shown: dict[str, Any] = {name: getattr(protocol, name) for name in names}
    shown["tags"] = [
        {"name": t.name, "choices": t.choices, "several": t.several, "needed": t.needed}
        for t in protocol.tags
    ]
    shown["axes"] = [
        {"name": a.name, "lowest": a.lowest, "highest": a.highest, "about": a.about,
         "anchors": dict(a.anchors)}
        for a in protocol.axes
    ]  # fmt: skip
    return shown


@router.get("/static/{name}")
def static(name: str) -> Response:
    """Return a script or style sheet of ours; there is a fixed list of them."""
    file = _static_files().get(name)
    if file is None:
        raise HTTPException(404, "There is no such file.")
    kind = _TYPES["." + name.rsplit(".", 1)[1]]
    return Response(file, media_type=kind, headers={"Cache-Control": "no-cache"})


@cache
def _static_files() -> dict[str, str]:
    own = files("reelbench.review").joinpath("static")
    found = {each.name: each.read_text("utf-8") for each in own.iterdir()}
    theme = files("reelbench.pages").joinpath("templates", "theme.css")
    return {**found, "theme.css": theme.read_text("utf-8")}
