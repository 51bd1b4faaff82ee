"""The pages about models: tables are what the package counts, fields of `count --json` those documented."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from derivations.architectures.hugging_face import FAMILIES
from derivations.architectures.models import model_names
from derivations.cli import cli
from docs.model_tables import MARK, PAGES, refreshed


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_table_is_stale(path: Path) -> None:
    """Run `python -m docs.model_tables` when this fails."""
    assert refreshed(read(path)) == read(path)


def test_every_model_and_family_is_on_a_page() -> None:
    text = "".join(map(read, PAGES))
    missing = [name for name in (*model_names(), *FAMILIES) if f"| `{name}` |" not in text]
    assert missing == [], "run `python -m docs.model_tables`"


def test_a_stale_table_is_noticed() -> None:
    page = refreshed("before\n<!-- table phases gpt2 64 -->\n<!-- end of table -->\nafter | `all`\n")
    assert "`--phase decode`" in page
    assert refreshed(page) == page
    assert refreshed(page.replace("decode", "encode")) == page
    assert page.startswith("before\n<!-- table") and page.endswith("-->\nafter | `all`\n")


def test_a_table_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KeyError, match="nothing"):
        refreshed("<!-- table nothing -->\n<!-- end of table -->\n")
    with pytest.raises(LookupError, match="there is no built-in model 'gtp2'"):
        refreshed("<!-- table phases gtp2 64 -->\n<!-- end of table -->\n")


def test_every_mark_has_its_end() -> None:
    for text in map(read, PAGES):
        assert text.count("<!-- table ") == len(MARK.findall(text)) == text.count("<!-- end of table -->") > 0


# --- the fields of JSON ---------------------------------------------------------------------------------------------

KINDS = {str: "text", int: "number", bool: "true or false", dict: "object", list: "list of texts"}


def documented(text: str) -> dict[str, list[tuple[str, str]]]:
    """The tables of fields below a heading, by what they are about; that of the whole has no name."""
    section = text.partition("## count\n")[2].partition("\n## ")[0]
    about = re.findall(
        r"(?:^`(\w+)`:\n\n)?^\| field \| type \| holds \|\n\| --- \| --- \| --- \|\n((?:\|.*\n)+)", section, re.M
    )
    return {name: re.findall(r"^\| `(\w+)` \| ([a-z ]+) \|", rows, re.M) for name, rows in about}


def fields(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, KINDS[type(value)]) for name, value in found.items()]


@pytest.mark.parametrize("model", ["gpt2", "mixtral-8x7b", "vit-b-16"])
def test_the_fields_of_json_are_those_documented(repository: Path, model: str) -> None:
    tables = documented(read(repository / "docs" / "json.md"))
    found = json.loads(CliRunner().invoke(cli, ["count", model, "--json"]).stdout)
    assert fields(found) == tables.pop("")
    assert fields(found["flops"]["terms"]) == tables.pop("terms")
    assert {name: fields(found[name]) for name in tables} == tables
    assert set(tables) == {"convention", "parameters", "flops", "memory"}


def test_a_field_that_is_not_documented_is_noticed(repository: Path) -> None:
    text = read(repository / "docs" / "json.md")
    tables = documented(text)
    fewer = documented(text.replace("| `dtype` | text | the type of every number |\n", ""))
    assert [name for name in tables if fewer[name] != tables[name]] == ["memory"]
