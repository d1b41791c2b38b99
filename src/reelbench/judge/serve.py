"""A local server with a judge behind it, which any client of chat completions can ask."""

import asyncio
import json
import uuid
from collections.abc import Callable
from typing import Any

from aiohttp import web

from reelbench.base.files import digest_of
from reelbench.base.limits import check_depth
from reelbench.models.base import ChatModel, Message, Request, TextPart

_MOST_BODY = 16 * 2**20


def judge_app(judge: ChatModel) -> web.Application:
    """Return an application that answers ``/v1/chat/completions`` with the judge's replies.

    A ``response_format`` with a JSON schema is kept to; without one, that of the judge's rubric is.
    """

    async def complete(http: web.Request) -> web.Response:
        try:
            text = await http.text()
            check_depth(text)
            request = _request(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return _failed(400, f"The request cannot be read ({type(error).__name__}: {error}).")
        response = await judge.ask(request)
        if not response.replied or response.text is None:
            return _failed(422, response.error or response.status)
        taken, given = response.input_tokens or 0, response.output_tokens or 0
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": response.text},
            "finish_reason": "stop",
        }
        return web.json_response(
            {
                "id": f"chatcmpl-{uuid.uuid4().hex}",
                "object": "chat.completion",
                "created": 0,
                "model": judge.card.name,
                "choices": [choice],
                "usage": {
                    "prompt_tokens": taken,
                    "completion_tokens": given,
                    "total_tokens": taken + given,
                },
            }
        )

    async def models(_: web.Request) -> web.Response:
        card = {"id": judge.card.name, "object": "model", "owned_by": "reelbench", "created": 0}
        return web.json_response({"object": "list", "data": [card]})

    async def health(_: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def close(_: web.Application) -> None:
        await judge.close()

    app = web.Application(client_max_size=_MOST_BODY)
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_get("/v1/models", models)
    app.router.add_get("/health", health)
    app.on_cleanup.append(close)
    return app


async def serve_judge(
    judge: ChatModel, host: str, port: int, on_ready: Callable[[str], None]
) -> None:
    """Serve until it is stopped; ``on_ready`` is called with the address."""
    runner = web.AppRunner(judge_app(judge))
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        bound = runner.addresses[0][1]
        on_ready(f"http://{host}:{bound}/v1")
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


def _request(body: dict[str, Any]) -> Request:
    messages = tuple(
        Message(message["role"], (TextPart(_text(message["content"])),))
        for message in body["messages"]
    )
    if not messages:
        raise ValueError("messages is empty")
    form = body.get("response_format") or {}
    schema = form["json_schema"]["schema"] if form.get("type") == "json_schema" else None
    key = digest_of([body["messages"], schema, body.get("seed")])
    return Request(key, messages, "open", "", schema=schema)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(part["text"] for part in content if part["type"] == "text")


def _failed(status: int, message: str) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "code": status}
    return web.json_response({"error": error}, status=status)
