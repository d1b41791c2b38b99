"""What each family of questions wants of its videos, and whether it came out so.

The margin is the least distance, in what is measured, between a key and what would make another
option right. The smaller it is, the harder the questions. Extents and levels are those of
``reelbench.media.looks``: 0 for none, 1 for as bad as can be.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reelbench.media.looks import CORNERS, DAMAGES
from reelbench.recipes.qbench_exact.film import Shown, UnfitError, Wanted
from reelbench.recipes.qbench_exact.plan import Order
from reelbench.seeds import rng_for

LEVELS = (0.0, 0.3, 0.6, 0.9)  # none, slight, moderate, severe
SLIGHTLY, MUCH = 0.3, 0.8  # how much stronger
PRESENT = 0.35  # what is there shows by more than this, what is not by less
CLEAR = (0.45, 0.7)  # the least of a damage that is to be named or found
MARGINS = (0.02, 0.29)  # beyond the second, four levels do not fit between none and the worst
_ORDINARY = 0.2  # by which a take may differ from an ordinary one, where levels have names


@dataclass(frozen=True, slots=True)
class Wants:
    """An order, with the draws that belong to it."""

    order: Order
    margin: float
    seed: int

    @property
    def corner(self) -> str:
        """The corner that is damaged."""
        if self.order.family == "where":
            return list(CORNERS)[self.order.goal]
        return rng_for(self.seed, "corner").choice(list(CORNERS))

    @property
    def named_corner(self) -> str:
        """The corner that the question names: the damaged one, or another."""
        if self._says_yes:
            return self.corner
        others = [corner for corner in CORNERS if corner != self.corner]
        return rng_for(self.seed, "named corner").choice(others)

    @property
    def _says_yes(self) -> bool:
        """Whether what the question says is so before it is turned."""
        return bool(self.order.goal) != self.order.turned

    def video(self, number: int, before: Sequence[Shown]) -> Wanted:
        """Return what is wanted of the first or the second video, given those before it."""
        match self.order.family:
            case "strength":
                return self._strength()
            case "when":
                inside = rng_for(self.seed, "begin").uniform(0.3, 0.7)
                return self._clear(begin=(self.order.goal + inside) / 4)
            case "where" | "place":
                return self._clear(corner=self.corner)
            case "is":
                return self._present() if self._says_yes else self._absent(number)
            case "both":
                spared = not self._says_yes and rng_for(self.seed, "spared").randrange(2) == number
                return self._absent(number) if spared else self._present()
            case "which" | "compare" | "more" | "better":
                return self._compared(number, before)
            case "explain":
                in_time = DAMAGES[self.order.damage].in_time
                return self._clear(begin=0.0 if in_time else 0.5 * self.order.goal)
            case _:
                return self._clear()

    def _clear(self, begin: float = 0.0, corner: str | None = None) -> Wanted:
        """So much of a damage that it can be named or found, now more and now less."""
        least = rng_for(self.seed, "clear").uniform(*CLEAR)
        return replace(self._damaged(least, least + 0.2), begin=begin, corner=corner)

    def _damaged(self, least: float, most: float) -> Wanted:
        return Wanted(self.order.damage, self.order.kind, least, most)

    def _strength(self) -> Wanted:
        if not self.order.goal:
            return self._absent(0)
        middle, aside = LEVELS[self.order.goal], (LEVELS[1] - self.margin) / 2
        return self._damaged(middle - aside, middle + aside)

    def _present(self) -> Wanted:
        least = PRESENT + self.margin / 2
        return self._damaged(least, least + 0.3)

    def _absent(self, number: int) -> Wanted:
        """Another damage than the one in question, so that "clean" is no sign of the key."""
        rng = rng_for(self.seed, "another", number)
        other = rng.choice([name for name in DAMAGES if name != self.order.damage])
        return Wanted(other, rng.choice(DAMAGES[other].kinds), CLEAR[0], 0.9)

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
        match self.order.family:
            case "compare":
                middle = MUCH if self.order.goal in (0, 3) else SLIGHTLY
                aside = min(0.15, (MUCH - SLIGHTLY - self.margin) / 2, SLIGHTLY - self.margin / 2)
                return middle - aside, middle + aside
            case "better":
                return SLIGHTLY + self.margin, 0.8
            case _:
                return self.margin, self.margin + 0.15

    def _compared(self, number: int, before: Sequence[Shown]) -> Wanted:
        """The same take twice, the one more damaged than the other."""
        least, most = self.difference
        base = rng_for(self.seed, "base").uniform(0.0, max(0.0, 0.9 - most))
        base = base if base > 0.05 else 0.0
        if number == 0:
            low, high = (base + least, base + most) if self.first_is_worse else (base, base + 0.1)
        elif self.first_is_worse:
            low, high = before[0].extent - most, before[0].extent - least
        else:
            low, high = before[0].extent + least, before[0].extent + most
        if low <= 0:
            return Wanted()  # as it is, which is 0 exactly
        return self._damaged(low, high)

    def check(self, wanted: Sequence[Wanted], shown: Sequence[Shown]) -> tuple[str, ...]:
        """Return the damages that may stand as wrong options; raise where the key is no fact."""
        family, half = self.order.family, self.margin / 2
        for each, seen in zip(wanted, shown, strict=True):
            level, extent = self._seen(seen)
            if family in ("is", "both", "strength") and each.damage != self.order.damage:
                worst = max(level, extent)
                if worst > (self._none_at_most if family == "strength" else PRESENT - half):
                    raise UnfitError(f"{self.order.damage} is at {worst:.2f} without being wanted")
            elif family in ("is", "both") and level < PRESENT + half:
                raise UnfitError(f"{self.order.damage} is at {level:.2f}, too little to be seen")
            elif family == "strength" and abs(level - extent) > _ORDINARY:
                raise UnfitError(f"the take has {level - extent:.2f} of {self.order.damage} itself")
        self._check_place(wanted[0], shown[0])
        self._check_difference(shown)
        if family not in ("what", "shared", "explain"):
            return ()
        return self._unlike(shown)

    @property
    def _none_at_most(self) -> float:
        """So that even the least of "slight" is the margin away."""
        return LEVELS[1] - (LEVELS[1] - self.margin) / 2 - self.margin

    def _seen(self, seen: Shown) -> tuple[float, float]:
        damage = DAMAGES[self.order.damage]
        return damage.level(seen.after), damage.extent(seen.before, seen.after)

    def _check_place(self, wanted: Wanted, shown: Shown) -> None:
        """Where or when a damage is must be where and when it is seen."""
        if not shown.levels:
            return
        place = 1 if wanted.corner is None else list(CORNERS).index(wanted.corner)
        others = [level for number, level in enumerate(shown.levels) if number != place]
        if not others or shown.levels[place] < max(others) + self.margin:
            raise UnfitError(f"{wanted.damage} is as strong elsewhere")

    def _check_difference(self, shown: Sequence[Shown]) -> None:
        if self.order.family not in ("which", "compare", "more", "better"):
            return
        damage, (least, most) = DAMAGES[self.order.damage], self.difference
        apart = damage.extent(shown[0].after, shown[1].after)
        apart = -apart if self.first_is_worse else apart
        if not least <= apart <= most:
            raise UnfitError(f"the two are {apart:.2f} apart, not {least:.2f} to {most:.2f}")

    def _unlike(self, shown: Sequence[Shown]) -> tuple[str, ...]:
        """The damages that every video shows less of than of its own, by the margin."""
        fits = []
        for name, damage in DAMAGES.items():
            if name == self.order.damage:
                continue
            apparent = [max(damage.level(s.after), damage.extent(s.before, s.after)) for s in shown]
            own = [min(s.extent, DAMAGES[self.order.damage].level(s.after)) for s in shown]
            if all(other <= key - self.margin for other, key in zip(apparent, own, strict=True)):
                fits.append(name)
        if len(fits) < (3 if self.order.family != "explain" else len(DAMAGES) - 1):
            raise UnfitError(f"too little else is less apparent than {self.order.damage}")
        return tuple(fits)
