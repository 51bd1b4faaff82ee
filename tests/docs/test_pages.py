"""The README and the pages: what they show is what the package prints, and every example runs."""

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from derivations.cli import cli
from docs.build import GENERATORS, PageError, by_hand, pages, refreshed

FENCE = re.compile(r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```(?P<language>\S*)\n(?P<body>.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PROGRAM = re.compile(r"file: (?P<name>\S+)(?: needs: (?P<needs>.+))?")
PEERS = {"jax", "onnx", "onnxruntime", "openvino", "safetensors", "torch", "transformers"}
PRINTED = ("documents.md", "published.md", "questions.md")  # whole, by modules whose own tests find them stale
PAGES = [pytest.param(path, id=path.name) for path in pages()]
COMMANDS = {
    "command: main job": "python3.11 -m venv .venv && .venv/bin/pip install --quiet . && .venv/bin/derivations",
    "command: tests": (
        "python3.11 -m venv .venv && .venv/bin/pip install --quiet '.[test]' && .venv/bin/python -m pytest"
    ),
}


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[tuple[str, str]]:
    """The fenced blocks in a language: the mark in front of each, if any, and the body."""
    found = FENCE.finditer(text)
    return [(block["mark"] or "", block["body"]) for block in found if block["language"] == language]


def transcript(body: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    first, *rest = re.split(r"^\$ ", body, flags=re.M)
    assert first == "", "a console block starts with a command"
    return [(command, output) for command, _, output in (part.partition("\n") for part in rest)]


def programs() -> list[Any]:
    """The programs of all pages: file name, text and the libraries needed; one that needs a peer is a test of peers."""
    marked = [(PROGRAM.fullmatch(mark), body) for path in pages() for mark, body in blocks(read(path), "python")]
    found = [
        (mark["name"], body, [*re.findall(r"^(?:import|from) ([\w.]+)", body, re.M), *(mark["needs"] or "").split()])
        for mark, body in marked
        if mark
    ]
    return [
        pytest.param(*program, id=program[0], marks=pytest.mark.peers if of_peers(program[2]) else pytest.mark.slow)
        for program in found
    ]


def of_peers(modules: list[str]) -> bool:
    """Whether one of the modules comes with the extra `peers`."""
    return any(module.partition(".")[0] in PEERS for module in modules)


def failures_of_python(text: str, name: str) -> tuple[int, list[str]]:
    """How many examples a page has, and what was wrong with them; they run in order, in one namespace."""
    parser, runner, report = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False, optionflags=OPTIONS), []
    names_so_far: dict = {"__name__": "__main__"}
    count = 0
    for number, (mark, body) in enumerate(blocks(text, "python"), 1):
        if mark.startswith(("file: ", "source: ")):
            continue
        if mark.startswith("needs: ") and find_spec(mark.removeprefix("needs: ")) is None:
            continue
        test = parser.get_doctest(body, names_so_far, f"{name}, block {number}", name, 0)
        assert test.examples, f"{name}, block {number} has no >>> example"
        count += len(test.examples)
        runner.run(test, out=report.append, clear_globs=False)
        names_so_far = test.globs
    return count, report


def failure_of_a_program(name: str, body: str, needs: list[str], folder: Path, repository: Path) -> str:
    """What a program of a page says on standard error when it fails, or prints nothing; skips without its modules."""
    for module in needs:
        pytest.importorskip(module)
    (folder / name).write_text(body, encoding="utf-8")
    paths = {**os.environ, "PYTHONPATH": str(repository)}
    ran = subprocess.run(
        [sys.executable, name], cwd=folder, env=paths, capture_output=True, text=True, encoding="utf-8", timeout=300
    )
    return "" if ran.returncode == 0 and ran.stdout.strip() else ran.stderr or "nothing is printed"


def matches(shown: str, printed: str) -> bool:
    """Whether a printed output is the one shown, in which ... stands for anything; ... alone says nothing."""
    assert shown.strip() != "...", "an output of ... alone is no example"
    return doctest.OutputChecker().check_output(shown.strip() + "\n", printed.strip() + "\n", OPTIONS)


# --- the pages as they are ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_stale(path: Path):
    assert read(path) == refreshed(read(path)), f"{path.name} is stale: run `python -m docs.build`"


@pytest.mark.parametrize("path", PAGES)
def test_the_python_examples_run(path: Path):
    _, report = failures_of_python(read(path), path.name)
    assert not report, "".join(report)


@pytest.mark.parametrize(("name", "body", "needs"), programs())
def test_the_programs_run(name: str, body: str, needs: list[str], tmp_path: Path, repository: Path):
    assert not failure_of_a_program(name, body, needs, tmp_path, repository)


@pytest.mark.parametrize("path", PAGES)
def test_the_commands_print_what_is_shown(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for language in ("toml", "markdown"):
        for mark, body in blocks(read(path), language):
            if mark.startswith("file: "):
                file = tmp_path / mark.removeprefix("file: ")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(body, encoding="utf-8")
    for _, body in blocks(read(path), "console"):
        for command, shown in transcript(body):
            program, *arguments = shlex.split(command)
            assert program == "derivations"
            run = CliRunner().invoke(cli, arguments)
            assert run.exit_code == 0, f"{command}: {run.output}"
            assert matches(shown, run.stdout), f"{command} prints\n{run.stdout}"


@pytest.mark.parametrize("path", PAGES)
def test_every_link_leads_somewhere(path: Path):
    for target, anchor in LINK.findall(read(path)):
        linked = path.parent / target if target else path
        assert linked.exists(), f"{path.name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", read(linked), re.M)
            assert anchor[1:] in {re.sub(r"[^\w\- ]", "", h).lower().replace(" ", "-") for h in headings}


def test_every_kind_of_block_is_known():
    """Nothing is shown that no test runs: other languages than these need a test first."""
    languages = {block["language"] for path in pages() for block in FENCE.finditer(read(path))}
    recipes = {"yaml", "rst", "latex", "markdown", "py", "bash"}  # run in tests/documents/rendering/test_recipes.py
    assert languages <= {"python", "console", "toml", "sh", "math", "text"} | recipes
    assert {"python", "console", "math"} <= languages


@pytest.mark.parametrize("path", [page for page in PAGES if page.id not in PRINTED])
def test_no_display_is_typed_by_hand(path: Path):
    prose = by_hand(read(path))
    assert not [sign for sign in ("```math", "```text", "$`", "$$") if sign in prose]


def test_the_readme_holds_the_two_commands(repository: Path):
    """The only blocks of commands that no test here runs are those that the continuous integration runs."""
    found = {mark: body.strip() for mark, body in blocks(read(repository / "README.md"), "sh")}
    assert found == COMMANDS
    assert not [path for path in pages() if path.name != "README.md" and blocks(read(path), "sh")]


def test_the_readme_names_every_command(repository: Path):
    text = read(repository / "README.md")
    for name, command in cli.commands.items():
        assert command.hidden or f"| `derivations {name}" in text


def test_the_pages_are_listed(repository: Path):
    index = read(repository / "docs" / "index.md")
    others = {path.name for path in (repository / "docs").glob("*.md")} - {"index.md"}
    assert [name for name in sorted(others) if f"({name})" not in index] == []


# --- the checks say no ----------------------------------------------------------------------------------------------


def test_a_stale_page_is_noticed():
    page = refreshed("<!-- derivation: softmax.ratio -->\n<!-- end -->\n")
    assert r"\frac{y_i}{y_k} = e^{x_i - x_k}" in page
    assert refreshed(page) == page
    assert refreshed(page.replace("x_i - x_k", "x_i + x_k")) == page


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<!-- derivation: softmax.nothing -->\n<!-- end -->\n", "the nearest are"),
        ("<!-- derivation: softmax.ratio step -->\n<!-- end -->\n", "there is no option 'step'"),
        ("<!-- derivation: softmax.ratio gradient -->\n<!-- end -->\n", "only a layer has a gradient"),
        ("<!-- results: nothing -->\n<!-- end -->\n", "there are no results about nothing"),
        ("<!-- shapes: softmax q=2 -->\n<!-- end -->\n", "has no size q"),
        ("<!-- help: nothing -->\n<!-- end -->\n", "cannot be filled"),
        ("<!-- rules: -->\n", "has no end"),
        ("<!-- rules: -->\n<!-- trusted: -->\n<!-- end -->\n", "has no end before the mark in line 2"),
        ("<!-- rules: -->\n<!-- end -->\n<!-- end -->\n", "has no mark in front of it"),
    ],
)
def test_a_bad_mark_is_refused(text: str, sentence: str):
    with pytest.raises(PageError, match=sentence):
        refreshed(text)


