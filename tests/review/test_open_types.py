"""Types of failure that reviewers name in their own words, and what becomes of them."""

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loop_actors import Cast, loop, looped
from review.steps import ANN, BEN, BOSS, act, opened, take
from review.town import SCRIPT
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import json_line
from reelbench.data.failure_types import split_tag
from reelbench.data.items import Item
from reelbench.data.verdicts import VERDICTS_FILE, read_verdicts
from reelbench.make.parts.verdicts import verdicts
from reelbench.make.pipeline.stage import Undecided
from reelbench.review.errors import ActionError
from reelbench.review.exchange import import_file, label_studio_files
from reelbench.review.export import export_files
from reelbench.review.protocol import find_protocol, read_protocol
from reelbench.review.review import Review
from reelbench.review.rounds import rounds_by_category
from reelbench.review.serve import install_protocols
from reelbench.review.verdict_file import verdict_lines, write_verdicts

STEM, DISTRACTOR = "ambiguous stem", "weak or wrong distractor"
PILOT = replace(read_protocol(find_protocol("musebench-verify")), expertise="")
FINAL = replace(read_protocol(find_protocol("musebench-final")), expertise="")


def pilot(number: int, in_round: int = 1, category: str = "Game Arts") -> Item:
    """A pilot item, as a loop of a recipe makes them."""
    return make_item(number).replace(
        id=f"pilot-{in_round}-{number}", tags={"category": category}, provenance={"round": in_round}
    )


def wait(root: Path, items: Sequence[Item], stage: str = "refine") -> None:
    """Let items wait at a stage, as `make` does, in place of those before."""
    path = root / "make" / f"{stage}-waiting.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{item.to_line()}\n" for item in items))


def reject(review: Review, tags: list[Any], who: Any = ANN, queue: str = PILOT.name) -> str:
    task = take(review, who, queue)
    act(review, who, task, "verdict", decision="reject", tags=tags, comment="It is zzabstract.")
    return str(task["item"])


def accept(review: Review, who: Any = ANN, queue: str = PILOT.name) -> str:
    task = take(review, who, queue)
    act(review, who, task, "answered", choice=[0])
    act(review, who, task, "verdict", decision="accept")
    return str(task["item"])


def test_names_that_differ_in_case_or_space_are_one_type_in_its_first_spelling(
    tmp_path: Path,
) -> None:
    wait(tmp_path, [pilot(number) for number in range(4)])
    with opened(tmp_path, [], PILOT) as review:
        assert take(review, ANN, PILOT.name)["types"][STEM] == []
        reject(review, [f"{STEM}: Abstract  register "])
        reject(review, [f"{STEM}: abstract REGISTER", STEM, f"{DISTRACTOR}: too short"])
        reject(review, [STEM])  # as a page that knows no types sends it
        task = take(review, BEN, PILOT.name)
        assert task["types"] == {
            "narrator-dependent": [], STEM: ["Abstract register"], DISTRACTOR: ["too short"],
            "misaligned clips": [],
        }  # fmt: skip
        files = export_files(review)
    rejects = [json.loads(line)["tags"] for line in files["rejects.jsonl"].splitlines()]
    first = f"{STEM}: Abstract register"
    assert rejects == [[first], [first, STEM, f"{DISTRACTOR}: too short"], [STEM]]
    assert split_tag(first) == (STEM, "Abstract register")
    assert json.loads(files["verdicts.jsonl"].splitlines()[0])["tags"] == [first]


