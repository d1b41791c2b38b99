"""What people are refused, each in a sentence for them."""

from collections.abc import Mapping, Sequence

from reelbench.base.errors import ReelbenchError
from reelbench.review.database import ReviewEvent


class AccessError(ReelbenchError):
    """Someone may not do this."""


class BusyError(ReelbenchError):
    """Too many ask for the same at once; it works a moment later."""


class ActionError(AccessError):
    """An action that cannot be kept as it is; ``problems`` names the fields."""

    def __init__(self, message: str, problems: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__(message)
        self.problems = problems


class ChangedItemError(ActionError):
    """The item is not as the page has it."""


class ConflictError(ActionError):
    """Others did something that the page does not show."""

    def __init__(self, events: Sequence[ReviewEvent]) -> None:
        names = ", ".join(dict.fromkeys(event.who for event in events))
        super().__init__(f"{names} changed this meanwhile: look at it, then decide.")
        self.events = events
