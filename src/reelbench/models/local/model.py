"""A local model as the client sees it: requests about the same media are handed over together."""

from collections.abc import Mapping
from typing import Any

import msgspec

from reelbench.base.progress import announce
from reelbench.models.base import Request, Response
from reelbench.models.card import FREE, Card
from reelbench.models.local.engines import EngineSource, LocalEngines
from reelbench.models.local.pool import EnginePool
from reelbench.models.local.sampling import generation_settings
from reelbench.models.local.schema import can_constrain

_CONNECTIONS = 1000  # the pool limits what an engine is given
_ELSEWHERE = ("device", "device_map")  # where it is, which decides no reply


class LocalModel:
    """A model on accelerators, which is loaded when it is first asked.

    ``source`` is where: on this machine, unless it is set before anything is asked.
    """

    def __init__(self, card: Card) -> None:
        self.card = msgspec.structs.replace(
            card,
            connections=_CONNECTIONS,
            price=card.price or FREE,
            schemas=card.schemas and can_constrain(),
        )
        self.is_random = bool(generation_settings(card.parameters)["do_sample"])
        self.source: EngineSource = LocalEngines()
        self.peak_memory: int | None = None  # bytes on one device at most, once it has answered
        self._pool: EnginePool | None = None

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The weights and the generation settings; neither the devices nor the batch size."""
        settings = generation_settings(self.card.parameters)
        chosen = {name: v for name, v in settings.items() if name not in _ELSEWHERE}
        shown = {"video": self.card.video} if self.card.video else {}
        return {"model": self.card.model, **chosen, **shown}

    async def ask(self, request: Request) -> Response:
        """Answer a request, together with others about the same media."""
        if self._pool is None:
            self._pool = EnginePool(self.card, self.source, announce)
        pool = self._pool
        response = await pool.ask(request)
        self.peak_memory = pool.peak_memory or self.peak_memory
        return response

    def stop_retrying(self) -> None:
        """Answer what is being generated; what waits is not asked."""
        if self._pool is not None:
            self._pool.stop()

    async def close(self) -> None:
        """Release the weights."""
        if self._pool is not None:
            self._pool.close()
        self._pool = None
