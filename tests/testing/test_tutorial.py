"""The tutorial runs from the first cell to the last, and what it shows is what the package says now."""

import copy
from pathlib import Path

import pytest

pytest.importorskip("nbclient", reason="the notebook is run by a package of the extra `dev`")

from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from docs.notebook import TUTORIAL, executed, read, shown, write

pytestmark = [  # the kernel is another process, with warnings of its own
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),
]


def test_the_tutorial_runs_and_is_not_stale(repository: Path):
    kept = read()
    assert len(shown(kept)) > 10
    assert all(outputs for source, outputs in shown(kept) if not source.startswith("def "))
    assert shown(executed(kept, repository)) == shown(kept), "the tutorial is stale: run `python -m docs.notebook`"


def test_the_file_is_as_it_is_written(tmp_path: Path):
    write(read(), tmp_path / "again.ipynb")
    assert (tmp_path / "again.ipynb").read_bytes() == TUTORIAL.read_bytes()
    assert all("execution" not in cell.metadata for cell in read().cells)


def test_the_checks_say_no(tmp_path: Path):
    """An output that has changed, and a cell that raises."""
    notebook = new_notebook(cells=[new_markdown_cell("Words"), new_code_cell("1 + 1"), new_code_cell("print('a')")])
    ran = executed(notebook, tmp_path)
    assert [output for _, outputs in shown(ran) for output in outputs] != []
    assert shown(executed(ran, tmp_path)) == shown(ran)
    stale = copy.deepcopy(ran)
    stale.cells[1].outputs[0]["data"]["text/plain"] = "3"
    assert shown(executed(stale, tmp_path)) == shown(ran) != shown(stale)
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        executed(new_notebook(cells=[new_code_cell("1 / 0")]), tmp_path)
