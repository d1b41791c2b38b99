"""Agreement among raters: published values, what must not matter, and every bad file."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import BenchmarkError
from reelbench.score.agreement import METHODS, WEIGHTS, Coefficient, agreement, weight_matrix
from reelbench.score.intervals import wilson
from reelbench.score.ratings import Ratings, Scale, read_ratings

# The worked example of Gwet's handbook, four raters and twelve subjects; 0 stands for missing.
FOUR = [
    [1, 1, 0, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [0, 5, 5, 5], [0, 0, 1, 1], [0, 0, 3, 0],
]  # fmt: skip
BEN_AND_GERRY = ["ab", "aa", "bb", "bb", "db", "cc", "cc", "cc", "ee", "d ", "dd", "ad"]
ONE_TO_FIVE = Scale.of([1, 2, 3, 4, 5])


def rated(scale: Scale, codes: object) -> Ratings:
    table = np.array(codes, np.int64)
    subjects, raters = (tuple(map(str, range(size))) for size in table.shape)
    return Ratings(Path("ratings.csv"), scale, subjects, raters, table)


def four() -> Ratings:
    return rated(ONE_TO_FIVE, np.array(FOUR) - 1)


def two() -> Ratings:
    return rated(
        Scale.of("abcde"), [["abcde".find(rating) for rating in row] for row in BEN_AND_GERRY]
    )


def one(ratings: Ratings, weights: str, method: str) -> Coefficient:
    (found,) = agreement(ratings, weights, [method])
    return found


def value(ratings: Ratings, weights: str, method: str) -> float:
    found = one(ratings, weights, method).value
    assert found is not None
    return found


def values(ratings: Ratings, weights: str) -> list[float | None]:
    return [found.value for found in agreement(ratings, weights)]


class TestPublished:
    @pytest.mark.parametrize(("weights", "method", "expected"), [
        ("identity", "ac1", 0.775444),
        ("linear", "ac2", 0.858739),
        ("quadratic", "ac2", 0.914001),
        ("ordinal", "ac2", 0.898940),
        ("identity", "fleiss", 0.761169),
        ("identity", "krippendorff", 0.743421),
        ("identity", "conger", 0.762817),
    ])  # fmt: skip
    def test_four_raters(self, weights: str, method: str, expected: float) -> None:
        assert round(value(four(), weights, method), 6) == expected

    def test_two_raters(self) -> None:
        assert round(value(two(), "identity", "cohen"), 6) == 0.657143
        assert round(value(two(), "identity", "ac1"), 6) == 0.661442

    # What the handbook's author prints with his R package irrCAC (the alpha), and what its
    # translation to Python prints, which agrees with it on the others.
    @pytest.mark.parametrize(("weights", "method", "error", "low"), [
        ("identity", "ac1", 0.14295, 0.46081),
        ("identity", "fleiss", 0.15302, 0.42438),
        ("identity", "conger", 0.14917, 0.43450),
        ("identity", "krippendorff", 0.14548, 0.423),
        ("linear", "ac2", 0.11733, 0.60050),
        ("quadratic", "fleiss", 0.14603, 0.54352),
        ("ordinal", "conger", 0.14410, 0.52650),
        ("radical", "ac2", 0.12836, 0.53730),
        ("ratio", "ac2", 0.12207, 0.58869),
    ])  # fmt: skip
    def test_standard_errors_and_intervals(
        self, weights: str, method: str, error: float, low: float
    ) -> None:
        found = one(four(), weights, method)
        assert found.standard_error == pytest.approx(error, abs=6e-6)
        assert found.interval == (pytest.approx(low, abs=3e-4), 1.0)

    def test_two_raters_have_their_standard_error(self) -> None:
        assert one(two(), "identity", "cohen").standard_error == pytest.approx(0.1794303541)
        assert one(two(), "identity", "ac1").standard_error == pytest.approx(0.1839621515)


class TestWeights:
    def test_by_hand(self) -> None:
        scale = Scale.of([0, 1, 3])
        expected = {
            "identity": (0, 0, 0),
            "linear": (2 / 3, 0, 1 / 3),
            "quadratic": (8 / 9, 0, 5 / 9),
            "radical": (1 - (1 / 3) ** 0.5, 0, 1 - (2 / 3) ** 0.5),
            "ordinal": (2 / 3, 0, 2 / 3),
            "ratio": (0, 0, 3 / 4),
        }
        assert set(expected) == set(WEIGHTS)
        for weights, (near, far, other) in expected.items():
            matrix = weight_matrix(weights, scale)
            assert np.diag(matrix).tolist() == [1, 1, 1]
            assert (matrix == matrix.T).all()
            assert [matrix[0, 1], matrix[0, 2], matrix[1, 2]] == pytest.approx([near, far, other])

    def test_ac2_hangs_on_the_categories_that_were_declared(self) -> None:
        generator = np.random.default_rng(2)
        used = generator.choice([3, 4, 5], (40, 1), p=[0.1, 0.2, 0.7]) - (
            generator.random((40, 3)) < 0.2
        )
        used = np.clip(used, 3, 5)
        wide = value(rated(Scale.of(range(6)), used), "quadratic", "ac2")
        narrow = value(rated(Scale.of([3, 4, 5]), used - 3), "quadratic", "ac2")
        assert wide > narrow + 0.05

    def test_words_are_as_far_apart_as_they_are_listed(self) -> None:
        words = Scale.of(["poor", "fair", "good", "fine", "best"])
        assert words.values == (1, 2, 3, 4, 5)
        assert values(rated(words, np.array(FOUR) - 1), "linear") == values(four(), "linear")

    def test_numbers_are_put_in_order(self) -> None:
        assert Scale.of(["10", "9", "-1.5"]).categories == ("-1.5", "9", "10")

    @pytest.mark.parametrize(
        "categories", [[], ["a"], ["a", "a"], ["1", "1.0"], ["a", " "], [1, 2, 2]]
    )
    def test_categories_that_are_none(self, categories: list[object]) -> None:
        with pytest.raises(ReelbenchError, match="name two or more, each once"):
            Scale.of(categories)

    def test_what_does_not_apply_is_refused(self) -> None:
        with pytest.raises(ReelbenchError, match="no weights 'cubic': choose one of identity,"):
            agreement(four(), "cubic")
        with pytest.raises(ReelbenchError) as caught:
            agreement(four(), "linear", ["cohen", "ac1", "phi"])
        assert "no coefficient 'phi'" in str(caught.value)
        assert "two raters and there are 4: use conger" in str(caught.value)
        assert "AC1 has identity weights and these are linear: use ac2" in str(caught.value)
        for scale in (Scale.of("ab"), Scale.of([-1, 1])):
            with pytest.raises(ReelbenchError, match="Ratio weights compare"):
                agreement(rated(scale, [[0, 1], [1, 1]]), "ratio")

    def test_by_default_all_that_apply(self) -> None:
        def methods(ratings: Ratings, weights: str) -> list[str]:
            return [found.method for found in agreement(ratings, weights)]

        assert methods(two(), "identity") == ["percent", "cohen", "fleiss", "ac1", "krippendorff"]
        assert methods(four(), "linear") == ["percent", "conger", "fleiss", "ac2", "krippendorff"]
        with pytest.raises(ReelbenchError, match="Cohen's kappa is for two"):
            agreement(four(), "identity", ["cohen"])


class TestInvariance:
    @pytest.mark.parametrize("weights", WEIGHTS)
    def test_the_order_of_raters_and_subjects_does_not_matter(self, weights: str) -> None:
        generator = np.random.default_rng(0)
        expected = agreement(four(), weights)
        for _ in range(3):
            codes = generator.permutation(generator.permutation(four().codes, axis=0), axis=1)
            for was, found in zip(
                expected, agreement(rated(ONE_TO_FIVE, codes), weights), strict=True
            ):
                assert found.value == pytest.approx(was.value)
                assert found.standard_error == pytest.approx(was.standard_error)

    def test_names_of_categories_do_not_matter_without_weights(self) -> None:
        names = np.array([3, 0, 4, 1, 2, -1])  # the last is missing, and stays so
        assert values(rated(ONE_TO_FIVE, names[four().codes]), "identity") == pytest.approx(
            values(four(), "identity")
        )

    @pytest.mark.parametrize("weights", ["linear", "quadratic", "ordinal", "radical"])
    def test_a_scale_may_be_turned_around_and_stretched(self, weights: str) -> None:
        turned = rated(ONE_TO_FIVE, np.where(four().codes < 0, -1, 4 - four().codes))
        stretched = rated(Scale.of([-20, -10, 0, 10, 20]), four().codes)
        for ratings in (turned, stretched):
            assert values(ratings, weights) == pytest.approx(values(four(), weights))

    def test_who_and_what_has_no_rating_changes_nothing(self) -> None:
        empty = np.full((14, 5), -1)
        empty[1:-1, 1:] = four().codes
        assert agreement(rated(ONE_TO_FIVE, empty), "linear") == agreement(four(), "linear")

    def test_cohen_is_conger_for_two(self) -> None:
        assert value(two(), "linear", "cohen") == value(two(), "linear", "conger")


class TestMissing:
    def test_a_subject_with_one_rating_counts_for_chance_alone(self) -> None:
        without = rated(ONE_TO_FIVE, four().codes[:-1])
        assert one(without, "identity", "fleiss").observed == pytest.approx(
            one(four(), "identity", "fleiss").observed
        )
        assert one(without, "identity", "fleiss").chance != one(four(), "identity", "fleiss").chance
        assert value(without, "identity", "krippendorff") == value(
            four(), "identity", "krippendorff"
        )

    def test_ratings_lost_by_chance_do_not_bend_the_value(self) -> None:
        full = simulated(20_000, np.random.default_rng(4), missing=0.0)
        holes = np.random.default_rng(5).random(full.codes.shape) < 0.3
        thinned = rated(full.scale, np.where(holes, -1, full.codes))
        assert values(thinned, "linear") == pytest.approx(values(full, "linear"), abs=0.01)

    def test_no_overlap(self) -> None:
        with pytest.raises(ReelbenchError, match="0 of 2 subjects have ratings by two"):
            agreement(rated(ONE_TO_FIVE, [[1, -1], [-1, 2]]), "identity")
        with pytest.raises(ReelbenchError, match="1 of 2 subjects have ratings by two"):
            agreement(rated(ONE_TO_FIVE, [[1, 1], [-1, 2]]), "identity")


class TestExtremes:
    @pytest.mark.parametrize("weights", WEIGHTS)
    def test_perfect_agreement_is_1_and_not_certain(self, weights: str) -> None:
        codes = np.repeat(np.arange(5), 4)[:, None].repeat(3, axis=1)
        for found in agreement(rated(ONE_TO_FIVE, codes), weights):
            assert found.value == pytest.approx(1)
            assert found.interval is not None
            low = (wilson(1.0, 20)[0] - found.chance) / (1 - found.chance)
            assert found.interval == pytest.approx((low, 1.0))
            assert low < 0.85

    @pytest.mark.parametrize("weights", WEIGHTS)
    def test_chance_is_0(self, weights: str) -> None:
        codes = np.random.default_rng(1).integers(0, 5, (20_000, 3))
        for found in agreement(rated(ONE_TO_FIVE, codes), weights)[1:]:
            assert found.value == pytest.approx(0, abs=0.015)

    def test_raters_who_never_agree(self) -> None:
        found = one(rated(Scale.of("ab"), [[0, 1], [1, 0]] * 10), "identity", "cohen")
        assert found.value == -1

    def test_one_category_leaves_kappas_without_a_value(self) -> None:
        found = agreement(rated(ONE_TO_FIVE, [[2, 2, 2]] * 8), "identity")
        assert {row.method: row.value for row in found} == {
            "percent": 1, "conger": None, "fleiss": None, "ac1": 1, "krippendorff": None,
        }  # fmt: skip
        assert found[1].to_record()["interval"] is None

    def test_the_paradox_of_kappa(self) -> None:
        """Nearly all say yes and nearly all agree: kappa is about nothing, AC1 is high."""
        codes = [[0, 0]] * 45 + [[0, 1], [1, 0]] * 2 + [[1, 1]]
        ratings = rated(Scale.of(["yes", "no"]), codes)
        assert value(ratings, "identity", "percent") == pytest.approx(0.92)
        assert value(ratings, "identity", "cohen") < 0.3
        assert value(ratings, "identity", "ac1") > 0.9


def simulated(subjects: int, generator: np.random.Generator, missing: float) -> Ratings:
    """Three raters who see the truth seven times of ten, and else choose at random."""
    truth = generator.choice(4, (subjects, 1), p=[0.1, 0.2, 0.3, 0.4])
    blind = generator.random((subjects, 3)) < 0.3
    codes = np.where(blind, generator.integers(0, 4, (subjects, 3)), truth)
    return rated(Scale.of(range(4)), np.where(generator.random(codes.shape) < missing, -1, codes))


@pytest.mark.parametrize(("weights", "subjects", "missing"), [
    ("identity", 20, 0.0), ("identity", 40, 0.15), ("quadratic", 60, 0.0), ("linear", 60, 0.15),
])  # fmt: skip
def test_intervals_cover_the_truth_as_often_as_they_say(
    weights: str, subjects: int, missing: float
) -> None:
    generator = np.random.default_rng(8)
    truth = values(simulated(200_000, generator, missing), weights)
    covered = np.zeros(len(truth))
    for _ in range(600):
        found = agreement(simulated(subjects, generator, missing), weights)
        covered += [
            row.interval is not None and row.interval[0] <= true <= row.interval[1]
            for row, true in zip(found, truth, strict=True)
        ]
    assert (covered / 600 > 0.92).all()
    assert (covered[1:] / 600 < 0.975).all()  # percent agreement errs on the wide side


class TestReading:
    def read(
        self, text: str | bytes, folder: Path, categories: Sequence[object] = range(6), **more: str
    ) -> Ratings:
        path = folder / "ratings.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_ratings(path, Scale.of(categories), **more)

    @pytest.mark.parametrize("text", [
        "id,Ana,Bo\nv1,3,\nv2,4.0,5\n",
        "\ufeffid,Ana,Bo\r\nv1,3,\r\n\r\nv2, 4 ,5\r\n",
        "Ana;Bo;ID\n3;;v1\n4;5;v2",
        ",Ana,Bo\nv1,3.0,\nv2,4.0,5.0\n",
        "subject,rater,rating\nv1,Ana,3\nv1,Bo,\nv2,Ana,4\nv2,Bo,5\n",
        "Rater,when,Item,Rating\nAna,noon,v1,3\nBo,one,v2,5\nAna,two,v2,4\n",
        '{"id": "v1", "Ana": 3, "Bo": null}\n\n{"id": "v2", "Bo": "5", "Ana": 4.0}\n',
        '{"subject": "v1", "rater": "Ana", "rating": 3}\n{"subject": "v2", "rater": "Ana", "rating": 4}\n'
        '{"subject": "v2", "rater": "Bo", "rating": 5, "note": "sure"}\n',
    ])  # fmt: skip
    def test_all_forms_say_the_same(self, text: str, tmp_path: Path) -> None:
        ratings = self.read(text, tmp_path)
        assert (ratings.subjects, ratings.raters) == (("v1", "v2"), ("Ana", "Bo"))
        assert ratings.codes.tolist() == [[3, -1], [4, 5]]
        assert ratings.to_record()["raters"] == {"Ana": 2, "Bo": 1}
        assert (ratings.to_record()["ratings"], ratings.to_record()["missing"]) == (3, 1)

    def test_without_names_for_subjects(self, tmp_path: Path) -> None:
        assert self.read("Ana,Bo\n3,3\n4,5\n", tmp_path).subjects == ("line 2", "line 3")

    def test_a_column_named_for_the_subjects(self, tmp_path: Path) -> None:
        ratings = self.read("Ana,clip,Bo\n3,x,3\n4,y,5\n", tmp_path, id_column="clip")
        assert (ratings.subjects, ratings.raters) == (("x", "y"), ("Ana", "Bo"))

    def test_quotes_and_truth_values(self, tmp_path: Path) -> None:
        ratings = self.read('id,A,B\n"a\nb","so, so",bad\nc,bad,bad\n', tmp_path, ["bad", "so, so"])
        assert ratings.codes.tolist() == [[1, 0], [0, 0]]
        ratings = self.read('{"A": true, "B": false}\n', tmp_path, ["true", "false"])
        assert ratings.codes.tolist() == [[0, 1]]

    @pytest.mark.parametrize(("text", "words"), [
        ("id,A,B\nv1,3,9\n", "csv:2: B: found '9', expected one of 0, 1, 2, 3, 4, 5, or nothing"),
        ("id,A,B\nv1,nan,1\n", "csv:2: A: found 'nan'"),
        ("id,A,B\nv1,3\n", "csv:2: line: found 2 cells, expected 3, as in the header"),
        ("id,A,B\nv1,3,3,3\n", "csv:2: line: found 4 cells"),
        ("id,A,B\nv1,3,3\nv1,4,4\n", "csv:3: id: found 'v1', as on line 2, expected one row"),
        ("id,A,B\n,3,3\n", "csv:2: id: found nothing, expected the name of a subject"),
        ("id,A,A\nv1,3,3\n", "csv:1: header: found the column 'A' twice"),
        ("id,A,\nv1,3,3\n", "csv:1: header: found a column without a name"),
        ("3,4\n3,3\n", "csv:1: header: found '3,4', which are categories"),
        (b"id,A,B\nv1,3,\xff\n", "csv:2: line: found byte 0xFF at column 6, expected UTF-8"),
        ("id,A,B\nv1,3,3\n".encode("utf-16"), "csv: file: found UTF-16, expected UTF-8 (try: iconv"),
        ('id,A,B\nv0,"\n",1\nv1,"3,3\n', "csv:4: line: found broken quotes"),
        ("", "csv: file: found no ratings"),
        ("id,A,B\n", "csv: file: found no ratings"),
        ("id,A\nv1,3\nv2,3\n", "csv: file: found 1 rater, expected ratings by two raters or more"),
        ("id,A,B\nv1,3,\nv2,3,\n", "csv: file: found 1 rater"),
        ("id,A,B\nv1,,\n", "csv: file: found no rating,"),
        ("subject,rater,rating\nv1,A,3\nv1,A,3\n", "csv:3: rating: found 'v1' by 'A' again, as on line 2"),
        ("subject,rater,rating\nv1,,3\n", "csv:2: rater: found nothing, expected the name of a rater"),
        ("subject,rater,rating\n,A,3\n", "csv:2: subject: found nothing"),
        ('{"id": "a", "A": [3], "B": 1}\n', "csv:1: A: found [3]"),
        ('{"id": "a", "A": 3, "B": 1}\nnull\n', "csv:2: line: found null, expected a JSON object"),
        ('{"id": "a", "A": 3, "B": 1}\n[1]\n', "csv:2: line: found [1], expected a JSON object"),
        ('{"id": "a", "A": 3, "B": 1}\n{"id"\n', "csv:2: line: found"),
        ('{"id": "a", "A": 3, "A": 1}\n', "csv:1: "),
        (b'{"id": "a", "A": "\xff"}\n', "csv:1: line: found byte 0xFF at column 19"),
    ])  # fmt: skip
    def test_bad_files(self, text: str | bytes, words: str, tmp_path: Path) -> None:
        with pytest.raises(BenchmarkError) as caught:
            self.read(text, tmp_path)
        assert words in str(caught.value)

    def test_every_problem_is_listed_in_the_order_of_lines(self, tmp_path: Path) -> None:
        with pytest.raises(BenchmarkError) as caught:
            self.read(b"id,A,B\nv1,7,8\nv2,1\nv3,\xff,2\nv1,1,1\nv4,1,1\n", tmp_path)
        assert [problem.line for problem in caught.value.problems] == [2, 2, 3, 4, 4, 5]
        assert str(caught.value).endswith("6 problems to fix first.")

    def test_files_and_columns_that_are_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match="does not exist"):
            read_ratings(tmp_path / "absent.csv", ONE_TO_FIVE)
        with pytest.raises(
            BenchmarkError, match="found no column 'clip', expected one of id, A, B"
        ):
            self.read("id,A,B\nv1,3,3\n", tmp_path, id_column="clip")


def test_records_are_plain_data() -> None:
    for method in METHODS:
        if method != "cohen":
            record = one(four(), "identity", method).to_record()
            assert json.loads(json.dumps(record, allow_nan=False)) == record
