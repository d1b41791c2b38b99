"""Ask models through the journal: each thing once, and within what it may cost."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "Budget",
    "Client",
    "Journal",
    "Ledger",
    "MediaClip",
    "MediaInput",
    "Structured",
    "ask_json",
    "open_journal",
    "parse_budget",
    "relay_through",
    "remember_spent",
    "run_to_the_end",
]

if TYPE_CHECKING:
    from reelbench.client.budget import Budget, Ledger, parse_budget
    from reelbench.client.client import Client
    from reelbench.client.journal import Journal, open_journal
    from reelbench.client.media_input import MediaClip, MediaInput
    from reelbench.client.session import relay_through, remember_spent, run_to_the_end
    from reelbench.client.structured import Structured, ask_json

_HOMES = {
    "Budget": "budget",
    "Client": "client",
    "Journal": "journal",
    "Ledger": "budget",
    "MediaClip": "media_input",
    "MediaInput": "media_input",
    "Structured": "structured",
    "ask_json": "structured",
    "open_journal": "journal",
    "parse_budget": "budget",
    "relay_through": "session",
    "remember_spent": "session",
    "run_to_the_end": "session",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
