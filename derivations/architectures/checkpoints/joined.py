"""Names in the checkpoints of models made of a model of texts and a tower of pictures."""

from collections.abc import Mapping
from dataclasses import replace

from derivations.architectures.checkpoints.family import Family, Stored, Table, linear, norm

__all__ = ["compared_names", "joined_names", "names_of_text"]

PLACES = {  # where each of the three stands, by release
    r"^(model\.)?(vision_tower|visual)\.(vision_model\.)?": "pictures.",
    r"^(model\.)?(multi_modal_projector|projector)\.": "projector.",
    r"^(model\.)?language_model\.(model\.)?": "",
}
PROJECTOR = {
    **norm("projector.norm", "projector.projector_layernorm"),
    **linear("projector.W_1", "projector.linear_1"),
    **linear("projector.W_2", "projector.linear_2"),
}


COMPARED_PLACES = {r"^vision_model\.|^(?=visual_)": "pictures.", r"^text_model\.": ""}
COMPARISON = {
    "comparison.t": Stored("logit_scale", axes="flat"),
    "comparison.b": Stored("logit_bias", axes="flat"),
}


def names_of_text(text: Family) -> Family:
    """Return the names of the weights of the language model alone, where what reads pictures is not read."""
    return replace(
        text,
        prefixes=(),
        ignored=(*text.ignored, r"(pictures|projector)\..*"),
        renamed={**PLACES, **text.renamed},
    )


def joined_names(
    text: Family, pictures: Family, between: Table = PROJECTOR, places: Mapping[str, str] = PLACES
) -> Family:
    """Return the names of the weights of both, and of the projector between them."""
    tower = {f"pictures.{ours}": replace(each, name=f"pictures.{each.name}") for ours, each in pictures.weights.items()}
    return replace(
        text,
        weights={**text.weights, **tower, **between},
        prefixes=(),
        ignored=(*text.ignored, *(rf"pictures\.{each}" for each in pictures.ignored)),
        renamed={**places, **text.renamed, **pictures.renamed},
    )


def compared_names(text: Family, pictures: Family) -> Family:
    """Return the names of the weights of both, and of what compares their rows."""
    return joined_names(text, pictures, COMPARISON, COMPARED_PLACES)
