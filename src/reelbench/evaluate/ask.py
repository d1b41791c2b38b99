"""From an item to a request: its prompt, its option order, its media and its key."""

from collections.abc import Sequence
from dataclasses import dataclass

from reelbench.client.media_input import MediaInput, RenderedMedia
from reelbench.data.items import Item
from reelbench.evaluate.condition import Condition
from reelbench.evaluate.prompt import Prompt
from reelbench.models.base import ChatModel, Message, Request, TextPart
from reelbench.models.cascade import Cascade


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one model, not yet asked."""

    item: Item
    model: ChatModel
    condition: Condition
    number: int  # of the option order
    order: tuple[int, ...]
    round: int
    prompt: Prompt
    media: MediaInput
    key: str

    @property
    def options(self) -> tuple[str, ...]:
        """The options in the order they are asked."""
        return tuple(self.item.options[place] for place in self.order)

    def request(self, shown: RenderedMedia) -> Request:
        """Return the request, with the media in front of the question."""
        message = Message("user", (*shown.parts, TextPart(self.text(shown.frame_counts))))
        return Request(self.key, (message,), self.item.kind, self.item.question, self.options)

    def text(self, frames: Sequence[int]) -> str:
        """Return the prompt for so many frames of each video."""
        # Of a cascade only the captioners get frames: the prompt of who answers mentions none.
        return self.prompt.with_frames(() if isinstance(self.model, Cascade) else frames)
