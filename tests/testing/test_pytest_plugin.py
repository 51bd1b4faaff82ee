"""The pytest plugin: the fixture works in somebody's tests, and nothing heavy is imported when pytest starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("sympy", "numpy", "numeric", "derivations.catalogue")


def run_pytest(folder: Path, repository: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder of its own, with the plugin."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "derivations.pytest_plugin", "-p", "no:cacheprovider"]
    command += options
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    outer = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}  # such as --cov
    environment = {**outer, "PYTHONPATH": str(repository), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.slow
def test_the_fixture_gives_results_by_their_id(tmp_path: Path, repository: Path):
    (tmp_path / "test_mine.py").write_text(
        "import pytest\n"
        "def test_right(derivation):\n"
        "    assert derivation('softmax.jacobian').evidence.level == 'proved'\n"
        "def test_wrong(derivation):\n"
        "    with pytest.raises(LookupError, match='the nearest are softmax.jacobian'):\n"
        "        derivation('softmax.jacobain')\n",
        encoding="utf-8",
    )
    run = run_pytest(tmp_path, repository)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 passed" in run.stdout


@pytest.mark.slow
def test_nothing_heavy_is_imported_before_the_fixture_is_used(tmp_path: Path, repository: Path):
    (tmp_path / "test_mine.py").write_text(
        "import sys\n"
        "def test_before():\n"
        f"    assert [name for name in {HEAVY} if name in sys.modules] == []\n"
        "def test_after(derivation):\n"
        "    derivation('softmax.ratio')\n"
        "    assert 'sympy' in sys.modules\n",
        encoding="utf-8",
    )
    run = run_pytest(tmp_path, repository)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 passed" in run.stdout


def test_the_fixture_is_listed_with_its_words(tmp_path: Path, repository: Path):
    run = run_pytest(tmp_path, repository, "--fixtures")
    assert "derivation [session scope]" in run.stdout
    assert "Return the function that gives a result by its id" in run.stdout


@pytest.mark.slow
def test_a_failure_is_shown_without_the_frames_of_this_package(tmp_path: Path, repository: Path):
    (tmp_path / "test_mine.py").write_text(
        "from sympy import Symbol\n"
        "from derivations.testing import assert_equal, assert_implements\n"
        "def test_equal():\n"
        "    assert_equal(Symbol('x'), 2 * Symbol('x'))\n"
        "def test_implements():\n"
        "    assert_implements(lambda x: x, 'softmax')\n"
        "def test_raises():\n"
        "    assert_implements(lambda x: x.nothing, 'softmax')\n",
        encoding="utf-8",
    )
    run = run_pytest(tmp_path, repository)
    assert run.returncode == 1
    assert "3 failed" in run.stdout
    assert "refuted: x = 2*x does not hold" in run.stdout
    assert "the function is not softmax: it returned 0 at [0], where the layer gives 1" in run.stdout
    assert "it raised AttributeError: 'numpy.ndarray' object has no attribute 'nothing' (line 8 of" in run.stdout
    for frame in ("equality.py", "implementation.py", "conformance", "During handling"):
        assert frame not in run.stdout


def test_verdicts_are_counted_by_their_levels(tmp_path: Path, repository: Path):
    (tmp_path / "test_mine.py").write_text(
        "import numpy as np\n"
        "import pytest\n"
        "def softmax(x):\n"
        "    weights = np.exp(x - x.max(-1, keepdims=True))\n"
        "    return weights / weights.sum(-1, keepdims=True)\n"
        "def test_right(prove):\n"
        "    assert prove(softmax, 'softmax').level == 'proved'\n"
        "    prove(lambda x: softmax(2 * x / 2), 'softmax')\n"
        "def test_tested(prove):\n"
        "    by_rows = lambda x: np.apply_along_axis(softmax, -1, x)\n"
        "    assert prove(by_rows, 'softmax', or_tested=True).level == 'tested'\n"
        "def test_wrong(prove):\n"
        "    prove(lambda x: softmax(2 * x), 'softmax')\n",
        encoding="utf-8",
    )
    run = run_pytest(tmp_path, repository)
    assert run.returncode == 1
    assert "1 failed, 2 passed" in run.stdout
    assert "derivations: 2 proved, 1 tested, 1 not proved" in run.stdout


def test_a_run_without_verdicts_says_nothing_of_them(tmp_path: Path, repository: Path):
    (tmp_path / "test_mine.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
    assert "derivations:" not in run_pytest(tmp_path, repository).stdout
