"""A server's health address, and what it said last."""

import asyncio

import pytest
from servers import hosting, json_reply

from reelbench.models.health import Health


@pytest.mark.parametrize(("status", "is_good"), [(503, False), (200, True)])
def test_the_latest_look_is_told(status: int, is_good: bool) -> None:
    with hosting(lambda _: json_reply({}, status)) as server:
        health = Health("/ready", "m", {})
        assert asyncio.run(health.is_good(f"{server.url}/v1")) is is_good
        assert health.last == f"HTTP {status} at {server.url}/ready"
    assert not asyncio.run(health.is_good(f"{server.url}/v1"))
    assert health.last == f"no answer at {server.url}/ready"
