"""Everything that the page of a recipe names is there, and every part of its paper is on the page."""

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from actors import Actors, on_stage, tiny_videos, write_movie
from mmou_actors import CHECKERS, WRITERS, OmniModels, station
from quality_actors import Critics, gallery
from recipe_pages import ALSO, CODE, PAGES, PAPERS, content_of, faults, keys_in, rows_under
from support import REPOSITORY, reelbench

from reelbench.data.items import Item
from reelbench.media.measure.quality import CORNERS, DAMAGES
from reelbench.recipes import RECIPES, load_recipe
from reelbench.recipes.qbench_exact.asking import ask
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.plan import FAMILIES, WORDS, QuestionPlan
from reelbench.recipes.qbench_exact.targets import MARGINS
from reelbench.recipes.qbench_exact.videos import estimated_question


def test_every_page_is_of_a_recipe_with_a_paper() -> None:
    assert PAGES
    for page in PAGES:
        assert {page.stem, *ALSO.get(page.stem, ())} <= set(RECIPES)
        assert page.stem in PAPERS, "say which parts its paper has"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_all_that_a_page_names_is_there(page: Path) -> None:
    assert faults(page) == []


def without_row(start: str) -> Callable[[str], str]:
    return lambda text: re.sub(rf"^\| {re.escape(start)}.*\n", "", text, flags=re.MULTILINE)


