"""References: every source of a result names entries of the bibliography, and every entry says where to find it."""

from dataclasses import replace

import pytest

from derivations.catalogue import get, names
from derivations.language.printing.book import entry
from derivations.language.printing.fragments import fragment
from derivations.language.printing.notation import NOTATIONS
from derivations.language.printing.references import RULES, cited, entries, linked, references_of
from derivations.language.printing.statement import statement


@pytest.mark.slow
def test_every_source_of_a_result_is_in_the_bibliography():
    sources = {name: get(name).source for name in names() if get(name).source}
    assert len(sources) > 400
    used = {each.key for source in sources.values() for each in references_of(source)} - {""}
    assert used == set(entries())  # an entry that nothing cites is a leftover


@pytest.mark.parametrize("key", entries())
def test_every_entry_can_be_found(key: str):
    fields = entries()[key]
    assert {"author", "title", "year"} <= set(fields)
    assert {"doi", "eprint", "url", "isbn", "journal"} & set(fields)


def test_a_source_is_cited_with_its_place():
    source = "Vaswani et al. (2017), section 3.2.1, footnote 4; DeepSeek-AI (2024), DeepSeek-V2, section 2.1"
    expected = r"\citet[section 3.2.1, footnote 4]{vaswani2017attention}; \citet[section 2.1]{deepseek2024v2}"
    assert cited(source, str) == expected
    assert cited("the rules gradient.*; the equations: Su et al. (2021)", str).endswith(r"\citet{su2021roformer}")
    assert references_of("PyTorch, torch.nn.Linear")[0].key == "paszke2019pytorch"


@pytest.mark.parametrize(
    "source", ["Vaswani et al. (2018)", "DeepSeek-AI (2024), section 2", "somebody", "He and Sun (2016)"]
)
def test_a_source_that_is_no_entry_is_refused(source: str):
    with pytest.raises(LookupError, match=r"references\.bib"):
        references_of(source)


def test_a_fragment_names_the_keys_of_its_sources_and_none_where_a_source_is_not_in_the_bibliography():
    parts = statement(get("softmax.jacobian"), NOTATIONS["ours"], "en", "softmax.jacobian")
    assert fragment(parts, 345).startswith("% \\cite{bridle1990probabilistic}, of references.bib\n{\\raggedright")
    assert fragment(replace(parts, source="my notes"), 345).startswith("{\\raggedright")


def test_the_book_refers_to_results_by_their_numbers():
    printed = entry(statement(get("dot_product.standard_deviation"), "ours"), 345.0)
    assert r"(\resultref{res:dot_product-variance}{dot\_product.variance})" in printed
    assert r"\known{sec:gradient}{the rules of section \ref{sec:gradient}}" in entry(
        statement(get("feed_forward.gradient"), "ours"), 345.0
    )
    assert "resultref" not in entry(statement(get("linear.definition"), "ours"), 345.0)  # torch.nn.Linear is no id


def test_works_of_a_source_are_links():
    def shown(source: str) -> str:
        return linked(source, "[{}]({})".format, str)

    attention = "[Vaswani et al. (2017)](https://arxiv.org/abs/1706.03762)"
    assert (
        shown("gradient.softmax; Vaswani et al. (2017), section 3.1") == f"gradient.softmax; {attention}, section 3.1"
    )
    assert shown(f"{RULES}; the equations: Vaswani et al. (2017)") == f"{RULES}; the equations: {attention}"
    assert shown("Somebody (1999)") == "Somebody (1999)"  # of a user's own: no link
