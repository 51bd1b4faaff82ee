"""The loops of the further layers against values visible by hand, symmetries, and what they refuse."""

import numpy as np
import pytest
from mpmath import mp

from numeric.verification import reference

NEAR = mp.mpf(10) ** -47


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


def near(found, expected):
    if isinstance(found, list):
        return len(found) == len(expected) and all(map(near, found, expected))
    return abs(found - expected) < NEAR


# Cross-entropy


def test_the_loss_of_equal_logits_is_the_logarithm_of_their_number():
    assert near(reference.cross_entropy([[5] * 7, [-3] * 7], [0, 6]), mp.log(7))


def test_the_loss_is_the_mean_over_rows():
    X, tokens = [[1, 2, 3], [0, 0, 5]], [2, 0]
    rows = [reference.cross_entropy([x], [t]) for x, t in zip(X, tokens, strict=True)]
    assert near(reference.cross_entropy(X, tokens), sum(rows) / 2)
    whole = mp.exp(1) + mp.exp(2) + mp.exp(3)
    assert near(rows[0], -mp.log(mp.exp(3) / whole))


def test_soft_targets_weigh_the_losses_of_the_tokens():
    losses = [reference.cross_entropy([[1, 2, 5]], [token]) for token in range(3)]
    expected = (2 * losses[0] + 3 * losses[2]) / 4
    assert near(reference.soft_cross_entropy([[1, 2, 5]], [[0.5, 0, 0.75]]), expected)


@pytest.mark.parametrize("tokens", [[0], [0, 3], [0, -1], [0, 0.5], [0, 1, 2]])
def test_tokens_that_name_no_logit_are_refused(tokens):
    with pytest.raises(ValueError, match="pass one integer from 0 to 2 for each of the 2 rows"):
        reference.cross_entropy([[1, 2, 3], [4, 5, 6]], tokens)


# Normalisation


def test_batch_norm_is_layer_norm_of_the_columns():
    X, gamma, beta = [[1, 2, 4], [5, 7, 0], [3, 9, 8], [0, 1, 1], [6, 6, 2]], [2, 3, 5], [1, 0, 7]
    columns = reference.layer_norm([list(column) for column in zip(*X, strict=True)], [1] * 5, [0] * 5)
    expected = [[gamma[j] * columns[j][r] + beta[j] for j in range(3)] for r in range(5)]
    assert near(reference.batch_norm(X, gamma, beta), expected)


def test_batch_norm_with_the_statistics_of_the_batch_is_batch_norm():
    X, gamma, beta = [[1, 2], [5, 4], [3, 9]], [2, 3], [1, 0]
    m = [sum(column) / mp.mpf(3) for column in zip(*X, strict=True)]
    v = [sum((x - m[j]) ** 2 for x in column) / 3 for j, column in enumerate(zip(*X, strict=True))]
    assert near(reference.batch_norm_inference(X, gamma, beta, m, v), reference.batch_norm(X, gamma, beta))


def test_rms_norm_of_a_row_of_root_mean_square_five():
    assert near(reference.rms_norm([[1, 7]], gamma=[3, 10], eps=0), [[mp.mpf(3) / 5, mp.mpf(14)]])
    assert near(reference.rms_norm([[1, 7]], gamma=[1, 1], eps=24), [[mp.mpf(1) / 7, mp.mpf(1)]])


# Networks


def test_a_gate_of_zero_closes_and_a_large_one_opens():
    W_up, W_down = [[2, 3]], [[1], [10]]
    assert near(reference.gated_feed_forward([[5]], [[0, 0]], W_up, W_down), [[0]])
    ((found,),) = reference.gated_feed_forward([[5]], [[40, -40]], W_up, W_down)
    assert abs(found - 200 * 10) < mp.mpf(10) ** -70 + 200 * 150 * mp.exp(-200)


def test_low_rank_adaptation_by_hand():
    """W + 6/2 A B = [[1, 2]]^T + 3 (1 * 1 + 1 * 2) [[1], [2]]: x = (1, 1) gives 1 + 2 + 3 (1 + 4) + 100."""
    found = reference.low_rank_adaptation([[1, 1]], [[1], [2]], [100], [[1, 0], [0, 2]], [[1], [2]], alpha=6)
    assert near(found, [[1 + 2 + 3 * (1 + 4) + 100]])


# Sequences


def test_a_convolution_of_width_one_is_the_linear_layer():
    X, W, b = [[1, 2], [3, 5], [7, 11]], [[1, 0, 2], [0, 1, 3]], [10, 20, 30]
    assert near(reference.convolution(X, W, b), reference.linear(X, W, b))


