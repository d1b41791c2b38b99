"""What goes wrong: by the user's doing, or by ours."""

import sysconfig
import traceback
from pathlib import Path

# What Python raises at mistakes in a program, whatever the data: never to be told as a fault of
# a user's file, and no reason to go on to the next one.
DEFECTS = (
    TypeError,
    AttributeError,
    ImportError,
    NameError,
    AssertionError,
    NotImplementedError,
)


class ReelbenchError(Exception):
    """Something the user can put right: the message is a sentence that says what, where and how.

    The command line prints it without a traceback and exits with 2; anything else that escapes
    is a defect of ours, and is told as that.
    """


def where(error: BaseException) -> str:
    """Return the line that an error comes from, in our code or in a plug-in, not in a library."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "an unknown line"
    frame = next((frame for frame in reversed(frames) if _is_ours(frame.filename)), frames[-1])
    path = Path(frame.filename)
    name = path.relative_to(_PACKAGE.parent) if path.is_relative_to(_PACKAGE) else path
    return f"{name}:{frame.lineno}, in {frame.name}"


_PACKAGE = Path(__file__).parents[1]


def _is_ours(name: str) -> bool:
    path = Path(name)
    libraries = (sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))
    foreign = name.startswith("<") or any(path.is_relative_to(place) for place in libraries)
    return path.is_relative_to(_PACKAGE) or not foreign
