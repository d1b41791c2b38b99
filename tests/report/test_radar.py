"""The circle of categories: which have a spoke, what stands at it, and where the numbers stand."""

from typing import Any

import pytest

from reelbench.report.radar import radar


def scores(shares: dict[str, list[float]], items: list[int]) -> dict[str, Any]:
    """Scores of models by the values a, b, c ... of one tag."""
    results = [
        {
            "model": model,
            "condition": "protocol",
            "items": 9,
            "failed": 0,
            "by": {
                "skill": {
                    name: {"accuracy": share, "items": count, "all_items": count}
                    for name, share, count in zip("abcdefg", row, items, strict=False)
                }
            },
        }
        for model, row in shares.items()
    ]
    return {"main_condition": "protocol", "results": results}


def test_values_with_one_item_are_left_out_and_named() -> None:
    found = radar(scores({"m": [0.5, 1, 0, 0.2, 0.4]}, [2, 1, 3, 1, 4]), "skill")
    assert found is not None
    (trace,) = found.data
    assert trace["theta"] == ["a<br>n = 2", "c<br>n = 3", "e<br>n = 4", "a<br>n = 2"]
    assert trace["r"] == pytest.approx([50, 0, 40, 50])
    assert found.note == "Left out, with one item each: b, d."


def test_there_is_none_where_too_few_values_have_several_items() -> None:
    assert radar(scores({"m": [0.5, 1, 0]}, [2, 1, 3]), "skill") is None
    assert radar(scores({"m": [0.5, 1, 0]}, [2, 2, 3]), "skill") is not None


def test_numbers_stand_upright_where_no_line_crosses_a_circle() -> None:
    """Between a and b runs a line along the outer circle, between c and d one along the inner."""
    shares = {"m": [1, 1, 0.7, 0.7], "n": [0.5, 0.5, 0.2, 0.2]}
    found = radar(scores(shares, [5] * 4), "skill")
    assert found is not None
    axis = found.layout["polar"]["radialaxis"]
    assert axis["ticktext"] == ["50%", "100%"]
    # 0.7 on both spokes is 0.49 between them, and 1 on both is 0.71: what is left is the rest.
    assert axis["angle"] == axis["tickangle"] == 90 - 90 * 0.5


def test_long_names_are_wrapped_between_words_and_have_room_at_the_sides() -> None:
    made = scores({"m": [0.5, 1, 0]}, [2, 2, 3])
    cells = made["results"][0]["by"]["skill"]
    made["results"][0]["by"]["skill"] = {"Temporal Ordering <b>": cells["a"], "x": cells["b"], "y": cells["c"]}  # fmt: skip
    found = radar(made, "skill")
    assert found is not None
    assert found.data[0]["theta"][0] == "Temporal<br>Ordering &lt;b&gt;<br>n = 2"
    assert found.layout["margin"]["l"] >= 6 * len("Ordering")
