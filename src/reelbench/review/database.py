"""The database of a review: SQLite in the benchmark's folder, or PostgreSQL by its address.

What people do is a row of ``events``, which are only ever added, one writer at a time: their
numbers rise in the order in which they became durable, so that whoever has read up to one number
has missed nothing before it. A row is acknowledged after its transaction was committed, and both
databases are told to write to the disk first.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sql
from sqlalchemy.exc import (
    DisconnectionError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from reelbench.base.durable import checksum
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import canonical_json
from reelbench.base.limits import decode_json

FOLDER = "review"  # of a benchmark, for what a review keeps
DATABASE_FILE = "review.sqlite"
_LOCK = 0x7265656C  # PostgreSQL's advisory locks have numbers
_PATIENCE = 5.0  # seconds for which a database may not answer
_PAUSE = 1.0  # after which one that was down is tried again
_LOST = InterfaceError, OperationalError, PoolTimeoutError, OSError
_METADATA = sql.MetaData()

EVENTS = sql.Table(
    "events",
    _METADATA,
    sql.Column("seq", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("id", sql.Text, nullable=False, unique=True),
    sql.Column("time", sql.Text, nullable=False),
    sql.Column("who", sql.Text, nullable=False),
    sql.Column("queue", sql.Text, nullable=False),
    sql.Column("item", sql.Text, nullable=False),
    sql.Column("digest", sql.Text, nullable=False),
    sql.Column("type", sql.Text, nullable=False),
    sql.Column("body", sql.Text, nullable=False),
    sql.Column("checksum", sql.Text, nullable=False),
    sqlite_autoincrement=True,
)
_COLUMNS = ", ".join(column.name for column in EVENTS.columns)
PEOPLE = sql.Table(
    "people",
    _METADATA,
    sql.Column("name", sql.Text, primary_key=True),
    sql.Column("role", sql.Text, nullable=False),
    sql.Column("password", sql.Text, nullable=False),
    sql.Column("expertise", sql.Text, nullable=False),
    sql.Column("active", sql.Boolean, nullable=False),
)
INVITATIONS = sql.Table(
    "invitations",
    _METADATA,
    sql.Column("token", sql.Text, primary_key=True),  # its hash
    sql.Column("role", sql.Text, nullable=False),
    sql.Column("expertise", sql.Text, nullable=False),
    sql.Column("by", sql.Text, nullable=False),
    sql.Column("expires", sql.Float, nullable=False),
    sql.Column("used", sql.Text),  # by whom
)
SESSIONS = sql.Table(
    "sessions",
    _METADATA,
    sql.Column("token", sql.Text, primary_key=True),  # its hash
    sql.Column("who", sql.Text, nullable=False),
    sql.Column("expires", sql.Float, nullable=False),
)
DRAFTS = sql.Table(
    "drafts",
    _METADATA,
    sql.Column("who", sql.Text, primary_key=True),
    sql.Column("queue", sql.Text, primary_key=True),
    sql.Column("item", sql.Text, primary_key=True),
    sql.Column("time", sql.Text, nullable=False),
    sql.Column("body", sql.Text, nullable=False),
)
FACTS = sql.Table(
    "facts",
    _METADATA,
    sql.Column("name", sql.Text, primary_key=True),
    sql.Column("value", sql.Text, nullable=False),
)


class ReviewEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that one person did with one item; ``digest`` is the item's hash as it was seen."""

    id: str
    time: str  # UTC, ISO 8601, to the millisecond
    who: str
    queue: str
    item: str
    digest: str
    type: str
    body: Mapping[str, Any]
    seq: int = 0  # 0 until it is in the database


class DatabaseDownError(ReelbenchError):
    """The database does not answer, or cannot write; what was to be kept is not kept."""


