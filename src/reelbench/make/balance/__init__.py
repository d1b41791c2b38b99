"""Balance: what a benchmark must not give away by its places, its shares and its splits.

Every function takes items and gives items. What happens to one depends on the seed, the ids and
the set of items, never on the order they came in.
"""

from reelbench.make.balance.dealer import Dealer
from reelbench.make.balance.nothing_fits import none_of_the_above
from reelbench.make.balance.places import deal_places
from reelbench.make.balance.ratio import in_ratio
from reelbench.make.balance.split import split_items
from reelbench.make.balance.yes_no import to_turn, turned

__all__ = [
    "Dealer",
    "deal_places",
    "in_ratio",
    "none_of_the_above",
    "split_items",
    "to_turn",
    "turned",
]
