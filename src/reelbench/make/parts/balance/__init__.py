"""Balance: what a benchmark must not give away by its places, its shares and its splits.

Every function takes items and gives items. What happens to one depends on the seed, the ids and
the set of items, never on the order they came in.
"""

from reelbench.make.parts.balance.cards import Dealer
from reelbench.make.parts.balance.key_positions import deal_places
from reelbench.make.parts.balance.none_of_the_above import none_of_the_above
from reelbench.make.parts.balance.ratio import in_ratio
from reelbench.make.parts.balance.split import split_items
from reelbench.make.parts.balance.yes_no import to_turn, turned

__all__ = [
    "Dealer",
    "deal_places",
    "in_ratio",
    "none_of_the_above",
    "split_items",
    "to_turn",
    "turned",
]
