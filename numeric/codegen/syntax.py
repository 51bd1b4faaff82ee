"""Emitted Python as syntax trees: parsing, and the names that a text reads or binds.

>>> sorted(names_in("Y = np.maximum(X @ W, 0)"))
['W', 'X', 'Y', 'np']
>>> tidied("((X) @ (W))")
'X @ W'
"""

import ast
from collections.abc import Iterator
from functools import lru_cache
from threading import Lock

__all__ = ["expression_tree", "names_in", "nodes", "statements", "tidied"]

# CPython 3.11 counts the depth of all trees that are being built in one place: two threads that parse at the same time
# end in a SystemError (python/cpython#106905).
_ONE_AT_A_TIME = Lock()


def expression_tree(text: str) -> ast.expr:
    """Return the tree of an expression."""
    with _ONE_AT_A_TIME:
        return ast.parse(text, mode="eval").body


def statements(text: str) -> list[ast.stmt]:
    """Return the trees of the statements of a text."""
    with _ONE_AT_A_TIME:
        return ast.parse(text).body


def nodes(text: str) -> Iterator[ast.AST]:
    """Yield all nodes of the statements of a text."""
    for statement in statements(text):
        yield from ast.walk(statement)


@lru_cache(maxsize=4096)  # the same helpers stand in the code of every layer
def names_in(text: str) -> frozenset[str]:
    """Return the names that the statements of a text read or bind."""
    return frozenset(node.id for node in nodes(text) if isinstance(node, ast.Name))


def tidied(text: str) -> str:
    """Return an expression spaced as usual and without needless brackets."""
    return ast.unparse(expression_tree(text))
