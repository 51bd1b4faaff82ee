"""Names in the checkpoints of models made of a language model and a tower of pictures."""

from dataclasses import replace

from derivations.architectures.checkpoints.family import Family, linear, norm

__all__ = ["joined_names", "names_of_text"]

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


def names_of_text(text: Family) -> Family:
    """Return the names of the weights of the language model alone, where what reads pictures is not read."""
    return replace(
        text,
        prefixes=(),
        ignored=(*text.ignored, r"(pictures|projector)\..*"),
        renamed={**PLACES, **text.renamed},
    )


def joined_names(text: Family, pictures: Family) -> Family:
    """Return the names of the weights of both, and of the projector between them."""
    tower = {f"pictures.{ours}": replace(each, name=f"pictures.{each.name}") for ours, each in pictures.weights.items()}
    return replace(
        text,
        weights={**text.weights, **tower, **PROJECTOR},
        prefixes=(),
        ignored=(*text.ignored, *(rf"pictures\.{each}" for each in pictures.ignored)),
        renamed={**PLACES, **text.renamed, **pictures.renamed},
    )