@pytest.mark.parametrize(
    ("tag", "sentence"),
    [
        (f"{STEM}: {'x' * 81}", "80 are the most"),
        (f"{STEM}: a\x00b", "cannot be seen"),
        (f"{STEM}: \u202egnol", "cannot be seen"),
        (f"{STEM}: ...", "no letter"),
        ("ugly: colours", "The reasons are"),
        (7, "a list of texts"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused(tag: Any, sentence: str, tmp_path: Path) -> None:
    wait(tmp_path, [pilot(1)])
    with opened(tmp_path, [], PILOT) as review, pytest.raises(ActionError, match=sentence):
        reject(review, [tag])


def test_types_are_refused_where_a_protocol_has_none_and_scripts_stay_text(tmp_path: Path) -> None:
    closed = replace(PILOT, open_types=False, name="closed")
    wait(tmp_path, [pilot(1)])
    with opened(tmp_path, [], PILOT, closed) as review:
        with pytest.raises(ActionError, match="The reasons are"):
            reject(review, [f"{STEM}: abstract"], queue=closed.name)
        assert "types" not in take(review, ANN, closed.name)
        reject(review, [f"{STEM}: {SCRIPT[:60]}"])
        (line,) = verdict_lines(review)[1:]
    assert json.loads(line)["tags"] == [f"{STEM}: {SCRIPT[:60]}"]


def test_rounds_count_new_types_also_of_items_that_are_gone(tmp_path: Path) -> None:
    named = [["abstract register", "two verbs"], ["Abstract Register"], [], []]
    with opened(tmp_path, [], PILOT) as review:
        for number, types in enumerate(named, 1):
            items = [pilot(place, number) for place in range(2)]
            wait(tmp_path, [*items, pilot(9, number, "Static Visual Arts")])
            for kind in types or [""]:
                reject(review, [f"{STEM}: {kind}"] if kind else [STEM])
            queue = review.queue(PILOT.name)
            game = rounds_by_category(queue)[0]
            assert game.open_items == 2 - max(1, len(types))
            for subject in list(queue.subjects().values()):
                if not queue.settlement(subject).verdict:
                    accept(review, BEN)
        game, static = rounds_by_category(review.queue(PILOT.name))
        assert list(review.queue(PILOT.name).subjects()) == ["pilot-4-0", "pilot-4-1", "pilot-4-9"]
    first = (f"{STEM}: abstract register", f"{STEM}: two verbs")
    # A failure without a name is a type of its own.
    assert game.new_tags == (first, (), (STEM,), ())
    assert (game.clean, static.clean, static.done) == (1, 4, True)


def test_what_people_decided_about_a_pilot_is_there_for_the_next_make(tmp_path: Path) -> None:
    """Verdicts stay in the file, with digests, when the items of the next round wait."""
    old, new = pilot(1), pilot(1, 2)
    wait(tmp_path, [old])
    with opened(tmp_path, [], PILOT) as review:
        reject(review, [f"{STEM}: two verbs"])
        wait(tmp_path, [new])
        assert list(review.queue(PILOT.name).subjects()) == [new.id]
        write_verdicts(tmp_path / VERDICTS_FILE, verdict_lines(review))
        reject(review, [STEM])
        write_verdicts(tmp_path / VERDICTS_FILE, verdict_lines(review))
    found = read_verdicts(tmp_path / VERDICTS_FILE)
    settled = {name: each[-1] for name, each in found.items()}
    assert settled[old.id].tags == (f"{STEM}: two verbs",)
    assert settled[old.id].settled
    assert {name: each.digest for name, each in settled.items()} == {
        each.id: each.content_digest for each in (old, new)
    }


def test_a_loop_goes_on_with_the_types_that_people_named_in_a_review(tmp_path: Path) -> None:
    folder, stage = tmp_path / "made", loop(pilot=2, quiet=1)
    folder.mkdir()
    found_type = f"{STEM}: abstract register"
    rounds = []
    with opened(folder, [], PILOT) as review:
        while waiting := [
            each for each in looped(folder, Cast(), stage, reviewer=False).results
            if isinstance(each, Undecided)
        ]:  # fmt: skip
            wait(folder, waiting[0].items)
            assert len(rounds) < 4
            rounds.append([reject(review, [found_type], who) if not rounds else accept(review, who)
                           for who in (ANN, BEN)])  # fmt: skip
            write_verdicts(folder / VERDICTS_FILE, verdict_lines(review))
        (game,) = rounds_by_category(review.queue(PILOT.name))
    assert [name[-3:] for name in rounds[0]] == ["-r1", "-r1"]
    assert len(rounds) == 2
    assert (game.new_tags, game.clean) == (((found_type,), ()), 1)
    table = list(csv.DictReader((folder / "rounds.csv").read_text().splitlines()))
    assert [row["new failure types"] for row in table] == [found_type, ""]


def test_label_studio_asks_for_types_and_brings_them_back(tmp_path: Path) -> None:
    protocol = replace(PILOT, items="benchmark", expertise="category")
    items = [pilot(number) for number in range(2)]
    with opened(tmp_path, items, protocol) as review:
        files = label_studio_files(review)
        assert f'name="type of {STEM}"' in files[f"label-studio/{protocol.name}.xml"]
        tasks = json.loads(files[f"label-studio/{protocol.name}.json"])
        typed = [{"from_name": f"type of {STEM}", "type": "textarea", "value": {"text": ["vague"]}}]
        chosen = [{"from_name": "tags", "type": "choices", "value": {"choices": [DISTRACTOR]}}]
        common = [
            {"from_name": name, "type": "choices", "value": {"choices": [value]}}
            for name, value in (("answer", "A"), ("decision", "reject"))
        ]
        for task, more in zip(tasks, (typed, chosen), strict=True):
            task["annotations"] = [{"id": 1, "completed_by": 7, "result": [*common, *more]}]
        path = tmp_path / "export.json"
        path.write_text(json.dumps(tasks))
        assert import_file(review, path).problems == []
        lines = [json.loads(line) for line in verdict_lines(review)]
    tags = [each["tags"] for each in lines if "settled" in each]
    assert tags == [[f"{STEM}: vague"], [DISTRACTOR]]


def test_what_is_in_doubt_is_shown_with_the_key_and_a_sub_domain_can_be_changed(
    tmp_path: Path,
) -> None:
    item = make_item(1).replace(
        tags={"category": "Game Arts", "subdomain": "CG", "model": "m"},
        context={
            "core_intent": "It slows us down.",
            "cited_clips": [1, 2],
            "transcript": "secret",
            "doubts": ["Sub-domain: CG", "Clips: 1 to 2"],
        },
        provenance={"match": {"faults": "clip 2: narrator"}},
    )
    wait(tmp_path, [item], "final")
    with opened(tmp_path, [], FINAL) as review:
        task = take(review, ANN, FINAL.name)
        assert "slows" not in json.dumps(task)
        shown = act(review, ANN, task, "answered", choice=[0]).reveal
        assert shown is not None
        assert [(each["name"], each["text"]) for each in shown["facts"]] == [
            ("category", "Game Arts"), ("subdomain", "CG"), ("doubts", "Sub-domain: CG\nClips: 1 to 2"),
            ("core intent", "It slows us down."), ("cited clips", "1, 2"),
            ("faults", "clip 2: narrator"),
        ]  # fmt: skip
        assert shown["tags"] == {"subdomain": ["CG"]}
        change = {"decision": "change", "changes": {"tags": {"subdomain": ["Sculpture"]}}}
        with pytest.raises(ActionError, match="Choose among"):
            act(review, ANN, task, "verdict", **change)
        change["changes"] = {"tags": {"model": ["x"]}}
        with pytest.raises(ActionError, match="can be changed are subdomain"):
            act(review, ANN, task, "verdict", **change)
        change["changes"] = {"tags": {"subdomain": ["Interactive Visuals"]}}
        act(review, ANN, task, "verdict", **change)
        (line,) = (each for each in map(json.loads, verdict_lines(review)) if "settled" in each)
    assert line["changes"]["tags"] == {**item.tags, "subdomain": "Interactive Visuals"}
    assert verdicts(name="final").name == FINAL.stage


def test_the_queues_of_a_recipe_are_there_before_its_stages_wait(tmp_path: Path) -> None:
    made = {"recipe": "musebench", "seed": 0, "source": "x", "named": {}}
    (tmp_path / "make").mkdir()
    (tmp_path / "make" / "make.json").write_text(json_line(made))
    (tmp_path / "review").mkdir()
    protocols = {each.name: each for each in install_protocols(tmp_path, ())}
    own = {f"musebench-{name}" for name in ("verify", "final", "rate", "answer")}
    assert own <= set(protocols)
    assert all(name.startswith("musebench-") for name in protocols)
    assert protocols[PILOT.name].items == protocols[FINAL.name].items == "candidates"
    wait(tmp_path, [pilot(1)])
    wait(tmp_path, [pilot(2)], "final")
    with opened(tmp_path, [], *protocols.values()) as review:
        found = {name: list(review.queue(name).subjects()) for name in (PILOT.name, FINAL.name)}
        assert found == {PILOT.name: ["pilot-1-1"], FINAL.name: ["pilot-1-2"]}
        assert review.next_task(BOSS, PILOT.name) is None  # knows nothing of games
        assert take(review, replace(BOSS, expertise=("game arts",)), PILOT.name)
        assert take(review, replace(ANN, expertise=("*",)), FINAL.name)


def test_a_protocol_with_open_types_needs_tags_that_they_can_stand_under(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("page: verify\nopen_types: true\nfailure_tags: ['a: b']\nshow: [answer]\n")
    with pytest.raises(ReelbenchError) as error:
        read_protocol(path)
    assert [line.split(": ")[1] for line in str(error.value).splitlines()] == [
        "show",
        "failure_tags",
    ]
