"""What gives the key away without the video: places, lengths, numbers, templates."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rewriting import long_keys, worded_keys
from scipy import stats
from support import make_item

from reelbench.data.items import LETTERS, SOURCE_CLIPS, Item, Media, freeze
from reelbench.lint import Severity, lint_benchmark
from reelbench.lint.shortcuts import shortcut_findings
from reelbench.lint.wording import baselines_of

Save = Callable[..., Path]


def tags(root: Path, *, check_media: bool = False) -> list[str]:
    return [finding.tag for finding in lint_benchmark(root, check_media=check_media).findings]


def keyed(number: int, letter: str, **fields: object) -> Item:
    return make_item(number, answer=(letter,), question=f"Question number {number}?", **fields)


class TestShortcuts:
    def test_even_keys_are_fine(self, save: Save) -> None:
        root = save(*(keyed(n, "ABCD"[n % 4]) for n in range(80)))
        figure = lint_benchmark(root, check_media=False).figures["key_positions"]
        assert tags(root) == []
        assert figure["p"] == 1.0
        assert figure["single_keys"] == {"A": 20, "B": 20, "C": 20, "D": 20}

    def test_skewed_keys_and_the_chi_square_of_the_textbook(self, save: Save) -> None:
        counts = {"A": 40, "B": 20, "C": 12, "D": 8}
        letters = [letter for letter, count in counts.items() for _ in range(count)]
        report = lint_benchmark(
            save(*(keyed(n, x) for n, x in enumerate(letters))), check_media=False
        )
        expected = stats.chisquare(list(counts.values()))
        figure = report.figures["key_positions"]
        assert figure["chi_square"] == pytest.approx(expected.statistic, abs=1e-3)
        assert figure["p"] == pytest.approx(expected.pvalue)
        assert [(f.tag, f.severity) for f in report.findings] == [("KEY_POSITION", Severity.HIGH)]
        assert "always choosing A is right in 50.0% of 80" in report.findings[0].message

    def test_a_slight_skew_of_many_items_is_medium(self, save: Save) -> None:
        letters = "A" * 330 + "B" * 270 + "C" * 200 + "D" * 200
        report = lint_benchmark(
            save(*(keyed(n, x) for n, x in enumerate(letters))), check_media=False
        )
        assert [(f.tag, f.severity) for f in report.findings] == [("KEY_POSITION", Severity.MEDIUM)]

    def test_a_closing_none_of_the_above_has_its_own_law(self, save: Save) -> None:
        options = ("rain", "snow", "wind", "hail", "none of the above")
        fair = [keyed(n, "ABCDE"[n % 5], options=options) for n in range(100)]
        assert tags(save(*fair)) == []
        always = [
            keyed(n, "E" if n % 2 else "ABCD"[n // 2 % 4], options=options) for n in range(100)
        ]
        assert tags(save(*always)) == ["KEY_LENGTH", "NONE_OF_THE_ABOVE"]

    def test_multi_select_keys_count_too(self, save: Save) -> None:
        pairs = [("A", "B")] * 60 + [("C", "D")] * 10
        items = [
            make_item(n, kind="multi", answer=pair, question=f"Number {n}?")
            for n, pair in enumerate(pairs)
        ]
        assert tags(save(*items)) == ["KEY_POSITION"]

    @pytest.mark.parametrize(
        ("key", "word"), [("a dog barks at the postman", "longest"), ("dog", "shortest")]
    )
    def test_length_gives_the_key_away(self, key: str, word: str, save: Save) -> None:
        items = []
        for n in range(60):
            options = ["a door opens", "it snows out", "a bell rings"]
            options.insert(n % 4, key)
            items.append(keyed(n, LETTERS[n % 4], options=tuple(options)))
        report = lint_benchmark(save(*items), check_media=False)
        assert [f.tag for f in report.findings if not f.item] == ["KEY_LENGTH"]
        assert f"the {word} option is right in 100.0% of 60 items" in report.findings[0].message
        assert report.figures["key_lengths"][word]["accuracy"] == 1.0

    def test_equal_lengths_give_nothing_away(self, save: Save) -> None:
        options = ("aaaa", "bbbb", "cccc", "dddd")
        root = save(*(keyed(n, "ABCD"[n % 4], options=options) for n in range(60)))
        assert lint_benchmark(root, check_media=False).figures["key_lengths"] is None

    def test_yes_no_imbalance(self, save: Save) -> None:
        def answers(yes: int, no: int) -> list[str]:
            keys = ["A"] * yes + ["B"] * no
            return tags(
                save(
                    *(
                        keyed(n, key, kind="yesno", options=("Yes", "No."))
                        for n, key in enumerate(keys)
                    )
                )
            )

        assert answers(32, 28) == []
        assert answers(50, 10) == ["YES_NO_IMBALANCE"]


class TestSmallBenchmarks:
    def test_one_item_proves_nothing(self, save: Save) -> None:
        options = ("the longest of all options here", *(f"option {n:02d}" for n in range(11)))
        found = tags(save(make_item(1, options=options, answer=("A",))))
        assert found == ["KEY_STANDS_OUT"], "of the item, and nothing of the benchmark"

    def test_nineteen_equal_keys_are_no_chance(self, save: Save) -> None:
        assert tags(save(*(keyed(n, "D") for n in range(19)))) == ["KEY_POSITION"]

    def test_true_and_false_are_yes_and_no(self, save: Save) -> None:
        items = [keyed(n, "A", kind="yesno", options=("True", "False")) for n in range(30)]
        assert tags(save(*items)) == ["YES_NO_IMBALANCE"]


def test_the_rank_of_numbers_gives_the_key_away(save: Save) -> None:
    def items(rank: Callable[[int], int]) -> list[Item]:
        made = []
        for n in range(60):
            numbers = [str(n + k) for k in range(4)]
            key = numbers[rank(n)]
            shown = numbers[n % 4 :] + numbers[: n % 4]
            made.append(keyed(n, LETTERS[shown.index(key)], options=tuple(shown)))
        return made

    assert "KEY_NUMBER" not in tags(save(*items(lambda n: n // 4 % 4)))
    report = lint_benchmark(save(*items(lambda n: 1)), check_media=False)
    finding = next(f for f in report.findings if f.tag == "KEY_NUMBER")
    assert "picking the middle is right in 100.0% of 60 items" in finding.message
    assert finding.severity is Severity.HIGH


def test_many_templates_on_one_video_take_no_time(save: Save) -> None:
    media = (Media("a.mp4"),)
    items = [
        make_item(
            n,
            media=media,
            question=f"What does the player with the number {n} do after minute {n}?",
            answer=("ABCD"[n % 4],),
        )
        for n in range(3000)
    ]
    report = lint_benchmark(save(*items), check_media=False)
    assert max(sum(f.item == f"q-{n}" for f in report.findings) for n in (1, 500, 2999)) <= 1


def test_the_wording_of_keys_gives_them_away(save: Save) -> None:
    """What no simpler rule sees: keys say another word than wrong options do."""
    items = worded_keys(120, 0.6)
    report = lint_benchmark(save(*items), check_media=False)
    finding = next(f for f in report.findings if f.tag == "KEY_WORDING")
    assert finding.severity is Severity.HIGH
    figure = report.figures["key_wording"]
    assert f"is right in {100 * figure['accuracy']:.1f}% of the 120 items" in finding.message
    assert figure["chance"] == 0.2
    assert {"KEY_LENGTH", "KEY_POSITION"}.isdisjoint(tags(save(*items)))


def test_wording_that_says_nothing_is_no_finding(save: Save) -> None:
    """Of forty sets of fair items, some are guessed better than others, as chance has it."""
    found = [shortcut_findings(long_keys(60, 0.0, f"fair {n}"))[1] for n in range(40)]
    right = [figure["key_wording"]["accuracy"] for figure in found]
    assert sum(right) / 40 == pytest.approx(0.2, abs=0.03)
    p = [figure["key_wording"]["p"] for figure in found]
    assert min(p) > 0.001
    assert sum(each < 0.05 for each in p) <= 4


def test_what_is_learnt_is_of_other_videos(save: Save) -> None:
    """A word that only the keys of one video say tells nothing of others."""
    items = [
        keyed(n, "A", media=(Media(f"media/{n % 4}.mp4"),), id=f"q-{n}",
              options=(f"it is v{n % 4}", f"it is w{n % 3}", f"it is x{n % 5}", f"it is y{n % 2}"))
        for n in range(80)
    ]  # fmt: skip
    by_id = baselines_of(items)
    for item in items:
        own = f"says 'v{item.media[0].path[6]}'"
        assert own not in by_id[item.id].weights
    assert baselines_of(items[:30]) == {}, "there is nothing to learn from fifteen"


def test_what_was_made_from_one_clip_is_in_one_half() -> None:
    """So that nothing is learnt of a clip from other videos that were made from it."""
    items = [
        keyed(n, "A", id=f"q-{n}", extra=freeze({SOURCE_CLIPS: [f"{n % 4}.mp4"]}),
              options=(f"it is v{n % 4}", f"it is w{n % 3}", f"it is x{n % 5}", f"it is y{n % 2}"))
        for n in range(80)
    ]  # fmt: skip
    by_id = baselines_of(items)
    assert len({item.media for item in items}) == len(by_id) == 80
    for item in items:
        assert f"says 'v{item.source_clips[0][0]}'" not in by_id[item.id].weights
