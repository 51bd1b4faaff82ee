"""Models made of models: a language model that `text_config` describes, and the tower of pictures of `vision_config`.

Definition   the two are read by the families of their model types; a projector between them is an entry of `TOWERS`.
             Without one, or without a `vision_config` that is read, the counts are of the language model and its head,
             and say so
Assumes      texts alone: where positions have three axes (Wang et al. 2024, Qwen2-VL), the three numbers of a token of
             a text are equal, and the rotation is the ordinary one
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import isqrt

from sympy import Integer, Rational, Symbol

from derivations.architectures.checkpoints.family import Family as Names
from derivations.architectures.checkpoints.joined import joined_names
from derivations.architectures.checkpoints.llama import LLAMA
from derivations.architectures.description import (
    Architecture,
    Attention,
    Block,
    Embedding,
    FeedForward,
    Head,
    Norm,
    Patches,
    Projector,
    Run,
    Stack,
    Tower,
    of_pictures,
)
from derivations.architectures.hugging_face.families import Family, family, family_of
from derivations.architectures.hugging_face.fields import Fields, shown
from derivations.architectures.hugging_face.positions import of_one_axis, rotary_of
from derivations.architectures.hugging_face.readers.encoders import BIASES
from derivations.architectures.hugging_face.readers.gated import qwen2, qwen3
from derivations.architectures.hugging_face.shared import Parts, activation
from derivations.symbols import N, d_ff, d_k, d_model, d_v, h, size

__all__ = ["JOINED", "TEXT_ALONE", "TOWERS", "qwen2_of_text", "qwen3_of_text"]

TEXT_ALONE = "the language model alone, without what reads pictures"

# model_type: the class, and whether scores are tied to the table of tokens if no field says so
JOINED: Mapping[str, tuple[str, bool]] = {
    "aya_vision": ("AyaVision", True),  # Cohere (2025)
    "gemma3": ("Gemma3", True),  # Gemma Team (2025)
    "internvl": ("InternVL", True),  # Zhu et al. (2025), InternVL 3
    "llava": ("Llava", False),  # Liu et al. (2024), LLaVA-1.5
    "llava_next": ("LlavaNext", False),  # Liu et al. (2024)
    "llava_onevision": ("LlavaOnevision", False),  # Li et al. (2024)
    "mistral3": ("Mistral3", True),  # Mistral AI (2025), Mistral Small 3.1
    "paligemma": ("PaliGemma", True),  # Beyer et al. (2024)
    "qwen2_vl": ("Qwen2VL", False),  # Wang et al. (2024)
    "qwen2_5_vl": ("Qwen2_5_VL", False),  # Bai et al. (2025)
    "qwen3_vl": ("Qwen3VL", False),  # Qwen Team (2025)
    "qwen3_5": ("Qwen3_5", False),  # Qwen Team (2026)
    "qwen3_5_moe": ("Qwen3_5Moe", False),
    "vipllava": ("VipLlava", False),  # Cai et al. (2024)
}
OF_PICTURES = frozenset(
    [
        *("adapter_layer_norm_eps", "downsample_factor", "downsample_ratio", "image_grid_pinpoints"),
        *("image_seq_length", "mm_tokens_per_image", "multimodal_projector_bias", "projection_dim"),
        *("projector_hidden_act", "projector_layernorm_eps", "spatial_merge_size", "vision_aspect_ratio"),
        *("vision_config", "vision_feature_layer", "vision_feature_select_strategy"),
    ]
)
# sizes that files leave out where they are the defaults of the configuration class of the language model
LEFT_OUT: Mapping[str, Mapping[str, object]] = {
    "llama": {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32},
    "mistral": {
        **{"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32},
        "num_key_value_heads": 8,
    },
    "siglip_vision_model": {"image_size": 224},
    "gemma3_text": {"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256},
}


def _joined(tied: bool, f: Fields, kind: str) -> Parts:
    """Return the language model of a configuration, whose fields may stand beside those of the pictures, too."""
    config = f.table("text_config")
    for field in OF_PICTURES:
        f.take(field, None)
    flat = config is None
    if flat and not f.given("hidden_size"):
        raise f.error("text_config", "is missing; the language model is described there")
    inner = {k: v for k, v in f.config.items() if k not in OF_PICTURES} if config is None else dict(config)
    inner["tie_word_embeddings"] = _tied(f, inner, tied)
    for field in () if flat else ("_vocab_size", "hidden_size", "vocab_size"):
        f.take(field, None)  # what older files say of the language model a second time
    if str(f.config.get("model_type")) in BOTH_WAYS and inner.pop("use_bidirectional_attention", None):
        f.assumptions.append(SEEN)
    name = str(f.config.get("model_type")) + "_text" if flat else inner.pop("model_type", None)
    found = family_of(name)
    if found is None:
        raise f.error("text_config", "has no model_type whose language models are read")
    text, assumed = _inside(f, str(name), inner, f.name if flat else f"{f.name}: text_config")
    parts = found.read(text, kind)
    text.finish()
    f.read |= text.read if flat else set()
    f.values |= text.values
    f.assumptions += [*text.assumptions, *assumed]
    tower, names = _tower(f)
    if tower is None:
        f.part = TEXT_ALONE
        f.assumptions.append(TEXT_ALONE)
        return replace(parts, names=found.names)
    if tower.deep:
        assert parts.decoder is not None
        parts = replace(parts, decoder=_deepened(f, parts.decoder, len(tower.deep)))
    return replace(parts, tower=tower, names=found.names and names and joined_names(found.names, names))


def _tied(f: Fields, inner: Mapping[str, object], usual: bool) -> object:
    """Return whether scores are tied to the table of tokens: what the whole model says, or else the language model.

    A family whose scores are usually not tied has them tied where one of the two says so.
    """
    outside = f.flag("tie_word_embeddings", usual) if f.given("tie_word_embeddings") else None
    inside = inner.get("tie_word_embeddings")
    if outside is None:
        if usual and inside is False and str(f.config.get("model_type")) in TOWERS:
            raise f.error("text_config.tie_word_embeddings", "is false, and that of the whole model is not given")
        return usual if inside is None else inside
    return outside or (not usual and inside is True)


def _inside(f: Fields, model_type: str, config: Mapping[str, object], place: str) -> tuple[Fields, list[str]]:
    """Return the fields of a model inside, with those that files leave out, and the assumptions about these."""
    taken = {field: value for field, value in LEFT_OUT.get(model_type, {}).items() if config.get(field) is None}
    where = place.rpartition(": ")[2] or place
    assumed = [f"{where} has no {field}: {value}, the default of the family" for field, value in taken.items()]
    return Fields({**config, **taken}, place), assumed


# --- towers ---------------------------------------------------------------------------------------------------------


def _tower(f: Fields) -> tuple[Tower | None, Names | None]:
    """Return the tower of pictures and the names of its weights; None for a tower that is not described, or not read.

    The sizes of the language model are known before.
    """
    config, (usual, join) = f.table("vision_config"), TOWERS.get(str(f.config.get("model_type")), ("", None))
    model_type = str((config or {}).get("model_type", usual))
    found = OWN.get(model_type) or family_of(model_type)
    if not config or join is None or found is None:
        return None, None
    inner = {field: value for field, value in config.items() if field != "model_type"}
    vision, assumed = _inside(f, model_type, inner, f"{f.name}: vision_config")
    parts = found.read(vision, next(iter(found.heads.values())))
    assert parts.encoder is not None
    tower = join(f, vision, Architecture("pictures", parts.head, parts.encoder))
    for field in ("projection_dim", "projector_hidden_act", "vocab_size"):
        vision.take(field, None)  # said of the whole model as well
    vision.finish()
    f.values |= {of_pictures(symbol): value for symbol, value in vision.values.items()}
    f.assumptions += [*(f"vision_config: {each}" for each in vision.assumptions), *assumed]
    return tower, found.names


def _llava(f: Fields, vision: Fields, pictures: Architecture) -> Tower:
    """LLaVA (Liu et al. 2024): rows behind all layers but the last, without the class token; two linear maps."""
    layers, at = vision.values[N], f.take("vision_feature_layer", -2)
    count = layers + 1 + at if isinstance(at, int) and at < 0 else at
    if isinstance(at, bool) or not isinstance(count, int) or not 0 < count < layers:
        raise f.error("vision_feature_layer", f"is {shown(at)}; rows are read behind one layer, before the last one")
    assert pictures.encoder is not None
    (run,) = pictures.encoder.runs
    read, rest = vision.let(size("N_read"), count), vision.let(size("N_rest"), layers - count)
    stack = replace(pictures.encoder, runs=(Run(run.blocks, read), Run(run.blocks, rest)), read=(1,))
    first = f.choice("vision_feature_select_strategy", {"default": 1, "full": 0}, "default")
    assert isinstance(first, int)
    function, biases = activation(f, "projector_hidden_act", "gelu"), f.flag("multimodal_projector_bias", True)
    return Tower(replace(pictures, encoder=stack), Projector(d_model, function, biases), first)


def _paligemma(f: Fields, vision: Fields, pictures: Architecture) -> Tower:
    """PaliGemma (Beyer et al. 2024): one linear map of all rows."""
    width = f.whole("projection_dim", 2048)
    if width != f.values[d_model]:
        raise f.error("projection_dim", f"is {width} and not the width of the language model, {f.values[d_model]}")
    return Tower(pictures, Projector())


def _gemma3(f: Fields, vision: Fields, pictures: Architecture) -> Tower:
    """Gemma 3 (Gemma Team 2025): rows are means of square cells of patches, normed, through a linear map."""
    count = vision.values[size("patches")]
    cells = f.whole("mm_tokens_per_image", 256) or 1
    side, of_cells = isqrt(count), isqrt(cells)
    if side**2 != count or of_cells**2 != cells or side % of_cells:
        raise f.error("mm_tokens_per_image", f"is {cells}; {count} patches are not a square of as many equal squares")
    assert pictures.encoder is not None and pictures.encoder.final_norm is not None
    rms = Norm("rms", pictures.encoder.final_norm.eps)
    f.assumptions.append(SEEN)
    return Tower(
        pictures,
        Projector(None, biases=False, norm=rms, joined=Integer(count // cells), averaged=True, norm_joined=True),
    )


def _qwen2(f: Fields, vision: Fields, pictures: Architecture) -> Tower:
    """Qwen2-VL (Wang et al. 2024): four neighbouring rows side by side, each normed, through two linear maps."""
    joined = vision.let(size("w"), (vision.whole("spatial_merge_size", 2) or 1) ** 2)
    return Tower(pictures, _merger(f, vision, "hidden_size", of_pictures(joined)))


def _qwen3(f: Fields, vision: Fields, pictures: Architecture) -> Tower:
    """Qwen3-VL (Qwen Team 2025): as Qwen2-VL, and rows behind earlier layers, joined first and then normed."""
    joined = vision.let(size("w"), (vision.whole("spatial_merge_size", 2) or 1) ** 2)
    depth, text = vision.values[N], f.values[N]
    behind = [number + 1 for number in vision.numbers("deepstack_visual_indexes", depth)]
    if sorted(set(behind)) != behind or len(behind) > text:
        raise vision.error("deepstack_visual_indexes", f"is not a list of growing numbers, of at most {text} layers")
    projector = _merger(f, vision, "out_hidden_size", of_pictures(joined))
    assert pictures.encoder is not None
    (run,) = pictures.encoder.runs
    ends = sorted({*behind, depth})
    counts = [end - start for start, end in pairwise([0, *ends])]
    runs = tuple(Run(run.blocks, vision.let(size(f"N_{i}"), c)) for i, c in enumerate(counts, 1))
    read = tuple(ends.index(end) + 1 for end in (depth, *behind))
    stack = replace(pictures.encoder, runs=runs, read=read if behind else ())
    deep = replace(projector, norm_joined=True)
    return Tower(replace(pictures, encoder=stack), projector, deep=(deep,) * len(behind))


def _deepened(f: Fields, stack: Stack, count: int) -> Stack:
    """Return equal layers to whose rows others are added behind each of the first ones."""
    (run,) = stack.runs
    rest = f.values[N] - count
    runs = (
        *(Run(run.blocks, Integer(1)) for _ in range(count)),
        *([Run(run.blocks, f.let(REST, rest))] if rest else []),
    )
    return replace(stack, runs=runs, added=count)


def _merger(f: Fields, vision: Fields, field: str, joined: Symbol) -> Projector:
    """Return two linear maps of neighbouring rows side by side, after a norm."""
    width = vision.whole(field)
    if width != f.values[d_model]:
        raise vision.error(field, f"is {width} and not the width of the language model, {f.values[d_model]}")
    return Projector(joined * of_pictures(d_model), norm=Norm("layer", Rational("1e-6")), joined=joined)


def _qwen2_vision(f: Fields, kind: str) -> Parts:
    """Qwen2-VL's encoder of pictures: patches of two frames, without a class token and a table of positions."""
    f.size(d_model, "embed_dim", 1280)
    f.let(d_ff, f.values[d_model] * (f.whole("mlp_ratio", 4) or 4))
    f.only("in_chans", f.whole("in_channels", 3))
    f.only("spatial_patch_size", f.config.get("patch_size", 14))
    f.assumptions.append(f"a picture of {CELLS} cells of patches")
    return _of_frames(f, "quick_gelu", f.let(size("cells"), CELLS), patch=14, depth=32, biases=False)


