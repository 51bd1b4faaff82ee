"""Former paths of modules that moved: an import by such a path works and warns, for one release.

`from derivations.rotary import rotary_embedding` imports `derivations.positions.rotary`: the module itself, not a copy.
The modules of a package that moved are found in its new place. An unknown path raises `ModuleNotFoundError` as usual.
"""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from threading import local
from types import CodeType, ModuleType
from typing import Any
from warnings import warn

from derivations.former_names import RENAMED, RenamedModule, with_former_names

__all__ = ["MOVED", "install", "new_path"]

MOVED = {
    "derivations.activation": "derivations.activations.activation",
    "derivations.attention_circuits": "derivations.attention.circuits",
    "derivations.attention_costs": "derivations.attention.costs",
    "derivations.attention_kernels": "derivations.attention.kernels",
    "derivations.attention_masks": "derivations.attention.masks",
    "derivations.attention_rewrites": "derivations.attention.rewrites",
    "derivations.attention_symmetries": "derivations.attention.symmetries",
    "derivations.attention_tiles": "derivations.attention.tiles",
    "derivations.attention_weights": "derivations.attention.weights",
    "derivations.band_masks": "derivations.attention.band_masks",
    "derivations.batch_norm": "derivations.normalisation.batch_norm",
    "derivations.causal_attention": "derivations.attention.causal",
    "derivations.choices": "derivations.documents.choices",
    "derivations.convolution": "derivations.linear.convolution",
    "derivations.cost_questions": "derivations.costs.cost_questions",
    "derivations.count_report": "derivations.costs.count_report",
    "derivations.counts": "derivations.costs.counts",
    "derivations.cross_entropy": "derivations.softmax.cross_entropy",
    "derivations.decoder": "derivations.transformer.decoder",
    "derivations.dot_product": "derivations.attention.dot_product",
    "derivations.dropout": "derivations.linear.dropout",
    "derivations.embedding": "derivations.transformer.embedding",
    "derivations.encoder": "derivations.transformer.encoder",
    "derivations.feed_forward_costs": "derivations.feed_forward.costs",
    "derivations.feed_forward_derivatives": "derivations.feed_forward.derivatives",
    "derivations.feed_forward_symmetries": "derivations.feed_forward.symmetries",
    "derivations.flops": "derivations.costs.flops",
    "derivations.gated_feed_forward": "derivations.feed_forward.gated",
    "derivations.gelu": "derivations.activations.gelu",
    "derivations.gradient": "derivations.gradients.gradient",
    "derivations.grouped_query_attention": "derivations.attention.grouped_query",
    "derivations.initialisation": "derivations.linear.initialisation",
    "derivations.key_value_caches": "derivations.costs.key_value_caches",
    "derivations.latent_attention": "derivations.attention.latent",
    "derivations.layer_gradients": "derivations.gradients.layer_gradients",
    "derivations.layer_norm": "derivations.normalisation.layer_norm",
    "derivations.layer_norm_jacobian": "derivations.normalisation.layer_norm_jacobian",
    "derivations.layer_norm_symmetries": "derivations.normalisation.layer_norm_symmetries",
    "derivations.log_sum_exp": "derivations.softmax.log_sum_exp",
    "derivations.low_rank_adaptation": "derivations.linear.low_rank_adaptation",
    "derivations.memory": "derivations.costs.memory",
    "derivations.mixture_of_experts": "derivations.feed_forward.mixture_of_experts",
    "derivations.model_costs": "derivations.costs.model_costs",
    "derivations.multi_head": "derivations.attention.multi_head",
    "derivations.multi_head_costs": "derivations.attention.multi_head_costs",
    "derivations.parameters": "derivations.costs.parameters",
    "derivations.patches": "derivations.architectures.patches",
    "derivations.position_bias": "derivations.positions.position_bias",
    "derivations.positional_encoding": "derivations.positions.positional_encoding",
    "derivations.published": "derivations.costs.published",
    "derivations.questions": "derivations.costs.questions",
    "derivations.recurrent": "derivations.linear.recurrent",
    "derivations.relative_position_bias": "derivations.architectures.relative_position_bias",
    "derivations.residual": "derivations.transformer.residual",
    "derivations.rms_norm": "derivations.normalisation.rms_norm",
    "derivations.rms_norm_jacobian": "derivations.normalisation.rms_norm_jacobian",
    "derivations.rotary": "derivations.positions.rotary",
    "derivations.rotary_scaling": "derivations.positions.rotary_scaling",
    "derivations.sigmoid": "derivations.activations.sigmoid",
    "derivations.softmax_jacobian": "derivations.softmax.jacobian",
    "derivations.softmax_limits": "derivations.softmax.limits",
    "derivations.stored_bytes": "derivations.costs.stored_bytes",
    "derivations.symmetry_breaking": "derivations.feed_forward.symmetry_breaking",
    "derivations.language.arrangements": "derivations.language.arrays.arrangements",
    "derivations.language.binding": "derivations.language.arrays.binding",
    "derivations.language.caches": "derivations.language.decoding.caches",
    "derivations.language.case": "derivations.language.judge.goal",
    "derivations.language.certificates": "derivations.language.judge.certificates",
    "derivations.language.columns": "derivations.language.arrays.columns",
    "derivations.language.convention": "derivations.language.counting.convention",
    "derivations.language.costs": "derivations.language.counting.costs",
    "derivations.language.decimals": "derivations.language.judge.decimals",
    "derivations.language.declarations": "derivations.language.arrays.declarations",
    "derivations.language.declared_numbers": "derivations.language.judge.declared_numbers",
    "derivations.language.decoding_claims": "derivations.language.decoding.claims",
    "derivations.language.deferred": "derivations.language.arrays.deferred",
    "derivations.language.derivation": "derivations.language.results.derivation",
    "derivations.language.differentiation.kept": "derivations.language.counting.saved_residuals",
    "derivations.language.domains": "derivations.language.judge.domains",
    "derivations.language.enclosure": "derivations.language.judge.enclosure",
    "derivations.language.evaluate": "derivations.language.judge.evaluate",
    "derivations.language.explicit": "derivations.language.printing.explicit",
    "derivations.language.exponentials": "derivations.language.arrays.exponentials",
    "derivations.language.expression": "derivations.language.arrays.expression",
    "derivations.language.flop_counts": "derivations.language.counting.flop_counts",
    "derivations.language.flop_passes": "derivations.language.counting.flop_passes",
    "derivations.language.functions": "derivations.language.arrays.functions",
    "derivations.language.inlining": "derivations.language.layers.inlining",
    "derivations.language.internal": "derivations.language.arrays.internal",
    "derivations.language.intervals": "derivations.language.judge.intervals",
    "derivations.language.layer": "derivations.language.layers.layer",
    "derivations.language.limits": "derivations.language.judge.limits",
    "derivations.language.linear_maps": "derivations.language.judge.linear_maps",
    "derivations.language.masks": "derivations.language.arrays.masks",
    "derivations.language.memory_counts": "derivations.language.counting.memory_counts",
    "derivations.language.methods": "derivations.language.judge.tactics",
    "derivations.language.names": "derivations.language.layers.names",
    "derivations.language.next_rows": "derivations.language.decoding.next_rows",
    "derivations.language.normal_form": "derivations.language.judge.normal_form",
    "derivations.language.normal_form.reserve": "derivations.language.judge.normal_form.fallback_rules",
    "derivations.language.operand_axes": "derivations.language.arrays.operand_axes",
    "derivations.language.operations": "derivations.language.counting.operations",
    "derivations.language.positions": "derivations.language.decoding.positions",
    "derivations.language.premises": "derivations.language.judge.premises",
    "derivations.language.proof": "derivations.language.judge.proof",
    "derivations.language.routing": "derivations.language.arrays.routing",
    "derivations.language.rows": "derivations.language.arrays.rows",
    "derivations.language.rules": "derivations.language.judge.rules",
    "derivations.language.scalars": "derivations.language.arrays.scalars",
    "derivations.language.second_route": "derivations.language.cross_check",
    "derivations.language.second_route.keeping": "derivations.language.cross_check.saved_residuals",
    "derivations.language.second_route.laws": "derivations.language.cross_check.distributions",
    "derivations.language.second_route.route": "derivations.language.cross_check.comparison",
    "derivations.language.second_route.world": "derivations.language.cross_check.assignment",
    "derivations.language.selection": "derivations.language.arrays.selection",
    "derivations.language.shapes": "derivations.language.arrays.shapes",
    "derivations.language.shown": "derivations.language.arrays.shown",
    "derivations.language.stacks": "derivations.language.layers.stacks",
    "derivations.language.stated": "derivations.language.judge.stated",
    "derivations.language.statements": "derivations.language.results.statements",
    "derivations.language.suprema": "derivations.language.judge.suprema",
    "derivations.language.text_situations": "derivations.language.decoding.text_situations",
    "derivations.language.thorough": "derivations.language.judge.thorough",
    "derivations.language.visibility": "derivations.language.counting.mask_sparsity",
    "derivations.language.witness": "derivations.language.judge.counterexample",
    "derivations.language.written": "derivations.language.results.written",
    "numeric.agreement": "numeric.verification.agreement",
    "numeric.backends": "numeric.codegen.backends",
    "numeric.blas_threads": "numeric.runtime.blas_threads",
    "numeric.checkpoints": "numeric.models.checkpoints",
    "numeric.checks": "numeric.runtime.checks",
    "numeric.compile": "numeric.codegen.compile",
    "numeric.conformance": "numeric.verification.conformance",
    "numeric.cost_pictures": "numeric.models.cost_pictures",
    "numeric.decoding": "numeric.models.decoding",
    "numeric.folding": "numeric.codegen.line_wrapping",
    "numeric.formula_printer": "numeric.codegen.formula_printer",
    "numeric.job": "numeric.verification.job",
    "numeric.load": "numeric.models.load",
    "numeric.lowering": "numeric.codegen.lowering",
    "numeric.lowering.program": "numeric.codegen.lowering.loop_schedule",
    "numeric.optimiser": "numeric.models.optimiser",
    "numeric.optimize.late_division": "numeric.optimize.deferred_normalisation",
    "numeric.own_memory": "numeric.runtime.own_memory",
    "numeric.padding": "numeric.models.padding",
    "numeric.pieces": "numeric.models.pieces",
    "numeric.prepare": "numeric.optimize.prepare",
    "numeric.primitives": "numeric.runtime.primitives",
    "numeric.printer": "numeric.codegen.printer",
    "numeric.program": "numeric.codegen.function_lines",
    "numeric.reference": "numeric.verification.reference",
    "numeric.standalone": "numeric.optimize.standalone",
    "numeric.structure": "numeric.runtime.structure",
    "numeric.tasks": "numeric.models.tasks",
    "numeric.text": "numeric.verification.text",
    "numeric.tiles": "numeric.runtime.tiles",
    "numeric.train": "numeric.models.train",
    "numeric.transformer": "numeric.models.transformer",
    "numeric.weights": "numeric.models.weights",
}


