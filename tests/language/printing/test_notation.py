"""Notations: built-in letters, a file of one's own, and what is refused."""

from pathlib import Path

import pytest
from sympy import Symbol, exp

from derivations.catalogue import layers
from derivations.language import Equations, Layer, array, named, part
from derivations.language.printing.latex import latex_of
from derivations.language.printing.letters import Name, NotationError, joined, parse_name, spelled
from derivations.language.printing.notation import NOTATIONS, notation
from derivations.language.printing.notation_file import NAMES, read_notation
from derivations.language.printing.views import latex
from derivations.symbols import n
from docs.build import letter_names
from tests.language.printing.printed import W_Q, Q, X, b_1, i, j, sigma2


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", "x"),
        ("d_model", r"d_{\mathrm{model}}"),
        ("d_k", "d_{k}"),
        ("mu", r"\mu"),
        ("X_hat", r"\hat{X}"),
        ("head", r"\mathrm{head}"),
        ("x1", "x_{1}"),
        ("source_visible", r"\mathrm{source}_{\mathrm{visible}}"),
        ("i_2", "i_{2}"),
    ],
)
def test_names_that_no_notation_lists_are_spelled_from_their_parts(name, expected):
    assert spelled(name).latex() == expected


def test_indices_go_where_the_name_has_room():
    assert Name("b", "1").latex(["j"]) == "b_{1,j}"
    assert Name("W", sup="Q").latex(["i"], member=True) == "W_{i}^{Q}"
    assert Name("W", sup="Q").latex(["i", "r", "c"], member=True) == "W_{i,rc}^{Q}"
    assert Name("W", "Q", "(#)").latex(["i"], member=True) == "W_{Q}^{(i)}"
    assert Name("W", "Q", "(#)").latex() == "W_{Q}"
    assert Name(r"\hat{X}").of_row().latex(["i"]) == r"\hat{x}_{i}"
    assert Name("X", row=r"\mathbf{x}").of_row().latex(["i"]) == r"\mathbf{x}_{i}"
    assert joined(["i", "j"]) == "ij"
    assert joined(["i", "j + 1"]) == "i,j + 1"


@pytest.mark.parametrize(
    ("latex", "name"),
    [
        ("L", Name("L")),
        ("W_Q^{(#)}", Name("W", "Q", "(#)")),
        ("W^Q_i", Name("W", "i", "Q")),
        (r"d_{\text{model}}", Name("d", r"\text{model}")),
        (r"\hat{X}_{\mathrm{c}}", Name(r"\hat{X}", r"\mathrm{c}")),
        (r"\text{seq\_len}", Name(r"\text{seq\_len}")),
        (r"\mathbf{h}'", Name(r"\mathbf{h}'")),
        (r"\text{FFN Output}", Name(r"\text{FFN Output}")),
    ],
)
def test_names_are_read_from_latex(latex, name):
    assert parse_name(latex) == name


@pytest.mark.parametrize(
    "latex",
    [
        "",
        " ",
        "$x$",
        "x & y",
        r"a \\ b",
        "W_{Q",
        "W_Q}",
        "W__Q",
        "W_a_b",
        "_a",
        "W_",
        "W_aX",
        "x_#y",
        "#",
        r"\input{x}",
        r"\def\x{}",
        r"\hat",
        r"\hat X",
        r"\text{a_b}",
        r"\text{}",
        r"\mathrm{}",
        "{}",
        "x%y",
        "W_{a_b_c}",
        "中",
    ],
)
def test_what_is_no_name_is_refused(latex):
    with pytest.raises(NotationError):
        parse_name(latex)


def test_the_files_of_authors_differ_where_their_letters_do():
    printed = {name: latex_of(W_Q[i], name) for name in NOTATIONS}
    assert printed["ours"] == "W_{i}^{Q}"
    assert printed["chapter-7"] == "W_{Q}^{(i)}"
    assert latex_of(Q @ Q.T, "vaswani") == "Q Q^{T}"
    assert latex_of(X.shape[0], "close-reading") == "L"
    assert latex_of(X.shape[1], "structure") == "d"
    assert latex_of(X.shape[1], "close-reading") == "d_{model}"


def test_a_notation_prints_the_feed_forward_network_of_its_document():
    feed_forward = layers()["feed_forward"]
    assert latex(feed_forward, "chapter-8").splitlines()[1:4] == [
        r"z_{1} &= X W_{1} + b_{1} \\",
        r"a &= \text{ReLU}(z_{1}) \\",
        r"z_{2} &= a W_{2} + b_{2}",
    ]
    assert latex(feed_forward, "vaswani").splitlines()[2] == r"G &= \max(0, H) \\"
    assert r"\text{hidden} &= \mathrm{ReLU}(h)" in latex(feed_forward, "ffn-notes")
    assert r"\mathbf{h}' &= \max(0, \mathbf{h})" in latex(feed_forward, "close-reading")


