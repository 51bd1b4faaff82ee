r"""The whole Transformer: embeddings, positions, encoder, decoder, output softmax.

Definition   memory = Encoder(Embedding(source) + PE), Z = Decoder(Embedding(target) + PE, memory),
             logits = Z E^T, P = softmax of the rows of the logits
Result       the entries of the input and of the output; the rows of P sum to 1; row i of P depends only on row i of Z
Shapes       source (m,), target (n,), E (vocab, d_model), memory (m, d_model), Z (n, d_model), logits and P (n, vocab)
Assumes      d_model even; tokens count from 0 and are below vocab
Source       Vaswani et al. (2017), section 3
"""

from sympy import Eq, Ge, Indexed, Integer, Lambda, Le, Sum, cos, exp, sin, sqrt

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import RowBroadcast, array, mask_array, token_array
from derivations.language.arrays.functions import CausalMask, MaskConjunction, Named, relu, row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.results.statements import Conformable
from derivations.positions.positional_encoding import EVEN, positional_encoding
from derivations.softmax.cross_entropy import cross_entropy
from derivations.symbols import d_model, i, index, j, k, m, n, pos, vocab
from derivations.transformer.decoder import decoder
from derivations.transformer.embedding import embedding
from derivations.transformer.encoder import encoder

__all__ = ["transformer", "transformer_loss"]


@catalogued
def transformer(
    *, padded: bool = False, biases: bool = False, activation: Named = relu, final_norm: bool = False
) -> Layer:
    """Return the encoder-decoder Transformer, its output tied to the embedding.

    Definition   memory = Encoder(Embedding(source) + PE), Z = Decoder(Embedding(target) + PE, memory),
                 logits = Z E^T, P = softmax of the rows of the logits
    Shapes       source (m,), target (n,), E (vocab, d_model), logits and P (n, vocab); with `padded`, masks of the
                 tokens that are not padding: source_visible (m,), target_visible (n,)
    Assumes      target position i sees target positions j <= i
    Source       Vaswani et al. (2017), section 3
    """
    source, target, E = token_array("source", m), token_array("target", n), array("E", vocab, d_model)
    seen, seen_target = mask_array("source_visible", m), mask_array("target_visible", n)
    embed = part("embedding", embedding())
    encode = part("encoder", encoder(masked=padded, biases=biases, activation=activation, final_norm=final_norm))
    decode = part("decoder", decoder(masked_memory=padded, biases=biases, activation=activation, final_norm=final_norm))

    let = Equations()
    P_source = let("P_source")(part("positions", positional_encoding(m))())
    P_target = let("P_target")(part("positions", positional_encoding(n))())
    X = let("X")(embed(source, E=E) + P_source)
    memory = let("memory")(encode(X, *([RowBroadcast(seen, m)] if padded else [])))
    Y = let("Y")(embed(target, E=E) + P_target)
    M = let("M")(MaskConjunction(CausalMask(n), RowBroadcast(seen_target, n)) if padded else CausalMask(n))
    Z = let("Z")(decode(Y, memory, M, *([RowBroadcast(seen, n)] if padded else [])))
    logits = let("logits")(Z @ E.T)
    P = let("P")(row_softmax(logits))
    return Layer("transformer", (source, target, *([seen, seen_target] if padded else [])), (E,), let, P)


@catalogued
def transformer_loss(
    *, padded: bool = False, biases: bool = False, activation: Named = relu, final_norm: bool = False
) -> Layer:
    """Return the mean cross-entropy of the output of the Transformer against the tokens that should follow.

    Definition   logits as in `transformer`, loss = CrossEntropy(logits, labels)
    Shapes       source (m,), target and labels (n,), E (vocab, d_model), loss (); masks as in `transformer`
    Assumes      every target position counts, also a position of padding
    Source       Vaswani et al. (2017), section 3; Goodfellow, Bengio and Courville (2016), section 6.2.2.3
    """
    model = transformer(padded=padded, biases=biases, activation=activation, final_norm=final_norm).until("logits")
    labels = token_array("labels", n)
    source, target, *masks = model.inputs
    let = Equations()
    loss = let("loss")(part("cross_entropy", cross_entropy())(model.output, labels))
    inputs = (source, target, labels, *masks)
    return Layer("transformer_loss", inputs, model.parameters, (*model.equations, *let), loss)


VASWANI = "Vaswani et al. (2017), section 3.4"
E, Z = array("E", vocab, d_model), array("Z", n, d_model)
logits, P = array("logits", n, vocab), array("P", n, vocab)
v, w = index("v"), index("w")  # tokens


