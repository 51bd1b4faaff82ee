"""Equations that no output needs are removed; equal right-hand sides are computed once.

Definition   dead_equations: keeps the equations from which the outputs are computed;
             common_subexpressions: of two variables with one right-hand side, the first replaces the second
"""

from __future__ import annotations

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Member, Variable
from derivations.language.layers.layer import Apply, Equation
from derivations.language.layers.names import subexpressions, variables_in
from numeric.optimize.draft import Draft
from numeric.optimize.rewrite import Proposal

__all__ = ["common_subexpressions", "dead_equations"]


def dead_equations(draft: Draft) -> bool:
    """Leave out the equations that no output needs; return whether there were any."""
    needed = draft.needed(draft.layer.outputs)
    dead = [variable for variable in draft.equations if variable not in needed]
    if dead:
        draft.drop("dead_equations", "definition", dead)
    return bool(dead)


def common_subexpressions(draft: Draft) -> bool:
    """Compute every right-hand side once; return whether the layer changed."""
    seen: dict[object, Equation] = {}
    for equation in list(draft.equations.values()):
        first = seen.setdefault(_general(equation), equation)
        # an output must keep its name
        if first is equation or isinstance(equation.value, Variable) or equation.variable in draft.layer.outputs:
            continue
        if any(isinstance(node, Apply) for node in subexpressions(equation.value)):
            continue  # each application has its own weights, even where the expressions are equal
        names = {equation.variable: first.variable}
        replaced = {r.variable: replace_free(r.value, names) for r in draft.readers(equation.variable)}
        index = equation.over and equation.over[0]
        same = first.variable if index is None else Member(first.variable, index)
        read = dict.fromkeys(variables_in(first.value))
        proposal = Proposal(
            "definition",
            replaced,
            opened=(equation.variable,),
            known=(first, *(draft.equations[v] for v in read if v in draft.equations)),
            rule="definition",
            equal={equation.variable: same},
        )
        if replaced and draft.propose("common_subexpressions", proposal):
            # the equations have changed: the table of right-hand sides is built anew in the next round
            return True
    return False


def _general(equation: Equation) -> object:
    """Return a key for the right-hand side of an equation, which does not depend on the symbol of its family index."""
    if equation.over is None:
        return equation.value
    whole = Variable("(family)", equation.variable.shape)
    return equation.func(Member(whole, equation.over[0]), equation.value, *equation.over)
