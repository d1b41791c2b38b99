"""HumanVBench's tables from predictions made by hand: every mean is computed again, none is a printed one."""

import json
from math import fsum
from pathlib import Path
from typing import Any

import pytest
from support import REPOSITORY, make_item

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, freeze
from reelbench.evaluate.condition import conditions_for
from reelbench.interop.humanvbench.manifest import CONDITIONS, humanvbench_manifest
from reelbench.interop.humanvbench.settings import paper_models
from reelbench.interop.humanvbench.taxonomy import DIMENSIONS, HEADINGS, TASKS, VISION, human_tags
from reelbench.models.card import make_card
from reelbench.score.predictions import read_predictions
from reelbench.score.score import score_outcomes

MOODS = ("calm", "surprised", "sad", "shocked and silent")
SPEECH = [task for task in TASKS if task not in VISION]


def items() -> list[Item]:
    """Four items of each task, A right: the first two of ER speak; T2H has five options, AVSM two."""
    made = []
    for place, task in enumerate(TASKS):
        options = {"ER": MOODS, "T2H": tuple("ABCDE"), "AVSM": ("A", "B")}.get(task, tuple("wxyz"))
        for n in range(4):
            speaking = n < 2 if task == "ER" else None
            people = (2, 3, 4, 6)[n] if task in VISION else 2
            made.append(
                make_item(
                    4 * place + n,
                    id=f"{task}-{n}",
                    options=options,
                    answer=("A",),
                    tags=freeze(human_tags(task, people=people, speaking=speaking)),
                )
            )
    return made


