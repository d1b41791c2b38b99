"""How to get an optional part of Reelbench, true to how Reelbench itself was installed."""

import json
import shlex
from importlib import metadata
from urllib.parse import unquote, urlsplit


def install_command(extra: str) -> str:
    """Return the command that installs an extra: from the same folder or file, where it was one."""
    try:
        recorded = metadata.distribution("reelbench").read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # used from its source, never installed
        recorded = None
    source = urlsplit(json.loads(recorded)["url"]) if recorded else None
    name = unquote(source.path) if source and source.scheme == "file" else "reelbench"
    return f"pip install {shlex.quote(f'{name}[{extra}]')}"
