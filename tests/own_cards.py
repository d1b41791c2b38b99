"""Cards that start the server in ``own_server.py``, and what that server noted."""

import json
import sys
from pathlib import Path
from typing import Any

from support import is_gone

PROGRAM = str(Path(__file__).with_name("own_server.py"))


def card(folder: Path, *words: str, name: str = "m", **fields: Any) -> str:
    """A card whose command starts the program beside the tests, which notes things in a folder."""
    path = folder / f"{name}.yaml"
    serve = [sys.executable, "-I", "-S", PROGRAM, "{port}", "{folder}", *words]
    usual = {"name": name, "model": "m", "sees": False, "backoff": 0.05, "connections": 1}
    path.write_text(json.dumps(usual | {"serve": serve} | fields))
    return str(path)


def started(folder: Path) -> list[list[int]]:
    """The processes of each start: the server's own, and its child's, which left its session."""
    try:
        return [[*map(int, line.split())] for line in (folder / "started").read_text().splitlines()]
    except FileNotFoundError:
        return []


def asked(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "asked").read_text().splitlines()]


def all_gone(folder: Path) -> bool:
    return all(is_gone(process) for both in started(folder) for process in both)
