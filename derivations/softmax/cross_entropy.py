r"""Cross-entropy: the loss of rows of logits against tokens, or against rows of weights.

Definition   z_i = log sum_j exp(x_ij),   loss = 1/n sum_i (z_i - x_{i, tokens_i})
             with soft targets T: log p_ij = x_ij - z_i,   loss = -1/n sum_i sum_j T_ij log p_ij
             with weights w of the tokens, and 0 for an ignored token:
             c_i = w_{tokens_i} [tokens_i != ignored],   loss = sum_i c_i (z_i - x_{i, tokens_i}) / sum_i c_i
Shapes       logits X (n, vocab), tokens (n,) or T (n, vocab), w (vocab,), loss ()
Assumes      0 <= tokens_i < vocab, except for an ignored token
Source       Goodfellow, Bengio and Courville (2016), section 6.2.2.3
"""

from typing import Literal

from sympy import Derivative, Eq, Ge, Gt, KroneckerDelta, Le, Ne, Sum, Symbol, exp, log

from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, array, token_array
from derivations.language.arrays.functions import Hadamard, RowLogSumExp, RowMean, RowSum, named, row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.selection import Pick
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.softmax.softmax import GOODFELLOW, softmax, total, x, y
from derivations.symbols import i, j, k, n, vocab

__all__ = ["cross_entropy", "negative_log_likelihood"]

TOPIC = "softmax"

t = array("t", n)
token = Symbol("token", integer=True)
a, s = Symbol("a", real=True), Symbol("s", real=True)
nothing = Iverson(Le(s, 0)) * Iverson(Ge(s, 0))  # [s = 0], as orders, which the judge reads of reals
quotient = named("share", a / (s + nothing), a, s)  # a sum over nothing is 0, and so is its share