def test_a_convolution_of_width_two_by_hand():
    """One column: y_i = x_i + 10 x_{i+1} + 100."""
    assert near(reference.convolution([[1], [2], [3]], [[1], [10]], [100]), [[121], [132]])


def test_a_recurrent_step_by_hand():
    found = reference.recurrent_step([1, 2], [3], W=[[1], [1]], U=[[-1]], b=[0.5])
    assert near(found, [mp.tanh(mp.mpf(1) / 2)])


@pytest.mark.parametrize("halves", [False, True])
def test_rotations_keep_lengths_and_depend_on_the_distance(halves):
    q, k = [1, 2, 3, 5], [7, 0, -2, 1]
    turned_q = reference.rotary_embedding([q] * 6, halves=halves)
    turned_k = reference.rotary_embedding([k] * 6, halves=halves)

    def dot(u, v):
        return sum(a * b for a, b in zip(u, v, strict=True))

    assert near([dot(row, row) for row in turned_q], [39] * 6)
    assert near(turned_q[0], q)
    assert near(dot(turned_q[5], turned_k[3]), dot(turned_q[2], turned_k[0]))
    assert not near(dot(turned_q[5], turned_k[3]), dot(turned_q[5], turned_k[2]))


def test_the_pairings_differ_by_a_permutation():
    neighbours = reference.rotary_embedding([[1, 2, 3, 5]] * 3)
    halves = reference.rotary_embedding([[1, 3, 2, 5]] * 3, halves=True)
    assert near([[row[0], row[2], row[1], row[3]] for row in halves], neighbours)


def test_rows_of_odd_length_are_refused():
    with pytest.raises(ValueError, match="d_k is 3; pass rows of even length"):
        reference.rotary_embedding([[1, 2, 3]])


def test_learned_positions_are_added():
    assert near(reference.learned_positions([[1, 2]], [[10, 20]]), [[11, 22]])


# Attention


def test_linear_attention_over_equal_features_is_the_mean():
    V = [[1, 2], [4, 8], [7, 5]]
    assert near(reference.linear_attention([[3, 1]], [[1, 1]] * 3, V), [[4, 5]])
    with pytest.raises(ValueError, match="the weights of a row sum to 0"):
        reference.linear_attention([[1]], [[1], [-1]], [[1], [2]])


def test_alibi_without_a_slope_is_causal_attention():
    rng = np.random.default_rng(5)
    Q, K, V = rng.normal(size=(3, 5)), rng.normal(size=(3, 5)), rng.normal(size=(3, 2))
    causal = reference.scaled_dot_product_attention(Q, K, V, reference.causal_mask(3))
    assert near(reference.alibi_attention(Q, K, V, slope=0), causal)
    assert not near(reference.alibi_attention(Q, K, V, slope=1), causal)


def test_alibi_of_equal_keys_weighs_by_the_distance():
    """Weights of positions 1 and 0 for slope log 3: 3 to 1."""
    found = reference.alibi_attention([[1], [1]], [[0], [0]], [[0], [4]], slope=mp.log(3))
    assert near(found, [[0], [3]])


