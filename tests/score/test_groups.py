"""Items fall into groups by their tags, and by what their media say."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item
from videos import make_video

from reelbench.data.items import Item, Media, freeze
from reelbench.score.groups import grouped
from reelbench.score.score import score_predictions

Named = dict[str, dict[str, list[str]]]


def groups(folder: Path, *items: Item) -> Named:
    """The ids in each group, of a benchmark in this folder."""
    found = grouped(blind_benchmark(folder, *items), items)
    return {
        tag: {value: [item.id for item in group] for value, group in values.items()}
        for tag, values in found.items()
    }


def window(number: int, start: float | None, end: float | None, **fields: Any) -> Item:
    return make_item(number, media=(Media("absent.mp4", start, end),), **fields)


def test_windows_fall_into_lengths_from_short_to_long(tmp_path: Path) -> None:
    ends = [59.9, 60, 299.9, 300, 599, 600, 1199, 1200, 1799, 1800, 9000]
    items = [window(n, 100, 100 + end) for n, end in enumerate(ends)]
    found = groups(tmp_path, *reversed(items))["length"]
    assert {name: sorted(ids) for name, ids in found.items()} == {
        "under 1 min": ["q-0"],
        "1 to 5 min": ["q-1", "q-2"],
        "5 to 10 min": ["q-3", "q-4"],
        "10 to 20 min": ["q-5", "q-6"],
        "20 to 30 min": ["q-7", "q-8"],
        "over 30 min": ["q-10", "q-9"],
    }
    assert list(found) == [
        "under 1 min", "1 to 5 min", "5 to 10 min", "10 to 20 min", "20 to 30 min", "over 30 min",
    ]  # fmt: skip


def test_real_videos_are_measured_and_broken_ones_left_out(tmp_path: Path) -> None:
    make_video(tmp_path / "short.mp4", seconds=2.0)
    make_video(tmp_path / "long.mp4", times=lambda n: n * 61_000 // 9, seconds=0.4, rate=25)
    (tmp_path / "broken.mp4").write_bytes(b"no video at all")
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "folder.mp4").mkdir()
    names = ["short", "long", "broken", "empty", "folder", "absent"]
    items = [make_item(n, media=(Media(f"{name}.mp4"),)) for n, name in enumerate(names)]
    assert groups(tmp_path, *items)["length"] == {"under 1 min": ["q-0"], "1 to 5 min": ["q-1"]}


def test_a_window_that_is_open_at_the_end_goes_to_the_end_of_the_file(tmp_path: Path) -> None:
    make_video(tmp_path / "v.mp4", seconds=2.0)
    inside = make_item(1, media=(Media("v.mp4", 1.0),), evidence=((1.8, 2.0),))
    whole = make_item(2, media=(Media("v.mp4"),), evidence=((0.6, 0.9),))
    beyond = make_item(3, media=(Media("v.mp4", 5.0),), evidence=((5.0, 6.0),))
    assert groups(tmp_path, inside, whole, beyond)["evidence"] == {
        "2nd quarter": ["q-2"],
        "4th quarter": ["q-1"],
    }


@pytest.mark.parametrize(("evidence", "quarter"), [
    ([(100, 110)], "1st quarter"),
    ([(120, 130)], "2nd quarter"),
    ([(140, 160)], "3rd quarter"),
    ([(100, 110), (190, 200)], "3rd quarter"),
    ([(175, 176)], "4th quarter"),
    ([(199.9, 200)], "4th quarter"),
    ([(100, 200)], "3rd quarter"),
])  # fmt: skip
def test_evidence_lies_where_its_middle_is_in_the_clip(
    evidence: list[tuple[float, float]], quarter: str, tmp_path: Path
) -> None:
    other = "2nd quarter" if quarter == "1st quarter" else "1st quarter"
    known = (130, 140) if other == "2nd quarter" else (100, 101)
    items = [window(1, 100, 200, evidence=tuple(evidence)), window(2, 100, 200, evidence=(known,))]
    assert groups(tmp_path, *items)["evidence"] == {
        **({other: ["q-2"]} if other < quarter else {}),
        quarter: ["q-1"],
        other: ["q-2"],
    }


def test_pairs_are_told_from_single_videos_and_have_no_length(tmp_path: Path) -> None:
    pair = make_item(1, media=(Media("a.mp4", 0, 10), Media("b.mp4", 0, 400)), evidence=((0, 1),))
    found = groups(tmp_path, pair, window(2, 0, 10), window(3, 0, 400))
    assert found["videos"] == {"one video": ["q-2", "q-3"], "pair": ["q-1"]}
    assert found["length"] == {"under 1 min": ["q-2"], "5 to 10 min": ["q-3"]}


def test_what_does_not_vary_is_no_group_but_the_kind_always_is(tmp_path: Path) -> None:
    assert groups(tmp_path, window(1, 0, 10), window(2, 0, 20)) == {
        "kind": {"single": ["q-1", "q-2"]}
    }


def test_tags_of_the_same_name_go_first(tmp_path: Path) -> None:
    said = freeze({"length": "epic", "videos": "one", "kind": "riddle", "evidence": "late"})
    items = [
        window(1, 0, 10, tags=said, evidence=((0, 1),)),
        window(2, 0, 400, evidence=((390, 400),)),
        make_item(3, media=(Media("a.mp4"), Media("b.mp4")), kind="multi"),
    ]
    assert groups(tmp_path, *items) == {
        "evidence": {"late": ["q-1"]},
        "kind": {"riddle": ["q-1"]},
        "length": {"epic": ["q-1"]},
        "videos": {"one": ["q-1"]},
    }


def test_two_values_together_are_a_group_from_five_items_on(tmp_path: Path) -> None:
    skills = [["see", "hear"]] * 5 + [["see", "read"]] * 4 + [["see", "see"], ["hear"]]
    items = [make_item(n, tags=freeze({"skill": s})) for n, s in enumerate(skills)]
    found = groups(tmp_path, *items)
    assert found["skill, two together"] == {"hear + see": [f"q-{n}" for n in range(5)]}
    assert list(found["skill"]) == ["hear", "read", "see"]
    few = groups(tmp_path, *items[1:])
    assert "skill, two together" not in few


def test_an_item_counts_once_for_a_value_it_names_twice(tmp_path: Path) -> None:
    found = groups(tmp_path, make_item(1, tags=freeze({"skill": ["see", "see"]})))
    assert found["skill"] == {"see": ["q-1"]}


def test_scores_of_every_group_come_with_chance_and_survive_missing_media(tmp_path: Path) -> None:
    items = [window(1, 0, 10), window(2, 0, 400, options=("a", "b"), answer=("A",)), make_item(3)]
    benchmark = blind_benchmark(tmp_path / "b", *items)
    (tmp_path / "b" / "media").mkdir()
    (tmp_path / "b" / "media" / "3.mp4").write_bytes(b"\0" * 100)
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps({"id": f"q-{n}", "parsed": ["B"]}) + "\n" for n in (1, 2)))
    scores = score_predictions(benchmark, path)
    assert scores["chance"]["by"]["length"] == {"under 1 min": 0.25, "5 to 10 min": 0.5}
    (row,) = scores["results"]
    assert (row["items"], row["all_items"], row["missing"]) == (2, 3, 1)
    assert {name: cell["accuracy"] for name, cell in row["by"]["length"].items()} == {
        "under 1 min": 1,
        "5 to 10 min": 0,
    }
