"""The kinds of slips that edits correct, each with the sentence that names it.

Definition   a slip is what was done to a right formula, so that one edit of it is right again; what is named in a
             sentence are letters, numbers or functions as the formula has them, "it" where a part has no name
Result       `SlipKind.ROOT()` is a slip, `str(...)` its sentence; verdicts depend on the kind, never on the sentence
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["MISSING", "TOO_MANY", "Slip", "SlipKind"]


class SlipKind(Enum):
    """A kind of slip: what is missing or too many, or stands where something else belongs."""

    # letters and arrays
    TRANSPOSE = "{} must be transposed"
    NO_TRANSPOSE = "{} must not be transposed"
    OTHER_TRANSPOSE = "{} must be transposed, not {}"
    ORDER = "the factors stand in the wrong order"
    LETTER = "{} belongs where {} stands"
    EXCHANGED = "{} and {} have changed places"
    INDEX = "the index of {} must be {}, not {}"
    INDEX_ORDER = "the indices of {} stand in the wrong order"
    INDICES_EXCHANGED = "the indices {} and {} have changed places"

    # signs, terms and factors
    SIGN = "the sign is wrong"
    A_SIGN = "a sign is wrong"
    DIFFERENCE = "the difference is taken the wrong way round"
    NO_DIFFERENCE = "{} must not be subtracted from {}"
    NOT_SUBTRACTED = "{} must not be subtracted"
    NOT_ADDED = "{} must not be added"
    SUBTRACTED = "{} must be subtracted"
    ONE_MINUS = "1 minus it is needed"
    SUMMAND = "the summand {} is missing"
    SUMMAND_TOO_MANY = "the summand {} is too many"
    FACTOR = "the factor {} is missing"
    FACTOR_TOO_MANY = "the factor {} is too many"
    NUMBER = "the number must be {}, not {}"

    # sums and quotients
    LAST = "the sum must go to {}"
    FIRST = "the sum must begin with the first entry"
    SUM_INDEX = "the sum must be over {}"
    SUM_PLACE = "the sum must be over the index in the place of {}"
    DIVISION = "the division by {} is missing"
    ROOT_DIVISION = "the division by the root of {} is missing"
    DIVIDED = "it must be divided by {}"
    NO_DIVISION = "there must be no division"
    ALL_DIVIDED = "all of the sum must be divided"
    DIVISION_TOO_FAR = "the division goes too far"
    UPSIDE_DOWN = "the fraction is upside down"
    A_PRODUCT = "it must be a product"
    A_QUOTIENT = "it must be a quotient"

    # functions, roots and powers
    FUNCTION = "the function must be {}, not {}"
    NO_FUNCTION = "there must be no {}"
    AGGREGATE = "it must be the {}"
    EXPONENTIAL = "the exponential is missing"
    NO_EXPONENTIAL = "there must be no exponential"
    LOGARITHM = "the logarithm is missing"
    ROOT = "the root is missing"
    NO_ROOT = "there must be no root"
    NO_ROOT_OF_SQUARE = "there must be no root of a square"
    ROOT_TOO_FAR = "the root goes too far"
    SQUARE = "the square is missing"
    POWER = "the exponent is missing"
    EXPONENT = "the exponent is wrong"
    NO_EXPONENT = "the exponent must be 1"
    INDEX_AS_EXPONENT = "the exponent {} is missing"
    AS_EXPONENT = "{} must be an exponent"
    EXPONENT_OF = "the exponent belongs to {}"
    SUM_INSIDE = "the sum belongs inside the function"
    FUNCTION_INSIDE = "the function belongs inside the sum"
    DIVISION_INSIDE = "the division belongs inside the function"
    DIVISION_OF_FIRST = "the division belongs inside the function, below the first summand"
    DIVISION_OUTSIDE = "the division belongs outside the function"
    OUTSIDE = "{} belongs outside the function"
    FACTOR_INSIDE = "the factor belongs inside the function"
    FACTOR_OF_ALL = "the factor belongs to all of the sum"
    SUMMAND_INSIDE = "the summand belongs inside the function"

    def __call__(self, *about: str) -> Slip:
        """Return the slip of this kind in given letters, numbers or functions."""
        return Slip(self, about)


MISSING = frozenset({
    SlipKind.FACTOR, SlipKind.SUMMAND, SlipKind.DIVISION, SlipKind.ROOT_DIVISION, SlipKind.EXPONENTIAL,
    SlipKind.LOGARITHM, SlipKind.ROOT, SlipKind.SQUARE, SlipKind.POWER, SlipKind.INDEX_AS_EXPONENT,
})  # fmt: skip
TOO_MANY = frozenset({SlipKind.FACTOR_TOO_MANY, SlipKind.SUMMAND_TOO_MANY})


@dataclass(frozen=True)
class Slip:
    """A slip: its kind, and what it is about."""

    kind: SlipKind
    about: tuple[str, ...] = ()

    @property
    def of_number(self) -> bool:
        """Whether the slip is about a number: the factor 2, the summand 1."""
        return bool(self.about) and self.about[0][:1].isdigit()

    def __str__(self) -> str:
        """Return the sentence that names the slip."""
        return self.kind.value.format(*self.about)
