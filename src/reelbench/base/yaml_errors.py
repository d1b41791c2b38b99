"""Explains to its author why a text is not valid YAML."""

import re

import yaml

_ADVICE = {
    r"'\\t'": "YAML: indent with spaces, not with tabs",
    "mapping values are not allowed": "YAML: put a text with a colon in it into quotes",
    "could not find expected ':'": "YAML: a colon and a space after each name",
    r"expected ',' or": "YAML: close every bracket and brace",
}


def yaml_fault(error: yaml.YAMLError, text: str) -> tuple[str, str, int]:
    """Return what was found, what was expected and on which line; 0 where none is known."""
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or " ".join(str(error).split())
    reason = reason.removeprefix("found ")
    expected = next((advice for sign, advice in _ADVICE.items() if re.search(sign, reason)), "YAML")
    if mark is None:
        return reason, expected, 0
    if " twice" not in reason:  # which says all there is to see
        lines = text.splitlines()
        line = " ".join(lines[mark.line].split()) if mark.line < len(lines) else ""
        place = (
            repr(line if len(line) <= 60 else line[:59] + "…") if line else "the end of the file"
        )
        reason = f"{place} ({reason})"
    return reason, expected, mark.line + 1
