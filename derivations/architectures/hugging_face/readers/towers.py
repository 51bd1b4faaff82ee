"""Towers of pictures inside language models: how their rows become rows among those of tokens.

Definition   a function of `TOWERS` takes the fields of the whole model and of the tower, and the tower's architecture;
             it says which rows are read and how they are projected. Encoders that stand inside other models alone are
             those of `OWN`
Assumes      pictures of the size that the configuration says; of `CELLS` cells of patches where it says none
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from math import isqrt

from sympy import Integer, Rational, Symbol

from derivations.architectures.checkpoints.family import Family as Names
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
from derivations.architectures.hugging_face.families import Family, family_of
from derivations.architectures.hugging_face.fields import Fields, shown
from derivations.architectures.hugging_face.positions import rotary_of
from derivations.architectures.hugging_face.readers.encoders import BIASES
from derivations.architectures.hugging_face.shared import Parts, activation
from derivations.symbols import N, d_ff, d_k, d_model, d_v, h, size

__all__ = ["CELLS", "SEEN", "TOWERS", "deepened", "inside", "tower_of"]

CELLS = 256  # of a picture of any size
REST = size("N_rest")
SEEN = "rows of a picture see one another there; products over all pairs of positions are counted alike"
CLIP_TEXT = {
    **{"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 8},
    **{"vocab_size": 49408, "max_position_embeddings": 77},
}
BASE = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12}
# sizes that files leave out where they are the defaults of the configuration class of the model inside
LEFT_OUT: Mapping[str, Mapping[str, object]] = {
    "llama": {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32},
    "mistral": {
        **{"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32},
        "num_key_value_heads": 8,
    },
    "clip_text_model": CLIP_TEXT,
    "metaclip_2_text_model": CLIP_TEXT,
    **{
        name: {**BASE, "image_size": 224, "patch_size": 32} for name in ("clip_vision_model", "metaclip_2_vision_model")
    },
    "siglip_text_model": {**BASE, "vocab_size": 32000, "max_position_embeddings": 64},
    "siglip_vision_model": {**BASE, "image_size": 224, "patch_size": 16},
    "gemma3_text": {"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256},
    **{
        name: {"deepstack_visual_indexes": [8, 16, 24]}
        for name in ("qwen3_vl", "qwen3_vl_vision", "qwen3_vl_moe", "qwen3_vl_moe_vision")
    },
}


def inside(f: Fields, model_type: str, config: Mapping[str, object], place: str) -> tuple[Fields, list[str]]:
    """Return the fields of a model inside, with those that files leave out, and the assumptions about these."""
    taken = {field: value for field, value in LEFT_OUT.get(model_type, {}).items() if config.get(field) is None}
    where = place.rpartition(": ")[2] or place
    assumed = [f"{where} has no {field}: {value}, the default of the family" for field, value in taken.items()]
    return Fields({**config, **taken}, place), assumed


def tower_of(f: Fields) -> tuple[Tower | None, Names | None]:
    """Return the tower of pictures and the names of its weights; None for a tower that is not described, or not read.

    The sizes of the language model are known before.
    """
    config, (known, join) = f.table("vision_config"), TOWERS.get(str(f.config.get("model_type")), ((), None))
    if not config or join is None:
        return None, None
    model_type = str(config.get("model_type", known[0]))
    found = OWN.get(model_type) or family_of(model_type)
    if model_type not in known or found is None:
        return None, None
    inner = {field: value for field, value in config.items() if field != "model_type"}
    vision, assumed = inside(f, model_type, inner, f"{f.name}: vision_config")
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
    layers = _layers(f, vision, -2)
    first = f.choice("vision_feature_select_strategy", {"default": 1, "full": 0}, "default")
    assert isinstance(first, int)
    function, biases = activation(f, "projector_hidden_act", "gelu"), f.flag("multimodal_projector_bias", True)
    return _behind(vision, pictures, layers, Projector(d_model, function, biases), first)


def _vipllava(f: Fields, vision: Fields, pictures: Architecture) -> Tower:
    """ViP-LLaVA (Cai et al. 2024): rows behind five layers side by side, without the class token, and a norm."""
    layers = _layers(f, vision, [-2, -5, -8, -11, 6])
    norm = Norm("layer", f.number("projector_layernorm_eps", "1e-5"))
    projector = Projector(d_model, activation(f, "projector_hidden_act", "gelu"), norm=norm)
    return _behind(vision, pictures, layers, projector, 1)


def _layers(f: Fields, vision: Fields, usual: int | list[int]) -> list[int]:
    """Return the numbers of layers behind which rows are read; -2 is the last layer but one."""
    depth, given = vision.values[N], f.take("vision_feature_layer", usual, ("vision_feature_layers",))
    listed = given if isinstance(given, list) else [given]
    whole = [at for at in listed if isinstance(at, int) and not isinstance(at, bool)]
    found = [depth + 1 + at if at < 0 else at for at in whole]
    if not listed or len(whole) < len(listed) or not all(0 < count < depth for count in found):
        raise f.error(
            f.given("vision_feature_layer", ("vision_feature_layers",)) or "vision_feature_layer",
            f"is {shown(given)}; rows are read behind one layer or several, before the last one",
        )
    return found


def _behind(vision: Fields, pictures: Architecture, layers: list[int], projector: Projector, first: int) -> Tower:
    """Return a tower whose rows behind some of its layers are read, side by side if there are several."""
    assert pictures.encoder is not None
    (run,) = pictures.encoder.runs
    ends = sorted({*layers, vision.values[N]})
    counts = [end - start for start, end in pairwise([0, *ends])]
    runs = tuple(Run(run.blocks, vision.let(size(f"N_{i}"), c)) for i, c in enumerate(counts, 1))
    stack = replace(pictures.encoder, runs=runs, read=tuple(ends.index(end) + 1 for end in layers))
    return Tower(replace(pictures, encoder=stack), replace(projector, beside=len(layers)), first)


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
    depth, text = vision.values[N], f.values.get(N, 0)
    behind = [number + 1 for number in vision.numbers("deepstack_visual_indexes", depth)]
    if sorted(set(behind)) != behind or len(behind) > text > 0:
        raise vision.error("deepstack_visual_indexes", f"is not a list of growing numbers, of at most {text} layers")
    if behind and not text:
        raise f.error("text_config", "has layers of several kinds, behind which rows of pictures are not described")
    projector = _merger(f, vision, "out_hidden_size", of_pictures(joined))
    deep = (replace(projector, norm_joined=True),) * len(behind)
    tower = _behind(vision, pictures, [depth, *behind], projector, 0)
    return replace(tower, projector=projector, deep=deep) if behind else Tower(pictures, projector)


def deepened(f: Fields, stack: Stack, count: int) -> Stack:
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


OWN: Mapping[str, Family] = {  # encoders that are read inside other models alone
    "qwen2_vl": Family(_qwen2_vision, {"": "none"}),  # the names in older files
    "qwen2_vl_vision": Family(_qwen2_vision, {"": "none"}),
    "qwen3_vl": Family(_qwen3_vision, {"": "none"}),
    "qwen3_vl_vision": Family(_qwen3_vision, {"": "none"}),
    "qwen3_vl_moe": Family(_qwen3_vision, {"": "none"}),
    "qwen3_vl_moe_vision": Family(_qwen3_vision, {"": "none"}),
}
Join = Callable[[Fields, Fields, Architecture], Tower]
# model_type: the model types of its tower, the first where none is named, and how its rows become rows among tokens
TOWERS: Mapping[str, tuple[tuple[str, ...], Join]] = {
    "gemma3": (("siglip_vision_model",), _gemma3),
    "llava": (("clip_vision_model", "siglip_vision_model"), _llava),
    "vipllava": (("clip_vision_model", "siglip_vision_model"), _vipllava),
    "paligemma": (("siglip_vision_model",), _paligemma),
    "qwen2_vl": (("qwen2_vl_vision", "qwen2_vl"), _qwen2),
    "qwen3_vl": (("qwen3_vl_vision", "qwen3_vl"), _qwen3),
    "qwen3_vl_moe": (("qwen3_vl_moe_vision", "qwen3_vl_moe"), _qwen3),
}
