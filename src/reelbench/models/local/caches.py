"""Caches of keys and values: those of several prefixes joined into one, with room to grow."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer


class RoomyLayer(DynamicLayer):  # type: ignore[misc]
    """A layer whose tensors have room for the tokens to come.

    A ``DynamicLayer`` copies all that it holds for each new token.
    """

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, length: int) -> None:
        super().__init__()
        self._room = (keys, values)
        self.dtype, self.device = keys.dtype, keys.device
        self.is_initialized = True
        self._show(length)

    def _show(self, length: int) -> None:
        self.keys, self.values = (each[..., :length, :] for each in self._room)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the new keys and values behind the others, and return all."""
        start = self.get_seq_length()
        end = start + key_states.shape[-2]
        if end > self._room[0].shape[-2]:
            both: tuple[torch.Tensor, torch.Tensor] = super().update(
                key_states, value_states, *args, **kwargs
            )
            return both
        for room, new in zip(self._room, (key_states, value_states), strict=True):
            room[..., start:end, :] = new
        self._show(end)
        return self.keys, self.values


def can_be_joined(cache: Any) -> bool:
    """Whether all layers of a cache keep all tokens: then caches of several lengths can be one."""
    return all(type(layer) is DynamicLayer for layer in cache.layers)


def bytes_per_token(cache: Any) -> float:
    """Return how much memory a token takes in the cache of one sequence."""
    tensors = [
        each
        for layer in cache.layers
        for each in (getattr(layer, "keys", None), getattr(layer, "values", None))
        if each is not None
    ]
    return float(sum(each.nbytes for each in tensors) / max(1, cache.get_seq_length()))


def joined(caches: Sequence[Any], counts: Sequence[int], room: int) -> Any:
    """Return one cache of ``counts[i]`` rows of the cache i each, padded on the left.

    ``room`` is for how many tokens more. Each layer of the given caches is freed once it is copied.
    """
    if not all(map(can_be_joined, caches)):
        (cache,), (count,) = caches, counts
        for layer in cache.layers:
            layer.batch_repeat_interleave(count)
        return cache
    longest = max(cache.get_seq_length() for cache in caches)
    layers = []
    for number in range(len(caches[0].layers)):
        parts = [cache.layers[number] for cache in caches]
        keys, values = (
            _joined([getattr(part, name) for part in parts], counts, longest, room)
            for name in ("keys", "values")
        )
        for part in parts:
            part.keys = part.values = None
        layers.append(RoomyLayer(keys, values, longest))
    return Cache(layers=layers)


def _joined(
    parts: Sequence[torch.Tensor], counts: Sequence[int], longest: int, room: int
) -> torch.Tensor:
    _, heads, _, size = parts[0].shape
    whole = parts[0].new_empty(sum(counts), heads, longest + room, size)
    row = 0
    for part, count in zip(parts, counts, strict=True):
        start = longest - part.shape[-2]
        whole[row : row + count, :, :start] = 0  # what is masked must still be a number
        whole[row : row + count, :, start:longest] = part
        row += count
    return whole