def _qwen3_vision(f: Fields, kind: str) -> Parts:
    """Qwen3-VL's encoder of pictures: a table of positions, which is stretched to pictures of other sizes."""
    f.size(d_model, "hidden_size", 1152)
    f.size(d_ff, "intermediate_size", 4304)
    places, cell = f.whole("num_position_embeddings", 2304) or 1, (f.whole("spatial_merge_size", 2) or 1) ** 2
    cells = f.let(size("cells"), f.quotient("num_position_embeddings", places, "the patches of a cell", cell))
    f.assumptions.append("a picture with as many patches as the table of positions has rows")
    return _of_frames(f, "gelu_pytorch_tanh", cells, patch=16, depth=27, placed=True)


def _of_frames(
    f: Fields, function: str, cells: Symbol, *, patch: int, depth: int, biases: bool = True, placed: bool = False
) -> Parts:
    """Return the layers over patches of several frames, with rotary positions."""
    f.size(h, "num_heads", 16)
    for columns in (d_k, d_v):
        f.let(columns, f.divided("the width", d_model, "num_heads", h))
    colours = f.let(size("channels"), (f.whole("temporal_patch_size", 2) or 1) * (f.whole("in_channels", 3) or 1))
    rotary = rotary_of(f, {**(f.table("rope_parameters") or {}), "rope_type": "default"}, Rational(10000))
    attention = Attention(h, biases=BIASES, positions=rotary)
    block = Block(attention, FeedForward(activation(f, "hidden_act", function)), Norm("layer", Rational("1e-6")))
    stem = Patches(f.size(size("patch"), "patch_size", patch), colours, cells * size("w"), tokens=0, biases=biases)
    f.assumptions.append("positions of patches have two axes, and their rotation costs as that of one")
    rows = Embedding(stem.rows) if placed else Embedding()
    run = Run((block,), f.size(N, "depth", depth))
    return Parts(Head("none"), encoder=Stack((run,), rows, stem=stem))


