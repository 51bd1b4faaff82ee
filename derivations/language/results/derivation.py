"""Derivations: chains of expressions, each linked to the one before by a named rule.

A `Claim` is one chain: it states `lhs relation rhs`, where rhs is its last expression. A `Derivation` is one result of
the catalogue: usually one claim, several if the statement has parts. Definitions are equations of layers; they
introduce names and need no proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial, wraps
from typing import Any, Protocol, overload

from sympy import Basic, Expr, Limit, Symbol, false, true

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.shown import VIEWS, Shown
from derivations.language.layers.layer import Equation, Layer
from derivations.language.results.titles import plain_title
from derivations.language.results.written import Ranges, as_relation, as_side, as_sides, as_size, as_value, shown

__all__ = [
    "RESULTS",
    "Assumption",
    "Claim",
    "Decided",
    "Derivation",
    "FalseStepError",
    "Step",
    "accepted",
    "chained",
    "claim",
    "derivation",
    "register",
    "registered",
    "result",
    "step",
    "topic_of",
]


@dataclass(frozen=True)
class Assumption:
    """An assumption of a result: a SymPy relation, for all values of the indices in `ranges` (name -> size).

    `text` adds in words what the relation does not show, such as its origin; `typed` is the text with its formulas
    between dollar signs, as it was given.
    """

    statement: Basic
    ranges: Mapping[Symbol, Expr] = field(default_factory=dict)
    text: str = ""
    typed: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        """Convert the parts to SymPy; raise `TypeError` for an invalid relation or invalid ranges."""
        kept = "$" not in self.text and plain_title(self.typed) == self.text
        typed = self.typed if kept else self.text
        _set(self, statement=as_relation(self.statement), ranges=Ranges(self.ranges))
        _set(self, text=plain_title(typed), typed=typed)


@dataclass(frozen=True)
class Step:
    """One link: `previous relation expression`, by the named rule; an inequality may have a certificate."""

    rule: str
    expression: Basic
    relation: str = "="
    certificate: tuple[Basic, ...] = ()

    def __post_init__(self) -> None:
        """Convert the parts to SymPy; raise `TypeError` for an invalid rule, relation or expression."""
        for name, text in (("rule", self.rule), ("relation", self.relation)):
            if not isinstance(text, str):
                raise TypeError(f"the {name} of a step is text, not {shown(text)}")
        certificate = as_sides(self.certificate, "a certificate")
        _set(self, expression=as_side(self.expression), certificate=certificate)


@dataclass(frozen=True)
class Claim:
    """A chain of steps; `given` contains the assumptions of this claim only."""

    lhs: Basic
    steps: tuple[Step, ...]
    given: tuple[Assumption, ...] = ()

    def __post_init__(self) -> None:
        """Convert the parts to SymPy and to tuples; raise `TypeError` for a part of another type."""
        steps, given = _all(Step, self.steps), _all(Assumption, self.given)
        _set(self, lhs=as_side(self.lhs), steps=steps, given=given)

    @property
    def rhs(self) -> Basic:
        """The last expression of the chain."""
        return self.steps[-1].expression

    @property
    def relation(self) -> str:
        """The relation between the two ends: "=", "<=", "<", ">=" or ">", or the relation of the only step.

        Raises `ValueError` if the steps imply no relation, such as "<=" and then ">=".
        """
        found = chained(self.steps)
        if found is None:
            raise ValueError(no_relation(self.steps))
        return found


def chained(steps: Sequence[Step]) -> str | None:
    """Return the relation that a chain of steps implies between its ends, or None if their directions differ."""
    relations = [s.relation for s in steps if s.relation != "="]
    # a single step may also be "iff", which joins no chain
    if len(steps) == len(relations) == 1:
        return relations[0]
    for order in (("<", "<="), (">", ">=")):
        if relations and set(relations) <= set(order):
            return order[order[0] not in relations]  # one strict step makes the whole chain strict
    return None if relations else "="


def no_relation(steps: Sequence[Step]) -> str:
    """Return the error message for a chain whose relations do not combine into one."""
    return f"a claim needs steps whose relations point one way, not {[s.relation for s in steps]}"


class Decided(Protocol):
    """The part of the judge's evidence that a derivation reads; the judge imports this module and defines the class."""

    @property
    def level(self) -> str:
        """The level of the weakest step, such as "proved"."""

    @property
    def claims(self) -> tuple[tuple[Any, ...], ...]:
        """The evidence for each step, by claim: its level, rule and reason."""

    @property
    def failures(self) -> tuple[str, ...]:
        """One sentence for each step that is not proved."""


