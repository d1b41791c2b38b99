"""From shots to items: as many as are asked for, options dealt, pairs told coarse from fine."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.base.progress import counted
from reelbench.base.seeds import rng_for
from reelbench.data.items import LETTERS, Item, Media, freeze
from reelbench.interop.qbench_video.taxonomy import COMPARE, TYPE_OF_KIND
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.media.measure.quality import DAMAGES
from reelbench.recipes.qbench_exact.plan import FAMILIES, WORDS, seed_of
from reelbench.recipes.qbench_exact.shots import MadeQuestion, MadeVideo
from reelbench.recipes.qbench_exact.wants import NOT_THERE

_WRONG = 3  # options beside the key
_TELLING = ("blur", "noise", "compression")  # which no scene has by itself


def ask(shots: Sequence[MadeQuestion], ctx: StageContext, *, items: int) -> list[Item | Rejected]:
    """Make an item of each shot that is kept, or say why it is not."""
    kept = _kept(shots, items)
    ctx.notes.extend(_not_clean(shots))
    if len(kept) < items:
        ctx.notes.append(
            f"There are {len(kept)} items, not {items}: the clips cannot show more of what was "
            "ordered. Give more or longer clips, or a smaller margin."
        )
    chosen = [shot for shot in shots if shot.id in kept]
    takes = (video.take for shot in shots for video in shot.videos)
    wrong = _wrong_options(chosen, seed_of(ctx.seed, takes))
    apart = {shot.id: _apart(shot) for shot in chosen if _compares(shot)}
    median = statistics.median(apart.values()) if apart else 0.0
    spare = Rejected("more than are asked for", "Some are made to spare, should others not do.")
    return [
        _item(shot, wrong.get(shot.id, ()), _context(shot, apart, median))
        if shot.id in kept
        else spare
        for shot in shots
    ]


def _not_clean(shots: Sequence[MadeQuestion]) -> Iterator[str]:
    """Say which clips are damaged before anyone damages them, as far as that can be told."""
    found: dict[str, set[str]] = defaultdict(set)
    for video in (video for shot in shots for video in shot.videos):
        found[video.take.path] |= {
            name for name in _TELLING if DAMAGES[name].level(video.shown.before) > NOT_THERE
        }
    bad = [f"{path} ({', '.join(sorted(names))})" for path, names in sorted(found.items()) if names]
    if bad:
        yield (
            f"{counted(len(bad), 'clip does', 'clips do')} not look clean: {', '.join(bad[:10])}"
            f"{' and others' if len(bad) > 10 else ''}. Their own damage is reckoned with, but "
            "clean clips make better questions."
        )


def _kept(shots: Sequence[MadeQuestion], items: int) -> set[str]:
    """Choose so many that families are in their shares, and the keys of each in equal numbers."""
    decks = {
        family: _placed([shot for shot in shots if shot.order.family == family])
        for family in FAMILIES
    }
    total = sum(family["share"] for family in FAMILIES.values())
    counts: Counter[str] = Counter()
    answers: Counter[Any] = Counter()  # yes and no, over all families
    kept: set[str] = set()
    while len(kept) < items and any(decks.values()):
        left = [family for family in FAMILIES if decks[family]]
        # The family that is furthest behind its share, and in it the key that is.
        share = {f: FAMILIES[f]["share"] / total * (len(kept) + 1) - counts[f] for f in left}
        family = max(left, key=lambda f: (share[f], f))
        closed = FAMILIES[family]["kind"] == "yesno"
        place, shot = min(
            decks[family],
            key=lambda card: (card[0], answers[card[1].order.goal] if closed else 0, card[1].id),
        )
        decks[family].remove((place, shot))
        kept.add(shot.id)
        counts[family] += 1
        answers[shot.order.goal] += closed
    return kept


def _placed(shots: Sequence[MadeQuestion]) -> list[tuple[int, MadeQuestion]]:
    """Number the shots of each key, so that taking them by number takes all keys alike."""
    groups: dict[Any, list[MadeQuestion]] = defaultdict(list)
    for shot in sorted(shots, key=lambda shot: shot.id):
        groups[_key(shot)].append(shot)
    return [card for group in groups.values() for card in enumerate(group)]


def _key(shot: MadeQuestion) -> Any:
    order = shot.order
    return (order.goal, order.turned) if FAMILIES[order.family]["keys"] > 1 else order.damage


def _wrong_options(shots: Sequence[MadeQuestion], seed: int) -> dict[str, list[str]]:
    """Draw wrong options where the key is a damage, so that all are offered about equally often.

    What seldom fits is drawn the more readily where it does. To deal them out evenly would tell who
    has seen half of the answers what must come in the other half.
    """
    found: dict[str, list[str]] = {}
    for family in ("what", "shared"):
        asked = [shot for shot in shots if shot.order.family == family]
        fitting = Counter(name for shot in asked for name in shot.fits)
        for shot in asked:
            rng = rng_for(seed, "wrong options", shot.id)
            # Weighted draws without replacement (Efraimidis and Spirakis, 2006).
            drawn = {name: rng.random() ** fitting[name] for name in sorted(shot.fits)}
            found[shot.id] = sorted(drawn, key=lambda name: -drawn[name])[:_WRONG]
    return found


def _compares(shot: MadeQuestion) -> bool:
    return bool(FAMILIES[shot.order.family]["context"] == "Compare")


def _apart(shot: MadeQuestion) -> float:
    """By how much the two videos differ in the quality that is asked about."""
    first, second = (video.shown.level for video in shot.videos)
    return round(abs(first - second), 4)


def _context(shot: MadeQuestion, apart: Mapping[str, float], median: float) -> str:
    """Coarse where a pair is further apart than the median (Algorithm 1)."""
    fine, coarse = COMPARE
    if shot.id in apart:
        return coarse if apart[shot.id] > median else fine
    return str(FAMILIES[shot.order.family]["context"])


def _item(shot: MadeQuestion, wrong: Sequence[str], context: str) -> Item:
    order, family = shot.order, FAMILIES[shot.order.family]
    words = {**WORDS[order.damage], "corner": shot.corner}
    text = family["opposite"] if order.turned else family["question"]
    options, key = _options(shot, wrong)
    begin = shot.videos[0].wanted.begin * shot.seconds
    return Item(
        id=shot.id,
        kind=family["kind"],
        media=tuple(Media(f"media/{video.name}") for video in shot.videos),
        question=text.format(**words),
        options=options,
        answer=(LETTERS[key],) if options else (),
        reference=None if options else _reference(shot),
        evidence=((round(begin, 3), shot.seconds),) if begin else (),
        tags=freeze(
            {
                "question_type": TYPE_OF_KIND[family["kind"]],
                "concern": [words["concern"]],
                "context": context,
                "distortion": order.damage,
                "family": order.family,
            }
        ),
        provenance=freeze({"exact": _facts(shot)}),
    )


def _options(shot: MadeQuestion, wrong: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The options of a closed question, and the place of the right one."""
    order, family = shot.order, FAMILIES[shot.order.family]
    match family["kind"]:
        case "open":
            return (), 0
        case "yesno":
            return ("Yes", "No"), 1 - order.goal
    if "options" in family:
        return tuple(family["options"]), order.goal
    return tuple(WORDS[name]["noun"].capitalize() for name in (order.damage, *wrong)), 0


