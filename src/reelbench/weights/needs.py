"""Heavy packages are optional; who lacks one reads the command that installs it."""

from importlib import import_module
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command


def needs(module: str, extra: str) -> Any:
    """Import a module of an optional package, or raise the sentence that says how to get it."""
    command = install_command(extra)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # Also where a package is there and one that it needs itself is not.
        raise ReelbenchError(
            f"The Python package {(error.name or module).partition('.')[0]} is not installed: "
            f"{command}"
        ) from error
    except ImportError as error:
        raise ReelbenchError(
            f"The Python package {module} is installed but cannot be loaded ({error}). "
            f"Put that right, or install it again: {command}"
        ) from error
