"""The mathematics of the Transformer, written once as equations: derived, proved, printed, compiled and counted."""

from typing import TYPE_CHECKING, Any

from derivations import former_paths

if TYPE_CHECKING:
    from derivations.catalogue import get, layer, layers, names

__all__ = ["__version__", "get", "layer", "layers", "names"]

__version__ = "0.2.0"

former_paths.install()


def __getattr__(name: str) -> Any:
    """Import the catalogue, and with it SymPy, when one of its names is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'derivations' has no attribute {name!r}")
    from derivations import catalogue  # deferred: `derivations --help` must not wait for SymPy

    return getattr(catalogue, name)


def __dir__() -> list[str]:
    """Return the public names as well, so that an editor completes them before the catalogue is imported."""
    return sorted({*globals(), *__all__})
