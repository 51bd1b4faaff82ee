"""The reference against values visible by hand and symmetries of the layers."""

from random import Random

import numpy as np
import pytest
from mpmath import mp

from numeric.verification import reference

PRIME_SIZES = [(2, 3, 5, 7), (3, 2, 7, 5), (5, 7, 2, 3)]  # n, m, d_k, d_v


def random_array(rng, *shape):
    """Return nested lists of float64 values from -1 to 1."""
    if not shape:
        return rng.uniform(-1, 1)
    return [random_array(rng, *shape[1:]) for _ in range(shape[0])]


def largest_difference(left, right):
    """Return the largest absolute difference of two nested lists of one shape, at 50 digits."""
    if not hasattr(left, "__len__"):
        with mp.workdps(50):
            return abs(mp.mpf(left) - mp.mpf(float(right) if not isinstance(right, mp.mpf) else right))
    assert len(left) == len(right), f"lengths {len(left)} and {len(right)} differ"
    return max(largest_difference(a, b) for a, b in zip(left, right, strict=True))


def identity(n):
    return [[float(i == j) for j in range(n)] for i in range(n)]


def norm_weights(rng, d):
    return {"gamma": random_array(rng, d), "beta": random_array(rng, d)}


def attention_weights_of(rng, h, d_model, d_k, d_v):
    return {
        "W_Q": random_array(rng, h, d_model, d_k),
        "W_K": random_array(rng, h, d_model, d_k),
        "W_V": random_array(rng, h, d_model, d_v),
        "W_O": random_array(rng, h * d_v, d_model),
    }


def feed_forward_weights(rng, d_model, d_ff):
    return {
        "W_1": random_array(rng, d_model, d_ff),
        "b_1": random_array(rng, d_ff),
        "W_2": random_array(rng, d_ff, d_model),
        "b_2": random_array(rng, d_model),
    }


def encoder_layer_weights(rng, h, d_model, d_k, d_v, d_ff):
    return {
        "attention": attention_weights_of(rng, h, d_model, d_k, d_v),
        "attention_norm": norm_weights(rng, d_model),
        "feed_forward": feed_forward_weights(rng, d_model, d_ff),
        "feed_forward_norm": norm_weights(rng, d_model),
    }


def decoder_layer_weights(rng, h, d_model, d_k, d_v, d_ff):
    return {
        "self_attention": attention_weights_of(rng, h, d_model, d_k, d_v),
        "self_attention_norm": norm_weights(rng, d_model),
        "cross_attention": attention_weights_of(rng, h, d_model, d_k, d_v),
        "cross_attention_norm": norm_weights(rng, d_model),
        "feed_forward": feed_forward_weights(rng, d_model, d_ff),
        "feed_forward_norm": norm_weights(rng, d_model),
    }


# Softmax


def test_softmax_of_logarithms_gives_their_ratios():
    """exp(log k) = k: softmax of (log 1, log 2, log 5) is (1, 2, 5) / 8."""
    with mp.workdps(50):
        y = reference.softmax([mp.log(1), mp.log(2), mp.log(5)])
    assert largest_difference(y, [0.125, 0.25, 0.625]) < 1e-48


def test_softmax_of_two_entries_is_the_logistic_function():
    """softmax([2, 1])_0 = 1 / (1 + e^-1) = 0.7310585786300048792511592418..."""
    y = reference.softmax([2, 1])
    with mp.workdps(50):
        assert abs(y[0] - mp.mpf("0.73105857863000487925115924182183627436514464016505651927636590791904")) < 1e-48


def test_softmax_of_huge_entries_neither_overflows_nor_loses_the_small_one():
    y = reference.softmax([20000.0, 10000.0])
    with mp.workdps(50):
        assert y[0] == 1
        assert abs(mp.log(y[1]) + 10000) < 1e-40


def test_softmax_without_a_visible_key_is_zero():
    assert reference.softmax([1.0, 2.0], [False, False]) == [0, 0]


# Scaled dot-product attention


def test_attention_scores_by_hand():
    """d_k = 4, so sqrt(d_k) = 2: the scores 2 log(3) / 2 and 0 give the weights 3/4 and 1/4."""
    with mp.workdps(50):
        Q, K = [[2 * mp.log(3), 7, 0, 0]], [[1, 0, 0, 0], [0, 0, 1, 0]]
    output = reference.scaled_dot_product_attention(Q, K, V=[[4, 0, 8], [0, 12, 4]])
    assert largest_difference(output, [[3, 3, 7]]) < 1e-48


