"""The wheel and the sdist hold what they should, are installed, and run; their metadata are what an index expects."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from trove_classifiers import classifiers

from tests.tiers import few


@pytest.fixture(scope="session")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as pip builds it, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(repository)).build(directory=str(folder), versions=["standard"])
    return Path(built)


@pytest.fixture(scope="session")
def sdist(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, built without a network."""
    folder = tmp_path_factory.mktemp("sdist")
    (built,) = SdistBuilder(str(repository)).build(directory=str(folder), versions=["standard"])
    return Path(built)


def installed(distribution: Path, folder: Path) -> Path:
    """Install a wheel or sdist into a folder of its own, next to none of its dependencies and without a network."""
    alone = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check", "--target", str(folder))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", *alone, str(distribution)]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=folder.parent, check=False)
    assert ran.returncode == 0, ran.stderr
    return folder


def says(folder: Path, *command: str) -> str:
    """What a command prints that finds the packages in the folder, and not in this checkout."""
    alone = {**os.environ, "PYTHONPATH": str(folder)}
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=folder, env=alone, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def entries(wheel: Path) -> list[str]:
    """The paths in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def text_of(wheel: Path, ending: str) -> str:
    """The one file of the wheel's .dist-info folder with that ending."""
    (path,) = [entry for entry in entries(wheel) if ".dist-info/" in entry and entry.endswith(ending)]
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(path).decode("utf-8")


@pytest.fixture(scope="session")
def metadata(wheel: Path) -> Message:
    return Parser().parsestr(text_of(wheel, "/METADATA"))


def test_the_wheel_holds_the_two_packages_alone(wheel: Path):
    tops = {entry.split("/")[0] for entry in entries(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"derivations", "numeric"}
    assert len(tops) == 3


def test_the_wheel_holds_every_module(wheel: Path, repository: Path):
    modules = {
        path.relative_to(repository).as_posix()
        for package in ("derivations", "numeric")
        for path in (repository / package).rglob("*.py")
    }
    assert modules
    assert {entry for entry in entries(wheel) if entry.endswith(".py")} == modules


@pytest.mark.parametrize("kind", few(["wheel", "sdist"], fast=1))
def test_what_is_installed_runs(kind: str, request: pytest.FixtureRequest, tmp_path: Path):
    folder = installed(request.getfixturevalue(kind), tmp_path / "installed")
    program = "import derivations, numeric; print(derivations.__file__, numeric.__file__, sep='\\n')"
    places = says(folder, sys.executable, "-c", program).splitlines()
    assert places == [str(folder / package / "__init__.py") for package in ("derivations", "numeric")]
    command = says(folder, sys.executable, str(folder / "bin" / "derivations"), "show", "softmax.jacobian")
    assert command.endswith("Evidence: proved.\n")


def test_the_sdist_holds_what_the_wheel_is_built_from(wheel: Path, sdist: Path, tmp_path: Path):
    with tarfile.open(sdist) as archive:
        # Python 3.11 has filters from 3.11.4 on
        archive.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (root,) = tmp_path.iterdir()
    (again,) = WheelBuilder(str(root)).build(directory=str(tmp_path / "again"), versions=["standard"])
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert {name: one.read(name) for name in one.namelist()} == {
            name: other.read(name) for name in other.namelist()
        }
    assert {"tests", "docs", "README.md", "CHANGELOG.md", "LICENSE"} <= {path.name for path in root.iterdir()}


def test_both_packages_are_typed(wheel: Path):
    assert {"derivations/py.typed", "numeric/py.typed"} <= set(entries(wheel))


def test_an_editor_completes_the_public_names():
    """Before anything else is imported: what is imported late is listed from the start."""
    program = "import derivations; print(set(derivations.__all__) <= set(dir(derivations)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    assert ran.stdout == "True\n"


def test_the_readme_is_the_long_description(metadata: Message, repository: Path):
    readme = (repository / "README.md").read_text(encoding="utf-8")
    assert readme.strip()
    assert str(metadata.get_payload()).strip() == readme.strip()
    assert metadata["Description-Content-Type"] == "text/markdown"


def test_the_licence_is_apache_2(metadata: Message, wheel: Path, repository: Path):
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert text_of(wheel, "/LICENSE") == (repository / "LICENSE").read_text(encoding="utf-8")


def test_every_classifier_exists(metadata: Message):
    declared = metadata.get_all("Classifier", [])
    assert declared
    assert set(declared) <= classifiers
    # the licence is an expression, beside which a package index refuses a licence classifier
    assert not [classifier for classifier in declared if classifier.startswith("License ::")]


def test_the_command_is_installed(wheel: Path):
    assert "derivations = derivations.cli:main" in text_of(wheel, "/entry_points.txt").splitlines()


def test_every_dependency_is_capped(repository: Path):
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    uncapped = [
        requirement for requirement in project["dependencies"] if ">=" not in requirement or "<" not in requirement
    ]
    assert project["dependencies"]
    assert uncapped == []
    assert project["requires-python"] == ">=3.11"  # without an upper end: it would be one for every user
    assert set(project["optional-dependencies"]) == {"test", "dev", "fast", "gelu", "onnx", "peers", "plots", "docs"}
