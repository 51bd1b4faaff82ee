"""Vision towers inside language models: how image rows become rows among the token rows.

Definition   a function of `TOWERS` takes the fields of the whole model and of the tower, and the tower's architecture;
             it says which rows are read and how they are projected. Encoders that stand inside other models alone are
             those of `OWN`
Assumes      pictures of the size that the configuration says; of `CELLS` cells of patches where it says none
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import isqrt

from sympy import Integer, Rational, Symbol

from derivations.architectures.checkpoints.family import Family as Names
from derivations.architectures.checkpoints.family import Table
from derivations.architectures.checkpoints.joined import ONE_MAP, POOLED, PROJECTOR, merger
from derivations.architectures.checkpoints.pictures import QWEN2_VISION, QWEN3_VISION
from derivations.architectures.description import (
    Architecture,
    Attention,
    Axes,
    Block,
    Cells,
    Embedding,
    FeedForward,
    Grid,
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

__all__ = ["CELLS", "SEEN", "TOWERS", "axes_of", "deepened", "inside", "tower_of"]

CELLS = 256  # of a picture of any size
# model_type: the pairs of columns that each of three axes turns, and whether they take turns
AXES: Mapping[str, tuple[list[int], bool]] = {
    "qwen2_vl": ([16, 24, 24], False),
    "qwen3_vl": ([24, 20, 20], True),
    "qwen3_vl_moe": ([24, 20, 20], True),
}
REST, MERGED, DOWN, ACROSS = map(size, ("N_rest", "w", "cell_rows", "cell_columns"))
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
    "gemma": {
        **{"hidden_size": 3072, "intermediate_size": 24576, "num_hidden_layers": 28, "num_attention_heads": 16},
        **{"num_key_value_heads": 16, "head_dim": 256, "vocab_size": 256000},
    },
    "gemma2": {
        **{"hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26, "num_attention_heads": 8},
        **{"num_key_value_heads": 4, "head_dim": 256, "vocab_size": 256000},
    },
    "gemma3_text": {"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256},
    **{
        name: {"deepstack_visual_indexes": [8, 16, 24]}
        for name in ("qwen3_vl", "qwen3_vl_vision", "qwen3_vl_moe", "qwen3_vl_moe_vision")
    },
}


def inside(f: Fields, model_type: str, config: Mapping[str, object], place: str) -> tuple[Fields, list[str]]:
    """Return the fields of a nested model, with defaults for missing ones, and the assumptions about these."""
    taken = {field: value for field, value in LEFT_OUT.get(model_type, {}).items() if config.get(field) is None}
    where = place.rpartition(": ")[2] or place
    assumed = [f"{where} has no {field}: {value}, the default of the family" for field, value in taken.items()]
    return Fields({**config, **taken}, place), assumed


def tower_of(f: Fields) -> tuple[Tower | None, Names | None, Table]:
    """Return the vision tower, the names of its weights, and the names of the projector's weights.

    Where the configuration describes no tower, or one that is not read, the first two are None. The sizes of the
    language model must be known before.
    """
    config, found_tower = f.table("vision_config"), TOWERS.get(str(f.config.get("model_type")))
    if not config or found_tower is None:
        return None, None, {}
    known, join, between = found_tower
    model_type = str(config.get("model_type", known[0]))
    found = OWN.get(model_type) or family_of(model_type)
    if model_type not in known or found is None:
        return None, None, {}
    inner = {field: value for field, value in config.items() if field != "model_type"}
    vision, assumed = inside(f, model_type, inner, f"{f.name}: vision_config")
    parts = found.read(vision, next(iter(found.heads.values())))
    assert parts.encoder is not None
    tower = join(f, vision, Architecture("pictures", parts.head, parts.encoder))
    for field in ("num_positions", "projection_dim", "projector_hidden_act", "vocab_size"):
        vision.take(field, None)  # said of the whole model as well, or by other fields
    vision.finish()
    f.values |= {of_pictures(symbol): value for symbol, value in vision.values.items()}
    f.assumptions += [*(f"vision_config: {each}" for each in vision.assumptions), *assumed]
    return tower, found.names, between(len(tower.deep))


def _llava(f: Fields, vision: Fields, pictures: Architecture) -> Tower:
    """LLaVA (Liu et al. 2024): rows after all layers but the last, without the class token; two linear maps."""
    layers = _layers(f, vision, -2)
    first = f.choice("vision_feature_select_strategy", {"default": 1, "full": 0}, "default")
    assert isinstance(first, int)
    function, biases = activation(f, "projector_hidden_act", "gelu"), f.flag("multimodal_projector_bias", True)
    return _behind(vision, pictures, layers, Projector(d_model, function, biases), first)


def _vipllava(f: Fields, vision: Fields, pictures: Architecture) -> Tower:
    """ViP-LLaVA (Cai et al. 2024): rows after five layers side by side, without the class token, and a norm."""
    layers = _layers(f, vision, [-2, -5, -8, -11, 6])
    norm = Norm("layer", f.number("projector_layernorm_eps", "1e-5"))
    projector = Projector(d_model, activation(f, "projector_hidden_act", "gelu"), norm=norm)
    return _behind(vision, pictures, layers, projector, 1)


def _layers(f: Fields, vision: Fields, usual: int | list[int]) -> list[int]:
    """Return the numbers of layers after which rows are read; -2 is the last layer but one."""
    depth, given = vision.values[N], f.take("vision_feature_layer", usual, ("vision_feature_layers",))
    listed = given if isinstance(given, list) else [given]
    whole = [at for at in listed if isinstance(at, int) and not isinstance(at, bool)]
    found = [depth + 1 + at if at < 0 else at for at in whole]
    if not listed or len(whole) < len(listed) or not all(0 < count < depth for count in found):
        raise f.error(
            f.given("vision_feature_layer", ("vision_feature_layers",)) or "vision_feature_layer",
            f"is {shown(given)}; rows are read after one layer or several, before the last one",
        )
    return found


def _behind(vision: Fields, pictures: Architecture, layers: list[int], projector: Projector, first: int) -> Tower:
    """Return a tower that is read after the given layers, with rows of several layers side by side."""
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
    return Tower(pictures, Projector(), ahead="prefix")


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
    squares = Cells(Integer(of_cells), Integer(of_cells), Integer(side // of_cells))
    projector = Projector(
        biases=False, norm=rms, joined=squares.side**2, averaged=True, norm_joined=True, cells=squares
    )
    return Tower(pictures, projector, ahead="picture")


def _qwen2(f: Fields, vision: Fields, pictures: Architecture) -> Tower:
    """Qwen2-VL (Wang et al. 2024): four neighbouring rows side by side, each normed, through two linear maps."""
    return Tower(pictures, _merger(f, vision, "hidden_size"))


def _qwen3(f: Fields, vision: Fields, pictures: Architecture) -> Tower:
    """Qwen3-VL (Qwen Team 2025): as Qwen2-VL, and rows after earlier layers, joined first and then normed."""
    depth, text = vision.values[N], f.values.get(N, 0)
    behind = [number + 1 for number in vision.numbers("deepstack_visual_indexes", depth)]
    if sorted(set(behind)) != behind or len(behind) > text > 0:
        raise vision.error("deepstack_visual_indexes", f"is not a list of growing numbers, of at most {text} layers")
    if behind and not text:
        raise f.error("text_config", "has layers of several kinds, after which rows of pictures are not described")
    projector = _merger(f, vision, "out_hidden_size")
    deep = (replace(projector, norm_joined=True),) * len(behind)
    tower = _behind(vision, pictures, [depth, *behind], projector, 0)
    return replace(tower, projector=projector, deep=deep) if behind else Tower(pictures, projector)


def axes_of(f: Fields, text: Mapping[str, object]) -> Axes | None:
    """Return the axes of positions that share the rotated columns of the language model, or None for one axis."""
    known = AXES.get(str(f.config.get("model_type")))
    if known is None:
        return None
    usual, in_turn = known
    rules = (text.get(field) for field in ("rope_parameters", "rope_scaling"))
    pairs = next((rule["mrope_section"] for rule in rules if isinstance(rule, dict) and "mrope_section" in rule), usual)
    whole = isinstance(pairs, list) and len(pairs) == 3 and all(type(each) is int and each >= 0 for each in pairs)
    half = f.values[d_k] // 2
    if not whole or (not in_turn and sum(pairs) != half):
        raise f.error("mrope_section", f"is {shown(pairs)}; three numbers of {half} pairs are needed")
    f.assumptions.append("positions have three axes, and their rotation costs as that of one")
    return Axes(tuple(pairs), in_turn)


def deepened(f: Fields, stack: Stack, count: int) -> Stack:
    """Return a stack of equal layers, with other rows added after each of the first `count` layers."""
    (run,) = stack.runs
    rest = f.values[N] - count
    runs = (
        *(Run(run.blocks, Integer(1)) for _ in range(count)),
        *([Run(run.blocks, f.let(REST, rest))] if rest else []),
    )
    return replace(stack, runs=runs, added=count)


def _merger(f: Fields, vision: Fields, field: str) -> Projector:
    """Return the projector: a norm of each row, the rows of a cell side by side, and two linear maps."""
    width = vision.whole(field)
    if width != f.values[d_model]:
        raise vision.error(field, f"is {width} and not the width of the language model, {f.values[d_model]}")
    cells = Cells(*map(of_pictures, (DOWN, ACROSS, MERGED)))
    joined = cells.side**2
    return Projector(joined * of_pictures(d_model), norm=Norm("layer", Rational("1e-6")), joined=joined, cells=cells)


def _qwen2_vision(f: Fields, kind: str) -> Parts:
    """Qwen2-VL's image encoder: patches of two frames, without a class token or a table of positions."""
    f.size(d_model, "embed_dim", 1280)
    f.let(d_ff, f.values[d_model] * (f.whole("mlp_ratio", 4) or 4))
    f.only("in_chans", f.whole("in_channels", 3))
    f.only("spatial_patch_size", f.config.get("patch_size", 14))
    f.assumptions.append(f"a picture of {CELLS} cells of patches")
    return _of_frames(f, "quick_gelu", isqrt(CELLS), patch=14, depth=32, biases=False)


