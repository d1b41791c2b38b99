"""The organiser's desk: its page, its numbers, and what organisers change."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from reelbench.base.files import digest_of
from reelbench.data.benchmark import ITEMS_FILE, items_text
from reelbench.data.verdicts import VERDICTS_FILE
from reelbench.review.apply import apply_decisions, counts_of, decided_benchmark, made_by
from reelbench.review.candidates import import_candidates
from reelbench.review.desk import desk_figures
from reelbench.review.errors import ActionError
from reelbench.review.exchange import label_studio_files, label_studio_names
from reelbench.review.export import BENCHMARK, export_archive, export_files
from reelbench.review.people import ROLES
from reelbench.review.review import Review
from reelbench.review.web.pages import show
from reelbench.review.web.session import ChangingOrganiser, Organiser, context_of
from reelbench.review.web.tasks import json_body

router = APIRouter()
ARCHIVE = "everything.zip"
DOWNLOADS = (
    ARCHIVE, VERDICTS_FILE, f"{BENCHMARK}/{ITEMS_FILE}", "rejects.jsonl", "predictions.jsonl",
    "events.jsonl", "events.csv",
)  # fmt: skip
_TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson", "json": "application/json"}


class _Invite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    role: str
    expertise: tuple[str, ...] = ()


class _ChangedPerson(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    role: str
    expertise: tuple[str, ...]
    active: bool


class _Release(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    queue: str
    item: str
    who: str


class _Revoke(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: str


class _Apply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    digest: str


@router.get("/desk")
def desk(request: Request, person: Organiser) -> Response:
    """Show all queues, people and disputes."""
    return _show(request, "desk.html.j2", person)


@router.get("/desk/numbers")
def numbers(request: Request, person: Organiser) -> Response:
    """Return the part of the page that changes while people work."""
    return _show(request, "desk-numbers.html.j2", person)


@router.get("/desk/people")
def people(request: Request, person: Organiser) -> Response:
    """Return the part of the page about people."""
    return _show(request, "desk-people.html.j2", person)


def _show(request: Request, template: str, person: Any) -> Response:
    context = context_of(request)
    figures = desk_figures(context.review, context.accounts.people())
    invitations = [
        (each, datetime.fromtimestamp(each.expires, UTC).date().isoformat())
        for each in context.accounts.invitations()
    ]
    values: dict[str, Any] = {"figures": figures, "invitations": invitations, "roles": ROLES}
    values |= {"downloads": DOWNLOADS, "studio": label_studio_names(context.review)}
    data = {"queue": "desk", "person": person.name}
    return show(request, template, person, **values, data=data, duration=duration)


def duration(seconds: float | None) -> str:
    """Write a time as minutes and seconds; a dash where nobody measured one."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d}"


@router.get("/desk/export/{name:path}")
def export(request: Request, name: str, _: Organiser) -> Response:
    """Return one of the files, or all of them."""
    review = context_of(request).review
    kept = name.rsplit("/", 1)[-1]
    headers = {"Content-Disposition": f'attachment; filename="{_plain(kept)}"'}
    if name == ARCHIVE:
        return Response(export_archive(review), headers=headers, media_type="application/zip")
    files = {**export_files(review), **label_studio_files(review)}
    if name not in files and name not in DOWNLOADS:
        raise HTTPException(404, "There is no such file.")
    kind = _TYPES.get(name.rsplit(".", 1)[-1], "text/plain")
    return Response(files.get(name, ""), headers=headers, media_type=kind)


def _plain(name: str) -> str:
    return "".join(
        sign if (sign.isascii() and sign.isalnum()) or sign in "-_." else "-" for sign in name
    )


@router.get("/api/desk/plan")
def plan(request: Request, _: Organiser) -> Response:
    """Return what putting decisions into the benchmark would change."""
    return JSONResponse(_plan(context_of(request).review))


def _plan(review: Review) -> dict[str, Any]:
    with review.reading():
        made = decided_benchmark(review)
    digest = digest_of([items_text(made.items), made.removed])
    ids = {name: getattr(made, name)[:20] for name in ("changed", "added", "removed", "outdated")}
    recipe = made_by(review.root)
    return {"counts": counts_of(made), "ids": ids, "digest": digest, "new": made.is_new,
            "recipe": recipe}  # fmt: skip


@router.post("/api/desk/apply")
async def apply(request: Request, person: ChangingOrganiser) -> Response:
    """Put decisions into the benchmark, if they are those that were shown."""
    asked = await json_body(request, _Apply)
    review = context_of(request).review
    if (await run_in_threadpool(_plan, review))["digest"] != asked.digest:
        raise ActionError("More was settled meanwhile: look at what would change, then decide.")
    made, kept = await run_in_threadpool(apply_decisions, review, person)
    return JSONResponse({"counts": counts_of(made), "kept": kept})


@router.post("/api/desk/import")
async def bring(request: Request, name: str, person: ChangingOrganiser) -> Response:
    """Take in candidates: the body is a JSONL file of items."""
    content = await request.body()
    review = context_of(request).review
    new = await run_in_threadpool(import_candidates, review, person, content, name[:200])
    return JSONResponse({"new": new})


@router.post("/api/desk/invite")
async def invite(request: Request, person: ChangingOrganiser) -> Response:
    """Return the link of a new invitation; it is shown this once."""
    asked = await json_body(request, _Invite)
    accounts = context_of(request).accounts
    token = await run_in_threadpool(
        accounts.invite, asked.role, person.name, _tidy(asked.expertise)
    )
    address = context_of(request).address or str(request.base_url).rstrip("/")
    return JSONResponse({"link": f"{address}/join/{token}"})


@router.post("/api/desk/revoke")
async def revoke(request: Request, _: ChangingOrganiser) -> Response:
    """Take back an invitation."""
    asked = await json_body(request, _Revoke)
    await run_in_threadpool(context_of(request).accounts.revoke, asked.key)
    return Response(status_code=204)


@router.post("/api/desk/person")
async def change_person(request: Request, _: ChangingOrganiser) -> Response:
    """Give someone another role or expertise, or end their access."""
    asked = await json_body(request, _ChangedPerson)
    accounts = context_of(request).accounts
    await run_in_threadpool(
        accounts.change, asked.name, asked.role, _tidy(asked.expertise), asked.active
    )
    return Response(status_code=204)


def _tidy(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip()[:100] for word in words[:50] if word.strip()))


@router.post("/api/desk/release")
async def release(request: Request, person: ChangingOrganiser) -> Response:
    """Give an item that someone left open to others."""
    asked = await json_body(request, _Release)
    review = context_of(request).review
    if asked.who not in review.queue(asked.queue).progress(asked.item).opened:
        raise ActionError(f"{asked.who} does not have this item open.")
    body = {"queue": asked.queue, "item": asked.item, "who": asked.who}
    await run_in_threadpool(review.record, person, "released", body)
    return Response(status_code=204)
