"""The table of passes names the results that rewritings cite, and code on the page is the optimiser's."""

import pytest

from derivations.catalogue import get, layers
from docs.optimisation_views import optimised, passes, rewrites, theorems_of, tile_sizes
from numeric import optimize
from numeric.optimize import PASSES
from numeric.runtime import tiles

CITED = ["pre_norm_layer", "latent_attention", "encoder_layer", "rotary_embedding", "gated_feed_forward"]


@pytest.mark.parametrize("name", CITED)
def test_every_rewriting_cites_what_its_pass_names(name: str):
    for rewrite in optimize(layers()[name]).every_rewrite():
        assert rewrite.theorem in (theorems_of(rewrite.name) or ("definition",))


def test_passes_of_one_module_have_a_result_each():
    assert theorems_of("key_bias") == ("attention.key_bias_cancels",)
    assert theorems_of("value_bias") == ("multi_head.effective_biases",)
    assert theorems_of("dead_equations") == theorems_of("common_subexpressions") == ()


def test_every_pass_has_a_row_and_its_results_exist():
    rows = passes().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(PASSES)
    for name in PASSES:
        assert all(get(theorem).evidence.level == "proved" for theorem in theorems_of(name))


def test_the_rewritings_show_both_sides_and_the_weights():
    shown = rewrites("multi_head_attention")
    assert shown.count("becomes") == len(optimize(layers()["multi_head_attention"]).rewrites)
    assert r"\mathrm{softmax}(S_i" in shown.partition("becomes")[0]
    assert "with the weights" in shown


def test_the_code_and_the_sizes_are_those_in_use():
    assert "each_tile([loop_1], items, n, threads)" in optimised("layer_norm")
    assert "import" not in optimised("layer_norm")
    assert f"| `ROWS` | {tiles.ROWS:,} | of a tile" in tile_sizes()
