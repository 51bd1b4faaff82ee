"""Every formula that is printed renders in KaTeX, which is what web pages and notebooks set it with."""

from collections.abc import Callable, Mapping

import pytest

from derivations import get, names
from derivations.catalogue import layers

pytestmark = pytest.mark.latex

Katex = Callable[[Mapping[str, str]], dict[str, str]]


def test_every_result_renders(katex: Katex):
    formulas = {name: get(name).latex(steps=False) for name in names()}
    assert formulas
    assert katex(formulas) == {}


def test_every_result_renders_with_its_steps(katex: Katex):
    formulas = {name: get(name).latex(steps=True) for name in names()}
    assert formulas
    assert katex(formulas) == {}


def test_every_layer_renders(katex: Katex):
    formulas = {name: layer.latex() for name, layer in layers().items()}
    assert formulas
    assert katex(formulas) == {}


SOUND = {
    "softmax": r"y_{i} = \frac{\exp\left(x_{i}\right)}{\sum_{j=1}^{n} \exp\left(x_{j}\right)}",
    "attention": r"\begin{aligned} S &= \frac{Q K^{\top}}{\sqrt{d_{k}}} \\ O &= \mathrm{softmax}(S) V \end{aligned}",
}

BROKEN = {
    "brace left open": r"\frac{1}{",
    "unknown macro": r"\softmaxx{x}",
    "two subscripts": r"x_{1}_{2}",
    "stray alignment": r"a & b",
    "underscore in text": r"\text{d_model}",
    "unknown environment": r"\begin{alinged} a \end{alinged}",
    "not LaTeX, though KaTeX would take it": "中",
}


def test_sound_formulas_pass(katex: Katex):
    assert katex(SOUND) == {}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_formula_is_refused_and_named(katex: Katex, fault: str):
    complaints = katex({**SOUND, fault: BROKEN[fault]})
    assert set(complaints) == {fault}
    assert BROKEN[fault] in complaints[fault]
