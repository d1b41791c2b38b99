"""Questions whose answers are read from the truth of a scene.

One function per question of ``questions.yaml``. It returns a draft, or None where the scene
offers no such question. ``yes`` says which answer a yes/no question should have, so that the
recipe can balance them.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from reelbench.data.items import Span
from reelbench.world.scene import COLOURS, SHAPES, WORDS, Event, Scene, SoundKind

BIN_SECONDS = 2
_CLEAR_OF_EDGE = 0.4  # seconds between an event and the edge of the time span that is its answer


@dataclass(frozen=True, slots=True)
class SceneQuestion:
    """A question about a scene: right and wrong options, evidence, and the slots of its text.

    Where options are numbers or times, ``ladder`` has all values in order, the right one among
    them; the recipe then picks wrong ones, so that the key's rank gives nothing away.
    """

    right: tuple[str, ...]
    wrong: tuple[str, ...]
    evidence: tuple[Span, ...]
    slots: dict[str, str]
    ladder: tuple[str, ...] = ()


Builder = Callable[[Scene, random.Random, bool], SceneQuestion | None]


def _draft(
    scene: Scene,
    right: Sequence[str],
    wrong: Sequence[str],
    moments: Sequence[float] = (),
    **slots: str,
) -> SceneQuestion:
    """Make a draft; its evidence is around the moments, or the whole video without any."""
    spans = [(max(0.0, t - 0.5), min(float(scene.duration), t + 1.0)) for t in sorted(moments)]
    evidence = tuple((round(a, 2), round(b, 2)) for a, b in spans)
    return SceneQuestion(
        tuple(right), tuple(wrong), evidence or ((0.0, float(scene.duration)),), slots
    )


def _yes_no(scene: Scene, yes: bool, moments: Sequence[float] = (), **slots: str) -> SceneQuestion:
    right, wrong = ("Yes", "No") if yes else ("No", "Yes")
    return _draft(scene, [right], [wrong], moments, **slots)


def describe(event: Event) -> str:
    """Say what happens in an event, as a clause."""
    names = [f"the {shape}" for shape in event.actors]
    match event.kind:
        case "appear":
            return f"{names[0]} appears"
        case "vanish":
            return f"{names[0]} vanishes"
        case "recolour":
            return f"{names[0]} turns {event.detail}"
        case "resize":
            return f"{names[0]} becomes {event.detail}"
        case "meet":
            return f"{names[0]} and {names[1]} touch"
        case _:
            return "the background changes"


def _unique_sights(scene: Scene) -> list[Event]:
    """The seen events that a clause names without doubt: a second cut would make it two."""
    sights = scene.of_kind("appear", "vanish", "recolour", "resize", "meet", "cut")
    clauses = [describe(event) for event in sights]
    return [event for event in sights if clauses.count(describe(event)) == 1]


def _never(scene: Scene, rng: random.Random) -> list[str]:
    """Clauses of things that do not happen, of the kinds that do, to shapes that are there."""
    happened = {describe(event) for event in scene.events}
    made_up = []
    for actor in scene.actors:
        kinds = [("appear", ""), ("vanish", ""), ("resize", "larger"), ("resize", "smaller")]
        kinds += [("recolour", colour) for colour in COLOURS]
        made_up += [describe(Event(0, kind, (actor.shape,), detail)) for kind, detail in kinds]  # type: ignore[arg-type]
    fresh = [clause for clause in made_up if clause not in happened]
    # One in two would say "turns": keep the mix of the true ones.
    turns = [clause for clause in fresh if " turns " in clause]
    others = [clause for clause in fresh if " turns " not in clause]
    rng.shuffle(turns)
    mixed = others + turns[: len(others) // 2]
    rng.shuffle(mixed)
    return mixed


def _counted(scene: Scene, number: int, moments: Sequence[float] = ()) -> SceneQuestion:
    draft = _draft(scene, [str(number)], [], moments)
    return replace(draft, ladder=tuple(map(str, range(number + 5))))


def count_shapes(scene: Scene, _: random.Random, __: bool) -> SceneQuestion:
    """Every actor is a different shape, and each is seen at some time."""
    return _counted(scene, len(scene.actors))


def count_cuts(scene: Scene, _: random.Random, __: bool) -> SceneQuestion:
    """A cut is a change of background."""
    cuts = [event.time for event in scene.of_kind("cut")]
    return _counted(scene, len(cuts), cuts)


def count_clicks(scene: Scene, _: random.Random, __: bool) -> SceneQuestion:
    """Clicks may come with something seen, or alone."""
    clicks = [event.time for event in scene.events if event.sound == "click"]
    return _counted(scene, len(clicks), clicks)


def last_to_come(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion:
    """The last of all that appear; the others were there before, or came earlier."""
    last = scene.of_kind("appear")[-1]
    others = [actor.shape for actor in scene.actors if actor.shape not in last.actors]
    return _draft(scene, last.actors, rng.sample(others, 3), [last.time])


def order_of_coming(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion | None:
    """One that is there from the start, and two that appear later."""
    comers = [event.actors[0] for event in scene.of_kind("appear")]
    if len(comers) < 2:
        return None
    there = rng.choice([actor.shape for actor in scene.actors if actor.shape not in comers])
    true = (there, *sorted(rng.sample(comers, 2), key=comers.index))
    orders = [", then ".join(order) for order in permutations(true)]
    moments = [scene.actor(shape).appears for shape in true]
    return _draft(scene, orders[:1], orders[1:], moments)


def first_to_happen(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion | None:
    """The earliest of four things that all happen."""
    events = _unique_sights(scene)
    if len(events) < 4:
        return None
    first, *later = sorted(rng.sample(events, 4), key=lambda event: event.time)
    return _draft(scene, [describe(first)], [describe(e) for e in later], [first.time])


def before(scene: Scene, rng: random.Random, yes: bool) -> SceneQuestion | None:
    """Two things that happen, named in their order or against it."""
    events = _unique_sights(scene)
    if len(events) < 2:
        return None
    pair = sorted(rng.sample(events, 2), key=lambda event: event.time, reverse=not yes)
    first, second = map(describe, pair)
    return _yes_no(scene, yes, [event.time for event in pair], first=first, second=second)


def when(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion | None:
    """Ask for the span of a seen event."""
    events = [event for event in _unique_sights(scene) if _clear_of_edges(event.time)]
    if not events:
        return None
    event = rng.choice(events)
    return _timed(scene, event.time, event=describe(event))


def when_silent(scene: Scene, _: random.Random, __: bool) -> SceneQuestion | None:
    """Ask for the span in which the hum stops."""
    hush = next((event.time for event in scene.events if event.hush), None)
    return _timed(scene, hush) if hush is not None and _clear_of_edges(hush) else None


def _clear_of_edges(time: float) -> bool:
    inside = time % BIN_SECONDS
    return _CLEAR_OF_EDGE - 1e-9 <= inside <= BIN_SECONDS - _CLEAR_OF_EDGE + 1e-9


def _timed(scene: Scene, time: float, **slots: str) -> SceneQuestion:
    starts = range(0, scene.duration - BIN_SECONDS + 1, BIN_SECONDS)
    # Of equal length whatever the time, so that no span looks longer than another.
    spans = tuple(f"from {start:02d} to {start + BIN_SECONDS:02d} seconds" for start in starts)
    right = spans[int(time // BIN_SECONDS)]
    return replace(_draft(scene, [right], [], [time], **slots), ladder=spans)


def colour_at_end(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion:
    """The colour of one that is still there, which may have changed."""
    end = float(scene.duration)
    actor = rng.choice([actor for actor in scene.actors if actor.vanishes == end])
    colour = actor.colour(end)
    return _draft(scene, [colour], _other_colours([colour], rng), [end - 0.6], shape=actor.shape)


def colour_ever(scene: Scene, rng: random.Random, yes: bool) -> SceneQuestion:
    """A colour that it has at some time, or never."""
    actor = rng.choice(scene.actors)
    worn = [colour for _, colour in actor.colours]
    colour = rng.choice(worn if yes else _other_colours(worn, rng))
    moments = [actor.appears, *[time for time, _ in actor.colours[1:]]]
    return _yes_no(scene, yes, moments, shape=actor.shape, colour=colour)


def turns_to(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion | None:
    """The new colour of one that changes."""
    changes = scene.of_kind("recolour")
    if not changes:
        return None
    change = rng.choice(changes)
    wrong = _other_colours([change.detail], rng)
    return _draft(scene, [change.detail], wrong, [change.time], shape=change.actors[0])


def _other_colours(than: Sequence[str], rng: random.Random) -> list[str]:
    return rng.sample([colour for colour in COLOURS if colour not in than], 5)


def which_recolours(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion | None:
    """The only one that changes its colour."""
    changes = scene.of_kind("recolour")
    if len(changes) != 1:
        return None
    others = [actor.shape for actor in scene.actors if actor.shape not in changes[0].actors]
    return _draft(scene, changes[0].actors, rng.sample(others, 3), [changes[0].time])


def changes_seen(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion | None:
    """Some things that happen among some that do not."""
    events = [event for event in _unique_sights(scene) if event.kind not in ("cut", "meet")]
    if len(events) < 2:
        return None
    happened = rng.sample(events, rng.randint(2, min(4, len(events))))
    never = _never(scene, rng)[: rng.randint(3, 4)]
    return _draft(scene, [describe(e) for e in happened], never, [e.time for e in happened])


def shapes_seen(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion:
    """Some shapes that are there among all that are not."""
    seen = [actor.shape for actor in scene.actors]
    unseen = [shape for shape in SHAPES if shape not in seen]
    return _draft(scene, rng.sample(seen, rng.randint(2, 4)), unseen)


def touch(scene: Scene, rng: random.Random, yes: bool) -> SceneQuestion | None:
    """Two that meet, or two that are there together and never meet."""
    meets = scene.of_kind("meet")
    if yes:
        if not meets:
            return None
        meet = rng.choice(meets)
        first, second = rng.sample(meet.actors, 2)
        return _yes_no(scene, True, [meet.time], first=first, second=second)
    apart = [
        (a.shape, b.shape)
        for a, b in permutations(scene.actors, 2)
        if not any({a.shape, b.shape} == set(meet.actors) for meet in meets)
        and max(a.appears, b.appears) < min(a.vanishes, b.vanishes)
    ]
    first, second = rng.choice(apart)
    return _yes_no(scene, False, first=first, second=second)


def at_the_hush(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion | None:
    """What is seen at the moment when the hum stops."""
    events = _unique_sights(scene)
    hushed = [event for event in events if event.hush]
    others = [describe(event) for event in events if not event.hush]
    if not hushed or len(others) < 3:
        return None
    wrong = rng.sample(others, min(len(others), 4))
    return _draft(scene, [describe(hushed[0])], wrong, [hushed[0].time])


def word_shown(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion | None:
    """The only word on the screen."""
    words = scene.of_kind("word")
    if len(words) != 1:
        return None
    wrong = rng.sample([word for word in WORDS if word != words[0].detail], 5)
    return _draft(scene, [words[0].detail], wrong, [words[0].time])


def at_the_sound(scene: Scene, rng: random.Random, _: bool) -> SceneQuestion | None:
    """What is seen at the moment of the only beep, or the only buzz."""
    events = _unique_sights(scene)
    sounding = [event for event in events if event.sound in ("beep", "buzz")]
    silent = [describe(event) for event in events if event not in sounding]
    if not sounding or len(silent) < 3:
        return None
    event = rng.choice(sounding)
    wrong = rng.sample(silent, min(len(silent), 4))
    return _draft(scene, [describe(event)], wrong, [event.time], sound=str(event.sound))


def sound_at_event(scene: Scene, rng: random.Random, yes: bool) -> SceneQuestion | None:
    """A sound at the moment of something seen, or none."""
    events = [event for event in _unique_sights(scene) if (event.sound is not None) == yes]
    if not events:
        return None
    event = rng.choice(events)
    sounds: list[SoundKind] = [event.sound] if event.sound else ["click", "beep", "buzz"]
    sound = rng.choice(sounds)
    return _yes_no(scene, yes, [event.time], sound=sound, event=describe(event))


def with_a_click(scene: Scene, _: random.Random, __: bool) -> SceneQuestion | None:
    """The seen events that come with a click, among others that do not."""
    events = _unique_sights(scene)
    clicked = [event for event in events if event.sound == "click"]
    others = [describe(event) for event in events if event.sound != "click"]
    if len(clicked) < 2 or len(others) < 2:
        return None
    clauses = [describe(event) for event in clicked]
    return _draft(scene, clauses[:3], others[:4], [event.time for event in clicked[:3]])


BUILDERS: dict[str, Builder] = {
    builder.__name__: builder
    for builder in (
        count_shapes, count_cuts, count_clicks,
        last_to_come, order_of_coming, first_to_happen, before,
        when, when_silent,
        colour_at_end, colour_ever,
        turns_to, which_recolours, changes_seen,
        shapes_seen, touch,
        word_shown,
        at_the_sound, at_the_hush, sound_at_event, with_a_click,
    )
}  # fmt: skip