def test_text_outside_the_marks_is_left_alone():
    text = "# A page\n\n<!-- command: tests -->\n<!-- rules: -->\nold\n<!-- end -->\nprose | with `signs`\n"
    before, after = text.split("old\n")
    assert refreshed(text).startswith(before) and refreshed(text).endswith(after)
    assert "quotient rule" in refreshed(text)


@pytest.mark.parametrize("kind", GENERATORS)
def test_every_kind_of_mark_is_used(kind: str):
    assert any(f"<!-- {kind}:" in read(path) for path in pages())


def test_a_wrong_example_is_noticed():
    count, report = failures_of_python("```python\n>>> 1 + 1\n3\n```\n\n```python\n>>> 2\n2\n```\n", "page")
    assert count == 2
    assert len([line for line in report if "Expected:\n    3\nGot:\n    2\n" in line]) == 1


@pytest.mark.parametrize(
    ("body", "said"), [("1 / 0\n", "ZeroDivisionError"), ("x = 1\n", "nothing is printed"), ("print(1)\n", "")]
)
def test_a_wrong_program_is_noticed(body: str, said: str, tmp_path: Path, repository: Path):
    found = failure_of_a_program("a.py", body, [], tmp_path, repository)
    assert said in found and bool(said) == bool(found)


def test_a_wrong_output_is_noticed():
    assert matches("one\n...\nthree", "one\ntwo\nthree\n")
    assert not matches("one\n...\nfour", "one\ntwo\nthree\n")
    with pytest.raises(AssertionError, match="no example"):
        matches("...", "anything")


