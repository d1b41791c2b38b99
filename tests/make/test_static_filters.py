"""Filters that ask nobody leave out what they name, say why, and touch nothing else."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, real_embedder
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.data.items import Item, Media
from reelbench.lint.shortcuts import shortcut_findings
from reelbench.make.parts.embed import LOADERS
from reelbench.make.parts.shortcuts import filter_shortcuts
from reelbench.make.parts.static_filters import (
    filter_key_length,
    filter_lint,
    filter_near_duplicates,
)
from reelbench.make.pipeline.stage import BatchStage
from reelbench.make.pipeline.store import RowResult

FILM = (Media("media/film.mp4"),)


def filtered(
    folder: Path, stage: BatchStage, *items: Item
) -> tuple[list[str], dict[str, tuple[str, str]]]:
    """Ids that are let through, and why the others are not."""
    (passed,), server = Studio(folder).take(items, stage)
    assert server.requests == []
    assert all(row in items for row in passed.out)
    rejected = {
        row.id: (result.rejected.reason, result.rejected.detail)
        for row, result in zip(items, passed.results, strict=True)
        if isinstance(result, RowResult) and result.rejected
    }
    return [row.id for row in passed.out], rejected


BEGIN = "the man with the long grey coat and the very old hat "
DUPLICATE = make_item(2, options=("a dog", "A Dog", "it snows"))  # HIGH
SIMILAR = make_item(
    3, options=(f"{BEGIN}runs", f"{BEGIN}sits", f"{BEGIN}sings", f"{BEGIN}falls", "x")
)  # MEDIUM
LOOSE = make_item(4, question=" What is it? ")  # LOW


class TestLint:
    @pytest.mark.parametrize(("tier", "kept"), [
        ("CRITICAL", ["q-1", "q-2", "q-3", "q-4"]),
        ("HIGH", ["q-1", "q-3", "q-4"]),
        ("MEDIUM", ["q-1", "q-4"]),
        ("LOW", ["q-1"]),
    ])  # fmt: skip
    def test_leaves_out_a_tier_and_all_above(
        self, tier: str, kept: list[str], tmp_path: Path
    ) -> None:
        rows = (make_item(1), DUPLICATE, SIMILAR, LOOSE)
        assert filtered(tmp_path, filter_lint(tier), *rows)[0] == kept

    def test_says_what_was_found(self, tmp_path: Path) -> None:
        _, why = filtered(tmp_path, filter_lint("LOW"), DUPLICATE, SIMILAR, LOOSE)
        assert {item: reason for item, (reason, _) in why.items()} == {
            "q-2": "lint DUPLICATE_OPTS",
            "q-3": "lint MANY_OPTS_SIMILAR",
            "q-4": "lint LOOSE_WHITESPACE",
        }
        assert all(detail for _, detail in why.values())

    def test_of_two_keys_that_contradict_each_other_names_the_other(self, tmp_path: Path) -> None:
        rows = (make_item(1, media=FILM), make_item(1, id="q-0", media=FILM, answer=("C",)))
        kept, why = filtered(tmp_path, filter_lint(), *rows)
        assert kept == ["q-1"]
        assert why["q-0"][0] == "lint CONTRADICTORY_KEYS"
        assert "q-1" in why["q-0"][1]

    @pytest.mark.parametrize("tier", ["high", "WORST", ""])
    def test_a_tier_that_there_is_not_is_a_sentence(self, tier: str, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match=r"lint\.tier is .*: expected one of .*HIGH"):
            filtered(tmp_path, filter_lint(tier), make_item(1))

    def test_items_of_all_kinds_and_none_at_all(self, tmp_path: Path) -> None:
        rows = (
            make_item(1, kind="open", options=(), answer=(), reference="so"),
            make_item(2, kind="multi", answer=("A", "B")),
            make_item(3, kind="yesno", options=("Yes", "No"), answer=("A",)),
        )
        assert filtered(tmp_path, filter_lint("LOW"), *rows)[0] == ["q-1", "q-2", "q-3"]
        assert filtered(tmp_path, filter_lint("LOW"))[0] == []


def asks(number: int, question: str, key: str, **fields: Any) -> Item:
    options = (key, "it snows", "a bell rings")
    return make_item(
        number, media=FILM, question=question, options=options, answer=("A",), **fields
    )


VIOLIN = asks(1, "What instrument is the girl playing?", "a violin")
VIOLIN_AGAIN = asks(2, "Which instrument does the girl play?", "the violin")
GOAT = asks(3, "Which animal jumps over the fence?", "a goat")


class TestTwins:
    @pytest.fixture(autouse=True)
    def _loaded_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(LOADERS, "use", real_embedder)

    def test_one_of_two_stays_and_the_other_names_it(self, tmp_path: Path) -> None:
        kept, why = filtered(tmp_path, filter_near_duplicates(), VIOLIN, GOAT, VIOLIN_AGAIN)
        assert kept == ["q-1", "q-3"]
        assert list(why) == ["q-2"]
        reason, detail = why["q-2"]
        assert reason == "asks the same as another"
        assert detail.startswith("repeats q-1 (cosine 0.9")

    def test_the_same_one_whatever_the_order(self, tmp_path: Path) -> None:
        assert filtered(tmp_path, filter_near_duplicates(), VIOLIN_AGAIN, GOAT, VIOLIN)[0] == [
            "q-3",
            "q-1",
        ]

    def test_of_other_films_are_none_unless_asked_for(self, tmp_path: Path) -> None:
        other = make_item(2, question=VIOLIN.question, options=VIOLIN.options, answer=("A",))
        assert len(filtered(tmp_path, filter_near_duplicates(), VIOLIN, other)[0]) == 2
        assert len(filtered(tmp_path, filter_near_duplicates(within="all"), VIOLIN, other)[0]) == 1

    def test_how_alike_is_a_parameter(self, tmp_path: Path) -> None:
        assert len(filtered(tmp_path, filter_near_duplicates(1.0), VIOLIN, VIOLIN_AGAIN)[0]) == 2

    def test_no_items_need_no_embedder(self, tmp_path: Path) -> None:
        assert filtered(tmp_path, filter_near_duplicates())[0] == []

    def test_a_group_that_there_is_not_is_a_sentence(self, tmp_path: Path) -> None:
        """--set near-duplicates.within=film must not quietly mean all."""
        with pytest.raises(ReelbenchError, match="within"):
            filtered(tmp_path, filter_near_duplicates(within="film"), VIOLIN, GOAT)


def keyed(*lengths: int, **fields: Any) -> Item:
    """An item whose options have so many words, the key first."""
    options = tuple(" ".join([f"word{n}"] * length) for n, length in enumerate(lengths))
    return make_item(1, options=options, answer=("A",), **fields)


class TestLengths:
    @pytest.mark.parametrize(
        "lengths", [(10, 5, 6), (13, 4, 4, 8), (2, 6, 7), (1, 4, 4, 9)], ids=str
    )
    def test_a_key_that_stands_out(self, lengths: Sequence[int], tmp_path: Path) -> None:
        kept, why = filtered(tmp_path, filter_key_length(), keyed(*lengths))
        assert kept == []
        reason, detail = why["q-1"]
        assert reason == "the key's length gives it away"
        key, *others = lengths
        assert (
            detail
            == f"the key has {counted(key, 'word')}, the others {min(others)} to {max(others)}"
        )

    @pytest.mark.parametrize("lengths", [
        (5, 5, 5), (3, 1, 1), (1, 3, 3), (9, 5, 6), (6, 5, 9), (4, 20, 3), (9, 1), (20, 20, 1),
    ], ids=str)  # fmt: skip
    def test_a_key_that_does_not(self, lengths: Sequence[int], tmp_path: Path) -> None:
        """Two words are nothing, nor is a length that another option has; two options are left."""
        assert filtered(tmp_path, filter_key_length(), keyed(*lengths))[0] == ["q-1"]

    def test_the_factor_is_a_parameter(self, tmp_path: Path) -> None:
        item = keyed(10, 5, 6)
        assert filtered(tmp_path, filter_key_length(1.7), item)[0] == ["q-1"]

    def test_other_kinds_pass(self, tmp_path: Path) -> None:
        rows = (
            make_item(1, kind="open", options=(), answer=(), reference="so"),
            make_item(2, kind="multi", options=("a b c d e f g", "b", "c"), answer=("A",)),
        )
        assert filtered(tmp_path, filter_key_length(), *rows)[0] == ["q-1", "q-2"]

    def test_options_that_are_all_the_same_end_nothing(self, tmp_path: Path) -> None:
        """Anyone's benchmark may hold such an item, and the linter be left out."""
        row = make_item(1, options=("a dog", "a dog", "a dog"), answer=("A",))
        assert filtered(tmp_path, filter_key_length(), row)[0] == ["q-1"]


