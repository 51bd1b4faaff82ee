"""Former names give what they stand for now, with a warning; other names are as unknown as before."""

import subprocess
import sys
import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import derivations
from derivations import former_names, get, layer, layers, names
from derivations.former_names import RENAMED, TEXTS, with_former_names
from numeric.optimize import PASSES, optimize

ROOT = Path(derivations.__file__).parents[1]
ALL = [(module, former, new) for module, names in RENAMED.items() for former, new in names.items()]
PLAIN = [entry for entry in ALL if "." not in entry[1]]


@pytest.mark.parametrize(("module", "former", "new"), PLAIN)
def test_a_former_name_gives_the_thing_itself_and_warns(module: str, former: str, new: str) -> None:
    found = import_module(module)
    assert former not in vars(found)
    with pytest.warns(DeprecationWarning, match=f"^{module}.{former} is now {new}: use that name$"):
        assert getattr(found, former) is vars(found)[new]


@pytest.mark.parametrize(("module", "former", "new"), [entry for entry in ALL if "." in entry[1]])
def test_what_a_former_member_stands_for_is_there(module: str, former: str, new: str) -> None:
    owner = getattr(import_module(module), former.split(".")[0])
    if isinstance(owner, type):
        assert isinstance(vars(owner)[former.split(".")[1]], property)
        assert new in {*dir(owner), *getattr(owner, "__annotations__", {})}
    else:
        assert new in owner.__wrapped__.__annotations__


def test_a_former_id_gives_the_result_and_warns() -> None:
    with pytest.warns(
        DeprecationWarning, match="^'attention.late_division' is now 'attention.deferred_normalisation':"
    ):
        found = get("attention.late_division")
    assert found is get("attention.deferred_normalisation")


def test_a_former_pass_can_be_left_out() -> None:
    with pytest.warns(DeprecationWarning, match="^'late_division' is now 'deferred_normalisation': use that name$"):
        named = optimize(layer("scaled_dot_product_attention"), without="late_division")
    assert named is optimize(layer("scaled_dot_product_attention"), without="deferred_normalisation")


@pytest.mark.parametrize("former", TEXTS)
def test_no_former_text_is_a_name_of_now(former: str) -> None:
    assert former not in {*names(), *layers(), *PASSES}


def test_an_unknown_name_is_still_unknown() -> None:
    module = import_module("derivations.language.judge.goal")
    with pytest.raises(AttributeError, match=r"^module 'derivations.language.judge.goal' has no attribute 'Cases'$"):
        module.Cases  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Cases'"):
        from derivations.language.judge.goal import Cases  # noqa: F401


@pytest.mark.slow
def test_the_line_that_imports_is_blamed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\n\nfrom derivations.language.judge.goal import Case\n")
    command = [sys.executable, "-W", "always::DeprecationWarning", str(script)]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (warning,) = [line for line in done.stderr.splitlines() if "DeprecationWarning" in line]
    assert warning.startswith(f"{script}:3:") and warning.endswith("judge.goal.Case is now Goal: use that name")


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module with a class whose attribute, and a function whose argument, have a former name."""

    class Loader:
        def exec_module(self, module: ModuleType) -> None:
            @dataclass(frozen=True)
            class Pair:
                left: int
                tactic: str = "plain"

            def twice(*, value: int) -> int:
                return 2 * value

            vars(module).update(Pair=Pair, twice=twice)

    monkeypatch.setattr(former_names, "RENAMED", {"a_room": {"Pair.method": "tactic", "twice.worth": "value"}})
    module = ModuleType("a_room")
    spec = with_former_names(ModuleSpec("a_room", Loader()))  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def test_a_former_attribute_is_read_and_given(renamed: Any) -> None:
    with pytest.warns(DeprecationWarning, match=r"^Pair.method is now tactic: use that name$") as caught:
        assert renamed.Pair(3).method == "plain"
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=r"^Pair\(method=...\) is now tactic: use that name$") as caught:
        assert renamed.Pair(3, method="bound") == renamed.Pair(3, "bound")
    assert caught[0].filename == __file__


def test_a_former_argument_is_taken(renamed: Any) -> None:
    with pytest.warns(DeprecationWarning, match=r"^twice\(worth=...\) is now value: use that name$"):
        assert renamed.twice(worth=3) == 6


def test_the_names_of_now_do_not_warn(renamed: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert renamed.Pair(3, tactic="bound").tactic == "bound" and renamed.twice(value=3) == 6
        with pytest.raises(AttributeError, match="methods"):
            renamed.Pair(3).methods  # noqa: B018
