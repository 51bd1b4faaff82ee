"""Every formula that is printed renders in KaTeX, which is what web pages and notebooks set it with."""

from collections.abc import Callable, Mapping

import pytest

from derivations import get, names
from derivations.catalogue import layers
from derivations.language import gradient
from docs.build import formulas, pages

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


def test_every_gradient_renders(katex: Katex):
    found = {name: gradient(layer).latex() for name, layer in layers().items()}
    assert found
    assert katex(found) == {}


def test_every_formula_of_the_pages_renders(katex: Katex):
    texts = {path.name: path.read_text(encoding="utf-8") for path in pages()}
    found = {f"{name} {place}": f for name, text in texts.items() for place, f in enumerate(formulas(text), 1)}
    assert found
    assert katex(found) == {}


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