def _qwen3_vision(f: Fields, kind: str) -> Parts:
    """Qwen3-VL's image encoder: a table of positions, which is interpolated for images of other sizes."""
    f.size(d_model, "hidden_size", 1152)
    f.size(d_ff, "intermediate_size", 4304)
    places, merged = f.whole("num_position_embeddings", 2304) or 1, f.whole("spatial_merge_size", 2) or 1
    side = isqrt(places)
    if side**2 != places or side % merged:
        raise f.error("num_position_embeddings", f"is {places}, which is not the square of a multiple of {merged}")
    f.assumptions.append("a picture with as many patches as the table of positions has rows")
    rows = f.let(size("side"), side)
    return _of_frames(f, "gelu_pytorch_tanh", side // merged, patch=16, depth=27, side=rows)


def _of_frames(
    f: Fields, function: str, cells: int, *, patch: int, depth: int, biases: bool = True, side: Symbol | None = None
) -> Parts:
    """Return the layers over patches of several frames, with rotary positions.

    The image has cells x cells cells.
    """
    f.size(h, "num_heads", 16)
    for columns in (d_k, d_v):
        f.let(columns, f.divided("the width", d_model, "num_heads", h))
    if f.values[d_k] % 4:
        raise f.error("num_heads", f"gives heads of {f.values[d_k]} columns, which are no pairs for two axes")
    merged = f.let(MERGED, f.whole("spatial_merge_size", 2) or 1)
    grid = Grid(f.let(DOWN, cells) * merged, f.let(ACROSS, cells) * merged, counted=True)
    frames = f.whole("temporal_patch_size", 2) or 1
    colours = f.let(size("channels"), frames * (f.whole("in_channels", 3) or 1))
    rotary = rotary_of(f, {**(f.table("rope_parameters") or {}), "rope_type": "default"}, Rational(10000))
    attention = Attention(h, biases=BIASES, positions=replace(rotary, grid=grid))
    block = Block(attention, FeedForward(activation(f, "hidden_act", function)), Norm("layer", Rational("1e-6")))
    side_of_patch, count = f.size(size("patch"), "patch_size", patch), grid.rows * grid.columns
    stem = Patches(side_of_patch, colours, count, tokens=0, biases=biases, frames=frames)
    rows = Embedding() if side is None else Embedding(side**2, grid=grid, side=side)
    run = Run((block,), f.size(N, "depth", depth))
    return Parts(Head("none"), encoder=Stack((run,), rows, stem=stem))


MERGER_3 = partial(merger, "norm", "linear_fc1", "linear_fc2")
OWN: Mapping[str, Family] = {  # encoders that are read inside other models alone
    "qwen2_vl": Family(_qwen2_vision, {"": "none"}, QWEN2_VISION),  # the names in older files
    "qwen2_vl_vision": Family(_qwen2_vision, {"": "none"}, QWEN2_VISION),
    "qwen3_vl": Family(_qwen3_vision, {"": "none"}, QWEN3_VISION),
    "qwen3_vl_vision": Family(_qwen3_vision, {"": "none"}, QWEN3_VISION),
    "qwen3_vl_moe": Family(_qwen3_vision, {"": "none"}, QWEN3_VISION),
    "qwen3_vl_moe_vision": Family(_qwen3_vision, {"": "none"}, QWEN3_VISION),
}
Join = Callable[[Fields, Fields, Architecture], Tower]
Between = Callable[[int], Table]  # by the number of earlier layers whose rows are read
# model_type: the model types of its tower, the first where none is named; how its rows become rows among tokens, and
# the names of the weights for that
TOWERS: Mapping[str, tuple[tuple[str, ...], Join, Between]] = {
    "gemma3": (("siglip_vision_model",), _gemma3, lambda _: POOLED),
    "llava": (("clip_vision_model", "siglip_vision_model"), _llava, lambda _: PROJECTOR),
    "vipllava": (("clip_vision_model", "siglip_vision_model"), _vipllava, lambda _: PROJECTOR),
    "paligemma": (("siglip_vision_model",), _paligemma, lambda _: ONE_MAP),
    "qwen2_vl": (("qwen2_vl_vision", "qwen2_vl"), _qwen2, partial(merger, "ln_q", "mlp.0", "mlp.2")),
    "qwen3_vl": (("qwen3_vl_vision", "qwen3_vl"), _qwen3, MERGER_3),
    "qwen3_vl_moe": (("qwen3_vl_moe_vision", "qwen3_vl_moe"), _qwen3, MERGER_3),
}
