"""Balance: key positions, yes against no, ratios, none of the above, and splits.

What happens to an item depends on the seed, the ids and the set of items, never on their order.
"""

from reelbench.make.parts.balance.key_placer import KeyPlacer
from reelbench.make.parts.balance.key_positions import spread_key_positions
from reelbench.make.parts.balance.none_of_the_above import offer_none_of_the_above
from reelbench.make.parts.balance.ratio import keep_ratio, keep_ratio_where_possible
from reelbench.make.parts.balance.split import split_items
from reelbench.make.parts.balance.yes_no import ids_by_answer, items_to_negate, negated, was_negated

__all__ = [
    "KeyPlacer",
    "ids_by_answer",
    "items_to_negate",
    "keep_ratio",
    "keep_ratio_where_possible",
    "negated",
    "offer_none_of_the_above",
    "split_items",
    "spread_key_positions",
    "was_negated",
]