def new_path(name: str) -> str | None:
    """Return the present path of a module whose former path is given, or None if the path is not a former one."""
    former, rest = name, ""
    while former:
        if former in MOVED:
            return MOVED[former] + rest
        former, _, last = former.rpartition(".")
        rest = f".{last}{rest}"
    return None


class _Package(RenamedModule):
    """A package in which importing a module by its former path does not replace a public function of the same name."""

    def __setattr__(self, name: str, value: Any) -> None:
        public = name in vars(self) and not isinstance(vars(self)[name], ModuleType)
        if not (public and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


class _Loader:
    """Loads an existing module for an import by its former path."""

    def __init__(self, former: str, module: ModuleType) -> None:
        self.former, self.module, self.spec = former, module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, and warn with its present path."""
        self._warn()
        package, _, name = self.former.rpartition(".")
        if name in vars(sys.modules[package]):  # the import system is about to bind the module there
            sys.modules[package].__class__ = _Package
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own spec, which the import system replaced; the module has run already."""
        module.__spec__ = self.spec

    def get_code(self, name: str) -> CodeType | None:
        """Return the code of the module, for `python -m`."""
        self._warn()
        code: CodeType | None = self.spec.loader.get_code(self.spec.name)  # type: ignore[union-attr]
        return code

    def _warn(self) -> None:
        # the frames of the import system do not count: the line that imports is blamed
        warn(f"{self.former} is now {self.module.__name__}: import it from there", DeprecationWarning, stacklevel=3)


class _Asked(local):
    """The modules that a thread is looking up with the other finders. `_Finder` skips these, to avoid a loop."""

    def __init__(self) -> None:
        self.names: set[str] = set()


_ASKED = _Asked()


class _Finder:
    """Finds modules that have former paths or names, before other finders search the folder of a package."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name in RENAMED:
            return None if name in _ASKED.names else _found_by_others(name, path, target)
        new = new_path(name)
        if new is None:
            return None
        try:
            module = import_module(new)
        except ModuleNotFoundError as error:
            if f"{new}.".startswith(f"{error.name}."):  # there is no such module in the package that moved
                return None
            raise
        return ModuleSpec(name, _Loader(name, module), origin=module.__file__)  # type: ignore[arg-type]


def _found_by_others(name: str, path: Any, target: Any) -> ModuleSpec | None:
    """Return the spec that Python itself finds for a module, so that its former names can be added."""
    others = (finder for finder in sys.meta_path if finder is not _Finder and hasattr(finder, "find_spec"))
    _ASKED.names.add(name)
    try:
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
    finally:
        _ASKED.names.remove(name)
    return spec and with_former_names(spec)


def install() -> None:
    """Let imports find the modules by their former paths, and their objects by former names."""
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