def test_a_zero_query_averages_the_visible_values():
    V = [[1, 10], [2, 20], [6, 60]]
    output = reference.scaled_dot_product_attention(
        Q=[[0], [0], [0]],
        K=[[5], [7], [11]],
        V=V,
        M=[[True, True, True], [True, False, True], [False, False, False]],
    )
    assert largest_difference(output, [[3, 30], [3.5, 35], [0, 0]]) < 1e-48


@pytest.mark.parametrize(("n", "m", "d_k", "d_v"), PRIME_SIZES)
def test_attention_has_a_row_for_each_query_and_weights_that_sum_to_one(n, m, d_k, d_v):
    rng = Random(n)
    Q, K, V = random_array(rng, n, d_k), random_array(rng, m, d_k), random_array(rng, m, d_v)
    output = reference.scaled_dot_product_attention(Q, K, V)
    assert [len(row) for row in output] == [d_v] * n
    A = reference.attention_weights(Q, K)
    assert [len(row) for row in A] == [m] * n
    with mp.workdps(50):
        assert all(abs(sum(row) - 1) < 1e-48 for row in A)
    assert largest_difference(A, reference.scaled_dot_product_attention(Q, K, identity(m))) < 1e-48


def test_a_hidden_key_has_weight_zero_and_its_value_no_influence():
    rng = Random(2)
    Q, K, V = random_array(rng, 2, 5), random_array(rng, 3, 5), random_array(rng, 3, 7)
    M = np.array([[True, False, True], [True, False, True]])
    before = reference.scaled_dot_product_attention(Q, K, V, M)
    K[1], V[1] = random_array(rng, 5), random_array(rng, 7)
    assert reference.scaled_dot_product_attention(Q, K, V, M) == before
    assert largest_difference(reference.scaled_dot_product_attention(Q, K, V), before) > 1e-3
    assert [row[1] for row in reference.attention_weights(Q, K, M)] == [0, 0]


def test_masks_by_hand():
    assert reference.causal_mask(3) == [[True, False, False], [True, True, False], [True, True, True]]
    assert reference.padding_mask([True, True, False], 2) == [[True, True, False], [True, True, False]]


@pytest.mark.parametrize("factor", [5, 5**-0.5], ids=["scores times sqrt(d_k)^2", "scores over d_k"])
def test_another_scale_is_told_apart(factor):
    """With d_k = 5 the scores are q.k / sqrt(5); neither q.k sqrt(5) nor q.k / 5 passes for them."""
    rng = Random(5)
    Q, K, V = random_array(rng, 2, 5), random_array(rng, 3, 5), random_array(rng, 3, 7)
    scaled = [[factor * q for q in row] for row in Q]
    right = reference.scaled_dot_product_attention(Q, K, V)
    assert largest_difference(reference.scaled_dot_product_attention(scaled, K, V), right) > 1e-3


# Multi-head attention


def test_heads_are_concatenated_in_order():
    """One key, so each head is x W_i^V: heads (2, 3) and (5, 7) meet rows of W^O worth 1, 10, 100 and 1000."""
    one = [[[1.0]], [[1.0]]]
    Y = reference.multi_head_attention(
        [[1]], [[1]], [[1]], W_Q=one, W_K=one, W_V=[[[2, 3]], [[5, 7]]], W_O=[[1], [10], [100], [1000]]
    )
    assert Y == [[7532]]


def test_biases_by_hand():
    """Two equal keys: the output is (x W^V + b^V) W^O + b^output = (2 * 3 + 1) * 10 + 4."""
    Y = reference.multi_head_attention(
        [[1]], [[2], [2]], [[2], [2]], [[[1]]], [[[1]]], [[[3]]], [[10]], b_Q=[[1]], b_K=[[5]], b_V=[[1]], b_O=[4]
    )
    assert largest_difference(Y, [[74]]) < 1e-48


