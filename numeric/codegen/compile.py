r"""From a layer to a function over arrays: one readable Python function for each distinct layer, a line per equation.

Definition   compile_layer(layer)(*inputs, *parameters, *weights of parts, *sizes, **scalars) is the layer's output
Shapes       those of the layer; every input may have batch axes in front, which broadcast; weights have none
Assumes      float32 gives float32 and float64 gives float64; softmax subtracts the largest entry of the row, which
             changes nothing (softmax.shift_invariance)

The weights of a part are one argument, a dict (a list of dicts for a repetition). A size is an argument only where no
shape of an input or a parameter tells it; a scalar such as epsilon is a keyword.

>>> from derivations.linear import linear
>>> from numeric.codegen.compile import compile_layer
>>> print(*compile_layer(linear()).source.splitlines()[-2:], sep="\n")
    Y = X @ W + b  # (n, d_out)
    return Y
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sympy import Basic, Expr, Integer, Symbol, lambdify

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import shape_text
from derivations.language.differentiation.preparation import prepared
from derivations.language.differentiation.tape import (
    Pulled,
    Tape,
    backward_pass,
    forward_pass,
    is_gradient,
    pulled,
    with_tapes,
)
from derivations.language.layers.layer import Apply, Layer
from numeric.codegen.backends import BACKENDS, Backend, backend_called
from numeric.codegen.backends.arguments import checked_call
from numeric.codegen.folding import WIDTH, folded, wrapped
from numeric.codegen.formula_printer import CompileError
from numeric.codegen.printer import AxisLength, Call, Verbatim
from numeric.codegen.program import lines_of
from numeric.codegen.syntax import names_in, statements
from numeric.runtime import checks
from numeric.runtime.own_memory import own_memory
from numeric.runtime.structure import RESERVED, WeightTree, applications, applied_in, identifier, instance, weight_tree

__all__ = ["CompiledLayer", "compile_layer", "source"]

PRIMITIVES = BACKENDS["numpy"].primitives
DEFAULTS = {"epsilon": "1e-5"}
Function = Callable[..., Any]


@dataclass(frozen=True)
class CompiledLayer:
    """A layer as a function over arrays, which checks what it is given unless called with `check=False`.

    Raises       InputError where an argument does not fit the layer
    """

    layer: Layer
    source: str
    function: Function
    sizes: tuple[Symbol, ...]
    backend: str = "numpy"

    def __call__(self, *arguments: Any, check: bool = True, **named: Any) -> Any:
        """Return the output of the layer."""
        if check:
            check_call = checks.check_call if self.backend == "numpy" else checked_call(self.backend)
            arguments, named = (), check_call(self.layer, self.function, self.sizes, arguments, named)
        results = self.function(*arguments, **named)
        return own_memory(results, [*arguments, *named.values()]) if self.backend == "numpy" else results

    def __repr__(self) -> str:
        """Return the name and the signature."""
        return f"<compiled layer {self.function.__name__}{inspect.signature(self.function)}>"


@dataclass(frozen=True)
class _Unit:
    """A function to print: a layer, or one of the two passes of the gradient of a layer that is applied in another."""

    of: Layer
    role: str = "whole"  # or "forward", "backward"

    @property
    def layer(self) -> Layer:
        """The layer whose equations are printed."""
        return self._halves[0]

    @property
    def kept(self) -> tuple[Variable, ...]:
        """What the forward pass leaves to the backward pass."""
        return self._halves[1]

    @property
    def _halves(self) -> tuple[Layer, tuple[Variable, ...]]:
        if self.role == "whole":
            return (with_tapes(self.of) if is_gradient(self.of) else self.of), ()
        return forward_pass(self.of) if self.role == "forward" else backward_pass(self.of)

    @property
    def inputs(self) -> tuple[Variable, ...]:
        """The arrays that a caller gives one by one."""
        kept = set(self.kept) if self.role == "backward" else set()
        return tuple(v for v in self.layer.inputs if v not in kept)

    @property
    def tree(self) -> WeightTree:
        """The weights that a caller gives."""
        return weight_tree(self.of)


@dataclass(frozen=True)
class _Printed:
    """One layer as a function: its text, and what its callers need to know."""

    name: str
    text: str
    function: Function
    sizes: dict[str, Symbol]
    scalars: tuple[str, ...]


@lru_cache(maxsize=256)
def compile_layer(layer: Layer, backend: str = "numpy") -> CompiledLayer:
    """Return a layer as a function over the arrays of NumPy, JAX or PyTorch; its source is at `.source`.

    Raises       CompileError where an equation has no form there, ValueError for an unknown backend, ImportError for
                 one that is not installed, TypeError for what is no layer
    """
    return _compiled(layer, backend, runs=True)


def source(layer: Layer, backend: str = "numpy") -> str:
    """Return a layer as the text of a Python module that runs without this package; no backend need be installed.

    Raises       CompileError, ValueError and TypeError as for compile_layer
    """
    return (compile_layer(layer) if backend == "numpy" else _compiled(layer, backend, runs=False)).source


def _compiled(layer: Layer, backend_name: str, runs: bool) -> CompiledLayer:
    if not isinstance(layer, Layer):
        raise TypeError(f"a layer is needed, such as feed_forward() or layer('feed_forward'), not {layer!r}")
    backend = backend_called(backend_name)
    namespace = backend.namespace() if runs else {}
    program, general = _program(layer)
    names = {unit: _local_names(unit) for unit in program}
    functions = _function_names(program, general, names)
    printed: dict[_Unit, _Printed] = {}
    for unit in program:
        printed[unit] = _print_layer(unit, names[unit], functions, general, printed, backend, namespace)
    main = printed[_Unit(layer)]
    text = _module_text(layer, [printed[unit].text for unit in program], backend)
    return CompiledLayer(layer, text, main.function, tuple(main.sizes.values()), backend_name)


# Which functions there are


def _program(layer: Layer) -> tuple[list[_Unit], dict[Layer, Layer]]:
    """Return the functions to print, each after those it calls, and for each layer applied the one that is printed.

    Layers that differ only in their sizes are printed once, as the most general of them.
    """
    applied = list(dict.fromkeys(_applied(layer)))
    kept: list[Layer] = []
    for each in applied:
        if any(instance(other, each) is not None and instance(each, other) is None for other in kept):
            continue
        kept = [*(other for other in kept if instance(each, other) is None), each]
    general = {each: next(other for other in kept if instance(other, each) is not None) for each in applied}
    order: dict[_Unit, None] = {}

    def visit(unit: _Unit) -> None:
        for callee in _callees(unit, general):
            visit(callee)
        order[unit] = None

    visit(_Unit(layer))
    return list(order), general


def _callees(unit: _Unit, general: dict[Layer, Layer]) -> list[_Unit]:
    """Return the functions that a function calls; a layer with a tape is run by its forward pass."""
    taped = {e.value.applied for e in unit.layer.equations if isinstance(e.value, Tape)}
    callees = []
    for equation in unit.layer.equations:
        back = [_Unit(general[node.layer], "backward") for node, _ in pulled(equation.value)]
        roots = [] if isinstance(equation.value, Tape) else applied_in(equation.value)
        callees += [_Unit(general[a.layer], "forward" if a in taped else "whole") for a in roots] + back
    return list(dict.fromkeys(callees))


def _applied(layer: Layer) -> Iterator[Layer]:
    for node in applications(layer):
        yield from _applied(node.layer)
        yield from _applied(prepared(node.layer)) if is_gradient(layer) else ()
        yield node.layer


# Names


def _local_names(unit: _Unit) -> dict[Basic, str]:
    """Return the Python names of a layer's variables, sizes and scalars; arguments keep theirs.

    Raises       CompileError where two arguments have the same name
    """
    layer = unit.layer
    public = (*unit.inputs, *layer.parameters, *layer.scalars)
    names: dict[Basic, str] = {each: identifier(each.name) for each in public}
    taken = [*names.values(), *unit.tree.parts]
    twice = sorted({name for name in taken if taken.count(name) > 1})
    if twice:
        raise CompileError(f"layer {layer.name}: two arguments are called {twice[0]}; rename one of them")
    for each in dict.fromkeys((*layer.sizes, *layer.inputs, *(e.variable for e in layer.equations))):
        if each in names:
            continue
        name = identifier(each.name)
        while name in taken:
            name += "_"
        names[each] = name
        taken.append(name)
    return names


def _function_names(
    program: list[_Unit], general: dict[Layer, Layer], names: dict[_Unit, dict[Basic, str]]
) -> dict[_Unit, str]:
    """Return the function name of every layer: the layer's, told apart from namesakes and from its callers' locals."""
    shadowed: dict[_Unit, set[str]] = {unit: set() for unit in program}
    for caller in program:
        for callee in _callees(caller, general):
            shadowed[callee] |= {*names[caller].values(), *caller.tree.parts}
    functions: dict[_Unit, str] = {}
    for unit in reversed(program):  # the layer asked for first: its name is its own
        base = identifier(unit.layer.name)
        base = f"apply_{base}" if base in shadowed[unit] else base
        name, number = base, 1
        while name in functions.values() or name in shadowed[unit]:
            number += 1
            name = f"{base}_{number}"
        functions[unit] = name
    return functions


# One function


def _print_layer(
    unit: _Unit,
    names: dict[Basic, str],
    functions: dict[_Unit, str],
    general: dict[Layer, Layer],
    printed: dict[_Unit, _Printed],
    backend: Backend,
    namespace: dict[str, Any],
) -> _Printed:
    layer = unit.layer
    taped = {e.value.applied for e in layer.equations if isinstance(e.value, Tape)}

    def call(node: Apply | Pulled) -> Call:
        role = "backward" if isinstance(node, Pulled) else "forward" if node in taped else "whole"
        callee = printed[_Unit(general[node.layer], role)]
        sizes = instance(general[node.layer], node.layer) or {}
        return Call(callee.name, {name: sizes.get(s, s) for name, s in callee.sizes.items()}, callee.scalars)

    taken = {*RESERVED, *backend.names, *functions.values(), "tape"}
    printer = backend.printer(layer, names, call, frozenset(taken), unit.kept)
    lines = list(lines_of(unit.of, unit.role, layer, unit.kept, names, printer))
    used = names_in("\n".join(line.right for line in lines))
    lacking = sorted(used & PRIMITIVES.keys() - backend.primitives.keys())
    if lacking:
        raise CompileError(f"layer {layer.name}: {lacking[0]} has no form in {backend.name}; compile it for NumPy")
    lengths = _axis_lengths(layer)
    sizes = [size for size in _sizes_by_appearance(layer) if names[size] in used]
    asked = {names[size]: size for size in sizes if size not in lengths}
    measured = [(names[size], printer.doprint(lengths[size])) for size in sizes if size in lengths]
    unpacked = sum(line.left_is_tape for line in lines)
    *body, last = lines
    assignments = [(line.left, line.right) for line in body]
    assignments[unpacked:unpacked] = measured

    scalars = sorted((names[s] for s in layer.scalars), key=lambda name: (name in DEFAULTS, name))
    arguments = [names[v] for v in unit.inputs] + (["tape"] if unit.role == "backward" else [])
    arguments += [names[v] for v in layer.parameters] + [*unit.tree.parts, *asked]
    arguments += [f"{name}={DEFAULTS[name]}" if name in DEFAULTS else name for name in scalars]
    function = lambdify(
        arguments,
        Verbatim(last.right),
        modules=[{**namespace, **{p.name: p.function for p in printed.values()}}],
        printer=printer,
        use_imps=False,
        cse=lambda output: (assignments, output),  # every equation a line, in order
        docstring_limit=0,
    )
    name = functions[unit]
    source_lines = inspect.getsource(function).splitlines()[1:]
    comments = [line.comment for line in body]
    comments[unpacked:unpacked] = [""] * len(measured)
    commented = [_commented(text, comment) for text, comment in zip(source_lines, [*comments, ""], strict=True)]
    parts = {identifier(n.name): identifier(n.layer.name) for n in applications(unit.of)}
    below = {part: (parts[part], tree.count) for part, tree in unit.tree.parts.items()}
    doc = _docstring(unit, below)
    text = "\n".join([_head(name, arguments), *doc, *commented]) + "\n"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = ast.get_docstring(statements(text)[0], clean=False)  # type: ignore[arg-type]  # a def
    return _Printed(name, text, function, asked, tuple(scalars))


def _axis_lengths(layer: Layer) -> dict[Symbol, AxisLength]:
    """Return where each size can be read: on the shape of an input, a parameter or, last, a mask."""
    given = sorted((*layer.inputs, *layer.parameters), key=lambda variable: variable.kind == "boolean")
    lengths: dict[Symbol, AxisLength] = {}
    for variable in given:
        for number, along in enumerate(variable.shape):
            if isinstance(along, Symbol):
                lengths.setdefault(along, AxisLength(variable, Integer(number - len(variable.shape))))
    return lengths


def _sizes_by_appearance(layer: Layer) -> list[Symbol]:
    axes = (along for shape in layer.shapes.values() for along in shape)
    seen = [size for along in axes for size in sorted(along.free_symbols, key=lambda s: s.name)]
    return [size for size in dict.fromkeys((*seen, *layer.sizes)) if size in layer.sizes]


def _head(name: str, arguments: list[str]) -> str:
    line = f"def {name}({', '.join(arguments)}):"
    return line if len(line) <= WIDTH else f"def {name}(\n{wrapped(arguments, ' ' * 4)}\n):"


def _commented(text: str, comment: str) -> str:
    """Return a line, folded where it is long, with its shape behind it; several shapes only where they fit."""
    lines = folded(text)
    several = comment.count("(") > 1 and len(lines.splitlines()[-1] + comment) > WIDTH
    return lines if several else lines + comment


def _docstring(unit: _Unit, parts: dict[str, tuple[str, Expr | None]]) -> list[str]:
    """Return the docstring: the shapes of the arrays, and for each part the layer whose weights it holds."""
    arrays = [_described(variable) for variable in (*unit.inputs, *unit.layer.parameters)]
    arrays += ["tape, what the forward pass kept"] if unit.role == "backward" else []
    results = ", ".join(_described(output) for output in unit.layer.outputs)
    text = f"{wrapped(arrays, ' ' * 4, used=3).strip()} -> {results}.".strip()
    if len(text) > WIDTH - 10:
        behind = wrapped([_described(output) for output in unit.layer.outputs], " " * 4, used=3).strip()
        text = f"{wrapped(arrays, ' ' * 4, used=3).strip()}\n    -> {behind}."
    lines = [""] if parts else []
    for part, (function, count) in parts.items():
        lines.append(f"    {part}: the weights of {function}" + (f", in a list of {count}" if count else ""))
    if not lines and "\n" not in text and len(text) <= WIDTH - 2:
        return [f'    """{text}"""']
    return [f'    """{text}', *lines, '    """']


def _described(variable: Variable) -> str:
    kind = {"real": "", "boolean": " bool", "integer": " int"}[variable.kind]
    return f"{identifier(variable.name)} {shape_text(variable.shape)}{kind}"


# The module


def _module_text(layer: Layer, functions: list[str], backend: Backend) -> str:
    """Return imports, the array functions in use and the functions, as one module."""
    used, helpers = names_in("\n".join(functions)), set[str]()
    while new := (used & backend.primitives.keys()) - helpers:
        helpers |= new
        used |= names_in("\n".join(backend.primitives[name] for name in new))
    texts = [text for name, text in backend.primitives.items() if name in helpers]
    head = f'"""The layer `{layer.name}` over {backend.arrays}; inputs may have batch axes in front."""\n'
    imports = ["".join(f"{line}\n" for name, line in group.items() if name in used) for group in backend.imports]
    return "\n\n".join(["\n".join([head, *filter(None, imports)]).rstrip("\n") + "\n", *texts, *functions])
