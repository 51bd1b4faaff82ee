"""The judge: it alone says what is proved.

What it trusts:
    the normal form (`normal_form`): its rules are listed in the heads of its modules;
    the entry rule of every array node (`expression`, `arrangements`, `functions`): what a matrix expression means;
    certificates (`certificates`): forms that show a sign, their equalities proved by the normal form;
    the limits exp(-c g) -> 0 as g -> infinity for c > 0, and of a constant;
    interval arithmetic of mpmath, for rounded numbers and for witnesses;
    rank(A B) <= the inner size;
    what SymPy does when an expression is built: collecting equal terms and factors, exact arithmetic on numbers.
What it does not use: `simplify`, `refine`, `equals`, `Sum.doit`, assumption queries on anything but a symbol.

A step is `proved` when its method says yes and every side condition that came up is settled or stated; `refuted` when
a witness is found inside the assumptions; else `unknown`. Silence is never success.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from mpmath import iv
from sympy import (
    Basic,
    Eq,
    Expr,
    Ge,
    Gt,
    Integer,
    Le,
    Limit,
    Lt,
    Mod,
    Ne,
    Pow,
    Symbol,
    log,
    oo,
)

from derivations.language.binding import free_symbols, replace_free
from derivations.language.certificates import Bound, Inequalities, nonnegative, positive
from derivations.language.derivation import Assumption, Claim, Derivation, Step
from derivations.language.evaluate import NotEvaluable, Sample, evaluate
from derivations.language.expression import Array
from derivations.language.functions import Elementwise
from derivations.language.layer import Equation
from derivations.language.normal_form.context import Condition, Context, Undecided
from derivations.language.normal_form.integers import always_nonnegative, is_integer
from derivations.language.normal_form.reading import keep_in_range, limit, read, symbol_atom
from derivations.language.normal_form.rewriting import Rewrite, rewrite, rewrite_rule
from derivations.language.normal_form.signs import is_nonnegative, is_nonzero, is_positive
from derivations.language.normal_form.terms import ONE, ZERO, Poly, atoms_of, contains, negate, scale, subtract
from derivations.language.normal_form.writing import write
from derivations.language.normal_form.zero import vanishes
from derivations.language.rules import RULES, Rule
from derivations.language.scalars import Rounded, declared_real
from derivations.language.shapes import Blocks, Pair, ShapeError, join, same_size, shape_text, split, total
from derivations.language.shown import view
from derivations.language.statements import Conformable, Rank
from derivations.language.witness import Witness, find_witness

__all__ = ["Evidence", "StepEvidence", "judge", "prove_equal"]

_LARGEST_CASES = 8
LEVELS = ("refuted", "unknown", "tested", "proved for sizes up to N", "proved", "definition")


@dataclass(frozen=True)
class StepEvidence:
    """What the judge says of one step: its level, and the reason where it is not proved."""

    level: str
    rule: str
    reason: str = ""
    witness: Witness | None = None


@dataclass(frozen=True)
class Evidence:
    """What the judge says of a derivation: its level is the weakest of its steps."""

    level: str
    claims: tuple[tuple[StepEvidence, ...], ...]

    @property
    def failures(self) -> tuple[str, ...]:
        """One sentence for each step that is not proved, naming it."""
        return tuple(
            f"claim {c}, step {s} ({step.rule}): {step.level}: {step.reason}"
            for c, steps in enumerate(self.claims, 1)
            for s, step in enumerate(steps, 1)
            if step.level in ("refuted", "unknown")
        )


@view("evidence")
def judge(derivation: Derivation) -> Evidence:
    """Decide every step of a derivation; the result has the level of its weakest step."""
    claims = []
    for claim in derivation.claims:
        expressions = [claim.lhs, *(step.expression for step in claim.steps)]
        claims.append(
            tuple(
                _decide(previous, step, claim, derivation)
                for previous, step in zip(expressions, claim.steps, strict=False)
            )
        )
    steps = [step for steps in claims for step in steps]
    if steps and all(step.level == "proved" and step.rule == "definition" for step in steps):
        return Evidence("definition", tuple(claims))
    level = min((step.level for step in steps), key=LEVELS.index, default="unknown")
    return Evidence(level, tuple(claims))


def prove_equal(left: Basic, right: Basic, derivation: Derivation | None = None, rule: str = "algebra") -> StepEvidence:
    """Decide `left = right` under the definitions, ranges and assumptions of a derivation."""
    step = Step(rule, right)
    claim = Claim(left, (step,))
    return _decide(left, step, claim, derivation or Derivation("", "", (claim,)))


def _decide(previous: Basic, step: Step, claim: Claim, derivation: Derivation) -> StepEvidence:
    rule = RULES.get(step.rule)
    if rule is None:
        return StepEvidence("unknown", step.rule, f"there is no rule called {step.rule!r}")
    try:
        case = _Case(previous, step, claim, derivation, rule)
        missing = _METHODS[rule.method](case)
        if missing is None:
            missing = case.uncovered()
        if missing is None:
            return StepEvidence("proved", step.rule)
    except (Undecided, ShapeError) as error:
        missing = str(error)
    except Exception as error:  # whatever happens inside, silence is never success
        missing = f"the decision broke off: {type(error).__name__}: {error}"
    try:
        witness = find_witness(previous, step.relation, step.expression, claim, derivation)
    except Exception:  # no witness then
        witness = None
    if witness is not None:
        return StepEvidence("refuted", step.rule, str(witness), witness)
    return StepEvidence("unknown", step.rule, missing)


class _Case:
    """One step on its way to a decision: the context with what may be assumed, and the two sides."""

    def __init__(self, previous: Basic, step: Step, claim: Claim, derivation: Derivation, rule: Rule) -> None:
        self.previous, self.step, self.rule = previous, step, rule
        self.context = Context(features=rule.features)
        for equation in derivation.definitions:
            if not declared_real(equation.value):
                raise Undecided(f"arrays are real, and the definition {equation} is not seen to be")
        self.context.definitions = {e.variable.name: partial(self.unfold, e) for e in derivation.definitions}
        self.context.scalar_definitions = {
            e.variable.base.label: partial(self.unfold, e) for e in derivation.definitions if not e.variable.shape
        }
        self.context.booleans = {e.variable.name for e in derivation.definitions if e.variable.kind == "boolean"}
        self.inequalities = Inequalities(self.context)
        self.rewrites: list[Rewrite] = []
        self.numbered: dict[Symbol, int] = {}  # indices with so few values that each may be tried
        for index, size in derivation.ranges.items():
            self.open_range(index, size)
        for name, inverse, size in derivation.bijections:
            limits = (ZERO, subtract(read(size, self.context), ONE))
            for here, there in ((name, inverse), (inverse, name)):
                self.context.inverses[here] = there
                self.context.ranges[("fun", here)] = limits
        self.assumptions = (*derivation.assumptions, *claim.given)
        for assumption in self.assumptions:
            self.assume(assumption)

    def unfold(self, equation: Equation, *places: Expr) -> Expr:
        """Return the right-hand side at some places; one on an axis of blocks is split, and the split must be right."""
        captured = free_symbols(equation) & set(self.context.symbols)
        if captured:
            raise Undecided(f"the index {min(captured, key=str)} of a sum also occurs in the definition {equation}")
        pairs: list[Any] = []
        for place, along in zip(places, equation.variable.shape, strict=True):
            at = read(place, self.context)
            keep_in_range(at, read(total(along), self.context), self.context)
            if not isinstance(along, Blocks) or (place.is_Integer and along.size.is_Integer):
                pairs.append(place)
                continue
            block, rest = split(place, along.size)
            self.context.conditions += [Condition("integer", p) for p in (at, read(block, self.context))]
            keep_in_range(read(rest, self.context), read(along.size, self.context), self.context)
            pairs.append(Pair(block, rest, along.size))
        return equation.value_at(*pairs)

    def open_range(self, index: Symbol, size: Expr) -> None:
        """State that an index takes the values 0, ..., size - 1."""
        if symbol_atom(index)[2] != "index":
            raise Undecided(f"the index {index} must be declared an integer and nothing more")
        limit(size, self.context)
        if size.is_Integer and size <= _LARGEST_CASES:
            self.numbered[index] = int(size)
        self.context.ranges[symbol_atom(index)] = (ZERO, subtract(read(size, self.context), ONE))

    def assume(self, assumption: Assumption) -> None:
        """Make an assumption usable: a least size, a sign at all its indices, an equation to rewrite with."""
        anything = {index: Symbol(f"any {index.name}", integer=True) for index in assumption.ranges}
        statement, context = replace_free(assumption.statement, anything), self.context
        left, right = statement.args
        if (
            isinstance(statement, Ge)
            and isinstance(left, Symbol)
            and right.is_Integer
            and symbol_atom(left)[2] == "size"
        ):
            context.minimum[left.name] = int(right)
            return
        sizes = {index: replace_free(size, anything) for index, size in assumption.ranges.items()}
        if any(size.free_symbols & set(anything.values()) for size in sizes.values()):
            raise Undecided("an assumption whose indices range over one another")
        limits = {symbol_atom(anything[i]): (ZERO, subtract(read(size, context), ONE)) for i, size in sizes.items()}
        before = (context.ranges, context.features, context.conditions)
        context.ranges, context.conditions = {**context.ranges, **limits}, []
        context.features |= {"expectation"}
        try:
            if isinstance(statement, Eq) and isinstance(left, Mod) and right == 0:
                self._assume_multiple(left)
                return
            low, high = read(right, context), read(left, context)
        finally:
            context.ranges, context.features, context.conditions = before
        if isinstance(statement, Eq):
            if "assumption" in self.rule.features:
                self.rewrites.append(rewrite_rule(high, low, limits))
            return
        kind, sign = _SIGNS[type(statement)]
        gap = subtract(high, low) if sign > 0 else subtract(low, high)
        self.inequalities.bounds.append(Bound(kind, gap, tuple(limits.items())))

    def _assume_multiple(self, remainder: Mod) -> None:
        """Assume that a size is a multiple of a number: their quotient is an integer."""
        number, divisor = remainder.args
        if not (divisor.is_Integer and divisor > 0):
            raise Undecided(f"the divisor of {remainder} must be a positive integer")
        quotient = scale(read(number, self.context), Fraction(1, int(divisor)))
        self.context.facts.append(Condition("integer", quotient))

    def value(self, expression: Basic) -> Poly:
        """Return the normal form of a scalar, with the assumed equations used where the rule allows."""
        p = read(expression, self.context)
        if atoms_of(p, "t"):
            raise Undecided("an index was left open")
        return rewrite(p, self.rewrites, self.context) if "assumption" in self.rule.features else p

    def equal(self, left: Basic, right: Basic) -> bool:
        """Say whether two scalars are proved equal, if need be for every value of an index that has few."""
        if vanishes(subtract(self.value(left), self.value(right)), self.context):
            return True
        for index, count in self.numbered.items():
            if index in left.free_symbols | right.free_symbols:
                cases = ({index: Integer(value)} for value in range(count))
                return all(self.equal(left.xreplace(case), right.xreplace(case)) for case in cases)
        return False

    def uncovered(self) -> str | None:
        """Return the first side condition that neither the forms nor the assumptions settle."""
        for bound in self.inequalities.bounds:
            self.context.facts.extend(bound.instances(self.context))
        for condition in list(self.context.conditions):
            if "assumption" in self.rule.features:
                condition = replace(condition, of=rewrite(condition.of, self.rewrites, self.context))
            if not _covered(condition, self.context):
                return f"a side condition is not among the assumptions: {write(condition.of)} is {condition.kind}"
        return None


def _covered(condition: Condition, context: Context) -> bool:
    p = condition.of
    if condition.kind == "integer":
        return is_integer(p, context)
    if condition.kind == "in range":
        return always_nonnegative(p, context) or Condition("nonnegative", p) in context.facts
    if condition.kind == "nonnegative":
        return is_nonnegative(p, context)
    if condition.kind == "nonzero":
        return is_nonzero(p, context) or is_nonzero(negate(p), context)
    return is_positive(p, context)


_SIGNS = {
    Ge: ("nonnegative", 1),
    Gt: ("positive", 1),
    Le: ("nonnegative", -1),
    Lt: ("positive", -1),
    Ne: ("nonzero", 1),
}


def _by_normal_form(case: _Case) -> str | None:
    left, right = case.previous, case.step.expression
    if case.step.relation != "=":
        return f"the rule {case.rule.name} proves equalities, not {case.step.relation}"
    if isinstance(left, Array) != isinstance(right, Array):
        return "an array and a scalar are never equal"
    if isinstance(left, Array):
        fits = len(left.shape) == len(right.shape) and all(map(same_size, left.shape, right.shape))
        if not fits:
            return f"the shapes {shape_text(left.shape)} and {shape_text(right.shape)} differ"
        for partial_function in _partial_functions(left, right, case):
            case.value(partial_function)  # defined somewhere only: the condition must not be lost in a cancellation
        places = list(_places(left, right, case))
        left, right = left.entry(*places), right.entry(*places)
    return None if case.equal(left, right) else "the two sides are not seen to be equal"


def _partial_functions(left: Array, right: Array, case: _Case) -> Iterable[Expr]:
    """Yield a general entry of every elementwise function with a quotient, a root or a log that has no index bound."""
    for node in {*_outside_layers(left), *_outside_layers(right)}:
        partial_function = isinstance(node, Elementwise) and node.args[0].formula.expr.has(Pow, log)
        indices = (s for s in free_symbols(node) if symbol_atom(s)[2] == "index")
        if partial_function and all(symbol_atom(s) in case.context.ranges for s in indices):
            yield node.entry(*_places(node, node, case))


def _outside_layers(node: Basic) -> Iterable[Basic]:
    if not getattr(node, "closed", False):
        yield node
        for part in node.args:
            yield from _outside_layers(part)


def _places(left: Array, right: Array, case: _Case) -> Iterable[Any]:
    """Yield a general place for every axis: indices that occur nowhere else, with the range of the axis."""
    numbers = iter(range(1, 100))
    for a, b in zip(left.shape, right.shape, strict=True):
        along = join(a, b)
        sizes = (along.count, along.size) if isinstance(along, Blocks) else (along,)
        indices = []
        for size in sizes:
            indices.append(Symbol(f"place {next(numbers)}", integer=True))  # no name that anybody writes
            case.open_range(indices[-1], size)
        yield Pair(indices[0], indices[1], along.size) if isinstance(along, Blocks) else indices[0]


def _by_bound(case: _Case) -> str | None:
    left, right = case.previous, case.step.expression
    gap = right - left if case.step.relation in ("<=", "<") else left - right
    if case.step.relation not in ("<=", "<", ">=", ">"):
        return f"a bound states an inequality, not {case.step.relation}"
    certificate = case.step.certificate[0] if case.step.certificate else gap
    case.value(gap)  # whatever it takes for the two sides to be defined is kept as a side condition
    case.value(certificate)
    if certificate is not gap and not case.equal(gap, certificate):
        return "the certificate is not seen to equal the difference of the two sides"
    test = positive if case.step.relation in ("<", ">") else nonnegative
    if not test(certificate, case.inequalities):
        return f"the form of {certificate} does not show its sign"
    return None


def _by_squeeze(case: _Case) -> str | None:
    """Lower <= f <= upper for all values, and both bounds tend to the limit."""
    limit = case.previous
    if not isinstance(limit, Limit) or limit.args[2] != oo or len(case.step.certificate) != 4:
        return "a squeeze takes a limit at infinity and four expressions: lower, upper, f - lower, upper - f"
    f, variable = limit.args[:2]
    lower, upper, above, below = case.step.certificate
    if not isinstance(variable, Symbol) or symbol_atom(variable)[2] != "positive":
        return f"{variable} must be declared positive"
    if any(variable in a.statement.free_symbols for a in case.assumptions):
        return f"an assumption speaks of {variable}, which tends to infinity"
    if contains(case.value(case.step.expression), symbol_atom(variable)):
        return f"the limit depends on {variable}"
    for bound, difference, certificate in ((lower, f - lower, above), (upper, upper - f, below)):
        if not case.equal(difference, certificate):
            return "a certificate is not seen to equal the difference it stands for"
        if not nonnegative(certificate, case.inequalities):
            return f"the form of {certificate} does not show its sign"
        if not _tends_to(bound, case.step.expression, variable, case):
            return f"{bound} is not seen to tend to {case.step.expression}"
    return None


def _tends_to(bound: Basic, limit: Basic, variable: Symbol, case: _Case) -> bool:
    """A constant tends to itself; a sum of terms c exp(-a g) with a > 0 and c free of g tends to 0."""
    atom = symbol_atom(variable)
    for mono, _ in subtract(case.value(bound), case.value(limit)):
        decay = [e for a, e in mono if a == ("exp", ((atom, 1),))]
        rest = [a for a, _ in mono if a != ("exp", ((atom, 1),))]
        if not (decay and decay[0] < 0) or any(contains(a, atom) for a in rest):
            return False
    return True


def _by_rounding(case: _Case) -> str | None:
    """The number lies strictly within half a unit of the last decimal around the rounded value."""
    rounded, value = case.previous, case.step.expression
    if not isinstance(rounded, Rounded) or not value.is_Rational:
        return "rounding states that a number, rounded to some decimals, is a rational number"
    number, decimals = rounded.args
    if (value * 10**decimals).is_Integer is not True:
        return f"{value} has more than {decimals} decimals"
    definitions = case.context.definitions
    try:
        interval = evaluate(number, Sample({}, definitions=definitions, closed=True))
    except NotEvaluable as error:
        return f"{number} is no number: {error}"
    half = iv.mpf(1) / (2 * iv.mpf(10) ** int(decimals))
    centre = iv.mpf(int(value.p)) / iv.mpf(int(value.q))
    inside = interval > centre - half and interval < centre + half
    return None if inside else f"{number} lies in {interval}, which does not round to {value}"


def _by_rank(case: _Case) -> str | None:
    """rank(A B) <= the inner size of the product as written, and <= the sizes of the matrix itself."""
    rank, bound = case.previous, case.step.expression
    if not isinstance(rank, Rank) or case.step.relation != "<=":
        return "this rule states rank(A B) <= size"
    matrix = rank.args[0]
    inner = [matrix.args[0].shape[-1]] if type(matrix).__name__ == "Product" else []
    if any(case.equal(total(size), bound) for size in (*matrix.shape, *inner)):
        return None
    return f"{bound} is neither the inner size nor a size of {matrix}"


def _by_shape(case: _Case) -> str | None:
    statement, condition = case.previous, case.step.expression
    if not isinstance(statement, Conformable) or case.step.relation != "iff" or not isinstance(condition, Eq):
        return "this rule states: A B conforms iff two sizes are equal"
    given, wanted = (e.lhs - e.rhs for e in (condition, statement.condition))
    same = case.equal(given, wanted) or case.equal(given, -wanted)
    return None if same else f"the condition is {statement.condition}, not {condition}"


_METHODS: dict[str, Callable[[_Case], str | None]] = {
    "normal form": _by_normal_form,
    "bound": _by_bound,
    "squeeze": _by_squeeze,
    "rounding": _by_rounding,
    "rank": _by_rank,
    "shape": _by_shape,
}
