import os
from pathlib import Path

import pytest

from derivations.site.formulas import AHEAD, Formula, Formulas
from derivations.site.katex import Katex, katex_in


def test_every_formula_is_set_once_and_stands_where_it_was_used():
    formulas = Formulas()
    page = f"{formulas.inline('x').text} and {formulas.inline('y').text} and {formulas.inline('x').text}"
    asked: list[Formula] = []

    def setter(found):
        asked.extend(found)
        return [f"<{each.latex}>" for each in found]

    assert formulas.fill({"page": page}, setter) == {"page": "<x> and <y> and <x>"}
    assert [each.latex for each in asked] == ["x", "y"]


def test_what_follows_many_formulas_is_set_later():
    formulas = Formulas()
    marks = formulas.displays(["a" * AHEAD, "b", "c"])
    assert ["later" in mark.text for mark in marks] == [False, True, True]
    assert [each.output for each in formulas.places] == ["htmlAndMathml", "mathml", "mathml"]


def test_other_letters_are_written_once():
    letters = {"vaswani": "Q^T", "columns": "Q", "structure": "Q^T"}
    (shown,) = Formulas().displays([r"Q^\top"], [letters])
    assert 'data-letters="vaswani=0 columns=1 structure=0" data-text-0="Q^T" data-text-1="Q"' in shown.text


def test_without_katex_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "node").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep)
    with pytest.raises(ValueError, match=r"run `npm install katex@0\.16` there"):
        katex_in(tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ValueError, match=r"install Node\.js"):
        katex_in(tmp_path)


@pytest.mark.browser
def test_a_formula_that_katex_refuses_is_named(katex: Katex):
    assert len(katex([Formula("x^2", True), Formula(r"\frac{1}{2}", False, "mathml")])) == 2
    with pytest.raises(ValueError, match=r"KaTeX refuses 1 formulas, first \\softmaxx"):
        katex([Formula("x", True), Formula(r"\softmaxx", True)])
