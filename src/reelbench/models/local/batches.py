"""How many requests a model is asked together: as many as its memory holds, found by itself."""

from collections.abc import Sequence
from typing import Any

from reelbench.models.local.prefix import TokenGroup

_FIRST_ROWS = 16  # before the size of a token in the cache is known
_MOST_ROWS = 256
_CPU_ROWS = 8
_SHARE = 0.8  # of the free memory for caches: the rest is for what is computed from them
_PADDING = 1.25  # times the tokens, at most, that a batch has with its padding


class BatchLimit:
    """The limit of a batch: a number of requests, and the memory of their caches."""

    def __init__(self, wanted: int, device: Any, reply_tokens: int) -> None:
        self._is_cpu = device.type != "cuda"
        self._device = device
        self._reply_tokens = reply_tokens
        self.rows = wanted or (_CPU_ROWS if self._is_cpu else _FIRST_ROWS)
        self._is_fixed = bool(wanted) or self._is_cpu
        self._bytes: float | None = None

    def learn(self, token_bytes: float) -> None:
        """Take in the size of a token in the cache, which the first batch shows."""
        if self._is_fixed or self._bytes is not None or not token_bytes:
            return
        import torch

        free, _ = torch.cuda.mem_get_info(self._device)
        held = torch.cuda.memory_reserved(self._device) - torch.cuda.memory_allocated(self._device)
        self._bytes = _SHARE * (free + held) / token_bytes
        self.rows = _MOST_ROWS

    def halve(self, count: int) -> bool:
        """Ask half of what was too many from now on; return whether that is possible."""
        if count == 1:
            return False
        self.rows = min(self.rows, count // 2)
        self._is_fixed = True
        return True

    @property
    def plain_rows(self) -> int:
        """How many requests are asked together as a processor made them: their size is unknown."""
        return self.rows if self._is_fixed else min(self.rows, _FIRST_ROWS)

    def fits(self, groups: Sequence[TokenGroup]) -> bool:
        """Whether groups can be asked together; one request always can."""
        rows = sum(len(group.own) for group in groups)
        if rows == 1 or rows > self.rows:
            return rows == 1
        longest = max(len(group.shared) for group in groups)
        widest = max(len(own) for group in groups for own in group.own)
        tokens = rows * (longest + widest + self._reply_tokens)
        real = sum(
            (len(group.shared) + self._reply_tokens) * len(group.own) + sum(map(len, group.own))
            for group in groups
        )
        shared = sum(len(group.shared) for group in groups)
        too_many = self._bytes is not None and tokens + shared > self._bytes
        return not too_many and (len(groups) == 1 or tokens <= _PADDING * real)
