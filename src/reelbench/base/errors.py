"""Errors: those the user can fix, those of a user's own code, and defects of Reelbench."""

import sys
import sysconfig
import traceback
from pathlib import Path

# What Python raises for mistakes in a program, whatever the data: never to be reported as a fault
# of a user's file, and a reason to stop instead of going on to the next one.
DEFECTS = (
    TypeError,
    AttributeError,
    ImportError,
    NameError,
    AssertionError,
    NotImplementedError,
)


class ReelbenchError(Exception):
    """An error the user can fix: the message says what is wrong, where, and what to change.

    The command line prints it without a traceback and exits with 2; any other exception is
    reported as a defect of Reelbench.
    """


class MissingPackageError(ReelbenchError):
    """An optional package is not installed: the message has the command that installs it."""


FILE_MODULE = "reelbench_file_"  # prefix of the names of modules that are users' files


class ExtensionError(ReelbenchError):
    """An error in a user's own operator, model, recipe or metric: the message names file and line.

    ``is_defect`` is set where the code is wrong whatever the data.
    """

    is_defect = False


def extension_error(error: BaseException) -> ExtensionError | None:
    """Return an error that names file and line, if a user's file raised it; else None."""
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
    """Return the message that says at which line a user's file fails, and with which error."""
    place = "" if line is None else f" at line {line}"
    return f"{path} fails{place}: {type(error).__name__}: {error}"


def where(error: BaseException) -> str:
    """Return file, line and function of an error, in our code or an extension, not in a library."""
    frame = innermost_frame(error)
    if frame is None:
        return "an unknown line"
    path = Path(frame.filename)
    name = path.relative_to(_PACKAGE.parent) if path.is_relative_to(_PACKAGE) else path
    return f"{name}:{frame.lineno}, in {frame.name}"


def innermost_frame(error: BaseException) -> traceback.FrameSummary | None:
    """Return the innermost frame that is in our code or an extension; else the last one."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    return next((frame for frame in reversed(frames) if _is_ours(frame.filename)), last)


_PACKAGE = Path(__file__).parents[1]


def _is_ours(name: str) -> bool:
    path = Path(name)
    libraries = (sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))
    foreign = name.startswith("<") or any(path.is_relative_to(place) for place in libraries)
    return path.is_relative_to(_PACKAGE) or not foreign
