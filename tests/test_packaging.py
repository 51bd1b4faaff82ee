"""The wheel holds the two packages and nothing else, and its metadata are what a user and a package index expect."""

import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from trove_classifiers import classifiers


@pytest.fixture(scope="session")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as pip builds it, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(repository)).build(directory=str(folder), versions=["standard"])
    return Path(built)


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
    assert set(project["optional-dependencies"]) == {"test", "dev", "peers", "plots", "docs"}
