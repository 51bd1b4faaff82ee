"""The report of `derivations fit` on serving: the verdict, the bytes by part, the limits, the bounds on time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import Expr, Rational, cancel, floor

from derivations.costs.count_report import Section
from derivations.costs.fit.budget import Budget
from derivations.costs.fit.hardware import Device
from derivations.costs.fit.inference import Serving, beyond, fewest_devices
from derivations.costs.fit.mesh import Mesh, experts_of
from derivations.costs.fit.time_bounds import TimeBound, decoding_bound, expected_experts, prefill_bound
from derivations.costs.fit.units import shown_bytes, shown_count, shown_seconds
from derivations.symbols import batch, n, scalar

__all__ = ["ServingReport", "bytes_section", "device_json", "mesh_json", "verdict"]

M = scalar("M", positive=True)  # the memory that the engine uses


def verdict(name: str, needed: int, room: Rational, mesh: Mesh, where: str) -> str:
    """Return in one sentence whether something fits, and by how much."""
    each = "" if mesh.devices == 1 else f" on each of {mesh.devices} devices ({mesh})"
    spare = room - needed
    fits = f"fits, {shown_bytes(spare)} to spare" if spare >= 0 else f"does not fit, {shown_bytes(-spare)} too much"
    return f"{name}{each}, {where}: {fits}: {shown_bytes(needed)} of {shown_bytes(room)}"


def bytes_section(title: str, budget: Budget, symbolic: bool) -> Section:
    """Return the parts of a budget as a table, with closed forms and reasons if requested."""
    numbers, total = budget.numbers(), budget.bytes
    rows = []
    for part in budget.parts:
        value = numbers[part.name]
        forms = (str(part.bytes),) if symbolic else ()
        share = f"{float(100 * Rational(value, total or 1)):.1f}%"
        rows.append((part.name, *forms, f"{value:,}", shown_bytes(value), share, part.because))
    rows.append(("total", *(("",) if symbolic else ()), f"{total:,}", shown_bytes(total), "100.0%", ""))
    form = ("closed form",) if symbolic else ()
    return Section(title, ("part", *form, "bytes", "about", "share", "because"), tuple(rows))


def device_json(device: Device) -> dict[str, Any]:
    """Return the numbers of a device with their source."""
    return {
        "name": device.name,
        "title": device.title,
        "memory_bytes": int(device.memory),
        "bandwidth_bytes_per_second": None if device.bandwidth is None else int(device.bandwidth),
        "flops_per_second": {name: int(value) for name, value in device.flops.items()},
        "source": device.source,
        "date": device.date,
    }


@dataclass(frozen=True)
class ServingReport:
    """A plan of serving on a device, with its answers; `computed` is the type of the products."""

    serving: Serving
    device: Device
    computed: str

    @cached_property
    def room(self) -> Rational:
        """The bytes that the engine uses."""
        return self.serving.room(self.device)

    @cached_property
    def longest(self) -> int | None:
        """The length of the longest texts that fit, `batch` at once."""
        return self.serving.longest(self.device)

    @cached_property
    def most_texts(self) -> int | None:
        """The largest batch that fits."""
        return self.serving.most_texts(self.device)

    @cached_property
    def fewest(self) -> Mesh | None:
        """The smallest mesh on which the plan fits, or None if none does."""
        return fewest_devices(self.serving, self.device)

    @cached_property
    def bounds(self) -> tuple[TimeBound, ...]:
        """The bounds on time, where the device states what they need."""
        if self.device.bandwidth is None and not self.device.flops:
            return ()
        found = [prefill_bound(self.serving, self.device, self.computed)]
        if self.serving.generates:
            found.append(decoding_bound(self.serving, self.device, self.computed))
        return tuple(bound for bound in found if bound.seconds is not None)

    @property
    def budget(self) -> Budget:
        """The budget of the most loaded device."""
        return self.serving.budget

    # --- as text ---

    @property
    def verdict(self) -> str:
        """Whether it fits, in one sentence."""
        serving = self.serving
        texts = "one text" if serving.batch == 1 else f"{serving.batch} texts"
        where = f"{texts} of {serving.seq:,} positions on {self.device.title}"
        return verdict(serving.model.name, serving.budget.bytes, self.room, serving.mesh, where)

    def sections(self, *, symbolic: bool = False) -> Iterator[Section]:
        """Yield the tables; when `symbolic`, with closed forms."""
        yield bytes_section("bytes on the most loaded device", self.serving.budget, symbolic)
        yield Section("what fits", ("question", "answer"), tuple(self._answers()))
        if symbolic:
            yield Section("closed forms", ("figure", "closed form"), tuple(self._closed_forms()))
        if self.bounds:
            rows = tuple(self._bound(bound) for bound in self.bounds)
            yield Section("bounds on time, no predictions", ("step", "at least", "tokens/s at most", "bound by"), rows)

    def _answers(self) -> Iterator[tuple[str, str]]:
        serving = self.serving
        texts = "one text" if serving.batch == 1 else f"{serving.batch} texts at once"
        yield from beyond(serving.model, serving.seq)
        if serving.generates or serving.limit is None:
            yield f"longest context, {texts}", _limit(self.longest, "positions", serving.limit)
        yield f"most texts of {serving.seq:,} positions at once", _limit(self.most_texts, "texts")
        fewest = self.fewest
        words = "none up to 4,096 in one plan" if fewest is None else f"{fewest.devices:,} ({fewest})"
        yield "fewest devices", words if fewest is None or fewest.devices > 1 else "1"
        cache = [part for part in serving.budget.parts if part.name == "cache"]
        if cache:
            held = serving.budget.number(cache[0].bytes)
            share = float(100 * Rational(held, serving.budget.bytes))
            yield "the context's share of the memory in use", f"{share:.1f}%"

    def _closed_forms(self) -> Iterator[tuple[str, str]]:
        found = self.longest_closed_form()
        if found is not None:
            yield "longest context, M bytes in use", f"n <= {found}"
        for bound in self.bounds:
            yield f"bytes that {bound.what} moves", str(bound.bytes)
            yield f"FLOPs of products of {bound.what}", str(bound.flops)

    def longest_closed_form(self) -> Expr | None:
        """Return a formula for the greatest length that fits in M bytes, or None if the memory is not linear in it."""
        budget = self.serving.budget
        total = sum((part.bytes for part in budget.parts if part.name != "activations"), start=0 * n)
        activations = [part.bytes for part in budget.parts if part.name == "activations"]
        each = total.coeff(n, 1)
        rest = total.coeff(n, 0)
        if each == 0 or (total - each * n - rest).expand() != 0 or each.has(n):
            return None
        full = sum((part.xreplace({batch * n: batch * self.serving.seq}) for part in activations), start=0 * n)
        return None if full.has(n) else floor(cancel((M - rest - full) / each))

    def _bound(self, bound: TimeBound) -> tuple[str, ...]:
        seconds, tokens = bound.seconds, bound.tokens_per_second
        assert seconds is not None
        return (bound.what, shown_seconds(seconds), shown_count(tokens) if tokens else "", bound.limited_by)

    def notes(self) -> Iterator[str]:
        """Yield what was assumed."""
        serving, device, engine = self.serving, self.device, self.serving.engine
        yield f"{device.title}: {device.source}" + (f", {device.date}" if device.date else "")
        yield (
            f"engine {engine.name}: {float(engine.fraction):.0%} of the memory, pages of {engine.page}, steps of at "
            f"most {engine.chunk:,} positions ({engine.source})"
        )
        yield f"products in {self.computed}; attention makes no array of all pairs of positions"
        if self.bounds:
            yield "bounds: the peak of the device, no launching, no sending, no speculation, 1/D on D devices"
            yield "one multiply-add is 2 FLOPs; products of pairs that a mask hides are not counted"
        if experts_of_any(serving):
            spread = self.bounds[-1].at(expected_experts(serving)) if self.bounds else None
            words = (
                "" if spread is None else f"; spread evenly a step of decoding reads {shown_bytes(spread)} of weights"
            )
            yield f"bounds let all texts choose the same experts{words}"
        yield from serving.model.assumptions
        if serving.model.architecture.tower is not None:
            yield "texts alone: of what reads pictures only the weights are counted"

    # --- as data ---

    def json(self, *, symbolic: bool = False) -> dict[str, Any]:
        """Return the plan as `derivations fit --json` prints it: exact bytes, seconds as decimals."""
        serving, budget = self.serving, self.serving.budget
        result: dict[str, Any] = {
            "model": serving.model.name,
            "mode": "serving",
            "device": device_json(self.device),
            "mesh": mesh_json(serving.mesh),
            "batch": serving.batch,
            "seq": serving.seq,
            "engine": serving.engine.name,
            "fits": bool(budget.bytes <= self.room),
            "bytes": {**budget.numbers(), "total": budget.bytes, "room": int(self.room)},
            "spare_bytes": int(self.room) - budget.bytes,
            "longest_context": self.longest,
            "most_texts": self.most_texts,
            "fewest_devices": None if self.fewest is None else self.fewest.devices,
            "fewest_mesh": None if self.fewest is None else mesh_json(self.fewest),
            "bounds": {bound.what: self._bound_json(bound) for bound in self.bounds},
            "assumptions": list(self.notes()),
        }
        if symbolic:
            result["symbolic"] = {
                "sizes": {str(symbol): int(value) for symbol, value in sorted(budget.values.items(), key=str)},
                "bytes": {part.name: str(part.bytes) for part in budget.parts},
                **dict(self._closed_forms()),
            }
        return result

    def _bound_json(self, bound: TimeBound) -> dict[str, Any]:
        tokens = bound.tokens_per_second
        return {
            "bytes": int(bound.at(bound.bytes)),
            "flops": int(bound.at(bound.flops)),
            "seconds_at_least": float(bound.seconds or 0),
            "tokens_per_second_at_most": None if tokens is None else float(tokens),
            "bound_by": bound.limited_by,
        }


def experts_of_any(serving: Serving) -> bool:
    """Return whether the model has experts."""
    return any(True for _ in experts_of(serving.model))


def mesh_json(mesh: Mesh) -> dict[str, Any]:
    """Return the numbers of ranks."""
    return {
        "devices": mesh.devices,
        "tensor": mesh.tensor,
        "pipeline": mesh.pipeline,
        "data": mesh.data,
        "expert": mesh.expert,
        "sequence": mesh.sequence,
        "sharded": mesh.sharded,
        "chunks": mesh.chunks,
    }


def _limit(number: int | None, what: str, table: int | None = None) -> str:
    if number is None:
        return "no limit: the bytes stop growing"
    if number == 0:
        return "none fits"
    return f"{number:,} {what}" + (", the length of the table of positions" if number == table else "")
