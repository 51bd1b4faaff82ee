"""The diff: `git apply` takes it, and it says what the standard library says."""

import difflib
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from derivations.documents.replacing import Replacement, repaired
from derivations.documents.reports.differences import unified_diff


def by_difflib(before: str, after: str) -> str:
    """The diff of the standard library, for texts whose last line ends."""
    lines = (text.splitlines(keepends=True) for text in (before, after))
    return "".join(difflib.unified_diff(*lines, "a/x", "b/x"))


def random_changes(text: str, numbers: random.Random) -> list[Replacement]:
    """Replacements in order, none touching another; what is put in is in no line."""
    places = sorted(numbers.sample(range(len(text)), 8))
    pairs = zip(places[::2], places[1::2], strict=True)
    return [Replacement(start, end, numbers.choice(["", "Z", "Z\nZ"])) for start, end in pairs if end - start < 9]


@pytest.mark.parametrize("seed", range(40))
def test_the_diff_is_that_of_the_standard_library(seed: int):
    numbers = random.Random(seed)
    text = "".join(f"line {number} {numbers.random()}\n" for number in range(numbers.randint(3, 60)))
    changes = [change for change in random_changes(text, numbers) if "\n" not in text[change.start : change.end]]
    changes = [change for change in changes if change.text or change.start < change.end]
    assert unified_diff("x", text, changes) == by_difflib(text, repaired(text, changes))


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("text", ["one\r\ntwo\r\nthree", "one\ntwo\nthree\n", "two", "x\ntwo\f\x0b\u2028three\n中\n"])
def test_git_applies_it(tmp_path: Path, text: str, encoding: str):
    path = tmp_path / "x"
    path.write_bytes(text.encode(encoding))
    start = text.index("two")
    changes = [Replacement(start, start + 3, "2"), Replacement(len(text.rstrip()), len(text.rstrip()), "!")]
    (tmp_path / "d").write_bytes(unified_diff("x", text, changes, encoding).encode("utf-8"))
    subprocess.run(
        ["git", "apply", "d"], cwd=tmp_path, check=True, env={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    )
    assert path.read_bytes() == repaired(text, changes).encode(encoding)


def test_nothing_changed_is_no_diff():
    assert unified_diff("x", "one\n", []) == ""


def test_the_name_of_a_file_is_on_one_line():
    diff = unified_diff("a\nb\x1b", "one\n", [Replacement(0, 3, "two")])
    assert diff.splitlines()[:2] == [r"--- a/a\nb\x1b", r"+++ b/a\nb\x1b"]
    assert unified_diff("/a", "one\n", [Replacement(0, 3, "two")]).startswith("--- /a\n+++ /a\n")
