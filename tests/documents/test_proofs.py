"""Only the judge proves a formula of a document, and it is given the formula as it stands."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from sympy import Symbol

import derivations.documents
from derivations.documents.checking import check_text
from derivations.documents.verdicts import Finding
from derivations.language.judge.proof import prove_equal
from derivations.symbols import n

PACKAGE = Path(derivations.documents.__file__).parent
MAKER = "proving.py"
EVIDENCE = {"StepEvidence", "Evidence", "prove_equal", "judge"}


def said(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the verdict on each equation of a text, with what it assumes."""
    claims = check_text(text, "markdown").claims
    return [(each.finding.verdict, each.finding.assumptions) for each in claims if "=" in each.text]


# --- the type ---


def test_a_finding_is_proved_by_evidence_and_by_no_word() -> None:
    evidence = prove_equal((n + 1) ** 2, n**2 + 2 * n + 1)
    assert Finding(evidence, "chain", "equal").verdict == "proved"
    with pytest.raises(ValueError, match="the judge alone proves"):
        Finding("proved", "chain", "equal")  # type: ignore[arg-type]


@pytest.mark.parametrize("other", [n + 1, Symbol("x", real=True)])
def test_evidence_that_is_no_proof_proves_nothing(other: Symbol) -> None:
    evidence = prove_equal(n, other)
    assert evidence.level in ("refuted", "unknown")
    with pytest.raises(ValueError, match="that proves no finding"):
        Finding(evidence, "chain", "equal")


