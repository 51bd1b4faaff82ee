"""A backend: the library that a layer is compiled for, as data.

Definition   a printer of equations, the import lines that the emitted text may need, and the text of each array
             function that it may call; the functions that run are compiled from that text
"""

import ast
import builtins
import inspect
import linecache
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

from numeric.codegen.printer import NumPyLayerPrinter
from numeric.codegen.syntax import statements
from numeric.runtime.special import special

__all__ = ["SPECIAL", "Backend", "Texts", "functions_of", "texts_of"]

Imports = Mapping[str, str]
SPECIAL = "from scipy import special"  # in emitted text, which runs without this package


class Texts(Mapping[str, str]):
    """Texts of functions by name, read when the first of them is asked for: importing stays fast."""

    def __init__(self, read: Callable[[], Mapping[str, str]]) -> None:
        self._read = read

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        return self._read()

    def __getitem__(self, name: str) -> str:
        """Return the text of a function."""
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._texts)

    def __len__(self) -> int:
        """Return the number of functions."""
        return len(self._texts)


@dataclass(frozen=True, eq=False)
class Backend:
    """A library of arrays; `renamed` are the names in NumPy's text of array functions that are other ones here."""

    name: str
    arrays: str  # what its arrays are called
    package: str  # which is installed to have it
    printer: type[NumPyLayerPrinter]
    imports: tuple[Imports, ...]  # lines by the name that they bind, in groups: the standard library, then the others
    primitives: Mapping[str, str]  # texts by name, in the order in which they are printed

    @property
    def names(self) -> frozenset[str]:
        """The names that its source imports or defines."""
        return frozenset(self.primitives).union(*self.imports)

    def namespace(self) -> dict[str, Any]:
        """Return the modules and array functions that compiled functions call.

        Raises       ImportError where the library is not installed
        """
        return dict(_namespace(self))


@lru_cache
def _namespace(backend: Backend) -> dict[str, Any]:
    try:
        found = {name: _imported(line) for group in backend.imports for name, line in group.items()}
    except ImportError as error:
        raise ImportError(
            f"the backend {backend.name!r} needs the package {backend.package}: install it (pip install "
            f"{backend.package}), or choose another backend"
        ) from error
    return found | functions_of(backend.primitives, found, backend.name)


def _imported(line: str) -> Any:
    """Return what an import line binds; special functions are here also without SciPy."""
    if line == SPECIAL:
        return special
    statement = statements(line)[0]
    if isinstance(statement, ast.ImportFrom):
        module = import_module(str(statement.module))
        name = statement.names[0].name
        return getattr(module, name) if hasattr(module, name) else import_module(f"{statement.module}.{name}")
    assert isinstance(statement, ast.Import)
    return import_module(statement.names[0].name)


def texts_of(module: ModuleType, renamed: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the texts of a module's public functions without type hints, in its order, with names replaced."""
    functions: list[Callable[..., Any]] = sorted(
        (getattr(module, name) for name in module.__all__), key=lambda f: f.__code__.co_firstlineno
    )
    return {function.__name__: _text(function, renamed or {}) for function in functions}


def _text(function: Callable[..., Any], renamed: Mapping[str, str]) -> str:
    source = inspect.getsource(function)
    (defined,) = ast.parse(source).body
    assert isinstance(defined, ast.FunctionDef)
    lines = source.splitlines(keepends=True)
    of_head = defined.body[0].lineno - 1  # a long signature has several lines
    head, body = "".join(lines[:of_head]), "".join(lines[of_head:])
    head = re.sub(r": (?:Any|int|bool)( =)?| -> Any", lambda found: "=" if found[1] else "", head)
    text = head.replace("= ", "=") + body.replace(": Any = ", " = ")
    for old, new in renamed.items():
        # not after a dot or within a word: `np` in `input.np` or `snp` is another name
        text = re.sub(rf"(?<![\w.]){re.escape(old)}\b", new, text)
    return text


def functions_of(texts: Mapping[str, str], modules: Mapping[str, Any], place: str) -> dict[str, Callable[..., Any]]:
    """Return functions compiled from their texts, which call one another and the modules given.

    Result       tracebacks show the lines of the text, as those of a file called `<name, place>`
    """
    shared: dict[str, Any] = {**modules, "__builtins__": builtins}
    for name, text in texts.items():
        file = f"<{name}, {place}>"
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        defined = _definition(text)
        constants = compile(text, file, "exec").co_consts  # since Python 3.14 those of the annotations stand among them
        code = next(c for c in constants if isinstance(c, CodeType) and c.co_name == defined.name)
        shared[name] = FunctionType(code, shared, name, _defaults(defined))
    return {name: shared[name] for name in texts}


def _definition(text: str) -> ast.FunctionDef:
    """Return the one function that a text defines."""
    definition = statements(text)[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition


def _defaults(definition: ast.FunctionDef) -> tuple[Any, ...]:
    """Return the values that the last arguments of a function have when they are left out: plain constants."""
    return tuple(ast.literal_eval(default) for default in definition.args.defaults)
