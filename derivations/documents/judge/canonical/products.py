r"""Products that are mentioned: `$Q K^T V$` as attention, "the matrix product $Q \cdot K^T$", "transposed ($K^T$)".

Definition   a formula without a relation, in a sentence; queries, keys and values are known by their letters Q, K, V or
             by what the document calls them
Result       conditional where attention, or its weights, is told by the bare product: what is left out is named; holds
             where a product or a transpose is so called and the shapes of all arrays are known and fit
Assumes      products that do not fit are refused by the check of shapes; of others nothing is said
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from derivations.documents.judge.arrays.left_sides import word_of
from derivations.documents.judge.shapes.fitting import fit
from derivations.documents.judge.wording import shape_text, source
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Annotated, Call, Fence, Name, Node, Product, Transpose
from derivations.documents.verdicts import Finding

__all__ = ["check_products"]

CHECK = "products"
ROLES = {"Q": "query", "K": "key", "V": "value"}
_MULTIPLIED = re.compile(
    r"\b(?:product|multipl\w+)\b|(?:矩[陣阵]|[陣阵]列)乘|乘法|相乘|乘[上以積积]|行列積|乗算|の積", re.IGNORECASE
)
_TRANSPOSED = re.compile(r"\btranspos\w+|轉置|转置|転置", re.IGNORECASE)
_WEIGHTS = re.compile(r"\battention[\s-]weight\w*|注意力權重|注意力权重|(?:注意|アテンション)の?重み", re.IGNORECASE)
_ATTENTION = re.compile(r"\battention\b|注意力|アテンション|注意機構", re.IGNORECASE)
_LINEAR = re.compile(
    r"\b(?:linear|dense|fully[\s-]connected)\s{1,3}layers?\b|線性層|线性层|線形層|全連接|全连接|全結合", re.IGNORECASE
)
_NEAR = 30
_OPERATORS = frozenset({"", "dot", "at", "times"})


def check_products(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield what is said of a product without a relation."""
    if link is not None:
        return
    node = statement.chain.sides[0]
    roles = _roles(node, scope)
    if statement.passage.syntax == "prose":
        yield from _of_softmax(node, scope)
    elif roles in (["query", "key^T", "value"], ["query", "key^T"]):
        if roles[-1] == "value":
            yield _lacking("attention is the product with softmax and scale", "softmax and the scale are left out")
        elif _are_weights(statement):
            yield _lacking("weights are the softmax of scaled scores", "softmax and the scale are left out")
        else:
            yield from _of_shapes(node, statement, scope)
    elif _is_square(node) and _ATTENTION.search(_words(statement)):
        yield _lacking("scores are products of queries and keys", "queries and keys are the input itself")
    elif _is_linear(node, scope) and _LINEAR.search(_words(statement)):
        yield _lacking("a linear layer is the product with its weights and a bias", "the bias is left out")
    else:
        yield from _of_shapes(node, statement, scope)


def _lacking(reason: str, assumption: str) -> Finding:
    return Finding("conditional", CHECK, reason, assumptions=(assumption,))


def _of_softmax(node: Node, scope: Scope) -> Iterator[Finding]:
    """Judge a softmax in words: "$QK^T$ (after softmax)" is the weights, but for the scale."""
    is_softmax = isinstance(node, Call) and word_of(node) == "softmax" and len(node.arguments) == 1
    if is_softmax and _roles(node.children[-1], scope) == ["query", "key^T"]:
        yield _lacking("weights are the softmax of scaled scores", "the scale is left out")


# --- what is multiplied ---


def _factors(node: Node) -> tuple[Node, ...]:
    """Return the factors of a product, those of products in brackets one by one."""
    node = _bare(node)
    if isinstance(node, Product) and _OPERATORS.issuperset(node.operators) and len(node.factors) <= 8:
        return tuple(inner for each in node.factors for inner in _factors(each))
    return (node,)


def _bare(node: Node) -> Node:
    while isinstance(node, Fence | Annotated):
        if isinstance(node, Fence) and node.bracket not in ("(", "["):
            break
        node = node.inside if isinstance(node, Fence) else node.of
    return node


def _roles(node: Node, scope: Scope) -> list[str]:
    """Return what the factors are: "query", "key^T"; "" for what is none of these."""
    return [_role(each, scope) for each in _factors(node)]


def _role(node: Node, scope: Scope) -> str:
    if isinstance(node, Transpose):
        inner = _role(_bare(node.operand), scope)
        return f"{inner}^T" if inner else ""
    if not isinstance(node, Name) or not node.base[:1].isupper():
        return ""
    said = [role for role in ROLES.values() if role in scope.meaning(node)]
    return said[0] if len(said) == 1 else ROLES.get(node.base, "")


def _is_square(node: Node) -> bool:
    r"""Say whether this is X X^T, of one array with its own transpose."""
    factors = _factors(node)
    return (
        len(factors) == 2
        and isinstance(factors[0], Name)
        and factors[0].base.isupper()
        and isinstance(factors[1], Transpose)
        and factors[1].operand == factors[0]
    )


def _is_linear(node: Node, scope: Scope) -> bool:
    """Say whether this is x W or W x, of an array and a matrix of weights."""
    factors = _factors(node)
    weights = [scope.document.is_weight(each) for each in factors]
    return len(factors) == 2 and sorted(weights) == [False, True] and isinstance(factors[weights.index(False)], Name)


def _of_shapes(node: Node, statement: Statement, scope: Scope) -> Iterator[Finding]:
    """Say which shape a product or a transpose has that the words call so."""
    called = _words(statement)
    if isinstance(node, Transpose):
        before = _sides(statement)[0][-_NEAR:]
        if not isinstance(node.operand, Name) or not _TRANSPOSED.search(before):
            return
    elif len(_factors(node)) < 2 or not _MULTIPLIED.search(called):
        return
    found = fit((node,), scope, code=False)
    shape = found.shapes[0]
    if found.clashes or found.aside or found.inference.conditions or not shape.complete or len(shape.sizes) != 2:
        return
    yield Finding("holds", CHECK, f"{source((node,), statement)} is {shape_text(shape.sizes)}")


# --- what stands around ---


def _are_weights(statement: Statement) -> bool:
    """Say whether the words right before a formula, or its row of a table, call it attention weights."""
    if statement.block.kind == "row":
        return statement.block.passages[0] is statement.passage and bool(_WEIGHTS.search(_words(statement)))
    before = _sides(statement)[0].rstrip(" (（「『:：")
    found = [each.end() for each in _WEIGHTS.finditer(before[-_NEAR:])]
    return bool(found) and found[-1] == len(before[-_NEAR:])


def _words(statement: Statement) -> str:
    """Return the words of a block, with those of the first column's head and of its own in a table."""
    return " ".join((*statement.block.headers, *_sides(statement)))


def _sides(statement: Statement) -> tuple[str, str]:
    """Return the words of a block before a formula and behind it."""
    passages = statement.block.passages
    place = statement.block.number_of(statement.passage) or 0
    parts = passages[max(place - 8, 0) : place], passages[place + 1 : place + 9]
    before, behind = (" ".join(each.text for each in part if not each.is_formula) for part in parts)
    return before[-400:], behind[:400]
