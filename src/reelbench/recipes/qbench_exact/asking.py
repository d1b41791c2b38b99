"""From made questions to items: as many as are asked for, with options, pairs fine or coarse."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.base.progress import counted
from reelbench.base.seeds import rng_for
from reelbench.data.items import LETTERS, SOURCE_CLIPS, Item, Media, freeze
from reelbench.interop.qbench_video.taxonomy import COMPARE, TYPE_OF_KIND
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.media.measure.quality import DAMAGES, NOT_THERE
from reelbench.media.measure.visibility import band
from reelbench.recipes.qbench_exact.degraded import SeenLayer
from reelbench.recipes.qbench_exact.layered import COPIES, evidence_of, options_of
from reelbench.recipes.qbench_exact.plan import FAMILIES, WORDS, damage_is_key, seed_of
from reelbench.recipes.qbench_exact.turns import uneven_clips
from reelbench.recipes.qbench_exact.videos import MadeQuestion, MadeVideo

MARGIN = "margin"  # the tag of items that have several
VISIBILITY = "visibility"  # the tag of what is as visible as was wanted
_WRONG = 3  # options beside the key
_EVEN = 0.8  # of the margin with the most questions: less of another is said
_TELLING = ("blur", "noise", "compression")  # which no scene has by itself


def ask(
    questions: Sequence[MadeQuestion], ctx: StageContext, *, items: int
) -> list[Item | Rejected]:
    """Return an item for each question that is kept, the others rejected."""
    kept = _kept(questions, items)
    ctx.notes.extend(_not_clean(questions))
    chosen = [question for question in questions if question.id in kept]
    ctx.notes.extend(_spread(chosen))
    ctx.notes.extend(_smaller(chosen))
    ctx.notes.extend(_uneven_margins(chosen))
    if len(kept) < items:
        ctx.notes.append(
            f"Only {len(kept)} of {items} items were made: the clips cannot show more of the "
            "planned damages (rejects.jsonl has the reasons). Add more or longer clips to "
            "--source, or set a smaller --margin."
        )
    segments = (video.segment for question in questions for video in question.videos)
    wrong = _wrong_options(chosen, seed_of(ctx.seed, segments))
    contexts = _contexts(chosen)
    margins = {question.order.margin for question in questions}
    spare = Rejected(
        "more than are asked for", "More questions are made than are asked for, as some may fail."
    )
    return [
        _item(
            question,
            wrong.get(question.id, ()),
            contexts[question.id],
            {MARGIN: f"{question.order.margin:g}"} if len(margins) > 1 else {},
        )
        if question.id in kept
        else spare
        for question in questions
    ]


def _not_clean(questions: Sequence[MadeQuestion]) -> Iterator[str]:
    """Yield a warning about clips that are not clean, as far as that can be measured."""
    found: dict[str, set[str]] = defaultdict(set)
    # The seams of four copies lie on the grid of blocks, as compression does.
    whole = [question for question in questions if question.order.family != COPIES]
    for video in (video for question in whole for video in question.videos):
        found[video.segment.path] |= {
            name for name in _TELLING if DAMAGES[name].level(video.shown.before) > NOT_THERE
        }
    bad = [f"{path} ({', '.join(sorted(names))})" for path, names in sorted(found.items()) if names]
    if bad:
        yield (
            f"{counted(len(bad), 'clip does', 'clips do')} not look clean: {', '.join(bad[:10])}"
            f"{' and others' if len(bad) > 10 else ''}. Their own damage is taken into account, "
            "but clean clips make better questions."
        )


def _spread(questions: Sequence[MadeQuestion]) -> Iterator[str]:
    """Yield a warning if the clips of questions were not used alike."""
    planned = (s.source for each in questions for tried in each.order.segments for s in tried)
    used = (video.segment.source for question in questions for video in question.videos)
    yield from uneven_clips(used, planned)


def _smaller(questions: Sequence[MadeQuestion]) -> Iterator[str]:
    """Yield a note if videos have fewer pixels than their clips."""
    videos = [video.shown for question in questions for video in question.videos]
    smaller = [max(shown.size) for shown in videos if shown.smaller]
    if smaller:
        yield (
            f"{len(smaller)} of {counted(len(videos), 'video')} have fewer pixels than their "
            f"clips, {max(smaller)} at most on the longer side: --longest 0 keeps the clips' size."
        )


def _uneven_margins(questions: Sequence[MadeQuestion]) -> Iterator[str]:
    """Yield a warning if some margins have much fewer questions than others."""
    counts = Counter(question.order.margin for question in questions)
    if counts and min(counts.values()) < _EVEN * max(counts.values()):
        found = ", ".join(f"{count} at {margin:g}" for margin, count in sorted(counts.items()))
        yield f"Margins have unequal numbers of items ({found}), as the clips cannot show all."


def _kept(questions: Sequence[MadeQuestion], items: int) -> set[str]:
    """Choose so many that families are in their shares, and the keys of each in equal numbers.

    So are the margins of each, as far as that goes.
    """
    remaining = {
        family: [question for question in questions if question.order.family == family]
        for family in FAMILIES
    }
    total = sum(family["share"] for family in FAMILIES.values())
    counts: Counter[Any] = Counter()
    kept: set[str] = set()
    while len(kept) < items and any(remaining.values()):
        left = [family for family in FAMILIES if remaining[family]]
        # The family that is furthest behind its share, and in it what is there least often.
        share = {f: FAMILIES[f]["share"] / total * (len(kept) + 1) - counts[f] for f in left}
        family = max(left, key=lambda f: (share[f], f))
        question = min(
            remaining[family], key=lambda each: (*(counts[name] for name in _evened(each)), each.id)
        )
        remaining[family].remove(question)
        kept.add(question.id)
        counts.update([family, *_evened(question)])
    return kept


def _evened(question: MadeQuestion) -> tuple[Any, ...]:
    """What of a question is to come as often as of others of its family, the first before all."""
    family, goal, margin = question.order.family, question.order.goal, question.order.margin
    # Yes and no over all families.
    answer = goal if FAMILIES[family]["kind"] == "yesno" else None
    return (_key(question), ("answer", answer), (family, margin), margin, (answer, margin))


def _key(question: MadeQuestion) -> Any:
    order = question.order
    damage = (
        order.damage if damage_is_key(order.family) or FAMILIES[order.family]["keys"] == 1 else ""
    )
    return order.family, order.goal, order.turned, damage


def _wrong_options(questions: Sequence[MadeQuestion], seed: int) -> dict[str, list[str]]:
    """Draw wrong options where the key is a damage, so that all are offered about equally often.

    What seldom fits is drawn with a higher weight where it does. Exactly equal counts would let
    anyone who knows half of the answers infer the other half.
    """
    found: dict[str, list[str]] = {}
    for family in ("what", "shared"):
        asked = [question for question in questions if question.order.family == family]
        fitting = Counter(name for question in asked for name in question.fits)
        for question in asked:
            rng = rng_for(seed, "wrong options", question.id)
            # Weighted draws without replacement (Efraimidis and Spirakis, 2006).
            drawn = {name: rng.random() ** fitting[name] for name in sorted(question.fits)}
            found[question.id] = sorted(drawn, key=lambda name: -drawn[name])[:_WRONG]
    return found


def _compares(question: MadeQuestion) -> bool:
    return bool(FAMILIES[question.order.family]["context"] == "Compare")


def _apart(question: MadeQuestion) -> float:
    """By how much the two videos differ in the quality that is asked about."""
    first, second = (video.shown.level for video in question.videos)
    return round(abs(first - second), 4)


def _contexts(questions: Sequence[MadeQuestion]) -> dict[str, str]:
    """Coarse where a pair is further apart than the median (Algorithm 1) of those of its margin."""
    fine, coarse = COMPARE
    contexts = {each.id: str(FAMILIES[each.order.family]["context"]) for each in questions}
    pairs: dict[float, dict[str, float]] = defaultdict(dict)
    for question in questions:
        if _compares(question):
            pairs[question.order.margin][question.id] = _apart(question)
    for apart in pairs.values():
        median = statistics.median(apart.values())
        contexts |= {name: coarse if by > median else fine for name, by in apart.items()}
    return contexts


def _item(
    question: MadeQuestion, wrong: Sequence[str], context: str, tags: Mapping[str, str]
) -> Item:
    order, family = question.order, FAMILIES[question.order.family]
    words = {**WORDS[order.damage], "corner": question.corner}
    text = family["opposite"] if order.turned else family["question"]
    options, key = _options(question, wrong)
    first = question.videos[0]
    layers = [layer.target for layer in first.shown.layers]
    return Item(
        id=question.id,
        kind=family["kind"],
        media=tuple(Media(f"media/{video.name}") for video in question.videos),
        question=text.format(**words),
        options=options,
        answer=(LETTERS[key],) if options else (),
        reference=None if options else _reference(question),
        evidence=evidence_of(order, first.target, layers, question.seconds),
        tags=freeze(
            {
                "question_type": TYPE_OF_KIND[family["kind"]],
                "concern": [words["concern"]],
                "context": context,
                "distortion": order.damage,
                "family": order.family,
                **_visibility(first),
                **tags,
            }
        ),
        provenance=freeze({"exact": _facts(question)}),
        extra=freeze({SOURCE_CLIPS: sorted({v.segment.source for v in question.videos})}),
    )


def _visibility(video: MadeVideo) -> dict[str, str]:
    """How visible the damage is, where that was wanted: a tag, which the margin alone decides."""
    found = [layer.jnd for layer in video.shown.layers if layer.target.jnds]
    return {VISIBILITY: band(max(found))} if found else {}


def _options(question: MadeQuestion, wrong: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The options of a closed question, and the place of the right one."""
    order, family = question.order, FAMILIES[question.order.family]
    match family["kind"]:
        case "open":
            return (), 0
        case "yesno":
            return ("Yes", "No"), 1 - order.goal
    if "options" in family:
        return tuple(family["options"]), order.goal
    if layers := question.videos[0].shown.layers:
        return options_of(order, [layer.target for layer in layers], question.fits), order.goal
    return tuple(WORDS[name]["noun"].capitalize() for name in (order.damage, *wrong)), 0


