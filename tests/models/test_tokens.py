"""Rules of thumb for tokens, by which requests are forecast and budgets are kept."""

import pytest

from reelbench.models.tokens import text_tokens


@pytest.mark.parametrize(("text", "tokens"), [
    ("four", 1), ("a" * 400, 100),
    ("字" * 40, 40),  # three bytes each
    ("я" * 60, 40),  # two
])  # fmt: skip
def test_english_by_characters_and_other_scripts_by_bytes(text: str, tokens: int) -> None:
    assert text_tokens(text) == pytest.approx(tokens, abs=1)
