"""Operators that can ask a model: beside the journal, so that nothing is paid for twice."""

from abc import abstractmethod
from dataclasses import dataclass
from importlib.resources import files

from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.base.errors import ReelbenchError
from reelbench.client.client import Client
from reelbench.client.media_input import PromptMedia
from reelbench.evaluate.prompt import fill
from reelbench.models.base import ChatModel, token_limit


@dataclass(frozen=True)
class ModelOperator(Operator):
    """An operator that can ask a model."""

    model: str = ""  # the hash of who is asked; filled in when one is named

    @abstractmethod
    async def ask(self, clip: Clip, labels: Labels, client: Client, model: ChatModel) -> Value:
        """Return the label of a clip, with the help of a model."""


def prompt_of(name: str, **slots: str) -> str:
    """Fill in one of the prompts of operators."""
    return fill((files(__package__) / "prompts" / f"{name}.md").read_text("utf-8"), slots)


async def ask_text(client: Client, model: ChatModel, prompt: str, media: PromptMedia | None) -> str:
    """Return what a model replies to a prompt; raise a sentence for a reply that is not whole."""
    response = await client.ask_prompt(model, prompt, media)
    if response.status == "truncated":
        raise ReelbenchError(f"{model.card.name}: {response.error}: raise {token_limit(model)}")
    if response.status != "ok":
        raise ReelbenchError(response.error or f"{model.card.name} said nothing")
    return str(response.text).strip()
