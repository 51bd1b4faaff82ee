"""How a page calls Python: the name of a function, texts as arguments, shapes line by line, and JSON as the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

__all__ = ["Questions", "answer", "lines_of_shapes"]

Questions = Mapping[str, Callable[..., str]]  # functions of texts that return JSON, by their names


def answer(questions: Questions, name: str, *given: str) -> str:
    """Return the answer of the function called `name` as JSON, or `refused` with the message of its error."""
    try:
        return f'{{"answer": {questions[name](*given)}}}'
    except ValueError as error:
        return json.dumps({"refused": str(error)}, ensure_ascii=False)


def lines_of_shapes(text: str, advice: str) -> Iterator[tuple[str, str]]:
    """Yield names with the texts of their sizes, a line for each, such as `Q: n x d`.

    Raises       ValueError for another line, with the advice what to write
    """
    for line in filter(None, map(str.strip, text.splitlines())):
        name, sign, sizes = map(str.strip, line.partition(":"))
        if not (name and sign and sizes):
            raise ValueError(f"{line!r} gives no shape: {advice}")
        yield name, sizes