@cache
def modules() -> list[tuple[str, ast.Module]]:
    paths = sorted(PACKAGE.rglob("*.py"))
    return [(path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def names_of_evidence(tree: ast.AST) -> set[str]:
    """Return the names by which a module takes hold of the judge or of what it says."""
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    from_proof = any(
        isinstance(node, ast.Import) and any(alias.name.startswith("derivations.language") for alias in node.names)
        for node in ast.walk(tree)
    )
    return (found & EVIDENCE) | ({"import derivations.language"} if from_proof else set())


def test_one_module_alone_asks_the_judge() -> None:
    """`verdicts` names the type; no other module can hold evidence, so none can make a proved finding."""
    holding = {name: found for name, tree in modules() if (found := names_of_evidence(tree))}
    assert holding == {MAKER: {"prove_equal"}, "verdicts.py": {"StepEvidence"}}


def test_nobody_makes_evidence_or_says_proved_by_a_word() -> None:
    for name, tree in modules():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            called = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
            words = [
                each.value for each in (*call.args, *(k.value for k in call.keywords)) if isinstance(each, ast.Constant)
            ]
            assert called not in ("StepEvidence", "Evidence", "object.__setattr__", "__setattr__"), name
            assert not ("proved" in words and called in ("Finding", "replace", "_replace", "Judged", "Seen")), name


def test_the_check_of_modules_says_no() -> None:
    assert names_of_evidence(ast.parse("from derivations.language.judge.proof import StepEvidence as S"))
    assert names_of_evidence(ast.parse("import derivations.language.judge.proof"))
    assert names_of_evidence(
        ast.parse("from derivations.language.judge import proof\nproof.StepEvidence('proved', '')")
    )
    assert not names_of_evidence(ast.parse("from derivations.language.arrays.scalars import Variance"))


# --- the statements ---


@pytest.mark.parametrize(
    ("formula", "assumptions"),
    [
        (r"\frac{x^2 - 4}{x - 2} = x + 2", {"x - 2 is not 0"}),
        (r"\frac{x^3 - 1}{x - 1} = x^2 + x + 1", {"x - 1 is not 0"}),
        (r"\frac{n(n-1)}{n-1} = n", {"n - 1 is not 0"}),
        (r"\frac{x}{x} = 1", {"x is not 0"}),
        (r"\frac{0}{x} = 0", {"x is not 0"}),
        (r"x^{-1} x = 1", {"x is not 0"}),
        (r"\frac{1}{x} - \frac{1}{x} = 0", {"x is not 0"}),
        (r"\frac{1}{\frac{1}{x}} = x", {"x is not 0"}),
        (r"\frac{a}{b} \cdot \frac{b}{a} = 1", {"a is not 0", "b is not 0"}),
        (r"\frac{1}{x(x+1)} = \frac{1}{x} - \frac{1}{x+1}", {"x is not 0", "x + 1 is not 0"}),
        (r"\frac{\sin x}{\sin x} = 1", {"sin(x) is not 0"}),
        (r"\frac{e^x - 1}{e^x - 1} = 1", {"e^x - 1 is not 0"}),
        (r"\sum_{i=1}^n \frac{x_i y_i}{y_i} = \sum_{i=1}^n x_i", {"y_i is not 0"}),
        (r"\sqrt{x}^2 = x", {"x is not negative"}),
        (r"x^{1/2} x^{1/2} = x", {"x is not negative"}),
        (r"e^{\log x} = x", {"x is positive"}),
        (r"\log x - \log x = 0", {"x is positive"}),
        (r"\sum_{i=1}^n e^{\log p_i} = \sum_{i=1}^n p_i", {"p_i is positive"}),
        (r"x^0 = 1", {"every part of it is defined"}),
        (r"\sqrt{d^2} = d", {"d is a whole number of at least 1"}),
        (r"\sqrt{m_t^2} = m_t", {"m_t is a whole number of at least 1"}),
        (r"\frac{L}{L} = 1", {"L is a whole number of at least 1"}),
        (r"\log(T^2) = 2 \log T", {"T is a whole number of at least 1"}),
        (r"(a \cdot b) c = a (b \cdot c)", {"every sign of a product multiplies numbers"}),
        (r"(f * g) q = f * (g q)", {"every sign of a product multiplies numbers"}),
        (r"\mathbf{u} \mathbf{v} = \mathbf{v} \mathbf{u}", {"u is a number, and no vector"}),
        (r"\vec{u} \vec{v} = \vec{v} \vec{u}", {"u is a number, and no vector"}),
    ],
)
def test_what_holds_where_it_is_defined_names_where(formula: str, assumptions: set[str]) -> None:
    ((verdict, given),) = said(f"${formula}$")
    assert verdict == "conditional"
    assert assumptions <= set(given)


@pytest.mark.parametrize(
    "formula",
    [
        r"\sqrt{x^2} = x",
        r"(x^2)^{1/2} = x",
        r"\sqrt[3]{x^3} = x",
        r"\sqrt{(x-1)^2} = x - 1",
        r"\log(xy) = \log x + \log y",
        r"\log(x^2) = 2 \log x",
        r"\sqrt{xy} = \sqrt{x} \sqrt{y}",
        r"(x^a)^b = x^{ab}",
        r"0^0 = 1",
        r"\frac{0}{0} = 1",
        r"\frac{x}{y - y} = 0",
        r"\sqrt{-1} = (-1)^{1/2}",
        r"\infty - \infty = 0",
        r"\frac{\Delta y}{\Delta x} = \frac{y}{x}",
        r"dy/dx = y/x",
    ],
)
def test_what_does_not_hold_everywhere_is_not_proved(formula: str) -> None:
    assert all(verdict != "proved" for verdict, _ in said(f"${formula}$"))


@pytest.mark.parametrize(
    "text",
    [
        r"At $x = 2$ we have $\frac{x^2-4}{x-2} = x+2$.",
        r"Let $n = 1$. Then $\frac{n(n-1)}{n-1} = n$.",
        r"With $x = 0$ it is $\frac{x}{x} = 1$.",
        r"With $x = -3$ it is $\sqrt{x}^2 = x$.",
    ],
)
def test_where_a_side_is_not_defined_nothing_is_said(text: str) -> None:
    assert said(text)[-1] == ("unknown", ())


def test_a_letter_that_the_document_defines_is_no_constant() -> None:
    assert said(r"Let $e = y - t$. Then $\frac{e^2}{e} = e$.")[-1][0] == "conditional"
    assert said(r"$\frac{e^2}{e} = e$")[-1][0] == "proved"


def test_sizes_of_the_document_are_no_guess() -> None:
    """The same two formulas, where a shape makes their letters sizes."""
    shape = r"Let $X \in \mathbb{R}^{n \times d}$. "
    assert said(shape + r"$\sqrt{d^2} = d$")[-1] == ("proved", ())
    assert said(shape + r"$\frac{n (d - 1)}{d - 1} = n$")[-1] == ("conditional", ("d - 1 is not 0",))


@pytest.mark.parametrize(
    "formula",
    [
        r"(a + b)^2 = a^2 + 2 a b + b^2",
        r"\log(e^x) = x",
        r"\frac{e^x}{e^x} = 1",
        r"\frac{x^2 + 1}{x^2 + 1} = 1",
        r"\frac{e^x}{1 + e^x} = \frac{1}{1 + e^{-x}}",
        r"\sum_{i=1}^n \frac{e^{x_i}}{\sum_{j=1}^n e^{x_j}} = 1",
        r"\sum_{i=1}^n i = \frac{n(n+1)}{2}",
        r"0.5 x + 0.5 x = x",
        r"\frac{1}{n} \sum_{i=1}^n (x_i + c) = \frac{1}{n} \sum_{i=1}^n x_i + c",
    ],
)
def test_what_holds_for_all_numbers_is_proved(formula: str) -> None:
    assert said(f"${formula}$") == [("proved", ())]


@pytest.mark.parametrize(
    "text",
    [
        r"$W' = W + s B A$",
        r"$W' = W + s A B$",
        r"LoRA adds $h = W x + s A B x$",
        r"$\text{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$",
        r"$\text{FFN}(x) = \max(0, x W_1 + b_1) W_2 + b_2$",
        r"$\frac{\partial y_i}{\partial x_j} = y_i (\delta_{ij} - y_j)$",
        r"$Y = X W$ and $\frac{\partial L}{\partial W} = X^T \frac{\partial L}{\partial Y}$",
        r"$z = x + b$ and $f(z) = f(x + b)$",
        r"$d_k = d_{model} / h$",
        r"$m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t$",
    ],
)
def test_the_usual_formula_is_not_proved(text: str) -> None:
    assert all(verdict != "proved" for verdict, _ in said(text))


def test_a_usual_formula_that_declared_shapes_contradict_does_not_hold() -> None:
    shapes = r"Let $W_1, W_2 \in \mathbb{R}^{d \times m}$ and $x \in \mathbb{R}^{p \times d}$. "
    text = shapes + r"$\text{FFN}(x) = \max(0, x W_1 + b_1) W_2 + b_2$"
    assert said(text)[-1][0] not in ("proved", "holds")