def instead(right: str, wrong: str) -> Callable[[str], str]:
    return lambda text: text.replace(right, wrong)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (instead("filters.filter_blind", "filters.filter_sight"), "there is no reelbench.make.parts.filters.filter_sight"),
        (instead("reelbench.make.pipeline.funnel.", "reelbench.make.tunnel."), "there is no reelbench.make.tunnel.funnel_record"),
        (instead("cineaste/taxonomy.yaml", "cineaste/categories.yaml"), "there is no file recipes/cineaste/categories.yaml"),
        (instead("stage `veracity`", "stage `truth`"), "there is no stage truth"),
        (instead("prompts `context` and `scene`", "prompts `context` and `act`"), "there is no prompt act"),
        (instead("prompts `context` and `scene`", "prompt `context`"), "the prompt scene is not named"),
        (instead("`no-context` and `captions`", "`no-context` and `words`"), "there is no condition words"),
        (instead("`no-context` and `captions`", "`no-context`"), "the condition captions is not named"),
        (instead("role `veracity`", "role `verifier`"), "there is no role verifier"),
        (instead("rule `R1`", "rule `R99`"), "there is no rule R99"),
        (instead("metric `steady`", "metric `stable`"), "there is no metric stable"),
        (instead("--limit 20", "--most 20"), "unrecognized arguments: --most 20"),
        (instead("--until independence", "--until blindness"), "has no stage 'blindness'"),
        (instead("--model blind=", "--model deaf="), "does not name a role of cineaste"),
        (instead("--condition fps-0.1", "--condition fps-0.2"), "has no condition 'fps-0.2'"),
        (instead("reelbench lint bench", "reelbench tidy bench"), "there is no command 'tidy'"),
        (instead("`reelbench make`", "`reelbench create`"), "reelbench create: there is no such command"),
        (instead("`--without STAGE`", "`--minus STAGE`"), "there is no option --minus"),
        (instead("`--set veracity.keep_at=1.0`", "`--set veracity.share=1.0`"), "no parameter veracity.share"),
        (without_row("3.2"), "3.2 of the paper has no row"),
        (without_row("Equation 1"), "Equation 1 of the paper has no row"),
        (without_row("Supplement 1.1"), "Supplement 1.1 of the paper has no row"),
        (instead("| Table 1,", "| Table 6,"), "the paper has no Table 6"),
        (instead("| Table 1, other benchmarks | nothing |", "| Table 1, other benchmarks | somewhere |"), "leads nowhere"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_found(
    change: Callable[[str], str], told: str, tmp_path: Path
) -> None:
    check_found("cineaste.md", change, told, tmp_path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (instead("sampling.bounds_of", "sampling.limits_of"), "there is no reelbench.recipes.qbench_video.sampling.limits_of"),
        (instead("qbench/yesno-pair.md", "qbench/yesno-both.md"), "there is no file evaluate/prompts/qbench/yesno-both.md"),
        (instead("stage `pair`", "stage `match`"), "there is no stage match"),
        (instead("`scenes`, `plan`, `order`", "`scenes`, `order`"), "the stage plan is not named"),
        (instead("and `concerns-generated`", ""), "the prompt concerns-generated is not named"),
        (instead("condition `fps-1`", "condition `fps-2`"), "there is no condition fps-2"),
        (instead("condition `image-models`", "as"), "the condition image-models is not named"),
        (instead("role `reviewer`", "role `critic`"), "there is no role critic"),
        (instead("Rules `R2`, `W1`", "Rules `R2`, `W9`"), "there is no rule W9"),
        (instead("--condition image-models", "--condition photographs"), "has no condition 'photographs'"),
        (instead("--model reviewer=qwen", "--model referee=qwen"), "does not name a role of qbench-video"),
        (instead("reelbench make qbench-published --source", "reelbench make qbench-private --source"), "There is no recipe 'qbench-private'"),
        (instead("make qbench-exact --source", "make qbench-video --source"), "(qbench-video has no options of its own)"),
        (instead("`--margin`", "`--distance`"), "there is no option --distance"),
        (instead("`--set cut.seconds=4.0`", "`--set cut.minutes=4.0`"), "no parameter cut.minutes"),
        (instead("`--set sample.intervals=5`", "`--set sample.intervals=five`"), "cannot be 'five'"),
        (without_row("11.6"), "11.6 of the paper has no row"),
        (without_row("16 Comparison"), "Algorithm 1 of the paper has no row"),
        (without_row("3.3.2"), "3.3.2 of the paper has no row"),
        (instead("| Equation 6 |", "| Equation 7 |"), "the paper has no Equation 7"),
        (instead("| 12 Human", "| 18 Human"), "the paper has no 18"),
        (instead("Related work | nothing |", "Related work | soon |"), "leads nowhere"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_found_where_a_page_has_several_recipes(
    change: Callable[[str], str], told: str, tmp_path: Path
) -> None:
    check_found("qbench-video.md", change, told, tmp_path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (instead("caption.caption_apart", "caption.caption_both"), "there is no reelbench.make.parts.caption.caption_both"),
        (instead("review/protocols/mmou-audit.yaml", "review/protocols/mmou-check.yaml"), "there is no file review/protocols/mmou-check.yaml"),
        (instead("stage `quality-control`", "stage `second-person`"), "there is no stage second-person"),
        (instead("`prompts` and `one-order`", "`prompts`"), "the condition one-order is not named"),
        (instead("roles `reader`, `watcher` and", "role"), "the role watcher is not named"),
        (instead("--condition audio-only", "--condition sound-only"), "has no condition 'sound-only'"),
        (instead("--model listener=", "--model hearer="), "does not name a role of mmou"),
        (instead("`--set visual-only.drop=true`", "`--set visual-only.dropped=true`"), "no parameter visual-only.dropped"),
        (without_row("Appendix D"), "Appendix D of the paper has no row"),
        (without_row("Appendix G.3"), "Equation 1 of the paper has no row"),
        (instead("| Appendix B,", "| Appendix H,"), "the paper has no Appendix H"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_found_on_the_page_of_mmou(
    change: Callable[[str], str], told: str, tmp_path: Path
) -> None:
    check_found("mmou.md", change, told, tmp_path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (instead("speech.fitting_voice", "speech.matching_voice"), "there is no reelbench.recipes.humanvbench.rules.speech.matching_voice"),
        (instead("operators.speaker`", "operators.speakers`"), "there is no reelbench.annotate.operators.speakers"),
        (instead("protocols/humanvbench-count.yaml", "protocols/humanvbench-number.yaml"), "there is no file review/protocols/humanvbench-number.yaml"),
        (instead("make/prompts/rank.md", "make/prompts/order.md"), "there is no file make/prompts/order.md"),
        (instead("stage `counting-quota`", "stage `quota`"), "there is no stage quota"),
        (instead("`key-positions`, `analysed`", "`key-positions`"), "the stage analysed is not named"),
        (instead("prompt `wrong-sentences`", "a prompt"), "the prompt wrong-sentences is not named"),
        (instead("role `blind`", "role `deaf`"), "there is no role deaf"),
        (instead("--model checker=", "--model referee="), "does not name a role of humanvbench"),
        (instead("--tasks ASD", "--task-list ASD"), "unrecognized arguments: --task-list"),
        (instead("`--subject dog`", "`--topic dog`"), "there is no option --topic"),
        (instead("`--set cut.longest=30.0`", "`--set cut.most=30.0`"), "no parameter cut.most"),
        (instead("--condition audio-only", "--condition sound-only"), "has no condition 'sound-only'"),
        (without_row("3.4"), "3.4 of the paper has no row"),
        (without_row("Appendix K, Label-1"), "Equation 1 of the paper has no row"),
        (without_row("Appendix J.3"), "Figure 18 of the paper has no row"),
        (instead("| Appendix L, Table 9 |", "| Appendix M, Table 9 |"), "the paper has no Appendix M"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_found_on_the_page_of_humanvbench(
    change: Callable[[str], str], told: str, tmp_path: Path
) -> None:
    check_found("humanvbench.md", change, told, tmp_path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (instead("quality_loop.refine", "quality_loop.improve"), "there is no reelbench.make.parts.quality_loop.improve"),
        (instead("protocols/musebench-vet.yaml", "protocols/musebench-sift.yaml"), "there is no file review/protocols/musebench-sift.yaml"),
        (instead("stage `curate`", "a stage"), "the stage curate is not named"),
        (instead("role `summarizer`", "role `editor`"), "there is no role editor"),
        (instead("rules `R1` and `R2`", "rules `R1` and `R99`"), "there is no rule R99"),
        (instead("condition `query`", "condition `question`"), "there is no condition question"),
        (instead("--condition samplings", "--condition frames"), "has no condition 'frames'"),
        (instead("`--set match.most_clips=12`", "`--set match.clips=12`"), "no parameter match.clips"),
        (without_row("Appendix B.4"), "Figure 7 of the paper has no row"),
        (without_row("3.5 sets"), "Equation 9 of the paper has no row"),
        (instead("| Appendix F |", "| Appendix H |"), "the paper has no Appendix H"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_found_on_the_page_of_musebench(
    change: Callable[[str], str], told: str, tmp_path: Path
) -> None:
    check_found("musebench.md", change, told, tmp_path)


def check_found(page: str, change: Callable[[str], str], told: str, folder: Path) -> None:
    """A page that is changed for the worse has a fault that says so."""
    text = (REPOSITORY / "docs" / "recipes" / page).read_text()
    assert change(text) != text
    wrong = folder / page
    wrong.write_text(change(text))
    assert any(told in fault for fault in faults(wrong)), faults(wrong)


def quality_page() -> str:
    return (REPOSITORY / "docs" / "recipes" / "qbench-video.md").read_text()


def test_the_families_of_exact_questions_are_as_the_page_says() -> None:
    told = {row[0].strip("`"): row[1:] for row in rows_under(quality_page(), "Families")}
    for name, family in FAMILIES.items():
        share, context, example, _ = told[name]
        assert (share, context) == (str(family["share"]), family["context"])
        texts = [family["question"], family.get("opposite", family["question"])]
        asked = {
            text.format(**words, corner=corner)
            for text, words, corner in product(texts, WORDS.values(), CORNERS)
        }
        assert example in asked


def test_the_damages_of_exact_questions_are_as_the_page_says() -> None:
    told = {row[0]: row[1:] for row in rows_under(quality_page(), "Exact items") if len(row) == 4}
    assert told == {
        name: [WORDS[name]["concern"], ", ".join(damage.kinds), damage.quality]
        for name, damage in DAMAGES.items()
    }


def test_what_makes_a_key_a_fact_is_recorded_as_the_page_says() -> None:
    told = dict(rows_under(quality_page(), "What is recorded"))
    segment = Segment("a.mp4#0000", "a.mp4", "0" * 64, 0.0, 4.0)
    pairs = ((segment, segment),)
    order = QuestionPlan("exact-1", "which", "blur", "defocus", 0, False, pairs, 0.15)
    ctx: Any = SimpleNamespace(seed=0, notes=[])
    (item,) = ask(estimated_question(order, ctx), ctx, items=1)
    assert isinstance(item, Item)
    facts = item.provenance["exact"]
    named = {field for cell in told for field in CODE.findall(cell)}
    assert named == {*facts, *facts["videos"][0], "begin", "corner", "levels", "layers"}


def test_the_margins_are_as_the_page_says() -> None:
    least, most = MARGINS
    assert f"from {least}, hard, to {most}, easy" in " ".join(quality_page().split())


def test_what_comes_out_is_as_the_page_says(tmp_path: Path) -> None:
    write_movie(tmp_path / "movies", "lighthouse", tiny_videos(tmp_path))
    bench = tmp_path / "bench"
    with on_stage(tmp_path, Actors()) as (_, roles):
        done = reelbench(
            "make", "cineaste", "--source", tmp_path / "movies", "--out", bench, *roles
        )
    assert done.returncode == 0, done.stderr
    check_what_comes_out("cineaste.md", bench)


def test_and_so_is_what_comes_out_of_scores(tmp_path: Path) -> None:
    with gallery(tmp_path, Critics(disputed="in part 1 of 5")) as hall:
        told = hall.make(tmp_path / "bench", *hall.words)
    assert told.status == 0, told.err
    check_what_comes_out("qbench-video.md", tmp_path / "bench")


def test_and_so_is_what_comes_out_of_questions_that_people_wrote(tmp_path: Path) -> None:
    def one_fails(model: str, prompt: str) -> str | None:
        return "{}" if model == "distractor" and "clip0 number 0" in prompt else None

    with station(tmp_path, OmniModels(instead=one_fails)) as here:
        words = here.roles(*WRITERS, *CHECKERS)
        told = here.make(tmp_path / "bench", *words, "--without", "quality-control")
    assert told.status == 0, told.err
    check_what_comes_out("mmou.md", tmp_path / "bench")


def test_who_writes_more_than_a_letter_has_a_card_with_room_for_it() -> None:
    text = (REPOSITORY / "docs" / "recipes" / "cineaste.md").read_text()
    cards = dict(re.findall(r'^```yaml title="(.*?)"\n(.*?)^```', text, re.MULTILINE | re.DOTALL))
    named = set(re.findall(r"--model (\w+)=(\S+)", text))
    needed = {r: s.expected_tokens for s in load_recipe("cineaste").stages for r in s.roles}
    assert {role for role, _ in named} == {"writer", "blind", "reviewer"}
    for role, file in named:
        most = yaml.safe_load(cards[file]).get("parameters", {}).get("max_tokens")
        assert most is None or most >= needed[role], f"{role}={file}"


def check_what_comes_out(page: str, bench: Path) -> None:
    text = (REPOSITORY / "docs" / "recipes" / page).read_text()
    told = rows_under(text, "What comes out")
    assert len(told) > 10
    for name, holds in told:
        path = bench / name.strip("`")
        assert path.is_file(), name
        said = CODE.findall(holds)
        keys = set(keys_in(content_of(path)))
        for field in said:
            assert field in keys or (path.parent / field).is_file(), f"{name} has no {field}"
    for heading in re.findall(r'`made.html`, "([^"]+)"', text):
        assert f"<h2>{heading}" in (bench / "made.html").read_text()
