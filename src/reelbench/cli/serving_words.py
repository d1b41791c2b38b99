"""Options that a command to resume must repeat: a card starts a server only if a user names it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from reelbench.base.errors import ReelbenchError


def serving_words(named: Mapping[str, Sequence[str]]) -> list[str]:
    """Return those of the models, by their flags, whose cards start servers, as words."""
    from reelbench.models.load import CARDS, Loader
    from reelbench.models.servers import servers_of

    found: list[str] = []
    for flag, models in named.items():
        for model in (model for model in models if model.endswith(CARDS)):
            path = model if Path(model).is_file() else model.partition("=")[2]  # behind its role
            with suppress(ReelbenchError):  # a card that is no longer there
                if servers_of([Loader().load(path)]):
                    found += [flag, model]
    return found
