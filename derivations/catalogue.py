"""The catalogue: every layer and every result, by name.

`@catalogued` above a function enters its layer, `@result` a result, in the module of their concept; all modules of the
rooms here are imported when the catalogue is read. A new module has to be named nowhere.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from sympy import Symbol

from derivations.former_names import current
from derivations.language.arrays.expression import Variable
from derivations.language.cross_check import cross_check
from derivations.language.judge.proof import judge
from derivations.language.layers.catalogued import LAYERS as ENTERED
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import RESULTS, Derivation, FalseStepError, registered, topic_of
from derivations.processes import in_order, rarely_collecting
from derivations.topics import TOPICS, aliases_of, nearest_are

__all__ = [
    "LAYERS",
    "Verdict",
    "find",
    "get",
    "known",
    "layer",
    "layers",
    "letters_of",
    "names",
    "results",
    "verdict",
    "verify",
]

ROOMS = (  # the packages of concepts, each after those that it builds on
    "linear", "activations", "softmax", "positions", "normalisation", "attention", "recurrences", "feed_forward",
    "transformer", "gradients", "architectures", "costs",
)  # fmt: skip

READING_ORDER: Mapping[str, str] = {  # the modules of a topic, where their order says something
    "softmax": "softmax jacobian limits log_sum_exp cross_entropy",
    "attention": "attention symmetries masks causal band_masks weights circuits tiles rewrites kernels costs",
    "multi_head": "multi_head multi_head_costs grouped_query layer_gradients latent lightning_indexer disentangled",
    "activation": "sigmoid gelu activation",
    "feed_forward": "feed_forward costs derivatives symmetries gated",
    "positional_encoding": "positional_encoding rotary position_bias",
    "gradient": "gradient relative_position_bias patches",
    "recurrence": "linear_recurrence delta_rule gated_delta_net lightning_attention",
    "parameters": "parameters model_costs cost_questions",
    "flops": "flops model_costs cost_questions",
}  # other modules follow in the order of the rooms, as other topics follow those of `TOPICS`


@cache
def _modules(room: str) -> tuple[str, ...]:
    """Import all modules of a room, a folder such as `attention`, and return their names."""
    package = import_module(f"derivations.{room}")
    found = tuple(module.name for module in walk_packages(package.__path__, f"{package.__name__}."))
    for module in found:
        import_module(module)
    return found


@cache
def _place(topic: str, module: str) -> tuple[int, int, int]:
    """Return the sort key that orders the results of a module under a topic in the catalogue."""
    topics, modules = list(TOPICS), [name for room in ROOMS for name in _modules(room)]
    first, stem = READING_ORDER.get(topic, "").split(), module.rpartition(".")[2]
    return _index(topics, topic), _index(first, stem), _index(modules, module)


def _index(names: list[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


class _Layers(Mapping[str, Callable[[], Layer]]):
    """The functions that return the layers, by name; their modules are imported when one is asked for."""

    def __getitem__(self, name: str) -> Callable[[], Layer]:
        for room in ROOMS:  # one layer needs the rooms up to its own only
            if name in ENTERED:
                break
            _modules(room)
        return ENTERED[name]

    def __iter__(self) -> Iterator[str]:
        _import_all()
        return iter(sorted(ENTERED, key=lambda name: _place(*_home(ENTERED[name].func))))

    def __len__(self) -> int:
        _import_all()
        return len(ENTERED)


def _home(build: Any) -> tuple[str, str]:
    return topic_of(build.__globals__), build.__module__


def _import_all() -> None:
    for room in ROOMS:
        _modules(room)


LAYERS: Mapping[str, Callable[[], Layer]] = _Layers()


def names() -> list[str]:
    """Return the ids of all results, by concept and then by module; results registered by users follow."""
    _import_all()
    # The sort is stable: within a module results keep the order of their code.
    return sorted(RESULTS, key=lambda name: _place(name.partition(".")[0], RESULTS[name].__module__))


def get(name: str) -> Derivation:
    """Return the result called `name` after proving it.

    Raises `LookupError` with the nearest ids for an unknown name, `FalseStepError` if a step is refuted or not decided.
    """
    return registered(known(name))


def known(name: str) -> str:
    """Return the current name of a result, without building the result.

    Raises `LookupError` with the nearest ids for an unknown name.
    """
    return _known(name, names(), "result")


def layer(name: str) -> Layer:
    """Return the layer called `name`.

    Raises `LookupError` with the nearest names for an unknown name.
    """
    return _built(_known(name, LAYERS, "layer"))


def find(name: str) -> Derivation | Layer:
    """Return the result or the layer called `name`. A result is proved first.

    Raises `LookupError` with the nearest ids of results and layers for an unknown name.
    """
    name = _known(name, [*LAYERS, *names()], "result or layer")
    return registered(name) if name in RESULTS else _built(name)


@cache
def _built(name: str) -> Layer:
    return LAYERS[name]()  # layers are immutable, so one object can be shared


def _known(name: str, known: Collection[str], kind: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of a {kind} is a text, such as {next(iter(known))!r}, not {name!r}")
    name = current(name)
    if name not in known:
        is_topic = any(each.startswith(f"{name}.") for each in known)
        topic = f"; `derivations list {name}` shows the results of that topic" if is_topic else ""
        near = nearest_are(_nearest(name, [*known]))
        raise LookupError(f"there is no {kind} called {name!r}; {near}{topic}")
    return name


def _nearest(name: str, known: list[str]) -> list[str]:
    """Return the three nearest names: matches by alias first, then by spelling, with and without the topic."""
    word = name.casefold()
    meant = [each for each in known if word in re.split(r"\W|_", each) or word in " ".join(aliases_of(each)).split()]
    without_topic = {each.rpartition(".")[2]: each for each in reversed(known)}
    alike = get_close_matches(name, known, n=3, cutoff=0.6)
    alike += [without_topic[each] for each in get_close_matches(name, without_topic, n=3, cutoff=0.6)]
    near = [*meant, *alike] or get_close_matches(name, known, n=3, cutoff=0.4) or known
    return list(dict.fromkeys(near))[:3]


def layers() -> dict[str, Layer]:
    """Return all layers of the package by name."""
    return {name: _built(name) for name in LAYERS}


def results() -> dict[str, Derivation]:
    """Return all results by id, ordered by concept, without proving them."""
    return {name: RESULTS[name]() for name in names()}


@dataclass(frozen=True)
class Verdict:
    """The verdict on one result: its level of evidence, the failed steps, and the outcome of the cross-check.

    `letters` are the names of the symbols and arrays in its claims.
    """

    id: str
    title: str
    level: str
    failures: tuple[str, ...] = ()
    cross_check: str = ""  # "agrees", "disagrees" or "not applicable"; "" if it was not requested
    reason: str = ""
    letters: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the result is refuted or unknown, or the cross-check disagrees."""
        return self.level in ("refuted", "unknown") or self.cross_check == "disagrees"


