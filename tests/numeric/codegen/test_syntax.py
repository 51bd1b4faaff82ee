"""Emitted Python as syntax trees."""

from concurrent.futures import ThreadPoolExecutor

from numeric.codegen.syntax import expression_tree, names_in, nodes, statements, tidied


def test_threads_may_parse_at_the_same_time():
    texts = [" + ".join(f"(x_{i} * ({j} - y_{i}))" for i in range(200)) for j in range(16)]
    alone = [tidied(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tidied, texts * 4)) == alone * 4


def test_names_and_statements():
    text = "Y = f(X, key=W.T)\nreturned = [Y for Z in Y]"
    assert names_in(text) == {"Y", "f", "X", "W", "Z", "returned"}
    assert len(statements(text)) == 2 and len(list(nodes("X"))) > 1
    assert tidied("((X) @ (W))+(b)") == "X @ W + b"
    assert expression_tree("X").id == "X"
