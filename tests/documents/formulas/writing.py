"""Random formulas as text: what a person may type, nested at will."""

from hypothesis import strategies as st

__all__ = ["latex_formulas", "latex_soup", "plain_formulas"]

NAMES = (
    r"x y W Q K V n d h d_k d_{\text{model}} W_i^Q W^{(l)} q_i k_j \sigma \mu_i \hat{x} \mathbf{h}' \mathcal{L} z_{t-1}"
)
NUMBERS = ["2", "0.5", "512", "10", "1{,}000", r"33\%", r"4.8\,\text{億}", "1e-5"]
FUNCTIONS = [r"\text{softmax}", r"\operatorname{ReLU}", "f", r"\sigma", r"\exp", r"\log", r"\max", r"\text{LayerNorm}"]
RELATIONS = ["=", r"\approx", r"\le", r"\neq", ">", r"\to", r"\propto", ":="]

_leaf = st.sampled_from(NAMES.split()) | st.sampled_from(NUMBERS)


def _deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda p: f"{p[0]} + {p[1]}"),
        two.map(lambda p: rf"\left( {p[0]} - {p[1]} \right)"),
        two.map(lambda p: rf"({p[0]}) \cdot ({p[1]})"),
        two.map(lambda p: rf"({p[0]}) ({p[1]})^T"),
        two.map(lambda p: rf"\frac{{{p[0]}}}{{{p[1]}}}"),
        two.map(lambda p: rf"({p[0]}) / ({p[1]})"),
        two.map(lambda p: rf"\sum_{{i=1}}^{{n}} ({p[0]}) ({p[1]})"),
        two.map(lambda p: rf"\max({p[0]}, {p[1]})"),
        two.map(lambda p: rf"\begin{{bmatrix}} {p[0]} & {p[1]} \\ 1 & 2 \end{{bmatrix}}"),
        two.map(lambda p: rf"\begin{{cases}} {p[0]} & x > 0 \\ {p[1]} & \text{{otherwise}} \end{{cases}}"),
        two.map(lambda p: rf"\underbrace{{{p[0]}}}_{{{p[1]}}}"),
        two.map(lambda p: rf"[{p[0]}, {p[1]}]"),
        two.map(lambda p: rf"\frac{{\partial ({p[0]})}}{{\partial x_i}}"),
        inner.map(lambda x: rf"\sqrt{{{x}}}"),
        inner.map(lambda x: rf"-({x})"),
        inner.map(lambda x: rf"\|{x}\|_2"),
        inner.map(lambda x: rf"e^{{{x}}}"),
        inner.map(lambda x: rf"\left({x}\right)^{{2}}"),
        inner.map(lambda x: rf"\left({x}\right)_{{ij}}"),
        st.tuples(st.sampled_from(FUNCTIONS), inner).map(lambda p: rf"{p[0]}\left({p[1]}\right)"),
    )


_expressions = st.recursive(_leaf, _deeper, max_leaves=8)


@st.composite
def latex_formulas(draw: st.DrawFn) -> str:
    """A formula in LaTeX: sides with relations between them, perhaps two statements."""
    sides = draw(st.lists(_expressions, min_size=1, max_size=3))
    text = sides[0]
    for side in sides[1:]:
        text += f" {draw(st.sampled_from(RELATIONS))} {side}"
    if draw(st.booleans()):
        text += draw(
            st.sampled_from([r", \quad i = 1, \dots, h", r" \quad \text{for } i > 0", r", \; Y = X W", r" \\ Z = 1"])
        )
    return text


_plain_leaf = st.sampled_from(
    [
        "x",
        "W",
        "n",
        "d_k",
        "d_model",
        "batch_size",
        "W1",
        "b_1",
        "σ",
        "2",
        "0.5",
        "512",
        "1,000",
        "Kᵀ",
        "h₁",
        "x²",
        "√d",
    ]
)
_plain_operators = st.sampled_from(["+", "×", "·", "*", "/", "@", "-"])
_plain_functions = st.sampled_from(["softmax", "relu", "exp", "LayerNorm", "sqrt"])
_plain = st.recursive(
    _plain_leaf,
    lambda inner: st.one_of(
        st.tuples(inner, _plain_operators, inner).map(lambda p: f"({p[0]}) {p[1]} ({p[2]})"),
        st.tuples(_plain_functions, inner).map(lambda p: f"{p[0]}({p[1]})"),
        inner.map(lambda x: f"({x})^2"),
        st.tuples(inner, inner).map(lambda p: f"[{p[0]}, {p[1]}]"),
    ),
    max_leaves=6,
)  # fmt: skip


@st.composite
def plain_formulas(draw: st.DrawFn) -> str:
    """A formula in plain characters."""
    sides = draw(st.lists(_plain, min_size=1, max_size=3))
    return draw(st.sampled_from([" = ", " ≈ ", " → ", " <= "])).join(sides)


SOUP = [
    r"\frac",
    r"\sqrt",
    r"{",
    r"}",
    r"[",
    r"]",
    r"(",
    r")",
    r"\left",
    r"\right",
    r"|",
    r"\|",
    r"\begin{bmatrix}",
    r"\end{bmatrix}",
    r"\begin{cases}",
    r"\end{cases}",
    r"\begin{aligned}",
    r"\end{aligned}",
    r"&",
    r"\\",
    r"\\[2pt]",
    r"^",
    r"_",
    r"'",
    r",",
    r";",
    r":",
    r"=",
    r"\le",
    r"\to",
    r"\xrightarrow",
    r"\underbrace",
    r"\overset",
    r"\hat",
    r"\mathbf",
    r"\mathbb{R}",
    r"\mathcal",
    r"\text{for",
    r"}",
    r"\text{a(}",
    r"\text{and}",
    r"\text",
    r"\mathrm{softmax}",
    r"\operatorname",
    r"\sum",
    r"\max",
    r"\int",
    r"\partial",
    r"\nabla",
    r"\log",
    r"x",
    r"y",
    r"W",
    r"12",
    r"3.5",
    r"1,000",
    r"\,",
    r"\quad",
    r".",
    r"!",
    r"%",
    r"\%",
    r"$",
    r"\textcolor{red}",
    r"\tag{1}",
    r"\dots",
    r"\cdot",
    r"\times",
    r"+",
    r"-",
    r"/",
    r"*",
    r"@",
    r"億",
    r"的",
    r"\not",
    r"\arg",
    r"\middle",
    r"\color",
    r"T",
    r"\top",
    r"~",
]
latex_soup = st.lists(st.sampled_from(SOUP), max_size=25).map(" ".join) | st.lists(
    st.sampled_from(SOUP), max_size=25
).map("".join)
