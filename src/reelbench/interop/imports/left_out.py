"""Doubts about columns that were left out, or became tags, and may be part of the items."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

from reelbench.interop.imports import column_names as names
from reelbench.interop.imports.answer_columns import best_letters, rows_with_options, share_read
from reelbench.interop.imports.answers import yes_no
from reelbench.interop.imports.column_names import name_key
from reelbench.interop.imports.mapping import several
from reelbench.interop.imports.profile import Profile
from reelbench.interop.imports.recogniser import Recogniser


def left_out(one: Recogniser) -> None:
    """Say of columns that are no field of an item which field they may be, and how to take them."""
    for found in (_keys, _options, _times):
        for column, doubt in list(found(one)):
            use = one.uses[column]
            one.uses[column] = use if use.doubt else replace(use, doubt=doubt)


def _unused(one: Recogniser) -> Iterator[Profile]:
    """The columns that are nothing, or tags of no common name."""
    for name, use in one.uses.items():
        profile = one.profiles.get(name)
        tag = use.field.startswith("tag ") and name_key(name) not in {*names.TAGS, *names.SPLIT}
        if profile and profile.filled and (tag or use.why == "left out: no field of an item"):
            yield profile


def _keys(one: Recogniser) -> Iterator[tuple[str, str]]:
    """Columns that name options as the key does, and others, or that say whether it is right."""
    key = one.fields.get("answer")
    if "answer" in one.fixed.fields or not isinstance(key, str) or key not in one.profiles:
        return
    rows = list(rows_with_options(one))
    first = best_letters(key, rows)
    for profile in _unused(one):
        name = profile.name
        if names.RIGHT.search(profile.key) and all(map(yes_no, profile.sample)):
            yield (
                name,
                f"{name!r} has yes or no: if it says whether {key!r} is right, then {key!r} is "
                "what someone chose, and no key. --set answer=COLUMN names another.",
            )
            continue
        same_form = profile.is_number <= one.profiles[key].is_number
        if not same_form or len(profile.distinct) < 2 or share_read(name, rows) < 0.9:
            continue
        pairs = [(a, b) for a, b in zip(first, best_letters(name, rows), strict=True) if b]
        if differ := sum(a != b for a, b in pairs):
            taken = name if profile.filled == 1 else f"{name}|{key}"
            yield (
                name,
                f"{name!r} could be the answer too and differs from {key!r} in {differ} of "
                f"{len(rows)} rows: --set answer={shlex.quote(taken)} takes it.",
            )


def _options(one: Recogniser) -> Iterator[tuple[str, str]]:
    """Columns of text among the columns of options or right behind them."""
    taken = [name for name in several(one.fields.get("options", ())) if name in one.columns]
    if "options" in one.fixed.fields or len(taken) < 2:
        return
    places = sorted(map(one.columns.index, taken))
    more = ""
    if one.changes.get("option_order") == "shuffled":  # the key is one of the options
        key = shlex.quote(f"answer={one.fields['answer']}")
        more = f" --set {key} --set answer_as=text --set option_order=shuffled"
    words = max(one.profiles[name].mean_words for name in taken)
    unused = {p.name: p for p in _unused(one)}
    for name in one.columns[places[0] : places[-1] + 2]:
        profile = unused.get(name)
        if profile is None or profile.key in names.KNOWN or not profile.is_text:
            continue
        tag = one.uses[name].field and len(profile.distinct) > 1
        if profile.filled < 0.5 or tag or profile.mean_words > 2 * words + 2:
            continue
        listed = ", ".join(sorted([*taken, name], key=one.columns.index))
        doubt = (
            f"{name!r} may be another option, and is left out: "
            f"--set options={shlex.quote(f'[{listed}]')}{more} takes it."
        )
        again = re.fullmatch(r"(.+) \(\d+\)", name)
        if again and again[1] in one.columns:
            doubt += f" Two columns are called {again[1]!r}: rename one of them in the file."
        yield name, doubt


_BEGINS = {"start", "begin", "in", "from"}
_ENDS = {"end", "stop", "out", "to", "until"}


def _times(one: Recogniser) -> Iterator[tuple[str, str]]:
    """Columns with numbers or times whose names have a word such as start, out or duration."""
    if "span" in one.fields or "end" in one.fields:
        return
    for name, use in one.uses.items():
        profile = one.profiles.get(name)
        if use.field and not use.field.startswith("tag "):
            continue
        if profile is None or profile.share_of_times < 0.9:
            continue
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", profile.name).casefold()
        words = set(re.split(r"[\W\d_]+", spaced))
        if "start" in one.fields:
            if words & {"duration", "dur", "length"}:
                yield (
                    profile.name,
                    f"{profile.name!r} is not added to {one.fields['start']!r}, so that parts of "
                    "videos have no end: --set end=COLUMN names a column with the end.",
                )
            continue
        for field, telling in (("start", _BEGINS), ("end", _ENDS)):
            if words & telling:
                flag = shlex.quote(f"{field}={profile.name}")
                yield (
                    profile.name,
                    f"{profile.name!r} may be the {field} of the part of the video, and is left "
                    f"out: --set {flag} takes it, if its values are seconds or as 1:05; write "
                    "frames, milliseconds and 1.05 so first.",
                )
