"""How a page asks: a question by its name, what was pasted as texts, and JSON as the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

__all__ = ["Questions", "answer"]

Questions = Mapping[str, Callable[..., str]]  # functions of texts that return JSON, by their names


def answer(questions: Questions, name: str, *given: str) -> str:
    """Return the answer of the function called `name` as JSON, or `refused` with its sentence."""
    try:
        return f'{{"answer": {questions[name](*given)}}}'
    except ValueError as error:
        return json.dumps({"refused": str(error)}, ensure_ascii=False)