def test_groups_of_one_head_are_multi_head_attention():
    rng = np.random.default_rng(5)
    X_Q, X_K, X_V = rng.normal(size=(2, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    W_Q, W_K, W_V = rng.normal(size=(2, 3, 7)), rng.normal(size=(2, 3, 7)), rng.normal(size=(2, 3, 2))
    W_O, M = rng.normal(size=(4, 3)), rng.random((2, 5)) < 0.6
    expected = reference.multi_head_attention(X_Q, X_K, X_V, W_Q, W_K, W_V, W_O, M=M)
    found = reference.grouped_query_attention(X_Q, X_K, X_V, W_Q[:, None], W_K, W_V, W_O.reshape(2, 2, 3), M)
    assert near(found, expected)


def test_one_group_shares_its_keys_among_all_heads():
    rng = np.random.default_rng(5)
    X_Q, X_K, X_V = rng.normal(size=(2, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    W_Q, W_K, W_V, W_O = (rng.normal(size=s) for s in ((2, 3, 7), (1, 3, 7), (1, 3, 2), (4, 3)))
    shared = [np.repeat(W, 2, axis=0) for W in (W_K, W_V)]
    expected = reference.multi_head_attention(X_Q, X_K, X_V, W_Q, *shared, W_O)
    assert near(reference.grouped_query_attention(X_Q, X_K, X_V, W_Q[None], W_K, W_V, W_O[None]), expected)


def latent_weights(rng, d_r=6):
    """Weights of two heads of two columns, all other widths three."""
    shapes = {"W_DQ": (3, 3), "W_UQ": (2, 3, 2), "W_QR": (2, 3, d_r), "W_DKV": (3, 3), "W_KR": (3, d_r)}
    shapes |= {"W_UK": (2, 3, 2), "W_UV": (2, 3, 5), "W_O": (10, 3)}
    norms = {"query_norm": {"gamma": rng.normal(size=3)}, "key_value_norm": {"gamma": rng.normal(size=3)}}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()} | norms


def test_latent_attention_without_turned_columns_is_multi_head_attention_to_the_latents():
    """Scores are divided by sqrt(2 + 6), twice the root of the two columns that heads have."""
    rng = np.random.default_rng(7)
    X, weights, M = rng.normal(size=(5, 3)), latent_weights(rng), rng.random((5, 5)) < 0.6
    flat = weights | {"W_UQ": 2 * weights["W_UQ"], "W_QR": 0 * weights["W_QR"]}
    of_queries = reference.rms_norm(reference.linear(X, weights["W_DQ"]), **weights["query_norm"])
    latents = reference.rms_norm(reference.linear(X, weights["W_DKV"]), **weights["key_value_norm"])
    maps = {"W_Q": weights["W_UQ"], "W_K": weights["W_UK"], "W_V": weights["W_UV"], "W_O": weights["W_O"]}
    expected = reference.multi_head_attention(of_queries, latents, latents, **maps, M=M)
    assert near(reference.latent_attention(X, **flat, M=M), expected)
    assert not near(reference.latent_attention(X, **weights | {"W_UQ": flat["W_UQ"]}, M=M), expected)


def test_latent_attention_to_itself_alone_is_a_linear_map_of_the_latent():
    rng = np.random.default_rng(11)
    X, weights = rng.normal(size=(1, 3)), latent_weights(rng)
    latent = reference.rms_norm(reference.linear(X, weights["W_DKV"]), **weights["key_value_norm"])
    values = [value for W in weights["W_UV"] for value in reference.linear(latent, W)[0]]
    assert near(reference.latent_attention(X, **weights), reference.linear([values], weights["W_O"]))
    with pytest.raises(ValueError, match="d_k is 3; pass rows of even length"):
        reference.latent_attention(X, **latent_weights(rng, d_r=3))


# Experts


def expert_weights(rng):
    shapes = {"W_router": (3, 5), "W_gate": (5, 3, 2), "W_up": (5, 3, 2), "W_down": (5, 2, 3)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def test_one_expert_is_that_of_the_largest_logit_and_all_are_weighed_by_the_softmax():
    rng = np.random.default_rng(13)
    X, weights = rng.normal(size=(7, 3)), expert_weights(rng)
    one, whole = (reference.mixture_of_experts(X, **weights, K=K) for K in (1, 5))
    for row, x in enumerate(X):
        logits = reference.linear([x], weights["W_router"])[0]
        networks = [
            reference.gated_feed_forward([x], *(weights[name][e] for name in ("W_gate", "W_up", "W_down")))[0]
            for e in range(5)
        ]
        assert near(one[row], networks[logits.index(max(logits))])
        shares = zip(reference.softmax(logits), networks, strict=True)
        weighed = [[share * y for y in network] for share, network in shares]
        expected = [sum(column) for column in zip(*weighed, strict=True)]
        assert near(whole[row], expected)
        some = reference.mixture_of_experts([x], **weights, K=1, normalised=False)[0]
        assert near(some, [max(reference.softmax(logits)) * y for y in one[row]])


def test_a_gate_of_zeros_halves_the_shared_experts():
    rng = np.random.default_rng(17)
    X, weights = rng.normal(size=(2, 3)), expert_weights(rng)
    shared = {"W_gate": rng.normal(size=(3, 7)), "W_up": rng.normal(size=(3, 7)), "W_down": rng.normal(size=(7, 3))}
    without = reference.mixture_of_experts(X, **weights, K=2)
    network = reference.gated_feed_forward(X, **shared)
    for gate, share in ((None, 1), ([0] * 3, mp.mpf(1) / 2)):
        found = reference.mixture_of_experts(X, **weights, K=2, shared_experts=shared, W_shared_gate=gate)
        pairs = [zip(*rows, strict=True) for rows in zip(without, network, strict=True)]
        assert near(found, [[y + share * c for y, c in row] for row in pairs])


@pytest.mark.parametrize("K", [0, 6])
def test_more_experts_than_there_are_are_refused(K):
    with pytest.raises(ValueError, match=f"{K} of 5 experts; pass K from 1 to 5"):
        reference.mixture_of_experts([[1, 2, 3]], **expert_weights(np.random.default_rng(19)), K=K)


def test_the_biases_of_a_gated_network_are_added_to_each_product():
    found = reference.gated_feed_forward([[0]], [[1, 1]], [[1, 1]], [[1], [1]], b_gate=[1, 2], b_up=[3, 5], b_down=[7])
    assert near(found, [[3 / (1 + mp.exp(-1)) + 10 / (1 + mp.exp(-2)) + 7]])


# Pre-norm layers


def test_a_pre_norm_layer_adds_both_sub_layers_to_what_comes_in():
    rng = np.random.default_rng(23)
    X, norm = rng.normal(size=(2, 3)), {"gamma": [2, 3, 5], "beta": [1, 0, -1]}
    attention = {name: rng.normal(size=(2, 3, 7)) for name in ("W_Q", "W_K", "W_V")} | {"W_O": rng.normal(size=(14, 3))}
    attention |= {name: rng.normal(size=(2, 7)) for name in ("b_Q", "b_K", "b_V")} | {"b_O": rng.normal(size=3)}
    network = {"W_1": rng.normal(size=(3, 5)), "b_1": rng.normal(size=5)}
    network |= {"W_2": rng.normal(size=(5, 3)), "b_2": rng.normal(size=3)}
    whole = reference.pre_norm_layer(X, norm, attention, norm, network)
    L = reference.layer_norm(X, **norm)
    Y = X + np.array(reference.multi_head_attention(L, L, L, **attention))
    F = reference.feed_forward(reference.layer_norm(Y, **norm), **network, activation="gelu")
    assert near(whole, (Y + np.array(F)).tolist())
    weights_of_heads, rows = np.ones((2, 2, 2), dtype=bool), np.ones((2, 3), dtype=bool)
    kept = {"D_A": weights_of_heads, "D_Y": rows, "D_Z": rows}
    assert near(reference.pre_norm_layer(X, norm, attention, norm, network, **kept), whole)
    assert not near(reference.pre_norm_layer(X, norm, attention, norm, network, **kept, rate=0.5), whole)
    nothing = {"D_A": weights_of_heads, "D_Y": ~rows, "D_Z": ~rows}
    assert near(reference.pre_norm_layer(X, norm, attention, norm, network, **nothing, rate=0.5), X.tolist())


def test_dropped_weights_leave_the_biases_of_the_output():
    rng = np.random.default_rng(29)
    X, norm = rng.normal(size=(2, 3)), {"gamma": [1, 1, 1], "beta": [0, 0, 0]}
    attention = {name: rng.normal(size=(2, 3, 7)) for name in ("W_Q", "W_K", "W_V")} | {"W_O": rng.normal(size=(14, 3))}
    attention |= {name: rng.normal(size=(2, 7)) for name in ("b_Q", "b_K", "b_V")} | {"b_O": [7, 11, 13]}
    network = {"W_1": np.zeros((3, 5)), "b_1": np.zeros(5), "W_2": np.zeros((5, 3)), "b_2": np.zeros(3)}
    found = reference.pre_norm_layer(
        X, norm, attention, norm, network, D_A=np.zeros((2, 2, 2), dtype=bool), D_Y=np.ones((2, 3), dtype=bool)
    )
    assert near(found, [[mp.mpf(float(x)) + b for x, b in zip(row, (7, 11, 13), strict=True)] for row in X])


# Rows and distances


def test_a_class_token_stands_above_the_rows():
    assert near(reference.class_token([[3, 5], [7, 11]], [[1, 2]]), [[1, 2], [3, 5], [7, 11]])


def test_the_bias_of_a_pair_is_that_of_its_distance():
    """Eight buckets: 0, 1, 2-15 and the rest, and as many for later keys; looking back alone 0, 1, 2, 3, 4-9, ..."""
    table = [[bucket, -bucket] for bucket in range(8)]
    both = reference.relative_position_bias(table, 1, 20)
    assert [int(bias) for bias in both[0][0]] == [0, 5] + [6] * 14 + [7] * 4
    assert near(both[1], [[-bias for bias in both[0][0]]])
    back = reference.relative_position_bias(table, 12, 12, bidirectional=False)
    assert [int(row[0]) for row in back[0]] == [0, 1, 2, 3, 4, 4, 4, 4, 4, 4, 5, 5]
    assert all(int(bias) == 0 for bias in back[0][0])


def test_the_stem_reads_every_other_frame():
    """A kernel that takes the middle frame alone, through GELU twice."""
    middle = {"W": [[0], [1], [0]], "b": [0]}
    X = [[1], [2], [3], [5], [7], [11]]
    phi = [x * mp.erfc(-x / mp.sqrt(2)) / 2 for x in map(mp.mpf, (1, 3, 7))]
    expected = [[x * mp.erfc(-x / mp.sqrt(2)) / 2] for x in phi]
    assert near(reference.audio_stem(X, middle, middle), expected)
