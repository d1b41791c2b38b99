"""A change of words, films, models or limits redoes what depends on it, and nothing else."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from actors import write_card, write_movie
from filming import (
    NO_REPAIR,
    QUESTIONS,
    SCENES,
    Studio,
    Told,
    asked_by,
    bytes_of,
    check_funnel,
    funnel,
    lines,
    of_category,
    stage_of,
)
from videos import make_video

from reelbench.base.files import digest_of
from reelbench.data.benchmark import Benchmark
from reelbench.media.decode.probe import probe


class TestOtherWords:
    def test_an_edited_prompt_redoes_its_category_and_what_follows(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        edited = prompts / "state-changes.md"
        edited.write_text(edited.read_text() + "\nThink of clothes, too.\n")
        told = studio.make(bench, "--prompts", prompts)
        assert told.status == 0, told.err
        assert told.calls["captioner"] == 0
        assert told.calls["writer"] == 2
        assert told.calls["blind"] == 5 * 2 * QUESTIONS
        kept = stage_of(bench, "independence")["by_category"]["State Changes"]["out"]
        assert told.calls["veracity"] == 5 * kept
        assert not of_category(bench, "State Changes") & of_category(made[0], "State Changes")
        for category in ("Visual Reasoning", "Temporal Ordering", "Cause and Effect"):
            assert of_category(bench, category) == of_category(made[0], category)
        check_funnel(bench)
        # The folder is remembered.
        again = studio.command("make", "cineaste", "--out", bench, *NO_REPAIR)
        assert not again.calls

    def test_going_back_to_the_old_words_asks_nothing(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        edited = prompts / "state-changes.md"
        old = edited.read_text()
        edited.write_text(old + "\nThink of clothes, too.\n")
        assert studio.make(bench, "--prompts", prompts, "--until", "write").calls["writer"] == 2
        edited.write_text(old)
        assert not studio.make(bench, "--prompts", prompts).calls
        assert asked_by(bench) == asked_by(made[0])

    def test_an_edited_description_prompt_redoes_all_that_follows(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        edited = prompts / "describe.md"
        edited.write_text(edited.read_text() + "\nBe brief.\n")
        told = studio.make(bench, "--prompts", prompts)
        assert told.status == 0, told.err
        assert (told.calls["captioner"], told.calls["writer"]) == (4, 10)
        assert told.calls["blind"] == 5 * 10 * QUESTIONS
        assert not asked_by(bench) & asked_by(made[0])
        check_funnel(bench)

    def test_an_edited_filter_prompt_redoes_that_filter_alone(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        edited = prompts / "veracity.md"
        edited.write_text(edited.read_text() + "\nTake your time.\n")
        told = studio.make(bench, "--prompts", prompts)
        assert set(told.calls) == {"veracity"}
        assert told.calls["veracity"] == made[1].calls["veracity"]
        assert asked_by(bench) == asked_by(made[0])

    def test_a_variant_of_a_prompt_adds_questions_of_its_category(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        words = (prompts / "visual-reasoning.md").read_text()
        (prompts / "visual-reasoning.2.md").write_text(words + "\nAsk about light.\n")
        told = studio.make(bench, "--prompts", prompts)
        assert told.status == 0, told.err
        assert (told.calls["captioner"], told.calls["writer"]) == (0, 2)
        assert told.calls["blind"] == 5 * 2 * QUESTIONS
        assert asked_by(bench) > asked_by(made[0])
        more = [item for item in lines(bench / "items.jsonl")
                if item["provenance"]["write"]["prompt"] == "visual-reasoning.2"]  # fmt: skip
        assert more
        assert {item["tags"]["category"] for item in more} == {"Visual Reasoning"}
        Benchmark.load(bench)
        check_funnel(bench)

    def test_an_edited_rule_redoes_the_category_it_is_for(
        self, studio: Studio, made: tuple[Path, Told], bench: Path, prompts: Path
    ) -> None:
        rules = yaml.safe_load((prompts / "rules.yaml").read_text())
        rules["version"] = "2-mine"
        rules["categories"]["Cause and Effect"][0]["text"] += " A look is enough."
        (prompts / "rules.yaml").write_text(yaml.safe_dump(rules))
        told = studio.make(bench, "--prompts", prompts)
        assert told.status == 0, told.err
        assert told.calls["writer"] == 2
        assert told.calls["blind"] == 5 * 2 * QUESTIONS
        assert not of_category(bench, "Cause and Effect") & of_category(made[0], "Cause and Effect")
        items = lines(bench / "items.jsonl")
        assert {item["provenance"]["write"]["rules"]["version"] for item in items} == {"2-mine"}

    def test_a_rule_that_is_checked_rejects_what_breaks_it(
        self, studio: Studio, bench: Path, prompts: Path
    ) -> None:
        rules = yaml.safe_load((prompts / "rules.yaml").read_text())
        rule = next(rule for rule in rules["red_lines"] if rule["id"] == "R11")
        rule["check"] = {"least_words": 40}
        (prompts / "rules.yaml").write_text(yaml.safe_dump(rules))
        told = studio.make(bench, "--prompts", prompts)
        assert told.status == 1
        assert not told.calls, "the words of the rule are the same"
        assert stage_of(bench, "check")["reasons"] == {"rule R11": 10 * QUESTIONS}
        assert not (bench / "items.jsonl").exists()
        check_funnel(bench)

    @pytest.mark.parametrize(
        ("name", "edit", "said"),
        [
            ("cause-and-effect.md", ("{{context}}", "the film"), "lacks the slot {{context}}"),
            ("veracity.md", ("{{options}}", ""), "lacks the slot {{options}}"),
            ("describe.md", ("{{film}}", "{{director}}"), "has the slot {{director}}"),
            ("novel.md", None, "novel.md is not one of its prompts"),
        ],
    )
    def test_a_prompt_that_cannot_work_is_refused_before_any_call(
        self, studio: Studio, prompts: Path, name: str, edit: tuple[str, str] | None, said: str
    ) -> None:
        out = studio.fresh("never")
        text = (prompts / name).read_text().replace(*edit) if edit else "Write a novel."
        (prompts / name).write_text(text)
        told = studio.make(out, "--prompts", prompts)
        assert told.status == 2
        assert said in told.err
        assert "Traceback" not in told.err
        assert not told.calls
        assert not out.exists()

    @pytest.mark.parametrize("content", ["rules: [", "name: x\nversion: '1'\nred_lines: 7\n"])
    def test_rules_that_cannot_be_read_are_refused_before_any_call(
        self, studio: Studio, content: str
    ) -> None:
        folder, out = studio.fresh("prompts"), studio.fresh("never")
        studio.make(out, "--prompts", folder, "--dry-run")
        (folder / "rules.yaml").write_text(content)
        told = studio.make(out, "--prompts", folder)
        assert (told.status, out.exists()) == (2, False)
        assert "Traceback" not in told.err
        assert not told.calls

    def test_prompts_that_are_gone_or_no_folder_are_refused(
        self, studio: Studio, bench: Path, prompts: Path
    ) -> None:
        file = studio.root / "a file"
        file.write_text("Not a folder.")
        told = studio.make(bench, "--prompts", file)
        assert told.status == 2
        assert str(file) in told.err
        assert studio.make(bench, "--prompts", prompts).status == 0
        shutil.rmtree(prompts)
        told = studio.command("make", "cineaste", "--out", bench)  # with what was said last
        assert told.status == 2, "other words than the user's are used without a word"
        assert str(prompts) in told.err


class TestMoreAndLess:
    def test_two_new_films_cost_two_films(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        more = studio.fresh("more")
        shutil.copytree(studio.source, more)
        videos = sorted((studio.root / "videos").iterdir())
        for name in ("alder", "cedar"):  # before, between and after those that were there
            write_movie(more, name, videos)
        told = studio.make(bench, source=more)
        assert told.status == 0, told.err
        assert (told.calls["captioner"], told.calls["writer"]) == (2 * SCENES, 10)
        assert told.calls["blind"] == made[1].calls["blind"]
        assert asked_by(bench) > asked_by(made[0])
        assert len({item["media"][0]["path"] for item in lines(bench / "items.jsonl")}) == 4
        check_funnel(bench)

    def test_another_summary_costs_its_film_alone_and_no_description(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        source = studio.fresh("retold")
        shutil.copytree(studio.source, source)
        told = source / "birch" / "movie.yaml"
        told.write_text(told.read_text().replace("What happens in birch.", "All ends well."))
        calls = studio.make(bench, source=source).calls
        assert (calls["captioner"], calls["writer"]) == (0, 5)
        assert calls["blind"] == 5 * 5 * QUESTIONS
        assert "All ends well." in (bench / "context" / "birch.md").read_text()
        check_funnel(bench)

    def test_another_scene_is_described_and_the_others_are_not(
        self, studio: Studio, bench: Path
    ) -> None:
        source = studio.fresh("reshot")
        shutil.copytree(studio.source, source)
        make_video(source / "ash" / "02.mp4", seconds=1.8, rate=5)
        told = studio.make(bench, source=source)
        assert told.status == 0, told.err
        assert told.calls["captioner"] == 1
        assert told.calls["writer"] == 0, "what is seen is told in the same words as before"
        whole = probe(bench / "media" / "ash.mp4").duration
        assert whole == pytest.approx(1.0 + 1.8, abs=0.1)
        ends = [item["evidence"][0][1] for item in lines(bench / "items.jsonl")
                if item["id"].startswith("ash") and item["context"]["scenes"] == [2]]  # fmt: skip
        assert ends
        assert ends == pytest.approx([2.8] * len(ends), abs=0.1)

    def test_another_frame_rate_joins_again_and_asks_nothing(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        told = studio.make(bench, "--set", "concatenate.rate=10")
        assert told.status == 0, told.err
        assert not told.calls
        assert asked_by(bench) == asked_by(made[0])

    def test_a_larger_limit_keeps_the_smaller_and_pays_for_nothing_twice(
        self, studio: Studio, made: tuple[Path, Told]
    ) -> None:
        source, out = studio.fresh("three"), studio.fresh("limited")
        shutil.copytree(studio.source, source)
        write_movie(source, "cedar", sorted((studio.root / "videos").iterdir()))
        found, spent = [], []
        for limit in (["--limit", 1], ["--limit", 2], []):
            told = studio.make(out, *limit, source=source)
            assert told.status == 0, told.err
            found.append(asked_by(out))
            spent.append(told.calls)
            check_funnel(out)
        assert found[0] < found[1] < found[2]
        assert found[2] > asked_by(made[0])
        for calls in spent:
            assert (calls["captioner"], calls["writer"]) == (SCENES, 5)
            assert calls["blind"] == 5 * 5 * QUESTIONS
        assert [stage_of(out, "write")["in"], funnel(out)["sources"]["in"]] == [15, 3]

    def test_half_a_make_writes_no_benchmark_and_is_gone_on_with(
        self, studio: Studio, made: tuple[Path, Told]
    ) -> None:
        out = studio.fresh("half")
        first = studio.make(out, "--until", "independence")
        assert first.status == 0, first.err
        assert first.calls["veracity"] == 0
        assert not (out / "items.jsonl").exists()
        assert not (out / "benchmark.yaml").exists()
        assert (out / "made.html").exists()
        assert [stage["stage"] for stage in funnel(out)["stages"]][-1] == "independence"
        check_funnel(out)
        second = studio.make(out)
        assert first.calls + second.calls == made[1].calls
        assert bytes_of(out) == bytes_of(made[0])

    def test_the_title_of_the_film_is_given_to_nobody_unless_asked_for(
        self, studio: Studio, bench: Path
    ) -> None:
        texts = {film: (bench / "context" / f"{film}.md").read_text() for film in ("ash", "birch")}
        titled = {film: text.replace("# A film", f"# Film {film}") for film, text in texts.items()}
        assert all(titled[film] != texts[film] for film in texts)
        told = studio.make(bench, "--set", "writing-tasks.film_title=true", "--until", "writing-tasks")  # fmt: skip
        assert told.status == 0, told.err
        assert not told.calls
        tasks = lines(bench / "make" / "writing-tasks.jsonl")
        assert {task["context"] for task in tasks} == {digest_of(t) for t in titled.values()}

    def test_a_stage_can_be_left_out(self, studio: Studio, unfiltered: Path) -> None:
        told = studio.make(unfiltered, "--without", "independence")
        assert told.status == 0, told.err
        assert set(told.calls) == {"veracity"}
        kinds = studio.actors.planted
        kept = {kinds[item["question"]][0] for item in lines(unfiltered / "items.jsonl")}
        assert kept == {"fine", "guessable"}
        check_funnel(unfiltered)

    @pytest.mark.parametrize("name", ["write", "nothing"])
    def test_what_cannot_be_left_out_is_said(self, studio: Studio, bench: Path, name: str) -> None:
        told = studio.make(bench, "--without", name)
        assert told.status == 2
        assert f"{name!r}: it can leave out" in told.err
        assert "independence" in told.err

    @pytest.mark.parametrize(
        "change", ["independence.drop_at=4", "veracity.keep_at=1", "veracity.keep_at=0.2"]
    )
    def test_another_threshold_asks_nothing(self, studio: Studio, bench: Path, change: str) -> None:
        told = studio.make(bench, "--set", change)
        assert told.status == 0, told.err
        assert not told.calls
        check_funnel(bench)
        record = json.loads((bench / "make" / "make.json").read_text())
        name, value = change.split("=")
        assert record["changed"] == {name: yaml.safe_load(value)}

    def test_fewer_seeds_ask_nothing_and_more_only_the_rest(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        fewer = ["--set", "independence.seeds=3", "--set", "independence.drop_at=3"]
        assert not studio.make(bench, *fewer).calls
        more = ["--set", "independence.seeds=6", "--set", "independence.drop_at=6"]
        calls = studio.make(bench, *more).calls
        assert calls == {"blind": made[1].calls["blind"] // 5}

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ("independence.dropp=4", "cineaste has no parameter independence.dropp"),
            ("veracity.keep_at=most", "cannot be 'most'"),
            ("independence.seeds", "sets nothing"),
            ("independence.seeds=0", "independence.seeds"),
            ("veracity.seeds=0", "veracity.seeds"),
        ],
    )
    def test_what_cannot_be_set_is_said(
        self, studio: Studio, bench: Path, change: str, said: str
    ) -> None:
        told = studio.make(bench, "--set", change)
        assert told.status == 2
        assert said in told.err
        assert not told.calls

    def test_another_model_in_one_role_redoes_that_role(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        card = write_card(studio.root / "others", "blind-2", studio.server.url)
        told = studio.make(bench, words=["--model", f"blind={card}", *NO_REPAIR])
        assert told.status == 0, told.err
        assert told.calls == {"blind-2": made[1].calls["blind"]}
        assert asked_by(bench) == asked_by(made[0])

    def test_a_broken_film_costs_itself_alone_and_is_named(
        self, studio: Studio, made: tuple[Path, Told], bench: Path
    ) -> None:
        source = studio.fresh("broken")
        shutil.copytree(studio.source, source)
        write_movie(source, "wreck", sorted((studio.root / "videos").iterdir()))
        (source / "wreck" / "02.mp4").write_bytes(b"no video at all")
        told = studio.make(bench, source=source)
        assert not told.calls
        assert asked_by(bench) == asked_by(made[0])
        assert funnel(bench)["sources"] == {"in": 3, "out": 2, "rejected": 1}
        (line,) = [line for line in lines(bench / "rejects.jsonl") if line["stage"] == "sources"]
        assert line["id"] == "wreck"
        assert "02.mp4" in line["detail"]
        check_funnel(bench)
