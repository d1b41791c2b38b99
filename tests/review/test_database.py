"""Both databases keep the same promises: order, one writer, durability, and sentences."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sql
from review.databases import PostgresServer

from reelbench.base.errors import ReelbenchError
from reelbench.review.database import (
    EVENTS,
    DatabaseDownError,
    ReviewDatabase,
    ReviewEvent,
    sqlite_url,
)
from reelbench.review.people import Accounts


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "review.sqlite")
    server: PostgresServer = request.getfixturevalue("postgresql")
    return server.database()


@pytest.fixture
def database(url: str) -> Iterator[ReviewDatabase]:
    opened = ReviewDatabase(url)
    opened.create("demo")
    yield opened
    opened.close()


def event(key: str, **changed: object) -> ReviewEvent:
    made = ReviewEvent(
        id=key, time="2026-01-01T00:00:00.000+00:00", who="ann", queue="verify", item="i",
        digest="d", type="opened", body={"text": "naïve \x00 <b> 😀"},
    )  # fmt: skip
    return msgspec.structs.replace(made, **changed)


def test_events_come_back_as_they_were_added(database: ReviewDatabase) -> None:
    with database.writing() as connection:
        added = database.add(connection, [event("a"), event("b", who="Zoë")])
    assert database.events_after(0) == added
    assert database.events_after(added[0].seq) == added[1:]


def test_what_failed_half_way_leaves_nothing(database: ReviewDatabase) -> None:
    def half() -> None:
        with database.writing() as connection:
            database.add(connection, [event("a")])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert database.events_after(0) == []


def test_whoever_has_read_up_to_a_number_has_missed_nothing_before_it(url: str) -> None:
    servers = [ReviewDatabase(url) for _ in range(2)]  # as two processes have it
    servers[0].create("demo")
    seen: list[int] = []
    written = threading.Event()

    def write(server: ReviewDatabase, name: str) -> None:
        for number in range(40):
            with server.writing() as connection:
                server.add(connection, [event(f"{name}{number}")])

    def read() -> None:
        while not written.is_set() or servers[0].events_after(seen[-1] if seen else 0):
            seen.extend(e.seq for e in servers[0].events_after(seen[-1] if seen else 0))

    writers = [threading.Thread(target=write, args=(servers[at % 2], f"w{at}-")) for at in range(4)]
    reader = threading.Thread(target=read)
    for thread in (*writers, reader):
        thread.start()
    for thread in writers:
        thread.join()
    written.set()
    reader.join()
    assert seen == [each.seq for each in servers[0].events_after(0)]
    assert len(seen) == 160
    for server in servers:
        server.close()


def test_a_stricter_isolation_of_the_whole_server_hides_nothing(
    postgresql: PostgresServer,
) -> None:
    url = postgresql.database()
    plain = ReviewDatabase(url)
    plain.create("demo")
    name = url.rpartition("/")[2]
    with plain.writing() as connection:
        connection.execute(
            sql.text(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
        )
        connection.execute(sql.text(f"ALTER DATABASE {name} SET synchronous_commit = off"))
    plain.close()
    opened = ReviewDatabase(url)
    with opened.writing() as connection:
        for setting, value in (("transaction_isolation", "read committed"),
                               ("synchronous_commit", "on")):  # fmt: skip
            assert connection.execute(sql.text(f"SHOW {setting}")).scalar() == value
    opened.close()


def test_a_changed_row_is_named(database: ReviewDatabase) -> None:
    with database.writing() as connection:
        database.add(connection, [event("a")])
        connection.execute(EVENTS.update().values(who="eve"))
    with pytest.raises(ReelbenchError, match="event 1 is damaged"):
        database.events_after(0)


def test_the_database_of_another_benchmark_is_refused(database: ReviewDatabase) -> None:
    with pytest.raises(ReelbenchError, match="holds the review of 'demo', not of 'other'"):
        database.create("other")


def test_a_database_that_is_restarted_is_used_again(postgresql: PostgresServer) -> None:
    opened = ReviewDatabase(postgresql.database())
    opened.create("demo")
    with opened.writing() as connection:
        opened.add(connection, [event("a")])
    postgresql.kill()
    with pytest.raises(DatabaseDownError, match="cannot be used"):
        opened.events_after(0)
    postgresql.start()
    for _ in range(200):
        try:
            assert [each.id for each in opened.events_after(0)] == ["a"]
            break
        except DatabaseDownError:
            threading.Event().wait(0.05)
    else:
        pytest.fail("the database is back, and is not used")
    opened.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://a/b", "reviews are kept in PostgreSQL"),
        ("postgresql://nobody:secret@127.0.0.1:1/x", "cannot be used"),
        ("sqlite:////nowhere/at/all/review.sqlite", "unable to open database file"),
    ],
)
def test_an_address_that_leads_nowhere_is_told_without_its_password(url: str, words: str) -> None:
    with pytest.raises(ReelbenchError, match=words) as told:
        ReviewDatabase(url).create("demo")
    assert "secret" not in str(told.value)


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "review.sqlite"
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    with pytest.raises(DatabaseDownError, match=r"review\.sqlite cannot be used: .*not a database"):
        ReviewDatabase(sqlite_url(path)).create("demo")


def test_sqlite_waits_for_the_disk(tmp_path: Path) -> None:
    opened = ReviewDatabase(sqlite_url(tmp_path / "review.sqlite"))
    opened.create("demo")
    with opened.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        with pytest.raises(sqlite3.OperationalError):  # it has the place of the writer at once
            sqlite3.connect(tmp_path / "review.sqlite", timeout=0).execute("BEGIN IMMEDIATE")
    opened.close()


def test_a_password_is_kept_as_a_hash_that_is_slow_to_try(tmp_path: Path) -> None:
    """As the library has it by default, 64 MiB and three rounds; served commands of tests take less."""
    opened = ReviewDatabase(sqlite_url(tmp_path / "review.sqlite"))
    opened.create("demo")
    accounts = Accounts(opened)
    accounts.join(accounts.invite("annotator", "boss"), "ann", "a long password")
    with opened.reading() as connection:
        kept = connection.exec_driver_sql("SELECT password FROM people").scalar()
    opened.close()
    assert str(kept).startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_a_local_session_enters_no_account_that_has_a_password(database: ReviewDatabase) -> None:
    accounts = Accounts(database)
    accounts.join(accounts.invite("annotator", "boss"), "ann", "a long password")
    alone = accounts.person(accounts.local_session("ann"))
    assert alone is not None
    assert (alone.name, alone.role) == ("ann (this machine)", "organiser")
    assert accounts.person(accounts.local_session("ann")) == alone
    assert [each.role for each in accounts.people() if each.name == "ann"] == ["annotator"]
