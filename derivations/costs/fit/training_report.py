"""The report of `derivations fit --train`: the verdict, the bytes by part, what is sent, the bound on a step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import Rational

from derivations.costs.count_report import Section
from derivations.costs.fit.budget import Budget
from derivations.costs.fit.hardware import Device, rate
from derivations.costs.fit.inference import beyond
from derivations.costs.fit.optimisers import optimiser_named
from derivations.costs.fit.serving_report import bytes_section, device_json, mesh_json, verdict
from derivations.costs.fit.training import Training
from derivations.costs.fit.units import shown_bytes, shown_count, shown_seconds
from derivations.costs.stored_bytes import base_dtype

__all__ = ["TrainingReport"]


@dataclass(frozen=True)
class TrainingReport:
    """A plan of a training step on a device, with its answers; `tokens` is a budget of tokens to train on."""

    training: Training
    device: Device
    tokens: int | None = None

    @property
    def room(self) -> Rational:
        """The bytes of a device."""
        return self.device.memory

    @cached_property
    def longest(self) -> int | None:
        """The length of the longest texts that fit."""
        return self.training.longest(self.device)

    @cached_property
    def most_texts(self) -> int | None:
        """The largest micro-batch that fits."""
        return self.training.most_texts(self.device)

    @cached_property
    def flops(self) -> int:
        """The FLOPs of products of one step on all ranks."""
        return self.training.budget.number(self.training.flops)

    @property
    def seconds(self) -> Rational | None:
        """The least time of a step: its operations at the peak of all devices."""
        peak = rate(self.device, base_dtype(self.training.model))
        return None if peak is None else Rational(self.flops) / (peak * self.training.mesh.devices)

    @property
    def tokens_per_step(self) -> int:
        """The positions of one step."""
        return self.training.budget.number(self.training.tokens)

    @property
    def budget(self) -> Budget:
        """The budget of the most loaded device."""
        return self.training.budget

    # --- as text ---

    @property
    def verdict(self) -> str:
        """Whether it fits, in one sentence."""
        training = self.training
        texts = "one text" if training.batch == 1 else f"{training.batch} texts"
        kind = "training" if training.rank is None else f"adapters of rank {training.rank}"
        where = f"{kind} with {texts} of {training.seq:,} positions on {self.device.title}"
        return verdict(training.model.name, training.budget.bytes, self.room, training.mesh, where)

    def sections(self, *, symbolic: bool = False) -> Iterator[Section]:
        """Yield the tables; when `symbolic`, with closed forms."""
        training = self.training
        yield bytes_section("bytes on the most loaded rank", training.budget, symbolic)
        yield Section("what fits", ("question", "answer"), tuple(self._answers()))
        if training.sent:
            rows = []
            for kind, sent in training.sent.items():
                number = training.budget.number(sent)
                form = (str(sent),) if symbolic else ()
                rows.append((kind, *form, f"{number:,}", shown_bytes(number)))
            form = ("closed form",) if symbolic else ()
            yield Section("bytes that a rank sends in a step", ("ranks", *form, "bytes", "about"), tuple(rows))
        if symbolic:
            yield Section("operations", ("figure", "closed form"), (("FLOPs of products", str(training.flops)),))

    def _answers(self) -> Iterator[tuple[str, str]]:
        training = self.training
        yield from beyond(training.model, training.seq)
        yield "longest texts", _limit(self.longest, "positions")
        yield f"most texts of {training.seq:,} positions in a micro-batch", _limit(self.most_texts, "texts")
        yield "tokens of a step", f"{self.tokens_per_step:,}"
        yield "FLOPs of products in a step", shown_count(self.flops)
        if self.seconds is not None:
            yield "a step takes at least", shown_seconds(self.seconds)
            if self.tokens is not None:
                steps = Rational(self.tokens, self.tokens_per_step)
                hours = float(steps * self.seconds / 3600)
                devices = training.mesh.devices
                yield (
                    f"{self.tokens:,} tokens take at least",
                    f"{hours:,.1f} hours, {hours * devices:,.1f} device hours, {shown_count(steps * self.flops)}FLOPs",
                )

    def notes(self) -> Iterator[str]:
        """Yield what was assumed."""
        training, device = self.training, self.device
        yield f"{device.title}: {device.source}" + (f", {device.date}" if device.date else "")
        yield f"{training.optimiser}: {optimiser_named(training.optimiser).source}"
        yield "2 bytes for a number of activations; statistics of norms and buffers of libraries are left out"
        if training.mesh.tensor > 1:
            yield "columns and rows of matrices are divided as `feed_forward.tensor_parallel` proves"
        if training.mesh.pipeline > 1:
            yield "1F1B" + (", interleaved" if training.mesh.chunks > 1 else "") + "; the most loaded stage is shown"
        yield "a bound and no prediction: products of visible pairs at the peak of every device, nothing else"
        yield from training.model.assumptions
        if training.model.architecture.tower is not None:
            yield "the language model alone is trained, by texts: what reads pictures is left out"

    # --- as data ---

    def json(self, *, symbolic: bool = False) -> dict[str, Any]:
        """Return the plan as `derivations fit --train --json` prints it."""
        training, budget = self.training, self.training.budget
        result: dict[str, Any] = {
            "model": training.model.name,
            "mode": "training",
            "device": device_json(self.device),
            "mesh": mesh_json(training.mesh),
            "batch": training.batch,
            "seq": training.seq,
            "micro_batches": training.micro_batches,
            "optimiser": training.optimiser,
            "recomputed": training.recomputed,
            "fits": bool(budget.bytes <= self.room),
            "bytes": {**budget.numbers(), "total": budget.bytes, "room": int(self.room)},
            "spare_bytes": int(self.room) - budget.bytes,
            "longest_context": self.longest,
            "most_texts": self.most_texts,
            "tokens_per_step": self.tokens_per_step,
            "flops_per_step": self.flops,
            "seconds_at_least": None if self.seconds is None else float(self.seconds),
            "sent_bytes": {kind: budget.number(sent) for kind, sent in training.sent.items()},
            "assumptions": list(self.notes()),
        }
        if symbolic:
            result["symbolic"] = {
                "sizes": {str(symbol): int(value) for symbol, value in sorted(budget.values.items(), key=str)},
                "bytes": {part.name: str(part.bytes) for part in budget.parts},
                "sent": {kind: str(sent) for kind, sent in training.sent.items()},
                "flops": str(training.flops),
            }
        return result


def _limit(number: int | None, what: str) -> str:
    if number is None:
        return "no limit"
    return f"{number:,} {what}" if number else "none fits"