def test_the_key_projection_by_hand():
    """Query 1 and keys log(3) * (1, 0) give the values 4 and 8 the weights 3/4 and 1/4."""
    with mp.workdps(50):
        W_K = [[[mp.log(3)]]]
    Y = reference.multi_head_attention([[1]], [[1], [0]], [[4], [8]], [[[1]]], W_K, [[[1]]], [[1]])
    assert largest_difference(Y, [[5]]) < 1e-48


def test_query_and_key_biases_enter_the_scores():
    """b_Q = log 3 on a zero query gives the keys 1 and 0 the weights 3/4 and 1/4; b_K shifts both scores alike."""
    with mp.workdps(50):
        b_Q = [[mp.log(3)]]
    one = [[[1]]]
    for b_K in (None, [[11]]):
        Y = reference.multi_head_attention([[0]], [[1], [0]], [[4], [8]], one, one, one, [[1]], b_Q=b_Q, b_K=b_K)
        assert largest_difference(Y, [[5]]) < 1e-46


def test_permuting_the_heads_changes_nothing_and_permuting_w_o_alone_does():
    rng = Random(3)
    h, d_model, d_k, d_v = 3, 7, 5, 2
    weights = attention_weights_of(rng, h, d_model, d_k, d_v)
    X, memory = random_array(rng, 2, d_model), random_array(rng, 5, d_model)
    order = [2, 0, 1]
    permuted = {name: [weights[name][i] for i in order] for name in ("W_Q", "W_K", "W_V")}
    permuted["W_O"] = [weights["W_O"][i * d_v + e] for i in order for e in range(d_v)]
    Y = reference.multi_head_attention(X, memory, memory, **weights)
    assert largest_difference(reference.multi_head_attention(X, memory, memory, **permuted), Y) < 1e-46
    corrupted = {**weights, "W_O": permuted["W_O"]}
    assert largest_difference(reference.multi_head_attention(X, memory, memory, **corrupted), Y) > 1e-3


# Layers on single rows


def test_linear_by_hand():
    assert reference.linear([[1, 2], [3, 5]], [[1, 0, 2], [0, 1, 7]], [10, 20, 30]) == [[11, 22, 46], [13, 25, 71]]
    assert reference.linear([[1, 2]], [[3], [5]]) == [[13]]


def test_feed_forward_by_hand():
    """Hidden (2 - 3, 2 + 1) = (-1, 3); relu keeps (0, 3), times (5, 7) is 21, plus 11 is 32."""
    assert reference.feed_forward([[2]], [[1, 1]], [-3, 1], [[5], [7]], [11]) == [[32]]


def test_gelu_is_x_times_the_normal_distribution_function():
    """Phi(1) = 0.84134474606854294858523254563..., gelu(x) - gelu(-x) = x, and the far tail keeps its digits.

    Phi(-20) = exp(-200) / sqrt(2 pi) times the integral of exp(-20 s - s^2 / 2) over s > 0.
    """
    y = reference.feed_forward([[1], [-1], [0], [-20]], [[1]], [0], [[1]], [0], activation="gelu")
    with mp.workdps(50):
        assert abs(y[0][0] - mp.mpf("0.84134474606854294858523254563203792247791296672660439098739445024299")) < 1e-48
        assert abs(y[0][0] - y[1][0] - 1) < 1e-48
        assert y[2] == [0]
        tail = mp.exp(-200) / mp.sqrt(2 * mp.pi) * mp.quad(lambda s: mp.exp(-20 * s - s * s / 2), [0, 1, 10])
        assert abs(y[3][0] / (-20 * tail) - 1) < 1e-40


def test_the_tanh_form_of_gelu_is_told_apart():
    y = reference.feed_forward([[2.0]], [[1]], [0], [[1]], [0], activation="gelu")
    approximation = 1 + mp.tanh(mp.sqrt(2 / mp.pi) * (2 + 0.044715 * 2**3))
    assert largest_difference(y, [[approximation]]) > 1e-5


def test_layer_norm_by_hand():
    """Rows (1, 2, 3, 4, 5): mean 3, variance 2; with eps = 2 the deviation is 2, gamma and beta follow."""
    Y = reference.layer_norm([[1, 2, 3, 4, 5]], gamma=[1, 1, 3, 3, 5], beta=[0, 10, 0, 10, 0], eps=2)
    assert Y == [[-1, 9.5, 0, 11.5, 5]]


