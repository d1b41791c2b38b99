"""Whether a server is ready, by its health address, and which models it lists."""

import os
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from reelbench.base.limits import decode_json
from reelbench.models.reachability import shown_address

_SECONDS = 5.0  # for one look
_MISSING = (404, 405, 501)  # HTTP: there is no such address
_MOST_BYTES = 2**20
_MOST_NAMES = 5


class Health:
    """How a server is asked whether it is ready."""

    def __init__(self, path: str, model: str, headers: Mapping[str, str]) -> None:
        self.path = path  # empty to find it
        self.last = "no answer"  # what the latest look found
        self._model, self._headers = model, headers

    async def is_good(self, url: str) -> bool:
        """Whether the server with this address is ready to be asked."""
        for address in self._addresses(url):
            status, _ = await self._fetch(address)
            self.last = f"HTTP {status}" if status else "no answer"
            self.last += f" at {shown_address(address)}"
            if status not in _MISSING:  # what is there has the last word, also while it loads
                return 200 <= status < 300
        return False

    async def other_models(self, url: str) -> str:
        """Return a warning if the server lists models, and not the one that is asked for."""
        status, data = await self._fetch(f"{url}/models")
        found = data.get("data") if status == 200 else None
        listed = found if isinstance(found, list) else []
        entries = [each for each in listed if isinstance(each, dict)]
        names = [each["id"] for each in entries if isinstance(each.get("id"), str)]
        others = {name for each in entries for name in _other_names(each)}
        # A folder of weights need not be on the list of who serves it.
        if not names or self._model in {*names, *others} or os.path.exists(self._model):
            return ""
        shown = ", ".join(repr(name[:80]) for name in names[:_MOST_NAMES])
        return (
            f"its server lists {shown}{', ...' if len(names) > _MOST_NAMES else ''} and not "
            f"{self._model!r}: check `model:` in its card; whatever answers is recorded as its "
            "replies."
        )

    def _addresses(self, url: str) -> Iterator[str]:
        root = f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"
        if self.path:
            yield f"{root}{self.path}"
        else:
            yield from (f"{root}/health", f"{url}/models")

    async def _fetch(self, address: str) -> tuple[int, dict[str, Any]]:
        """Return the status of an answer, 0 for none, and the JSON object in it."""
        limit = aiohttp.ClientTimeout(total=_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=limit) as session,
                session.get(address, headers=self._headers, allow_redirects=False) as reply,
            ):
                raw = b""
                async for piece in reply.content.iter_chunked(2**16):
                    raw += piece
                    if len(raw) > _MOST_BYTES:
                        break
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
            return 0, {}
        try:
            data = decode_json(raw)
        except ValueError:
            data = None
        return reply.status, data if isinstance(data, dict) else {}


def _other_names(entry: Mapping[str, Any]) -> Iterator[str]:
    aliases = entry.get("aliases")
    for name in (entry.get("root"), *(aliases if isinstance(aliases, list) else ())):
        if isinstance(name, str):
            yield name
