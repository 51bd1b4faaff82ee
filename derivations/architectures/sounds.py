r"""Audio as a sequence: convolutions over samples, and positions computed by a convolution over the rows.

Definition   H_i = phi(norm(conv_i(H_{i-1}))) from the samples H_0, without padding; Y = norm(H_L) W + b.
             Positions: P = phi(conv(X)) in groups of columns
Result       n rows read s (n - 1) + r samples: s is the product of all strides, r the samples that one row sees
Shapes       samples (samples, 1), Y (n, d_model); X and P (n, d_model)
Source       Baevski et al. (2020), section 2
"""

from __future__ import annotations

from derivations.architectures.description import Convolved, Norm, Waveform
from derivations.architectures.projections import norm_layer
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.rows import RowRange
from derivations.language.layers.layer import Equations, Layer, part
from derivations.linear.convolution import convolution_layer
from derivations.linear.grouped_convolution import grouped_convolution, groups
from derivations.linear.linear import linear
from derivations.normalisation.batch_norm import batch_norm
from derivations.symbols import d, d_model, d_out, n

__all__ = ["convolved_positions", "waveform_stem"]


def waveform_stem(stem: Waveform) -> Layer:
    """Return the convolutions over audio samples, with their norms and activations, and the last projection."""
    lengths, over_time = stem.lengths(n), batch_norm(Norm().eps)
    samples = array("samples", stem.samples(n), 1)
    let = Equations()
    H: Array = samples
    for number, (columns, width, stride) in enumerate(stem.convolutions, 1):
        layer = convolution_layer(width, stride=stride, rows=H.shape[0], biases=stem.biases)
        H = let(f"C_{number}")(part(f"conv_{number}", layer.xreplace({d_out: columns}))(H))
        if number == 1 or not stem.over_time:
            norm = over_time if stem.over_time else norm_layer(Norm())
            H = let(f"U_{number}")(part(f"norm_{number}", norm)(H))
        H = let(f"H_{number}")(stem.activation(H))
        if number == 1 and stem.frames is not None:
            H = let("R")(RowRange(H, 0, lengths[1]))
    if stem.norm is not None:
        H = let("U")(part("norm", norm_layer(stem.norm))(H))
    Y = let("Y")(part("projection", linear().xreplace({d_out: d_model}))(H))
    return Layer("waveform_stem", (samples,), (), let, Y)


def convolved_positions(positions: Convolved) -> Layer:
    """Return the layer of positions: one grouped convolution and its activation, or several in sequence."""
    X = array("X", n, d_model)
    # a window of even width has its middle after it, so that row t sees one row more before it than after it
    layer = grouped_convolution(positions.width, positions.width // 2, normed=positions.normed_weights)
    convolution = part("convolution", layer.xreplace({groups: positions.groups, d: d_model / positions.groups}))
    let = Equations()
    C: Array = let("C")(convolution(X))
    if not positions.normed_weights:
        C = let("U")(part("norm", norm_layer(Norm(scaled=False, shifted=False)))(C))
    one = Layer("position", (X,), (), let, let("Y")(positions.activation(C)))
    if positions.count is None:
        return one
    several = Equations()
    return Layer("positions", (X,), (), several, several("Y")(part("layers", one, positions.count)(X)))
