"""Counting conventions: the named choices by which published operation counts of the same layer differ."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["CONVENTION", "Convention"]

_CHOICES = {
    "unit": ("flop", "mac"),
    "products": ("2k", "2k-1"),
    "causal": ("full", "halved", "visible"),
    "lookups": ("free", "counted"),
    "input_gradient": (True, False),
}

_PRODUCTS = {
    ("flop", "2k"): "One multiply-add is 2 FLOPs: a product of (n, k) and (k, m) counts 2 n k m.",
    ("flop", "2k-1"): (
        "A product of (n, k) and (k, m) counts n m (2 k - 1) FLOPs for each example: k multiplications and k - 1 "
        "additions for each entry."
    ),
    ("mac", "2k"): (
        "Multiply-adds of products alone are counted, all else left out: a product of (n, k) and (k, m) counts n k m."
    ),
}

_CAUSAL = {
    "full": "Products count in full, entries that a mask hides included.",
    "halved": "Products of the pairs that a causal mask or a sliding window picks from count one half.",
    "visible": (
        "Products count the pairs that a causal mask or a sliding window shows: n (n + 1) / 2 of n^2, in a window of "
        "w the sum of min(i, w) over i = 1, ..., n; so does what is done with such pairs one by one. A mask of another "
        "kind, padding among them, hides nothing."
    ),
}

_REST = (
    "A sum or a mean of d entries counts d additions, a mean one division more, rows added into a table one addition "
    "for each entry. A softmax counts 5 for each entry (maximum, difference, exp, sum, quotient), {hidden}; a "
    "log-sum-exp 4, and 2 more for each row. exp, erf, sin, cos, sqrt, division, maximum and comparison count 1 each, "
    "a power x^p counts p - 1, a choice all its branches."
)

_LOOKUPS = {
    "free": "Signs, constants, masks, look-ups, transposes and reshapes are free.",
    "counted": (
        "A look-up of n rows in a table of (v, d) counts as the product of a one-hot matrix with the table, as does "
        "its gradient. Signs, constants, masks, transposes and reshapes are free."
    ),
}

_GRADIENT = {
    True: "A backward pass includes the gradients by the inputs of the layer.",
    False: "A backward pass leaves out what only the gradients by the inputs of the layer need.",
}


@dataclass(frozen=True)
class Convention:
    """A convention for counting operations; the default values are the default of `count_flops`.

    `unit`: "flop", or "mac": multiply-adds of the products alone.
    `products`: a product of (n, k) and (k, m) counts n m times "2k" or "2k-1".
    `causal`: for a causal mask or a sliding window, "full" counts hidden pairs of positions too, "halved" counts one
    half of the products, "visible" counts only the visible pairs, in the softmax too.
    `lookups`: "free", or "counted" as products with one-hot matrices.
    `input_gradient`: whether a backward pass computes the gradients with respect to the inputs of the layer.

    Source       look-ups as products: Hoffmann et al. (2022), appendix F; causal products halved: Dao (2023), section
                 4.1
    Raises       ValueError for an unknown value
    """

    unit: str = "flop"
    products: str = "2k"
    causal: str = "full"
    lookups: str = "free"
    input_gradient: bool = True

    def __post_init__(self) -> None:
        """Raise `ValueError` for an unknown value or a combination that is not defined."""
        for field in fields(self):
            value, allowed = getattr(self, field.name), _CHOICES[field.name]
            # `is` for booleans, because 1 == True.
            if not any(value is choice if isinstance(choice, bool) else value == choice for choice in allowed):
                raise ValueError(f"convention: {field.name} is {value!r}; choose {' or '.join(map(repr, allowed))}")
        if (self.unit, self.products) not in _PRODUCTS:
            raise ValueError(
                "convention: products = '2k-1' counts additions apart, unit = 'mac' does not; choose one of the two"
            )

    def describe(self) -> str:
        """Return the convention as printed with a count."""
        hidden = "of visible pairs alone" if self.causal == "visible" else "masked entries included"
        sentences = [_PRODUCTS[self.unit, self.products], _CAUSAL[self.causal]]
        if self.unit == "flop":
            sentences.append(_REST.format(hidden=hidden))
        return " ".join((*sentences, _LOOKUPS[self.lookups], _GRADIENT[self.input_gradient]))

    def __str__(self) -> str:
        """Return the description."""
        return self.describe()


CONVENTION = Convention()