def test_layer_norm_uses_the_float64_epsilon_by_default():
    """A row (-1, 1) has variance 1: the entries are +-1 / sqrt(1 + eps)."""
    Y = reference.layer_norm([[-1, 1]], [1, 1], [0, 0])
    with mp.workdps(50):
        root = mp.sqrt(1 + mp.mpf(1e-5))
        assert largest_difference(Y, [[-1 / root, 1 / root]]) < 1e-48
        assert largest_difference(Y, reference.layer_norm([[-1, 1]], [1, 1], [0, 0], eps=mp.mpf("1e-5"))) > 1e-22


def test_layer_norm_gives_mean_zero_and_variance_v_over_v_plus_eps():
    rng = Random(7)
    X, d = random_array(rng, 3, 7), 7
    Y = reference.layer_norm(X, [1] * d, [0] * d, eps=0.25)
    with mp.workdps(50):
        for x, y in zip(X, Y, strict=True):
            mean = sum(map(mp.mpf, x)) / d
            variance = sum(mp.mpf(t) ** 2 for t in x) / d - mean**2
            assert abs(sum(y)) < 1e-47
            assert abs(sum(t**2 for t in y) / d - variance / (variance + 0.25)) < 1e-47


def test_the_unbiased_variance_is_told_apart():
    """Dividing by d - 1 scales a row of 7 by sqrt(6/7)."""
    X = random_array(Random(11), 2, 7)
    Y = reference.layer_norm(X, [1] * 7, [0] * 7, eps=0)
    assert largest_difference(reference.layer_norm(X, [(6 / 7) ** 0.5] * 7, [0] * 7, eps=0), Y) > 1e-3


# Tokens


def test_positional_encoding_by_hand():
    """d_model = 4: frequencies 1 and 1/100; positions count from 0."""
    with mp.workdps(50):
        hundredth = mp.mpf(1) / 100
        expected = [[mp.sin(p), mp.cos(p), mp.sin(p * hundredth), mp.cos(p * hundredth)] for p in range(3)]
    PE = reference.positional_encoding(3, 4)
    assert PE[0] == [0, 1, 0, 1]
    assert largest_difference(PE, expected) < 1e-47


def test_positional_encoding_turns_by_the_offset():
    """cos(pos w) cos(p w) + sin(pos w) sin(p w) = cos((pos - p) w): products depend on the offset alone."""
    PE = reference.positional_encoding(7, 10)
    with mp.workdps(50):
        products = [[sum(a * b for a, b in zip(PE[i], PE[j], strict=True)) for j in range(7)] for i in range(7)]
        assert all(abs(products[i][i + 2] - products[0][2]) < 1e-46 for i in range(5))
        assert abs(products[0][2] - products[0][3]) > 1e-3


def test_embedding_is_scaled_by_the_root_of_d_model():
    assert reference.embedding([2, 0], [[1, 2, 3, 4], [5, 6, 7, 8], [9, 0, 0, 1]]) == [[18, 0, 0, 2], [2, 4, 6, 8]]


# Layers, stacks, the model


def constant_attention(b_O):
    """Return the weights of a sub-layer of width 2 whose output is b_O in every row."""
    zero = [[[0], [0]]]
    return {"W_Q": zero, "W_K": zero, "W_V": zero, "W_O": [[0, 0]], "b_O": b_O}


def constant_network(b_2):
    return {"W_1": [[0], [0]], "b_1": [0], "W_2": [[0, 0]], "b_2": b_2}


def test_an_encoder_layer_by_hand():
    """A norm without eps keeps of a row of two which is larger: (1, -1) or (-1, 1), times gamma, plus beta.

    X + (4, 0) = (5, 3), so Y = (2, -2);   Y + (0, 3) = (2, 1), so Z = (5, -7) + (0, 11)
    """
    Z = reference.encoder_layer(
        [[1, 3]],
        attention=constant_attention([4, 0]),
        attention_norm={"gamma": [2, 2], "beta": [0, 0]},
        feed_forward=constant_network([0, 3]),
        feed_forward_norm={"gamma": [5, 7], "beta": [0, 11]},
        eps=0,
    )
    assert Z == [[5, 4]]


