r"""Claims about what something costs: parameters, operations, memory, the key-value cache.

Definition   what is counted is told by the words around, nearest first: the left side, the sentence, the block, the
             headings; the letters are sizes by what the scope calls them, by their names, or by custom
Result       holds        the count that the equations of the package give
             conditional  with sizes related as is usual; without biases and norms; in multiply-adds, where a
                          multiply-add is 2 FLOPs; forward and backward together; for one token: named as assumptions
             wrong        one part is named, its letters are known, and no reading gives this count
             nothing      where it is not clear what is counted
Units        parameters; FLOPs in products, a multiply-add being 2; numbers or bytes of the cache; bytes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sympy import Expr, Symbol, expand

from derivations.documents.formulas.building import product
from derivations.documents.formulas.vocabulary import UNITS
from derivations.documents.judge.algebra.scalars import scalar
from derivations.documents.judge.costs.count_agreement import (
    agreement,
    impossible,
    in_letters,
    refutation,
    visible,
)
from derivations.documents.judge.costs.count_words import Said, said_of
from derivations.documents.judge.costs.part_costs import Cost, costs
from derivations.documents.judge.costs.several_networks import may_be_several
from derivations.documents.judge.costs.size_letters import readings_of_letters
from derivations.documents.judge.costs.subjects import PARTS, Part, parts_named, quantity_named, words_of
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node, Number, Product, Words
from derivations.documents.verdicts import Finding, Unproved
from derivations.symbols import d_k, d_v

__all__ = ["check_counting"]

CHECK = "counting"
LEFT = frozenset({"C", "N", "P", "F", "M", "params", "FLOPs", "flops", ""})
TRAINING = ("train", "backward", "训练", "訓練", "反向", "学習", "逆伝播")
CAUSAL = ("causal", "decoder", "autoregressive", "gpt", "llama", "因果", "自回归", "自迴歸", "自己回帰")
SHOWN = "only the pairs that the causal mask shows are counted"
GATED = (
    "glu", "gate", "llama", "mistral", "qwen", "palm", "gemma", "deepseek", "门控", "門控", "ゲート", "three matrices",
    "three weight",
)  # fmt: skip
PIECES = ("projection", "投影", "射影")
MOST_BLOCKS = 2000  # of a document that are searched for words


def check_counting(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the findings about a count."""
    sides = statement.chain.sides
    left: Node
    if link is None:
        left, right = Name(""), sides[0]
    elif link == 0 and isinstance(sides[0], Name | Words) and statement.chain.relations[0] in ("=", "≈", "∼", "≃"):
        left, right = sides[0], sides[1]
    else:
        return
    right, unit = _without_unit(right)
    if isinstance(right, Name):
        return
    if isinstance(left, Name) and left.base not in LEFT and quantity_named(words_of(left)) is None:
        return  # a letter that is defined, no count
    counted = scalar(right, scope)
    counted = expand(counted) if counted is not None else None  # `24 B s h^2 (1 + s / (6 h))`
    if counted is None or not counted.free_symbols:
        return
    said = said_of(statement, left, scope, unit)
    if counted.is_polynomial(*counted.free_symbols):
        yield from _counted(right, left, counted, said, scope)


def _without_unit(side: Node) -> tuple[Node, str]:
    r"""Split a count such as `16 P \text{ bytes}` into the formula and its unit, which is "" if there is none."""
    match side:
        case Product(factors=(*factors, Words(text=unit)), operators=(*operators, "")) if unit in UNITS and factors:
            return product(factors, operators), unit
    return side, ""


def _counted(right: Node, left: Node, counted: Expr, said: Said, scope: Scope) -> Iterator[Finding]:
    """Yield the findings about a count if its quantity, its part and its letters are known."""
    quantity = next(filter(None, map(quantity_named, said.texts)), None)
    parts = PARTS[:1] if quantity in ("cache", "activations") else next(filter(None, map(parts_named, said.texts)), ())
    if any(word in said.clause.lower() for word in PIECES) and not parts_named(said.clause):
        parts = ()  # of some matrices, which the other words need not name
    letters = readings_of_letters(right, counted, scope)
    if quantity is None or not parts or letters is None:
        return
    linked = bool(words_of(left)) or left != Name("")
    certain = linked or (quantity in map(quantity_named, (said.beside, said.head)) and not _is_shape(right))
    near = said.texts if quantity_named(" ".join(said.near)) is None else said.near
    words, all_words = (" ".join(each).lower() for each in (near, said.texts))
    yield from _judged(_Count(counted, quantity, parts, letters, words, all_words, certain, scope))


