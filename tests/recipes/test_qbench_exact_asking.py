"""From shots to items: as many as are asked for, with keys, wrong options and pairs in balance."""

import random
import statistics
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from blind_rules import beyond_chance, blind, of_text
from msgspec import structs

from reelbench.data.items import Item
from reelbench.make.parts.balance import spread_key_positions
from reelbench.make.pipeline.stage import Rejected
from reelbench.media.measure.quality import DAMAGES
from reelbench.recipes.qbench_exact.asking import _apart, ask
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.degraded import WrittenVideo
from reelbench.recipes.qbench_exact.footage import DamageTarget
from reelbench.recipes.qbench_exact.plan import FAMILIES, WORDS, QuestionPlan, SegmentPlan, plan
from reelbench.recipes.qbench_exact.recipe import RECIPE
from reelbench.recipes.qbench_exact.videos import MadeQuestion, MadeVideo

USUAL = {damage.quality: damage.usual for damage in DAMAGES.values()}
NOUNS = {words["noun"].capitalize(): name for name, words in WORDS.items()}
PAIRS = ("which", "compare", "more", "better")


def orders(items: int, seed: int = 0) -> list[QuestionPlan]:
    segments = [Segment(f"a#{n:04d}", "a", "0" * 64, n, n + 1) for n in range(30)]
    rows: list[Any] = plan(segments, SimpleNamespace(seed=seed), items=items, margin=[0.15])  # type: ignore[arg-type]
    found = [order for row in rows if isinstance(row, SegmentPlan) for order in row.orders]
    return sorted(found, key=lambda order: order.id)


def question(order: QuestionPlan, fewest: int = 10) -> MadeQuestion:
    """An order carried out: videos that differ by chance, and damages that fit as wrong options."""
    chance = random.Random(order.id)
    damage = DAMAGES[order.damage]
    videos = []
    for number, segment in enumerate(order.segments[0]):
        extent = round(chance.uniform(0.1, 0.9), 3)
        after = USUAL | {damage.quality: damage.usual + damage.worse * damage.full * extent}
        shown = WrittenVideo(USUAL, after, extent, extent, extent)
        name = f"{order.id}-{number}.mp4"
        videos.append(MadeVideo(name, "", segment, DamageTarget(order.damage, order.kind), shown))
    others = [name for name in DAMAGES if name != order.damage]
    fits = tuple(chance.sample(others, chance.randint(fewest, 10)))
    return MadeQuestion(order.id, order, tuple(videos), 1.0, fits, "top left")


def at_margin(question: MadeQuestion, margin: float) -> MadeQuestion:
    return structs.replace(question, order=structs.replace(question.order, margin=margin))


def at_margins(margins: tuple[float, ...]) -> list[MadeQuestion]:
    """Questions of which more could be made, the larger the margin."""
    chance = random.Random(1)
    found = [at_margin(each, chance.choice(margins)) for each in SHOTS]
    return [q for q in found if chance.random() < 0.5 + 0.5 * q.order.margin / max(margins)]


SHOTS = [question(order) for order in orders(300)]
NARROW = [question(order, fewest=4) for order in orders(300)]


def asked(questions: list[MadeQuestion], items: int, seed: int = 0) -> tuple[list[Any], list[str]]:
    ctx: Any = SimpleNamespace(seed=seed, notes=[])
    return list(ask(questions, ctx, items=items)), ctx.notes


def kept(questions: list[MadeQuestion], items: int, seed: int = 0) -> list[Item]:
    return [row for row in asked(questions, items, seed)[0] if isinstance(row, Item)]


def family(item: Item) -> str:
    return str(item.tags["family"])


