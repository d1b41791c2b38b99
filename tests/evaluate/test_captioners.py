"""A cascade whose captioners wrote what the wrong options are made of is flagged."""

from support import make_item

from reelbench.data.items import freeze
from reelbench.evaluate.captioners import shared_captioners

MODELS = {"picture-captioner": "eye", "sound-captioner": "ear", "fuser": "mind"}
ITEM = make_item(
    1, provenance=freeze({"caption": {"models": MODELS}, "visual-only": {"models": {"x": 3}}})
)


def test_a_shared_captioner_is_named() -> None:
    (sentence,) = shared_captioners([ITEM], {"trio": ["eye", "other"], "duo": ["third"]})
    assert sentence.startswith("trio captions with eye, from whose captions the wrong options")


def test_nothing_is_flagged_without_captions_or_cascades() -> None:
    assert list(shared_captioners([make_item(1)], {"trio": ["eye"]})) == []
    assert list(shared_captioners([ITEM], {"trio": ["mind"], "plain": []})) == []
