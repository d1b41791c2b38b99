"""The command that installs an extra, from the same place as Reelbench was installed from."""

import json
import shlex
from importlib import metadata
from urllib.parse import unquote, urlsplit


def install_command(extra: str) -> str:
    """Return the pip command that installs an extra."""
    try:
        recorded = metadata.distribution("reelbench").read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # used from its source, never installed
        recorded = None
    source = urlsplit(json.loads(recorded)["url"]) if recorded else None
    name = unquote(source.path) if source and source.scheme == "file" else "reelbench"
    return f"pip install {shlex.quote(f'{name}[{extra}]')}"
