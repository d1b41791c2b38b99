"""The vocabulary of MuseBench's categories: keywords by block as in its Table 5, and guidance."""

import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.interop.musebench.taxonomy import CATEGORIES
from reelbench.recipes.musebench.vocabulary import vocabulary

TABLE_5 = {
    "Cinematic Arts": [4, 2, 2, 2],
    "Static Visual Arts": [5, 3, 2],
    "Game Arts": [10, 30, 11, 19],
    "Stage Performing Arts": [41, 16, 41, 11, 12, 8, 9, 8, 7, 5, 9, 10, 10],
}


def test_the_blocks_have_the_sizes_of_table_5_which_sum_to_277():
    found = {name: [len(b) for b in vocabulary(name).blocks.values()] for name in CATEGORIES}
    assert found == TABLE_5
    assert sum(map(sum, found.values())) == 277


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_category_has_each_keyword_once_and_every_kind_of_guidance(category):
    words = vocabulary(category)
    assert words.name == category
    assert len({keyword.casefold() for keyword in words.keywords}) == len(words.keywords)
    assert all(keyword == " ".join(keyword.split()) for keyword in words.keywords)
    assert len(words.focus) == 4
    assert all((words.positive, words.negative, words.variant_focus, words.scope_description))
    assert all((words.caption_guidance, words.question_guidance))


@pytest.mark.parametrize(
    ("category", "excluded"),
    [
        ("Cinematic Arts", "DIY tutorials"),
        ("Static Visual Arts", "Software walkthroughs"),
        ("Game Arts", "Gameplay only"),
    ],
)
def test_what_the_paper_excludes_is_excluded(category, excluded):
    assert any(case.startswith(excluded) for case in vocabulary(category).exclusions)


def test_a_category_that_is_none_is_answered_with_those_there_are():
    with pytest.raises(ReelbenchError, match=r"no category 'Culinary Arts'.*Game Arts"):
        vocabulary("Culinary Arts")
