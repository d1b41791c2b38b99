"""Behind a proxy: links, names, cookies and addresses are those that people see."""

import http.client
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest
from review.serving import ServedReview, free_port, served

from reelbench.base.errors import ReelbenchError
from reelbench.review.serve import checked_public_url

NAME = "review.example.org"


@pytest.fixture(scope="module")
def behind(
    small_demo: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ServedReview, int]]:
    root = tmp_path_factory.mktemp("proxy") / "benchmark"
    shutil.copytree(small_demo / "benchmark", root)
    port = free_port()
    with served(root, "--port", port, "--public-url", f"https://{NAME}/") as running:
        yield running, port


def ask(
    port: int, method: str, path: str, body: str = "", **headers: str
) -> tuple[int, str, http.client.HTTPMessage]:
    """Send a request as a proxy on this machine passes it on."""
    sent = {
        "Host": NAME, "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1",
        "Content-Type": "application/x-www-form-urlencoded", **headers,
    }  # fmt: skip
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=100)
    with closing(connection):
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        return response.status, response.read().decode(), response.headers


def test_links_cookies_and_names_are_those_of_the_public_address(
    behind: tuple[ServedReview, int],
) -> None:
    running, port = behind
    assert running.link.startswith(f"https://{NAME}/join/")
    path = running.link.removeprefix(f"https://{NAME}")
    form = urlencode({"name": "olga", "password": "a long password"})
    assert ask(port, "POST", path, form, Origin="https://evil.example")[0] == 403
    status, _, headers = ask(port, "POST", path, form, Origin=f"https://{NAME}")
    assert status == 303
    assert "Secure" in headers["set-cookie"]
    assert headers["strict-transport-security"]
    assert ask(port, "GET", "/login", Host="evil.example")[0] == 421


def test_each_address_behind_the_proxy_has_its_own_tries(
    behind: tuple[ServedReview, int],
) -> None:
    _, port = behind
    form = urlencode({"name": "someone", "password": "a wrong password"})
    for _ in range(10):
        assert ask(port, "POST", "/login", form)[0] == 403
    assert ask(port, "POST", "/login", form)[0] == 429
    assert ask(port, "POST", "/login", form, **{"X-Forwarded-For": "192.0.2.2"})[0] == 403


@pytest.mark.parametrize("url", ["review.example.org", "ftp://x", "https://x/review", "https://"])
def test_a_public_address_is_one(url: str) -> None:
    with pytest.raises(ReelbenchError, match=re.escape(repr(url))):
        checked_public_url(url)
