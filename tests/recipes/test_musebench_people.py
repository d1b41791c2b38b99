"""MuseBench with people in place of models, killed and gone on with, and with bad items in the pool."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from actors import perform
from filming import Told, lines
from loop_actors import Plant
from muse_essays import ROLES, Workshop, decide, settings, workshop, write_folder
from muse_models import STATIC, MuseModels
from support import starting, wait_until

from reelbench.data.verdicts import VERDICTS_FILE
from reelbench.make.parts.quality_loop import PILOT_FILE

TYPE, RULE, MARK = "ambiguous stem: two readings", "Ask for one thing alone.", "and what of that"
ESSAYS = ("static-1", "static-2")
ALONE = [role for role in ROLES if role not in ("reviewer", "vetter", "reader", "watcher", "blind")]
REVIEWED = [*ALONE, "reviewer"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    plants = {STATIC: {TYPE: Plant("writer", MARK, RULE)}}
    with workshop(tmp_path_factory.mktemp("people"), MuseModels(plants)) as shop:
        write_folder(shop.source, ESSAYS)
        yield shop


def options(share: float = 0.8) -> list[str]:
    """Of a make about one category, in which people need not vet essays."""
    few = {"sources.categories": [STATIC], "curate.quota": 2, "release.share": share}
    return settings({**few, "vetting-question.let_through": True})


def finish(shop: Workshop, out: Path, *words: object) -> Told:
    """Make, accept all that waits in the end, and make again."""
    told = shop.make(out, *words)
    assert "wait for people" in told.err, told.err
    decide(out, "final")
    return shop.make(out)


def pages(out: Path) -> dict[str, bytes]:
    """What a make leaves to be read, by name."""
    names = ["items.jsonl", "rounds.csv", "curation.jsonl", "rejects.jsonl", "tables.json"]
    files = [*(out / name for name in names), *sorted((out / "rules").rglob("*.*"))]
    return {str(file.relative_to(out)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def one_by_one(shop: Workshop) -> Path:
    """A make that asks one thing after the other."""
    out = shop.root / "one-by-one"
    words = [*shop.roles(*REVIEWED, connections=1), *options()]
    assert finish(shop, out, *words).status == 0
    return out


def test_a_make_that_was_killed_goes_on_to_the_same_bytes_with_many_requests_at_once(
    shop: Workshop, one_by_one: Path, tmp_path: Path
) -> None:
    out, before = shop.root / "killed", shop.models.asked["reviewer"]
    words = [*shop.roles(*REVIEWED, connections=16), *options()]
    where = ["--source", shop.source, "--out", out, "--workers", 1]
    with starting(perform, tmp_path / "told") as started:
        process = started("make", "musebench", *where, *words)
        wait_until(lambda: shop.models.asked["reviewer"] >= before + 4 or not process.is_alive())
        process.kill()
        process.join()
    assert not (out / "items.jsonl").exists(), "it was killed in the middle of the loop"
    asked = shop.models.asked["captioner"]
    assert finish(shop, out).status == 0
    assert shop.models.asked["captioner"] == asked, "what was paid for is not asked again"
    assert pages(out) == pages(one_by_one)


@pytest.fixture(scope="module")
def by_people(shop: Workshop) -> tuple[Path, list[Told], list[list[str]]]:
    """A loop whose verdicts people write into a file, with a writer who lists options in a stem.

    The rules are a user's own, of which none forbids that by code.
    """
    prompts, out = shop.root / "prompts", shop.root / "by-people"
    weak = [*shop.roles(*ALONE), "--prompts", prompts, *options(share=0.5)]
    assert shop.make(out, *weak, "--until", "segment").status == 0
    rules = yaml.safe_load((prompts / "rules.yaml").read_text())
    for rule in rules["red_lines"]:
        if rule["id"] == "R4":
            del rule["check"]
    (prompts / "rules.yaml").write_text(yaml.safe_dump(rules))
    told, waited = [], []
    for _ in range(4):
        told.append(shop.make(out, *weak))
        pilot = lines(out / "make" / "refine-waiting.jsonl")
        bad = {"decision": "reject", "tags": [TYPE.replace("two", "Two")], "comment": MARK}
        given = {each["id"]: bad for each in pilot if MARK in each["question"]}
        waited.append(decide(out, "refine", PILOT_FILE, **given))
    told.append(shop.make(out, *weak))
    decide(out, "final")
    told.append(shop.make(out))
    return out, told, waited


def test_each_pilot_waits_for_people_and_three_clean_ones_end_the_loop(
    by_people: tuple[Path, list[Told], list[list[str]]],
) -> None:
    out, told, waited = by_people
    assert [each.status for each in told] == [1, 1, 1, 1, 1, 0]
    for number, (each, ids) in enumerate(zip(told[:4], waited, strict=True), 1):
        assert f"{STATIC}, round {number}: 3 of 3 items wait for verdicts" in each.err
        assert all(name.endswith(f"-r{number}") for name in ids)
    assert "reviewer" not in {who for each in told for who in each.calls}
    rounds = (out / "rounds.csv").read_text().splitlines()[1:]
    assert [line.rpartition(",")[2] for line in rounds] == ["people"] * 4
    assert [TYPE in line for line in rounds] == [True, False, False, False]
    assert RULE in (out / "rules" / "Static-Visual-Arts" / "v2.yaml").read_text()
    assert not any(MARK in item["question"] for item in lines(out / "items.jsonl"))


def test_a_critical_item_is_swapped_for_one_of_the_reserve(
    shop: Workshop, by_people: tuple[Path, list[Told], list[list[str]]]
) -> None:
    out, *_ = by_people
    tables = {each["title"]: each for each in json.loads((out / "tables.json").read_text())}
    found = {
        title.split(" (")[0]: {row[0]: row[2] for row in table["rows"]}
        for title, table in tables.items()
        if title.startswith("The eight lint tags")
    }
    assert found["The eight lint tags before release"]["EMBEDDED_MISMATCH"] == 1
    assert found["The eight lint tags after release"]["any of them"] == 0
    release = tables["Release and reserve"]
    (row,) = [dict(zip(release["columns"], each, strict=True)) for each in release["rows"]]
    assert (row["swapped by lint"], row["lacking"]) == (1, 0)
    told = shop.command("lint", out)
    assert "EMBEDDED" not in told.out
    assert told.status == 0


def test_verdicts_on_another_text_of_a_pilot_do_not_count(
    shop: Workshop, by_people: tuple[Path, list[Told], list[list[str]]]
) -> None:
    out = Path(shutil.copytree(by_people[0], shop.root / "other-text"))
    path = out / PILOT_FILE
    changed = [{**line, "digest": "0" * 64} for line in lines(path)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in changed))
    told = shop.make(out)
    assert told.status == 1
    assert f"{STATIC}, round 1: 3 of 3 items wait for verdicts" in told.err
    assert (out / VERDICTS_FILE).exists()
