"""Published totals of named models and the counts from their equations, with the reason of each difference.

Definition   a total is stated exactly, or to some digits: "rounded" is the count rounded to these digits, "cut off" the
             count truncated to them; "explained" names a cost of the equations that equals, to the last parameter, the
             excess of a number that is stated in full
Units        parameters
Source       with each model; the costs that explain a difference are in `EXPLANATIONS`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sympy import Expr, Integer

from derivations.architectures.models import model_names, named_model
from derivations.costs.published.subject import Subject
from derivations.symbols import d_model, vocab

__all__ = ["EXPLANATIONS", "Explanation", "Total", "significant", "stated", "total"]


@dataclass(frozen=True)
class Explanation:
    """A cost that explains why a number stated in full exceeds the count, and the reason."""

    more: Callable[[Subject], Expr]
    why: str


@dataclass(frozen=True)
class Total:
    """A stated number of parameters, the count, and a verdict: exact, rounded, cut off, explained, or not explained.

    `difference` is the stated number minus the count.
    """

    name: str
    stated: int
    as_stated: str
    counts: str
    source: str
    counted: int
    verdict: str
    why: str = ""

    @property
    def difference(self) -> int:
        """The stated number minus the count."""
        return self.stated - self.counted


def _rows(rows: int, why: str) -> Explanation:
    """Return the explanation that the table of tokens was counted with `rows` rows."""
    return Explanation(lambda s: s.token_table / vocab * (rows - vocab), why)


SHARDS = 8  # devices that share each copy of GPT-J
_GEMMA = _rows(256128, "a table of 256,128 tokens, 128 rows more than the configuration has")
EXPLANATIONS: Mapping[str, Explanation] = {
    "gpt-j-6b": Explanation(
        lambda s: (SHARDS - 1) * (s.norms + s.weights("feed_forward.b_2")) + SHARDS * d_model,
        "a sum over the 8 parts that training divided the model into: each has its own copy of the norms and of the "
        "second bias of the network, and a bias after the look-up (Wang, mesh-transformer-jax, layers.py)",
    ),
    "gemma-2-2b": _GEMMA,
    "gemma-2-9b": _GEMMA,
    "gemma-2-27b": _GEMMA,
}


def total(name: str) -> Total | None:
    """Return the stated and the counted number of parameters of a built-in model, or None if no number is stated."""
    model = named_model(name)
    published = dict(model.published)
    number = published.get("value")
    if not isinstance(number, int):
        return None
    subject = Subject(model)
    values = {symbol: Integer(value) for symbol, value in model.values.items()}
    without = subject.token_table * (1 if model.architecture.head.tied else 2) + subject.position_table
    counted = subject.parameters - (without if published["counts"] == "non-embedding" else 0)
    here, as_stated = int(counted.xreplace(values)), str(published["as_stated"])
    explanation = EXPLANATIONS.get(name)
    verdict, why = _verdict(number, here, exact=as_stated.isdecimal()), ""
    if explanation is not None:
        more = int(explanation.more(subject).xreplace(values))
        if number == here + more:
            verdict, why = "explained", f"{more:+,}: {explanation.why}"
    return Total(name, number, as_stated, str(published["counts"]), str(published["source"]), here, verdict, why)


def stated() -> tuple[Total, ...]:
    """Return the totals of all built-in models for which one is stated."""
    return tuple(each for each in map(total, model_names()) if each is not None)


def significant(number: int) -> int:
    """Return the number of digits without the zeros at the end."""
    return len(str(number).rstrip("0"))


def _verdict(number: int, counted: int, *, exact: bool) -> str:
    if number == counted:
        return "exact"
    unit = 1 if exact else 10 ** (len(str(number)) - significant(number))
    if unit > 1 and abs(2 * (number - counted)) <= unit:
        return "rounded"
    return "cut off" if unit > 1 and counted // unit * unit == number else "not explained"
