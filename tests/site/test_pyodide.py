"""Python for the browser: what the archive holds, and what is said where Pyodide is not installed."""

import json
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from derivations.site.judge import judge_page
from derivations.site.katex import Katex
from derivations.site.pyodide import ARCHIVES, archive, pyodide_in


@pytest.mark.slow
def test_the_archive_holds_the_package_and_what_it_imports_without_tests():
    packed = archive(ARCHIVES["package"])
    names = ZipFile(BytesIO(packed)).namelist()
    for name in ("derivations/site/asked.py", "derivations/costs/fit/hardware.toml", "sympy/core/basic.py"):
        assert name in names
    assert not [name for name in names if "/tests/" in name or "__pycache__" in name or name.startswith((".", "/"))]
    assert archive(ARCHIVES["package"]) == packed  # and it depends on the files alone


def test_without_pyodide_one_sentence_says_what_to_install(tmp_path: Path):
    with pytest.raises(ValueError, match=r"run `npm install pyodide@0\.29` there"):
        pyodide_in("node", tmp_path)


WHEEL = "numpy-2.2.5-cp313-cp313-pyemscripten_2025_0_wasm32.whl"
LOCK = {
    "info": {"abi_version": "2025_0", "arch": "wasm32", "platform": "emscripten_4_0_9", "python": "3.13.2"},
    "packages": {"numpy": {"file_name": WHEEL, "version": "2.2.5"}},
}


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder in which npm seems to have installed Pyodide."""
    folder = tmp_path / "node_modules" / "pyodide"
    folder.mkdir(parents=True)
    for name in ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip"):
        (folder / name).write_text("", encoding="utf-8")
    (folder / "pyodide-lock.json").write_text(json.dumps(LOCK), encoding="utf-8")
    return tmp_path


def test_the_wheel_of_numpy_is_taken_from_the_folder_or_from_the_package(installed: Path):
    assert pyodide_in("node", installed).numpy is None
    beside = installed / "node_modules" / "pyodide" / WHEEL
    beside.write_bytes(b"")
    assert pyodide_in("node", installed).numpy == beside
    own = installed / "numpy-2.2.4-cp313-cp313-pyodide_2025_0_wasm32.whl"  # as it was called before
    own.write_bytes(b"")
    beside.unlink()
    assert pyodide_in("node", installed).numpy == own


@pytest.mark.parametrize(
    "name",
    [
        "numpy-2.2.5-cp312-cp312-pyodide_2024_0_wasm32.whl",
        "numpy-2.2.5-cp313-cp313-manylinux_2_17_x86_64.whl",
        "numpy-2.2.5-cp314-cp314-pyodide_2025_0_wasm32.whl",
    ],
)
def test_a_wheel_for_another_python_is_refused_in_one_sentence(installed: Path, name: str):
    (installed / name).write_bytes(b"")
    with pytest.raises(ValueError, match=rf"^{name} is not for this Pyodide: it takes {WHEEL}, of the ABI 2025_0$"):
        pyodide_in("node", installed)


def test_the_page_takes_functions_where_numpy_is_there():
    page = judge_page(has_python=True, layers={"softmax": "Softmax"})
    assert '<option value="softmax">Softmax (softmax)</option>' in page.content.text
    without = judge_page(has_python=True)
    assert 'id="function"' not in without.content.text and "the wheel of NumPy" in without.content.text


def test_a_site_without_python_says_how_to_have_it():
    page = judge_page(has_python=False)
    assert "npm install pyodide@0.29" in page.content.text and "<form" not in page.content.text
    assert page.scripts == ()


@pytest.mark.browser
def test_a_pyodide_that_does_not_run_is_named(installed: Path, katex: Katex):
    with pytest.raises(ValueError, match=r"does not run: .*; install it again"):
        pyodide_in(katex.node, installed).files()
