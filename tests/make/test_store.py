"""What stages made comes back as it was; damage is found and named; nobody is in two places."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.data.items import Item, Media, freeze
from reelbench.make.pipeline.stage import Rejected
from reelbench.make.pipeline.store import (
    RowResult,
    copied_store,
    open_store,
    record_of,
    rejected_record,
    row_of,
)


class Part(msgspec.Struct, frozen=True):
    name: str
    seconds: float


class Film(msgspec.Struct, frozen=True, kw_only=True):
    """A row that is no item."""

    id: str
    parts: tuple[Part, ...] = ()
    notes: dict[str, Any] = {}
    title: str | None = None


def there_and_back(path: Path, row: Any) -> Any:
    with open_store(path) as store:
        store.put("k", "stage", RowResult([row]))
    with open_store(path) as store:
        found = store.get("k", type(row))
    assert found is not None
    assert found.rejected is None
    (back,) = found.rows
    return back


ITEMS = {
    "plain": make_item(1),
    "scripts": make_item(
        1, question="影片里 \U0001f3ac \u2028 \x00 e\u0301 ß?", options=("是", "“no”")
    ),
    "extra": make_item(1, extra=freeze({"mine": {"a": [1, 1.0, None, True]}, "extra": "x"})),
    "media": make_item(1, media=(Media("a.mp4", 1, 2.0, freeze({"sha": "x"})), Media("b.mp4"))),
    "numbers": make_item(1, evidence=((1, 2.0), (2.5, 3))),
    "open": make_item(1, kind="open", options=(), answer=(), reference=""),
    "nested": make_item(
        1,
        tags=freeze({"category": "a", "skills": ["b", "c"], "n": 3}),
        context=freeze({"reasoning": 'He said "{no}"\n'}),
        provenance=freeze({"ensemble": {"scores": {"a": [1.0, 2]}}}),
    ),
}


class TestRows:
    @pytest.mark.parametrize("name", ITEMS)
    def test_items_come_back_equal_and_hash_the_same(self, name: str, tmp_path: Path) -> None:
        item = ITEMS[name]
        back = there_and_back(tmp_path / "rows.sqlite", item)
        assert back == item
        assert isinstance(back, Item)
        assert digest_of(record_of(back)) == digest_of(record_of(item))

    def test_whole_numbers_stay_whole_and_others_do_not(self, tmp_path: Path) -> None:
        back = there_and_back(tmp_path / "rows.sqlite", ITEMS["numbers"])
        assert [[type(number) for number in span] for span in back.evidence] == [
            [int, float], [float, int],
        ]  # fmt: skip

    def test_other_rows_come_back_equal(self, tmp_path: Path) -> None:
        film = Film(
            id="é\ud83d",
            parts=(Part("a", 1.5), Part("b", 2.0)),
            notes={"a": [1, 1.0, None], "b": {"c": "\U0001f3ac"}},
        )
        back = there_and_back(tmp_path / "rows.sqlite", film)
        assert back == film
        assert digest_of(record_of(back)) == digest_of(record_of(film))

    def test_several_and_none(self, tmp_path: Path) -> None:
        with open_store(tmp_path / "rows.sqlite") as store:
            store.put("many", "s", RowResult([make_item(1), make_item(2)]))
            many = store.get("many", Item)
            assert many is not None
            assert many.rows == [make_item(1), make_item(2)]
            assert store.get("nothing", Item) is None

    def test_what_is_put_again_takes_the_place(self, tmp_path: Path) -> None:
        with open_store(tmp_path / "rows.sqlite") as store:
            store.put("k", "s", RowResult([make_item(1)]))
            store.put("k", "s", RowResult([make_item(2)]))
            found = store.get("k", Item)
            assert found is not None
            assert found.rows == [make_item(2)]

    def test_a_record_of_another_shape_is_refused(self) -> None:
        with pytest.raises(msgspec.ValidationError):
            row_of({"id": 1}, Film)


class TestRejects:
    def test_come_back_with_all_that_was_said(self, tmp_path: Path) -> None:
        why = Rejected("too dull", "very: é", ["m: \ud83d", "n"], {"right": 3, "share": 0.5})
        with open_store(tmp_path / "rows.sqlite") as store:
            store.put("k", "s", RowResult(rejected=why))
            found = store.get("k", Item)
        assert found is not None
        assert found.rejected is not None
        assert rejected_record(found.rejected) == rejected_record(why)
        assert list(found.rows) == []

    def test_without_facts(self, tmp_path: Path) -> None:
        with open_store(tmp_path / "rows.sqlite") as store:
            store.put("k", "s", RowResult(rejected=Rejected("nothing made")))
            found = store.get("k", Item)
        assert found is not None
        assert found.rejected is not None
        assert dict(found.rejected.facts) == {}


class TestTexts:
    @pytest.mark.parametrize("text", ["", "a film", "影片 \U0001f3ac \x00"])
    def test_are_found_by_their_digest(self, text: str, tmp_path: Path) -> None:
        with open_store(tmp_path / "rows.sqlite") as store:
            digest = store.keep(text)
            assert store.keep(text) == digest == digest_of(text)
        with open_store(tmp_path / "rows.sqlite") as store:
            assert store.kept(digest) == text
            assert store.kept("0" * 64) is None

    def test_with_half_a_character_can_be_kept(self, tmp_path: Path) -> None:
        """Subtitles that were cut off have such."""
        with open_store(tmp_path / "rows.sqlite") as store:
            digest = store.keep("half \ud83d of it")
            assert store.kept(digest) is not None


def change(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement, values).rowcount == 1


class TestDamage:
    @pytest.mark.parametrize("statement", [
        "UPDATE results SET body = replace(body, 'door', 'gate')",
        "UPDATE results SET body = '{'",
        "UPDATE results SET checksum = ''",
    ])  # fmt: skip
    def test_to_a_row_is_named(self, statement: str, tmp_path: Path) -> None:
        path = tmp_path / "rows.sqlite"
        with open_store(path) as store:
            store.put("k" * 64, "write", RowResult([make_item(1)]))
        change(path, statement)
        told = r"rows\.sqlite: the result kkkkkkkkkkkk of write is damaged"
        with open_store(path) as store, pytest.raises(ReelbenchError, match=told):
            store.get("k" * 64, Item)

    def test_to_a_text_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.sqlite"
        with open_store(path) as store:
            digest = store.keep("a film")
        change(path, "UPDATE texts SET text = 'another'")
        told = rf"rows\.sqlite: the text {digest[:12]} is damaged"
        with open_store(path) as store, pytest.raises(ReelbenchError, match=told):
            store.kept(digest)

    def test_to_the_file_is_a_sentence(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.sqlite"
        path.write_bytes(b"no database at all" * 100)
        with pytest.raises(ReelbenchError, match=r"rows\.sqlite is damaged"), open_store(path):
            pass
        with pytest.raises(ReelbenchError, match=r"rows\.sqlite is damaged"), copied_store(path):
            pass


class TestTwoAtOnce:
    def test_the_second_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.sqlite"
        with open_store(path) as store:
            store.put("k", "s", RowResult([make_item(1)]))
            told = r"rows\.sqlite is in use: another run writes to this folder"
            with pytest.raises(ReelbenchError, match=told), open_store(path):
                pass
            found = store.get("k", Item)
        assert found is not None

    def test_a_copy_is_told_too(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.sqlite"
        with open_store(path) as store:
            store.put("k", "s", RowResult([make_item(1)]))
            with pytest.raises(ReelbenchError, match="is in use"), copied_store(path):
                pass

    def test_one_after_the_other(self, tmp_path: Path) -> None:
        for _ in range(2):
            with open_store(tmp_path / "rows.sqlite") as store:
                store.put("k", "s", RowResult([make_item(1)]))


class TestACopy:
    def test_holds_what_is_there_and_touches_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.sqlite"
        with open_store(path) as store:
            store.put("k", "s", RowResult([make_item(1)]))
            digest = store.keep("a film")
        os.chmod(path, 0o444)
        before = path.read_bytes(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir())
        with copied_store(path) as copy:
            found = copy.get("k", Item)
            assert found is not None
            assert found.rows == [make_item(1)]
            assert copy.kept(digest) == "a film"
            copy.put("k", "s", RowResult([make_item(2)]))
            copy.keep("another")
            changed = copy.get("k", Item)
            assert changed is not None
            assert changed.rows == [make_item(2)]
        assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before
        with open_store(path) as store:
            assert store.kept(digest_of("another")) is None

    def test_of_nothing_is_empty_and_makes_no_file(self, tmp_path: Path) -> None:
        with copied_store(tmp_path / "not" / "there.sqlite") as copy:
            assert copy.get("k", Item) is None
            copy.put("k", "s", RowResult([make_item(1)]))
        assert list(tmp_path.iterdir()) == []
