"""The effect of the number of heads at constant total width, found by substitution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Add, Expr, Integer, Symbol, expand

from derivations.architectures.composition import build
from derivations.architectures.description import Attention, Model
from derivations.architectures.kinds import by_kind
from derivations.costs.key_value_caches import cached_numbers
from derivations.costs.questions.answer import Answer, number, put
from derivations.language.counting.costs import count_flops, count_parameters
from derivations.language.counting.memory_counts import saved_residuals
from derivations.symbols import m, n, size

__all__ = ["Effect", "effect_of_heads"]

LENGTH = 1024  # the number of positions for the numbers


@dataclass(frozen=True)
class Effect(Answer):
    """The effect of the number of heads on one quantity; `changes` has the sizes involved, heads `h` or groups `g`."""

    quantity: str = ""
    changes: tuple[str, ...] = ()
    terms: Expr = Integer(0)  # those that depend on it


def effect_of_heads(model: Model) -> tuple[Effect, ...]:
    """Return how parameters, products, softmax, saved residuals and the cache depend on the number of heads.

    Definition   h d_k = D_k and h d_v = D_v are constant, where h counts all heads if groups g of them share keys and
                 values: d_k = D_k / h is substituted in each count. The rotary columns of latent attention keep their
                 width. Numbers are those of the model at 1024 positions
    Units        parameters; FLOPs; bytes of a forward pass with numbers of 2 bytes; entries of a cache
    Raises       ValueError for a model whose head width is not a separate size
    """
    model = by_kind(model)
    layer = build(model.architecture)
    narrow: dict[Symbol, Expr] = {}
    heads: set[Symbol] = set()
    for attention in _attentions(model):
        rule, these = _narrowed(attention)
        narrow |= rule
        heads |= these
    flops = count_flops(layer)
    counts = {
        "parameters": count_parameters(layer),
        "FLOPs in products": flops.matmul,
        "FLOPs in softmax": flops.softmax,
        "bytes of saved residuals": saved_residuals(layer).bytes(),
        "numbers in the cache": cached_numbers(model),
    }
    lengths = dict.fromkeys((n, m), LENGTH)
    return tuple(
        _effect(quantity, expand(count.xreplace(narrow)), heads, number(put(model, count, lengths)))
        for quantity, count in counts.items()
    )


def _effect(quantity: str, expression: Expr, heads: set[Symbol], value: object) -> Effect:
    changing = [term for term in Add.make_args(expression) if term.free_symbols & heads]
    found = tuple(sorted({symbol.name for term in changing for symbol in term.free_symbols & heads}))
    words = (
        f"{quantity} change with {' and '.join(found)}, by the terms {Add(*changing)}"
        if found
        else f"{quantity} do not change with the number of heads"
    )
    return Effect(expression, value, words, quantity=quantity, changes=found, terms=Add(*changing))


def _attentions(model: Model) -> Iterator[Attention]:
    for stack in (model.architecture.encoder, model.architecture.decoder):
        for run in stack.runs if stack else ():
            for block in run.blocks:
                if isinstance(block.attention, Attention):
                    yield block.attention
                if block.cross_attention is not None:
                    yield block.cross_attention


def _narrowed(a: Attention) -> tuple[dict[Symbol, Expr], set[Symbol]]:
    """Return the widths of a head as shares of the total width, and the symbols that count heads and groups."""
    if not isinstance(a.d_k, Symbol) or not isinstance(a.d_v, Symbol):
        raise ValueError(f"heads: the widths {a.d_k} and {a.d_v} are not sizes of their own; give each a symbol")
    total = a.heads if a.groups is None else size("h")
    rule = {width: size(f"D{width.name[1:]}") / total for width in (a.d_k, a.d_v)}
    if a.groups is None:
        return rule, {total}
    return {**rule, a.heads: total / a.groups}, {total, a.groups}