def _is_shape(node: Node) -> bool:
    """Return whether a count may be a shape, as d × 4 d may."""
    if not isinstance(node, Product) or "times" not in node.operators:
        return False
    first = node.factors[0]
    while isinstance(first, Product):
        first = first.factors[0]
    return not isinstance(first, Number)


@dataclass(frozen=True)
class _Count:
    """A count, the quantity and parts it may be about, and the possible sizes of its letters."""

    counted: Expr
    quantity: str
    parts: tuple[Part, ...]
    letters: list[Mapping[Symbol, Symbol]]
    near: str
    text: str
    certain: bool
    scope: Scope

    @property
    def training(self) -> bool:
        """Whether the words near the count mention training."""
        return any(word in self.near for word in TRAINING)

    def speaks_of(self, words: Sequence[str]) -> bool:
        """Return whether one of the words occurs in the document. Only its first blocks are searched."""
        texts = (self.text, *self.scope.document.headings.values(), *self.scope.document.texts[:MOST_BLOCKS])
        return any(word in text.lower() for text in texts for word in words)


def _judged(count: _Count) -> Iterator[Finding]:
    causal = count.quantity == "operations" and any(word in count.text for word in CAUSAL)
    for letters in count.letters:
        said = count.counted.xreplace(dict(letters))
        for each, more in ((said, ()), (visible(said), (SHOWN,))) if causal else ((said, ()),):
            for cost in (cost for part in count.parts for cost in costs(part.name, count.quantity)):
                assumed = agreement(each, cost.value, count.quantity, training=count.training)
                if assumed is not None:
                    assumptions = (*assumed, *more)
                    verdict: Unproved = "conditional" if assumptions else "holds"
                    reason = f"the {count.quantity} of: {cost.of}"
                    yield Finding(verdict, CHECK, reason, result=cost.result, assumptions=assumptions)
                    return
    if count.certain and len(count.parts) == 1:
        (part,) = count.parts
        for letters in _sure_readings(count):
            yield from _refuted(count, part, letters)


def _sure_readings(count: _Count) -> list[Mapping[Symbol, Symbol]]:
    """Return the readings of the letters under which a count may be called wrong.

    A count of a cache keeps all its readings. Of several readings of another count, only one is returned: the one that
    is not foreign, or the first if the count is impossible under all.
    """
    if count.quantity == "cache" or len(count.letters) == 1:
        return count.letters
    fitting = [letters for letters in count.letters if not _is_foreign(count, letters)]
    if len(fitting) == 1:
        return fitting
    never = all(impossible(count.counted.xreplace(dict(letters)), count.quantity) for letters in count.letters)
    return count.letters[:1] if never else []


def _is_foreign(count: _Count, letters: Mapping[Symbol, Symbol]) -> bool:
    """Return whether a letter is read as the width of a head in a part without heads, as d in a network."""
    own = {size for cost in costs(count.parts[0].name, count.quantity) for size in cost.value.free_symbols}
    return not {d_k, d_v} & own and bool({d_k, d_v} & set(letters.values()))


def _refuted(count: _Count, part: Part, letters: Mapping[Symbol, Symbol]) -> Iterator[Finding]:
    """Yield a "wrong" finding if a count has the letters of a cost, but other factors or exponents."""
    if count.training or (part.name == "feed-forward network" and count.speaks_of(GATED)):
        return
    said = count.counted.xreplace(dict(letters))
    cost = refutation(said, part, count.quantity)
    if cost is not None and not may_be_several(said, cost, part, count.quantity, count.near):
        yield _wrong(said, cost, count.quantity, letters)


def _wrong(said: Expr, cost: Cost, quantity: str, letters: Mapping[Symbol, Symbol]) -> Finding:
    """Return the "wrong" finding for a count, with the right cost in the letters of the document."""
    value = in_letters(said, cost.value, operations=quantity == "operations")
    right = _shown(value.xreplace({size: letter for letter, size in letters.items()}))
    return Finding("wrong", CHECK, f"for the {cost.of} the count is {right}", right=right, result=cost.result)


def _shown(expression: Expr) -> str:
    return str(expression).replace("**", "^").replace("*", " ")
