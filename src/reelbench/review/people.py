"""Who may do what: accounts by invitation, passwords, sessions.

Tokens are random, and only their hashes are kept: who reads the database can be nobody else.
"""

import hashlib
import hmac
import json
import secrets
import threading
import time
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, get_args

import sqlalchemy as sql
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from reelbench.review.database import (
    INVITATIONS,
    PEOPLE,
    SESSIONS,
    DatabaseDownError,
    ReviewDatabase,
)
from reelbench.review.errors import AccessError, BusyError

Role = Literal["annotator", "reviewer", "organiser"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what those before it may
ALL = "*"  # an expertise: in everything
SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 200
LONGEST_NAME = 60
INVITATION_DAYS, SESSION_DAYS = 14, 14
SESSION_SECONDS = 3.0  # for which the database is not asked again whose session one is
_NO_PASSWORD = "!"  # noqa: S105 (of who works alone on this machine)
_DAY = 24 * 3600.0
_HASHING, _WAITING = 2, 24  # passwords that are hashed at a time, each in 64 MiB, and that wait


@dataclass(frozen=True, slots=True)
class Person:
    """Someone with an account."""

    name: str
    role: Role
    expertise: tuple[str, ...] = ()  # values of tags; ``*`` stands for all
    active: bool = True

    def may(self, role: Role) -> bool:
        """Whether this person may do what a role may."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def knows(self, values: Iterable[str]) -> bool:
        """Whether one of these is among this person's expertise, in capitals or not."""
        known = {each.casefold() for each in self.expertise}
        return ALL in known or any(value.casefold() in known for value in values)


@dataclass(frozen=True, slots=True)
class Invitation:
    """An open invitation; its link was shown once and cannot be had from here."""

    key: str  # the hash of its token
    role: Role
    expertise: tuple[str, ...]
    by: str
    expires: float


class Accounts:
    """The people of a review, their invitations and sessions."""

    def __init__(self, database: ReviewDatabase) -> None:
        self._database = database
        self._hasher = PasswordHasher()
        # Checked for names that do not exist, so that both take the same time.
        self._nobody = self._hasher.hash(secrets.token_urlsafe())
        self._waiting = threading.BoundedSemaphore(_WAITING)
        self._turn = threading.BoundedSemaphore(_HASHING)
        self._sessions: dict[str, _Session] = {}  # by the hash of the token

    def people(self) -> list[Person]:
        """Return everyone, by name."""
        with self._database.reading() as connection:
            return [_person(row) for row in connection.execute(PEOPLE.select().order_by("name"))]

    def invite(self, role: str, by: str, expertise: tuple[str, ...] = ()) -> str:
        """Return the token of a new invitation, which makes one account."""
        if role not in ROLES:
            raise AccessError(f"There is no role {role!r}: choose one of {', '.join(ROLES)}.")
        token = secrets.token_urlsafe(24)
        with self._database.writing() as connection:
            connection.execute(
                INVITATIONS.insert().values(
                    token=_hashed(token),
                    role=role,
                    expertise=json.dumps(expertise),
                    by=by,
                    expires=time.time() + INVITATION_DAYS * _DAY,
                )
            )
        return token

    def invitations(self) -> list[Invitation]:
        """Return those that nobody has used yet, the next to expire first."""
        query = INVITATIONS.select().where(INVITATIONS.c.used.is_(None)).order_by("expires")
        with self._database.reading() as connection:
            return [
                Invitation(
                    row.token, row.role, tuple(json.loads(row.expertise)), row.by, row.expires
                )
                for row in connection.execute(query)
            ]

    def revoke(self, key: str) -> None:
        """Take back an invitation that nobody has used yet, by its key in ``invitations``."""
        unused = INVITATIONS.c.used.is_(None)
        with self._database.writing() as connection:
            connection.execute(INVITATIONS.delete().where(INVITATIONS.c.token == key, unused))

    def invitation(self, token: str) -> Role:
        """Return the role that an invitation gives; refuse one that is used, old or made up."""
        with self._database.reading() as connection:
            role: Role = _valid_invitation(connection, token).role
            return role

    def join(self, token: str, name: str, password: str) -> str:
        """Make the account of an invitation; return the token of its first session."""
        name = _checked_name(name)
        _check_password(password)
        self.invitation(token)  # before the work of hashing, which strangers must not cause
        with self._hashing():
            hashed = self._hasher.hash(password)
        with self._database.writing() as connection:
            invitation = _valid_invitation(connection, token)
            taken = connection.execute(sql.select(PEOPLE.c.name)).scalars()
            if name.casefold() in map(str.casefold, taken):
                raise AccessError(f"The name {name!r} is taken: choose another.")
            connection.execute(
                PEOPLE.insert().values(
                    name=name,
                    role=invitation.role,
                    password=hashed,
                    expertise=invitation.expertise,
                    active=True,
                )
            )
            connection.execute(
                INVITATIONS.update().where(INVITATIONS.c.token == _hashed(token)).values(used=name)
            )
        return self.open_session(name)

    def log_in(self, name: str, password: str) -> str:
        """Return the token of a new session; refuse a wrong name or password in the same words."""
        with self._database.reading() as connection:
            rows = connection.execute(PEOPLE.select()).all()
        meant = _plain_name(name).casefold()
        row = next((each for each in rows if each.name.casefold() == meant), None)
        known = row.password if row and row.password != _NO_PASSWORD else self._nobody
        try:
            with self._hashing():
                self._hasher.verify(known, password[: LONGEST_PASSWORD + 1])
        except (VerificationError, InvalidHashError):
            row = None
        if row is None or not row.active:
            raise AccessError("This name and password do not belong together.")
        return self.open_session(row.name)

    @contextmanager
    def _hashing(self) -> Iterator[None]:
        """Hash in turn: many at once would take all memory, and all threads."""
        if not self._waiting.acquire(blocking=False):
            raise BusyError("Many people are logging in: try again in a moment.")
        try:
            with self._turn:
                yield
        finally:
            self._waiting.release()

    def open_session(self, name: str) -> str:
        """Return the token of a new session of a person."""
        token, now = secrets.token_urlsafe(32), time.time()
        with self._database.writing() as connection:
            connection.execute(SESSIONS.delete().where(SESSIONS.c.expires < now))
            connection.execute(
                SESSIONS.insert().values(
                    token=_hashed(token), who=name, expires=now + SESSION_DAYS * _DAY
                )
            )
        return token

    def local_session(self, name: str) -> str:
        """Return a session of who works alone on this machine, an organiser without a password.

        An account with a password is not theirs to enter, even where it has their name.
        """
        with self._database.writing() as connection:
            query = sql.select(PEOPLE.c.password).where(PEOPLE.c.name == name)
            if connection.execute(query).scalar() not in (None, _NO_PASSWORD):
                name = f"{name} (this machine)"
            if connection.execute(PEOPLE.select().where(PEOPLE.c.name == name)).first() is None:
                values = {"role": "organiser", "password": _NO_PASSWORD, "expertise": f'["{ALL}"]'}
                connection.execute(PEOPLE.insert().values(name=name, active=True, **values))
        return self.open_session(name)

    def person(self, token: str) -> Person | None:
        """Return whose session this is; None where it has ended, or never was.

        While the database does not answer, it is whose it was: nobody can end it meanwhile.
        """
        known = self.known_person(token)
        if known is not None:
            return known
        key = _hashed(token)
        try:
            found = self._session(key)
        except DatabaseDownError:
            found = self._sessions.get(key)
            if found is None:
                raise
        if found is None or found.expires <= time.time():
            self._sessions.pop(key, None)
            return None
        if len(self._sessions) > 10_000:
            self._sessions.clear()
        self._sessions[key] = found
        return found.person

    def known_person(self, token: str) -> Person | None:
        """Return whose session this is, if that was asked a moment ago; the database is not."""
        found = self._sessions.get(_hashed(token))
        if found is None or time.monotonic() > found.asked + SESSION_SECONDS:
            return None
        return found.person if found.expires > time.time() else None

    def _session(self, key: str) -> "_Session | None":
        query = (
            sql.select(PEOPLE, SESSIONS.c.expires)
            .join(SESSIONS, SESSIONS.c.who == PEOPLE.c.name)
            .where(SESSIONS.c.token == key)
        )
        asked = time.monotonic()
        with self._database.reading() as connection:
            row = connection.execute(query).first()
        return _Session(_person(row), row.expires, asked) if row and row.active else None

    def log_out(self, token: str) -> None:
        """End a session."""
        with self._database.writing() as connection:
            connection.execute(SESSIONS.delete().where(SESSIONS.c.token == _hashed(token)))
        self._sessions.pop(_hashed(token), None)

    def change(self, name: str, role: str, expertise: tuple[str, ...], active: bool) -> None:
        """Give someone another role or expertise, or end their access and all their sessions."""
        if role not in ROLES:
            raise AccessError(f"There is no role {role!r}: choose one of {', '.join(ROLES)}.")
        values = {"role": role, "expertise": json.dumps(expertise), "active": active}
        with self._database.writing() as connection:
            connection.execute(PEOPLE.update().where(PEOPLE.c.name == name).values(**values))
            if not active:
                connection.execute(SESSIONS.delete().where(SESSIONS.c.who == name))
            organisers = sql.select(PEOPLE.c.name).where(
                PEOPLE.c.role == "organiser", PEOPLE.c.active
            )
            if connection.execute(organisers).first() is None:
                raise AccessError(f"{name} is the last organiser: make someone else one first.")
        self._sessions.clear()


@dataclass(frozen=True, slots=True)
class _Session:
    """Whose session it is, until when, and when the database was asked."""

    person: Person
    expires: float
    asked: float


class LoginLimit:
    """How often a wrong password may be tried: for a name from one address, and for each of them.

    Whole teams share an address, so that only wrong passwords count, and more of them; a name that
    strangers try from everywhere stays open to addresses from which it was logged in before.
    """

    def __init__(self, most: int = 10, most_of_all: int = 100, seconds: float = 300.0) -> None:
        self._most, self._most_of_all, self._seconds = most, most_of_all, seconds
        self._failures: dict[str, deque[float]] = {}
        self._trusted: set[str] = set()
        self._lock = threading.Lock()

    def check(self, name: str, address: str) -> None:
        """Refuse a try where too many went wrong."""
        pair, of_address, of_name = _login_keys(name, address)
        limits = {pair: self._most, of_address: self._most_of_all}
        if pair not in self._trusted:
            limits[of_name] = self._most_of_all
        now = time.monotonic()
        with self._lock:
            for key, most in limits.items():
                failures = self._recent(key, now)
                if len(failures) >= most:
                    wait = int(failures[0] + self._seconds - now) + 1
                    raise AccessError(f"Too many tries: wait {wait} s and try again.")

    def failed(self, name: str, address: str) -> None:
        """Count a wrong password."""
        now = time.monotonic()
        with self._lock:
            if len(self._failures) > 10_000:  # names are free to invent
                for key in list(self._failures):
                    self._recent(key, now)
            for key in _login_keys(name, address):
                self._failures.setdefault(key, deque(maxlen=self._most_of_all)).append(now)

    def succeeded(self, name: str, address: str) -> None:
        """Start again at none for this name from this address, after a right password."""
        pair, _, _ = _login_keys(name, address)
        with self._lock:
            self._failures.pop(pair, None)
            self._trusted.add(pair)

    def _recent(self, key: str, now: float) -> deque[float]:
        failures = self._failures.get(key, deque())
        while failures and failures[0] < now - self._seconds:
            failures.popleft()
        if not failures:
            self._failures.pop(key, None)
        return failures


def _login_keys(name: str, address: str) -> tuple[str, str, str]:
    name = _plain_name(name).casefold()
    return f"{name}\n{address}", f"address {address}", f"name {name}"


def csrf_token(session: str) -> str:
    """Return what pages of a session send along with what they change."""
    return hmac.new(session.encode(), b"csrf", hashlib.sha256).hexdigest()


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _person(row: sql.Row[tuple[object, ...]]) -> Person:
    return Person(row.name, row.role, tuple(json.loads(row.expertise)), bool(row.active))


def _valid_invitation(connection: sql.Connection, token: str) -> sql.Row[tuple[object, ...]]:
    query = INVITATIONS.select().where(INVITATIONS.c.token == _hashed(token))
    row = connection.execute(query).first()
    if row is None or row.used is not None or row.expires < time.time():
        raise AccessError(
            "This invitation is used, too old or incomplete: ask the organiser for a new link."
        )
    return row


def _plain_name(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(name.split()))


def _checked_name(name: str) -> str:
    name = _plain_name(name)
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise AccessError(f"A name has 1 to {LONGEST_NAME} characters, which can be seen.")
    return name


def _check_password(password: str) -> None:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise AccessError(
            f"A password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters; "
            "a short sentence is a good one."
        )
