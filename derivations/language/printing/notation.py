r"""Notations: the printed forms of our names, functions and layers, and the style of transposes and indices."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sympy import Symbol

from derivations import symbols
from derivations.language.printing.letters import Name, NotationError, is_gradient, parse_name, spelled, with_comma

__all__ = ["NOTATIONS", "OF_ROW", "Notation", "NotationError", "macro_of", "notation"]

_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")  # macros have letters alone
# the names of sizes, which have no indices
_SIZES = frozenset(
    each.name for each in vars(symbols).values() if isinstance(each, Symbol) and each.is_integer and each.is_positive
)
_TOPICS = {"attention": "scaled_dot_product_attention", "multi_head": "multi_head_attention"}  # topic -> its layer


OF_ROW = "Row"  # what the macro of a letter ends with where the letter stands for a row


def macro_of(name: str, scope: str = "") -> str:
    """Return the macro of one of our names; `scope` is a layer or topic in which the name has a different letter."""
    words = re.sub(r"[0-9]", lambda digit: _DIGITS[int(digit[0])], f"{scope}_{name}").split("_")
    return "\\dv" + "".join(re.sub(r"[^A-Za-z]", "", word) for word in words)


@dataclass(frozen=True)
class Notation:
    """The printed forms of names, functions and layers, and the style of transposes and indices.

    `names` maps our names to printed ones, `scoped` does so within one layer or topic. `functions` maps elementwise
    functions and layers to LaTeX; an empty text means "print the formula". With `columns`, vectors are columns, so
    products are written in the reverse order. Printed indices count from `first_index`, or from 0 in a formula with a
    symbol named in `zero_based`.
    """

    name: str
    names: Mapping[str, Name] = field(default_factory=dict)
    scoped: Mapping[str, Mapping[str, Name]] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)
    transpose: str = r"\top"
    columns: bool = False
    first_index: int = 1
    zero_based: tuple[str, ...] = ("pos",)
    macros: dict[str, str] | None = field(
        default=None, compare=False
    )  # of letters, filled in print; None prints letters

    def of(self, name: str, scope: str = "") -> Name:
        """Return the printed name of our symbol or array `name` in the layer or topic `scope`."""
        own = self.scoped.get(_TOPICS.get(scope, scope.removeprefix("masked_")), {})
        if name in own or name in self.names:
            return self._letter(name, own[name], scope) if name in own else self._letter(name, self.names[name])
        *path, last = name.split(".")
        stem, _, number = name.rpartition("_")
        listed = {*own, *self.names}
        if not path and name[:1] == "d" and {name[1:], stem[1:]} & listed:  # dW_Q: the gradient with respect to W_Q
            of = self.of(name[1:], scope)
            return replace(of, base=rf"\mathrm{{d}}{of.base}", row="")
        if not path and number.isdigit() and stem in listed:  # angle_2: the second variable named angle
            of = self.of(stem, scope)
            return replace(of, sub=with_comma(of.sub, number))
        if not path and self.macros is not None and is_gradient(name):
            of = self.of(name[1:], scope)
            return replace(of, base=rf"\mathrm{{d}}{of.base}", row="")
        if not path:
            return self._letter(name, spelled(name))
        # a weight of a part: the letter of the weight, and the path of parts as a superscript
        printed = self.of(last)
        part = r"\,".join(map(self._part, path))
        return replace(printed, sup=rf"{printed.sup}\,({part})" if printed.sup else f"({part})")

    @cached_property
    def plain(self) -> "Notation":
        """The notation that prints the letters themselves where this one prints macros."""
        return self if self.macros is None else replace(self, macros=None)

    def _letter(self, name: str, printed: Name, scope: str = "") -> Name:
        """Return a printed name; if letters are macros, its base is one macro and the base of its rows another."""
        if self.macros is None:
            return printed
        macro = macro_of(name, scope)
        if name in _SIZES:  # the macro is the whole letter
            self.macros[macro] = printed.latex()
            return Name(macro)
        self.macros[macro] = printed.base
        return replace(printed, base=macro, row=f"{macro}{OF_ROW}" if printed.of_row() != printed else "")

    def _part(self, part: str) -> str:
        return str(int(part) + self.first_index) if part.isdigit() else f"\\text{{{part.replace('_', ' ')}}}"

    def function(self, name: str) -> str:
        r"""Return the LaTeX of a function or layer, such as \mathrm{FFN}; empty if the formula is printed."""
        plain = name.removeprefix("masked_")
        for known in (name, plain, plain.removesuffix("_with_biases")):
            if known in self.functions:
                return self.functions[known]
        if name in self.names:  # a function or layer of the user's own, named in a notation of the user's own
            return self.names[name].latex()
        return "\\mathrm{" + "".join(word[:1].upper() + word[1:] for word in plain.split("_")) + "}"

    def changed(
        self,
        name: str,
        names: Mapping[str, str] | None = None,
        layers: Mapping[str, Mapping[str, str]] | None = None,
        **options: Any,
    ) -> "Notation":
        """Return the notation called `name`: this one with other names (our name -> LaTeX), overall and by layer.

        Raises `NotationError` for LaTeX that is not a name.
        """
        functions, letters = dict(self.functions), dict(self.names)
        for ours, latex in (names or {}).items():
            if ours in functions:
                functions[ours] = latex if not latex else parse_name(latex).latex()
            else:
                letters[ours] = parse_name(latex)
        scoped = dict(self.scoped)
        for layer, own in (layers or {}).items():
            scoped[layer] = {**scoped.get(layer, {}), **{ours: parse_name(latex) for ours, latex in own.items()}}
        return replace(self, name=name, names=letters, functions=functions, scoped=scoped, **options)


_OURS = Notation(
    "ours",
    names={
        "W_Q": Name("W", sup="Q"),
        "W_K": Name("W", sup="K"),
        "W_V": Name("W", sup="V"),
        "W_O": Name("W", sup="O"),
        "b_Q": Name("b", sup="Q"),
        "b_K": Name("b", sup="K"),
        "b_V": Name("b", sup="V"),
        "b_O": Name("b", sup="O"),
        "X_c": Name("X", r"\mathrm{c}"),
        "sigma2": Name(r"\sigma", sup="2"),
        "angle": Name(r"\theta"),
        "batch": Name("B"),
        "rate": Name("p"),
        "log_p": Name(r"\log P"),
        "wave": Name(r"\lambda"),
        "width": Name("w"),
        "R_inverse": Name("R", sup="-1"),
        "T_inverse": Name("T", sup="-1"),
    },
    functions={
        "relu": r"\mathrm{ReLU}",
        "gelu": r"\mathrm{GELU}",
        "gelu_tanh": r"\mathrm{GELU}_{\tanh}",
        "gelu_sigmoid": r"\mathrm{GELU}_{\sigma}",
        "sigmoid": r"\sigma",
        "silu": r"\mathrm{SiLU}",
        "mish": r"\mathrm{Mish}",
        "softplus": r"\mathrm{softplus}",
        "softsign": r"\mathrm{softsign}",
        "standardise": "",  # printed as its formula
        "square": "",
        "exp": "",
        "sin": "",
        "cos": "",
        "tanh": "",
        "softmax": r"\mathrm{softmax}",
        "concat": r"\mathrm{Concat}",
        "linear": r"\mathrm{Linear}",
        "scaled_dot_product_attention": r"\mathrm{Attention}",
        "multi_head_attention": r"\mathrm{MultiHead}",
        "feed_forward": r"\mathrm{FFN}",
        "feed_forward_gelu": r"\mathrm{FFN}",
        "gated_feed_forward": r"\mathrm{GatedFFN}",
        "mixture_of_experts": r"\mathrm{MoE}",
        "mixture_with_shared_experts": r"\mathrm{MoE}_{\mathrm{shared}}",
        "mixture_with_gated_shared_experts": r"\mathrm{MoE}_{\mathrm{gated}}",
        "mixture_at_one_position": r"\mathrm{MoE}_{n=1}",
        "low_rank_adaptation": r"\mathrm{LoRA}",
        "multi_head_attention_with_g_r_heads": r"\mathrm{MultiHead}_{g r}",
        "grouped_query_attention": r"\mathrm{GroupedQuery}",
        "grouped_query_attention_with_groups_of_one": r"\mathrm{GroupedQuery}_{r=1}",
        "multi_query_attention": r"\mathrm{MultiQuery}",
        "latent_attention": r"\mathrm{Latent}",
        "sparse_latent_attention": r"\mathrm{Latent}_{\text{sparse}}",
        "absorbed_latent_attention": r"\mathrm{Latent}_{\text{absorbed}}",
        "latent_attention_with_full_queries": r"\mathrm{Latent}_{\text{full}}",
        "alibi_attention": r"\mathrm{ALiBi}",
        "recurrent_step": r"\mathrm{Recurrent}",
        "layer_norm": r"\mathrm{LayerNorm}",
        "rms_norm": r"\mathrm{RMSNorm}",
        "rotary_embedding": r"\mathrm{RoPE}",
        "rotary_embedding_axes": r"\mathrm{RoPE}_{\text{axes}}",
        "rotary_embedding_halves": r"\mathrm{RoPE}_{\text{halves}}",
        "positional_encoding": r"\mathrm{PE}",
        "embedding": r"\mathrm{Embedding}",
        "dropout": r"\mathrm{Dropout}",
        "encoder_layer": r"\mathrm{EncoderLayer}",
        "encoder": r"\mathrm{Encoder}",
        "decoder_layer": r"\mathrm{DecoderLayer}",
        "decoder": r"\mathrm{Decoder}",
        "transformer": r"\mathrm{Transformer}",
    },
)

_MAX_FORM = {"relu": ""}  # max(0, x W_1 + b_1), as a formula
_QKV = {"X_Q": "Q", "X_K": "K", "X_V": "V"}
_TEXT_D = {"d_model": r"d_{\text{model}}", "d_ff": r"d_{\text{ff}}", "head": r"\text{head}"}

_VASWANI = _OURS.changed("vaswani", _MAX_FORM, {"multi_head_attention": _QKV}, transpose="T")
_COLUMNS = _OURS.changed("columns", columns=True)

# the letters of five Chinese texts on the mathematics of the Transformer
_CHAPTER_8 = _OURS.changed(
    "chapter-8",
    {**_TEXT_D, "relu": r"\text{ReLU}", "layer_norm": r"\text{LayerNorm}"},
    {
        "feed_forward": {"H": "z_1", "G": "a", "Y": "z_2"},
        "encoder_layer": {"F": "z_2", "Z": r"\text{FFN Output}"},
    },
    transpose="T",
)
_CHAPTER_7 = _OURS.changed(
    "chapter-7",
    {
        **_TEXT_D,
        "W_Q": "W_Q^{(#)}",
        "W_K": "W_K^{(#)}",
        "W_V": "W_V^{(#)}",
        "W_O": "W_O",
        "softmax": r"\text{softmax}",
        "concat": r"\text{Concat}",
        "scaled_dot_product_attention": r"\text{Attention}",
        "multi_head_attention": r"\text{MultiHead}",
    },
    {
        "scaled_dot_product_attention": {"S": r"\text{score}", "A": r"\text{Attention Weight}", "O": r"\text{output}"},
        "multi_head_attention": {"X_Q": "X", "X_K": "X", "X_V": "X"},  # the chapter only has self-attention
    },
    transpose="T",
)
_FFN_NOTES = _OURS.changed(
    "ffn-notes",
    {"n": r"\text{seq\_len}", "batch": r"\text{batch\_size}", "d_model": r"d_{\text{model}}", "d_ff": r"d_{\text{ff}}"},
    {"feed_forward": {"X": "x", "H": "h", "G": r"\text{hidden}", "Y": r"\text{output}", "W_1": "w_1", "W_2": "w_2"}},
    transpose="T",
)
_STRUCTURE = _OURS.changed(
    "structure",
    {"head": r"\text{head}", "softmax": r"\text{softmax}", "concat": r"\text{Concat}", "d_model": "d", "pos": "pos"},
    {"multi_head_attention": _QKV},
    transpose="T",
)
_CLOSE_READING = _OURS.changed(
    "close-reading",
    {
        "n": "L",
        "d_model": "d_{model}",
        "d_ff": "d_{ff}",
        "head": r"\text{head}",
        "softmax": r"\text{Softmax}",
        "concat": r"\text{Concat}",
        "feed_forward": r"\text{FFN}",
        **_MAX_FORM,
    },
    {
        "scaled_dot_product_attention": {"A": "W", "O": r"\text{Output}"},
        "multi_head_attention": _QKV,
        "feed_forward": {"H": r"\mathbf{h}", "G": r"\mathbf{h}'"},
    },
    transpose="T",
)

NOTATIONS: Mapping[str, Notation] = {
    built_in.name: built_in
    for built_in in (_OURS, _VASWANI, _COLUMNS, _CHAPTER_8, _CHAPTER_7, _FFN_NOTES, _STRUCTURE, _CLOSE_READING)
}


def notation(name: str | Notation) -> Notation:
    """Return the built-in notation of that name.

    Raises `NotationError` for an unknown name.
    """
    if isinstance(name, Notation):
        return name
    if name not in NOTATIONS:
        raise NotationError(f"there is no notation {name!r}; choose one of {', '.join(NOTATIONS)}, or give a TOML file")
    return NOTATIONS[name]
