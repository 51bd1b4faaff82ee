"""Models that compare texts with pictures: the two towers of CLIP or SigLIP, and the score of their pooled rows.

Definition   the towers are read by the families of their model types, from `text_config` and `vision_config`
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Symbol

from derivations.architectures.checkpoints.joined import compared_names
from derivations.architectures.description import Architecture, Compared, Tower, of_pictures
from derivations.architectures.hugging_face.families import family, family_of
from derivations.architectures.hugging_face.fields import Fields, shown
from derivations.architectures.hugging_face.readers.towers import inside
from derivations.architectures.hugging_face.shared import Parts
from derivations.symbols import d_model, size

__all__ = ["clip", "siglip"]


@family("metaclip_2", {"MetaClip2Model": "metaclip_2"}, runs=True)
@family("clip", {"CLIPModel": "clip"}, runs=True)
def clip(f: Fields, kind: str) -> Parts:
    """CLIP (Radford et al. 2021) and MetaCLIP 2: a matrix projects both pooled rows to the same width."""
    f.take("logit_scale_init_value", None)
    for field in ("text_config_dict", "vision_config_dict"):
        f.only(field, None)
    width = size("d_joint")
    f.size(of_pictures(width), "projection_dim", 512)
    return _pair(f, kind, Compared(), width)


@family("siglip", {"SiglipModel": "siglip"}, runs=True)
def siglip(f: Fields, kind: str) -> Parts:
    """SigLIP (Zhai et al. 2023): text rows are projected to the width of image rows, and scores have a bias."""
    parts = _pair(f, kind, Compared(biased=True))
    wide, width = f.values.pop(size("d_pooled")), f.values[of_pictures(d_model)]
    if wide != width:
        raise f.error("text_config.projection_size", f"is {wide} and not the width of the pictures' rows, {width}")
    return parts


def _pair(f: Fields, name: str, how: Compared, width: Symbol | None = None) -> Parts:
    """Return the text model with its image tower, whose pooled row is projected if a width is given."""
    (text, texts), (pictures, seen) = (
        _tower(f, f"{name}_{side}_model", f"{side}_config") for side in ("text", "vision")
    )
    f.values |= texts.values | {of_pictures(symbol): value for symbol, value in seen.values.items()}
    if pictures.head.kind == "none":
        raise f.error("vision_config.vision_use_head", "is false, and no row of a picture is compared without it")
    whole = Architecture("pictures", replace(pictures.head, width=width), pictures.encoder)
    assert text.names is not None and pictures.names is not None
    return replace(
        text,
        head=replace(text.head, width=of_pictures(width or d_model)),
        tower=Tower(whole, None, compared=how),
        names=compared_names(text.names, pictures.names),
    )


def _tower(f: Fields, model_type: str, field: str) -> tuple[Parts, Fields]:
    """Return the parts of a nested model with the names of its weights, and the fields that were read."""
    config = dict(f.table(field) or {})
    if (given := config.pop("model_type", model_type)) != model_type:
        raise f.error(f"{field}.model_type", f"is {shown(given)}; only {model_type} is read there")
    found = family_of(model_type)
    assert found is not None
    inner, assumed = inside(f, model_type, config, f"{f.name}: {field}")
    parts = found.read(inner, next(iter(found.heads.values())))
    inner.finish()
    f.assumptions += [*(f"{field}: {each}" for each in inner.assumptions), *assumed]
    return replace(parts, names=found.names), inner