def test_a_notation_prints_the_attention_of_its_document():
    attention = latex(layers()["scaled_dot_product_attention"], "chapter-7")
    assert r"\text{Attention Weight} &= \text{softmax}(\text{score})" in attention
    assert r"\text{output} &= \text{Attention Weight} \, V" in attention


def test_all_names_of_the_layers_may_stand_in_a_file():
    assert NAMES.read_text(encoding="utf-8") == letter_names(), "stale: run `python -m docs.build`"


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_notation_of_ones_own(tmp_path):
    text = """
[names]
n = "L"
W_Q = "W_Q^{(#)}"
relu = "\\\\mathrm{max0}"
[layers.feed_forward]
H = "z_1"
[options]
base = "vaswani"
transpose = "'"
columns = true
first_index = 0
"""
    mine = read_notation(write(tmp_path, text))
    assert mine.name == "mine"
    assert latex_of(Q @ Q.T, mine) == "Q^{'} Q"
    assert latex_of(X[i, 0], mine) == "X_{0i}"
    assert latex_of(W_Q[i], mine) == "W_{Q}^{(i)}"
    assert latex(layers()["feed_forward"], mine).splitlines()[1:3] == [
        r"z_{1} &= W_{1} X + b_{1} \\",
        r"G &= \mathrm{max0}(z_{1}) \\",
    ]
    assert r"X \in \mathbb{R}^{d_{\mathrm{model}} \times L}" in latex(layers()["feed_forward"], mine, math="dollars")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[names", "not TOML"),
        ("[nmes]\n", "no section 'nmes'; there are names, own, layers, options"),
        ("[names]\nd_modell = 'd'", "did you mean d_model"),
        ("[names]\nsquareplus = 'S'", "names of your own modules stand in [own]"),
        ("[own]\nsquareplus = 3", "squareplus must be a text in quotation marks, not 3"),
        ("[own]\nsquareplus = '$S$'", "contains a sign that is not allowed"),
        ("[names]\nn = 3", "n must be a text in quotation marks, not 3"),
        ("[names]\nn = '$L$'", "contains a sign that is not allowed"),
        ("[names]\nn = '\\input{secret}'", "is not a LaTeX name"),
        ("names = 3", "names must be a table"),
        ("[layers.feedforward]\nH = 'h'", "there is no layer called 'feedforward'; did you mean feed_forward"),
        ("[layers]\nfeed_forward = 2", "feed_forward must be a table"),
        ("[options]\ntransposed = 'T'", "no option 'transposed'"),
        ("[options]\ncolumns = 1", "columns must be true or false, not 1"),
        ("[options]\nfirst_index = 2", "first_index must be 0 or 1, not 2"),
        ("[options]\nfirst_index = true", "first_index must be a number"),
        ("[options]\nbase = 'mine'", "base must be one of ours, vaswani"),
        ("[options]\ntranspose = 'T_2'", "transpose must be one letter or sign"),
        ("[options]\ntranspose = '\\\\'", "contains a sign that is not allowed"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path, text, complaint):
    with pytest.raises(NotationError) as refused:
        read_notation(write(tmp_path, text))
    assert complaint in str(refused.value)
    assert "mine.toml" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_names_functions_and_layers_of_ones_own_have_letters_in_a_notation_of_ones_own(tmp_path):
    t, tau, let = Symbol("t", real=True), array("tau_rows", n), Equations()
    gauss = named("gauss", exp(-(t**2)), t)
    inner = Layer("bumps", (tau,), (), let, let("warm")(gauss(tau)))
    mine = read_notation(write(tmp_path, r"own = {gauss = '\gamma', tau_rows = '\tau', warm = 'u', bumps = 'B'}"))
    assert latex(inner, mine) == r"u = \gamma(\tau)"
    assert latex(part("b", inner)(tau), mine) == r"B(\tau)"
    assert latex(inner) == r"\mathrm{warm} = \exp(-\tau_{\mathrm{rows}} \odot \tau_{\mathrm{rows}})"


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(NotationError, match="cannot be read"):
        read_notation(tmp_path / "absent.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(NotationError, match="cannot be read"):
        read_notation(tmp_path / "binary.toml")


def test_an_unknown_notation_is_refused():
    with pytest.raises(NotationError, match="no notation 'our'; choose one of ours, vaswani"):
        notation("our")
    assert notation(NOTATIONS["ours"]) is notation("ours")


def test_subscripts_of_names_and_indices_do_not_collide():
    assert latex_of(b_1[j]) == "b_{1,j}"
    assert latex_of(sigma2[i]) == r"\sigma_{i}^{2}"
