"""The database of a review: SQLite in the benchmark's folder, or PostgreSQL by its address.

What people do is a row of ``events``, which are only ever added, one writer at a time: their
numbers rise in the order in which they became durable, so that whoever has read up to one number
has missed nothing before it. A row is acknowledged after its transaction was committed, and both
databases are told to write to the disk first.
"""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sql
from sqlalchemy.exc import DBAPIError, IntegrityError

from reelbench.base.durable import checksum
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import canonical_json
from reelbench.base.limits import decode_json

FOLDER = "review"  # of a benchmark, for what a review keeps
DATABASE_FILE = "review.sqlite"
_LOCK = 0x7265656C  # PostgreSQL's advisory locks have numbers
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
        self._writer = threading.Lock()

    @property
    def name(self) -> str:
        """What the database is called in messages: its file, or its address without a password."""
        return str(self.url.database) if self.is_sqlite else self.url.render_as_string()

    def create(self, benchmark: str) -> None:
        """Make the tables where they are not there; refuse the database of another benchmark."""
        with self.writing() as connection:
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
        with self._writer, self._answering(), self._engine.begin() as connection:
            if not self.is_sqlite:
                connection.execute(sql.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """Look at what is there; writers go on."""
        with self._answering(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            raise
        except (DBAPIError, sqlite3.Error, OSError) as error:
            reason = str(getattr(error, "orig", None) or error).splitlines()[0]
            raise DatabaseDownError(f"{self.name} cannot be used: {reason}.") from error

    def events_after(self, seq: int, connection: sql.Connection | None = None) -> list[ReviewEvent]:
        """Return the events behind a number, in their order; one that is damaged is named."""
        query = EVENTS.select().where(EVENTS.c.seq > seq).order_by(EVENTS.c.seq)
        if connection is not None:
            return [self._event(row) for row in connection.execute(query)]
        with self.reading() as own:
            return [self._event(row) for row in own.execute(query)]

    def _event(self, row: Any) -> ReviewEvent:
        fields = dict(row._mapping)
        if fields.pop("checksum") != _checksum(fields):
            raise ReelbenchError(
                f"{self.name}: event {row.seq} is damaged (its checksum does not match). Restore "
                "the database from a copy."
            )
        return ReviewEvent(**{**fields, "body": decode_json(fields["body"])})

    @staticmethod
    def add(connection: sql.Connection, events: Sequence[ReviewEvent]) -> None:
        """Add events, in their order, within the writer's block."""
        for event in events:
            fields = msgspec.structs.asdict(event) | {"body": canonical_json(event.body)}
            del fields["seq"]
            connection.execute(EVENTS.insert().values(**fields, checksum=_checksum(fields)))

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
        # One connection for the writer and some for readers; a dead one is found before its use.
        return sql.create_engine(
            url, pool_size=8, max_overflow=8, pool_pre_ping=True, connect_args={"timeout": 10}
        )
    engine = sql.create_engine(url, connect_args={"timeout": 10}, pool_size=8, max_overflow=8)

    @sql.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # we say where a transaction begins
        for mode in ("journal_mode = WAL", "synchronous = FULL"):
            connection.execute(f"PRAGMA {mode}")

    @sql.event.listens_for(engine, "begin")
    def begin(connection: sql.Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def _checksum(fields: Mapping[str, Any]) -> str:
    names = ("id", "time", "who", "queue", "item", "digest", "type", "body")
    return checksum(*(str(fields[name]) for name in names))
