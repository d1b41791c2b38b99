"""Import of optional packages, with an error that gives the command to install them."""

from importlib import import_module
from typing import Any

from reelbench.base.errors import MissingPackageError
from reelbench.base.extras import install_command


def import_extra(module: str, extra: str) -> Any:
    """Return a module of an optional package; raise an error that says how to install its extra."""
    command = install_command(extra)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # Also where a package is there and one that it needs itself is not.
        raise MissingPackageError(
            f"The Python package {(error.name or module).partition('.')[0]} is not installed; "
            f"install it with: {command}"
        ) from error
    except ImportError as error:
        raise MissingPackageError(
            f"The Python package {module} is installed but cannot be loaded ({error}). "
            f"Fix that, or reinstall it with: {command}"
        ) from error