def predictions(
    model: str, condition: str, right: dict[str, int], without: list[str] | None = None
) -> list[dict[str, Any]]:
    """The first few of each task are right, as many as are named; the others are answered B."""
    return [
        {"id": f"{task}-{n}", "model": model, "condition": condition, "parsed": ["A" if n < right.get(task, 2) else "B"]}
        for task in TASKS
        if task not in (without or ())
        for n in range(4)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("tables")
    made = items()
    Benchmark(folder / "b", humanvbench_manifest("x", made), tuple(made)).save(folder / "b")
    rows = [
        *predictions("strong", "protocol", {"ER": 0, "ETA": 1, "AR": 3, "EIC": 4, "AVSM": 4}),
        *predictions("strong", "video-only", {"AVSM": 1, "SCM": 0}),
        *predictions("strong", "audio-only", {"AVAD": 3}),
        *predictions("blind", "video-only", {}, without=SPEECH),
        *predictions("blind", "timestamps", {"ATD": 3, "TSA": 0}, without=SPEECH),
        *predictions("blind", "frames/sampling=uniform:4", {"HC": 0}, without=SPEECH),
        *predictions("blind", "frames/sampling=uniform:16", {"HC": 3}, without=SPEECH),
        *predictions("human:ann", "protocol", dict.fromkeys(TASKS, 4), without=["HC"]),
    ]
    (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    bench = Benchmark.load(folder / "b")
    outcomes = read_predictions([folder / "p.jsonl"], bench)
    scores = score_outcomes(bench, outcomes, 0, tiers={"strong": "Strong"})
    return {table["name"]: table for table in scores["tables"]}


def row_of(table: dict[str, Any], model: str, condition: str) -> dict[str, Any]:
    row = next(r for r in table["rows"] if (r["model"], r["condition"]) == (model, condition))
    names = [column["name"] for column in table["columns"]]
    return dict(zip(names, row["cells"], strict=True))


def test_a_dimension_is_the_mean_of_its_four_tasks_and_all_is_that_of_sixteen(
    tables: dict[str, Any],
) -> None:
    row = row_of(tables["table-4"], "strong", "protocol")
    assert [row[task]["value"] for task in ("ER", "ETA", "AR", "EIC")] == [0.0, 0.25, 0.75, 1.0]
    for dimension, tasks in DIMENSIONS.items():
        mean = fsum(row[task]["value"] for task in tasks) / 4
        assert row[HEADINGS[dimension]]["value"] == pytest.approx(mean)
    assert row["Vision 12"]["value"] == pytest.approx(0.5)
    assert row["All 16"]["value"] == pytest.approx((12 * 0.5 + 1.0 + 3 * 0.5) / 16)
    assert (row["Minutes"]["value"], row["Memory"]["value"]) == (None, None)  # nobody measured


def test_tasks_that_were_not_run_are_empty_and_so_are_their_means(tables: dict[str, Any]) -> None:
    row = row_of(tables["table-4"], "blind", "video-only")
    assert [row[name]["value"] for name in (*SPEECH, "Speech", "All 16")] == [None] * 6
    assert row["Vision 12"]["value"] == 0.5


def test_the_random_row_is_what_the_options_give(tables: dict[str, Any]) -> None:
    chance = {column["name"]: column["chance"] for column in tables["table-4"]["columns"]}
    assert (chance["ER"], chance["T2H"], chance["AVSM"]) == (0.25, 0.2, 0.5)
    assert chance["Person"] == pytest.approx((0.2 + 3 * 0.25) / 4)
    pooled = {column["name"]: column["pooled_chance"] for column in tables["table-4"]["columns"]}
    assert pooled["T2H"] == 0.2


def test_people_have_a_row_on_what_they_were_shown(tables: dict[str, Any]) -> None:
    row = row_of(tables["table-4"], "human:ann", "protocol")
    assert (row["ER"]["value"], row["HC"]["value"], row["Person"]["value"]) == (1.0, None, None)


def test_who_speaks_is_held_against_all_and_surprise_is_counted(tables: dict[str, Any]) -> None:
    row = row_of(tables["table-2a"], "strong", "video-only")
    assert (row["ER"]["value"], row["Speaking"]["value"]) == (0.5, 1.0)
    assert row["Speaking"]["difference"]["value"] == 0.5
    assert (row["Surprise"]["value"], row["Surprise"]["items"]) == (1.0, 2)  # both errors are B
    wrong = row_of(tables["table-2a"], "strong", "protocol")
    assert (wrong["Surprise, speaking"]["value"], wrong["Surprise, speaking"]["items"]) == (1.0, 2)
    surprise = next(c for c in tables["table-2a"]["columns"] if c["name"] == "Surprise")
    assert surprise["chance"] == pytest.approx(2 / 3, abs=1e-6)


def test_timestamps_have_signed_differences(tables: dict[str, Any]) -> None:
    row = row_of(tables["table-2b"], "blind", "timestamps")
    told = [row[task]["difference"]["value"] for task in ("ATD", "AST", "TSA", "Mean")]
    assert told == pytest.approx([0.25, 0.0, -0.5, -0.25 / 3], abs=1e-6)


def test_pictures_and_sound_are_held_against_both(tables: dict[str, Any]) -> None:
    table = tables["table-5"]
    assert [row["condition"] for row in table["rows"][:3]] == [
        "protocol",
        "video-only",
        "audio-only",
    ]
    seen, heard = (row_of(table, "strong", name) for name in ("video-only", "audio-only"))
    assert seen["AVSM"]["difference"]["value"] == -0.75
    assert heard["AVAD"]["difference"]["value"] == 0.25


def test_frames_come_in_their_order(tables: dict[str, Any]) -> None:
    table = tables["table-6"]
    assert [row["condition"] for row in table["rows"]] == [
        "frames/sampling=uniform:4",
        "frames/sampling=uniform:16",
    ]
    assert row_of(table, "blind", "frames/sampling=uniform:16")["HC"]["difference"]["value"] == 0.75
    assert table["columns"][-1]["of"] == {"measured": "minutes"}


def test_density_is_by_tier_and_dimension(tables: dict[str, Any]) -> None:
    table = tables["table-7"]
    row = row_of(table, "Strong", "protocol")
    # The first of four is in a clip of two people, the last in one of six; three tasks err less.
    assert row["Person, Low"]["value"] == 1.0
    assert row["Person, High"]["value"] == 0.0
    assert row["Emotion, High"]["value"] == 0.25
    assert row["Speech, High"]["items"] == 0
    assert row["Mean, High"]["value"] == pytest.approx((0.25 + 0 + 0) / 3, abs=1e-6)
    assert any("leaves out 'Speech, High'" in warning for warning in table["warnings"])


def test_wrong_options_are_counted_over_each_model_once(tables: dict[str, Any]) -> None:
    table = tables["figure-7"]
    assert sorted(table["models"]) == ["blind", "strong"]
    chosen = table["rows"][0]
    names = [column["name"] for column in table["columns"]]
    cells = dict(zip(names, chosen["cells"], strict=True))
    # Of ER's twelve wrong options, B is chosen in all four items by strong, and in two by blind.
    assert cells["ER"]["value"] == pytest.approx(4 / 12, abs=1e-6)
    assert names[0] == "The six"


def test_every_condition_can_be_run() -> None:
    manifest = humanvbench_manifest("x", items())
    names = [condition.name for condition in conditions_for(manifest, None, list(CONDITIONS))]
    assert names == [
        "video-only", "audio-only", "text-only", "timestamps",
        "frames/sampling=uniform:4", "frames/sampling=uniform:8", "frames/sampling=uniform:16",
    ]  # fmt: skip
    declared = {name for table in manifest.tables.values() for name in table["conditions"]}
    assert declared <= {*CONDITIONS, "protocol"}


def test_the_models_of_the_paper_have_cards_and_samplings_that_work(tmp_path: Path) -> None:
    models = paper_models()
    assert len({model.model for model in models}) == 28
    manifest = humanvbench_manifest("x", items())
    for model in models:
        assert make_card(tmp_path / "card.yaml", model.card).parameters == dict(model.parameters)
        if model.condition:
            (condition,) = conditions_for(manifest, None, [model.condition])
            assert condition.protocol.sampling == model.sampling
    assert [model.model for model in models if not model.condition] == ["Gemini-1.5-Pro"]


def test_the_page_has_what_the_file_has() -> None:
    page = (REPOSITORY / "docs" / "recipes" / "humanvbench.md").read_text()
    for model in paper_models():
        size = f" ({model.size})" if model.size else ""
        names = ("top_p", "top_k", "num_beams", "temperature")
        numbers = [str(model.parameters.get(name, "-")) for name in names]
        cells = [model.model + size, model.frames, model.sampling or "-", *numbers, str(model.minutes)]  # fmt: skip
        assert f"| {' | '.join(cells)} |" in page
