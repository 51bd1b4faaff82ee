"""Names in the checkpoints of vision language models, and of models that compare texts with images."""

from collections.abc import Mapping
from dataclasses import replace

from derivations.architectures.checkpoints.family import Family, Stored, Table, affine, linear, norm

__all__ = ["ONE_MAP", "POOLED", "PROJECTOR", "compared_names", "joined_names", "merger", "names_of_text"]

PLACES = {  # where each of the three stands, by release
    r"^(model\.)?(vision_tower|visual)\.(vision_model\.)?": "pictures.",
    r"^(model\.)?(multi_modal_projector|projector)\.": "projector.",
    r"^(model\.)?language_model\.(model\.)?": "",
    r"^model\.(?!language_model)": "",
}
PROJECTOR = {
    **norm("projector.norm", "projector.projector_layernorm"),
    **linear("projector.W_1", "projector.linear_1"),
    **linear("projector.W_2", "projector.linear_2"),
}
ONE_MAP = affine("projector", "projector.linear")
POOLED = {
    **norm("projector.norm", "projector.mm_soft_emb_norm", added=1),
    "projector.W": Stored("projector.mm_input_projection_weight", as_written=True),
}


def merger(normed: str, first: str, second: str, deep: int = 0) -> Table:
    """Return the names of a norm and two linear maps, for the last layer and for each of `deep` earlier layers."""

    def at(ours: str, theirs: str) -> Table:
        theirs = f"pictures.{theirs}"
        return {
            **norm(f"{ours}.norm", f"{theirs}.{normed}"),
            **linear(f"{ours}.W_1", f"{theirs}.{first}"),
            **linear(f"{ours}.W_2", f"{theirs}.{second}"),
        }

    if not deep:
        return at("projector", "merger")
    found = dict(at("projector.layer_0", "merger"))
    for number in range(deep):
        found |= at(f"projector.layer_{number + 1}", f"deepstack_merger_list.{number}")
    return found


COMPARED_PLACES = {r"^vision_model\.|^(?=visual_)": "pictures.", r"^text_model\.": ""}
COMPARISON = {
    "comparison.t": Stored("logit_scale", axes="flat"),
    "comparison.b": Stored("logit_bias", axes="flat"),
}


def names_of_text(text: Family) -> Family:
    """Return the names of the weights of the language model alone, and ignore the vision part."""
    return replace(
        text,
        prefixes=(),
        ignored=(*text.ignored, r"(pictures|projector)\..*"),
        renamed={**PLACES, **text.renamed},
    )


def joined_names(
    text: Family, pictures: Family, between: Table = PROJECTOR, places: Mapping[str, str] = PLACES
) -> Family:
    """Return the names of the weights of a language model, its vision tower and the projector between them."""
    tower = {f"pictures.{ours}": replace(each, name=f"pictures.{each.name}") for ours, each in pictures.weights.items()}
    return replace(
        text,
        weights={**text.weights, **tower, **between},
        prefixes=(),
        ignored=(*text.ignored, *(rf"pictures\.{each}" for each in pictures.ignored)),
        renamed={**places, **text.renamed, **pictures.renamed},
    )


def compared_names(text: Family, pictures: Family) -> Family:
    """Return the names of the weights of a text tower, an image tower and the comparison of their rows."""
    return joined_names(text, pictures, COMPARISON, COMPARED_PLACES)
