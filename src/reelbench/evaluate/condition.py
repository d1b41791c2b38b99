"""A condition is one way of asking."""

from dataclasses import asdict, dataclass
from typing import Any

from reelbench.items import Item
from reelbench.manifest import Protocol
from reelbench.media.pictures import check_size, media_type_of
from reelbench.media.sample import Sampling, parse_sampling
from reelbench.seeds import rng_for


@dataclass(frozen=True, slots=True)
class Condition:
    """Which frames are shown, in which words it is asked, and in how many option orders."""

    name: str
    sampling: Sampling
    prompt: str = "default"
    orders: int = 1
    timestamps: bool = False
    frame_size: str = ""
    frame_encoding: str = "jpeg:90"
    accept_damage: bool = False

    @classmethod
    def from_protocol(cls, protocol: Protocol) -> "Condition":
        """The condition that a benchmark asks for."""
        check_size(protocol.frame_size)
        media_type_of(protocol.frame_encoding)
        return cls(
            name="protocol",
            sampling=parse_sampling(protocol.sampling),
            prompt=protocol.prompt,
            orders=protocol.orders,
            timestamps=protocol.timestamps,
            frame_size=protocol.frame_size,
            frame_encoding=protocol.frame_encoding,
            accept_damage=protocol.accept_damage,
        )

    def to_record(self) -> dict[str, Any]:
        """Return the condition as plain data."""
        return asdict(self) | {"sampling": self.sampling.text}


def option_order(item: Item, number: int, seed: int) -> tuple[int, ...]:
    """Return the places of the options in the order they are asked: number 0 as written."""
    places = list(range(len(item.options)))
    if number:
        rng_for(seed, "option order", item.id, number).shuffle(places)
    return tuple(places)
