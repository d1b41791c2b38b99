"""Finds what the columns of anyone's file are, by their names and by their values."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from reelbench.data.items import freeze
from reelbench.interop.imports import column_names as names
from reelbench.interop.imports.alphabets import in_sequence, longest_run
from reelbench.interop.imports.answer_columns import answer_column, options_by_answer
from reelbench.interop.imports.cells import cell
from reelbench.interop.imports.column_names import name_key, series_part
from reelbench.interop.imports.left_out import left_out
from reelbench.interop.imports.mapping import ImportMapping, several
from reelbench.interop.imports.profile import Profile
from reelbench.interop.imports.recogniser import ColumnUse, Recogniser
from reelbench.interop.imports.values import separator_in, text_of
from reelbench.interop.records import SourceRecord


def recognise(
    records: Sequence[SourceRecord], columns: Sequence[str], fixed: ImportMapping | None = None
) -> tuple[ImportMapping, list[ColumnUse]]:
    """Return the mapping of a file and what each column was taken for.

    ``fixed`` has what a person has said about some fields; the others are found.
    """
    columns = [name for name in columns if name.strip()]  # a mapping cannot name the others
    one = Recogniser(records, list(columns), fixed or ImportMapping())
    for name in columns:  # what stands in objects, such as qa.question
        one.columns += [f"{name}.{member}" for member in one.profile(name).members]
    _take_fixed(one)
    for step in _STEPS:
        step(one)
    mapping = replace(one.fixed, fields=freeze(one.fields), tags=freeze(one.tags), **one.changes)
    return mapping, [one.uses[name] for name in one.columns if name in one.uses]


def _take_fixed(one: Recogniser) -> None:
    """Take what a person has said; a column within a template may be something else as well."""
    one.fields.update(one.fixed.fields)
    one.tags.update(one.fixed.tags)
    for name, source in one.fixed.fields.items():
        for column in several(source):
            if column in one.profiles:
                one.use(column, name, "as you said")


def _predictions(one: Recogniser) -> None:
    """Columns with what a model replied are left out before anything can be taken from them."""
    for profile in one.free():
        if names.PREDICTION.fullmatch(profile.key):
            one.use(profile.name, "", "left out: what a model replied")


def _options(one: Recogniser) -> None:
    if "options" in one.fields:
        return
    wrong = [p.name for p in one.free() if names.WRONG.fullmatch(p.key)]
    right = one.named(names.ANSWER, lambda p: p.is_text or p.is_number)
    series = _series(one)
    group = _unnamed_group(one)
    column = one.named(names.OPTIONS, lambda p: p.share_of_options >= 0.5)
    if wrong and right and not series and not column:
        one.use(right.name, "answer, options", "its name, and others have the wrong options")
        one.take("options", (right.name, *wrong), "its name: a wrong option")
        one.fields["answer"] = right.name
        one.changes |= {"answer_as": "text", "option_order": "shuffled"}
    elif group and name_key(group[0]) in names.OPTIONS:
        one.take("options", group, f"{group[0]!r} and the columns without names behind it")
    elif column:
        one.take("options", column.name, f"its name, and {column.options_in_words}")
    elif series:
        one.take("options", series, f"{len(series)} columns with consecutive names")
        _say_gap(one, series)
    else:
        lists = [p for p in one.free() if p.share_of_lists >= 0.8]
        if lists:
            best = max(lists, key=lambda p: p.share_of_lists)
            one.take("options", best.name, best.options_in_words)
        elif len(group) > 1 and right and (right.share_of_labels >= 0.5 or right.is_number):
            one.take("options", group, "columns without names, and the answers are letters")
    source = one.fields.get("options")
    if isinstance(source, str) and (profile := one.profiles.get(source)):
        texts = [value for value in profile.sample if isinstance(value, str)]
        if texts and not profile.share_of_lists:
            one.changes.setdefault("separator", separator_in(*texts))


def _series(one: Recogniser) -> tuple[str, ...]:
    """The columns a0, a1, a2 or A, B, C or option_1, option_2: the longest such row of them."""
    groups: dict[str, dict[str, str]] = {}
    for profile in one.free():
        part = None if names.WRONG.fullmatch(profile.key) else series_part(profile.name)
        if part and (profile.is_text or profile.is_number):
            groups.setdefault(part[0], {})[part[1].upper()] = profile.name
    found = []
    for prefix, members in groups.items():
        labels = list(members)
        run = longest_run(members)
        letters = bool(run) and not run[0].isdecimal()
        known = prefix in names.OPTION_PREFIXES or (not prefix and letters)
        foreign = prefix in {*names.VIDEO, *names.QUESTION, *names.ID} or len(labels) < 3
        if len(run) >= 2 and (known or not foreign):
            found.append((known, tuple(members[label] for label in run)))
    return max(found, key=lambda each: (each[0], len(each[1])), default=(False, ()))[1]


_UNNAMED = re.compile(r"column \d+")


def _unnamed_group(one: Recogniser) -> tuple[str, ...]:
    """The first columns of text without names, and the column before them that names them all.

    That is what a header cell leaves that was merged over several columns.
    """
    texts = {p.name: p for p in one.free() if p.filled >= 0.5 and p.is_scalar and not p.is_a_list}
    group: list[str] = []
    for before, name in zip(["", *one.columns], one.columns, strict=False):
        if name not in texts or not _UNNAMED.fullmatch(name):
            if len(group) > 1:
                break
            group = []
        elif group:
            group.append(name)
        else:
            head = texts.get(before)
            group = [before, name] if head and head.key not in names.KNOWN else [name]
    return tuple(group) if len(group) > 1 else ()


def _say_gap(one: Recogniser, series: Sequence[str]) -> None:
    """Say of columns such as D and E behind A and B that they are no options, as C is missing."""
    parts = {p.name: series_part(p.name) for p in one.free()}
    prefix, last = series_part(series[-1]) or ("", "")
    near = [*in_sequence("A", 26), *in_sequence("1", 26)]
    after = near[near.index(last.upper()) + 1 :][:4] if last.upper() in near else []
    for name, part in parts.items():
        if part and part[0] == prefix and part[1].upper() in after:
            doubt = (
                f"{name!r} is not taken for an option, since the column before it is missing: "
                f"--set options='[{', '.join([*series, name])}]' takes it."
            )
            one.use(name, "", "left out: its name does not follow those of the options", doubt)


def _question(one: Recogniser) -> None:
    if "question" in one.fields:
        return
    named = one.named(names.QUESTION, lambda p: p.is_text)
    if named:
        why = f"its name, and {named.asking}" if named.share_asking >= 0.5 else "its name"
        one.take("question", named.name, why)
        return
    asking = [p for p in one.free() if p.is_text and p.share_asking >= 0.5]
    if asking:
        best = max(asking, key=lambda p: (p.share_asking, p.mean_words))
        one.take("question", best.name, best.asking)


def _sentences(one: Recogniser) -> None:
    """The question, where nothing else was found for it: the one column of sentences."""
    texts = [p for p in one.free() if p.is_text and p.mean_words >= 4 and not p.share_of_media]
    if "question" not in one.fields and len(texts) == 1:
        one.take("question", texts[0].name, "the only column of sentences")


def _inline_options(one: Recogniser) -> None:
    """Options that stand in the question itself."""
    source = one.fields.get("question")
    if "options" in one.fields or not isinstance(source, str) or source not in one.profiles:
        return
    if one.profiles[source].share_with_options >= 0.5:
        one.fields["options"] = source
        use = one.uses[source]
        one.uses[source] = replace(use, field="question, options", why=f"{use.why}; lists options")


def _video(one: Recogniser) -> None:
    if "video" in one.fields:
        return
    pair = [
        p
        for p in one.free()
        if re.fullmatch(r"(?:video|clip|media|vid)(?:path|name|file)?(?:[12ab])", p.key)
    ]
    if len(pair) == 2:
        one.take("video", tuple(p.name for p in pair), "two columns with consecutive names")
        return
    if couple := _two_media(one):
        one.take("video", tuple(p.name for p in couple), "two columns with media of one question")
        return
    named = [p for p in one.free() if p.key in names.VIDEO and p.may_name_files]
    with_files = [p for p in named if p.share_of_media >= 0.5]
    films = [p for p in named if p.key.startswith(("vid", "clip", "youtube"))]
    if films and all(p.all_end_in("picture") for p in with_files):
        with_files = films  # which a preview does not stand for
    with_files = with_files or named
    if with_files:
        best = min(with_files, key=lambda p: names.VIDEO.index(p.key))
        more = f", and {best.media_in_words}" if best.share_of_media else ""
        one.take("video", best.name, f"its name{more}")
        return
    files = [p for p in one.free() if p.share_of_media >= 0.5]
    if files:
        best = max(files, key=lambda p: p.share_of_media)
        one.take("video", best.name, best.media_in_words)


def _two_media(one: Recogniser) -> list[Profile]:
    """A left and a right video, or a picture and a sound, by names and values; [] without."""
    media = [p for p in one.free() if p.share_of_media >= 0.5]
    sides = {re.sub(r"video|clip|vid|path|file|name", "", p.key): p for p in media}
    for couple in names.SIDES:
        if all(side in sides for side in couple):
            return [sides[side] for side in couple]
    pictures, sounds = ([p for p in media if p.all_end_in(k)] for k in ("picture", "sound"))
    alone = len(pictures) == len(sounds) == 1 and len(media) == 2
    return [*pictures, *sounds] if alone else []


def _more_media(one: Recogniser) -> None:
    """Say of further columns with videos that they are left out, and how to take them."""
    taken = list(several(one.fields.get("video", ())))
    for profile in one.free() if len(taken) == 1 else ():
        if profile.key not in names.VIDEO and profile.all_end_in("video"):
            doubt = (
                f"{profile.name!r} names videos as well, and is left out. If a question is about "
                f"two: --set video='[{taken[0]}, {profile.name}]'."
            )
            one.use(profile.name, "", "left out: more videos", doubt)


def _reference(one: Recogniser) -> None:
    if "reference" not in one.fields and (found := one.named(names.REFERENCE, lambda p: p.is_text)):
        one.take("reference", found.name, "its name")


def _id(one: Recogniser) -> None:
    if "id" in one.fields:
        return
    named = [
        p
        for p in one.free()
        if p.key in names.ID and p.is_scalar and p.filled > 0.5
        if name_key(p.name.rpartition(".")[0]) not in names.ANSWER  # an index of an option
    ]
    named.sort(key=lambda p: (p.key not in names.ID[:6], not p.is_unique, names.ID.index(p.key)))
    if not named:
        return
    best = named[0]
    video = one.fields.get("video")
    if best.is_unique or not isinstance(video, str) or video not in one.profiles:
        one.take(
            "id", best.name, "its name" + (", and each value occurs once" if best.is_unique else "")
        )
        return
    pairs = [(text_of(cell(video, r)), text_of(cell(best.name, r))) for r in one.records]
    counts = len(best.distinct) <= 0.8 * len(one.records)  # else a few came twice by mistake
    if counts and len(set(pairs)) == len(pairs):
        one.use(
            best.name,
            "id",
            "its name; it counts the questions of a video, so that the video stands before it",
        )
        one.fields["id"] = f"{{{video}}}_{{{best.name}}}"
    else:
        one.take("id", best.name, "its name")


def _times(one: Recogniser) -> None:
    if not {"start", "end", "span"} & set(one.fields):
        start = one.named(names.START, lambda p: p.share_of_times >= 0.5)
        end = one.named(names.END, lambda p: p.share_of_times >= 0.5)
        if start or end:
            for name, found in (("start", start), ("end", end)):
                if found:
                    one.take(name, found.name, "its name, and its values are times")
        elif span := one.named(names.SPAN, lambda p: p.share_of_spans >= 0.5):
            one.take("span", span.name, "its name, and its values are spans of time")
        else:
            _span_by_value(one)
    if "evidence" not in one.fields:
        found = one.named(names.EVIDENCE, lambda p: p.share_of_spans >= 0.5)
        if found:
            one.take("evidence", found.name, "its name, and its values are spans of time")
    if "subtitles" not in one.fields:
        found = one.named(names.SUBTITLES, lambda p: p.share_of_subtitles >= 0.5)
        if found:
            one.take("subtitles", found.name, "its name, and its values are files of subtitles")


def _span_by_value(one: Recogniser) -> None:
    """A column of any name is the part of the video, where its values are spans by the clock."""
    found = [
        p
        for p in one.free()
        if p.key not in names.EVIDENCE and p.filled > 0.5 and p.share_of_clock_spans >= 0.9
    ]
    if len(found) == 1:
        why = "its values are spans of time: the part of the video that is shown"
        one.take("span", found[0].name, f"{why} (if they are evidence: --set span= evidence=...)")


_KINDS = {
    "single": "single", "singlechoice": "single", "multiplechoice": "single", "mc": "single",
    "mcq": "single", "singleselect": "single", "multichoice": "single", "singleanswer": "single",
    "multi": "multi", "multiselect": "multi", "multipleselect": "multi", "multianswer": "multi",
    "multipleanswer": "multi", "multipleanswers": "multi", "multiresponse": "multi",
    "checkbox": "multi", "yesno": "yesno", "yesorno": "yesno", "truefalse": "yesno",
    "binary": "yesno", "judgment": "yesno", "judgement": "yesno", "open": "open",
    "openended": "open", "openend": "open", "freeform": "open", "freetext": "open", "oe": "open",
    "shortanswer": "open", "captioning": "open", "generation": "open",
}  # fmt: skip


def _kind(one: Recogniser) -> None:
    """A column whose values say the kind, where rows alone would not: it is a tag as well."""
    if one.fixed.kind or one.fixed.kind_column:
        return
    for profile in one.free():
        kinds = {value: _KINDS.get(name_key(value)) for value in profile.distinct[:20]}
        tells = {"multi", "open"} & set(kinds.values()) and all(kinds.values())
        if profile.key in names.KIND and profile.filled == 1 and tells and "options" in one.fields:
            one.changes |= {"kind_column": profile.name, "kind_values": freeze(kinds)}
            if profile.key != "kind":
                one.tags[_tag_name(profile)] = profile.name
            one.use(profile.name, "kind", "its name, and its values are kinds of questions")
            return


def _tag_name(profile: Profile) -> str:
    name = profile.name.rpartition(".")[2] if "." in profile.name.strip(".") else profile.name
    return re.sub(r"\s+", "_", name.strip())


_NO_TAGS = frozenset({*names.ANSWER, *names.REFERENCE, *names.ID, *names.VIDEO}) - names.TAGS


def _tags(one: Recogniser) -> None:
    for profile in one.free():
        if profile.members or profile.key in _NO_TAGS:
            continue
        if profile.key in names.SPLIT and profile.is_scalar and "split" not in one.tags:
            one.tags["split"] = profile.name
            one.use(profile.name, "tag split", "its name")
        elif profile.key in names.TAGS and profile.may_be_a_tag:
            one.tags[_tag_name(profile)] = profile.name
            one.use(profile.name, f"tag {_tag_name(profile)}", "its name")
        elif not profile.is_number and profile.has_few_values and profile.filled >= 0.5:
            one.tags[_tag_name(profile)] = profile.name
            count = len(profile.distinct)
            why = f"{count} values, each of several rows" if count > 1 else "one value in all rows"
            one.use(profile.name, f"tag {_tag_name(profile)}", why)


def _rest(one: Recogniser) -> None:
    for name in one.fixed.named_columns():
        if name in one.profiles:
            one.use(name, "part of another field, or a tag", "as you said")
    for name, profile in one.profiles.items():
        parent = one.uses.get(name.rpartition(".")[0])
        if name not in one.uses and not profile.members and not (parent and parent.field):
            one.use(
                name, "", "left out: no field of an item" if profile.filled else "left out: empty"
            )


_STEPS: tuple[Callable[[Recogniser], None], ...] = (
    _predictions, _video, _more_media, _question, _options, _sentences, _inline_options,
    options_by_answer, answer_column, _reference, _id, _times, _kind, _tags, _rest,
    left_out,
)  # fmt: skip
