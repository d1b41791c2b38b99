"""Operators that can ask a model: through the journal, so that nothing is paid for twice."""

from abc import abstractmethod
from dataclasses import dataclass
from importlib.resources import files

from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.base.errors import ReelbenchError
from reelbench.client.client import Client
from reelbench.client.media_input import PromptMedia
from reelbench.evaluate.prompt import fill
from reelbench.models.base import ChatModel, token_limit

_NEEDED = "needs a model: add --model captioner=NAME"


@dataclass(frozen=True)
class ModelOperator(Operator):
    """An operator that can ask a model; write ``ask`` and, for when there is none, ``__call__``."""

    model: str = ""  # the hash of name and parameters of the model, set when one is given

    @abstractmethod
    async def ask(self, clip: Clip, labels: Labels, client: Client, model: ChatModel) -> Value:
        """Return the label of a clip, made by asking a model; raise ``NotApplicable`` for none."""


@dataclass(frozen=True)
class ModelOnlyOperator(ModelOperator):
    """An operator that has nothing to say without a model; write ``ask``."""

    @property
    def lacks(self) -> str:
        """The model."""
        return "" if self.model else f"it {_NEEDED}"

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Raise the error that a model is needed."""
        del clip, labels
        raise ReelbenchError(f"The label {self.name} {_NEEDED}.")


def prompt_of(name: str, **slots: str) -> str:
    """Return the prompt ``prompts/NAME.md`` of an operator with its slots filled in."""
    return fill((files(__package__) / "prompts" / f"{name}.md").read_text("utf-8"), slots)


async def ask_text(client: Client, model: ChatModel, prompt: str, media: PromptMedia | None) -> str:
    """Return the reply of a model to a prompt; raise ``ReelbenchError`` if it is not complete."""
    response = await client.ask_prompt(model, prompt, media)
    if response.status == "truncated":
        raise ReelbenchError(f"{model.card.name}: {response.error}: raise {token_limit(model)}")
    if response.status != "ok":
        raise ReelbenchError(response.error or f"{model.card.name} returned an empty reply")
    return str(response.text).strip()
