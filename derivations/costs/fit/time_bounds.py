r"""Lower bounds on time: the bytes that must move and the operations that must run.

Definition   a device that moves B bytes a second and computes F operations a second needs at least
             max(bytes / B, operations / F); on D devices, 1/D of that where everything is divided evenly
Result       decoding: every weight that a token uses is read once for a step of all texts, and every key and value that
             is kept; prefill: the products of all visible pairs run, and the weights are read once
Assumes      a bound and no prediction: no time for launching, synchronising or sending, all at the device's peak. What
             caches and registers hold need not be read again. Products by the usual algorithm, without sparsity; one
             token of each text in a step, so no speculation; in a mixture of experts all texts may choose the same
             experts; rows of tables that are looked up are not counted; nothing but products is counted
Units        seconds
Source       Williams, Waterman and Patterson (2009); Pope et al. (2022), section 2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sympy import Expr, Integer, Max, Rational, expand

from derivations.architectures.composition import build
from derivations.architectures.description import Head
from derivations.costs.fit.hardware import Device, rate
from derivations.costs.fit.inference import Serving
from derivations.costs.fit.mesh import experts_of
from derivations.costs.key_value_caches import has_latent, with_absorbed_maps
from derivations.costs.stored_bytes import stored_bytes
from derivations.costs.weight_groups import Group, weight_groups
from derivations.language.counting.convention import Convention
from derivations.language.counting.costs import count_decode_flops, count_flops
from derivations.symbols import batch, n

__all__ = ["TimeBound", "decoding_bound", "expected_experts", "prefill_bound"]

VISIBLE = Convention(causal="visible")
TABLES = ("E", "P", "T")  # whose rows are looked up


@dataclass(frozen=True)
class TimeBound:
    """A lower bound on the time of a step: bytes to move, operations to run, and the tokens that the step makes.

    Units        bytes and FLOPs of all devices together; seconds
    """

    what: str
    bytes: Expr
    flops: Expr
    tokens: Expr
    serving: Serving
    device: Device
    rate: Rational | None

    @property
    def moving(self) -> Expr | None:
        """The least time in seconds for moving the bytes, or None if the device states no bandwidth."""
        if self.device.bandwidth is None:
            return None
        kept = self.device.on_chip * self.devices
        return Max(Integer(0), self.bytes - kept, evaluate=False) / (self.device.bandwidth * self.devices)

    @property
    def computing(self) -> Expr | None:
        """The least time in seconds for computing, or None if the device states no rate for the type."""
        return None if self.rate is None else self.flops / (self.rate * self.devices)

    @property
    def devices(self) -> Integer:
        """The number of devices."""
        return Integer(self.serving.mesh.devices)

    @property
    def seconds(self) -> Rational | None:
        """The bound as an exact number, or None if nothing is known of the device."""
        known = [self.at(each) for each in (self.moving, self.computing) if each is not None]
        return max(known) if known else None

    @property
    def tokens_per_second(self) -> Rational | None:
        """The upper bound on tokens a second of all texts together, or None without a bound on time."""
        seconds = self.seconds
        return None if not seconds else self.at(self.tokens) / seconds

    @property
    def limited_by(self) -> str:
        """Whether moving or computing bounds the step."""
        moving, computing = (None if each is None else self.at(each) for each in (self.moving, self.computing))
        if computing is None or (moving is not None and moving >= computing):
            return "moving bytes"
        return "computing"

    def at(self, expression: Expr) -> Rational:
        """Return the value of an expression."""
        return Rational(expression.xreplace(self.serving.values))


def decoding_bound(serving: Serving, device: Device, computed: str) -> TimeBound:
    """Return the bound on one decoding step of `batch` texts after n positions: one token for each text.

    `computed` is the type of the products.

    Raises       ValueError for a model that generates nothing
    """
    if not serving.generates:
        raise ValueError(f"{serving.model.name} generates nothing; there is no step of decoding to bound")
    architecture = serving.together.architecture
    if has_latent(serving.model) and serving.latent == "absorbed":
        architecture = with_absorbed_maps(architecture)
    flops = count_decode_flops(build(architecture), n, batch, VISIBLE).matmul
    moved = expand(weights_read(serving) + cache_bytes(serving))
    return TimeBound("decoding", moved, flops, batch, serving, device, _rate(serving, device, computed))


def prefill_bound(serving: Serving, device: Device, computed: str) -> TimeBound:
    """Return the bound on reading `batch` texts of n positions, up to the logits of their last position."""
    whole = serving.together.architecture
    flops = count_flops(build(whole), batch, VISIBLE).matmul
    if serving.generates:
        layers = count_flops(build(replace(whole, head=Head("none"))), batch, VISIBLE).matmul
        flops = layers + (flops - layers).xreplace({n: Integer(1)})
    moved = expand(weights_read(serving) + cache_bytes(serving))  # the cache is written
    tokens = batch * (n if n in serving.values else Integer(1))
    return TimeBound("prefill", moved, flops, tokens, serving, device, _rate(serving, device, computed))


def weights_read(serving: Serving) -> Expr:
    """Return the bytes of the weights that every step reads: no looked-up tables, and only the chosen experts."""
    chosen = {network.experts: network.chosen for network in experts_of(serving.together)}
    return stored_bytes(serving.model, tuple(_read(serving)), chosen)


def expected_experts(serving: Serving) -> Expr:
    """Return the bytes of weights that a step of decoding reads if the router spreads its choices evenly.

    Definition   of e experts, k chosen for each of `batch` texts, independently: e (1 - (1 - k/e)^batch) in expectation
    """
    spread = {
        network.experts: network.experts * (1 - (1 - network.chosen / network.experts) ** batch)
        for network in experts_of(serving.together)
    }
    return stored_bytes(serving.model, tuple(_read(serving)), spread)


def cache_bytes(serving: Serving) -> Expr:
    """Return the bytes of the cache of all devices together, without pages."""
    alone = replace(serving, mesh=type(serving.mesh)(), engine=replace(serving.engine, page=1))
    return sum((part.bytes for part in alone.budget.parts if part.name == "cache"), Integer(0))


def _read(serving: Serving) -> Iterator[Group]:
    """Yield the groups of weights without the tables that are only looked up.

    A tied token table stays, because the head multiplies by it.
    """
    head = serving.together.architecture.head
    shapes = build(serving.together.architecture).shapes
    tables = [name for name in TABLES if not (name == "E" and head.tied and "logits" in shapes)]
    for group in weight_groups(serving.model, serving.together):
        yield replace(group, weights={name: s for name, s in group.weights.items() if name not in tables})


def _rate(serving: Serving, device: Device, computed: str) -> Rational | None:
    """Return the largest rate of the types in use, so that the bound holds for every product."""
    known = [rate(device, each) for each in (computed, serving.cache_type)]
    return max((each for each in known if each is not None), default=None)
