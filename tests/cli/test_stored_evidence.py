"""Evidence kept between runs: read for this very source only, never by `verify`, and said so."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from derivations import catalogue
from derivations.catalogue import Verdict
from derivations.cli import cli, stored_evidence
from derivations.cli.listing import judged_rows, unjudged_rows
from derivations.cli.stored_evidence import (
    INDEX,
    LAYER,
    NOT_JUDGED,
    Row,
    index_of,
    indexed,
    keep,
    read,
    source_digest,
    store_of,
)
from derivations.softmax.softmax import jacobian
from numeric.verification.summary import Proof, Summary

ROWS = (Row("softmax.jacobian", "Jacobian of softmax", "softmax", "proved", ("x", "y")),)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setattr(stored_evidence, "user_cache_path", lambda *names, **options: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A catalogue of one result; the list of what was proved."""
    proved: list[str] = []

    def verify(ids, jobs=1, cross_checked=True):
        for name in ids:
            proved.append(name)
            yield Verdict(name, "Jacobian of softmax", "proved", cross_check="agrees")

    monkeypatch.setattr(catalogue, "names", lambda: ["softmax.jacobian"])
    monkeypatch.setattr(catalogue, "results", lambda: {"softmax.jacobian": jacobian()})
    monkeypatch.setattr(catalogue, "verify", verify)
    return proved


def run(*arguments: str):
    return CliRunner().invoke(cli, arguments)


def test_what_is_stored_is_read(cache: Path):
    kept = keep("abc", ROWS)
    assert read("abc") == kept
    assert kept.rows == ROWS


def test_nothing_is_read_for_another_source(cache: Path):
    keep("abc", ROWS)
    assert read("abd") is None


def test_a_file_of_another_source_under_this_name_is_not_read(cache: Path):
    keep("abc", ROWS)
    store_of("abc").rename(store_of("abd"))
    assert read("abd") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"digest": "abc", "rows": [], "proved": "now"}', "\x00"])
def test_a_broken_file_is_not_read(cache: Path, text: str):
    keep("abc", ROWS)
    store_of("abc").write_text(text, encoding="utf-8")
    assert read("abc") is None


def test_a_changed_module_is_another_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "__init__.py").write_text("", encoding="utf-8")
    module = tmp_path / "module.py"
    module.write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setattr("derivations.__file__", str(tmp_path / "__init__.py"))
    before = source_digest()
    assert source_digest() == before
    module.write_text("x = 2\n", encoding="utf-8")
    assert source_digest() != before


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setattr(stored_evidence, "user_cache_path", lambda *names, **options: tmp_path / "file" / "cache")
    assert keep("abc", ROWS).rows == ROWS
    assert read("abc") is None


def test_few_sources_are_kept(cache: Path):
    for number in range(stored_evidence.KEPT + 3):
        keep(f"source {number}", ROWS)
    assert len(list(cache.iterdir())) == stored_evidence.KEPT


def test_a_list_proves_nothing_unless_asked_and_says_where_evidence_comes_from(cache: Path, proofs: list[str]):
    first, again, proved, later = run("list"), run("list"), run("list", "--prove"), run("list")
    for listed in (first, again):
        assert "1 result (proofs not run yet)" in listed.stdout and "no proof was run yet" in listed.stdout
    assert "proved now" in proved.stdout
    assert "read from the cache" in later.stdout and "1 result (proved 1)" in later.stdout
    assert proofs == ["softmax.jacobian"]


def test_rows_without_evidence_do_not_pass_for_judged(cache: Path, proofs: list[str]):
    run("list")
    stored, source = judged_rows(prove=False)
    assert "proved now" in source and proofs == ["softmax.jacobian"]
    assert [row.evidence for row in stored.rows if row.topic != LAYER] == ["proved"]


def test_titles_and_letters_are_listed_before_the_proof(cache: Path, proofs: list[str]):
    (row,) = json.loads(run("list", "--topic", "softmax", "--json").stdout)
    assert (row["id"], row["evidence"]) == ("softmax.jacobian", NOT_JUDGED)
    assert "Jacobian" in row["title"] and {"x", "y"} <= set(row["letters"])


def test_json_stays_a_list_and_the_source_goes_to_standard_error(cache: Path, proofs: list[str]):
    keep(source_digest(), ROWS)
    listed = run("list", "--json")
    assert json.loads(listed.stdout) == [
        {
            "id": "softmax.jacobian",
            "title": "Jacobian of softmax",
            "topic": "softmax",
            "evidence": "proved",
            "letters": ["x", "y"],
        }
    ]
    assert "read from the cache" in listed.stderr


def test_verify_never_reads_what_is_stored(cache: Path, proofs: list[str], monkeypatch: pytest.MonkeyPatch):
    forged = Row("softmax.jacobian", "forged", "softmax", "refuted")
    keep(source_digest(), (forged,))
    monkeypatch.setattr(stored_evidence, "read", lambda digest: pytest.fail("verify read the stored evidence"))
    assert run("verify").exit_code == 0
    assert proofs == ["softmax.jacobian"]
    monkeypatch.undo()


def test_all_results_verified_are_listed_at_once(cache: Path, proofs: list[str]):
    run("verify")
    assert "read from the cache" in run("list").stdout
    assert proofs == ["softmax.jacobian"]


def test_what_the_main_job_proved_is_listed_at_once(cache: Path, proofs: list[str], monkeypatch: pytest.MonkeyPatch):
    summary = Summary("", [Proof("softmax.jacobian", "proved", (), 0.1, "agrees", "Jacobian of softmax", ("x",))])
    monkeypatch.setattr("numeric.verification.job.main_job", lambda *given: summary)
    assert run("--out", "pages").exit_code == 1  # nothing was compared, which is no success
    listed = json.loads(run("list", "--all", "--json").stdout)
    assert [row["id"] for row in listed] == ["softmax.jacobian"]
    assert len(json.loads(run("list", "--layers", "--json").stdout)) == len(catalogue.LAYERS)
    assert proofs == []


def test_the_index_lists_the_catalogue_as_it_is():
    assert INDEX.read_text(encoding="utf-8") == index_of(unjudged_rows()), "stale: run `python -m docs.build`"


def test_an_installed_package_lists_from_its_index_and_a_checkout_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert indexed() is None
    monkeypatch.setattr("derivations.__file__", str(tmp_path / "derivations" / "__init__.py"))
    found = indexed()
    assert found is not None and list(found.rows) == unjudged_rows()
    assert not found.is_judged
