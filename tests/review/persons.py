"""People with accounts and browsers of their own, and what a review has kept of them."""

import json
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelbench.base.files import json_line
from reelbench.review.serve import ServeOptions, opened_review

PASSWORD = "a long password"


def benchmark_with(demo: Path, root: Path, items: list[dict[str, Any]], **protocols: str) -> Path:
    """Make a benchmark of these items over the demo's videos, with these queues."""
    (root / "media").mkdir(parents=True)
    shutil.copy(demo / "benchmark" / "benchmark.yaml", root)
    videos = sorted((demo / "benchmark" / "media").glob("*.mp4"))
    for number, item in enumerate(items):
        video = videos[number % len(videos)]
        shutil.copy(video, root / "media")
        item["media"] = [{"path": f"media/{video.name}"}]
    write_items(root, items)
    (root / "review").mkdir()
    for name, text in protocols.items():
        (root / "review" / f"{name}.yaml").write_text(text)
    return root


def write_items(root: Path, items: list[dict[str, Any]]) -> None:
    """Write the items of a benchmark, as an editor would."""
    (root / "items.jsonl").write_text("".join(map(json_line, items)))


def accounts_for(root: Path, **roles: str) -> dict[str, str]:
    """Make accounts before the server starts; return the sessions of their first log-in."""
    with opened_review(root, ServeOptions()) as (_, accounts, _title):
        return {
            name: accounts.join(accounts.invite(role, "the test"), name, PASSWORD)
            for name, role in roles.items()
        }


def page_of(chrome: Any, address: str, session: str, **options: Any) -> Any:
    """Open a browser of one person's own, logged in."""
    context = chrome.new_context(viewport={"width": 1280, "height": 800}, **options)
    context.add_cookies([{"name": "reelbench_session", "value": session, "url": address}])
    return context.new_page()


def kept_events(root: Path, queue: str, kind: str = "") -> list[dict[str, Any]]:
    """Return the events of a queue that are in the database, in their order."""
    with sqlite3.connect(root / "review" / "review.sqlite") as database:
        rows = database.execute(
            "select who, item, type, body from events where queue = ? order by seq", [queue]
        ).fetchall()
    database.close()
    return [
        {"who": who, "item": item, "type": each, "body": json.loads(body)}
        for who, item, each, body in rows
        if not kind or each == kind
    ]


def place_of(page: Any, text: str) -> str:
    """Return the letter under which an option is shown."""
    texts = page.locator(".choice .text").all_inner_texts()
    return "ABCDEFGHIJ"[texts.index(text)]


def item_of_question(items: list[dict[str, Any]], page: Any) -> Mapping[str, Any]:
    """Return the item whose question a page shows."""
    shown = page.locator(".question").inner_text()
    return next(each for each in items if each["question"] == shown)