class TestNumbers:
    def test_more_shots_than_items_are_rejected_with_a_reason(self) -> None:
        rows, notes = asked(SHOTS, 300)
        assert len(rows) == len(SHOTS) == 345
        spare = [row for row in rows if isinstance(row, Rejected)]
        assert len(spare) == 45
        assert {row.reason for row in spare} == {"more than are asked for"}
        assert not notes
        for row, each in zip(rows, SHOTS, strict=True):
            assert isinstance(row, Rejected) or row.id == each.id

    def test_fewer_shots_than_items_are_all_kept_and_it_is_said(self) -> None:
        rows, notes = asked(SHOTS[:50], 60)
        assert all(isinstance(row, Item) for row in rows)
        (note,) = notes
        assert "Only 50 of 60 items were made" in note
        assert asked([], 5) == ([], [note.replace("50", "0").replace("60", "5")])

    def test_clips_that_are_not_clean_are_named(self) -> None:
        dirty = USUAL | {"noise": 20.0}
        (first,) = SHOTS[0].videos
        shown = WrittenVideo(dirty, dirty, 0.5, 0.5, 0.5)
        bad = structs.replace(
            first, segment=structs.replace(first.segment, path="grainy.mp4"), shown=shown
        )
        _, notes = asked([structs.replace(SHOTS[0], videos=(bad,)), *SHOTS[1:50]], 50)
        assert notes[0].startswith("1 clip does not look clean: grainy.mp4 (noise).")

    @pytest.mark.parametrize("items", [20, 100, 300])
    def test_families_are_kept_in_their_shares(self, items: int) -> None:
        counts = Counter(map(family, kept(SHOTS, items)))
        for name, facts in FAMILIES.items():
            assert abs(counts[name] - items * facts["share"] / 100) <= 1, name

    def test_where_a_family_has_too_few_others_stand_in(self) -> None:
        without = [each for each in SHOTS if each.order.family != "what"]
        items = kept(without, 250)
        assert len(items) == 250
        assert "what" not in map(family, items)

    def test_yes_is_the_key_as_often_as_no(self) -> None:
        for seed in range(2):
            questions = [question(order) for order in orders(300, seed)]
            for items in (45, 100, 145, 200, 300):
                closed = [item for item in kept(questions, items) if item.kind == "yesno"]
                assert len(closed) >= items * 0.2
                counts = Counter(item.correct[0] for item in closed)
                assert abs(counts["Yes"] - counts["No"]) <= 2, (seed, items)

    @pytest.mark.parametrize("items", [100, 300])
    def test_keys_of_a_family_are_even(self, items: int) -> None:
        goals = {each.id: (each.order.goal, each.order.turned) for each in SHOTS}
        found = kept(SHOTS, items)
        for name, facts in FAMILIES.items():
            counts = Counter(goals[item.id] for item in found if family(item) == name)
            ways = 2 if facts.get("turns") else 1
            assert len(counts) == min(counts.total(), facts["keys"] * ways), name
            assert max(counts.values()) - min(counts.values()) <= 1, name

    def test_damages_that_could_not_be_shown_do_not_tip_the_keys(self) -> None:
        """Half of the shots with the answer yes are missing: half of the others stay out too."""
        seen: Counter[Any] = Counter()
        thin = []
        for each in SHOTS:
            key = (each.order.family, each.order.turned)
            says_yes = FAMILIES[each.order.family]["kind"] == "yesno" and each.order.goal
            seen[key] += bool(says_yes)
            if not says_yes or seen[key] % 2:
                thin.append(each)
        counts = Counter(item.correct[0] for item in kept(thin, 150) if item.kind == "yesno")
        assert abs(counts["Yes"] - counts["No"]) <= 3


class TestWrongOptions:
    @pytest.mark.parametrize("questions", [SHOTS, NARROW], ids=["all fit", "some fit"])
    def test_they_fit_and_are_never_the_key_and_never_twice(
        self, questions: list[MadeQuestion]
    ) -> None:
        by_id = {each.id: each for each in questions}
        named = [item for item in kept(questions, 300) if family(item) in ("what", "shared")]
        assert len(named) > 30
        for item in named:
            assert len(item.options) == len(set(item.options)) == 4
            own = by_id[item.id]
            assert NOUNS[item.correct[0]] == own.order.damage == item.tags["distortion"]
            wrong = {NOUNS[option] for option in item.options} - {own.order.damage}
            assert len(wrong) == 3
            assert wrong <= set(own.fits)

    def test_all_are_offered_about_equally_often_even_those_that_seldom_fit(self) -> None:
        """So that the option that is seen most often is no better than chance."""
        chance = random.Random(1)
        seldom = [
            structs.replace(
                each, fits=tuple(f for f in each.fits if f != "noise" or chance.random() < 0.5)
            )
            for each in SHOTS
            if each.order.family == "what"
        ]
        wrong: Counter[str] = Counter()
        for seed in range(20):
            for item in kept(seldom, 300, seed):
                wrong.update(NOUNS[option] for option in item.options if option != item.correct[0])
        mean = wrong.total() / len(DAMAGES)
        assert set(wrong) == set(DAMAGES)
        assert 0.75 * mean < min(wrong.values()) <= max(wrong.values()) < 1.25 * mean, wrong

    def test_what_was_offered_does_not_tell_what_will_be(self) -> None:
        """Each is drawn for itself: leaving one out changes none of the others."""
        named = [each for each in SHOTS if each.order.family == "what"]
        every = {item.id: item.options for item in kept(named, 300)}
        fewer = {item.id: item.options for item in kept(named[1:], 300)}
        assert sum(every[name] == options for name, options in fewer.items()) > 0.8 * len(fewer)

    def test_three_that_fit_are_taken_as_they_are(self) -> None:
        bare = [structs.replace(each, fits=each.fits[:3]) for each in SHOTS]
        by_id = {each.id: each for each in bare}
        for item in kept(bare, 300):
            if family(item) in ("what", "shared"):
                wrong = {NOUNS[option] for option in item.options} - {item.tags["distortion"]}
                assert wrong == set(by_id[item.id].fits)


