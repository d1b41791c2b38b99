"""Draw replies at random so that each depends on its request alone, not on the batch around it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reelbench.base.seeds import rng_for
from reelbench.models.base import Request
from reelbench.models.local.weights import USUAL

if TYPE_CHECKING:
    import torch

# Those of transformers that shape a draw, in its order, where nobody sets another value.
_SHAPES: Mapping[str, Any] = {
    "temperature": 1.0,
    "top_h": None,
    "top_k": 50,
    "top_p": 1.0,
    "min_p": None,
    "typical_p": 1.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
}


def generation_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a card, completed: a temperature is for drawing, unless it is 0."""
    settings = {**USUAL, **parameters}
    if (temperature := parameters.get("temperature")) is not None:
        settings["do_sample"] = bool(temperature) and bool(parameters.get("do_sample", True))
    return settings


class KeyedSampler:
    """Draws the tokens of each reply from the random numbers of its request's key."""

    def __init__(self, settings: Mapping[str, Any], model: Any) -> None:
        self._is_on = bool(settings.get("do_sample")) and int(settings.get("num_beams") or 1) == 1
        own = model.generation_config
        found = {name: settings.get(name, getattr(own, name, None)) for name in _SHAPES}
        self._shapes = {name: _SHAPES[name] if v is None else v for name, v in found.items()}
        self._device = model.device
        self.settings = dict(settings)  # with which ``generate`` takes what is drawn here
        if self._is_on or not settings.get("do_sample"):
            self.settings = {n: v for n, v in settings.items() if n not in _SHAPES}
            self.settings["do_sample"] = False

    def processors(self, requests: Sequence[Request]) -> list[Any]:
        """Return the logits processors that draw the replies to these requests; none if greedy."""
        if not self._is_on:
            return []
        return [*_warpers(self._shapes, self._device), _Draw([each.key for each in requests])]


class _Draw:
    """A logits processor: leaves to each row the one token that is drawn for it."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._numbers = [rng_for("reply", key) for key in keys]

    def __call__(self, _ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        import torch

        drawn = [numbers.random() for numbers in self._numbers]
        share = torch.tensor(drawn, dtype=torch.float64, device=scores.device)[:, None]
        summed = scores.double().softmax(-1).cumsum(-1)
        token = torch.searchsorted(summed, share * summed[:, -1:], right=True)
        likeliest = scores.argmax(-1, keepdim=True)  # where a sum is rounded, or is no number
        token = torch.where(token < scores.shape[1], token, likeliest)
        return torch.full_like(scores, float("-inf")).scatter(1, token, 0.0)


def _warpers(shapes: Mapping[str, Any], device: Any) -> list[Any]:
    """Return the processors of transformers for these settings, where they change anything."""
    import transformers as t

    made: dict[str, Any] = {
        "temperature": t.TemperatureLogitsWarper,
        "top_h": t.TopHLogitsWarper,
        "top_k": t.TopKLogitsWarper,
        "top_p": t.TopPLogitsWarper,
        "min_p": t.MinPLogitsWarper,
        "typical_p": t.TypicalLogitsWarper,
        "epsilon_cutoff": t.EpsilonLogitsWarper,
        "eta_cutoff": lambda value: t.EtaLogitsWarper(value, device=device),
    }
    idle = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "typical_p": 1.0}
    return [
        made[name](value)
        for name, value in shapes.items()
        if value is not None and value != idle.get(name, 0.0)
    ]
