"""Preferences for places, yes and length show, in the order that was shown, beside the keys'."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item

from reelbench.data.items import Item
from reelbench.score.score import score_predictions

ORDERS = [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0], [1, 3, 0, 2]]


def bias(folder: Path, items: list[Item], *rows: dict[str, Any]) -> Any:
    """What the only model of these predictions prefers."""
    benchmark = blind_benchmark(folder / "b", *items)
    path = folder / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (row,) = score_predictions(benchmark, path)["results"]
    return row["bias"]


@pytest.mark.parametrize("orders", [ORDERS[:1], ORDERS[1:2], ORDERS])
def test_who_always_says_the_first_has_chosen_place_a_in_every_order(
    orders: list[list[int]], tmp_path: Path
) -> None:
    items = [make_item(n) for n in range(3)]
    rows = [
        {"id": item.id, "order": n, "response": "A", "permutation": order}
        for item in items
        for n, order in enumerate(orders)
    ]
    found = bias(tmp_path, items, *rows)["positions"]["4"]
    assert (found["answers"], found["chosen"]) == (3 * len(orders), [1, 0, 0, 0])


def test_places_are_those_that_were_shown_and_not_letters(tmp_path: Path) -> None:
    # The key is B, the second option: shown last, first and last.
    orders = [[2, 0, 3, 1], [1, 3, 0, 2], [3, 2, 0, 1]]
    rows = [
        {"id": "q-1", "order": n, "permutation": order, "parsed": ["B" if n < 2 else "D"]}
        for n, order in enumerate(orders)
    ]
    found = bias(tmp_path, [make_item(1)], *rows)["positions"]["4"]
    third = pytest.approx(1 / 3, abs=1e-6)
    assert found["right"] == [third, 0, 0, pytest.approx(2 / 3, abs=1e-6)]
    assert found["chosen"] == [pytest.approx(2 / 3, abs=1e-6), 0, 0, third]


def test_numbers_of_options_are_kept_apart_and_only_answers_count(tmp_path: Path) -> None:
    items = [
        make_item(1),
        make_item(2, options=("a", "b", "c"), answer=("C",)),
        make_item(3, kind="multi", answer=("A", "C")),
        make_item(4, answer=("D",)),
        make_item(5, answer=("D",)),
    ]
    found = bias(
        tmp_path,
        items,
        {"id": "q-1", "parsed": ["C"]},
        {"id": "q-2", "parsed": ["A"]},
        {"id": "q-3", "parsed": ["A", "B", "C", "D"]},
        {"id": "q-4", "response": "no idea"},
        {"id": "q-5", "status": "refused", "response": "D"},
    )
    assert found["positions"] == {
        "3": {"answers": 1, "chosen": [1, 0, 0], "right": [0, 0, 1]},
        "4": {"answers": 1, "chosen": [0, 0, 1, 0], "right": [0, 1, 0, 0]},
    }


def test_yes_is_yes_wherever_it_stands(tmp_path: Path) -> None:
    def asked(number: int, options: tuple[str, str], answer: str) -> Item:
        return make_item(number, kind="yesno", options=options, answer=(answer,))

    items = [
        asked(1, ("Yes", "No"), "A"),
        asked(2, ("no.", "YES."), "A"),
        asked(3, ("No", "yes"), "B"),
        asked(4, ("yes", "no"), "B"),
        asked(5, ("yes", "no"), "B"),
    ]
    said = {"q-1": "A", "q-2": "B", "q-3": "B", "q-4": "B"}
    rows: list[dict[str, Any]] = [{"id": name, "parsed": [letter]} for name, letter in said.items()]
    found = bias(tmp_path, items, *rows, {"id": "q-5", "parsed": None})
    assert found["yes"] == {"answers": 4, "chosen": 0.75, "right": 0.5}
    assert "longest" not in found


def test_the_longest_option_where_one_is_the_longest(tmp_path: Path) -> None:
    items = [
        make_item(1, options=("a", "much longer", "b", "c"), answer=("B",)),
        make_item(2, options=("a", "longer"), answer=("A",)),
        make_item(3, options=("two as long", "as the other", "as the first"), answer=("A",)),
    ]
    rows = [{"id": "q-1", "parsed": ["B"]}, {"id": "q-2", "parsed": ["B"]}]
    found = bias(tmp_path, items, *rows, {"id": "q-3", "parsed": ["B"]})
    assert found["longest"] == {"answers": 2, "chosen": 1, "right": 0.5, "by_chance": 0.375}
    assert "yes" not in found


def test_flips_are_counted_among_items_with_two_answers(tmp_path: Path) -> None:
    def rows(number: int, *said: str) -> list[dict[str, Any]]:
        return [{"id": f"q-{number}", "order": n, "response": text} for n, text in enumerate(said)]

    found = bias(
        tmp_path,
        [make_item(n) for n in range(1, 5)],
        *rows(1, "A", "A", "A"),
        *rows(2, "A", "B", "A"),
        *rows(3, "A", "no idea"),
        *rows(4, "C", "no idea", "C"),
    )
    assert found["order_flips"] == {"items": 3, "flipped": pytest.approx(1 / 3, abs=1e-6)}
    assert "order_flips" not in bias(tmp_path, [make_item(1)], *rows(1, "A"))


def test_the_same_option_in_another_place_is_no_flip(tmp_path: Path) -> None:
    rows = [
        {"id": "q-1", "order": n, "permutation": order, "response": "ABCD"[order.index(1)]}
        for n, order in enumerate(ORDERS)
    ]
    found = bias(tmp_path, [make_item(1)], *rows)
    assert found["order_flips"] == {"items": 1, "flipped": 0}
    assert found["positions"]["4"]["chosen"] == found["positions"]["4"]["right"]
