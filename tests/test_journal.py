"""The journal: only an answer is one, and damage is named."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support import make_item

from reelbench.base.durable import checksum
from reelbench.base.errors import ReelbenchError
from reelbench.client.journal import open_journal
from reelbench.models.base import Response

BLIND = ["baseline:random", "baseline:longest"]


ITEMS = tuple(make_item(n, question=f"Question {n}?", media=make_item(1).media) for n in range(8))


class TestJournal:
    def test_only_ok_is_an_answer(self, tmp_path: Path) -> None:
        with open_journal(tmp_path / "j") as journal:
            journal.record("k", "m", Response("error", error="boom"))
            assert journal.answer("k") is None
            assert journal.outcome("k") == Response("error", error="boom")
            journal.record("k", "m", Response("ok", "B"))
            journal.record("k", "m", Response("timeout"))
            assert journal.answer("k") == journal.outcome("k") == Response("ok", "B")

    def test_damage_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "journal.sqlite"
        with open_journal(path) as journal:
            journal.record("key-1", "m", Response("ok", "B"))
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE responses SET body = replace(body, 'B', 'C')")
        with (
            open_journal(path) as journal,
            pytest.raises(ReelbenchError, match=r"key-1.* is damaged"),
        ):
            journal.answer("key-1")

    def test_a_file_that_is_no_journal(self, tmp_path: Path) -> None:
        (tmp_path / "j").write_bytes(os.urandom(5000))
        with pytest.raises(ReelbenchError, match="damaged"), open_journal(tmp_path / "j"):
            pass

    def test_a_folder_that_cannot_be_written(self, tmp_path: Path) -> None:
        with (
            pytest.raises(ReelbenchError, match="cannot be written"),
            open_journal(tmp_path / "no" / "j"),
        ):
            pass


class TestJournalTexts:
    def test_half_a_character_at_the_end_of_a_reply(self, tmp_path: Path) -> None:
        with open_journal(tmp_path / "j") as journal:
            journal.record("k", "m", Response("ok", "B \ud83d"))
            assert journal.answer("k") == Response("ok", "B \ufffd")

    def test_a_row_that_is_not_ours_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "journal.sqlite"
        with open_journal(path):
            pass
        row = ("key-1", "m", "ok", "not json")
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(
                "INSERT INTO responses (key, model, status, body, checksum) VALUES (?, ?, ?, ?, ?)",
                (*row, checksum(*row)),
            )
        with open_journal(path) as journal, pytest.raises(ReelbenchError, match="damaged"):
            journal.answer("key-1")