class ReviewDatabase:
    """An open database; threads may share it."""

    def __init__(self, url: str) -> None:
        self.url = sql.make_url(_with_driver(url))
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._engine = _engine(self.url, self.is_sqlite)
        self._writing = self._engine.execution_options(writes=True)
        self._writer = threading.Lock()
        self._down: tuple[float, str] = 0.0, ""  # until when nobody asks, and why

    @property
    def name(self) -> str:
        """What the database is called in messages: its file, or its address without a password."""
        return str(self.url.database) if self.is_sqlite else self.url.render_as_string()

    def create(self, benchmark: str) -> None:
        """Make the tables where they are not there; refuse the database of another benchmark."""
        with self.writing() as connection:
            self._check_is_durable(connection)
            _METADATA.create_all(connection)
            known = connection.execute(
                sql.select(FACTS.c.value).where(FACTS.c.name == "benchmark")
            ).scalar()
            if known is None:
                connection.execute(FACTS.insert().values(name="benchmark", value=benchmark))
            elif known != benchmark:
                raise ReelbenchError(
                    f"{self.name} holds the review of {known!r}, not of {benchmark!r}: name a "
                    "database of its own with --database."
                )

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """Hold the one place of the writer; when the block ends, what it wrote is on the disk."""
        with self._alone(), self._answering(), self._writing.begin() as connection:
            if not self.is_sqlite:
                connection.execute(sql.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            yield connection

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._writer.acquire(timeout=3 * _PATIENCE):
            raise DatabaseDownError(f"{self.name} is too busy: try again in a moment.")
        try:
            yield
        finally:
            self._writer.release()

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """Look at what is there; writers go on."""
        with self._answering(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _answering(self) -> Iterator[None]:
        until, reason = self._down
        if time.monotonic() < until:  # who waits for what does not answer keeps others waiting
            raise DatabaseDownError(reason)
        try:
            yield
        except IntegrityError:
            raise
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            reason = f"{self.name} cannot be used: {_reason(error)}."
            if not self.is_sqlite and isinstance(error, _LOST):
                self._down = time.monotonic() + _PAUSE, reason
            raise DatabaseDownError(reason) from error

    def _check_is_durable(self, connection: sql.Connection) -> None:
        """Refuse a PostgreSQL that acknowledges what is not on its disk."""
        if not self.is_sqlite and connection.execute(sql.text("SHOW fsync")).scalar() == "off":
            raise ReelbenchError(
                f"{self.name} runs with fsync = off, and would lose what people did when its "
                "machine stops: turn it on in postgresql.conf."
            )

    def events_after(self, seq: int, connection: sql.Connection | None = None) -> list[ReviewEvent]:
        """Return the events behind a number, in their order; one that is damaged is named."""
        if connection is None:
            with self.reading() as own:
                return self.events_after(seq, own)
        # Asked at every action: a number in the text takes PostgreSQL's driver one message to and
        # fro, a parameter takes three.
        query = f"SELECT {_COLUMNS} FROM events WHERE seq > {int(seq)} ORDER BY seq"  # noqa: S608
        return [self._event(row) for row in connection.exec_driver_sql(query)]

    def _event(self, row: Any) -> ReviewEvent:
        fields = dict(row._mapping)
        if fields.pop("checksum") != _checksum(fields):
            raise ReelbenchError(
                f"{self.name}: event {row.seq} is damaged (its checksum does not match). Restore "
                "the database from a copy."
            )
        return ReviewEvent(**{**fields, "body": decode_json(fields["body"])})

    @staticmethod
    def add(connection: sql.Connection, events: Sequence[ReviewEvent]) -> list[ReviewEvent]:
        """Add events, in their order, within the writer's block; return them with their numbers."""
        added = []
        for event in events:
            fields = msgspec.structs.asdict(event) | {"body": canonical_json(event.body)}
            del fields["seq"]
            row = fields | {"checksum": _checksum(fields)}
            query = EVENTS.insert().returning(EVENTS.c.seq)
            seq = connection.execute(query, row).scalar_one()
            # As it would be read back, so that nothing depends on who read it when.
            added.append(msgspec.structs.replace(event, seq=seq, body=decode_json(fields["body"])))
        return added

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()


def sqlite_url(path: Path) -> str:
    """Return the address of a file."""
    return sql.URL.create("sqlite", database=str(path)).render_as_string()


def _with_driver(url: str) -> str:
    scheme, colon, rest = url.partition("://")
    if scheme in ("postgres", "postgresql"):
        return f"postgresql+pg8000{colon}{rest}"
    if scheme != "sqlite" and not scheme.startswith("postgresql+"):
        raise ReelbenchError(
            f"--database {url!r}: reviews are kept in PostgreSQL, as "
            "postgresql://user:password@host/name, or in a file of SQLite (the default)."
        )
    return url


def _engine(url: sql.URL, is_sqlite: bool) -> sql.Engine:
    if not is_sqlite:
        return _postgresql(url)
    engine = sql.create_engine(
        url, connect_args={"timeout": _PATIENCE}, pool_size=8, max_overflow=8
    )

    @sql.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # we say where a transaction begins
        for mode in ("journal_mode = WAL", "synchronous = FULL"):
            connection.execute(f"PRAGMA {mode}")

    @sql.event.listens_for(engine, "begin")
    def begin(connection: sql.Connection) -> None:
        # A writer that began as a reader could find that it has read what is no longer so.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: sql.URL) -> sql.Engine:
    # One connection for the writer and some for readers. Who has waited for the writer's lock must
    # see what the writer before has committed, which a stricter isolation, set for the whole
    # server, would hide.
    engine = sql.create_engine(
        url,
        pool_size=8,
        max_overflow=8,
        pool_timeout=_PATIENCE,
        isolation_level="READ COMMITTED",
        connect_args={"timeout": _PATIENCE},
    )

    @sql.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("SHOW synchronous_commit")
        if cursor.fetchone()[0] == "off":
            cursor.execute("SET synchronous_commit = on")
        connection.commit()
        cursor.close()

    @sql.event.listens_for(engine, "checkin")
    def rest(_: object, record: Any) -> None:
        record.info["used"] = time.monotonic()

    @sql.event.listens_for(engine, "checkout")
    def wake(connection: Any, record: Any, _: object) -> None:
        """Find a dead connection before its use; one that was used just now is taken as it is."""
        if time.monotonic() > record.info.get("used", 0.0) + _PAUSE:
            try:
                engine.dialect.do_ping(connection)
            except (engine.dialect.loaded_dbapi.Error, OSError) as error:
                raise DisconnectionError from error

    return engine


def _reason(error: BaseException) -> str:
    """Return what a database or its driver complained of, in one line."""
    cause = getattr(error, "orig", None) or error
    details = cause.args[0] if cause.args else ""
    if isinstance(details, dict):  # PostgreSQL's fields: M is the message
        details = details.get("M", "")
    return (str(details or cause).splitlines() or ["it does not answer"])[0].rstrip(".")


def _checksum(fields: Mapping[str, Any]) -> str:
    names = ("id", "time", "who", "queue", "item", "digest", "type", "body")
    return checksum(*(str(fields[name]) for name in names))
