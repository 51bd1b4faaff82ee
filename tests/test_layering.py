"""The arrows between modules run one way: import-linter reads the contract, and two checks on syntax say the rest.

What import-linter cannot say: lambdify has one home, and the roof defers its heavy imports to inside functions.
"""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import starmap
from pathlib import Path

import pytest

from tests.tiers import few

LAMBDIFY_HOME = Path("numeric/codegen/functions.py")
HEAVY = {"numeric", "numpy", "scipy", "torch", "jax"}


def sources(repository: Path, package: str, words: Iterable[str]) -> Iterator[tuple[Path, ast.Module]]:
    """The modules of a package in which one of the words stands, parsed, by path relative to the repository."""
    for path in sorted((repository / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            yield path.relative_to(repository), ast.parse(text)


def mentions_lambdify(tree: ast.AST) -> bool:
    """Whether lambdify is imported, or reached as an attribute."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=module, names=aliases):
                if "lambdify" in (module or "").split(".") or any(alias.name == "lambdify" for alias in aliases):
                    return True
            case ast.Import(names=aliases):
                if any("lambdify" in alias.name.split(".") for alias in aliases):
                    return True
            case ast.Attribute(attr="lambdify"):
                return True
    return False


def heavy_imports_on_loading(tree: ast.AST) -> set[str]:
    """The heavy packages that are imported when the module is, that is, outside every function."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                continue
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=alternative):
                found |= heavy_imports_on_loading(ast.Module(body=alternative, type_ignores=[]))
            case ast.Import(names=aliases):
                found |= {alias.name.split(".")[0] for alias in aliases} & HEAVY
            case ast.ImportFrom(module=str(module), level=0):
                found |= {module.split(".")[0]} & HEAVY
            case _:
                found |= heavy_imports_on_loading(node)
    return found


def test_lambdify_has_one_home(repository: Path):
    modules = [each for package in ("derivations", "numeric") for each in sources(repository, package, ["lambdify"])]
    assert [path for path, tree in modules if mentions_lambdify(tree)] == [LAMBDIFY_HOME]


@pytest.mark.parametrize(
    "text",
    [
        "from sympy import lambdify",
        "from sympy import Symbol, lambdify as compiled",
        "from sympy.utilities.lambdify import lambdastr",
        "from sympy.utilities import lambdify",
        "import sympy.utilities.lambdify",
        "import sympy\nf = sympy.lambdify(x, x)",
        "def later():\n    from sympy import lambdify",
    ],
)
def test_a_second_home_of_lambdify_is_found(text: str):
    assert mentions_lambdify(ast.parse(text))


def test_speaking_of_lambdify_is_no_second_home():
    assert not mentions_lambdify(ast.parse('"""No lambdify here."""\nfrom sympy import Symbol\nname = "lambdify"'))


def test_the_symbolic_side_loads_without_the_numeric_side(repository: Path):
    modules = dict(sources(repository, "derivations", HEAVY))
    assert modules
    heavy = {str(path): found for path, tree in modules.items() if (found := heavy_imports_on_loading(tree))}
    assert heavy == {}


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np",
        "from numeric.codegen.compile import compile_layer",
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None",
        "class C:\n    import scipy.special",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import torch",
    ],
)
def test_a_heavy_import_on_loading_is_found(text: str):
    assert heavy_imports_on_loading(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "def run():\n    import numpy",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy",
        "import numerics\nfrom derivations.numbers import numeric",
    ],
)
def test_a_deferred_import_passes(text: str):
    assert heavy_imports_on_loading(ast.parse(text)) == set()


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of the pyproject.toml in the folder against the packages beside it."""
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", script, "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)


def test_the_contracts_are_kept(repository: Path):
    run = lint_imports(repository)
    assert run.returncode == 0, run.stdout + run.stderr


WRONG_ARROWS: list[tuple[dict[str, str], str]] = [
    ({"derivations/symbols.py": "import derivations.language"}, "The symbolic side has one direction"),
    ({"derivations/language/__init__.py": "import derivations.softmax"}, "The symbolic side has one direction"),
    ({"derivations/unplaced.py": ""}, "The symbolic side has one direction"),
    (
        {
            "derivations/language/first.py": "import derivations.language.second",
            "derivations/language/second.py": "import derivations.language.first",
        },
        "No circle of modules",
    ),
    ({"derivations/symbols.py": "import numpy"}, "The symbolic side knows no arrays"),
    ({"derivations/language/__init__.py": "import numeric"}, "The symbolic side knows no arrays"),
    (
        {"numeric/codegen/compile.py": "import numeric.verification.reference"},
        "The numeric side has one direction",
    ),
    ({"numeric/unplaced.py": ""}, "The numeric side has one direction"),
    ({"numeric/models/weights.py": "import derivations.cli"}, "The numeric side stands under the roof"),
    (
        {"numeric/verification/reference/__init__.py": "import derivations.symbols"},
        "The reference shares no code with what it checks",
    ),
    (
        {"numeric/verification/reference/__init__.py": "import sympy"},
        "The reference shares no code with what it checks",
    ),
]


@pytest.mark.parametrize(("additions", "broken"), few(starmap(pytest.param, WRONG_ARROWS), fast=2))
def test_a_wrong_arrow_breaks_the_contract(repository: Path, tmp_path: Path, additions: dict[str, str], broken: str):
    for package in ("derivations", "numeric"):
        shutil.copytree(repository / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(repository / "pyproject.toml", tmp_path)
    for module in ("derivations/cli/__init__.py", "derivations/softmax/softmax.py"):
        (tmp_path / module).touch()
    for module, line in additions.items():
        with (tmp_path / module).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
    run = lint_imports(tmp_path)
    assert run.returncode == 1, run.stdout + run.stderr
    assert [row for row in run.stdout.splitlines() if row.startswith(f"{broken} BROKEN")], run.stdout
