"""What people have typed and not sent: kept for each of them, until it is sent."""

from typing import Any

import sqlalchemy as sql

from reelbench.base.files import canonical_json
from reelbench.base.limits import decode_json
from reelbench.review.database import DRAFTS, ReviewDatabase
from reelbench.review.errors import ActionError

MOST_DRAFT = 200_000  # characters
DraftKey = tuple[str, str, str]  # who, queue, item


class Drafts:
    """The drafts of a review. Most items have none: which have is known, and they are not asked."""

    def __init__(self, database: ReviewDatabase) -> None:
        self._database = database
        self._keys: set[DraftKey] | None = None  # None: not asked yet

    def known(self) -> set[DraftKey]:
        """Return which drafts there are."""
        if self._keys is None:
            query = sql.select(DRAFTS.c.who, DRAFTS.c.queue, DRAFTS.c.item)
            with self._database.reading() as connection:
                self._keys = {(row[0], row[1], row[2]) for row in connection.execute(query)}
        return self._keys

    def read(self, key: DraftKey) -> Any:
        """Return a draft; None where there is none."""
        if key not in self.known():
            return None
        with self._database.reading() as connection:
            text = connection.execute(sql.select(DRAFTS.c.body).where(*_of(key))).scalar()
        return None if text is None else decode_json(text)

    def keep(self, key: DraftKey, body: Any, time: str) -> None:
        """Keep a draft, in place of what was kept before."""
        text = canonical_json(body)
        if len(text) > MOST_DRAFT:
            raise ActionError(f"A draft has more than {MOST_DRAFT:,} characters.")
        self.known()
        with self._database.writing() as connection:
            connection.execute(DRAFTS.delete().where(*_of(key)))
            who, queue, item = key
            row = {"who": who, "queue": queue, "item": item, "time": time, "body": text}
            connection.execute(DRAFTS.insert(), row)
        self.known().add(key)

    def drop(self, connection: sql.Connection, key: DraftKey) -> None:
        """Drop a draft, if there is one, within the writer's block of what was sent."""
        if key in self.known():
            connection.execute(DRAFTS.delete().where(*_of(key)))


def _of(key: DraftKey) -> tuple[sql.ColumnElement[bool], ...]:
    return DRAFTS.c.who == key[0], DRAFTS.c.queue == key[1], DRAFTS.c.item == key[2]
