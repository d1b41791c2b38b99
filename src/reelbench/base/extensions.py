"""Extensions: objects from a user's Python file, or from a package that registers them."""

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from reelbench.base.errors import FILE_MODULE, ReelbenchError, failure_in
from reelbench.base.files import digest_of_file

_DIGEST = "__reelbench_sha256__"  # of a file that was loaded, among the names of its module


def split_file(spec: str) -> tuple[Path, str] | None:
    """Return the file and the name of ``FILE.py:NAME`` or ``FILE.py``; None for other text."""
    file, _, name = spec.partition(".py:")
    if name:
        return Path(f"{file}.py"), name
    return (Path(spec), "") if spec.endswith(".py") else None


_LOADING: list[Path] = []  # files that are being run, the innermost last


def beside_loading(spec: str) -> str:
    """Return ``FILE.py:NAME`` with the file beside the one that is being loaded, if it is there."""
    if (own := split_file(spec)) and _LOADING:
        beside = _LOADING[-1].parent / own[0]
        if beside.is_file():
            return f"{beside}:{own[1]}" if own[1] else str(beside)
    return spec


def load_file(path: Path) -> ModuleType:
    """Import a Python file as a module, once in a process; raise ReelbenchError if it fails."""
    path = path.absolute()
    name = f"{FILE_MODULE}{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    if not path.is_file():
        raise ReelbenchError(f"{path} does not exist: name an existing Python file.")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module)[_DIGEST] = digest_of_file(path)
    sys.modules[name] = module  # dataclasses look up their module while they are made
    _LOADING.append(path)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        lines = [
            f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)
        ]
        raise ReelbenchError(failure_in(path, lines[-1] if lines else None, error)) from error
    finally:
        _LOADING.pop()
    return module


def digest_of_module(module: ModuleType) -> str:
    """Return the hash of the file that a module was loaded from, as it was then."""
    digest: str = vars(module)[_DIGEST]
    return digest


def load_from_file(
    path: Path, name: str, is_wanted: Callable[[Any], bool], description: str
) -> Any:
    """Return the object of a file by its name or, without a name, the only one that is wanted.

    ``description`` names what is looked for in errors, such as "an Operator".
    """
    module = load_file(path)
    if name:
        found = getattr(module, name, None)
        if found is None or not is_wanted(found):
            known = ", ".join(_fitting(module, is_wanted)) or "nothing of that kind"
            raise ReelbenchError(
                f"{path} defines no {name} that is {description}; it defines {known}."
            )
        return found
    fitting = _fitting(module, is_wanted)
    if not fitting:
        raise ReelbenchError(f"{path} defines nothing that is {description}.")
    if len(fitting) > 1:
        raise ReelbenchError(
            f"{path} defines more than one {description.split(' ', 1)[1]} "
            f"({', '.join(fitting)}): write {path}:NAME."
        )
    return fitting[next(iter(fitting))]


def registered(group: str) -> dict[str, EntryPoint]:
    """Return what installed packages register as entry points of a group, by name."""
    return {point.name: point for point in entry_points(group=group)}


def load_registered(point: EntryPoint) -> Any:
    """Return the object of an entry point; raise ReelbenchError if its package fails to load."""
    try:
        return point.load()
    except Exception as error:
        package = point.dist.name if point.dist else point.value
        raise ReelbenchError(
            f"{point.name}, which the package {package} registers under {point.group}, cannot be "
            f"loaded: {type(error).__name__}: {error}. Fix or uninstall that package."
        ) from error


def _fitting(module: ModuleType, is_wanted: Callable[[Any], bool]) -> dict[str, Any]:
    """The wanted objects that a file defines itself, without the classes that it imports."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and is_wanted(value)
        # Of an instance, this would be the module of its class.
        and (not hasattr(value, "__qualname__") or value.__module__ == module.__name__)
    }