class TestPairs:
    def test_pairs_further_apart_than_the_median_are_coarse(self) -> None:
        by_id = {each.id: each for each in SHOTS}
        found = kept(SHOTS, 300)
        apart = {}
        for item in found:
            if family(item) in PAIRS:
                own = by_id[item.id]
                damage = DAMAGES[own.order.damage]
                first, second = (video.shown.after[damage.quality] for video in own.videos)
                apart[item.id] = abs(first - second) / damage.full
        median = statistics.median(apart.values())
        for item in found:
            if item.id in apart and abs(apart[item.id] - median) > 1e-3:
                said = "Compare-coarse" if apart[item.id] > median else "Compare-fine"
                assert item.tags["context"] == said
        counts = Counter(item.tags["context"] for item in found if item.id in apart)
        assert set(counts) == {"Compare-coarse", "Compare-fine"}
        assert abs(counts["Compare-coarse"] - counts["Compare-fine"]) <= 1

    def test_others_have_the_context_of_their_family(self) -> None:
        for item in kept(SHOTS, 300):
            if family(item) not in PAIRS:
                assert item.tags["context"] == FAMILIES[family(item)]["context"]
            pair = item.tags["context"] in ("Joint", "Compare-fine", "Compare-coarse")
            assert len(item.media) == (2 if pair else 1)
            assert item.tags["concern"] == (WORDS[str(item.tags["distortion"])]["concern"],)


class TestTheSame:
    @pytest.mark.parametrize("mix", [1, 2, 3])
    def test_the_order_of_shots_does_not_matter(self, mix: int) -> None:
        mixed = random.Random(mix).sample(NARROW, len(NARROW))
        assert {i.id: i for i in kept(mixed, 200)} == {i.id: i for i in kept(NARROW, 200)}

    def test_another_seed_deals_other_wrong_options(self) -> None:
        one, other = ({i.id: i.options for i in kept(SHOTS, 300, seed)} for seed in (1, 2))
        assert set(one) == set(other)
        assert one != other


class TestMargins:
    def test_several_are_a_tag_and_a_table_from_easy_to_hard(self) -> None:
        items = kept(at_margins((0.05, 0.2, 0.1)), 100)
        manifest = RECIPE.manifest(items, Path("clips"))
        assert manifest.taxonomy["margin"] == ("0.2", "0.1", "0.05")
        assert list(manifest.tables["margin"]["columns"]) == ["0.2", "0.1", "0.05"]
        for item in items:
            assert item.tags["margin"] == f"{item.provenance['exact']['margin']:g}"

    def test_as_many_items_are_kept_of_each(self) -> None:
        questions = at_margins((0.05, 0.2, 0.1))
        made = Counter(f"{each.order.margin:g}" for each in questions)
        counts = Counter(item.tags["margin"] for item in kept(questions, 120))
        assert max(made.values()) - min(made.values()) > 20
        assert max(counts.values()) - min(counts.values()) <= 8

    def test_where_there_are_too_few_of_one_it_is_said(self) -> None:
        questions = at_margins((0.05, 0.2))
        few = [each for n, each in enumerate(questions) if each.order.margin > 0.1 or n % 4 == 0]
        rows, notes = asked(few, 150)
        counts = Counter(row.tags["margin"] for row in rows if isinstance(row, Item))
        told = f"({counts['0.05']} at 0.05, {counts['0.2']} at 0.2)"
        assert [note for note in notes if told in note and "unequal" in note]
        assert not [note for note in asked(at_margins((0.05, 0.2)), 60)[1] if "unequal" in note]

    def test_pairs_are_fine_and_coarse_at_each_of_them(self) -> None:
        """Or the contexts would be the margins again."""
        pairs = [question for question in SHOTS if question.order.family in PAIRS]
        near = [at_margin(question, 0.05 if _apart(question) < 0.3 else 0.2) for question in pairs]
        found = Counter((item.tags["margin"], item.tags["context"]) for item in kept(near, 60))
        for margin in ("0.05", "0.2"):
            fine, coarse = (found[margin, f"Compare-{name}"] for name in ("fine", "coarse"))
            assert coarse <= fine <= coarse + 1
            assert coarse > 3

    def test_one_is_neither(self) -> None:
        items = kept(SHOTS, 100)
        manifest = RECIPE.manifest(items, Path("clips"))
        assert "margin" not in {*items[0].tags, *manifest.taxonomy, *manifest.tables}


def test_who_sees_nothing_is_at_chance() -> None:
    """2,000 closed items, and the rules that go by texts, their lengths and their places."""
    items = kept([question(order) for order in orders(2_150)], 2_150)
    closed = spread_key_positions([item for item in items if item.options], 0)
    assert len(closed) >= 2_000
    players = [blind(item) for item in closed]
    texts = sorted({text for player in players for text in player.texts})
    assert beyond_chance(players, {f"{text!r}": of_text(text) for text in texts}) == {}
