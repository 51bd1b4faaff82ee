"""Derivations: chains of expressions, each linked to the one before by a named rule.

A `Claim` is one chain: it states `lhs relation rhs`, its last expression being the right-hand side. A `Derivation`
is one result of the catalogue: usually one claim, several where the statement has parts. Definitions are equations of
layers; they name things and need no proof.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, wraps

from sympy import Basic, Expr, Symbol, sympify

from derivations.language.layer import Equation, Layer

__all__ = ["RESULTS", "Assumption", "Claim", "Derivation", "Step", "claim", "derivation", "result", "step"]


@dataclass(frozen=True)
class Assumption:
    """What a result assumes: a SymPy relation, for all values of the indices in `ranges` (name -> size).

    `text` says in words what the relation does not say by itself, such as where it comes from.
    """

    statement: Basic
    ranges: Mapping[Symbol, Expr] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class Step:
    """One link: `previous relation expression`, by the rule of that name; inequalities may bring a certificate."""

    rule: str
    expression: Basic
    relation: str = "="
    certificate: tuple[Basic, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A chain of steps; `given` holds assumptions of this claim alone."""

    lhs: Basic
    steps: tuple[Step, ...]
    given: tuple[Assumption, ...] = ()

    @property
    def rhs(self) -> Basic:
        """The last expression of the chain."""
        return self.steps[-1].expression

    @property
    def relation(self) -> str:
        """The relation between the two ends: "=", "<=", "<", ">=" or ">", or what the only step says."""
        relations = [s.relation for s in self.steps if s.relation != "="]
        if not relations:
            return "="
        strict = next((r for r in relations if r in ("<", ">")), None)
        return strict or relations[0]


@dataclass(frozen=True)
class Derivation:
    """One result: what it says, how it is derived, and what it assumes.

    `definitions` are the equations that name the arrays in it; `ranges` gives the number of values of its indices
    (each counts from 0); `assumptions` are what every claim of it may use.
    """

    id: str
    title: str
    claims: tuple[Claim, ...]
    definitions: tuple[Equation, ...] = ()
    ranges: Mapping[Symbol, Expr] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()
    source: str = ""
    bijections: tuple[tuple[str, str, Expr], ...] = ()  # name, inverse and number of places of each permutation

    @property
    def topic(self) -> str:
        """The concept that the result belongs to: the id up to the dot."""
        return self.id.partition(".")[0]

    @property
    def lhs(self) -> Basic:
        """The left-hand side of the (first) claim."""
        return self.claims[0].lhs

    @property
    def relation(self) -> str:
        """The relation of the (first) claim."""
        return self.claims[0].relation

    @property
    def rhs(self) -> Basic:
        """The right-hand side of the (first) claim."""
        return self.claims[0].rhs

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the (first) claim."""
        return self.claims[0].steps


def step(rule: str, expression: Basic | int, relation: str = "=", *certificate: Basic | int) -> Step:
    """Return a step: the rule's name, the next expression, the relation, and the certificate if it needs one."""
    return Step(rule, sympify(expression, strict=True), relation, tuple(sympify(c, strict=True) for c in certificate))


def claim(lhs: Basic | int, *steps: Step, given: tuple[Assumption, ...] = ()) -> Claim:
    """Return the claim that starts at `lhs` and follows the steps."""
    return Claim(sympify(lhs, strict=True), steps, given)


RESULTS: dict[str, Callable[[], Derivation]] = {}


def result(build: Callable[[], Derivation]) -> Callable[[], Derivation]:
    """Enter a derivation in the catalogue; its id is the module's name and the function's, as in `softmax.jacobian`."""
    name = f"{build.__module__.rpartition('.')[2]}.{build.__name__}"

    @cache
    def derivation() -> Derivation:
        return replace(build(), id=name)

    RESULTS[name] = derivation
    return wraps(build)(derivation)


def derivation(
    title: str,
    *claims: Claim,
    about: Layer | Sequence[Equation] = (),
    ranges: Mapping[Symbol, Expr] | None = None,
    assuming: Sequence[Assumption] = (),
    source: str = "",
    bijections: Sequence[tuple[str, str, Expr]] = (),
) -> Derivation:
    """Return a derivation; `about` gives the definitions: a layer, whose equations they are, or equations.

    `ranges` gives the number of values of each free index, `bijections` name, inverse and size of permutations.
    """
    definitions = about.equations if isinstance(about, Layer) else tuple(about)
    return Derivation("", title, claims, definitions, ranges or {}, tuple(assuming), source, tuple(bijections))
