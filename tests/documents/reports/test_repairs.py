"""Repairs: only what stands in the file as it was read, none on another, and the file kept as it is otherwise."""

import os
import stat
from pathlib import Path

import pytest

from derivations.documents import claims
from derivations.documents.originals import Original, read_original
from derivations.documents.passages import Passage, Place
from derivations.documents.replacing import Replacement, repaired, write
from derivations.documents.reports.judging import Judged, judge_file
from derivations.documents.reports.repairs import certain, replacements
from derivations.documents.settings import Settings
from derivations.documents.verdicts import Claim, Finding, Repair
from tests.documents.reports.written import LINE, claim, judged, wrong


def after(file: Judged) -> str:
    """The text of a file with its repairs."""
    return repaired(file.original.text, replacements(file))


def test_a_repair_is_made_at_its_place():
    assert after(judged(claim(wrong(Repair(8, 9, "5"))))) == "Here $2 + 3 = 5$ stands.\n"


@pytest.mark.parametrize(("at", "made"), [(0, "12 + 3 = 7"), (1, "21 + 3 = 7"), (9, "2 + 3 = 71")])
def test_text_is_put_in(at: int, made: str):
    assert after(judged(claim(wrong(Repair(at, at, "1"))))) == f"Here ${made}$ stands.\n"


def test_only_what_is_wrong_is_repaired():
    finding = Finding("conditional", "shapes", "fits", repair=Repair(8, 9, "5"))
    assert after(judged(claim(finding), claim(wrong()))) == LINE


@pytest.mark.parametrize("repair", [Repair(-1, 2, ""), Repair(5, 3, ""), Repair(5, 99, "")])
def test_a_repair_outside_its_formula_is_none(repair: Repair):
    assert after(judged(claim(wrong(repair)))) == LINE


def test_what_does_not_stand_in_the_file_is_not_replaced():
    """Where a macro was expanded, the place is that of its use."""
    expanded = Passage("latex", r"\mathbb{R}^n + 7", ((0, Place(1, 7)), (10, Place(1, 9))))
    text = r"Here $\R^n + 7$"
    inside = Claim("", Place(1, 7), Place(1, 15), wrong(Repair(2, 4, "x")), (), expanded)
    behind = Claim("", Place(1, 7), Place(1, 15), wrong(Repair(15, 16, "8")), (), expanded)
    assert after(judged(inside, text=text)) == text
    assert after(judged(behind, text=text)) == r"Here $\R^n + 8$"


SOFTMAX = r"Softmax is $\mathrm{softmax}(x)_i = \frac{e^{x_i}}{\sum_{j=1}^{n} x_j}$, and $2 + 2 = 5$."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            SOFTMAX,
            r"Softmax is $\mathrm{softmax}(x)_i = \frac{e^{x_i}}{\sum_{j=1}^{n} e^{x_j}}$, and $2 + 2 = 4$.",
        ),
        (
            r"Let $y = \mathrm{softmax}(x)$. Then $\frac{\partial y_i}{\partial x_k} = y_i (\delta_{ik} + y_k)$.",
            r"Let $y = \mathrm{softmax}(x)$. Then $\frac{\partial y_i}{\partial x_k} = y_i (\delta_{ik} - y_k)$.",
        ),
        (
            r"With $\sigma(x) = 1/(1+e^{-x})$, the derivative is $\sigma'(x)=\sigma(x)(1+\sigma(x))$.",
            r"With $\sigma(x) = 1/(1+e^{-x})$, the derivative is $\sigma'(x)=\sigma(x)(1-\sigma(x))$.",
        ),
        # What is right is one side alone.
        (r"$(A B)^\top = A^\top B^\top$", r"$(A B)^\top = A^\top B^\top$"),
    ],
)
def test_a_whole_equation_is_repaired_if_the_right_one_is_known_to_hold(text: str, expected: str, tmp_path: Path):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    file = judge_file(path, Settings())
    assert file.wrong >= 1
    assert repaired(text, certain(file, Settings())) == expected


def test_repairs_that_touch_are_not_both_made():
    one, two, three = (claim(wrong(Repair(*place, "9"))) for place in ((8, 9), (7, 9), (0, 1)))
    assert after(judged(one, two, three)) == "Here $9 + 3 =9$ stands.\n"
    assert after(judged(one, one)) == "Here $2 + 3 = 9$ stands.\n"


def test_a_repair_in_a_notebook_is_text_of_its_json():
    cells = '{"cells": [{"source": ["first \\"\\n", "Here $2 + 3 = 7$"]}]}'
    notebook = judged(claim(wrong(Repair(8, 9, r"\frac")), start=Place(2, 7, 1)), file="a.ipynb", text=cells)
    assert after(notebook) == cells.replace("= 7", r"= \\frac")


def test_a_file_that_cannot_be_written_again_is_left_alone():
    file = judged(claim(wrong(Repair(8, 9, "5"))))
    assert replacements(Judged(file.report, Original(LINE, encoding=None))) == ()


# --- judged anew ---


@pytest.fixture
def sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """One check alone: 7 is wrong, and so is 8; the repair of 7 is 5, that of 8 is 7."""

    def check(statement, link, scope):
        text = statement.passage.text
        for digit, better in (("7", "5"), ("8", "7")):
            if (at := text.find(digit)) >= 0:
                yield Finding("wrong", "arithmetic", f"not {digit}", repair=Repair(at, at + 1, better))

    monkeypatch.setattr(claims, "CHECKS", (check,))


@pytest.mark.usefixtures("sums")
def test_a_repair_that_leaves_the_claim_wrong_is_not_certain(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_text("$a = 7$\n\n$b = 8$\n", encoding="utf-8")
    file = judge_file(path, Settings())
    assert file.wrong == len(replacements(file)) == 2
    assert repaired(file.original.text, certain(file, Settings())) == "$a = 5$\n\n$b = 8$\n"


# --- writing ---


@pytest.mark.parametrize("data", [b"a\r\nb\r\n", b"\xef\xbb\xbfa\nb", "中\r\n".encode("utf-16"), b""])
def test_bytes_that_are_not_repaired_stay(tmp_path: Path, data: bytes):
    path = tmp_path / "a.md"
    path.write_bytes(data)
    original = read_original(path)
    write(path, repaired(original.text, ()), str(original.encoding))
    assert path.read_bytes() == data


def test_the_mode_of_a_file_stays_and_a_link_stays_a_link(tmp_path: Path):
    path, link = tmp_path / "a.md", tmp_path / "link.md"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path)
    write(link, "new", "utf-8")
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a.md", "link.md"]


def test_a_file_is_whole_or_as_it_was(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write(path, "new \ud800", "utf-8")
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["a.md"]


def test_replacements_are_ordered_by_their_place():
    assert sorted([Replacement(3, 4, "a"), Replacement(1, 2, "z")])[0].start == 1
