"""Python for the browser: what the archive holds, and what is said where Pyodide is not installed."""

from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from derivations.site.judge import judge_page
from derivations.site.katex import Katex
from derivations.site.pyodide import archive, pyodide_in


@pytest.mark.slow
def test_the_archive_holds_the_package_and_what_it_imports_without_tests():
    packed = archive()
    names = ZipFile(BytesIO(packed)).namelist()
    for name in ("derivations/site/asked.py", "derivations/costs/fit/hardware.toml", "sympy/core/basic.py"):
        assert name in names
    assert not [name for name in names if "/tests/" in name or "__pycache__" in name or name.startswith((".", "/"))]
    assert archive() == packed  # and it depends on the files alone


def test_without_pyodide_one_sentence_says_what_to_install(tmp_path: Path):
    with pytest.raises(ValueError, match=r"run `npm install pyodide@0\.29` there"):
        pyodide_in("node", tmp_path)


def test_a_site_without_python_says_how_to_have_it():
    page = judge_page(has_python=False)
    assert "npm install pyodide@0.29" in page.content.text and "<form" not in page.content.text
    assert page.scripts == ()


@pytest.mark.browser
def test_a_pyodide_that_does_not_run_is_named(tmp_path: Path, katex: Katex):
    folder = tmp_path / "node_modules" / "pyodide"
    folder.mkdir(parents=True)
    names = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip")
    for name in names:
        (folder / name).write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=r"does not run: .*; install it again"):
        pyodide_in(katex.node, tmp_path).files()
