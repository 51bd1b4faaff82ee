"""Former names of objects, by the modules that define them: a former name works and warns, for one release.

`from derivations.language.judge.goal import Case` gives the class `Goal` itself. A name with a dot belongs to a class
or to a function: `Rule.method` is the attribute `method`, and the argument `method` where the call takes one. The
modules do not mention their former names; the import adds them from this table. `current` does the same for names
that are texts: ids of results, passes, counts.
"""

from collections.abc import Callable, Mapping
from copy import copy
from functools import wraps
from importlib.machinery import ModuleSpec
from inspect import signature
from types import ModuleType
from typing import Any
from warnings import warn

__all__ = ["RENAMED", "TEXTS", "RenamedModule", "current", "with_former_names"]

RENAMED: Mapping[str, Mapping[str, str]] = {
    "derivations.attention.rewrites": {"late_division": "deferred_normalisation"},
    "derivations.catalogue": {"Verdict.second_route": "cross_check", "verify.second": "cross_checked"},
    "derivations.attention.latent": {"beside": "column_concatenation"},
    "derivations.language.arrays.columns": {"Beside": "ColumnConcatenation"},
    "derivations.language.arrays.functions": {"Both": "MaskConjunction", "opaque": "uninterpreted_function"},
    "derivations.language.arrays.routing": {"EachTransposed": "BatchTranspose"},
    "derivations.costs.memory": {"kept": "saved_residual_bytes"},
    "derivations.costs.published.memory_formulas": {"kept": "saved_residual_bytes"},
    "derivations.language.counting.memory_counts": {
        "Kept": "SavedResiduals",
        "KeptCount": "SavedResidualCount",
        "kept_activations": "saved_residuals",
    },
    "derivations.language.counting.mask_sparsity": {
        "Sight": "MaskSparsity",
        "look": "sparsity_of_layer",
        "look_at": "sparsity_of_equations",
    },
    "derivations.language.cross_check": {
        "SecondRoute": "CrossCheck",
        "StepRoute": "StepCheck",
        "second_route": "cross_check",
    },
    "derivations.language.cross_check.assignment": {"World": "Assignment"},
    "derivations.language.cross_check.distributions": {"set_laws": "set_distributions"},
    "derivations.language.cross_check.expectations": {"Law": "Distribution"},
    "derivations.language.cross_check.sampling": {"worlds": "assignments"},
    "derivations.language.cross_check.comparison": {
        "SecondRoute": "CrossCheck",
        "StepRoute": "StepCheck",
        "second_route": "cross_check",
    },
    "derivations.language.judge.counterexample": {
        "Witness": "Counterexample",
        "find_witness": "find_counterexample",
    },
    "derivations.language.judge.goal": {"Case": "Goal"},
    "derivations.language.judge.normal_form.fallback_rules": {"RESERVE": "FALLBACK_RULES"},
    "derivations.language.judge.premises": {"refuse_twins": "check_symbol_consistency"},
    "derivations.language.judge.proof": {"StepEvidence.witness": "counterexample"},
    "derivations.language.judge.rules": {"Rule.method": "tactic"},
    "numeric.codegen.line_wrapping": {"folded": "wrapped_statement", "wrapped": "wrapped_items"},
    "numeric.codegen.lowering.locality": {"schedule": "phases_of"},
    "numeric.codegen.lowering.loop_schedule": {"Program": "LoopSchedule"},
    "numeric.optimize.deferred_normalisation": {"late_division": "deferred_normalisation"},
    "numeric.runtime.primitives": {"put_beside": "concatenate_columns"},
    "numeric.verification.summary": {"Proof.second_route": "cross_check"},
}

TEXTS: Mapping[str, str] = {
    **{f"kept {what}": f"saved residual {what}" for what in ("bytes", "masks", "numbers", "statistics")},
    "attention.late_division": "attention.deferred_normalisation",
    "late_division": "deferred_normalisation",
}


def current(name: str) -> str:
    """Return the present name of an id, a pass or a count."""
    new = TEXTS.get(name, name)
    if new != name:
        _warn(repr(name), repr(new))
    return new


class RenamedModule(ModuleType):
    """A module that also finds its objects by their former names."""

    def __getattr__(self, name: str) -> Any:
        """Return the object of a former name; Python calls this only for names that the module does not have."""
        new = RENAMED.get(self.__name__, {}).get(name)
        if new is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        _warn(f"{self.__name__}.{name}", new)
        return getattr(self, new)


def with_former_names(spec: ModuleSpec) -> ModuleSpec:
    """Return a module's spec, changed so that its former names are added after it has run."""
    loader: Any = copy(spec.loader)  # one object may load all modules, and the others keep theirs
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        run(module)
        _add(module)

    loader.exec_module = exec_module
    spec.loader = loader
    return spec


def _add(module: ModuleType) -> None:
    names = RENAMED.get(module.__name__, {})
    for former, new in names.items():
        owner, _, former = former.rpartition(".")
        if not owner:
            module.__class__ = RenamedModule
        elif isinstance(getattr(module, owner), type):
            _add_attribute(getattr(module, owner), former, new)
        else:
            setattr(module, owner, _accepting(getattr(module, owner), f"{owner}({former}=...)", former, new))


def _add_attribute(owner: Any, former: str, new: str) -> None:
    def get(self: Any) -> Any:
        _warn(f"{owner.__name__}.{former}", new)
        return getattr(self, new)

    setattr(owner, former, property(get, doc=f"The former name of `{new}`."))
    if new in signature(owner).parameters:
        owner.__init__ = _accepting(owner.__init__, f"{owner.__name__}({former}=...)", former, new)


def _accepting(function: Callable[..., Any], shown: str, former: str, new: str) -> Callable[..., Any]:
    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        if former in named:
            _warn(shown, new)
            named[new] = named.pop(former)
        return function(*arguments, **named)

    return call


def _warn(former: str, new: str) -> None:
    warn(f"{former} is now {new}: use that name", DeprecationWarning, stacklevel=3)
