"""Gender and age group of people against how they look."""

from collections.abc import Iterable, Mapping
from typing import Any

from labelling.clips import Entry
from labelling.people import same_people
from labelling.statements import Statement

NEEDS = ("demographics",)


def statements(labels: Mapping[str, Any], entry: Entry) -> Iterable[Statement]:
    """Yield what is said of each person that one can see the truth of."""
    if "demographics" not in labels:
        return
    who = same_people(labels, entry)
    for person in labels["demographics"]["people"]:
        truth = who.get(person["id"], {})
        for what in ("gender", "age_group"):
            said = person["guess"][what]
            if what in truth and said is not None:
                sure = person["confidence"][what]
                yield Statement(entry.name, what, said, truth[what], sure, person[what] is not None)
