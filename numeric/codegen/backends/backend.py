"""A backend: what the compiler needs to know about the library that a layer is compiled for.

Definition   a printer of equations, the import lines that the emitted text may need, and the text of each array
             function that it may call; the functions that run are compiled from that text
"""

import ast
import builtins
import inspect
import linecache
import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

from numeric.codegen.printer import NumPyLayerPrinter
from numeric.codegen.syntax import names_in, statements
from numeric.runtime.special import exact

__all__ = ["SPECIAL", "Backend", "Functions", "Texts", "TextsOf"]

Imports = Mapping[str, str]
SPECIAL = "from scipy import special"  # in emitted text, which runs without this package


class Texts(Mapping[str, str]):
    """Source texts of functions by name; all are read at the first access, so that the module is imported quickly."""

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


class TextsOf(Mapping[str, str]):
    """Source texts of a module's public functions, by name and in source order, without type hints.

    Each text is read at its first access.
    """

    def __init__(self, module: ModuleType, renamed: Mapping[str, str] | None = None) -> None:
        functions = (getattr(module, name) for name in module.__all__)
        self._functions = {f.__name__: f for f in sorted(functions, key=lambda f: f.__code__.co_firstlineno)}
        self._renamed = renamed or {}
        self._read: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        """Return the text of a function, with names replaced."""
        if name not in self._read:
            self._read[name] = _text(self._functions[name], self._renamed)
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        """Return whether there is a function of this name, without reading its text."""
        return name in self._functions

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._functions)

    def __len__(self) -> int:
        """Return the number of functions."""
        return len(self._functions)


@dataclass(frozen=True, eq=False)
class Backend:
    """An array library that layers are compiled for: its printer, import lines and the texts of its array functions."""

    name: str
    arrays: str  # what its arrays are called
    package: str  # which is installed to have it
    printer: type[NumPyLayerPrinter]
    imports: tuple[Imports, ...]  # lines by the name that they bind, in groups: the standard library, then the others
    primitives: Mapping[str, str]  # texts by name, in the order in which they are printed

    @property
    def names(self) -> frozenset[str]:
        """The names that emitted source can import or define."""
        return frozenset(self.primitives).union(*self.imports)

    def namespace(self, used: Set[str]) -> dict[str, Any]:
        """Return what compiled functions call, by name: all modules, and the array functions in use.

        Raises       ImportError where the library is not installed
        """
        modules, functions = _namespace(self)
        return {**modules, **{name: functions[name] for name in functions if name in used}}

    def needed(self, used: Set[str]) -> list[str]:
        """Return the array functions in use and those that these call, in the order in which they are printed."""
        found = set[str]()
        while new := {name for name in self.primitives if name in used} - found:
            found |= new
            used = names_in("\n".join(self.primitives[name] for name in new))
        return [name for name in self.primitives if name in found]


@lru_cache
def _namespace(backend: Backend) -> tuple[dict[str, Any], Mapping[str, Callable[..., Any]]]:
    try:
        found = {name: _imported(line) for group in backend.imports for name, line in group.items()}
    except ImportError as error:
        raise ImportError(
            f"the backend {backend.name!r} needs the package {backend.package}: install it (pip install "
            f"{backend.package}), or choose another backend"
        ) from error
    return found, Functions(backend.primitives, found, backend.name)


def _imported(line: str) -> Any:
    """Return the object that an import line binds; SciPy's special functions are replaced if SciPy is missing."""
    if line == SPECIAL:
        return exact
    statement = statements(line)[0]
    if isinstance(statement, ast.ImportFrom):
        module = import_module(str(statement.module))
        name = statement.names[0].name
        return getattr(module, name) if hasattr(module, name) else import_module(f"{statement.module}.{name}")
    assert isinstance(statement, ast.Import)
    return import_module(statement.names[0].name)


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


class Functions(Mapping[str, Callable[..., Any]]):
    """Functions by name, each compiled from its text at the first access; they can call one another and the modules.

    Result       tracebacks show the lines of the text, as those of a file called `<name, place>`
    """

    def __init__(self, texts: Mapping[str, str], modules: Mapping[str, Any], place: str) -> None:
        self._texts, self._place = texts, place
        self._shared: dict[str, Any] = {**modules, "__builtins__": builtins}
        self._done: dict[str, Callable[..., Any]] = {}

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """Return a function; the function and those that it calls are compiled first."""
        if name not in self._done:
            text = self._texts[name]
            self._done[name] = self._shared[name] = self._compiled(name, text)
            for called in names_in(text):
                if called in self._texts:
                    self[called]
        return self._done[name]

    def _compiled(self, name: str, text: str) -> Callable[..., Any]:
        file = f"<{name}, {self._place}>"
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        defined = _definition(text)
        constants = compile(text, file, "exec").co_consts  # since Python 3.14 those of the annotations stand among them
        code = next(c for c in constants if isinstance(c, CodeType) and c.co_name == defined.name)
        return FunctionType(code, self._shared, name, _defaults(defined))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._texts)

    def __len__(self) -> int:
        """Return the number of functions."""
        return len(self._texts)


def _definition(text: str) -> ast.FunctionDef:
    """Return the one function that a text defines."""
    definition = statements(text)[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition


def _defaults(definition: ast.FunctionDef) -> tuple[Any, ...]:
    """Return the default values of the last arguments of a function, which must be literals."""
    return tuple(ast.literal_eval(default) for default in definition.args.defaults)
