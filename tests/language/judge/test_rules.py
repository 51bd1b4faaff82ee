"""Every rule is decided by a tactic that exists, and every tactic decides a rule."""

from derivations.language.judge import limits, linear_maps, suprema, tactics
from derivations.language.judge.proof import prove_equal
from derivations.language.judge.rules import RULES
from derivations.symbols import d_k, n

TABLES = (tactics.TACTICS, limits.TACTICS, linear_maps.TACTICS, suprema.TACTICS)


def test_the_tactics_are_those_that_rules_name():
    assert {rule.tactic for rule in RULES.values()} == {name for table in TABLES for name in table}


def test_no_tactic_has_two_functions():
    names = [name for table in TABLES for name in table]
    assert len(names) == len(set(names))


def test_a_rule_that_there_is_not_decides_nothing():
    assert prove_equal(n + d_k, d_k + n, rule="algebra").level == "proved"
    assert prove_equal(n + d_k, d_k + n, rule="intuition").level == "unknown"