@dataclass(frozen=True)
class Derivation(Shown):
    """One result: its claims, their steps, and its assumptions.

    `definitions` are the equations that define its arrays; `ranges` gives the number of values of each index, which
    counts from 0; every claim may use the `assumptions`.
    """

    id: str
    title: str
    claims: tuple[Claim, ...]
    definitions: tuple[Equation, ...] = ()
    ranges: Mapping[Symbol, Expr] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()
    source: str = ""
    bijections: tuple[tuple[str, str, Expr], ...] = ()  # name, inverse and number of places of each permutation
    headline: str = ""  # the title as typed, with formulas between dollar signs; `title` is its plain text

    def __post_init__(self) -> None:
        """Convert the parts to SymPy and to tuples; raise `TypeError` for a part of a wrong type."""
        kept = isinstance(self.title, str) and "$" not in self.title and plain_title(self.headline) == self.title
        typed = self.headline if kept else self.title
        _set(
            self,
            headline=typed,
            title=plain_title(typed),
            claims=_all(Claim, self.claims),
            definitions=_all(Equation, self.definitions),
            ranges=Ranges(self.ranges),
            assumptions=_all(Assumption, self.assumptions),
            bijections=_as_bijections(self.bijections),
        )

    def __repr__(self) -> str:
        return f"<derivation {self.called}: {len(self.claims)} claim{'s' * (len(self.claims) != 1)}>"

    @property
    def called(self) -> str:
        """The id, or the title in quotation marks if there is none: for messages."""
        return self.id or repr(self.title)

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

    @property
    def evidence(self) -> Decided:
        """The judge's evidence for the claims, decided at the first use, for this object only."""
        found: Decided = VIEWS["evidence"](self)
        return found

    def at(self, **sizes: int) -> Derivation:
        """Return the result with some sizes or scalars replaced by numbers, such as `at(d_k=64)`.

        Raises `ValueError` for a name that does not occur in it.
        """
        parts = [*(part for c in self.claims for part in (c.lhs, c.rhs)), *self.ranges.values(), *self.definitions]
        symbols = {s.name: s for part in parts for s in part.free_symbols if isinstance(s, Symbol)}
        unknown = sorted(set(sizes) - set(symbols))
        if unknown:
            raise ValueError(f"{self.called} has no {unknown[0]}; it has {', '.join(sorted(symbols)) or 'no symbols'}")
        values = {symbols[name]: as_value(value, symbols[name]) for name, value in sizes.items()}

        def put(part: Any) -> Any:
            return replace_free(part, values)

        def assumed(assumptions: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
            kept = [replace(a, statement=put(a.statement), ranges=_each(put, a.ranges)) for a in assumptions]
            if any(a.statement == false for a in kept):
                raise ValueError(f"{self.called} does not hold at these numbers: an assumption of it fails")
            return tuple(a for a in kept if a.statement != true)

        def moved(s: Step) -> Step:
            return replace(s, expression=put(s.expression), certificate=tuple(map(put, s.certificate)))

        # The variable of a limit is bound: a claim whose limit runs over a replaced name stays as it is.
        bound = {symbol for c in self.claims for limit in c.lhs.atoms(Limit) for symbol in limit.args[1:2]}
        claims = tuple(
            c
            if c.lhs.has(Limit) and bound & set(values)
            else Claim(put(c.lhs), tuple(map(moved, c.steps)), assumed(c.given))
            for c in self.claims
        )
        return replace(
            self,
            claims=claims,
            definitions=tuple(map(put, self.definitions)),
            ranges=_each(put, self.ranges),
            assumptions=assumed(self.assumptions),
        )

    def function(self) -> Callable[..., float]:
        """Return the right-hand side of the (first) claim as a function.

        Sizes, indices (from 0) and scalars are given by name as numbers, arrays as nested lists.
        """
        return VIEWS["function"](self)


def _set(of: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass while it is built."""
    for name, value in values.items():
        object.__setattr__(of, name, value)


def _all(kind: type, parts: Any) -> tuple[Any, ...]:
    """Return the parts as a tuple; raise `TypeError` unless all have the type `kind`. A single part is allowed."""
    parts = (parts,) if isinstance(parts, kind) or not isinstance(parts, Iterable) else tuple(parts)
    wrong = next((part for part in parts if not isinstance(part, kind)), None)
    if wrong is not None or None in parts:
        raise TypeError(f"{kind.__name__} is needed, not {shown(wrong)}")
    return parts


def _as_bijections(entries: Any) -> tuple[tuple[str, str, Expr], ...]:
    for entry in entries if isinstance(entries, list | tuple) else (entries,):
        if not (isinstance(entry, tuple) and len(entry) == 3 and all(isinstance(name, str) for name in entry[:2])):
            raise TypeError(f"a bijection is a name, its inverse's name and a number of places, not {shown(entry)}")
    return tuple((name, inverse, as_size(size)) for name, inverse, size in entries)


def _each(change: Callable[[Any], Any], table: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: change(value) for key, value in table.items()}


def step(rule: str, expression: Basic | int, relation: str = "=", *certificate: Basic | int) -> Step:
    """Return a step: the rule's name, the next expression, the relation, and the certificate if it needs one."""
    return Step(rule, expression, relation, certificate)


def claim(lhs: Basic | int, *steps: Step, given: tuple[Assumption, ...] = ()) -> Claim:
    """Return the claim that starts at `lhs` and follows the steps.

    Raises `ValueError` for a claim without steps, or one whose inequalities point in both directions.
    """
    found = Claim(lhs, steps, given)
    if not steps or chained(found.steps) is None:
        raise ValueError(no_relation(found.steps))
    return found


class FalseStepError(ValueError):
    """A derivation may not enter the catalogue, because one of its steps is refuted or not decided.

    `evidence` is the judge's verdict on all steps.
    """

    def __init__(self, derivation: Derivation, evidence: Decided) -> None:
        self.evidence = evidence
        what = f"{derivation.id or derivation.title!r} is not proved"
        for c, (claim, decided) in enumerate(zip(derivation.claims, evidence.claims, strict=True), 1):
            before = [claim.lhs, *(step.expression for step in claim.steps)]
            for s, (left, step, found) in enumerate(zip(before, claim.steps, decided, strict=False), 1):
                if found.level in ("refuted", "unknown"):
                    stated = f"{VIEWS['text'](left)} {step.relation} {VIEWS['text'](step.expression)}"
                    reason = f"claim {c}, step {s} ({step.rule}) is {found.level}: {stated}: {found.reason}"
                    super().__init__(f"{what}: {reason}")
                    return
        super().__init__(f"{what}: a claim of it has no steps")

    def __reduce__(self) -> Any:
        """Pickle as an exception with its message, for other processes."""
        # The default would call `__init__` with the message alone.
        return (_restored, (str(self), self.evidence))


def _restored(message: str, evidence: Decided) -> FalseStepError:
    error = FalseStepError.__new__(FalseStepError, message)
    error.args, error.evidence = (message,), evidence
    return error


RESULTS: dict[str, Callable[[], Derivation]] = {}


def register(derivation: Derivation, name: str = "") -> Derivation:
    """Add a derivation to the catalogue under its id, or under `name`, such as "attention.mine"; return it.

    The judge decides every step now, and the derivation keeps the evidence.

    Raises `FalseStepError` if a step is refuted or not decided, `ValueError` for an id that is missing or taken.
    """
    if not isinstance(derivation, Derivation) or not isinstance(name, str):
        raise TypeError(f"a derivation is registered under an id, not {shown(derivation)} under {shown(name)}")
    name = name or derivation.id
    topic, _, rest = name.partition(".")
    if not (topic.isidentifier() and rest.isidentifier()):
        raise ValueError(f"{name!r} is not an id: give a topic, a dot and a name: register(derivation, 'mine.slope')")
    if name in RESULTS:
        raise ValueError(f"the id {name!r} is taken: choose one that is new to the catalogue")
    entered = accepted(replace(derivation, id=name))
    RESULTS[name] = lambda: entered
    return entered


def registered(name: str) -> Derivation:
    """Return the result with that id; it is judged at its first use here and keeps the evidence.

    Raises `FalseStepError` if a step is refuted or not decided.
    """
    return accepted(RESULTS[name]())


def accepted(derivation: Derivation) -> Derivation:
    """Return the derivation after judging it; raise `FalseStepError` if a step is refuted or not decided."""
    if derivation.evidence.level in ("refuted", "unknown"):
        raise FalseStepError(derivation, derivation.evidence)
    return derivation


Build = Callable[[], Derivation]


@overload
def result(build: Build) -> Build: ...


@overload
def result(*, topic: str, name: str | None = None) -> Callable[[Build], Build]: ...


def result(
    build: Build | None = None, *, topic: str | None = None, name: str | None = None
) -> Build | Callable[[Build], Build]:
    """Add a derivation to the catalogue; its id is the topic and the function's name, as in `softmax.jacobian`.

    The topic is the module's `TOPIC`, else the module's name; topic and name may also be given here.
    """
    if build is None:
        return partial(_enter, topic=topic, called=name)
    return _enter(build, topic, name)


def topic_of(module: Mapping[str, Any]) -> str:
    """Return the topic of a module from its namespace: its `TOPIC`, else the last part of its name."""
    return str(module.get("TOPIC") or module["__name__"].rpartition(".")[2])


def _enter(build: Build, topic: str | None, called: str | None) -> Build:
    topic = topic or topic_of(build.__globals__)
    name = f"{topic}.{called or build.__name__}"

    @cache  # built at the first use, so that an import neither builds nor proves results
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
    """Return a derivation; `about` gives the definitions, as a layer or as equations.

    `ranges` gives the number of values of each free index; `bijections` gives the name, the inverse's name and the
    size of each permutation.
    """
    if not isinstance(title, str):
        raise TypeError(f"the title of a derivation is text, and its claims follow, not {shown(title)}")
    definitions = about.equations if isinstance(about, Layer) else _all(Equation, about)
    stated = assuming if isinstance(assuming, Iterable) and not isinstance(assuming, str) else (assuming,)
    assumptions = tuple(a if isinstance(a, Assumption) else Assumption(a) for a in stated)
    return Derivation("", title, claims, definitions, ranges or {}, assumptions, source, _as_bijections(bijections))
