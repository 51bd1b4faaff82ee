"""Two tasks with a known answer: copying a random string of bytes, and reversing it.

Definition   copy: the answer to t_1 ... t_n is t_1 ... t_n; reverse: t_n ... t_1; an end token follows either
Shapes       source (batch, n), target (batch, n + 1): the start token and the answer, labels (batch, n + 1): the answer
             and the end token
Assumes      tokens 0 to alphabet - 1 are bytes; all strings of a batch have one length, so that there is no padding

Training never uses a held-out string: it draws another one instead.

>>> task = Task("reverse", alphabet=5, shortest=2, longest=3)
>>> [each.tolist() for each in task.example([[1, 2, 3]])]
[[[1, 2, 3]], [[5, 3, 2, 1]], [[3, 2, 1, 6]]]
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from numeric.runtime.checks import InputError

__all__ = ["TASKS", "Task"]

TASKS = ("copy", "reverse")


@dataclass(frozen=True)
class Task:
    """Copying or reversing strings over an alphabet, of any length from `shortest` to `longest`.

    Raises       InputError for an unknown name or sizes that leave no strings
    """

    name: str = "copy"
    alphabet: int = 256
    shortest: int = 8
    longest: int = 12

    def __post_init__(self) -> None:
        if self.name not in TASKS:
            raise InputError(f"the task {self.name!r} is unknown; choose {' or '.join(TASKS)}")
        if self.alphabet < 1:
            raise InputError(f"the task {self.name}: the alphabet must have at least 1 token, not {self.alphabet}")
        if not 1 <= self.shortest <= self.longest:
            raise InputError(
                f"the task {self.name}: there are no strings of {self.shortest} to {self.longest} tokens; "
                "the shortest must be >= 1 and no longer than the longest"
            )

    @property
    def start(self) -> int:
        """The token before every answer."""
        return self.alphabet

    @property
    def end(self) -> int:
        """The token after every answer."""
        return self.alphabet + 1

    @property
    def vocab(self) -> int:
        """The number of tokens, including those for start and end."""
        return self.alphabet + 2

    def example(self, strings: Any) -> tuple[Any, Any, Any]:
        """Return source, target and labels of strings of one length."""
        source = np.asarray(strings)
        answer = source if self.name == "copy" else source[:, ::-1]
        edge = np.ones((len(source), 1), source.dtype)
        return source, np.hstack([self.start * edge, answer]), np.hstack([answer, self.end * edge])

    def held_out(self, count: int, seed: int) -> list[Any]:
        """Return at least `count` strings that training never uses, equally many of each length, in a batch each.

        Raises       InputError where too few strings would remain for training
        """
        lengths = range(self.shortest, self.longest + 1)
        each = -(-count // len(lengths))
        if 2 * each > (strings := self.alphabet**self.shortest):
            raise InputError(
                f"the task {self.name}: of {strings} strings of {self.shortest} tokens {each} are to be held out, more "
                "than half; hold out fewer, or take longer strings or a larger alphabet"
            )
        rng = np.random.default_rng([seed, 0])
        return [rng.integers(0, self.alphabet, (each, length)) for length in lengths]

    def batches(self, size: int, seed: int, held_out: Sequence[Any] = ()) -> Iterator[tuple[Any, Any, Any]]:
        """Yield source, target and labels of random strings, endlessly, without the held-out strings."""
        excluded = {string.tobytes() for strings in held_out for string in strings}
        rng = np.random.default_rng([seed, 1])
        while True:
            strings = rng.integers(0, self.alphabet, (size, rng.integers(self.shortest, self.longest + 1)))
            for row, string in enumerate(strings):
                while strings[row].tobytes() in excluded:
                    strings[row] = rng.integers(0, self.alphabet, len(string))
            yield self.example(strings)
