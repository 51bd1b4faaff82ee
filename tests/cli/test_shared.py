"""Tables and sentences in the width of the terminal."""

import pytest
from click.testing import CliRunner

from derivations.cli import cli
from derivations.cli.shared import said, shortened, table_of, wrapped

ROWS = [("softmax.jacobian", "proved", "", "a sentence of some length " * 4), ("attention.scores", "proved", "", "")]
COLUMNS = ("id", "evidence", "failures", "what it says")


@pytest.fixture(params=[60, 80, 120])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    return request.param


def test_no_line_of_a_table_is_wider_than_the_terminal(width: int, capsys: pytest.CaptureFixture[str]):
    table_of("verified", COLUMNS, ROWS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip() == "2 verified"
    assert max(map(len, lines)) <= width


def test_a_narrow_terminal_gets_a_record_for_each_row(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    table_of("verified", COLUMNS, ROWS)
    assert capsys.readouterr().out.splitlines()[1:3] == ["id: softmax.jacobian", "  evidence: proved"]
    table_of("verified", COLUMNS[:2], [row[:2] for row in ROWS])
    assert "┃ id" in capsys.readouterr().out  # a table that fits stays one


def test_sentences_are_broken_at_words(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "20")
    assert said("an id such as softmax.jacobian_diagonal", "  ") == "an id such as\n  softmax.jacobian_diagonal"
    assert wrapped("short\n    x = a + b + c + d + e") == "short\n    x = a + b + c +\n      d + e"
    assert shortened("some words that are cut", 15) == "some words ..."


@pytest.mark.parametrize("command", [(), *((name,) for name in cli.commands)])
def test_help_fits_into_a_terminal_of_eighty_columns(command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(cli, [*command, "--help"], prog_name="derivations", terminal_width=80).stdout
    assert max(map(len, shown.splitlines())) <= 80