def verify(ids: Iterable[str], jobs: int | None = 1, cross_checked: bool = True) -> Iterator[Verdict]:
    """Prove results again in `jobs` processes and cross-check them numerically if asked; yield verdicts in order.

    With `jobs=None` the surrounding `joblib.parallel_config`, such as a Dask or Ray backend, decides how many workers
    run and where.
    """
    yield from in_order(partial(_verify, cross_checked=cross_checked), ids, jobs)


def _verify(name: str, cross_checked: bool) -> Verdict:
    return verdict(name, partial(get, name), cross_checked)


@rarely_collecting()
def verdict(name: str, built: Callable[[], Derivation], cross_checked: bool = True) -> Verdict:
    """Return the verdict on the result called `name`. `built` returns it, or raises an error with its evidence."""
    try:
        found = built()
    except FalseStepError as error:  # no derivation is returned, so the id serves as the title
        return Verdict(name, name, error.evidence.level, error.evidence.failures)
    evidence = judge(found)
    checked = cross_check(found) if cross_checked else None
    outcome, reason = (checked.outcome, checked.reason) if checked else ("", "")
    return Verdict(name, found.title, evidence.level, evidence.failures, outcome, reason, letters_of(found))


def letters_of(found: Derivation) -> tuple[str, ...]:
    """Return the names of the symbols and arrays in the two sides of the claims."""
    sides = [side for claim in found.claims for side in (claim.lhs, claim.rhs)]
    return tuple(sorted({each.name for side in sides for each in side.atoms(Symbol, Variable)}))