@pytest.mark.parametrize(
    ("section", "arguments"),
    [
        ("## list", ["list"]),
        ("## show\n", ["show", "dot_product.variance"]),
        ("## show, for a layer", ["show", "multi_head_attention"]),
        ("## verify", ["verify", "softmax.jacobian"]),
    ],
)
def test_the_fields_of_json_are_those_documented(repository: Path, section: str, arguments: list[str]):
    text = read(repository / "docs" / "json.md").partition(section)[2].partition("\n## ")[0]
    tables = [re.findall(r"^\| `(\w+)` \| ([a-z]+)", table, re.M) for table in text.split("| field |")[1:]]
    printed = json.loads(CliRunner().invoke(cli, [*arguments, "--json"]).stdout)
    found = list(objects(printed))
    assert found
    for each in found:
        kinds = [(key, {str: "text", list: "list", dict: "object"}[type(value)]) for key, value in each.items()]
        assert kinds in tables
    for table in tables:
        assert any(list(each) == [name for name, _ in table] for each in found)


def objects(printed: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in a JSON value that have fields; the keys of `ranges` are indices, not fields."""
    if isinstance(printed, list):
        for each in printed:
            yield from objects(each)
    elif isinstance(printed, dict):
        yield printed
        for name, value in printed.items():
            if name != "ranges":
                yield from objects(value)


def test_a_block_is_read_with_its_mark():
    text = (
        "<!-- file: a.toml -->\n```toml\nx = 1\n```\n\n```console\n$ derivations list\na\n$ derivations verify\n```\n"
    )
    assert blocks(text, "toml") == [("file: a.toml", "x = 1\n")]
    ((_, body),) = blocks(text, "console")
    assert transcript(body) == [("derivations list", "a\n"), ("derivations verify", "")]
