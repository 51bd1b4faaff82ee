"""What a call of a layer costs beside its arithmetic, where arrays are tiny: the overhead of our code.

Definition   overhead = the time of ours less that of the NumPy calls it makes, made one after another on the same
             arrays and nothing between them. Of an encoder layer, one position, float32, in a stack: (time of 8 layers
             less that of 2) / 6; alone: one layer, with the checks of its input. Hot: the median of calls in a loop;
             at best: the fastest of them; cold: 64 MB are touched before every call, so that no cache holds code or
             arrays. Beside it NumPy tuned by hand
Assumes      the NumPy calls are those of ufuncs and of their methods; making and dividing memory counts as overhead
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from derivations.transformer.encoder import encoder, encoder_layer
from numeric.optimize.prepare import Prepared, prepare
from numeric.runtime import few_rows, tiles
from tests.benchmarks.encoder_peers import EncoderShape, Forward, random_input, random_weights, tuned
from tests.benchmarks.race import rounded
from tests.benchmarks.timing import PAUSE

__all__ = ["BY_HAND", "OURS", "THE_CALLS", "measured", "numpy_calls"]

OURS, THE_CALLS, BY_HAND = "ours", "the same NumPy calls", "NumPy tuned by hand"
FEW, MANY = 2, 8
HOT, COLD = 51, 5  # calls to a turn, whose median counts
TINY = EncoderShape(1, 1, 8, 2, 16)
TOUCHED = 64 << 20  # bytes, more than a core has as caches

Run = Callable[[Any], Any]


def measured(rounds: int) -> list[dict[str, Any]]:
    """Return the seconds of one layer by contestant and round, in a stack and alone, hot and cold."""
    X = random_input(TINY)
    few, many, alone = _stack(FEW, X), _stack(MANY, X), _alone(X)
    memory = np.zeros(TOUCHED // 8)
    runs = [*few.values(), *many.values(), *alone.values()]
    records = []
    for caches, seconds_of in (("hot", _hot), ("at best", _best), ("cold", partial(_cold, memory))):
        seconds = iter(_in_turn([partial(seconds_of, run, X) for run in runs], rounds))
        less, more, one = ({name: next(seconds) for name in alone} for _ in range(3))
        layer = {name: _of_one_layer(less[name], more[name]) for name in alone}
        for place, found in (("in a stack", layer), ("alone", one)):
            kept = {name: list(map(rounded, column)) for name, column in found.items()}
            records.append({"place": place, "caches": caches, "seconds": kept})
    return records


def _of_one_layer(few: Sequence[float], many: Sequence[float]) -> list[float]:
    return [(b - a) / (MANY - FEW) for a, b in zip(few, many, strict=True)]


def numpy_calls(ours: Prepared, X: Any) -> list[Callable[[], Any]]:
    """Return the NumPy calls that a layer makes, with the arrays it makes them on, in their order."""
    calls: list[Callable[[], Any]] = []
    few = vars(few_rows)
    with _recorded(ours.code.function.__globals__, calls), _recorded(vars(tiles), calls), _recorded(few, calls):
        ours(X, check=False)
    return calls


class _Recorder:
    """A ufunc, or the module of all of them, that notes how it is called."""

    def __init__(self, of: Any, calls: list[Callable[[], Any]]) -> None:
        self._of, self._calls = of, calls

    def __getattr__(self, name: str) -> Any:
        """Return a part, which notes its calls if it computes."""
        found = getattr(self._of, name)
        computes = isinstance(found, np.ufunc) or (isinstance(self._of, np.ufunc) and callable(found))
        return _Recorder(found, self._calls) if computes else found

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Note the call, and make it."""
        self._calls.append(partial(self._of, *arguments, **named))
        return self._of(*arguments, **named)


@contextmanager
def _recorded(names: dict[str, Any], calls: list[Callable[[], Any]]) -> Iterator[None]:
    """Let a module's NumPy note its calls."""
    before, names["np"] = names["np"], _Recorder(np, calls)
    try:
        yield
    finally:
        names["np"] = before


def _stack(depth: int, X: Any) -> dict[str, Run]:
    """Return layers one after another, each with weights of its own, by contestant."""
    weights = [random_weights(TINY, seed) for seed in range(depth)]
    ours = prepare(encoder(biases=True), {"layers": weights})
    return _contestants(ours, [tuned(each) for each in weights], X)


def _alone(X: Any) -> dict[str, Run]:
    weights = random_weights(TINY)
    return _contestants(prepare(encoder_layer(biases=True), weights), [tuned(weights)], X)


def _contestants(ours: Prepared, by_hand: Sequence[Forward], X: Any) -> dict[str, Run]:
    calls = numpy_calls(ours, X)

    def the_calls(X: Any) -> None:
        for call in calls:
            call()

    def chain(X: Any) -> Any:
        for layer in by_hand:
            X = layer(X)
        return X

    return {OURS: ours, THE_CALLS: the_calls, BY_HAND: chain}


def _hot(run: Run, X: Any) -> float:
    """Return the seconds of one call, of many in a loop."""
    return statistics.median([_seconds(run, X) for _ in range(HOT)])


def _best(run: Run, X: Any) -> float:
    """Return the seconds of the fastest call of many in a loop: what no other work of the machine slows down."""
    return min(_seconds(run, X) for _ in range(HOT))


def _cold(memory: Any, run: Run, X: Any) -> float:
    """Return the seconds of one call, before which other memory was touched."""
    found = []
    for _ in range(COLD):
        np.add(memory, 1, out=memory)
        found.append(_seconds(run, X))
    return statistics.median(found)


def _seconds(run: Run, X: Any) -> float:
    start = time.perf_counter()
    run(X)
    return time.perf_counter() - start


def _in_turn(turns: Sequence[Callable[[], float]], rounds: int) -> list[list[float]]:
    """Return what every turn says, round by round; the order moves on by one from round to round."""
    found: list[list[float]] = [[] for _ in turns]
    for number in range(rounds):
        for place in range(len(turns)):
            time.sleep(PAUSE)
            turn = (number + place) % len(turns)
            found[turn].append(turns[turn]())
    return found
