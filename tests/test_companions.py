"""What a new result, layer or rule brings along: its page, its messages, its statements. A failure says what to write.

Each test has the name of what it is about, so that `-k NAME` finds it.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from derivations.catalogue import LAYERS, get, names
from derivations.language.judge.rules import RULES, Rule
from derivations.language.printing.page import layer_title
from derivations.language.printing.references import references_of
from derivations.language.printing.words import Kind, language, languages
from derivations.language.results.derivation import Derivation

ROOT = Path(__file__).resolve().parents[1]
MESSAGES = "derivations/language/printing/messages"
VARIANTS = ("masked_", "_gelu", "_with_biases")  # of layers that are shown
SHOWN = [name for name in LAYERS if not any(mark in name for mark in VARIANTS)]


def on_no_page(mark: str, topic: str, pages: dict[str, str]) -> str:
    """What to write for a result or a layer that no page shows."""
    if any(f"`{mark.split()[-1]}`" in text for text in pages.values()):
        return ""
    if any(f"<!-- {mark} -->" in text or f"<!-- {mark} " in text for text in pages.values()):
        return "run `python -m docs.build`, which fills in the pages and their tables"
    most = max(pages, key=lambda page: pages[page].count(f"(`{topic}."))  # the page of the topic
    where = f"docs/{most}" if f"(`{topic}." in pages[most] else "a page of docs/"
    return f"write `<!-- {mark} -->` and `<!-- end -->` into {where}, then run `python -m docs.build`"


def without_message(kind: Kind, *texts: str) -> Iterator[str]:
    """The lines that catalogues of messages lack."""
    for tag in languages():
        for text in filter(None, texts):
            if tag != "en" and text not in language(tag).messages.get(kind, {}):
                yield f'in {MESSAGES}/{tag}.toml, under [{kind}]: "{text}" = "..."'


def texts_of(result: Derivation) -> list[str]:
    """The assumptions of a result that are words."""
    stated = (*result.assumptions, *(each for claim in result.claims for each in claim.given))
    return [each.typed for each in stated if each.text]


def without_entry(source: str) -> str:
    """What to write for a source that is not in the bibliography; none is none."""
    try:
        references_of(source) if source else ()
    except LookupError as missing:
        return f"in derivations/language/printing/: {missing}"
    return ""


def without_statement(rule: Rule, tests: str) -> str:
    """What to write for a rule that has a tactic of its own and that no test of the judge names."""
    if rule.tactic == "normal form" or f'"{rule.name}"' in tests:
        return ""
    return "write a statement that it proves into test_proves.py, and false ones into test_refuses.py"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}


@pytest.mark.parametrize("name", names())
def test_a_result_has_its_companions(name: str, pages: dict[str, str]):
    result = get(name)
    missing = [
        on_no_page(f"derivation: {name}", result.topic, pages),
        *without_message(Kind.TITLES, result.headline),
        *without_message(Kind.ASSUMPTIONS, *texts_of(result)),
        without_entry(result.source),
    ]
    assert not any(missing), "\n".join(filter(None, missing))


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_has_its_companions(name: str, pages: dict[str, str]):
    missing = list(without_message(Kind.NAMES, layer_title(name)))
    if name in SHOWN:
        missing.append(on_no_page(f"layer: {name}", name, pages))
    assert not any(missing), "\n".join(filter(None, missing))


@pytest.fixture(scope="module")
def tests() -> str:
    return "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_its_companions(name: str, tests: str):
    missing = [*without_message(Kind.RULES, name), without_statement(RULES[name], tests)]
    assert not any(missing), "\n".join(filter(None, missing))


# --- the checks say no ----------------------------------------------------------------------------------------------


def test_what_is_missing_is_named(pages: dict[str, str]):
    found = on_no_page("derivation: softmax.new", "softmax", pages)
    marked = {"softmax.md": "<!-- derivation: softmax.new title -->\n<!-- end -->"}
    assert "python -m docs.build" in on_no_page("derivation: softmax.new", "softmax", marked)
    assert found.startswith("write `<!-- derivation: softmax.new -->` and `<!-- end -->` into docs/softmax.md")
    assert "a page of docs/" in on_no_page("layer: new_layer", "new_layer", pages)
    missing = list(without_message(Kind.TITLES, "A title of nobody"))
    assert len(missing) == len(languages()) - 1 and all('[titles]: "A title of nobody" = "..."' in m for m in missing)
    assert "Nobody (1999) is not one work of references.bib: add an entry there" in without_entry("Nobody (1999)")
    assert "test_refuses.py" in without_statement(Rule("by magic", "it is so", tactic="magic"), "")
