"""Every rule is decided by a method that there is, and every method decides a rule."""

from derivations.language.judge import limits, linear_maps, methods, suprema
from derivations.language.judge.proof import prove_equal
from derivations.language.judge.rules import RULES
from derivations.symbols import d_k, n

TABLES = (methods.METHODS, limits.METHODS, linear_maps.METHODS, suprema.METHODS)


def test_the_methods_are_those_that_rules_name():
    assert {rule.method for rule in RULES.values()} == {name for table in TABLES for name in table}


def test_no_method_has_two_functions():
    names = [name for table in TABLES for name in table]
    assert len(names) == len(set(names))


def test_a_rule_that_there_is_not_decides_nothing():
    assert prove_equal(n + d_k, d_k + n, rule="algebra").level == "proved"
    assert prove_equal(n + d_k, d_k + n, rule="intuition").level == "unknown"
