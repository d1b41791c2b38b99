"""What goes wrong: by the user's doing, or by ours."""

import sys
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


FILE_MODULE = "reelbench_file_"  # how the names of modules begin that are files of users


class ExtensionError(ReelbenchError):
    """Code that a user brought failed: the message names its file and line.

    ``is_defect`` says that the code is wrong, whatever the data.
    """

    is_defect = False


def extension_error(error: BaseException) -> ExtensionError | None:
    """Return a sentence for an error that a user's file raised; None where it is another's."""
    if isinstance(error, ExtensionError):
        return error
    frame = innermost_frame(error)
    own = {m.__file__ for name, m in list(sys.modules.items()) if name.startswith(FILE_MODULE)}
    if frame is None or frame.filename not in own:
        return None
    found = ExtensionError(failure_in(frame.filename, frame.lineno, error))
    found.is_defect = isinstance(error, DEFECTS)
    return found


def failure_in(path: Path | str, line: int | None, error: BaseException) -> str:
    """Return the sentence that says where the code of a user fails."""
    place = "" if line is None else f" at line {line}"
    return f"{path} fails{place}: {type(error).__name__}: {error}"


def where(error: BaseException) -> str:
    """Return the line that an error comes from, in our code or in a plug-in, not in a library."""
    frame = innermost_frame(error)
    if frame is None:
        return "an unknown line"
    path = Path(frame.filename)
    name = path.relative_to(_PACKAGE.parent) if path.is_relative_to(_PACKAGE) else path
    return f"{name}:{frame.lineno}, in {frame.name}"


def innermost_frame(error: BaseException) -> traceback.FrameSummary | None:
    """Return the innermost frame of an error that is in our code or in a plug-in; else the last."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    return next((frame for frame in reversed(frames) if _is_ours(frame.filename)), last)


_PACKAGE = Path(__file__).parents[1]


def _is_ours(name: str) -> bool:
    path = Path(name)
    libraries = (sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))
    foreign = name.startswith("<") or any(path.is_relative_to(place) for place in libraries)
    return path.is_relative_to(_PACKAGE) or not foreign
