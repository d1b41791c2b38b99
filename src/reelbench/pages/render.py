"""Render templates to pages that work offline and run no scripts but ours.

Text by models and people on these pages is not trusted: every text is escaped, data cannot end the
element that it stands in, and the policy names our scripts by their hashes.
"""

import base64
import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from reelbench import __version__
from reelbench.base.files import canonical_json
from reelbench.base.progress import counted
from reelbench.pages.text import breakable
from reelbench.score.rounding import fixed, percent

_SHARED = "reelbench.pages"
# Neither XML nor a file in UTF-8 can hold these.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def page(
    room: str,
    template: str,
    *,
    title: str,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: Any = None,
    figures: bool = False,
    media: bool = False,
    files: Mapping[str, str] = MappingProxyType({}),
    **values: Any,
) -> str:
    """Return the text of a page.

    ``room`` is the package whose ``templates`` hold the template, styles and scripts, by file name;
    those of this room can be named too. Scripts are put together into one module. ``data`` is
    embedded as JSON for them, and ``figures`` adds Plotly. ``media`` lets it show files beside it.
    ``files`` are put into it as Base64, each in a script element of this id, which is never run.
    """
    module = "\n".join(_read(room, name) for name in scripts)
    plotly = _plotly() if figures else ""
    text = render(
        room,
        template,
        title=title,
        policy=content_policy([text for text in (plotly, module) if text], media),
        style=Markup("".join(_read(room, name) for name in ("theme.css", *styles))),  # noqa: S704
        **values,
    )
    # Not through the template: these are megabytes, and ours.
    ends = [] if data is None else [f'<script type="application/json" id="data">{_json(data)}']
    ends += [f'<script type="text/plain" id="{name}">{text}' for name, text in files.items()]
    ends += [f"<script>{plotly}"] if plotly else []
    ends += [f'<script type="module">{module}'] if module else []
    return text + "".join(f"{end}</script>\n" for end in ends) + "</body>\n</html>\n"


def render(room: str, template: str, **values: Any) -> str:
    """Return a template of a room filled in, with every text in it escaped."""
    text = _environment(room).get_template(template).render(**values)
    return _UNWRITABLE.sub("\ufffd", text)


@functools.cache
def _environment(room: str) -> Environment:
    """Return what fills in the templates of a room; each is compiled once."""
    environment = Environment(
        loader=FunctionLoader(lambda name: _read(room, name)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "counted": counted,
        "fixed": fixed,
        "percent": percent,
        "version": __version__,
    }
    environment.filters["breakable"] = breakable
    return environment


def content_policy(scripts: Sequence[str], media: bool = False) -> str:
    """Return the content policy of a page: run these scripts, fetch nothing but media beside it."""
    digests = [
        base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts
    ]
    # To a page that is opened as a file, 'self' is nothing.
    beside = " blob: 'self' file:" if media else ""
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        f"img-src data: {beside.strip() or 'blob:'}; {f'media-src{beside}; ' if media else ''}"
        "base-uri 'none'; form-action 'none'"
    )


def _read(room: str, name: str) -> str:
    """Return the text of a room's template, or else of a shared one."""
    own = resources.files(room).joinpath("templates", name)
    shared = resources.files(_SHARED).joinpath("templates", name)
    return (own if own.is_file() else shared).read_text("utf-8")


def _plotly() -> str:
    return resources.files("plotly").joinpath("package_data/plotly.min.js").read_text("utf-8")


def _json(data: Any) -> str:
    """JSON inside a script element: no text in it can end the element."""
    return canonical_json(data).replace("<", "\\u003c")
