"""What the judge says of each result of the catalogue, decided once in a run of the tests and shared by its workers.

The folder belongs to one run: the process that starts the workers makes it empty and removes it at the end, so no test
reads what an earlier run decided. Only the objects that the package itself enters in the catalogue are shared. A result
that a test has changed, or has put in the place of another, is another object, and the judge decides it there and then.
"""

from __future__ import annotations

import fcntl
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path

from derivations.language.judge.proof import StepEvidence
from derivations.language.results.derivation import Claim, Derivation

__all__ = ["shared"]

Decide = Callable[[Claim, Derivation], tuple[StepEvidence, ...]]


def shared(decide: Decide, results: Mapping[str, Callable[[], Derivation]], folder: Path) -> Decide:
    """Return `decide`, which for a claim of one of the results first looks whether another worker has decided it."""
    known = dict(results)  # a test may change the catalogue, but not what is shared

    def decided(claim: Claim, derivation: Derivation) -> tuple[StepEvidence, ...]:
        build = known.get(derivation.id)
        if build is None or build() is not derivation:
            return decide(claim, derivation)
        number = next(n for n, each in enumerate(derivation.claims) if each is claim)
        with (folder / f"{derivation.id}.{number}").open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # who comes second waits for who came first; closing the file unlocks it
            file.seek(0)
            if kept := file.read():
                return pickle.loads(kept)
            found = decide(claim, derivation)
            file.write(pickle.dumps(found))
            return found

    return decided
