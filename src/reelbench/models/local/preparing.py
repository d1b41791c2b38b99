"""Prepare in processes of their own: who launches what a GPU computes needs the interpreter.

They are started before the weights are loaded, as they import for seconds, and get the processor
as a file. Tensors come back in the precision of the model.
"""

import os
import pickle
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from reelbench.base.workers import WorkerError, WorkerPool, cores
from reelbench.models.base import Request
from reelbench.models.card import Card
from reelbench.models.local.prefix import TokenGroup, token_group
from reelbench.models.local.weights import LoadedModel, is_rounded

_PROCESSES = 4
_SECONDS = 600.0  # for one group of requests, at most
_NO_BOUND = 2**60  # bytes of address space: PyTorch reserves more than it uses


class PreparingProcesses:
    """Processes that prepare requests for one model."""

    def __init__(self, card: Card) -> None:
        source = (card.model, card.parameters.get("revision", "main"))
        count = max(1, min(_PROCESSES, cores() - 1))
        self._pool = WorkerPool(count, _NO_BOUND, threads=1)
        # What hangs here costs no more than itself: who waits for it would be ended for that.
        self._limit = min(_SECONDS, card.timeout / 2)
        self.calls = 0  # so far, about: several threads count
        # Without a name: it goes when this process does, however that ends.
        self._kept = tempfile.TemporaryFile()  # noqa: SIM115
        self._file = Path(f"/proc/{os.getpid()}/fd/{self._kept.fileno()}")
        self._dtype = ""
        self._count = count
        self._starting = self._in_each(_import, *source)

    def use(self, loaded: LoadedModel) -> None:
        """Prepare for this model from now on; raise where its processor cannot be sent."""
        self._kept.write(pickle.dumps(replace(loaded, model=None)))
        self._kept.flush()
        self._dtype = str(loaded.model.dtype).removeprefix("torch.")
        for thread in self._starting:
            thread.join()
        for thread in self._in_each(_load, str(self._file)):
            thread.join()

    def token_group(self, requests: Sequence[Request]) -> TokenGroup | None:
        """Return what ``token_group`` of ``prefix.py`` returns."""
        found: TokenGroup | None = self._call(_token_group, requests)
        return found and replace(found, requests=requests, inputs=_tensors(found.inputs))

    def inputs(self, requests: Sequence[Request]) -> Mapping[str, Any]:
        """Return what ``request_inputs`` of ``prepare.py`` returns."""
        return _tensors(self._call(_inputs, requests))

    def close(self) -> None:
        """End the processes."""
        self._pool.close()
        self._kept.close()

    def _in_each(self, work: Callable[..., None], *args: str) -> list[threading.Thread]:
        """Do the same in each process, at the same time; who prepares first says what fails."""

        def call() -> None:
            with suppress(Exception):
                self._pool.call(work, *args, limit=_SECONDS)

        threads = [threading.Thread(target=call, daemon=True) for _ in range(self._count)]
        for thread in threads:
            thread.start()
        return threads

    def _call(self, work: Callable[..., Any], requests: Sequence[Request]) -> Any:
        self.calls += 1
        try:
            return self._pool.call(
                work, str(self._file), self._dtype, list(requests), limit=self._limit
            )
        except WorkerError as error:
            raise WorkerError(f"preparing it {error}") from None


def _import(model: str, revision: str) -> None:
    """Import what the processor of a model needs, which is most of the wait for it."""
    from transformers import AutoProcessor

    AutoProcessor.from_pretrained(model, revision=revision, trust_remote_code=False)


def _load(file: str) -> None:
    _loaded(file)


def _token_group(file: str, dtype: str, requests: list[Request]) -> TokenGroup | None:
    found = token_group(_loaded(file), requests)
    return found and replace(found, requests=(), inputs=_arrays(found.inputs, dtype))


def _inputs(file: str, dtype: str, requests: list[Request]) -> dict[str, Any]:
    from reelbench.models.local.prepare import request_inputs

    return _arrays(request_inputs(_loaded(file), requests), dtype)


@cache
def _loaded(file: str) -> LoadedModel:
    loaded: LoadedModel = pickle.loads(Path(file).read_bytes())  # noqa: S301 - our own
    return loaded


def _arrays(tensors: Mapping[str, Any], dtype: str) -> dict[str, Any]:
    """Return tensors as arrays, which are sent as they are; NumPy has no bfloat16."""
    import torch

    found = {}
    for name, value in tensors.items():
        is_short = is_rounded(name, value) and dtype in ("bfloat16", "float16")
        bits = value.to(getattr(torch, dtype)).view(torch.int16) if is_short else value
        found[name] = (bits.numpy(), dtype if is_short else "")
    return found


def _tensors(arrays: Mapping[str, Any]) -> dict[str, Any]:
    import torch

    found = {}
    for name, (array, dtype) in arrays.items():
        bits = torch.from_numpy(array)
        found[name] = bits.view(getattr(torch, dtype)) if dtype else bits
    return found
