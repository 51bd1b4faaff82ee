"""The families of models whose configurations are read: for each `model_type`, its reader and its heads.

A family is one function in a module of `readers`, under `@family`: it turns the fields of a configuration into parts.
Beside it stands the table of the names of its weights in checkpoints, if they are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeAlias

from derivations.architectures.checkpoints.family import Family as Names
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.shared import Parts

__all__ = ["Family", "decoder_heads", "encoder_heads", "families", "family", "family_of"]

Reader: TypeAlias = Callable[[Fields, str], Parts]


@dataclass(frozen=True)
class Family:
    """How the fields of a configuration are read, and the head of every class that `architectures` may name.

    The first class is the default. `names` are those of the weights in checkpoints, whose sizes are known then; that
    they run, too, is what `runs` says.
    """

    read: Reader
    heads: Mapping[str, str]
    names: Names | None = None
    runs: bool = False


_FAMILIES: dict[str, Family] = {}


def family(
    model_type: str, heads: Mapping[str, str], names: Names | None = None, *, runs: bool | None = None
) -> Callable[[Reader], Reader]:
    """Return a decorator that registers the reader of a `model_type`, with the heads of its classes.

    `names` is the table of its weights in checkpoints, which run unless `runs` is false; where a configuration decides
    the names, `runs` says it alone.
    """

    def entered(read: Reader) -> Reader:
        _FAMILIES[model_type] = Family(read, heads, names, names is not None if runs is None else runs)
        return read

    return entered


def families() -> Mapping[str, Family]:
    """Return all families, in the order of the modules of `readers` and of the functions in them."""
    readers = import_module("derivations.architectures.hugging_face.readers")
    for module in iter_modules(readers.__path__, f"{readers.__name__}."):
        import_module(module.name)
    return _FAMILIES


def decoder_heads(prefix: str, scores: str = "ForCausalLM") -> dict[str, str]:
    """Return the heads by class name, for the model with scores of tokens and for the model without them.

    Of two prefixes the second one is that of the model without scores.
    """
    first, *rest = prefix.split()
    return {first + scores: "language_model", (rest or [first])[0] + "Model": "none"}


def encoder_heads(prefix: str, usual: str, **other: str) -> dict[str, str]:
    """Return the heads of an encoder by class name.

    `usual` is the head of the bare model, and `other` adds classes.
    """
    heads = {
        "ForMaskedLM": "masked_language_model",
        "Model": usual,
        "ForSequenceClassification": "pooled_classes",
        "ForTokenClassification": "token_classes",
        "ForQuestionAnswering": "token_classes",
        "ForMultipleChoice": "pooled_classes 1",
    }
    return {prefix + suffix: head for suffix, head in (heads | other).items()}


def family_of(model_type: object) -> Family | None:
    """Return the family of a `model_type`, or None if it is not read."""
    return _FAMILIES.get(str(model_type))
