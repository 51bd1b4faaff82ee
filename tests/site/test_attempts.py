"""What the pages say that the tests try is what the tests try."""

from importlib import import_module
from pathlib import Path

import pytest

from derivations.language.results.derivation import RESULTS
from derivations.site.attempts import Attempt, read_attempts

SOURCE = """
from derivations.gradients import gradient
from derivations.softmax.jacobian import hessian, jacobian_psd
from derivations.softmax.softmax import x
from tests.broken import broken_steps, is_refused, of_topic, with_step

NAMES = of_topic("batch_norm")
WRONG = [("a wrong sign", hessian, 0, 1, -x), ("none", x, 0, 0, x), (hessian, jacobian_psd)]


@broken_steps(WRONG, fast=1)
def test_a_broken_step_is_refused(result, claim, step, wrong):
    assert is_refused(with_step(result(), claim, step, wrong))


@broken_steps([("half", jacobian_psd, 0, 0, x / 2)])
def test_another(result, claim, step, wrong):
    assert is_refused(with_step(result(), claim, step, wrong))


def test_a_gradient_without_its_sum_is_refused():
    assert is_refused(with_step(gradient.softmax(), 0, 0, x))


@pytest.mark.parametrize("name", NAMES)
def test_twice_is_refused(name):
    assert is_refused(RESULTS[name]())


def test_it_is_proved():
    assert judge(hessian()).level == "proved"
"""


def test_wrong_variants_and_other_tests_are_told_apart(tmp_path: Path):
    (tmp_path / "test_one.py").write_text(SOURCE, encoding="utf-8")
    found = read_attempts(tmp_path, RESULTS)
    file = f"{tmp_path.name}/test_one.py"
    assert found["softmax.hessian"] == [Attempt("a wrong sign", True, file)]
    assert found["softmax.jacobian_psd"] == [Attempt("half", True, file)]
    assert found["gradient.softmax"] == [Attempt("a gradient without its sum is refused", False, file)]
    assert found["batch_norm.definition"] == [Attempt("twice is refused", False, file)]
    assert {name.partition(".")[0] for name in found} == {"softmax", "gradient", "batch_norm"}


def test_a_folder_without_tests_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="there is no test in"):
        read_attempts(tmp_path, RESULTS)


@pytest.mark.parametrize("module", ["softmax.test_jacobian", "attention.test_attention", "costs.test_memory"])
def test_the_rows_of_a_table_are_all_read(repository: Path, module: str):
    """The tests themselves import their tables; the pages read the text."""
    file = f"tests/{module.replace('.', '/')}.py"
    read = [
        (name, each.what)
        for name, attempts in read_attempts(repository / "tests", RESULTS).items()
        for each in attempts
        if each.is_variant and each.file == file
    ]
    assert sorted(read) == sorted((result().id, what) for what, result, *_ in import_module(f"tests.{module}").WRONG)
