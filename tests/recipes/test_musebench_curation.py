"""Essays are chosen by keywords and a judge; each decision is kept, and nothing is asked twice."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from actors import said_to
from parts import Studio, never, recipe_of
from servers import Reply, completion, json_reply

from reelbench.base.errors import ReelbenchError
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.forecast import DryRunClient, DryRunContext, DryRunPipeline
from reelbench.make.pipeline.prompts import load_prompts
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.stage import Undecided
from reelbench.recipes.musebench.curation import curate
from reelbench.recipes.musebench.source import plans_in
from reelbench.recipes.musebench.vocabulary import vocabulary

CINEMA, GAME = "Cinematic Arts", "Game Arts"
PROMPTS = load_prompts(files("reelbench.recipes.musebench"), None, None)


def verdict(confidence: float, is_relevant: bool = True, reason: str = "It analyses.") -> str:
    return json.dumps({"is_relevant": is_relevant, "confidence": confidence, "reason": reason})


@dataclass
class CuratorActor:
    """Replies with keywords, then with variants by round, and with a verdict by title."""

    keywords: Sequence[str] = ("zoom",)
    variants: Sequence[Sequence[str]] = ()
    verdicts: Mapping[str, Any] = field(default_factory=dict)  # by title, or title and category
    prompts: list[str] = field(default_factory=list)
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)  # judged: title, category
    variants_asked: Counter[str] = field(default_factory=Counter)

    def __call__(self, body: dict[str, Any], _number: int) -> Reply | None:
        prompt = body["messages"][0]["content"][0]["text"]
        self.prompts.append(prompt)
        if prompt.startswith("You plan"):
            return completion(json.dumps({"keywords": list(self.keywords)}))
        if prompt.startswith("The search"):
            name = re.search(r"essays about (.+?) has found", prompt)[1]
            at = self.variants_asked[name]
            self.variants_asked[name] += 1
            new = self.variants[at] if at < len(self.variants) else self.keywords
            return completion(json.dumps({"keywords": list(new)}))
        title = re.search(r"^Title: (.+)$", prompt, re.M)[1]
        category = re.search(r"essays about (.+?):", prompt)[1]
        self.asked[title, category] += 1
        words = self.verdicts.get((title, category), self.verdicts.get(title))
        if words is None:
            return completion(verdict(0.9, False, "Not about it."))
        return words if isinstance(words, tuple) else completion(words)

    def judging(self) -> list[str]:
        return [prompt for prompt in self.prompts if prompt.startswith("You decide")]


@dataclass
class Made:
    results: Sequence[Any]
    notes: list[str]
    lines: list[dict[str, Any]]
    requests: int

    @property
    def essays(self) -> dict[str, list[str]]:
        """Titles by category."""
        found: dict[str, list[str]] = {}
        for essay in (essay for each in self.results for essay in getattr(each, "rows", ())):
            found.setdefault(essay.category, []).append(essay.title)
        return found

    def decided(self, title: str) -> list[tuple[str, str]]:
        return [
            (each["category"], each["decision"]) for each in self.lines if each["title"] == title
        ]


def catalogue(folder: Path, *titles: str, **more: str) -> None:
    """Write a catalogue of these titles; of those by keyword, the category."""
    rows = [*((title, "") for title in titles), *more.items()]
    lines = [
        {"video_id": f"v{number}", "title": title, "url": f"https://example.org/{number}"}
        | ({"category": category} if category else {})
        for number, (title, category) in enumerate(rows, 1)
    ]
    (folder / "source").mkdir(parents=True, exist_ok=True)
    (folder / "source" / "catalogue.jsonl").write_text("\n".join(map(json.dumps, lines)))


def make(
    folder: Path, answer: Any = None, categories: Sequence[str] = (CINEMA,), **limits: Any
) -> Made:
    stage = curate()
    stage = type(stage)(**{**vars(stage), "parameters": {**stage.parameters, **limits}})
    rows = plans_in(folder / "source", categories).rows
    notes: list[str] = []

    async def through(ctx: StageContext) -> Any:
        passed = await Pipeline(recipe_of(stage), ctx, ctx.store).take(rows)
        notes.extend(ctx.notes)
        return passed[-1].results

    models = {"curator": ["m"]} if answer else {}
    studio = Studio(folder, answer or never, models, PROMPTS)
    results, server = studio.with_context(through)
    lines = (folder / "curation.jsonl").read_text().splitlines()
    return Made(results, notes, list(map(json.loads, lines)), len(server.requests))


def test_keywords_are_asked_for_by_the_focus_of_the_category_and_find_what_is_judged(
    tmp_path: Path,
) -> None:
    catalogue(tmp_path, "The dolly zoom", "Cooking pasta", "Zoom lenses")
    curator = CuratorActor(["dolly zoom"], verdicts={"The dolly zoom": verdict(0.8)})
    made = make(tmp_path, curator, quota=1)
    assert made.essays == {CINEMA: ["The dolly zoom"]}
    known = vocabulary(CINEMA)
    assert all(point in curator.prompts[0] for point in known.focus)
    assert known.keywords[0] in curator.prompts[0]
    assert list(curator.asked) == [("The dolly zoom", CINEMA)]  # the quota is full: no others
    assert made.lines == [
        {"category": CINEMA, "video_id": "v1", "title": "The dolly zoom", "decision": "admitted",
         "confidence": 0.8, "reason": "It analyses.", "keyword": "dolly zoom", "round": 1,
         "model": "m", "words": ""},
    ]  # fmt: skip
    essay = made.results[0].rows[0]
    assert (essay.id, essay.url) == ("v1", "https://example.org/1")
    assert essay.curation == {
        "video_id": "v1", "keyword": "dolly zoom", "round": 1, "confidence": 0.8,
        "reason": "It analyses.", "model": "m",
    }  # fmt: skip


def test_the_judge_sees_metadata_keywords_cases_and_exclusions(tmp_path: Path) -> None:
    catalogue(tmp_path, "Zoom {{reason}}")
    curator = CuratorActor(["zoom", "other words"])
    make(tmp_path, curator, [CINEMA, GAME], quota=1, most=1)
    for name, prompt in zip((CINEMA, GAME), sorted(curator.judging()), strict=True):
        known = vocabulary(name)
        cases = (*known.positive, *known.negative, *known.exclusions, "- zoom\n- other words")
        assert all(case in prompt for case in cases)
        assert "Title: Zoom {{reason}}\nChannel: (unknown)\nViews: (unknown)\n" in prompt
    assert "DIY tutorials" in sorted(curator.judging())[0]
    assert "Gameplay only" in sorted(curator.judging())[1]


def test_a_confidence_of_exactly_the_threshold_admits_and_less_does_not(tmp_path: Path) -> None:
    catalogue(tmp_path, "Zoom at it", "Zoom below it", "Zoom no")
    verdicts = {"Zoom at it": verdict(0.55), "Zoom below it": verdict(0.5499),
                "Zoom no": verdict(0.99, False)}  # fmt: skip
    made = make(tmp_path, CuratorActor(verdicts=verdicts), most=1)
    assert made.essays == {CINEMA: ["Zoom at it"]}
    assert [(each["decision"], each["reason"]) for each in made.lines[1:]] == [
        ("rejected", "less sure than 0.55: It analyses."),
        ("rejected", "It analyses."),
    ]
    before = made.requests
    again = make(tmp_path, CuratorActor(), most=1, threshold=0.5)
    assert again.essays == {CINEMA: ["Zoom at it", "Zoom below it"]}
    assert (before, again.requests) == (4, 0)  # the verdicts are known, whatever the threshold


def test_variants_are_asked_for_by_the_last_ten_keywords_until_the_quota_is_full(
    tmp_path: Path,
) -> None:
    catalogue(tmp_path, "Zoom", "Montage", "Silence in film", "Never found")
    names = ["zoom", *(f"nothing {number}" for number in range(11))]
    curator = CuratorActor(
        names, [["montage", "zoom", "Montage "], ["silence"], ["later"]],
        dict.fromkeys(("Zoom", "Montage", "Silence in film"), verdict(1.0)),
    )  # fmt: skip
    made = make(tmp_path, curator, quota=3)
    assert made.essays == {CINEMA: ["Zoom", "Montage", "Silence in film"]}
    assert [each["round"] for each in made.lines] == [1, 2, 3]
    first, second = [prompt for prompt in curator.prompts if prompt.startswith("The search")]
    shown = re.findall(r"^- (nothing .+|zoom|montage)$", first, re.M)
    assert shown == names[2:]
    assert vocabulary(CINEMA).variant_focus in first
    assert "- montage\n" in second
    assert made.notes == []


def test_a_quota_that_cannot_be_filled_is_told_with_what_is_missing(tmp_path: Path) -> None:
    catalogue(tmp_path, "Zoom", "Zoom again", "Cooking")
    curator = CuratorActor(verdicts={"Zoom": verdict(1.0)})
    made = make(tmp_path, curator, quotas={CINEMA: 4})
    note, what_next = made.notes
    assert note == (
        "curate: Cinematic Arts has 1 of 4 essays: 1 keyword in 3 rounds found 2 videos, 1 rejected "
        "and 0 without a verdict, 1 found by no keyword"
    )
    assert "--essays NUMBER" in what_next


def test_a_category_without_any_essay_is_rejected_and_the_others_go_on(tmp_path: Path) -> None:
    catalogue(tmp_path, "Zoom")
    curator = CuratorActor(verdicts={("Zoom", GAME): verdict(0.7)})
    made = make(tmp_path, curator, [CINEMA, GAME], quota=1)
    assert made.results[0].rejected.reason == "nothing made"
    assert made.essays == {GAME: ["Zoom"]}


class TestNothingIsAskedTwice:
    def test_about_a_video_that_several_keywords_find(self, tmp_path: Path) -> None:
        catalogue(tmp_path, "Zoom and montage", "Zoom", "Montage")
        curator = CuratorActor(["zoom", "montage", "zoom montage"], [["the zoom of it"]])
        made = make(tmp_path, curator)
        assert set(curator.asked.values()) == {1}
        assert len(curator.asked) == len(made.lines) == 3
        assert [each["keyword"] for each in made.lines] == ["zoom", "zoom", "montage"]

    def test_by_a_second_make_nor_by_one_with_another_quota_or_source(self, tmp_path) -> None:
        catalogue(tmp_path, "Zoom", "Zoom too")
        curator = CuratorActor(verdicts={"Zoom": verdict(1.0), "Zoom new": verdict(0.6)})
        first = make(tmp_path, curator, quota=2)
        second = make(tmp_path, curator, quota=2)
        assert (second.lines, second.notes, second.essays) == (
            first.lines, first.notes, first.essays,
        )  # fmt: skip
        assert second.requests == 0
        catalogue(tmp_path, "Zoom", "Zoom too", "Zoom new", "Zoom other")
        third = make(tmp_path, curator, quota=3)
        assert third.essays == {CINEMA: ["Zoom", "Zoom new"]}
        assert set(curator.asked.values()) == {1}
        assert third.requests == 2

    def test_after_a_call_that_failed_only_that_is_asked_again(self, tmp_path: Path) -> None:
        catalogue(tmp_path, "Zoom", "Zoom too")
        good = {"Zoom": verdict(1.0), "Zoom too": verdict(0.9)}
        broken = json_reply({"error": "out of order"}, 400)
        curator = CuratorActor(verdicts={**good, "Zoom too": broken})
        made = make(tmp_path, curator, quota=2)
        assert isinstance(made.results[0], Undecided)
        assert made.decided("Zoom") == [(CINEMA, "admitted")]
        curator.verdicts = good
        again = make(tmp_path, curator, quota=2)
        assert again.essays == {CINEMA: ["Zoom", "Zoom too"]}
        assert (again.requests, curator.asked["Zoom", CINEMA]) == (1, 1)


class TestTwoCategories:
    def test_that_admit_one_video_leave_it_to_the_surer_and_the_other_goes_on(
        self, tmp_path: Path
    ) -> None:
        catalogue(tmp_path, "Zoom in games", "Zoom two", "Zoom three")
        curator = CuratorActor(
            verdicts={
                ("Zoom in games", CINEMA): verdict(0.7),
                ("Zoom in games", GAME): verdict(0.9),
                ("Zoom two", CINEMA): verdict(0.8),
            }
        )
        made = make(tmp_path, curator, [CINEMA, GAME], quota=1)
        assert made.essays == {CINEMA: ["Zoom two"], GAME: ["Zoom in games"]}
        assert made.decided("Zoom in games") == [(CINEMA, "rejected"), (GAME, "admitted")]
        assert made.lines[0]["reason"] == "Game Arts has it, at 0.9; It analyses."
        assert made.notes == []
        assert set(curator.asked.values()) == {1}

    def test_that_are_equally_sure_go_by_the_order_of_categories(self, tmp_path: Path) -> None:
        catalogue(tmp_path, "Zoom")
        curator = CuratorActor(verdicts={"Zoom": verdict(0.8)})
        made = make(tmp_path, curator, [GAME, CINEMA], quota=1)
        assert made.essays == {CINEMA: ["Zoom"]}


class TestRepliesThatCannotBeRead:
    def test_set_a_video_aside_with_the_words_and_the_others_go_on(self, tmp_path: Path) -> None:
        catalogue(tmp_path, "Zoom", "Zoom mumbled")
        curator = CuratorActor(
            verdicts={"Zoom": verdict(0.9), "Zoom mumbled": "I would say: probably."}
        )
        made = make(tmp_path, curator)
        assert made.essays == {CINEMA: ["Zoom"]}
        (line,) = [each for each in made.lines if each["title"] == "Zoom mumbled"]
        assert line["decision"] == "no verdict"
        assert line["words"] == "I would say: probably."
        assert "no complete JSON" in line["reason"]
        assert (
            "curate: 1 verdict is missing: m did not reply as asked (curation.jsonl)" in made.notes
        )
        asked = curator.asked["Zoom mumbled", CINEMA]
        assert make(tmp_path, curator).lines == made.lines
        assert curator.asked["Zoom mumbled", CINEMA] == asked  # nor is it asked again

    @pytest.mark.parametrize(
        ("reply", "reason"),
        [
            (completion("No.", message={"refusal": "I will not judge this."}), "refused"),
            (completion('{"is_relevant": true, "conf', reason="length"), "raise"),
        ],
    )
    def test_because_it_refuses_or_never_ends_set_aside_that_video_alone(
        self, reply: Reply, reason: str, tmp_path: Path
    ) -> None:
        catalogue(tmp_path, "Zoom", "Zoom odd")
        curator = CuratorActor(verdicts={"Zoom": verdict(0.9), "Zoom odd": reply})
        made = make(tmp_path, curator)
        assert made.essays == {CINEMA: ["Zoom"]}
        assert made.decided("Zoom odd") == [(CINEMA, "no verdict")]
        assert reason in made.lines[1]["reason"]

    def test_instead_of_keywords_leave_those_of_the_vocabulary(self, tmp_path: Path) -> None:
        catalogue(tmp_path, "On Kuleshov")
        curator = CuratorActor(verdicts={"On Kuleshov": verdict(0.9)})

        def answer(body: dict[str, Any], number: int) -> Reply | None:
            reply = curator(body, number)
            return reply if said_to(body).startswith("You decide") else completion("Sure!")

        made = make(tmp_path, answer, quota=1)
        assert made.essays == {CINEMA: ["On Kuleshov"]}
        assert made.lines[0]["keyword"] == "Kuleshov effect explanation"
        assert "the keywords of Cinematic Arts are those of its vocabulary" in made.notes[0]


class TestWithoutACurator:
    def test_what_the_metadata_name_is_admitted_and_the_rest_waits(self, tmp_path: Path) -> None:
        more = {"On Kuleshov": CINEMA, "Unfindable": CINEMA, "Level design": GAME}
        catalogue(tmp_path, "Montage of attractions", **more)
        made = make(tmp_path, None, [CINEMA, GAME], quota=2)
        assert made.essays == {
            CINEMA: ["On Kuleshov", "Unfindable"],
            GAME: ["Level design"],
        }
        reasons = {each["title"]: each["reason"] for each in made.lines}
        assert reasons["Unfindable"] == "its metadata say Cinematic Arts"
        assert made.decided("Montage of attractions") == [(CINEMA, "no verdict")]
        assert any("add --model curator=NAME" in note for note in made.notes)
        assert made.requests == 0

    def test_every_make_is_the_same_to_the_byte(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            catalogue(tmp_path / name, Zoom=CINEMA, Montage=CINEMA, Sound=CINEMA)
            make(tmp_path / name, None, quota=2)
        first, second = ((tmp_path / name / "curation.jsonl").read_bytes() for name in "ab")
        assert first == second


def test_a_forecast_counts_the_verdicts_and_writes_nothing(tmp_path: Path) -> None:
    catalogue(tmp_path, "On Kuleshov", "Montage and cross-cutting")
    rows = plans_in(tmp_path / "source", [CINEMA]).rows

    async def through(ctx: StageContext) -> Any:
        client = DryRunClient(ctx.client.journal, {})
        dry = DryRunContext(
            ctx.source, ctx.out, ctx.store, client, ctx.models, ctx.prompts, ctx.seed
        )
        passed = await DryRunPipeline(recipe_of(curate()), dry, ctx.store, client, {}).take(rows)
        return sum(each.requests for each in client.found), len(passed[-1].out)

    studio = Studio(tmp_path, never, {"curator": ["m"]}, PROMPTS)
    (calls, essays), server = studio.with_context(through)
    assert calls >= 3  # keywords, and a verdict about each
    assert essays == 2
    assert server.requests == []
    assert not (tmp_path / "curation.jsonl").exists()


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"threshold": 1.5}, "threshold is 1.5"),
        ({"quota": 0}, "quota is 0"),
        ({"quotas": {"Food": 3}}, "quotas has Food: 3"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits, told, tmp_path: Path) -> None:
    catalogue(tmp_path, "Zoom")
    with pytest.raises(ReelbenchError, match=told):
        make(tmp_path, None, **limits)