def test_a_decoder_layer_by_hand():
    """X + (4, 0) = (5, 3), Y = (2, -2);   Y + (0, 3) = (2, 1), U = (3, -3);   U + (0, 5) = (3, 2), Z = (5, 4)."""
    Z = reference.decoder_layer(
        [[1, 3]],
        [[0, 0], [0, 0]],
        self_attention=constant_attention([4, 0]),
        self_attention_norm={"gamma": [2, 2], "beta": [0, 0]},
        cross_attention=constant_attention([0, 3]),
        cross_attention_norm={"gamma": [3, 3], "beta": [0, 0]},
        feed_forward=constant_network([0, 5]),
        feed_forward_norm={"gamma": [5, 7], "beta": [0, 11]},
        eps=0,
    )
    assert Z == [[5, 4]]


def test_an_encoder_layer_is_blind_to_order_and_a_causal_one_is_not():
    rng = Random(13)
    weights = encoder_layer_weights(rng, h=2, d_model=7, d_k=3, d_v=5, d_ff=11)
    X = random_array(rng, 3, 7)
    order = [2, 0, 1]
    shuffled = [X[i] for i in order]
    Z = reference.encoder_layer(X, **weights)
    assert largest_difference(reference.encoder_layer(shuffled, **weights), [Z[i] for i in order]) < 1e-45
    Z = reference.encoder_layer(X, **weights, M=reference.causal_mask(3))
    causal = reference.encoder_layer(shuffled, **weights, M=reference.causal_mask(3))
    assert largest_difference(causal, [Z[i] for i in order]) > 1e-3


def test_the_norm_comes_after_the_sum():
    """A post-norm row with gamma = 1 and beta = 0 has mean zero; with the norm first it has not."""
    rng = Random(17)
    weights = encoder_layer_weights(rng, h=2, d_model=7, d_k=3, d_v=5, d_ff=11)
    plain = {"gamma": [1] * 7, "beta": [0] * 7}
    weights |= {"attention_norm": plain, "feed_forward_norm": plain}
    X = random_array(rng, 3, 7)
    with mp.workdps(50):
        assert all(abs(sum(row)) < 1e-45 for row in reference.encoder_layer(X, **weights))
        normalised = reference.layer_norm(X, **plain)
        A = reference.multi_head_attention(normalised, normalised, normalised, **weights["attention"])
        assert any(abs(sum(x) + sum(a)) > 1e-3 for x, a in zip(X, A, strict=True))


def test_a_causal_decoder_layer_does_not_look_ahead_and_its_memory_mask_hides_keys():
    rng = Random(19)
    weights = decoder_layer_weights(rng, h=2, d_model=5, d_k=3, d_v=2, d_ff=7)
    X, memory = random_array(rng, 3, 5), random_array(rng, 2, 5)
    masks = {"M": reference.causal_mask(3), "M_memory": reference.padding_mask([True, False], 3)}
    before = reference.decoder_layer(X, memory, **weights, **masks)
    X[2], memory[1] = random_array(rng, 5), random_array(rng, 5)
    after = reference.decoder_layer(X, memory, **weights, **masks)
    assert after[:2] == before[:2]
    assert largest_difference(after[2], before[2]) > 1e-3


def test_stacks_apply_their_layers_in_order_and_then_the_final_norm():
    rng = Random(23)
    sizes = {"h": 2, "d_model": 5, "d_k": 3, "d_v": 2, "d_ff": 7}
    first, second = encoder_layer_weights(rng, **sizes), encoder_layer_weights(rng, **sizes)
    final_norm = norm_weights(rng, 5)
    X = random_array(rng, 3, 5)
    by_hand = reference.encoder_layer(reference.encoder_layer(X, **first), **second)
    assert reference.encoder(X, [first, second]) == by_hand
    assert reference.encoder(X, [first, second], final_norm) == reference.layer_norm(by_hand, **final_norm)
    assert largest_difference(reference.encoder(X, [second, first]), by_hand) > 1e-3


def model_weights(rng, vocab=11, h=3, d_model=10, d_k=2, d_v=5, d_ff=7, layers=2):
    sizes = {"h": h, "d_model": d_model, "d_k": d_k, "d_v": d_v, "d_ff": d_ff}
    return {
        "embedding": {"E": random_array(rng, vocab, d_model)},
        "encoder": {"layers": [encoder_layer_weights(rng, **sizes) for _ in range(layers)]},
        "decoder": {"layers": [decoder_layer_weights(rng, **sizes) for _ in range(layers)]},
    }


