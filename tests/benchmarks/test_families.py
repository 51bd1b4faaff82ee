"""The harness over all model types says exact, wrong and refused, and is not fooled."""

import pytest

from tests.benchmarks.families import EXACT, NONE, REFUSED, WRONG, components_here, verdict

pytest.importorskip("transformers")
pytestmark = pytest.mark.peers


def test_a_type_that_is_read_is_exact_and_others_are_refused():
    from tests.benchmarks.families import row

    found = row("clip_text_model")
    assert (found.parameters, found.components, found.products) == (EXACT,) * 3
    recurrent = row("mamba2")  # computed by chunks there: what that adds is a term of its own
    assert (recurrent.parameters, recurrent.components, recurrent.products) == (EXACT,) * 3
    refused = row("resnet")
    assert refused.parameters == REFUSED
    assert 'model_type is "resnet", an unknown family of models' in refused.why


def test_a_component_too_large_is_wrong():
    from tests.benchmarks.families import row

    def wider(config, name):
        return {part: count + (part == "final_norm") for part, count in components_here(config, name).items()}

    found = row("vit_msn", here=wider)
    assert (found.parameters, found.components, found.products) == (WRONG, WRONG, EXACT)
    assert "final_norm" in found.why


def test_nothing_compared_is_no_agreement():
    assert verdict([]) == NONE
    assert verdict([(1, 1), (2, 3)]) == WRONG