def _reference(question: MadeQuestion) -> str:
    words = WORDS[question.order.damage]
    if question.order.family == "better":
        better, worse = ("first", "second") if question.order.goal == 0 else ("second", "first")
        return (
            f"The {better} video is of better quality. The {worse} one is {words['more']}; "
            f"it suffers from {words['noun']}."
        )
    when = "only in the second half of" if question.videos[0].target.begin else "throughout"
    return f"The most apparent distortion is {words['noun']}. It is seen {when} the video."


def _facts(question: MadeQuestion) -> dict[str, Any]:
    """Return the measurements that make the key a fact."""
    return {
        "damage": question.order.damage,
        "goal": question.order.goal,
        "turned": question.order.turned,
        "margin": question.order.margin,
        "videos": [_fact(video) for video in question.videos],
    }


def _fact(video: MadeVideo) -> dict[str, Any]:
    segment, target, shown = video.segment, video.target, video.shown
    where = {"begin": target.begin, "corner": target.corner, "levels": shown.levels}
    return {
        "source": segment.path,
        "sha256": segment.sha256,
        "from": segment.start,
        "to": segment.end,
        "damage": target.damage,
        "kind": target.kind,
        "severity": shown.severity,
        **{name: value for name, value in where.items() if value},
        **({"layers": [_layer(layer) for layer in shown.layers]} if shown.layers else {}),
        "extent": shown.extent,
        "level": shown.level,
        "before": {name: round(value, 4) for name, value in shown.before.items()},
        "after": {name: round(value, 4) for name, value in shown.after.items()},
        "size": list(shown.size),
        "written": video.sha256,
    }


def _layer(layer: SeenLayer) -> dict[str, Any]:
    target = layer.target
    return {
        "damage": target.damage,
        "kind": target.kind,
        "severity": layer.severity,
        "begin": round(target.begin, 4),
        "end": round(target.end, 4),
        **({"corner": target.corner} if target.corner else {}),
        **({"region": [round(e, 4) for e in target.region]} if target.region else {}),
        **({"jnd": layer.jnd} if target.jnds else {}),
        "extent": layer.extent,
        "level": layer.level,
        **({"levels": layer.levels} if layer.levels else {}),
    }
