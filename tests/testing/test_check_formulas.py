"""`pytest --check-formulas`: every formula of a document is a test item."""

from pathlib import Path

import pytest

from tests.testing.test_pytest_plugin import run_pytest

CHECK = """
import pytest
from derivations.documents import claims
from derivations.documents.verdicts import Finding

def pytest_configure():
    claims.CHECKS = (check,)

def check(statement, link, scope):
    text = statement.passage.text
    if "7" in text:
        yield Finding("wrong", "arithmetic", "2 + 3 is 5, not 7", right="2 + 3 = 5")
    elif "=" in text:
        yield Finding("holds", "arithmetic", "right")
"""


def folder_of(folder: Path) -> Path:
    """A folder with documents, and one check alone that calls 7 wrong."""
    (folder / "conftest.py").write_text(CHECK, encoding="utf-8")
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("$2 + 3 = 5$ and\n$2 + 3 = 7$\n\n$a <> b ($\n", encoding="utf-8")
    (folder / "docs" / "b.ipynb").write_text("{", encoding="utf-8")
    (folder / "docs" / "c.png").write_text("$2 + 3 = 7$", encoding="utf-8")
    return folder


def test_every_formula_is_an_item(tmp_path: Path, repository: Path):
    run = run_pytest(folder_of(tmp_path), repository, "--check-formulas", "docs", "-vv", "-rs")
    assert run.returncode == 1, run.stdout + run.stderr
    assert "docs/a.md::1:2 PASSED" in run.stdout
    assert "docs/a.md::2:2 FAILED" in run.stdout
    assert "2:2: 2 + 3 = 7\n2 + 3 is 5, not 7  [arithmetic]\nright: 2 + 3 = 5" in run.stdout
    assert "SKIPPED [1] docs/a.md: not decided: " in run.stdout
    assert "docs/b.ipynb::1:" in run.stdout
    assert "2 failed, 1 passed, 1 skipped" in run.stdout
    assert "Traceback" not in run.stdout
    assert "pytest_plugin.py" not in run.stdout


@pytest.mark.slow
def test_nothing_is_collected_unless_it_is_asked_for(tmp_path: Path, repository: Path):
    run = run_pytest(folder_of(tmp_path), repository, "docs")
    assert run.returncode == 5, run.stdout + run.stderr


@pytest.mark.slow
def test_the_settings_of_the_folder_hold(tmp_path: Path, repository: Path):
    folder = folder_of(tmp_path)
    (folder / "docs" / "b.ipynb").unlink()
    settings = '[tool.derivations.check]\nper-file-ignores = { "docs/*" = ["arithmetic"] }\n'
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
    run = run_pytest(folder, repository, "--check-formulas", "docs")
    assert run.returncode == 0, run.stdout + run.stderr
    (folder / "pyproject.toml").write_text("[tool.derivations.check]\nexclude = ['docs/*']\n", encoding="utf-8")
    assert run_pytest(folder, repository, "--check-formulas", "docs").returncode == 5
    assert run_pytest(folder, repository, "--check-formulas", "docs/a.md").returncode == 1