def test_the_model_without_layers_is_the_embedding_times_its_transpose():
    """Logits are (sqrt(d_model) E[target] + PE) E^T; d_model = 4, one target at position 0, PE (0, 1, 0, 1)."""
    E = [[1, 0, 0, 0], [0, 1, 0, 2], [0, 0, 3, 0]]
    logits, probabilities = reference.transformer([0, 2], [1], {"E": E}, {"layers": []}, {"layers": []})
    assert logits == [[0, 3 + 2 * 5, 0]]
    assert probabilities == [reference.softmax([0, 13, 0])]


def test_the_model_is_its_parts_put_together():
    rng = Random(43)
    weights = model_weights(rng, layers=1)
    weights["encoder"]["final_norm"], weights["decoder"]["final_norm"] = norm_weights(rng, 10), norm_weights(rng, 10)
    options = {"activation": "gelu", "eps": 0.5}

    def rows(tokens):
        X, PE = reference.embedding(tokens, **weights["embedding"]), reference.positional_encoding(len(tokens), 10)
        with mp.workdps(50):
            return [[a + b for a, b in zip(x, p, strict=True)] for x, p in zip(X, PE, strict=True)]

    memory = reference.encoder(rows([2, 3, 5]), **weights["encoder"], **options)
    Z = reference.decoder(rows([7, 1]), memory, **weights["decoder"], M=reference.causal_mask(2), **options)
    logits, _ = reference.transformer([2, 3, 5], [7, 1], **weights, **options)
    assert logits == reference.linear(Z, np.array(weights["embedding"]["E"]).T)


@pytest.mark.parametrize("option", [{"activation": "gelu"}, {"eps": 0.5}])
def test_activation_and_epsilon_reach_every_layer(option):
    rng = Random(47)
    sizes = {"h": 2, "d_model": 5, "d_k": 3, "d_v": 2, "d_ff": 7}
    X, memory = random_array(rng, 3, 5), random_array(rng, 2, 5)
    layers = [encoder_layer_weights(rng, **sizes)]
    assert largest_difference(reference.encoder(X, layers, **option), reference.encoder(X, layers)) > 1e-3
    layers = [decoder_layer_weights(rng, **sizes)]
    assert (
        largest_difference(reference.decoder(X, memory, layers, **option), reference.decoder(X, memory, layers)) > 1e-3
    )


def test_the_model_predicts_from_the_past_alone_unless_told_otherwise():
    weights = model_weights(Random(29))
    source, target, changed = [1, 10, 4, 4, 0], [3, 7, 2], [3, 7, 9]
    logits, probabilities = reference.transformer(source, target, **weights)
    assert [len(row) for row in logits] == [len(row) for row in probabilities] == [11, 11, 11]
    with mp.workdps(50):
        assert all(abs(sum(row) - 1) < 1e-47 and min(row) > 0 for row in probabilities)
    other, _ = reference.transformer(source, changed, **weights)
    assert other[:2] == logits[:2]
    assert largest_difference(other[2], logits[2]) > 1e-3
    seen, _ = reference.transformer(source, target, **weights, causal=False)
    other, _ = reference.transformer(source, changed, **weights, causal=False)
    assert largest_difference(other[:2], seen[:2]) > 1e-3


def test_padding_has_no_influence():
    """A padded source gives the logits of the bare source; without the mask it does not. Same for the target."""
    weights = model_weights(Random(31))
    bare, _ = reference.transformer([1, 2, 3], [5, 7], **weights)
    source_mask = np.array([True, True, True, False, False])
    padded, _ = reference.transformer([1, 2, 3, 0, 0], [5, 7], **weights, source_mask=source_mask)
    assert padded == bare
    unmasked, _ = reference.transformer([1, 2, 3, 0, 0], [5, 7], **weights)
    assert largest_difference(unmasked, bare) > 1e-3
    free, _ = reference.transformer([1, 2, 3], [5, 7], **weights, causal=False)
    padded, _ = reference.transformer([1, 2, 3], [5, 7, 0], **weights, target_mask=[True, True, False], causal=False)
    assert padded[:2] == free
