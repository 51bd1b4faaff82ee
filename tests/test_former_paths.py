"""Modules are found by the paths that they had before they lay in rooms, with a warning, and nothing else is."""

import subprocess
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import derivations
import numeric
from derivations.former_paths import MOVED, new_path

ROOT = Path(derivations.__file__).parents[1]


def run(program: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, which has imported nothing of ours, with all warnings shown."""
    command = [sys.executable, "-W", "always::DeprecationWarning", *options]
    command += ["-c", program] if program else []
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)


def test_every_path_of_the_table_leads_to_a_module():
    assert len(MOVED) > 100
    assert [new for new in MOVED.values() if find_spec(new) is None] == []


def test_no_module_lies_at_a_former_path():
    places = [ROOT / former.replace(".", "/") for former in MOVED]
    assert [place for place in places if place.with_suffix(".py").exists() or (place / "__init__.py").exists()] == []


@pytest.mark.parametrize(
    "former",
    [
        "derivations.rotary",
        "derivations.counts",
        "derivations.published.kaplan",
        "derivations.language.normal_form.terms",
        "numeric.prepare",
        "numeric.load",
        "numeric.agreement.report",
    ],
)
def test_a_former_path_gives_the_module_itself_and_warns(former: str):
    sys.modules.pop(former, None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = import_module(former)
    assert found is import_module(str(new_path(former)))
    assert found.__name__ == found.__spec__.name == new_path(former)
    assert f"{former} is now {new_path(former)}: import it from there" in [str(each.message) for each in caught]
    assert {each.category for each in caught} == {DeprecationWarning}


def test_the_line_that_imports_is_blamed(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nfrom derivations.layer_norm import layer_norm\nprint(layer_norm().name)\n")
    done = run("", str(script))
    assert done.returncode == 0, done.stderr
    (warning,) = [line for line in done.stderr.splitlines() if "DeprecationWarning" in line]
    assert warning.startswith(f"{script}:2:") and "derivations.normalisation.layer_norm" in warning


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_module_of_a_former_name_does_not_hide_a_function():
    for former in ("numeric.load", "numeric.prepare", "derivations.language.derivation"):
        sys.modules.pop(former, None)
        found = import_module(former)
        package, _, name = former.rpartition(".")
        assert getattr(import_module(package), name) is getattr(found, name)
    assert callable(numeric.load) and callable(numeric.prepare)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "unknown",
    ["derivations.nothing", "derivations.published.nothing", "derivations.rotary.nothing", "numeric.loaded"],
)
def test_an_unknown_path_is_still_unknown(unknown: str):
    with pytest.raises(ModuleNotFoundError, match=f"No module named '{unknown}'") as error:
        import_module(unknown)
    assert error.value.name == unknown


def test_what_a_moved_module_misses_is_not_hidden():
    done = run("import sys; sys.modules['click'] = None; import numeric.train")
    assert done.returncode == 1
    assert "ModuleNotFoundError: import of click halted" in done.stderr


@pytest.mark.slow
def test_a_command_by_its_former_path_runs():
    done = run("", "-m", "numeric.train", "--help")
    assert done.returncode == 0 and done.stdout.startswith("Usage: ")
    assert "numeric.train is now numeric.models.train" in done.stderr


def test_the_package_imports_the_tables_and_no_more():
    done = run("import sys, derivations; print(*sorted(name for name in sys.modules if name.startswith('deriv')))")
    assert done.stdout.split() == ["derivations", "derivations.former_names", "derivations.former_paths"]


@pytest.mark.slow
def test_a_finder_that_asks_all_others_ends():
    """Instruments of coverage wrap the search for a module in the same way."""
    done = run(
        """
import sys

class Wrapped:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not cls)
        return next(filter(None, specs), None)

import derivations
sys.meta_path.insert(0, Wrapped)
import derivations.language, numeric.load
print(derivations.language.array.__name__, numeric.load.__name__)
"""
    )
    assert done.returncode == 0 and done.stdout.split() == ["array", "load"], done.stderr
