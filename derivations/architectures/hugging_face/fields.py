"""The fields of a configuration: each is read with the type it must have, and an unread field is an error.

A family asks for the fields it understands; `finish` names a field that was not read. So no field that might change
the architecture is missed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from sympy import Rational, Symbol

from derivations.architectures.hugging_face.harmless import HARMLESS, HARMLESS_ENDINGS, NEUTRAL
from derivations.architectures.reading import ConfigError

__all__ = ["LARGEST_SIZE", "REQUIRED", "Fields", "positive", "shown"]

LARGEST_SIZE = 10**15


class _Required:
    """The type of `REQUIRED`, the default that marks a field as required."""


REQUIRED = _Required()


class Fields:
    """A configuration being read: `values` collects the numbers of the sizes, `assumptions` the assumptions made."""

    def __init__(self, config: Mapping[str, object], name: str, ignore: Sequence[str] = ()) -> None:
        """Read the fields of `config`; `name` begins every message, the fields in `ignore` are skipped."""
        self.config = {field: value for field, value in config.items() if field not in ignore}
        self.name = name
        self.values: dict[Symbol, int] = {}
        self.assumptions: list[str] = []
        self.part = ""  # the described part of the configured model, if that is not the whole model
        self.read: set[str] = set()
        for field in ignore:
            if field not in config:
                raise self.error(field, "is to be ignored and is not there")
            self.assumptions.append(f"the field {field} is ignored as asked")

    def error(self, field: str, what: str) -> ConfigError:
        """Return the error that states the problem of a field."""
        return ConfigError(f"{self.name}: {_plain(field)} {what}")

    def given(self, field: str, also: Sequence[str] = ()) -> str | None:
        """Return the name under which a field is given, or None if it is missing."""
        return next((each for each in (field, *also) if each in self.config), None)

    def take(self, field: str, default: object = REQUIRED, also: Sequence[str] = ()) -> object:
        """Return the value of a field, which may have one of the names in `also` instead."""
        given = [each for each in (field, *also) if each in self.config]
        self.read.update(given)
        for other in given[1:]:
            if self.config[other] != self.config[given[0]]:
                values = f"{shown(self.config[given[0]])} and {shown(self.config[other])}"
                raise self.error(f"{given[0]} and {other}", f"are the same size and have different values, {values}")
        if given:
            return self.config[given[0]]
        if default is REQUIRED:
            raise self.error(field, "is missing; the architecture is not known without it")
        return default

    def rename(self, names: Mapping[str, str]) -> None:
        """Store fields under their usual names where a file has other names for them.

        Raises       ConfigError where both are given with different values
        """
        for name, usual in names.items():
            if name in self.config:
                self.config[usual] = self.take(usual, also=(name,))

    def whole(
        self, field: str, default: object = REQUIRED, also: Sequence[str] = (), *, least: int = 1, none: bool = False
    ) -> int | None:
        """Return a whole number of at least `least`, or None where `none` is allowed and the field is null."""
        value = self.take(field, default, also)
        if value is None and none:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST_SIZE:
            name = self.given(field, also) or field
            raise self.error(name, f"is {shown(value)}; a whole number from {least} to 10^15 is needed")
        note = f"{field} is not given: {value}, the default of the family"
        if value > 1 and not self.given(field, also) and note not in self.assumptions:
            self.assumptions.append(note)
        return value

    def size(self, symbol: Symbol, field: str, default: object = REQUIRED, also: Sequence[str] = ()) -> Symbol:
        """Return the symbol of a size, with the number of the field as its value."""
        value = self.whole(field, default, also)
        assert value is not None  # null was refused
        return self.let(symbol, value)

    def let(self, symbol: Symbol, value: int) -> Symbol:
        """Set the value of a size."""
        if self.values.setdefault(symbol, value) != value:
            raise self.error(str(symbol), f"would be both {self.values[symbol]} and {value}")
        return symbol

    def flag(self, field: str, default: bool | _Required = REQUIRED) -> bool:
        """Return a field that is true or false."""
        value = self.take(field, default)
        if not isinstance(value, bool):
            raise self.error(field, f"is {shown(value)}; true or false is needed")
        return value

    def number(self, field: str, default: str | _Required = REQUIRED, also: Sequence[str] = ()) -> Rational:
        """Return a positive number, exactly as written."""
        value = self.take(field, default, also)
        return positive(self, field, value) if self.given(field, also) else Rational(default)

    def choice(self, field: str, choices: Mapping[str, object], default: str | _Required = REQUIRED) -> object:
        """Return the entry of a table for the word in a field."""
        word = self.take(field, default)
        if not isinstance(word, str) or word not in choices:
            known = ", ".join(sorted(choices))
            raise self.error(field, f"is {shown(word)}, which is not known; known are {known}")
        return choices[word]

    def only(self, field: str, *understood: object) -> None:
        """Refuse a field whose value is not one of the understood ones; the type must agree, too."""
        if field not in self.config:
            return
        value = self.take(field)
        # in Python True == 1 and 1 == 1.0, but a configuration means different things by them
        if not any(value == each and type(value) is type(each) for each in understood):
            wanted = " or ".join(map(shown, understood))
            raise self.error(field, f"is {shown(value)}, which changes the architecture; only {wanted} is understood")

    def table(self, field: str) -> Mapping[str, object] | None:
        """Return a field that is itself an object of fields, or None."""
        value = self.take(field, None)
        if value is not None and not isinstance(value, dict):
            raise self.error(field, f"is {shown(value)}; an object or null is needed")
        return value

    def words(self, field: str, known: Sequence[str]) -> list[str] | None:
        """Return a list of words that are all known, or None."""
        value = self.take(field, None)
        if value is None:
            return None
        if not isinstance(value, list):
            raise self.error(field, f"is {shown(value)}; a list is needed")
        for each in value:
            if each not in known:
                raise self.error(field, f"has {shown(each)}, which is not known; known are {', '.join(known)}")
        return value

    def numbers(self, field: str, below: int) -> list[int]:
        """Return a list of whole numbers that are at least 0 and below `below`."""
        value = self.take(field, None)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.error(field, f"is {shown(value)}; a list is needed")
        for each in value:
            if isinstance(each, bool) or not isinstance(each, int) or not 0 <= each < below:
                raise self.error(field, f"has {shown(each)}; numbers of layers from 0 to {below - 1} are needed")
        return value

    def divided(self, whole: str, size: Symbol, parts: str, count: Symbol) -> int:
        """Return the quotient of two sizes, which must be a whole number."""
        return self.quotient(whole, self.values[size], parts, self.values[count])

    def quotient(self, whole: str, number: int, parts: str, by: int) -> int:
        """Return the quotient of two numbers, which must be a whole number; the fields are for the message."""
        quotient, rest = divmod(number, by)
        if rest:
            raise self.error(whole, f"is {number}, which is not a multiple of {parts}, {by}")
        return quotient

    def finish(self) -> None:
        """Refuse a field that was not read and is not known to be harmless."""
        for field in self.config:
            if field in NEUTRAL and field not in self.read:
                self.only(field, *NEUTRAL[field])
            if field in self.read or field in HARMLESS or field.endswith(HARMLESS_ENDINGS):
                continue
            near = get_close_matches(field[:60], self.read, 1, 0.85)
            hint = f"did you mean {near[0]}?" if near else ""
            raise self.error(
                field,
                f"= {shown(self.config[field])} is not understood and may change the architecture; "
                f"{hint or 'numbers that leave it out may be wrong, so none are given'}",
            )


def positive(fields: Fields, field: str, value: object) -> Rational:
    """Return a positive number of a configuration as the exact rational value of its decimal digits."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise fields.error(field, f"is {shown(value)}; a positive number is needed")
    # by its digits: Rational(1e-5) would be the binary fraction nearest to 1e-5
    return Rational(str(value))


def shown(value: object) -> str:
    """Return a value of a configuration as JSON, shortened to 40 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _plain(field: str) -> str:
    """Return the name of a field on one line, shortened."""
    return "".join(each if each.isprintable() else "?" for each in field[:60])
