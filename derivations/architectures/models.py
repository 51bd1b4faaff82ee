"""Models by name: the sizes that their authors publish, as tables.

`named_model` reads a row like the configuration of its family; the original Transformer, which has no such family, is
described here. The number of parameters that the authors state is kept with its source.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache

from sympy import Rational, sqrt

from derivations.architectures.description import (
    Architecture,
    Attention,
    Block,
    Embedding,
    FeedForward,
    Head,
    Model,
    Norm,
    Run,
    Sinusoids,
    Stack,
)
from derivations.architectures.hugging_face import model_of
from derivations.architectures.sizes import TABLES, TRANSFORMER, Table
from derivations.language.arrays.functions import relu
from derivations.symbols import N, d_ff, d_k, d_model, d_v, h, vocab

__all__ = ["model_names", "named_model"]


def _transformer(name: str) -> Model:
    """Return the original Transformer: norms after sub-layers, fixed positions, one table for tokens and scores."""
    attention, embedding = Attention(h), Embedding(sinusoidal=Sinusoids(), scale=sqrt(d_model))
    feed_forward, norm = FeedForward(relu), Norm()
    in_encoder = Block(attention, feed_forward, norm, "post")
    encoder = Stack((Run((in_encoder,), N),), embedding)
    decoder = Stack((Run((replace(in_encoder, cross_attention=attention),), N),), embedding, causal=True)
    values = dict(zip((N, d_model, d_ff, h, d_k, d_v), _integers(TRANSFORMER, name), strict=True))
    architecture = Architecture(name, Head("language_model"), encoder, decoder)
    return Model(architecture, values | {vocab: 37000})


def _integers(table: Table, name: str) -> list[int]:
    """Return the sizes of a model: the integers in its row of a table."""
    return [each for each in table.rows[name] if isinstance(each, int)]


# --- by name --------------------------------------------------------------------------------------------------------

_TABLES = {name: table for table in (TRANSFORMER, *TABLES) for name in table.rows}


def model_names() -> tuple[str, ...]:
    """Return the names of all built-in models."""
    return tuple(_TABLES)


@lru_cache(maxsize=256)
def named_model(name: str) -> Model:
    """Return the built-in model of a name, with the number of parameters that its authors state.

    Raises       LookupError for an unknown name
    """
    table = _TABLES.get(name)
    if table is None:
        alike = {_folded(known): known for known in _TABLES}
        near = [alike[each] for each in get_close_matches(_folded(name), alike, 3, 0.6)]
        hint = f"did you mean {', '.join(near)}" if near else f"there are {', '.join(_TABLES)}"
        raise LookupError(f"there is no built-in model {name!r}, and nothing is downloaded; {hint}")
    if table is TRANSFORMER:
        model = _transformer(name)
    else:
        model = model_of({**table.common, **dict(zip(table.columns, table.rows[name], strict=False))}, name)
    stated = table.rows[name][-1]
    part = table.parts.get(name, model.part)
    assumed = (*table.assumptions, *([part] if name in table.parts else []), *model.assumptions)
    published = (("counts", table.counts), ("value", _number(stated)), ("as_stated", stated), ("source", table.source))
    return replace(model, source=table.source, assumptions=assumed, published=published, part=part)


def _folded(name: str) -> str:
    """Return a name in lower case, without the characters that people write differently."""
    return "".join(each for each in name.lower() if each.isalnum())


def _number(stated: object) -> int:
    """Return a stated number of parameters as an integer: "1.3B" is 1300000000."""
    if isinstance(stated, int):
        return stated
    text = str(stated)
    return int(Rational(text[:-1]) * {"M": 10**6, "B": 10**9}[text[-1]])
