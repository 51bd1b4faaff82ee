"""A derivation with a false step cannot be registered: the error names the step, both sides and a counterexample."""

import pickle
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sympy import Sum

from derivations.language.arrays.expression import array
from derivations.language.judge.proof import judge
from derivations.language.printing.views import text
from derivations.language.results.derivation import (
    RESULTS,
    Claim,
    Derivation,
    FalseStepError,
    claim,
    derivation,
    register,
    registered,
    result,
    step,
)
from derivations.symbols import i, j, n, scalar

x, a = array("x", n), scalar("a")
total = Sum(x[j], (j, 0, n - 1))
scaled = Sum(a * x[j], (j, 0, n - 1))
right = derivation("a comes out", claim(scaled, step("linearity of sums", a * total)))
wrong = derivation("a is lost", claim(scaled, step("linearity of sums", total)))


@pytest.fixture(autouse=True)
def _leave_the_catalogue_as_it_was() -> Iterator[None]:
    before = dict(RESULTS)
    yield
    RESULTS.clear()
    RESULTS.update(before)


def test_what_is_proved_enters_with_its_evidence() -> None:
    entered = register(right, "example.scaled_sum")
    assert (entered.id, entered.topic) == ("example.scaled_sum", "example")
    assert RESULTS["example.scaled_sum"]() is entered
    assert judge(entered) is entered.evidence
    assert entered.evidence.level == "proved"


def test_a_false_step_does_not_enter_and_is_named() -> None:
    with pytest.raises(FalseStepError) as caught:
        register(wrong, "example.lost")
    message = str(caught.value)
    assert "example.lost" in message
    assert "claim 1, step 1 (linearity of sums) is refuted" in message
    assert f"{text(scaled)} = {text(total)}" in message
    assert "the left side is" in message
    assert "x_1 = " in message
    assert caught.value.evidence.level == "refuted"
    assert "example.lost" not in RESULTS


def test_the_step_that_is_named_is_the_false_one() -> None:
    late = derivation("late", claim(scaled, step("linearity of sums", a * total), step("algebra", a * total + 1)))
    with pytest.raises(FalseStepError, match=r"claim 1, step 2 \(algebra\)"):
        register(late, "example.late")


def test_what_is_not_decided_does_not_enter_either() -> None:
    with pytest.raises(FalseStepError, match=r"is unknown: .* there is no rule called 'magic'"):
        register(derivation("no rule", claim(total, step("magic", total))), "example.magic")


def test_a_rule_that_is_misspelt_is_answered_with_the_nearest() -> None:
    with pytest.raises(FalseStepError, match=r"no rule called 'linearity of sum'; did you mean 'linearity of sums'\?"):
        register(derivation("misspelt", claim(total, step("linearity of sum", total))), "example.misspelt")


@pytest.mark.parametrize(("ranges", "words"), [({}, "ranges={i: n}"), ({i: n}, "")])
def test_an_index_without_a_range_is_told_which_one(ranges: dict, words: str) -> None:
    failures = derivation("rows", claim(x[i], step("algebra", x[i])), ranges=ranges).evidence.failures
    assert bool(failures) == bool(words)
    assert all(words in failure for failure in failures)


@pytest.mark.parametrize("name", ["", "nodot", "two.dots.here", "a.", ".b", "a.b c"])
def test_an_id_is_a_topic_and_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="not an id"):
        register(right, name)


def test_an_id_is_given_once() -> None:
    register(right, "example.once")
    with pytest.raises(ValueError, match="taken"):
        register(right, "example.once")


def test_the_error_travels_between_processes() -> None:
    with pytest.raises(FalseStepError) as caught:
        register(wrong, "example.lost")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(copy, FalseStepError)
    assert str(copy) == str(caught.value)
    assert copy.evidence.level == "refuted"


def test_a_changed_copy_is_judged_by_itself() -> None:
    entered = register(right, "example.scaled_sum")
    broken = replace(entered, claims=wrong.claims)
    assert judge(broken).level == "refuted"
    assert entered.evidence.level == "proved"


def test_a_decorated_result_has_the_name_of_its_topic() -> None:
    @result(topic="example")
    def from_elsewhere() -> Derivation:
        return right

    assert RESULTS["example.from_elsewhere"]().topic == "example"


def test_a_decorated_result_is_judged_when_it_is_used() -> None:
    built = []

    @result(topic="example")
    def lost() -> Derivation:
        built.append(1)
        return wrong

    @result(topic="example")
    def kept() -> Derivation:
        return right

    assert not built
    with pytest.raises(FalseStepError, match=r"'example.lost' is not proved: claim 1, step 1"):
        registered("example.lost")
    assert lost().evidence.level == "refuted"
    assert registered("example.kept") is kept()
    assert built == [1]


def test_a_claim_without_steps_does_not_enter() -> None:
    with pytest.raises(FalseStepError, match="a claim of it has no steps"):
        register(replace(right, claims=(*right.claims, Claim(a, ()))), "example.empty")


def test_a_derivation_begins_with_its_title() -> None:
    with pytest.raises(TypeError, match="the title of a derivation is text"):
        derivation(claim(total, step("algebra", total)))
