"""The quality loop finds each kind of failure, answers it with a rule, and ends when it is quiet."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loop_actors import ENDING, PLANTS, ROLES, ROWS, Cast, Looped, Source, loop, looped
from parts import Studio, a_recipe
from servers import completion

from reelbench.base.errors import ReelbenchError
from reelbench.data.sources import Sources
from reelbench.make.parts.rules import RuleSet, load_rules
from reelbench.make.pipeline.make import MakeOptions, forecast
from reelbench.make.pipeline.stage import WAITING, Role, Undecided


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Cast, Looped]:
    folder, cast = tmp_path_factory.mktemp("loop") / "made", Cast()
    return folder, cast, looped(folder, cast, loop())


def final(result: Looped) -> RuleSet:
    (text,) = result.kept.values()
    return load_rules(text)


def rounds_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "rounds.csv").open() as file:
        return list(csv.DictReader(file))


class TestPlantedFailures:
    def test_each_type_is_found_and_gets_a_rule_in_its_prompt(self, done: Any) -> None:
        rules = {rule.tag: rule for rule in final(done[2]).rules("Game")}
        assert set(rules) == set(PLANTS)
        assert {tag: rule.destination for tag, rule in rules.items()} == {
            "ambiguous stem: abstract register": "question",
            "narrator-dependent: named title": "question",
            "weak or wrong distractor: near synonyms": "distractor",
            "misaligned clips: a gap": "clip-match",
        }
        assert all(rule.reason for rule in rules.values())

    def test_a_rule_is_shown_only_to_the_prompt_it_goes_to(self, done: Any) -> None:
        for role, prompt in done[1].prompts:
            if role in ("writer", "distractor", "matcher"):
                assert ("Differ in kind." in prompt) <= (role == "distractor")
                assert ("One range." in prompt) <= (role == "matcher")

    def test_a_type_first_seen_after_a_rule_suspects_it_and_it_can_be_withdrawn(
        self, done: Any
    ) -> None:
        types = {row[0]: row for row in done[2].tables[1]["rows"]}
        assert types["narrator-dependent: named title"][-1] == "R1"
        assert types["ambiguous stem: abstract register"][-1] == ""
        (gone,) = [rule for rule in final(done[2]).rules("Game") if rule.state == "withdrawn"]
        assert (gone.id, gone.reason) == ("R1", "titles give it away (since 3)")

    def test_it_ends_after_three_quiet_rounds(self, done: Any) -> None:
        rows = rounds_of(done[0])
        assert [row["round"] for row in rows] == ["1", "2", "3", "4", "5"]
        assert [row["rules"] for row in rows] == ["1", "2", "3", "3", "3"]
        assert [row["passed"] for row in rows] == ["0", "0", "3", "3", "3"]
        assert [row["rules added"] for row in rows] == ["R1, R2, R3", "R4", "", "", ""]
        assert [row["rules withdrawn"] for row in rows] == ["", "R1", "", "", ""]
        assert rows[1]["new failure types"] == "narrator-dependent: named title"
        assert rows[2]["pass rate"] == "1.0"
        assert 0.2 < float(rows[2]["low"]) < float(rows[2]["high"]) <= 1.0
        assert done[2].notes == [
            "refine: Game left the loop after 3 rounds without a new failure type"
        ]
        assert done[2].tables[0]["rows"][0][:5] == ["Game", 1, "1", 3, 0]

    def test_versions_and_their_diffs_can_be_read(self, done: Any) -> None:
        folder = done[0] / "rules" / "Game"
        assert sorted(path.name for path in folder.iterdir()) == [
            "cases.md", "pilots.jsonl", "v1-v2.diff", "v1.yaml", "v2-v3.diff", "v2.yaml", "v3.yaml",
        ]  # fmt: skip
        diff = (folder / "v2-v3.diff").read_text()
        assert "R1 withdrawn because titles give it away (since 3): Name the work." in diff
        assert "R4 added to the question prompt because it fails by" in diff
        assert load_rules(folder / "v3.yaml") == final(done[2])

    def test_each_bad_case_shows_before_rule_and_after(self, done: Any) -> None:
        text = (done[0] / "rules" / "Game" / "cases.md").read_text()
        cases = text.split("\n## ")[1:]
        assert len(cases) == 6
        for case in cases:
            before, _, rest = case.partition("### Rule")
            rule, _, after = rest.partition("### After")
            name = case.partition(": ")[2].partition("-r")[0].removesuffix("-01")
            assert "zz" in before
            assert "since version" in rule
            assert f"What of {name}?" in after
        assert "zzabstract" not in cases[0].partition("### After")[2]
        assert "suspected: R1" in text

    def test_every_item_of_a_pilot_is_kept_with_its_verdict(self, done: Any) -> None:
        lines = (done[0] / "rules" / "Game" / "pilots.jsonl").read_text().splitlines()
        pilots = [json.loads(line) for line in lines]
        assert [each["round"] for each in pilots] == [n for n in range(1, 6) for _ in range(3)]
        first = pilots[0]
        assert (first["decision"], first["by"], first["rules"]["version"]) == (
            "reject",
            "reviewer",
            "1",
        )
        assert set(first["types"]) == set(PLANTS) - {"narrator-dependent: named title"}
        assert {each["comment"] for each in first["failures"]} >= {"It has zzgap."}
        assert {each["decision"] for each in pilots[6:]} == {"accept"}

    def test_a_second_time_pays_nothing_and_shows_the_same(self, done: Any) -> None:
        again = looped(done[0], done[1], loop())
        assert not again.asked
        assert again == replace(done[2], asked=again.asked, results=again.results)
        assert [r.rows for r in again.results] == [r.rows for r in done[2].results]
        # Even where the stage is done again, the journal and the store have all replies.
        fresh = looped(done[0], done[1], loop(most=9))
        assert not fresh.asked
        assert final(fresh) == final(done[2])


class TestEndings:
    def test_at_the_limit_it_stops_and_says_what_stays(self, tmp_path: Path) -> None:
        stubborn = replace(PLANTS["misaligned clips: a gap"], cured=("never written",))
        cast = Cast({**PLANTS, "misaligned clips: a gap": stubborn})
        result = looped(tmp_path / "made", cast, loop(most=2))
        assert result.notes == [
            "refine: Game did not become clean in 2 rounds; these failure types stay: "
            "misaligned clips: a gap, narrator-dependent: named title"
        ]
        assert all(row.rules for each in result.results for row in each.rows)

    def test_a_known_failure_that_goes_on_is_not_new_but_is_said(self, tmp_path: Path) -> None:
        stubborn = replace(PLANTS["misaligned clips: a gap"], cured=("never written",))
        cast = Cast({"misaligned clips: a gap": stubborn})
        result = looped(tmp_path / "made", cast, loop(pilot=2))
        assert result.notes == [
            "refine: Game left the loop after 3 rounds without a new failure type; these failure "
            "types stay: misaligned clips: a gap"
        ]
        assert len(rounds_of(tmp_path / "made")) == 4

    def test_categories_go_their_own_ways(self, tmp_path: Path) -> None:
        rows = [*ROWS[:2], Source("stage-1", "Stage")]
        result = looped(tmp_path / "made", Cast({}), loop(pilot=1, quiet=1), rows=rows)
        assert [row["category"] for row in rounds_of(tmp_path / "made")] == ["Game", "Stage"]
        (note,) = result.notes
        assert note.startswith("refine: each of Game, Stage left the loop after 1 round")

    def test_a_summary_that_never_parses_is_said(self, tmp_path: Path) -> None:
        result = looped(tmp_path / "made", Cast(summary="No JSON."), loop())
        for each in result.results:
            assert isinstance(each, Undecided)
            assert each.status == "no summary"
            assert "summarizer (summarizer) gave no summary of the bad cases of Game" in each.error

    def test_a_summary_without_a_rule_for_a_new_type_is_sent_back(self, tmp_path: Path) -> None:
        types = [{"number": n, "type": "misaligned clips: a gap"} for n in (1, 2)]
        cast = Cast({"misaligned clips: a gap": PLANTS["misaligned clips: a gap"]})
        cast.summary = json.dumps({"failures": types, "rules": [], "withdraw": []})
        result = looped(tmp_path / "made", cast, loop(pilot=2))
        assert "no rule has the tag 'misaligned clips: a gap'" in result.results[0].error

    def test_a_rule_of_the_recipe_may_leave_the_dimension_out_of_its_tag(
        self, tmp_path: Path
    ) -> None:
        rules = load_rules(
            "name: own\nversion: '4'\nred_lines: [{id: R1, tag: a gap, text: Any., destination: clip-match}]"
        )
        types = [{"number": n, "type": "misaligned clips: a gap"} for n in (1, 2)]
        cast = Cast({"misaligned clips: a gap": PLANTS["misaligned clips: a gap"]})
        cast.summary = json.dumps({"failures": types, "rules": [], "withdraw": []})
        result = looped(tmp_path / "made", cast, loop(pilot=2, most=1), rules=rules)
        assert final(result) == rules
        assert result.tables[1]["rows"][0][5] == "R1"

    def test_a_forecast_counts_the_quiet_rounds_and_writes_nothing(self, tmp_path: Path) -> None:
        roles = {role: Role(role) for role in (*ROLES, "reviewer")}
        recipe = a_recipe(loop(), ENDING, sources=lambda _: Sources(ROWS), roles=roles)
        (tmp_path / "source").mkdir()
        models = {role: ["baseline:random"] for role in recipe.roles}
        order = MakeOptions([tmp_path / "source"], models=models)
        found, passed, _ = forecast(recipe, tmp_path / "out", order)
        (calls,) = [each.requests for each in found if each.step == "refine"]
        assert calls == 3 * 3 * 4  # rounds, items, and three who make them and one who reviews
        assert len(passed[0].out) == len(ROWS)
        assert not (tmp_path / "out").exists()

    def test_a_category_of_which_no_item_can_be_made_is_said(self, tmp_path: Path) -> None:
        def refusing(body: Any, number: int) -> Any:
            return (
                completion(None, message={"refusal": "No."})
                if body["model"] == "matcher"
                else cast(body, number)
            )

        cast = Cast()
        stage = loop()
        studio = Studio(tmp_path, refusing, {role: [role] for role in ROLES})
        passed, _ = studio.take(ROWS, stage)
        for result in passed[-1].results:
            assert result.rejected.reason == "no pilot"
            assert "no item of Game was made (match: refused)" in result.rejected.detail

    @pytest.mark.parametrize("said", ["No JSON.", None], ids=["unread", "refused"])
    def test_where_the_reviewer_gives_no_verdict_people_are_to_decide(
        self, said: str | None, tmp_path: Path
    ) -> None:
        def reluctant(body: Any, number: int) -> Any:
            first = body["model"] == "reviewer" and "essay-1" in str(body["messages"])
            refusal = {} if said else {"message": {"refusal": "No."}}
            return completion(said, **refusal) if first else cast(body, number)

        cast = Cast()
        studio = Studio(tmp_path, reluctant, {role: [role] for role in (*ROLES, "reviewer")})
        (passed,), _ = studio.take(ROWS[:2], loop(pilot=2))
        for result in passed.results:
            assert isinstance(result, Undecided)
            assert result.status == "waiting"
            assert [item.id for item in result.items] == ["essay-1-01-r1"]
            assert "reviewer gave no verdict on essay-1-01-r1" in result.error

    def test_a_summary_that_is_refused_rejects_nothing(self, tmp_path: Path) -> None:
        def refusing(body: Any, number: int) -> Any:
            no = completion(None, message={"refusal": "No."})
            return no if body["model"] == "summarizer" else cast(body, number)

        cast = Cast()
        studio = Studio(tmp_path, refusing, {role: [role] for role in (*ROLES, "reviewer")})
        (passed,), _ = studio.take(ROWS, loop())
        assert {each.status for each in passed.results} == {"no summary"}
        assert "--model summarizer=NAME" in passed.results[0].error

    def test_what_is_set_wrong_is_refused(self) -> None:
        with pytest.raises(ReelbenchError, match="pilot is 0"):
            loop(pilot=0)


class TestPeople:
    def verdicts(self, folder: Path, *lines: dict[str, Any]) -> None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        with (folder / "pilot-verdicts.jsonl").open("a") as file:
            file.write(text)

    def test_a_pilot_waits_for_people_and_goes_on_with_their_verdicts(self, tmp_path: Path) -> None:
        folder, cast = tmp_path / "made", Cast()
        stage = loop(pilot=2, quiet=1)

        def once() -> tuple[Looped, list[str]]:
            result = looped(folder, cast, stage, reviewer=False)
            waits = [each for each in result.results if isinstance(each, Undecided)]
            assert all(each.status == WAITING for each in waits)
            return result, [item.id for item in waits[0].items] if waits else []

        result, first = once()
        assert len(first) == 2
        assert "Game, round 1: 2 of 2 items wait for verdicts" in result.results[0].error
        assert rounds_of(folder)[0]["passed"] == "waiting"
        tags = ["ambiguous stem: abstract register"]
        bad = {"who": "ann", "decision": "reject", "tags": tags, "comment": "zzabstract"}
        self.verdicts(
            folder,
            {"item": first[0], **bad},
            {"item": first[1], "who": "ann", "decision": "accept"},
        )
        _, second = once()
        assert first[0].replace("-r1", "-r2") in second
        assert rounds_of(folder)[0]["new failure types"] == tags[0]
        # One accepts and one rejects: it waits for one more person.
        for item in second:
            self.verdicts(folder, {"item": item, "who": "ann", "decision": "accept"})
        self.verdicts(folder, {"item": second[0], **bad, "who": "bob"})
        _, third = once()
        assert third == second[:1]
        self.verdicts(folder, {"item": third[0], "who": "eve", "decision": "accept"})
        result, rest = once()
        assert rest == []
        assert [row["passed"] for row in rounds_of(folder)] == ["1", "2"]
        assert final(result).version == "2"
        assert cast.asked["reviewer"] == 0

    def test_a_rejection_without_a_tag_and_a_change_with_one_are_bad_cases(
        self, tmp_path: Path
    ) -> None:
        folder, cast = tmp_path / "made", Cast({})
        folder.mkdir()
        change = {"decision": "change", "tags": ["misaligned clips"], "changes": {"question": "?"}}
        for number in range(4):
            for decided in ({"decision": "reject", "comment": "dull"}, change)[number % 2 :][:1]:
                item = f"essay-{number}-01-r1"
                self.verdicts(folder, {"item": item, "who": "ann", **decided})
        cast.summary = "Not yet."
        looped(folder, cast, loop(pilot=4))
        asked = next(prompt for role, prompt in cast.prompts if role == "summarizer")
        assert asked.count("The reviewer (people): fails - dull") == 2
        assert asked.count("The reviewer (people): misaligned clips\n") == 2

    def test_people_count_before_the_model(self, tmp_path: Path) -> None:
        folder, cast = tmp_path / "made", Cast({})
        folder.mkdir()
        tags = ["Ambiguous stem: abstract register"]
        for number in range(4):
            item = f"essay-{number}-01-r1"
            self.verdicts(
                folder,
                {
                    "item": item,
                    "who": "a",
                    "decision": "reject",
                    "tags": tags,
                    "comment": "zzabstract",
                },
            )
        cast.plants = {}
        summary = {
            "failures": [{"number": 1, "type": tags[0]}],
            "rules": [{"tag": tags[0], "destination": "question", "text": "Be concrete.", "reason": "vague", "check": ""}],
            "withdraw": [],
        }  # fmt: skip
        cast.summary = json.dumps(summary)
        looped(folder, cast, loop(pilot=1, quiet=1))
        first, second = rounds_of(folder)
        assert (first["verdicts by"], second["verdicts by"]) == ("people", "reviewer")
        assert first["new failure types"] == "ambiguous stem: abstract register"
