"""Which functions a layer is compiled to, in which order, and how they are called."""

from derivations.attention.latent import latent_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language import gradient
from derivations.linear.linear import linear
from derivations.transformer.decoder import decoder_layer
from derivations.transformer.encoder import encoder
from numeric.codegen.naming import named
from numeric.codegen.plan import Unit, plan_of


def test_a_layer_without_parts_is_one_function():
    assert plan_of(linear()).units == (Unit(linear()),)


def test_every_function_comes_after_those_it_calls():
    plan = plan_of(gradient(encoder()))
    assert plan.units[-1] == Unit(gradient(encoder()))
    assert len(set(plan.units)) == len(plan.units) > 3
    for place, unit in enumerate(plan.units):
        assert all(plan.units.index(callee) < place for callee in plan.callees(unit))


def test_a_part_whose_gradient_is_asked_for_has_a_pass_forward_and_one_backward():
    roles = {(unit.of.name, unit.role) for unit in plan_of(gradient(encoder())).units}
    names = {name for name, role in roles if role == "backward"}
    assert names and all((name, "forward") in roles for name in names)
    assert {role for _, role in ((u.of, u.role) for u in plan_of(encoder()).units)} == {"whole"}


def test_layers_that_differ_in_sizes_alone_are_printed_once():
    plan = plan_of(latent_attention())
    norms = {layer: printed for layer, printed in plan.general.items() if layer.name == "rms_norm"}
    assert len(norms) == 2 and len(set(norms.values())) == 1
    assert {unit.of for unit in plan.units[:-1]} == set(plan.general.values())


def test_no_function_has_the_name_of_another_or_of_a_local_of_its_callers():
    for layer in (gradient(encoder()), decoder_layer(), feed_forward()):
        plan = plan_of(layer)
        names = named(plan)
        assert len(set(names.functions.values())) == len(plan.units)
        for caller in plan.units:
            called = {names.functions[callee] for callee in plan.callees(caller)}
            assert not called & set(names.local[caller].values())
