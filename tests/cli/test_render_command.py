"""The command `render`: what it writes, checks and prints, its exit codes, and one sentence for bad input."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from derivations.cli.rendering import render_command

BLOCK = "<!-- derivation: softmax.jacobian -->\n<!-- end -->\n"
FORMULA = r"y_{i} (\delta_{ik} - y_{k})"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(render_command, list(map(str, arguments)), prog_name="derivations render")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "notes.md"
    path.write_text(f"# Notes\n\n{BLOCK}", encoding="utf-8", newline="\n")
    return path


def test_blocks_are_written_once(page: Path):
    os.chmod(page, 0o640)
    result = run(page)
    assert result.exit_code == 0 and "1 of 1 blocks written" in result.stderr and result.stdout == ""
    assert FORMULA in page.read_text(encoding="utf-8")
    assert stat.S_IMODE(page.stat().st_mode) == 0o640 and list(page.parent.iterdir()) == [page]
    before = page.stat()
    assert (
        run(page).exit_code == 0
        and page.stat().st_mtime_ns == before.st_mtime_ns
        and page.stat().st_ino == before.st_ino
    )


def test_check_writes_nothing_and_names_what_is_stale(page: Path):
    before = page.read_bytes()
    result = run(page, "--check")
    assert result.exit_code == 1 and f"{page}:3:1: softmax.jacobian is stale" in result.stderr
    assert page.read_bytes() == before
    run(page)
    assert run(page, "--check").exit_code == 0
    assert run(page, "--check", "--lang", "zh-Hant").exit_code == 1, "another language is another text"
    page.write_text(page.read_text(encoding="utf-8").replace("- y", "+ y"), encoding="utf-8")
    assert run(page, "--check").exit_code == 1, "a formula changed by hand is stale"


def test_the_diff_makes_of_the_file_what_the_command_writes(page: Path):
    before = page.read_bytes()
    difference = run(page, "--diff")
    assert difference.exit_code == 0 and page.read_bytes() == before
    assert run(page, "--diff", "--check").exit_code == 1
    patch = difference.stdout.replace(str(page), page.name).replace(f"--- {page.name}", f"--- a/{page.name}")
    patch = patch.replace(f"+++ {page.name}", f"+++ b/{page.name}")
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=page.parent, check=True)
    assert run(page, "--check").exit_code == 0


def test_options_of_the_command(page: Path, tmp_path: Path):
    notation = tmp_path / "mine.toml"
    notation.write_text('[names]\nn = "L"\n', encoding="utf-8")
    assert run(page, "--notation", notation, "--math", "equation", "--label", "eq", "--lang", "zh-Hant").exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert r"\ldots, L$" in text and r"\begin{equation}\label{eq-softmax-jacobian}" in text and "其中" in text


def test_a_folder_is_searched_and_nothing_is_written_where_one_file_cannot_be_filled(page: Path):
    bad = page.with_name("other.rst")
    bad.write_text("Text\n\n.. derivation: softmax.jacobean\n.. end\n", encoding="utf-8")
    before = page.read_bytes()
    result = run(page.parent)
    assert result.exit_code == 1 and f"{bad}:3:1: there is no result called" in result.stderr  # 2 from the command line
    assert page.read_bytes() == before
    bad.unlink()
    assert run(page.parent).exit_code == 0 and page.read_bytes() != before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.md",), "there is no file or folder called"),
        (("--notation", "nowhere"), "there is no notation"),
        (("--label", "{"), "letters, digits and hyphens"),
        (("--label", "eq", "--math", "fence"), "takes no label"),
    ],
)
def test_bad_input_is_one_sentence(page: Path, arguments: tuple[str, ...], message: str):
    result = run(page, *arguments)
    assert result.exit_code != 0 and message in result.stderr and result.stderr.count("\n") == 1


def test_a_file_without_blocks_is_told_how_to_write_one(tmp_path: Path):
    (tmp_path / "a.md").write_text("Text\n", encoding="utf-8")
    result = run(tmp_path / "a.md")
    assert result.exit_code == 0 and "write <!-- derivation: softmax.jacobian -->" in result.stderr
