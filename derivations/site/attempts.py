"""The tests that try to break a result, read from the sources of the tests in a checkout.

Definition   a wrong variant is a row (what is broken, result, claim, step, wrong expression) of a table that a test
             gives to `broken_steps`; another attempt is a test that asks `is_refused` and names the result: its name
             says what is refused
Result       for each result what is tried, in the order of the files; nothing is imported, and nothing is run
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Attempt", "read_attempts"]

TABLE, REFUSAL, WHOLE = "broken_steps", "is_refused", "of_topic"  # functions of the tests
Builds = Mapping[tuple[str, str], str]  # the id of a result, by the module and the name of the function that states it


@dataclass(frozen=True)
class Attempt:
    """One attempt to break a result: its description in the test, whether it is a wrong variant, and the file."""

    what: str
    is_variant: bool
    file: str


def read_attempts(folder: Path, results: Mapping[str, Callable[[], Any]]) -> dict[str, list[Attempt]]:
    """Return the attempts of the tests in a folder to break each result of the catalogue.

    Raises       ValueError where the folder has no test
    """
    files = sorted(folder.rglob("test_*.py"))
    if not files:
        raise ValueError(f"there is no test in {folder}: name a folder of tests by --tests")
    builds = {(build.__module__, getattr(build, "__name__", "")): name for name, build in results.items()}
    found: dict[str, list[Attempt]] = defaultdict(list)
    for path in files:
        text = path.read_text(encoding="utf-8")
        if REFUSAL in text:
            module = _Module(ast.parse(text), builds, f"{folder.name}/{path.relative_to(folder).as_posix()}")
            for name, attempt in module.attempts():
                found[name].append(attempt)
    return found


class _Module:
    """A module of tests, with the objects that its names refer to."""

    def __init__(self, tree: ast.Module, builds: Builds, file: str) -> None:
        self.tree, self.builds, self.file = tree, builds, file
        self.imported: dict[str, tuple[str, str]] = {}
        self.assigned: dict[str, ast.expr] = {}
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                self.imported |= {each.asname or each.name: (node.module, each.name) for each in node.names}
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.assigned[node.targets[0].id] = node.value

    def attempts(self) -> Iterator[tuple[str, Attempt]]:
        """Yield each attempt with the id of the result that it tries to break."""
        for test in self.tree.body:
            if not isinstance(test, ast.FunctionDef) or not test.name.startswith("test_"):
                continue
            tables = [each for each in test.decorator_list if _calls(each, TABLE)]
            for table in tables:
                yield from self._variants(table)
            if not tables and any(_calls(node, REFUSAL) for node in ast.walk(test)):
                words = test.name.removeprefix("test_").replace("_", " ")
                yield from ((name, Attempt(words, False, self.file)) for name in self._named(test))

    def _variants(self, table: ast.expr) -> Iterator[tuple[str, Attempt]]:
        for row in ast.walk(self._value(table.args[0]) if isinstance(table, ast.Call) else table):
            if isinstance(row, ast.Tuple) and len(row.elts) == 5:
                what, result, *_ = row.elts
                if isinstance(what, ast.Constant) and isinstance(what.value, str):
                    yield from ((name, Attempt(what.value, True, self.file)) for name in self._results(result))

    def _value(self, node: ast.expr) -> ast.expr:
        """Return the expression that the module assigns to a name. Return any other expression as it is."""
        return self.assigned.get(node.id, node) if isinstance(node, ast.Name) else node

    def _named(self, test: ast.FunctionDef) -> Iterable[str]:
        """Return the ids of the results that a test calls or takes as parameters."""
        calls = [node.func for node in ast.walk(test) if isinstance(node, ast.Call)]
        given = [each for decorator in test.decorator_list for each in ast.walk(decorator)]
        wanted = [*calls, *(node for node in given if isinstance(node, ast.Name | ast.Attribute))]
        topics = (name for node in given if isinstance(node, ast.expr) for name in self._of_topic(self._value(node)))
        return dict.fromkeys([*(name for node in wanted for name in self._results(node)), *topics])

    def _of_topic(self, node: ast.expr) -> Iterator[str]:
        if isinstance(node, ast.Call) and _calls(node, WHOLE) and isinstance(node.args[0], ast.Constant):
            topic = str(node.args[0].value) + "."
            yield from (name for name in self.builds.values() if name.startswith(topic))

    def _results(self, node: ast.expr) -> Iterator[str]:
        """Yield the id of a result if the expression is the function that returns it."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module, name = ".".join(self.imported.get(node.value.id, ("",))), node.attr
        else:
            module, name = self.imported.get(node.id, ("", "")) if isinstance(node, ast.Name) else ("", "")
        if (module, name) in self.builds:
            yield self.builds[module, name]


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
