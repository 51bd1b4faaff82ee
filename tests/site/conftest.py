"""Finds Node.js with KaTeX, Playwright and axe, and Chromium; nothing is installed here.

The npm packages are in $KATEX_DIR/node_modules, or in node_modules at the root. Where one is absent, its
tests are skipped with the reason; where CI=true they fail instead, so that a skip cannot pass for a check.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner

from derivations.cli import cli
from derivations.site.katex import Katex, katex_in
from tests.once import once

Node = Callable[..., Any]


def absent(reason: str) -> NoReturn:
    """Skip, or fail where CI=true."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with one visit to the site, which takes longest, and leave what else reads of it for the end.

    Else the other workers wait for the visit, or for the site, as well.
    """
    visits, reading = (
        [each for each in items if name in getattr(each, "fixturenames", ())] for name in ("seen", "site")
    )
    late = {*visits[1:], *reading} - {*visits[:1]}
    others = [item for item in items if item not in late and item not in visits[:1]]
    items[:] = [*visits[:1], *others, *(item for item in items if item in late)]


@pytest.fixture(scope="session")
def packages(repository: Path) -> Path:
    """The folder whose node_modules has the npm packages."""
    return Path(os.environ.get("KATEX_DIR", repository))


@pytest.fixture(scope="session")
def katex(packages: Path) -> Katex:
    """KaTeX by Node.js."""
    try:
        return katex_in(packages)
    except ValueError as error:
        absent(str(error))


@pytest.fixture(scope="session")
def node() -> Node:
    """A function that runs a script of this folder on a JSON value, and returns the JSON that it prints."""
    program = shutil.which("node")
    if program is None:
        absent("the scripts of the site need Node.js: no `node` on the PATH")

    def run(script: str, request: object, *arguments: Path) -> Any:
        command = [program, str(Path(__file__).with_name(script)), *map(str, arguments)]
        answer = subprocess.run(
            command, input=json.dumps(request), capture_output=True, encoding="utf-8", check=False, timeout=900
        )
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout)

    return run


@pytest.fixture(scope="session")
def chromium(packages: Path) -> Path:
    """The program Chromium; Playwright and axe are installed as well."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        absent("the site is opened in Chromium: no `chromium` on the PATH")
    for name in ("playwright-core", "axe-core"):
        if not (packages / "node_modules" / name).is_dir():
            absent(f"no node_modules/{name} in $KATEX_DIR or at the root: run `npm install --prefix DIR {name}`")
    return Path(program)


@pytest.fixture(scope="session")
def site(katex: Katex, packages: Path, run_folder: Path) -> Path:
    """The whole site with Python in it, as the command writes it; one worker builds it for all."""
    if not (packages / "node_modules" / "pyodide").is_dir():
        absent("no node_modules/pyodide in $KATEX_DIR or at the root: run `npm install --prefix DIR pyodide@0.29`")

    def build(folder: Path) -> None:
        run = CliRunner().invoke(cli, ["site", str(folder), "--katex", str(packages), "--pyodide", str(packages)])
        assert run.exit_code == 0, run.output

    return once(run_folder, "site", build)
