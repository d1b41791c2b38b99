"""Who may do what: accounts by invitation, passwords, sessions.

Tokens are random, and only their hashes are kept: who reads the database can be nobody else.
"""

import hashlib
import hmac
import json
import secrets
import time
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Literal, get_args

import sqlalchemy as sql
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from reelbench.review.database import INVITATIONS, PEOPLE, SESSIONS, ReviewDatabase
from reelbench.review.errors import AccessError

Role = Literal["annotator", "reviewer", "organiser"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what those before it may
SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 200
LONGEST_NAME = 60
INVITATION_DAYS, SESSION_DAYS = 14, 14
_DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Person:
    """Someone with an account."""

    name: str
    role: Role
    expertise: tuple[str, ...] = ()
    active: bool = True

    def may(self, role: Role) -> bool:
        """Whether this person may do what a role may."""
        return ROLES.index(self.role) >= ROLES.index(role)


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

    def invitations(self) -> list["Invitation"]:
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
            return _valid_invitation(connection, token).role  # type: ignore[no-any-return]

    def join(self, token: str, name: str, password: str) -> str:
        """Make the account of an invitation; return the token of its first session."""
        name = _checked_name(name)
        _check_password(password)
        hashed = self._hasher.hash(password)
        with self._database.writing() as connection:
            invitation = _valid_invitation(connection, token)
            taken = sql.select(PEOPLE.c.name).where(sql.func.lower(PEOPLE.c.name) == name.lower())
            if connection.execute(taken).first():
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
            row = connection.execute(PEOPLE.select().where(PEOPLE.c.name == name.strip())).first()
        try:
            self._hasher.verify(row.password if row else self._nobody, password[:LONGEST_PASSWORD])
        except (VerificationError, InvalidHashError):
            row = None
        if row is None or not row.active:
            raise AccessError("This name and password do not belong together.")
        return self.open_session(row.name)

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
        """Return a session of who works alone on this machine, an organiser without a password."""
        with self._database.writing() as connection:
            if connection.execute(PEOPLE.select().where(PEOPLE.c.name == name)).first() is None:
                values = {"role": "organiser", "password": "!", "expertise": "[]", "active": True}
                connection.execute(PEOPLE.insert().values(name=name, **values))
        return self.open_session(name)

    def person(self, token: str) -> Person | None:
        """Return whose session this is; None where it has ended, or never was."""
        query = (
            PEOPLE.select()
            .join(SESSIONS, SESSIONS.c.who == PEOPLE.c.name)
            .where(SESSIONS.c.token == _hashed(token), SESSIONS.c.expires > time.time())
        )
        with self._database.reading() as connection:
            row = connection.execute(query).first()
        return _person(row) if row is not None and row.active else None

    def log_out(self, token: str) -> None:
        """End a session."""
        with self._database.writing() as connection:
            connection.execute(SESSIONS.delete().where(SESSIONS.c.token == _hashed(token)))

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


class LoginLimit:
    """How often a password may be tried for one name, or from one address."""

    def __init__(self, most: int = 10, seconds: float = 300.0) -> None:
        self._most, self._seconds = most, seconds
        self._tries: dict[str, deque[float]] = defaultdict(deque)

    def check(self, *keys: str) -> None:
        """Count one try; refuse it where there were too many."""
        now = time.monotonic()
        for key in keys:
            tries = self._tries[key]
            while tries and tries[0] < now - self._seconds:
                tries.popleft()
            if len(tries) >= self._most:
                wait = int(tries[0] + self._seconds - now) + 1
                raise AccessError(f"Too many tries: wait {wait} s and try again.")
        for key in keys:
            self._tries[key].append(now)

    def forget(self, *keys: str) -> None:
        """Start again at none, after a right password."""
        for key in keys:
            self._tries.pop(key, None)


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


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise AccessError(f"A name has 1 to {LONGEST_NAME} characters.")
    return name


def _check_password(password: str) -> None:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise AccessError(
            f"A password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters; "
            "a short sentence is a good one."
        )