@result
def definition() -> Derivation:
    """The output of the Transformer: the scores against every row of the embedding, then softmax."""
    layer = transformer()
    return derivation(
        "The output of the Transformer: the softmax of $Z E^T$, row by row",
        claim(logits, step("definition", Z @ E.T)),
        claim(P, step("definition", row_softmax(logits)), step("definition", row_softmax(Z @ E.T))),
        about=(layer.equation("logits"), layer.equation("P")),
        source=VASWANI,
    )


@result
def input_rows() -> Derivation:
    """The input of the encoder: column 2i is the embedding plus a sine, column 2i + 1 the embedding plus a cosine."""
    layer, source, angle = transformer(), token_array("source", m), pos / Integer(10000) ** (2 * i / d_model)
    X = layer.equation("X").variable
    even, odd = (sqrt(d_model) * Indexed(E.base, source[pos], 2 * i + column) for column in (0, 1))
    return derivation(
        "The input of the encoder: the embedding of the token and the code of the position, added",
        claim(X[pos, 2 * i], step("definition", even + sin(angle))),
        claim(X[pos, 2 * i + 1], step("definition", odd + cos(angle))),
        about=(layer.equation("P_source"), layer.equation("X")),
        ranges={pos: m, i: d_model / 2},
        assuming=[
            EVEN,
            Assumption(Ge(source[pos], 0), {pos: m}),
            Assumption(Ge(vocab - 1 - source[pos], 0), {pos: m}),
        ],
        source="Vaswani et al. (2017), sections 3.4 and 3.5",
    )


@result
def tied_output() -> Derivation:
    """The output projection is the embedding itself: the score of token v is the dot product of z_i with its row."""
    return derivation(
        "The score of token $v$ at position $i$ is the dot product of row $i$ of $Z$ and row $v$ of the embedding",
        claim(logits[i, v], step("matrix product", Sum(Z[i, k] * E[v, k], (k, 0, d_model - 1)))),
        about=[transformer().equation("logits")],
        ranges={i: n, v: vocab},
        source=VASWANI,
    )


@result
def output_probabilities() -> Derivation:
    """The probability of a token, computed from the scores of all tokens."""
    return derivation(
        "The probability of token $v$ at position $i$",
        claim(P[i, v], step("definition", exp(logits[i, v]) / Sum(exp(logits[i, w]), (w, 0, vocab - 1)))),
        about=[transformer().equation("P")],
        ranges={i: n, v: vocab},
        source=VASWANI,
    )


@result
def output_probabilities_sum_to_one() -> Derivation:
    """At every position, the probabilities of all tokens add up to 1."""
    total = Sum(exp(logits[i, w]), (w, 0, vocab - 1))
    return derivation(
        "The output probabilities sum to 1 at every position",
        claim(
            Sum(P[i, v], (v, 0, vocab - 1)),
            step("definition", Sum(exp(logits[i, v]) / total, (v, 0, vocab - 1))),
            step("linearity of sums", Sum(exp(logits[i, v]), (v, 0, vocab - 1)) / total),
            step("algebra", 1),
        ),
        about=[transformer().equation("P")],
        ranges={i: n},
        source=VASWANI,
    )


@result
def causal() -> Derivation:
    """Row k of the probabilities depends only on row k of Z; with `decoder.causal`, on no target token after k."""
    seen, let = Iverson(Le(i, k, evaluate=False)), Equations()
    changed = seen * Z[i, j] + (1 - seen) * array("R", n, d_model)[i, j]
    Z_new = let("Z_new")(Tabulated(Lambda((i, j), changed), n, d_model))
    return derivation(
        "Row $k$ of the output probabilities stays what it is when the rows of $Z$ after $k$ are replaced",
        claim(row_softmax(Z @ E.T)[k], step("indicator", row_softmax(Z_new @ E.T)[k])),
        about=tuple(let),
        ranges={k: n},
        source="Vaswani et al. (2017), section 3.2.3",
    )


@result
def shapes() -> Derivation:
    """Z (n, d_model) and E (vocab, d_model) give scores and probabilities (n, vocab)."""
    score = Sum(Z[i, k] * E[v, k], (k, 0, d_model - 1))
    total = Sum(exp(logits[i, w]), (w, 0, vocab - 1))
    layer = transformer()
    return derivation(
        "The scores and the probabilities have $n$ rows and $vocab$ columns; $Z E$ conforms only if $d_model = vocab$",
        claim(Conformable(Z, E), step("shape", Eq(d_model, vocab), "iff")),
        claim(Z @ E.T, step("matrix product", Tabulated(Lambda((i, v), score), n, vocab))),
        claim(P, step("definition", Tabulated(Lambda((i, v), exp(logits[i, v]) / total), n, vocab))),
        about=[layer.equation("P")],
        source=VASWANI,
    )
