"""A chat server that answers B after 50 ms; prints its address, then serves until it is killed."""

import asyncio
import json

from aiohttp import web

_MESSAGE = {"role": "assistant", "content": "B"}
_REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [{"index": 0, "message": _MESSAGE, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 4000, "completion_tokens": 1, "total_tokens": 4001},
}


async def answer(request: web.Request) -> web.Response:
    """Read all of a request, wait, and reply."""
    _COUNT["requests"] += 1
    await request.read()
    await asyncio.sleep(0.05)
    return web.Response(text=json.dumps(_REPLY), content_type="application/json")


_COUNT = {"requests": 0}


async def count(_: web.Request) -> web.Response:
    """Say how many requests have come so far."""
    return web.Response(text=str(_COUNT["requests"]))


async def main() -> None:
    """Serve on a free port."""
    application = web.Application(client_max_size=2**26)
    application.router.add_post("/v1/chat/completions", answer)
    application.router.add_get("/v1/count", count)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
