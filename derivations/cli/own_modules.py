"""Results and layers of a user's own modules, named `module:name` on the command line.

Definition   `mypackage.results:slope` is what the module `mypackage.results` calls `slope`: a result, a layer, or a
             function without arguments that returns one
Result       the result, proved, or the layer; the module is imported, which runs it, and standard error says so
Raises       ValueError or LookupError, one sentence, for a name that leads to neither
Assumes      the user typed the module's name; a document that is read names no module that is imported
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from inspect import Parameter, isroutine, signature, unwrap
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from derivations.topics import nearest_are

if TYPE_CHECKING:
    from derivations.language.layers.layer import Layer
    from derivations.language.results.derivation import Derivation

__all__ = [
    "function_called",
    "imported",
    "imported_file",
    "is_own",
    "judged",
    "layer_called",
    "of_modules",
    "own",
    "result_called",
    "shown_called",
]

VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)  # parameters that a call may leave out


def is_own(name: str) -> bool:
    """Return whether a name has the form `module:name`."""
    return ":" in name


def shown_called(name: str) -> Derivation | Layer:
    """Return the result or layer of that name: of the catalogue, or of a user's module."""
    if is_own(name):
        return own(name)
    from derivations.catalogue import find

    return find(name)


def judged(name: str) -> Derivation | Layer:
    """Return the result or layer of that name; exit with 1, as `verify` does, where a step is not proved."""
    from derivations.language import FalseStepError

    try:
        return shown_called(name)
    except FalseStepError as error:  # a failed check, and no bad input
        click.echo(f"derivations: {error}", err=True)
        sys.exit(1)


def layer_called(name: str) -> Layer:
    """Return the layer of that name: of the catalogue, or of a user's module."""
    from derivations.catalogue import layer
    from derivations.language.layers.layer import Layer

    if not is_own(name):
        return layer(name)
    found = own(name)
    if not isinstance(found, Layer):
        raise ValueError(f"{name} is a result; a layer is needed here")
    return found


def result_called(name: str) -> Derivation:
    """Return the result of that name in a user's module. For any layer, return the proof that its gradient is right."""
    from derivations.catalogue import layer
    from derivations.language import prove_gradient
    from derivations.language.layers.layer import Layer

    found = own(name) if is_own(name) else layer(name)
    return prove_gradient(found) if isinstance(found, Layer) else found


def own(name: str) -> Derivation | Layer:
    """Return the result or layer of that name in a user's module. A result is proved first."""
    from derivations.language.layers.layer import Layer
    from derivations.language.results.derivation import Derivation, accepted

    path, _, attribute = name.partition(":")
    found = _called(_attribute(imported(path), path, attribute), name)
    if isinstance(found, Derivation):
        topic = path.rpartition(".")[2]
        return accepted(found if found.id else replace(found, id=f"{topic}.{attribute}"))
    if not isinstance(found, Layer):
        raise ValueError(
            f"{name} is of type {type(found).__name__}: a result, a layer, or a function that returns one is needed"
        )
    return found


def function_called(name: str) -> Callable[..., Any]:
    """Return the function or neural network module of a name: `path/to/file.py:name`, or `module:name`."""
    path, _, attribute = name.rpartition(":")
    if not path or not attribute:
        raise ValueError(f"{name!r} names no function: write model.py:attention, or mypackage.model:attention")
    module = imported_file(path) if path.endswith(".py") else imported(path)
    found: Callable[..., Any] = _attribute(module, path, attribute)
    if not callable(found):
        raise ValueError(f"{name} is of type {type(found).__name__}: a function is needed here")
    return found


def imported_file(path: str) -> ModuleType:
    """Run a Python file and return its module. The file can import the modules in its folder."""
    file = Path(path).resolve()
    if not file.is_file():
        raise LookupError(f"there is no file {path}")
    specification = importlib.util.spec_from_file_location(file.stem, file)
    if specification is None or specification.loader is None:
        raise ValueError(f"{path} is no file of Python")
    module = importlib.util.module_from_spec(specification)
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    before = sys.modules.get(file.stem)
    sys.modules[file.stem] = module  # what is defined in it looks its module up by its name
    try:
        specification.loader.exec_module(module)
    except Exception as error:  # whatever the user's code raises
        if before is not None:
            sys.modules[file.stem] = before
        raise _failed(path, error) from error
    click.echo(f"imported {path}", err=True)
    return module


def of_modules(paths: Sequence[str]) -> Callable[[str], Derivation | Layer]:
    """Import modules, and return a function that finds `module:name` in these modules only."""
    from derivations.documents.rendering.options import not_imported

    for path in paths:
        imported(path)
    return lambda name: own(name) if name.partition(":")[0] in paths else not_imported(name)


def imported(path: str) -> ModuleType:
    """Import a user's module from the current folder or from the installed packages, and return it."""
    if not path or not all(part.isidentifier() for part in path.split(".")):
        raise ValueError(f"{path!r} is no name of a module: write it as in an import, such as mypackage.results:mine")
    known = sys.modules.get(path)
    if known is not None:
        return known
    here = os.getcwd()
    if here not in sys.path:  # the console script, unlike `python -m`, starts without it
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name and (path == error.name or path.startswith(f"{error.name}.")):
            raise LookupError(
                f"there is no module {path!r}: it is looked for in this folder and among what is installed"
            ) from error
        raise _failed(path, error) from error
    except Exception as error:  # whatever the user's code raises
        raise _failed(path, error) from error
    click.echo(f"imported {path} ({_file_of(module)})", err=True)
    return module


def _failed(what: str, error: Exception) -> ValueError:
    return ValueError(f"{what} raised {type(error).__name__}: {error}")


def _file_of(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return os.path.relpath(file) if file else "a package without a file"


def _attribute(module: ModuleType, path: str, attribute: str) -> Any:
    if attribute not in vars(module):
        home = module.__name__
        own_names = [
            each
            for each, value in vars(module).items()
            if getattr(value, "__module__", home) == home and not isinstance(value, ModuleType) and each[0] != "_"
        ]
        near = get_close_matches(attribute, own_names, 3, 0.4)
        hint = f"; {nearest_are(near)}" if near else f"; it has {', '.join(own_names)}" if own_names else ""
        raise LookupError(f"the module {path} has no {attribute!r}{hint}")
    return vars(module)[attribute]


def _called(found: Any, name: str) -> Any:
    """Return an object itself, or, if it is a function, the result of calling it without arguments."""
    if not isroutine(unwrap(found) if callable(found) else found):
        return found
    needed = [p.name for p in signature(found).parameters.values() if p.default is p.empty and p.kind not in VARIADIC]
    if needed:
        raise ValueError(f"{name} takes {', '.join(needed)}: name a function without arguments, such as one around it")
    from derivations.language import FalseStepError

    try:
        return found()
    except FalseStepError:
        raise
    except Exception as error:  # whatever the user's code raises
        raise _failed(name, error) from error
