"""How the functions of the benchmark are kept: each with its layer, and made afresh for every run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

__all__ = ["Candidate", "Collection"]


@dataclass(frozen=True)
class Candidate:
    """One function; `make` returns it without state; `options` are the keywords of `assert_implements`."""

    name: str
    layer: str
    make: Callable[[], Callable[..., Any]]
    options: dict[str, Any]

    @property
    def reported(self) -> bool:
        """Whether it belongs to the half that the checks were not developed on; its name alone decides."""
        return crc32(self.name.encode()) % 2 == 1


@dataclass(frozen=True)
class Collection:
    """The functions of one module, in the order they are written."""

    members: list[Candidate] = field(default_factory=list)

    def of(self, layer: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Enter a function without state."""

        def enter(function: Callable[..., Any]) -> Callable[..., Any]:
            self.members.append(Candidate(function.__name__, layer, lambda: function, options))
            return function

        return enter

    def made(self, layer: str, **options: Any) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
        """Enter a function that keeps state between calls, by what makes one without any."""

        def enter(make: Callable[[], Any]) -> Callable[[], Any]:
            self.members.append(Candidate(make.__name__, layer, make, options))
            return make

        return enter