@catalogued("soft_cross_entropy", soft=True)
@catalogued
def cross_entropy(
    soft: bool = False,
    *,
    ignore_index: int | None = None,
    weighted: bool = False,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Layer:
    """Return the cross-entropy of rows of logits against tokens, or against rows of weights when `soft`.

    Definition   z_i = log sum_j exp(x_ij), loss = 1/n sum_i (z_i - x_{i, tokens_i});
                 soft: loss = -1/n sum_i sum_j T_ij (x_ij - z_i);
                 with weights of the tokens, or a token that is ignored: c_i = w_{tokens_i} [tokens_i != ignore_index],
                 loss = sum_i c_i (z_i - x_{i, tokens_i}) / sum_i c_i; the reduction "sum" is not divided, and "none"
                 returns each term
    Shapes       logits X (n, vocab), tokens (n,) or T (n, vocab), w (vocab,), loss (), or (n,) without a reduction
    Assumes      0 <= tokens_i < vocab, except for tokens_i = ignore_index, which may be any integer; where all c_i are
                 0 the mean is 0, and so is its gradient, as for a query that sees no key (PyTorch and ONNX return
                 0/0, which makes every weight NaN after one step)
    Source       Goodfellow, Bengio and Courville (2016), section 6.2.2.3
    Raises       ValueError for soft targets together with an option about tokens
    """
    if ignore_index is not None or weighted or reduction != "mean":
        if soft:
            raise ValueError("soft cross-entropy has no tokens to ignore or to weigh, and is a mean: leave these out")
        return _counted("cross_entropy", ignore_index, weighted, reduction)
    X = array("X", n, vocab)
    let = Equations()
    z = let("z")(RowLogSumExp(X))
    if soft:
        T = array("T", n, vocab)
        log_p = let("log_p")(X - ColumnBroadcast(z, vocab))
        loss = let("loss")(RowMean(-RowSum(Hadamard(T, log_p))))
        return Layer("soft_cross_entropy", (X, T), (), let, loss)
    tokens = token_array("tokens", n)
    chosen = let("chosen")(Pick(X, tokens))
    loss = let("loss")(RowMean(z - chosen))
    return Layer("cross_entropy", (X, tokens), (), let, loss)


def negative_log_likelihood(
    *,
    ignore_index: int | None = None,
    weighted: bool = False,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Layer:
    """Return the cross-entropy of rows of log-probabilities, such as a log-softmax returns.

    Definition   c_i = w_{tokens_i} [tokens_i != ignore_index], loss = -sum_i c_i x_{i, tokens_i} / sum_i c_i
    Shapes       X (n, vocab), tokens (n,), w (vocab,), loss (), or (n,) without a reduction
    Assumes      as `cross_entropy`
    Source       Goodfellow, Bengio and Courville (2016), section 5.5
    """
    return _counted("negative_log_likelihood", ignore_index, weighted, reduction)


def _counted(kind: str, ignore_index: int | None, weighted: bool, reduction: str) -> Layer:
    """Return the loss of rows of logits, or of log-probabilities, in which tokens have different weights."""
    X, tokens, w = array("X", n, vocab), token_array("tokens", n), array("w", vocab)
    let = Equations()
    z = let("z")(RowLogSumExp(X)) if kind == "cross_entropy" else None
    named_tokens: Array = tokens
    if ignore_index is not None:  # an ignored token names column 0 instead, and counts nothing
        counts = let("M")(named("counts", Iverson(Ne(token, ignore_index)), token)(tokens))
        named_tokens = let("t")(named("kept", token * Iverson(Ne(token, ignore_index)), token)(tokens))
    chosen = Pick(X, named_tokens)
    terms: Array = let("terms")(-chosen if z is None else z - chosen)
    share: Array | None = None
    if weighted:
        share = let("omega")(Pick(RowBroadcast(w, n), named_tokens))
    if ignore_index is not None:
        share = counts if share is None else let("c")(Hadamard(share, counts))
    if share is not None:
        terms = let("losses")(Hadamard(share, terms))
    name = "_".join(["weighted"] * weighted + ["masked"] * (ignore_index is not None) + [kind])
    inputs = (X, tokens, *([w] if weighted else []))
    if reduction == "none":
        return Layer(f"{name}_terms", inputs, (), let, terms)
    if reduction == "sum" or share is None:
        loss = let("loss")(RowSum(terms) if reduction == "sum" else RowMean(terms))
        return Layer(f"{name}_sum" if reduction == "sum" else name, inputs, (), let, loss)
    whole, count = let("whole")(RowSum(terms)), let("count")(RowSum(share))
    return Layer(name, inputs, (), let, let("loss")(quotient(whole, count)))


@result
def cross_entropy_gradient() -> Derivation:
    """The gradient is the prediction minus the target, if the target weights add up to 1."""
    return derivation(
        "The gradient of the cross-entropy by the logits is $y - t$",
        claim(
            -total(t[j] * log(y[j])),
            step("exponent", log(total(exp(x[j]))) * total(t[j]) - total(t[j] * x[j])),
        ),
        claim(
            Derivative(-total(t[j] * log(y[j])), x[k]),
            step("derivative", y[k] * total(t[j]) - t[k]),
            step("assumption", y[k] - t[k]),
        ),
        about=softmax(),
        ranges={k: n},
        assuming=[Assumption(Eq(total(t[j]), 1, evaluate=False), text="the targets are weights")],
        source=GOODFELLOW,
    )


@result
def cross_entropy_mean_gradient() -> Derivation:
    """For the mean over n positions, every row of logits gets its own difference divided by n."""
    P, loss = array("P", n, vocab), array("loss").entry()
    X, T = cross_entropy(soft=True).inputs
    let = Equations()
    let("P")(row_softmax(X))
    weights = Sum(T[i, j], (j, 0, vocab - 1))
    return derivation(
        "The gradient of the mean cross-entropy by the logits is $(P - T) / n$",
        claim(
            Derivative(loss, X[i, k]),
            step("derivative", (P[i, k] * weights - T[i, k]) / n),
            step("assumption", (P[i, k] - T[i, k]) / n),
        ),
        about=(*cross_entropy(soft=True).equations, *let),
        ranges={i: n, k: vocab},
        assuming=[Assumption(Eq(weights, 1, evaluate=False), {i: n}, "every row of targets holds weights")],
        source=GOODFELLOW,
    )


@result
def counted_tokens_gradient() -> Derivation:
    """An ignored token gives its row of logits no gradient; the weights of the others are divided by their sum.

    The weights c_i may be any numbers that do not depend on the logits, such as class weights, or 0 if ignored.
    """
    P, loss, counted, whole = array("P", n, vocab), array("loss").entry(), array("c", n), array("count").entry()
    layer = cross_entropy(ignore_index=-100, weighted=True)
    X, kept_tokens = layer.inputs[0], token_array("t", n)
    let = Equations()
    let("P")(row_softmax(X))
    free = ("M", "t", "omega", "c", "count")  # the proof holds for any values of these
    return derivation(
        "The gradient of the cross-entropy in which token $i$ counts $c_i$ is $c_i (p_i - t_i) / sum_l c_l$",
        claim(
            Derivative(loss, X[i, k]),
            step("derivative", counted[i] * (P[i, k] - KroneckerDelta(kept_tokens[i], k)) / whole),
        ),
        about=(*(e for e in layer.equations if e.variable.name not in free), *let),
        ranges={i: n, k: vocab},
        assuming=[
            Assumption(Ge(kept_tokens[i], 0, evaluate=False), {i: n}, "tokens count from 0"),
            Assumption(Ge(vocab - 1 - kept_tokens[i], 0, evaluate=False), {i: n}, "every token has a column"),
            Assumption(Gt(whole, 0, evaluate=False), {}, "some token counts"),
        ],
        source=GOODFELLOW,
    )


@result
def entropy_gradient() -> Derivation:
    """The entropy falls when an already likely entry becomes likelier; the gradient is 0 if all entries are equal."""
    entropy = -total(y[j] * log(y[j]))
    return derivation(
        "The gradient of the entropy of softmax by its inputs",
        claim(
            Derivative(entropy, x[k]),
            step("derivative", y[k] * (total(y[j] * x[j]) - x[k])),
            step("exponent", -y[k] * (log(y[k]) + entropy)),
        ),
        about=softmax(),
        ranges={k: n},
        source="Williams and Peng (1991)",
    )


@result
def cross_entropy_least() -> Derivation:
    """No prediction does better than the targets themselves: the loss minus their entropy is a divergence."""
    w = array("w", n)
    u, v = array("u").entry(), array("v").entry()
    let = Equations()
    let("t")(row_softmax(w))
    let("y")(row_softmax(x))
    let("u")(RowLogSumExp(w))
    let("v")(RowLogSumExp(x))
    # exp(excess) = y / t, and t and y both add up to 1: the difference, -sum t excess, is the sum below
    excess = (x[j] - v) - (w[j] - u)
    return derivation(
        "The cross-entropy of positive targets is least, and their entropy, where the prediction equals them",
        claim(
            -total(t[j] * log(y[j])),
            step("bound", -total(t[j] * log(t[j])), ">=", total(t[j] * (exp(excess) - 1 - excess))),
        ),
        about=tuple(let),
        source="Cover and Thomas (2006), section 2.6",
    )
