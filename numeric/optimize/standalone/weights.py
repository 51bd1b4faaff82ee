"""The text of the functions that turn the weights of a layer into those of its optimised form.

Result       `packed`, which takes the weights as `compile_layer(layer)` does and returns the further arguments of the
             optimised function after its inputs, and the packing functions that it calls
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sympy import Basic, Symbol

from derivations.language.layers.layer import Layer
from numeric.codegen.compile import compile_layer
from numeric.codegen.formula_printer import CompileError
from numeric.codegen.line_wrapping import WIDTH, wrapped_items
from numeric.codegen.lowering.module import LoweredLayer
from numeric.optimize import Optimised
from numeric.optimize.standalone.definitions import renamed
from numeric.runtime.structure import WeightTree, identifier, weight_tree

__all__ = ["WeightsSource"]


class WeightsSource:
    """The functions that turn the weights of a layer into those of its optimised form, and their arguments."""

    def __init__(self, optimised: Optimised, code: LoweredLayer):
        self.optimised, self.code = optimised, code
        self.functions: dict[str, str] = {}
        tree = weight_tree(optimised.original)
        self.arguments = [*tree.parameters, *tree.parts]
        self.told = dict(self._told())
        if self.arguments:
            self.functions["packed"] = self._packed()

    def _packed(self) -> str:
        source, packing = self.code.source, self.optimised.packing
        doc = f'    """Return what `{source.name}` takes beside its inputs; a part is a dict of its weights."""'
        lines, entries = [f"{_call('def packed', self.arguments, '')}:", doc], list[str]()
        if packing.equations:
            names = wrapped_items([f'"{name}"' for name in source.parameters], " " * 8)
            new = self._packing("packing", packing, None, "    ")
            lines += [f"    names = [\n{names}\n    ]", f"    new = {new}"]
            entries.append("**dict(zip(names, new, strict=True))")
        else:
            kept = zip(source.parameters, packing.outputs, strict=True)
            entries += [f'"{name}": {self._at(p.name)}' for name, p in kept]
        entries += [f'"{name}": {text}' for name, text in self._stacks()]
        entries += [f'"{name}": {self.told[size]}' for name, size in source.sizes.items() if size in self.told]
        lines.append("    return {\n" + "".join(f"        {entry},\n" for entry in entries) + "    }")
        return "\n".join(lines) + "\n"

    def _packing(self, name: str, packing: Layer, inside: str | None, indent: str, own: Collection[str] = ()) -> str:
        """Return a call that gives the new weights as a tuple, and store the function that it calls."""
        if not packing.equations:  # all weights stay unchanged
            return _tuple([self._at(p.name, inside, own) for p in packing.outputs], indent)
        compiled = compile_layer(packing)
        self.functions |= renamed(compiled, name)
        arguments = [self._at(p.name, inside, own) for p in packing.parameters]
        untold = [s.name for s in compiled.sizes if s not in self.told]
        if untold:
            raise CompileError(
                f"layer {self.optimised.original.name}: no weight tells the size {untold[0]}, by which weights are "
                "packed; take the plain source"
            )
        arguments += [f"{identifier(s.name)}={self.told[s]}" for s in compiled.sizes]
        call = _call(name, arguments, indent)
        return f"({call},)" if len(packing.outputs) == 1 else call

    def _at(self, path: str, inside: str | None = None, own: Collection[str] = ()) -> str:
        """Return the text of a weight, by its dotted name: an argument, or an entry of a dict whose names are `own`."""
        names = [identifier(path)] if identifier(path) in own else [identifier(name) for name in path.split(".")]
        if inside is None:
            inside, *names = [identifier(path)] if identifier(path) in self.arguments else names
        return inside + "".join(f'["{name}"]' for name in names)

    def _own(self, path: str) -> Collection[str]:
        """Return the names of the weights that a caller stores under the name of a part."""
        tree = weight_tree(self.optimised.original)
        for name in [path] if identifier(path) in tree.parts else path.split("."):
            tree = tree.parts.get(identifier(name), WeightTree())
        return tree.parameters

    def _told(self) -> Iterator[tuple[Basic, str]]:
        """Yield the expressions that read sizes off the old weights; of several for one size, the last one counts."""
        for path, part in self.optimised.parts.items():
            one = f"{self._at(path)}[0]" if identifier(path) in self.code.source.stacks else self._at(path)
            for parameter in part.packing.parameters:
                yield from _lengths(self._at(parameter.name, one, self._own(path)), parameter.shape)
        # the first parameter counts, because a later entry of a dict replaces an earlier one
        for parameter in reversed(self.optimised.packing.parameters):
            yield from _lengths(self._at(parameter.name), parameter.shape)

    def _stacks(self) -> Iterator[tuple[str, str]]:
        """Yield the lists of weights of layers that are repeated, each as a comprehension."""
        stacks, indent = self.code.source.stacks, " " * 8
        paths = {identifier(path): path for path in self.optimised.parts}
        unknown = [n for n, node in stacks.items() if node.layer.parameters and n not in paths]
        inner = [n for n, path in paths.items() if n not in stacks and _has_weights(self.optimised.parts[path])]
        for name in (*unknown, *inner):
            raise self._refusal(name)
        for name, node in stacks.items():
            if not node.layer.parameters:
                continue
            part = self.optimised.parts[paths[name]]
            if node.layer.parameters != part.packing.outputs or any(map(_has_weights, part.parts.values())):
                raise self._refusal(name)
            own = self._own(paths[name])
            call = self._packing(f"packing_{name}", part.packing, "each", f"{indent}    ", own)
            yield name, f"[\n{indent}    {call}\n{indent}    for each in {self._at(paths[name])}\n{indent}]"

    def _refusal(self, name: str) -> CompileError:
        return CompileError(
            f"layer {self.optimised.original.name}: {name} shares weights, or has parts with weights of their own, "
            "which optimised source cannot pass on yet; take the plain source"
        )


def _tuple(texts: list[str], indent: str) -> str:
    inner = wrapped_items([*texts[:-1], f"{texts[-1]},"] if len(texts) == 1 else texts, f"{indent}    ")
    return f"(\n{inner}\n{indent})"


def _has_weights(part: Optimised) -> bool:
    return bool(part.packing.parameters) or any(map(_has_weights, part.parts.values()))


def _lengths(text: str, shape: tuple[Basic, ...]) -> Iterator[tuple[Basic, str]]:
    for number, along in enumerate(shape):
        if isinstance(along, Symbol):
            yield along, f"{text}.shape[{number - len(shape)}]"


def _call(name: str, arguments: list[str], indent: str) -> str:
    """Return a call at an indentation, broken into several lines if it is long."""
    line = f"{name}({', '.join(arguments)})"
    if len(indent) + len(line) <= WIDTH - 10:
        return line
    return f"{name}(\n{wrapped_items(arguments, indent + '    ')}\n{indent})"
