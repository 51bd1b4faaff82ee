"""The import of Matplotlib, an optional dependency, with an error that says how to install it."""

from importlib import import_module
from typing import Any

from numeric.runtime.checks import InputError

__all__ = ["figure_module"]


def figure_module() -> Any:
    """Return the module `matplotlib.figure`.

    Raises       InputError with the commands that install Matplotlib, where it is missing
    """
    try:
        return import_module("matplotlib.figure")
    except ImportError as error:
        raise InputError(
            "a picture needs Matplotlib: pip install matplotlib, or pip install '.[plots]' in the checkout"
        ) from error
