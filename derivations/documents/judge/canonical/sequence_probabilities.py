r"""The probability of a sequence: `p(y \mid x) = \prod_t p(y_t \mid y_{<t}, x)`, and its logarithm.

Definition   the right side runs over the tokens of the sequence on the left, each given those before it
Result       holds where probabilities are multiplied, or their logarithms added, on both sides with one sign; wrong
             where one is done for the other, where a logarithm or a sign stands on one side alone, and where a token is
             given itself
Assumes      the tokens have the letter of the sequence; what else a token is given is not looked at
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from derivations.documents.judge.wording import link_text
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Chain, Dots, Fence, List, Name, Negative, Node, Number, Sum
from derivations.documents.verdicts import Finding

__all__ = ["GIVEN_ITSELF", "Probability", "check_sequence_probabilities", "probability_of", "reach_behind", "unsigned"]

CHECK = "probability"
LOGARITHMS = ("log", "ln")
GIVEN_ITSELF = "a token is given those before it, not itself"
KINDS = {"sum": "added", "product": "multiplied"}


@dataclass(frozen=True)
class Probability:
    """A probability or its logarithm: its sign, of what, and given what."""

    sign: int
    logged: bool
    event: tuple[Node, ...]
    given: tuple[Node, ...]


def check_sequence_probabilities(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what is found of a link between the probability of a sequence and those of its tokens."""
    if link is None or statement.chain.relations[link] not in ("=", ":=") or statement.is_equivalent:
        return
    left, right = statement.chain.sides[link : link + 2]
    outer, whole = unsigned(right)
    if not isinstance(whole, Aggregate) or whole.kind not in KINDS or len(whole.index) != 1:
        return
    sequence, token = probability_of(left), probability_of(whole.body)
    if sequence is None or token is None or not _is_token_of(token, sequence):
        return
    ahead = reach_behind(token, whole.index[0])
    if ahead == 0:
        yield Finding("wrong", CHECK, GIVEN_ITSELF)
    elif ahead == 1:
        yield _judged(statement, (left, right), whole, sequence, replace(token, sign=token.sign * outer))


def reach_behind(token: Probability, index: Node) -> int | None:
    """Return how far a token stands behind the last one that it is given; None where that is not told."""
    place = _place(token.event[0]) if len(token.event) == 1 else None
    reach = next(filter(None, (_reach(each, token.event[0], token.given) for each in token.given)), None)
    if place is None or reach is None or place[0] != index or reach[0] != place[0]:
        return None
    return place[1] - reach[1]


def _judged(
    statement: Statement, sides: tuple[Node, Node], whole: Aggregate, sequence: Probability, token: Probability
) -> Finding:
    kind = "sum" if token.logged else "product"
    if sequence.logged != token.logged:
        return Finding("wrong", CHECK, "a logarithm stands on one side alone")
    if whole.kind != kind:
        what = "logarithms" if token.logged else "probabilities"
        mended = _with_kind(sides[1], whole, kind)
        reason = f"{what} of tokens are {KINDS[kind]}, not {KINDS[whole.kind]}"
        return Finding("wrong", CHECK, reason, right=link_text(sides[0], mended, statement))
    if sequence.sign != token.sign:
        return Finding("wrong", CHECK, "the two sides have opposite signs")
    return Finding("holds", CHECK, "the chain rule: every token is given those before it")


def _with_kind(side: Node, whole: Aggregate, kind: str) -> Node:
    return replace(side, operand=replace(whole, kind=kind)) if isinstance(side, Negative) else replace(whole, kind=kind)


def unsigned(node: Node) -> tuple[int, Node]:
    """Return a side without brackets and minus signs in front, and its sign."""
    sign = 1
    while isinstance(node, Negative | Fence):
        if isinstance(node, Fence):
            if node.bracket not in ("(", "[", "{", ""):
                break
            node = node.inside
        else:
            sign, node = -sign, node.operand
    return sign, node


def probability_of(node: Node) -> Probability | None:
    """Return the probability that a side is, P(A | B) or P(A), or the logarithm of one."""
    sign, node = unsigned(node)
    logged = isinstance(node, Call) and node.function.base in LOGARITHMS and len(node.arguments) == 1
    if logged and isinstance(node, Call):
        node = unsigned(node.arguments[0])[1]
    if not isinstance(node, Call) or node.function.base not in ("p", "P", "pi", "Pr", "q"):
        return None
    arguments = node.arguments
    if len(arguments) == 1 and isinstance(arguments[0], Chain):
        chain = arguments[0]
        if chain.relations != ("|",):
            return None
        event, given = (_listed(side) for side in chain.sides)
        return Probability(sign, logged, event, given)
    return Probability(sign, logged, arguments, ())


def _listed(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, List) else (node,)


def _is_token_of(token: Probability, sequence: Probability) -> bool:
    """Say whether a token has the letter of the sequence, small or large."""
    letters = {each.base.lower() for each in sequence.event if isinstance(each, Name)}
    parts = all(isinstance(each, Name | Dots) for each in sequence.event)
    own = {each.base.lower() for each in token.event if isinstance(each, Name)}
    return parts and len(token.event) == 1 and len(own) == 1 and letters == own


def _place(node: Node) -> tuple[Node, int] | None:
    """Return the letter and the shift at which a token stands: (t, 0) for y_t, (t, 1) for y_{t+1}."""
    return _shifted(node.subscripts[0]) if isinstance(node, Name) and len(node.subscripts) == 1 else None


def _shifted(index: Node) -> tuple[Node, int] | None:
    match index:
        case Name(base=base) if base:
            return index, 0
        case Sum(terms=(Name() as letter, Number(value=value)), signs=(1, sign)) if value.denominator == 1:
            return letter, sign * int(value)
    return None


def _reach(part: Node, event: Node, given: Sequence[Node]) -> tuple[Node, int] | None:
    r"""Return up to which token those that are given reach: y_{<t}, y_{1:t-1}, y_{\le t}, or y_1, \dots, y_{t-1}."""
    if not (isinstance(part, Name) and isinstance(event, Name) and part.base == event.base and part.subscripts):
        return None
    last = part.subscripts[0]
    if isinstance(last, Chain) and len(last.sides) == 2 and last.relations[0] in ("<", "≤", ":"):
        found = _shifted(last.sides[1])
        return (found[0], found[1] - (last.relations[0] == "<")) if found is not None else None
    before = given[: next((at for at, each in enumerate(given) if each is part), 0)]
    return _shifted(last) if before and isinstance(before[-1], Dots) else None