class TestLengthsAreWeighed:
    def test_where_wrong_options_stand_out_as_often_no_key_is_dropped(self, tmp_path: Path) -> None:
        """Else an option that stands out would be known to be wrong."""
        long = [keyed(10, 5, 5, id=f"key-{n}") for n in range(5)]
        wrong = [keyed(5, 10, 5, id=f"wrong-{n}") for n in range(10)]
        assert len(filtered(tmp_path, filter_key_length(), *long, *wrong)[0]) == 15

    def test_of_more_the_most_outstanding_go_first(self, tmp_path: Path) -> None:
        long = [keyed(10 + n, 5, 5, id=f"key-{n}") for n in range(9)]
        wrong = [keyed(5, 10, 5, id=f"wrong-{n}") for n in range(10)]
        kept, why = filtered(tmp_path, filter_key_length(), *long, *wrong)
        assert sorted(why) == [f"key-{n}" for n in range(5, 9)]
        assert len(kept) == 15


def worded(number: int, key: int, others: Sequence[int]) -> Item:
    """An item whose options have so many letters."""
    options = tuple(
        letter * length for letter, length in zip("abcdef", (key, *others), strict=False)
    )
    return make_item(number, options=options, answer=("A",))


def won(items: Sequence[Item], word: str) -> float:
    _, figures = shortcut_findings(items)
    return float(figures["key_lengths"][word]["accuracy"])


