"""What the videos of each family of questions must show, and whether they do.

The margin is the least distance, in what is measured, between a key and what would make another
option right. The smaller it is, the harder the questions. Levels and extents are those of
``reelbench.media.measure.quality``: a level is how bad a video looks, an extent how much of that is
due to the added damage.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reelbench.base.seeds import rng_for
from reelbench.media.measure.quality import (
    CORNERS,
    DAMAGES,
    MUCH,
    NOT_THERE,
    PRESENT,
    SEVERE,
    SLIGHTLY,
)
from reelbench.recipes.qbench_exact.degraded import WrittenVideo
from reelbench.recipes.qbench_exact.footage import DamageTarget, UnfitError
from reelbench.recipes.qbench_exact.plan import QuestionPlan

MARGINS = (0.02, 0.2)  # beyond the second, little can be told so far apart
# How far what is measured may go beyond the least that is wanted.
_WIDE, _NARROW = 0.15, 0.05
# What makes a picture look like something else too, whatever is measured of that.
_ALIKE = (
    {"blur", "compression"},
    {"noise", "compression"},
    {"shake", "stutter"},
    {"over-exposure", "under-exposure", "low contrast"},
    {"colour cast", "oversaturation", "low contrast"},
    {"flicker", "over-exposure", "under-exposure"},
)
# Of these, less may be too little.
_TWO_SIDED = ("over-exposure", "under-exposure", "oversaturation")
_WRONG = 3  # options beside the key
COMPARED = ("which", "compare", "more", "better")


def are_alike(one: str, other: str) -> bool:
    """Whether two damages may be taken for each other."""
    return any({one, other} <= group for group in _ALIKE)


@dataclass(frozen=True, slots=True)
class QuestionTargets:
    """A planned question, with its random choices."""

    order: QuestionPlan
    seed: int

    @property
    def margin(self) -> float:
        """The least distance between right and wrong."""
        return self.order.margin

    @property
    def there(self) -> float:
        """The least level of what is there."""
        return PRESENT + self.margin / 2

    @property
    def corner(self) -> str:
        """The corner that is damaged."""
        if self.order.family == "where":
            return list(CORNERS)[self.order.goal]
        return rng_for(self.seed, "corner").choice(list(CORNERS))

    @property
    def named_corner(self) -> str:
        """The corner that the question names: the damaged one, or another."""
        if self.order.family != "place":
            return ""
        if self._says_yes:
            return self.corner
        others = [corner for corner in CORNERS if corner != self.corner]
        return rng_for(self.seed, "named corner").choice(others)

    @property
    def _says_yes(self) -> bool:
        """Whether what the question says is so before it is turned."""
        return bool(self.order.goal) != self.order.turned

    def video(self, number: int, before: Sequence[WrittenVideo], own: float) -> DamageTarget:
        """Return what is wanted of the first or the second video, given those before it.

        ``own`` is the level of the damage that the segment has itself.
        """
        match self.order.family:
            case "strength":
                return self._strong() if self.order.goal else self._absent(number)
            case "explain":
                later = self.order.goal and not DAMAGES[self.order.damage].in_time
                return replace(self._present(), begin=0.5 if later else 0.0)
            case "when":
                inside = rng_for(self.seed, "begin").uniform(0.3, 0.7)
                return replace(self._present(), begin=(self.order.goal + inside) / 4)
            case "where" | "place":
                return replace(self._present(), corner=self.corner)
            case "is":
                return self._present() if self._says_yes else self._absent(number)
            case "both":
                spared = not self._says_yes and rng_for(self.seed, "spared").randrange(2) == number
                return self._absent(number) if spared else self._present()
            case "which" | "compare" | "more" | "better":
                return self._compared(number, before, own)
            case _:
                return self._present()

    def _strong(self) -> DamageTarget:
        """As strong as its word says, in what is seen and in what was done."""
        half = self.margin / 2
        window = (SEVERE + half, SEVERE + half + 2 * _WIDE)
        if self.order.goal == 1:
            window = (self.there, SEVERE - half)
        return DamageTarget(self.order.damage, self.order.kind, *window, *window)

    def _present(self) -> DamageTarget:
        """So much of a damage that it is there, by the more the wider the margin is."""
        least = self.there + rng_for(self.seed, "present").uniform(0.0, 2 * self.margin)
        high = least + max(_NARROW, 1.5 * self.margin)
        return DamageTarget(self.order.damage, self.order.kind, least, high, least=self.margin)

    def _absent(self, number: int) -> DamageTarget:
        """Another damage than the one in question, so that "clean" is no sign of the key."""
        rng = rng_for(self.seed, "another", number)
        mine = self.order.damage
        other = rng.choice([name for name in DAMAGES if name != mine and not are_alike(name, mine)])
        kind = rng.choice(DAMAGES[other].kinds)
        return DamageTarget(other, kind, self.there, 0.9, least=self.margin)

    @property
    def first_is_worse(self) -> bool:
        """Which of two videos has more of the damage."""
        goal = self.order.goal
        match self.order.family:
            case "which":
                return (goal == 0) != self.order.turned
            case "more":
                return self._says_yes
            case "compare":
                return goal < 2  # the second is weaker
            case _:
                return goal == 1  # the second is better

    @property
    def difference(self) -> tuple[float, float]:
        """By how much the worse of two videos is worse, at least and at most."""
        if self.order.family == "compare":
            middle, wide = (MUCH, _WIDE) if self.order.goal in (0, 3) else (SLIGHTLY, 0.1)
            reach = min(wide, (MUCH - SLIGHTLY) / 2 - self.margin)
            return middle - reach, middle + reach
        furthest = min(4 * self.margin, MUCH - _WIDE)
        least = rng_for(self.seed, "difference").uniform(self.margin, furthest)
        return least, least + min(_WIDE, max(_NARROW, self.margin))

    def _compared(self, number: int, before: Sequence[WrittenVideo], own: float) -> DamageTarget:
        """The same segment twice, the one more damaged than the other, and to be seen so."""
        least, most = self.difference
        lowest = 0.0 if self.order.damage in _TWO_SIDED else -1.0
        base = rng_for(self.seed, "base").uniform(0.0, max(0.0, 0.9 - most))
        # So that the worse one can be seen to be bad, and the other is not wanted better than the
        # segment is itself.
        base = max(base, self.there - (least + most) / 2, own)
        is_worse = (number == 0) == self.first_is_worse
        if number == 0:
            low, high = (base + least, base + most) if is_worse else (base, base + 0.1)
        elif is_worse:
            low, high = before[0].level + least, before[0].level + most
        else:
            low, high = before[0].level - most, before[0].level - least
        low = max(low, self.there if is_worse else lowest)
        return DamageTarget(self.order.damage, self.order.kind, low, high)

    def check(
        self, target: Sequence[DamageTarget], shown: Sequence[WrittenVideo]
    ) -> tuple[str, ...]:
        """Return the damages that may be wrong options; raise where the key is not a fact."""
        name = self.order.damage
        for each, seen in zip(target, shown, strict=True):
            if each.damage == name:
                continue
            level = max(
                DAMAGES[name].level(seen.after), DAMAGES[name].extent(seen.before, seen.after)
            )
            if level > NOT_THERE:
                raise UnfitError(f"{name} is at {level:.2f}, though it should be absent")
        self._check_place(target[0], shown[0])
        if self.order.family in COMPARED:
            self._check_order(shown)
        if self.order.family in ("what", "shared", "explain"):
            return self._unlike(shown)
        return ()

    def _check_place(self, target: DamageTarget, shown: WrittenVideo) -> None:
        """A damage must be seen where and when it is, and nowhere and at no time else."""
        inside: Sequence[float] = shown.levels
        outside: Sequence[float] = ()
        if target.corner is not None:
            place = list(CORNERS).index(target.corner)
            inside = shown.levels[place : place + 1]
            outside = (*shown.levels[:place], *shown.levels[place + 1 :])
        elif shown.levels:
            inside, outside = shown.levels[shown.begin :], shown.levels[: shown.begin]
            seen = shown.begin * 4 // len(shown.levels)
            if self.order.family == "when" and seen != self.order.goal:
                raise UnfitError(
                    "the first damaged frame that is shown is in another quarter than planned"
                )
        if any(level < self.there for level in inside):
            raise UnfitError(f"{target.damage} is not visible everywhere it should be")
        if any(level > NOT_THERE for level in outside):
            raise UnfitError(f"{target.damage} is also visible elsewhere")

    def _check_order(self, shown: Sequence[WrittenVideo]) -> None:
        """Two videos must be as far apart as wanted, and more severe must be worse."""
        least, most = self.difference
        milder, worse = reversed(shown) if self.first_is_worse else shown
        apart = worse.level - milder.level
        if not least <= apart <= most or worse.severity <= milder.severity:
            raise UnfitError(f"the two videos differ by {apart:.2f}, not {least:.2f} to {most:.2f}")

    def _unlike(self, shown: Sequence[WrittenVideo]) -> tuple[str, ...]:
        """The damages of which no video shows any, and which nobody takes for its own."""
        mine = self.order.damage
        seen = {n: max(apparent(n, each) for each in shown) for n in DAMAGES if n != mine}
        if self.order.family == "explain" and max(seen.values()) > shown[0].level - self.margin:
            raise UnfitError(f"another damage is as visible as {mine}")
        fits = [n for n in seen if not are_alike(n, mine) and seen[n] <= NOT_THERE]
        if len(fits) < _WRONG:
            raise UnfitError(f"too many other damages are visible beside {mine}")
        return tuple(fits)


def apparent(name: str, shown: WrittenVideo) -> float:
    """How much of a damage a video has, be it the segment's own or our doing."""
    damage = DAMAGES[name]
    return max(damage.level(shown.after), damage.extent(shown.before, shown.after))