def _reference(shot: MadeQuestion) -> str:
    words = WORDS[shot.order.damage]
    if shot.order.family == "better":
        better, worse = ("first", "second") if shot.order.goal == 0 else ("second", "first")
        return (
            f"The {better} video is of better quality. The {worse} one is {words['more']}; "
            f"it suffers from {words['noun']}."
        )
    when = "only in the second half of" if shot.videos[0].wanted.begin else "throughout"
    return f"The most apparent distortion is {words['noun']}. It is seen {when} the video."


def _facts(shot: MadeQuestion) -> dict[str, Any]:
    """All that makes the key a fact."""
    return {
        "damage": shot.order.damage,
        "goal": shot.order.goal,
        "turned": shot.order.turned,
        "margin": shot.margin,
        "videos": [_fact(video) for video in shot.videos],
    }


def _fact(video: MadeVideo) -> dict[str, Any]:
    take, wanted, shown = video.take, video.wanted, video.shown
    where = {"begin": wanted.begin, "corner": wanted.corner, "levels": shown.levels}
    return {
        "source": take.path,
        "sha256": take.sha256,
        "from": take.start,
        "to": take.end,
        "damage": wanted.damage,
        "kind": wanted.kind,
        "severity": shown.severity,
        **{name: value for name, value in where.items() if value},
        "extent": shown.extent,
        "level": shown.level,
        "before": {name: round(value, 4) for name, value in shown.before.items()},
        "after": {name: round(value, 4) for name, value in shown.after.items()},
        "written": video.sha256,
    }