class TestShortcuts:
    @pytest.mark.parametrize("word", ["longest", "shortest"])
    def test_neither_length_tells_the_key_in_what_is_left(self, word: str, tmp_path: Path) -> None:
        """Half of the keys are the longest, or the shortest: after it, a quarter of each."""
        lengths = [20, 16, 14, 12] if word == "longest" else [10, 14, 16, 18]
        rows = []
        for n in range(200):
            place = 0 if n % 2 else n // 2 % 4
            rows.append(worded(n, lengths[place], lengths[:place] + lengths[place + 1 :]))
        assert won(rows, word) > 0.6
        kept, why = filtered(tmp_path, filter_shortcuts(), *rows)
        left = [row for row in rows if row.id in set(kept)]
        assert won(left, "longest") == pytest.approx(0.25, abs=0.08)
        assert won(left, "shortest") == pytest.approx(0.25, abs=0.08)
        assert {reason for reason, _ in why.values()} == {"a shortcut is right too often"}
        assert any(f"the {word} option is right on" in detail for _, detail in why.values())

    def test_what_chance_would_do_is_let_be(self, tmp_path: Path) -> None:
        lengths = [20, 16, 14, 12]
        rows = [
            worded(n, lengths[n % 4], lengths[: n % 4] + lengths[n % 4 + 1 :]) for n in range(80)
        ]
        assert len(filtered(tmp_path, filter_shortcuts(), *rows)[0]) == 80

    def test_items_of_all_kinds_and_none_at_all(self, tmp_path: Path) -> None:
        rows = (
            make_item(1, kind="open", options=(), answer=(), reference="so"),
            make_item(2, kind="multi", answer=("A", "B")),
            make_item(3, kind="yesno", options=("Yes", "No"), answer=("A",)),
        )
        assert len(filtered(tmp_path / "a", filter_shortcuts(), *rows)[0]) == 3
        assert filtered(tmp_path / "b", filter_shortcuts())[0] == []