REST = size("N_rest")
RUN = frozenset(["llava"])
SEEN = "rows of a picture see one another there; products over all pairs of positions are counted alike"
BOTH_WAYS = frozenset(["paligemma"])  # whose texts say so
CELLS = 256  # of a picture of any size
OWN: Mapping[str, Family] = {  # encoders that are read inside other models alone
    "qwen2_vl_vision": Family(_qwen2_vision, {"": "none"}),
    "qwen3_vl": Family(_qwen3_vision, {"": "none"}),  # the name in older files
    "qwen3_vl_vision": Family(_qwen3_vision, {"": "none"}),
}
Join = Callable[[Fields, Fields, Architecture], Tower]
# model_type: the model type of a tower that names none, and how its rows become rows among those of tokens
TOWERS: Mapping[str, tuple[str, Join]] = {
    "gemma3": ("siglip_vision_model", _gemma3),
    "llava": ("clip_vision_model", _llava),
    "paligemma": ("siglip_vision_model", _paligemma),
    "qwen2_vl": ("qwen2_vl_vision", _qwen2),
    "qwen3_vl": ("qwen3_vl_vision", _qwen3),
}


for model_type, (prefix, tied) in JOINED.items():
    family(model_type, {f"{prefix}ForConditionalGeneration": "language_model"}, runs=model_type in RUN)(
        partial(_joined, tied)
    )


@family("qwen2_vl_text", {"Qwen2VLTextModel": "none"}, LLAMA)
@family("qwen2_5_vl_text", {"Qwen2_5_VLTextModel": "none"}, LLAMA)
def qwen2_of_text(f: Fields, kind: str) -> Parts:
    """Qwen2-VL's language model: Qwen2, with positions of three axes."""
    of_one_axis(f)
    return qwen2(f, kind)


@family("qwen3_vl_text", {"Qwen3VLTextModel": "none"}, LLAMA)
def qwen3_of_text(f: Fields, kind: str) -> Parts:
    """Qwen3-VL's language model: Qwen3, with positions of three axes."""
    of_one_axis(f)
    return qwen3(f, kind)
