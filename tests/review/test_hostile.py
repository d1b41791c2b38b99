"""What strangers and people with less than the right role try, and do not get."""

import http.client
import random
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest
from review.serving import Browser, ServedReview, joined, local, served
from review.town import SCRIPT, Town, get, make_hostile, status_of

from reelbench.review.database import ReviewDatabase, sqlite_url
from reelbench.review.errors import AccessError
from reelbench.review.people import SESSION_SECONDS, Accounts, LoginLimit

JSON_TYPE = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def town(small_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    root = tmp_path_factory.mktemp("hostile") / "benchmark"
    shutil.copytree(small_demo / "benchmark", root)
    make_hostile(root)
    with served(root) as running:
        organiser = joined(running.address, running.link, f"olga {SCRIPT}"[:60])
        database = ReviewDatabase(sqlite_url(root / "review" / "review.sqlite"))
        accounts = Accounts(database)
        links = [f"/join/{accounts.invite('annotator', 'olga')}" for _ in range(2)]
        ann, bob = (
            joined(running.address, link, name)
            for link, name in zip(links, ("ann", "bob"), strict=True)
        )
        yield Town(running, root, accounts, organiser, ann, bob)
        database.close()


UP = ("../" * 12, "..%2f" * 12, "%2e%2e/" * 12, "..%5c" * 12, "....//" * 12, "%00")


@pytest.mark.parametrize("up", UP)
@pytest.mark.parametrize(
    "path",
    ["/static/{}etc/passwd", "/media/verify/0?item={}etc/passwd", "/media/{}etc/passwd/0?item=x",
     "/q/{}etc/passwd", "/api/q/verify/task?item={}etc/passwd", "/join/{}etc/passwd",
     "/enter/{}etc/passwd", "/api/media/verify/0?item={}etc/passwd", "/desk/{}etc/passwd"],
)  # fmt: skip
def test_no_path_leads_out_of_the_folder(town: Town, path: str, up: str) -> None:
    for who in (None, town.organiser):
        answer = get(town, path.format(up), who)
        assert status_of(answer) in (303, 400, 401, 403, 404, 410, 422)
        assert b"root:" not in answer


@pytest.mark.parametrize("item", ["link", "database", "wal", "../../x"])
def test_an_item_cannot_hand_out_what_is_no_media_of_the_benchmark(town: Town, item: str) -> None:
    path, end = f"answer/0?item={quote(item)}", time.monotonic() + 60
    while status_of(answer := get(town, f"/api/media/{path}", town.organiser)) == 200:
        assert b'"ready"' not in answer
        if b'"failed"' in answer:
            break
        assert time.monotonic() < end, answer
    answer = get(town, f"/media/{path}", town.organiser)
    assert status_of(answer) >= 400
    assert b"root:" not in answer
    assert b"SQLite format" not in answer


def test_scripts_in_questions_options_names_and_files_stay_text(
    town: Town, page: Any, chromium: str
) -> None:
    refused: list[str] = []
    page.on("console", lambda line: refused.append(line.text) if "Security Policy" in line.text else None)  # fmt: skip
    cookies = [{"name": c.name, "value": c.value or "", "url": town.address} for c in town.organiser.jar]  # fmt: skip
    page.context.add_cookies(cookies)
    for path in ("/", "/desk", "/q/verify", "/q/rate", "/q/answer", "/q/write", f"/join/{quote(SCRIPT, '')}"):  # fmt: skip
        page.goto(town.address + path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.harmed") is None
    assert SCRIPT in town.organiser.send("POST", "/api/q/rate/next")[1]["task"]["question"]
    page.goto(town.address + "/q/rate")
    page.get_by_text(f"{SCRIPT} what?").first.wait_for()
    assert page.evaluate("window.harmed") is None
    assert refused == []  # nothing had to be stopped: it was text all along


def test_a_page_of_another_site_changes_nothing(town: Town) -> None:
    task = town.ann.next("answer")
    assert task is not None
    action = {"id": uuid4().hex, "type": "answered", "item": task["item"],
              "digest": task["digest"], "seen": 0, "body": {"choice": [0]}}  # fmt: skip
    path = "/api/q/answer/events"
    for headers in (
        {"x-csrf-token": ""}, {"x-csrf-token": "é"}, {"x-csrf-token": "0" * 64},
        {"x-csrf-token": town.bob.csrf}, {"origin": "https://evil.example"}, {"origin": "null"},
        {"origin": town.address + ".evil.example"}, {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):  # fmt: skip
        assert town.ann.send("POST", path, action, headers)[0] == 403, headers
    stranger = Browser(town.address)
    stranger.jar = town.ann.jar
    stranger.__post_init__()
    assert stranger.submit("/logout")[0] == 403  # a form without the token
    assert town.ann.send("POST", path, action)[0] == 200
    login = urlencode({"name": "ann", "password": "a long password"})
    for origin in ("https://evil.example", "null"):  # nor logs anyone in as someone else
        assert post_form(town, "/login", login, Origin=origin)[0] == 403


def post_form(town: Town, path: str, body: str, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(town.address.removeprefix("http://"), timeout=100)
    form = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    connection.request("POST", path, body, form)
    response = connection.getresponse()
    with closing(connection):
        return response.status, (response.read().decode(), response.headers)


def test_roles_are_not_what_a_request_says(town: Town) -> None:
    someone = town.newcomer()
    for method, path in (("GET", "/desk"), ("POST", "/desk/invite"), ("POST", "/desk/import"),
                         ("POST", "/desk/people"), ("GET", "/desk/export")):  # fmt: skip
        status, _ = someone.send(method, path, {"role": "organiser"})
        assert status in (403, 404, 405), path
    token = town.accounts.invite("annotator", "olga")
    forged = Browser(town.address)
    forged.submit(f"/join/{token}", name="mallory", password="a long password", role="organiser")
    assert [p.role for p in town.accounts.people() if p.name == "mallory"] == ["annotator"]
    assert forged.send("GET", "/desk")[0] == 403
    task = someone.next("answer")
    assert task is not None
    for kind in ("imported", "applied", "opened", "resolved", "read", "_wrote", "apply", ""):
        assert someone.act(task, kind, {"items": []})[0] in (409, 422)
    extra = {"id": uuid4().hex, "type": "answered", "item": task["item"], "who": "bob",
             "digest": task["digest"], "seen": 0, "body": {"choice": [0]}}  # fmt: skip
    assert someone.send("POST", "/api/q/answer/events", extra)[0] == 422


def test_what_was_not_handed_out_is_not_shown(town: Town) -> None:
    someone, other = town.newcomer(), town.newcomer()
    task = other.next("answer")
    assert task is not None
    draft = f"/api/q/answer/draft?item={quote(task['item'])}"
    assert other.send("PUT", draft, {"text": "mine"})[0] == 204
    query = f"?item={quote(task['item'])}"
    for method, path in (("GET", f"/api/q/answer/task{query}"), ("GET", f"/media/answer/0{query}"),
                         ("GET", f"/api/media/answer/0{query}"), ("PUT", draft),
                         ("POST", f"/api/q/answer/check{query}")):  # fmt: skip
        status, answer = someone.send(method, path, {} if method != "GET" else None)
        assert status in (403, 404), path
        assert "mine" not in str(answer)
    assert someone.act(task, "answered", {"choice": [0]})[0] == 403
    own = someone.next("answer")
    while own and own["item"] != task["item"]:  # the same item, and still another's draft
        assert own["draft"] is None
        assert someone.act(own, "answered", answer_to(own))[0] == 200
        own = someone.next("answer")
    assert own is not None
    assert own["draft"] is None


def answer_to(task: dict[str, Any]) -> dict[str, Any]:
    return {"choice": [0]} if task["options"] else {"written": "something"}


def test_bodies_that_are_too_large_or_too_deep_are_refused(town: Town) -> None:
    task = town.ann.next("answer")
    assert task is not None
    long = {"choice": [0], "text": "x" * 30_000}
    connection = http.client.HTTPConnection(town.address.removeprefix("http://"), timeout=100)
    with closing(connection):
        connection.putrequest("POST", "/login")
        connection.putheader("Content-Length", str(1 << 40))
        connection.endheaders()
        assert connection.getresponse().status == 413
    for path in ("/login", "/api/q/answer/events"):
        connection = http.client.HTTPConnection(town.address.removeprefix("http://"), timeout=100)
        cookie = "; ".join(f"{c.name}={c.value}" for c in town.ann.jar)
        headers = {"Cookie": cookie, "X-CSRF-Token": town.ann.csrf,
                   "Content-Type": "application/x-www-form-urlencoded"}  # fmt: skip
        with closing(connection):
            connection.request("POST", path, iter([b"name=" + b"x" * 600_000] * 3), headers, encode_chunked=True)  # fmt: skip
            assert connection.getresponse().status == 413
    assert town.ann.act(task, "answered", long)[0] == 422
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    assert town.ann.act(task, "answered", {"choice": deep})[0] == 422
    draft = f"/api/q/answer/draft?item={quote(task['item'])}"
    assert town.ann.send("PUT", draft, {"text": deep})[0] == 422
    assert town.ann.send("PUT", draft, {"text": "x" * 300_000})[0] == 422


ODD = (None, True, -1, 0, 10**30, 1.5, "", "A", "\x00", "é" * 50, [], [[]], [0, 0], [True], ["0"],
       [10**9], {}, {"a": 1}, [None], {"": []}, [{}], "0" * 30_000)  # fmt: skip
FIELDS = ("choice", "written", "seconds", "watched", "decision", "tags", "changes", "comment",
          "rating", "text", "item", "id", "kind", "question", "options", "answer", "evidence",
          "reference", "segments", "spent")  # fmt: skip


@pytest.mark.parametrize("queue", ["answer", "verify", "rate", "write"])
def test_no_action_however_odd_fails_in_the_server(town: Town, queue: str) -> None:
    rng, someone = random.Random(queue), town.organiser
    task = someone.next(queue)
    assert task is not None
    kinds = ("answered", "verdict", "rated", "wrote", "withdrew", "finished", "commented",
             "resolved")  # fmt: skip
    for _ in range(150):
        body = {name: rng.choice(ODD) for name in rng.sample(FIELDS, 4)}
        if rng.random() < 0.5:
            body["item" if queue == "write" else "changes"] = {
                name: rng.choice(ODD) for name in rng.sample(FIELDS, 5)
            }
        status, answer = someone.act(task, rng.choice(kinds), body)
        assert status in (200, 403, 409, 410, 422), (body, answer)
        if queue == "write":
            status, answer = someone.send("POST", f"/api/q/write/check?item={quote(task['item'])}", body.get("item"))  # fmt: skip
            assert status in (200, 422), (body, answer)
    action = {"id": uuid4().hex, "type": "answered", "item": task["item"],
              "digest": task["digest"], "seen": 0, "body": {"choice": "none"}}  # fmt: skip
    for name in action:
        for value in ODD:
            status, answer = someone.send("POST", f"/api/q/{queue}/events", {**action, name: value})
            assert status in (403, 409, 410, 422), (name, value, answer)


def test_odd_requests_get_an_answer_with_all_headers(town: Town) -> None:
    for path in ("/", "/login", "/nowhere", "/static/review.css", "/static/none", "/media/a/b",
                 "/media/answer/0?item=x", "/api/q/none/task?item=x", "/join/x", "/desk"):  # fmt: skip
        for method in ("GET", "HEAD", "OPTIONS", "DELETE", "TRACE"):
            connection = http.client.HTTPConnection(
                town.address.removeprefix("http://"), timeout=100
            )
            with closing(connection):
                cookie = "; ".join(f"{c.name}={c.value}" for c in town.ann.jar)
                connection.request(method, path, headers={"Cookie": cookie})
                response = connection.getresponse()
                assert response.status < 500, (method, path)
                assert "default-src 'none'" in response.headers["content-security-policy"]
                assert "unsafe" not in response.headers["content-security-policy"]
                assert response.headers["x-content-type-options"] == "nosniff"
                assert response.headers["x-frame-options"] == "DENY"
                assert response.headers["cache-control"]
                assert "server" not in response.headers
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade",
               "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==", "Sec-WebSocket-Version": "13"}  # fmt: skip
    assert b" 101 " not in get(town, "/api/q/answer/next", town.ann, **upgrade).split(b"\r\n")[0]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_another_name_for_this_machine_is_not_answered(town: Town, host: str) -> None:
    answer = get(town, "/login", Host=host or "localhost.evil")
    assert status_of(answer) == 421
    assert b"<form" not in answer


def test_a_session_ends_when_it_is_over(town: Town) -> None:
    expired, gone, out = (town.newcomer() for _ in range(3))
    cookie = next(iter(out.jar))
    assert out.submit("/logout")[0] == 200
    out.jar.set_cookie(cookie)  # who kept the cookie has nothing
    assert out.send("POST", "/api/q/answer/next")[0] == 401
    name = name_of(gone)
    town.accounts.change(name, "annotator", (), False)
    with closing(sqlite3.connect(town.root / "review" / "review.sqlite", timeout=100)) as database, database:  # fmt: skip
        database.execute("UPDATE sessions SET expires = 1 WHERE who = ?", (name_of(expired),))
    end = time.monotonic() + 100 + SESSION_SECONDS
    for each in (expired, gone):
        while each.send("POST", "/api/q/answer/next")[0] != 401:
            assert time.monotonic() < end
            time.sleep(0.1)
    status, text = gone.submit("/login", name=name, password="a long password")
    assert status == 403
    assert "do not belong together" in text


def name_of(someone: Browser) -> str:
    """Return whose browser it is, as its page says."""
    return re.search(r"n [0-9a-f]{8}", someone.send("GET", "/")[1])[0]  # type: ignore[index]


def test_a_session_that_was_planted_is_not_taken_over(town: Town) -> None:
    planted = "a-session-that-an-attacker-knows"
    form = urlencode({"name": "bob", "password": "a long password"})
    status, (_, headers) = post_form(town, "/login", form, Cookie=f"reelbench_session={planted}")
    assert status == 303
    cookie = headers["set-cookie"]
    assert planted not in cookie
    for flag in ("HttpOnly", "SameSite=lax", "Path=/"):
        assert flag in cookie
    assert "Secure" not in cookie  # this server is reached over plain HTTP


def test_an_invitation_makes_one_account(town: Town) -> None:
    token = town.accounts.invite("annotator", "olga")
    answers: list[int] = []

    def join(name: str) -> None:
        form = urlencode({"name": name, "password": "a long password"})
        answers.append(post_form(town, f"/join/{token}", form)[0])

    threads = [threading.Thread(target=join, args=(f"twin {at}",)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [303, 403, 403, 403]
    assert sum(each.name.startswith("twin") for each in town.accounts.people()) == 1
    old = town.accounts.invite("organiser", "olga")
    with closing(sqlite3.connect(town.root / "review" / "review.sqlite", timeout=100)) as database, database:  # fmt: skip
        database.execute("UPDATE invitations SET expires = 1 WHERE used IS NULL")
    assert post_form(town, f"/join/{old}", urlencode({"name": "late", "password": "a long password"}))[0] == 403  # fmt: skip
    for name in ("ANN", "ann ", "", "x" * 100, "a\u202eb", "a\x00b"):  # taken, or not to be read
        form = urlencode({"name": name, "password": "a long password"})
        assert post_form(town, f"/join/{town.accounts.invite('annotator', 'o')}", form)[0] in (403, 422)  # fmt: skip


def test_passwords_cannot_be_tried_without_end(town: Town) -> None:
    name = name_of(town.newcomer())  # nobody else is kept out
    form = urlencode({"name": name, "password": "not hers at all"})
    answers = [post_form(town, "/login", form) for _ in range(12)]
    assert [status for status, _ in answers] == [403] * 10 + [429] * 2
    assert "Too many tries" in answers[-1][1][0]
    right = urlencode({"name": "bob", "password": "a long password"})
    assert post_form(town, "/login", right)[0] == 303  # others at this address log in
    unknown = urlencode({"name": "nobody \x00 here", "password": "not hers at all"})
    status, (text, _) = post_form(town, "/login", unknown)
    assert (status, "do not belong together" in text) == (403, True)
    assert post_form(town, "/login", form, **{"X-Forwarded-For": "10.9.8.7"})[0] == 429


def test_strangers_everywhere_cannot_lock_someone_out() -> None:
    limit = LoginLimit(most=10, most_of_all=100)
    limit.succeeded("Ann", "her address")
    for number in range(200):
        limit.failed("ann", f"address {number}")
    limit.check("ANN", "her address")
    with pytest.raises(AccessError, match="Too many tries"):
        limit.check("ann", "an address that she was never at")
    for number in range(150):
        limit.succeeded(f"colleague {number}", "her address")
    limit.check("new colleague", "her address")


def test_nothing_that_lets_someone_in_is_in_the_database_or_the_logs(town: Town) -> None:
    token = town.accounts.invite("annotator", "olga")
    someone = joined(
        town.address, f"/join/{token}", f"n {uuid4().hex[:8]}", "a very secret password"
    )
    session = next(iter(someone.jar)).value or ""
    kept = b"".join(
        path.read_bytes() for path in (town.root / "review").iterdir() if path.is_file()
    )
    for secret in (token, session, "a very secret password"):
        assert secret.encode() not in kept


def test_local_pages_are_for_this_machine_alone(review: ServedReview) -> None:
    someone = local(review)
    port = review.address.rpartition(":")[2]
    for host in (f"evil.example:{port}", f"[::2]:{port}", "127.0.0.1:1"):
        assert someone.send("GET", "/", headers={"host": host})[0] == 421
    assert Browser(review.address).send("GET", "/enter/guess")[0] == 403
