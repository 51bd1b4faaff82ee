"""Published formulas as results: the costs of a decoder like GPT-2, up to the terms that the formulas omit or add.

Result       parameters are those of Narayanan et al. (2021) plus 2 d_model for the last norm; products are those of
             Hoffmann et al. (2022) without the look-up, and those of Kaplan et al. (2020) with the context term twice
             and with the scores of the tokens
Assumes      d_v = d_k; for the first d_k = d_model / h and d_ff = 4 d_model
Units        parameters; FLOPs, a multiply-add being 2
"""

from sympy import Expr, Rational

from derivations.architectures.models import named_model
from derivations.attention.multi_head_costs import renamed
from derivations.costs.parameters import equal
from derivations.costs.published.formula import Published
from derivations.costs.published.formulas import published
from derivations.costs.published.subject import Subject
from derivations.language.counting.costs import Count
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d_model, n

__all__ = ["decoder"]

gpt = Subject(named_model("gpt2"))
decoder = renamed(gpt.layer, "gpt_decoder")


def assumed(formula: Published) -> tuple[Assumption, ...]:
    """Return the relations that a formula assumes, as assumptions."""
    return tuple(equal(size, value) for size, value in formula.relations)


@result(topic="parameters")
def published_narayanan() -> Derivation:
    """The formula has all weights, biases, norms and tables except the norm after the last layer."""
    formula = published("narayanan.parameters")
    return derivation(
        "Parameters of a decoder with norms before, biases, learned positions and a tied head",
        claim(
            Count("parameters", decoder),
            step("count", gpt.parameters),
            step("assumption", formula.bound(gpt) + 2 * d_model),
        ),
        assuming=assumed(formula),
        source=formula.source,
    )


@result(topic="flops")
def published_chinchilla() -> Derivation:
    """Products and 3 of 5 operations of softmax equal the formula without its product for the look-up."""
    formula = published("chinchilla.forward")
    return derivation(
        "FLOPs of a forward pass: products, softmax with 3 operations for an entry, and look-ups as products",
        claim(
            Count("matmul FLOPs", decoder) + Rational(3, 5) * Count("softmax FLOPs", decoder),
            step("count", gpt.forward + Rational(3, 5) * gpt.softmax),
            step("assumption", formula.bound(gpt) - gpt.look_ups),
        ),
        assuming=assumed(formula),
        source=formula.source,
    )


@result(topic="flops")
def published_kaplan() -> Derivation:
    """The products are the formula plus its context term once more and the scores of tokens, which it omits."""
    formula, context = published("kaplan.forward"), published("kaplan.context")
    whole: Expr = n * formula.bound(gpt)
    return derivation(
        "FLOPs of a forward pass: $2 N$ for each token, twice the context term that is printed, and the scores",
        claim(
            Count("matmul FLOPs", decoder),
            step("count", gpt.forward),
            step("assumption", whole + n * context.bound(gpt) + gpt.logits),
        ),
        assuming=assumed(formula),
        source=formula.source,
    )
