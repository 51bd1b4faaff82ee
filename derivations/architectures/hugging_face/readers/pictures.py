"""Image encoders: the Vision Transformer and its relatives, and the two towers of CLIP and SigLIP.

Definition   rows are patches of a picture, after learned rows: a class token, a token of distillation, or none
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer, Symbol

from derivations.architectures.checkpoints.pictures import (
    CLIP_TEXT,
    CLIP_VISION,
    DINOV2,
    DINOV3,
    OWL_VISION,
    SIGLIP_TEXT,
    SIGLIP_VISION,
    VIT,
)
from derivations.architectures.description import (
    Attention,
    Block,
    Embedding,
    FeedForward,
    Grid,
    Head,
    Patches,
    Rotary,
    Stack,
)
from derivations.architectures.hugging_face.families import family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.readers.encoders import BIASES, labels
from derivations.architectures.hugging_face.shared import Parts, activation, divided_heads, norm, uniform
from derivations.symbols import d_ff, d_k, d_model, h, size, vocab

__all__ = [
    "clip_text",
    "clip_vision",
    "deit",
    "dinov2",
    "dinov2_with_registers",
    "dinov3",
    "ijepa",
    "siglip_text",
    "siglip_vision",
    "vit",
    "vit_msn",
    "xclip_text",
]

ZERO = Integer(0)


@family("vit", {"ViTForImageClassification": "classes", "ViTModel": "pooler"}, VIT)
def vit(f: Fields, kind: str) -> Parts:
    """The Vision Transformer (Dosovitskiy et al. 2021): rows are patches of an image, after a class token."""
    return Parts(_pooled(f, kind), encoder=_pictures(f))


@family("deit", {"DeiTForImageClassification": "classes", "DeiTModel": "pooler"}, VIT)
def deit(f: Fields, kind: str) -> Parts:
    """DeiT (Touvron et al. 2021): a distillation token after the class token."""
    return Parts(_pooled(f, kind), encoder=_pictures(f, tokens=2))


@family("ijepa", {"IJepaModel": "none"}, VIT)
def ijepa(f: Fields, kind: str) -> Parts:
    """I-JEPA (Assran et al. 2023): patches without learned rows, and no pooler."""
    for field in ("pooler_act", "pooler_output_size"):
        f.take(field, None)
    return Parts(Head("none"), encoder=_pictures(f, tokens=0))


@family("vit_msn", {"ViTMSNForImageClassification": "classes", "ViTMSNModel": "none"}, VIT)
def vit_msn(f: Fields, kind: str) -> Parts:
    """Masked Siamese networks (Assran et al. 2022): the Vision Transformer without a pooler."""
    return Parts(_classes(f) if kind == "classes" else Head("none"), encoder=_pictures(f, eps="1e-6"))


@family("dinov2", {"Dinov2Model": "none"}, DINOV2)
def dinov2(f: Fields, kind: str) -> Parts:
    """DINOv2 (Oquab et al. 2024): a learned vector scales every residual branch.

    The token that masks patches in training is stored and not used by the layers; it is counted.
    """
    f.only("use_swiglu_ffn", False)
    f.take("layerscale_value", None)
    _of_training(f)
    width = f.whole("hidden_size") or 1
    f.let(d_ff, width * (f.whole("mlp_ratio", 4) or 4))
    stack = _pictures(f, eps="1e-6")
    (run,) = stack.runs
    (block,) = run.blocks
    scaled = replace(run, blocks=(replace(block, layer_scale=True),))
    assert isinstance(stack.stem, Patches)
    stem = replace(stack.stem, mask_token=f.flag("use_mask_token", True))
    return Parts(Head("none"), encoder=replace(stack, runs=(scaled,), stem=stem))


@family("dinov2_with_registers", {"Dinov2WithRegistersModel": "none"}, DINOV2)
def dinov2_with_registers(f: Fields, kind: str) -> Parts:
    """DINOv2 with registers (Darcet et al. 2024): learned rows without positions after the class token."""
    f.config["use_mask_token"] = True  # which is always stored, and no field of this family
    parts, registers = dinov2(f, kind), f.whole("num_register_tokens", 4, least=0)
    stack = parts.encoder
    assert stack is not None and isinstance(stack.stem, Patches)
    stem = replace(stack.stem, registers=f.let(size("registers"), registers) if registers else ZERO)
    return replace(parts, encoder=replace(stack, stem=stem))


@family("dinov3_vit", {"DINOv3ViTModel": "none"}, DINOV3)
def dinov3(f: Fields, kind: str) -> Parts:
    """DINOv3 (Siméoni et al. 2025): patches have positions on two axes, after a class token and registers."""
    for field in ("layerscale_value", "pos_embed_shift", "pos_embed_jitter", "pos_embed_rescale"):
        f.take(field, None)
    _of_training(f)
    stack = _pictures(f, eps="1e-5")
    (run,) = stack.runs
    (block,) = run.blocks
    assert isinstance(stack.stem, Patches) and isinstance(block.feed_forward, FeedForward)
    if f.values[d_k] % 4:
        raise f.error("hidden_size", f"gives heads of {f.values[d_k]} columns, which are no pairs for two axes")
    (height, width), (side, _) = _sides(f, "image_size"), _sides(f, "patch_size")
    registers = f.whole("num_register_tokens", 0, least=0)
    stem = replace(stack.stem, mask_token=True, registers=f.let(size("registers"), registers) if registers else ZERO)
    rows, columns = f.let(size("patch_rows"), height // side), f.let(size("patch_columns"), width // side)
    grid = Grid(rows, columns, stem.rows - stem.count)
    query, key, value = (f.flag(f"{name}_bias", name != "key") for name in ("query", "key", "value"))
    biases = (query, key, value, f.flag("proj_bias", True))
    attention = Attention(h, biases=biases, positions=Rotary(base=f.number("rope_theta", "100"), grid=grid))
    network = replace(block.feed_forward, gated=f.flag("use_gated_mlp", False), biases=f.flag("mlp_bias", True))
    scaled = replace(block, attention=attention, feed_forward=network, layer_scale=True)
    return Parts(
        Head("none"), encoder=replace(stack, runs=(replace(run, blocks=(scaled,)),), stem=stem, embedding=Embedding())
    )


def _of_training(f: Fields) -> None:
    """Mark as read the fields that concern only training, or the class that returns rows of several layers."""
    for field in ("apply_layernorm", "reshape_hidden_states", "drop_path_rate", "stage_names"):
        f.take(field, None)
    for field in ("_out_features", "_out_indices", "out_features", "out_indices"):
        f.take(field, None)


def _with_projection(prefix: str, kind: str) -> dict[str, str]:
    """Return the heads of a tower's two classes, without and with the shared projection."""
    return {f"{prefix}Model": kind, f"{prefix}ModelWithProjection": f"{kind} projected"}


@family("altclip_vision_model", {"AltCLIPVisionModel": "first_row"}, CLIP_VISION)
@family("chinese_clip_vision_model", {"ChineseCLIPVisionModel": "first_row"}, CLIP_VISION)
@family("clipseg_vision_model", {"CLIPSegVisionModel": "first_row"}, CLIP_VISION)
@family("metaclip_2_vision_model", _with_projection("MetaClip2Vision", "first_row"), CLIP_VISION)
@family("owlv2_vision_model", {"Owlv2VisionModel": "first_row"}, OWL_VISION)
@family("owlvit_vision_model", {"OwlViTVisionModel": "first_row"}, OWL_VISION)
@family("clip_vision_model", _with_projection("CLIPVision", "first_row"), CLIP_VISION)
def clip_vision(f: Fields, kind: str) -> Parts:
    """The image tower of CLIP (Radford et al. 2021): patches without biases, a norm before the layers.

    So are those of AltCLIP (Chen et al. 2023), Chinese CLIP (Yang et al. 2022), CLIPSeg (Lüddecke and Ecker 2022),
    OWL-ViT (Minderer et al. 2022) and OWLv2 (Minderer et al. 2023).
    """
    stack = _pictures(f, eps="1e-5", function="quick_gelu", biases=False)
    rows = replace(stack.embedding, norm=stack.final_norm)
    head = Head("first_row", norm=stack.final_norm, width=_joint(f, kind))
    return Parts(head, encoder=replace(stack, embedding=rows, final_norm=None))


@family("clipseg_text_model", {"CLIPSegTextModel": "end_row"}, CLIP_TEXT)
@family("clip_text_model", _with_projection("CLIPText", "end_row"), CLIP_TEXT)
def clip_text(f: Fields, kind: str) -> Parts:
    """The text tower of CLIP (Radford et al. 2021), with causal attention.

    Early files have 2 for the token that ends a text, which is that with the largest number.
    """
    parts = metaclip_2_text(f, kind)
    return replace(parts, head=replace(parts.head, end=None)) if parts.head.end == 2 else parts


@family("owlv2_text_model", {"Owlv2TextModel": "end_row"}, CLIP_TEXT)
@family("owlvit_text_model", {"OwlViTTextModel": "end_row"}, CLIP_TEXT)
@family("xclip_text_model", {"XCLIPTextModel": "end_row"}, CLIP_TEXT)
def xclip_text(f: Fields, kind: str) -> Parts:
    """The text tower of X-CLIP (Ni et al. 2022): that of CLIP, where the token with the largest number ends a text.

    So are those of OWL-ViT (Minderer et al. 2022) and OWLv2 (Minderer et al. 2023).
    """
    f.config["eos_token_id"] = 2
    return clip_text(f, kind)


@family("metaclip_2_text_model", _with_projection("MetaClip2Text", "end_row"), CLIP_TEXT)
def metaclip_2_text(f: Fields, kind: str) -> Parts:
    """The text tower of MetaCLIP 2 (Chuang et al. 2025), which is the same as CLIP's."""
    stack = replace(_texts(f, "1e-5", "quick_gelu"), causal=True)
    end = f.whole("eos_token_id", 49407, least=0)
    return Parts(Head("end_row", width=_joint(f, kind), end=end), encoder=stack)


def _joint(f: Fields, kind: str) -> Symbol | None:
    """Return the width to which both towers are projected, or None without a projection."""
    if kind.endswith("projected"):
        return f.size(size("d_joint"), "projection_dim", 512)
    f.take("projection_dim", None)
    return None


@family("siglip2_text_model", {"Siglip2TextModel": "last_row"}, SIGLIP_TEXT)
@family("siglip_text_model", {"SiglipTextModel": "last_row"}, SIGLIP_TEXT)
def siglip_text(f: Fields, kind: str) -> Parts:
    """The text tower of SigLIP (Zhai et al. 2023): the last row goes through a linear map."""
    stack = _texts(f, "1e-6", "gelu_pytorch_tanh")
    width = f.whole("projection_size", None, none=True) or f.values[d_model]
    return Parts(Head("last_row", width=f.let(size("d_pooled"), width)), encoder=stack)


@family("siglip_vision_model", {"SiglipVisionModel": "attention_pooler"}, SIGLIP_VISION)
def siglip_vision(f: Fields, kind: str) -> Parts:
    """The image tower of SigLIP (Zhai et al. 2023): no class token, rows pooled by a learned query."""
    stack = _pictures(f, eps="1e-6", function="gelu_pytorch_tanh", tokens=0)
    (block,) = stack.blocks
    used = f.flag("vision_use_head", True)
    return Parts(Head("attention_pooler", pooling=block) if used else Head("none"), encoder=stack)


# --- what they share ------------------------------------------------------------------------------------------------


def _block(f: Fields, eps: str, function: str) -> Block:
    """Return a layer with its norms before attention and network."""
    layer_norm = norm(f, "layer_norm_eps", eps)
    divided_heads(f, "hidden_size", "num_attention_heads")
    biased = f.flag("qkv_bias", True)
    if d_ff not in f.values:
        f.size(d_ff, "intermediate_size")
    attention = Attention(h, biases=BIASES if biased else (False, False, False, True))
    return Block(attention, FeedForward(activation(f, "hidden_act", function), d_ff=d_ff), layer_norm)


def _texts(f: Fields, eps: str, function: str) -> Stack:
    """Return the stack over the tokens of a text, with a learned table of positions."""
    f.size(vocab, "vocab_size")
    block = _block(f, eps, function)
    rows = Embedding(f.size(size("positions"), "max_position_embeddings"))
    return Stack(uniform(f, block), rows, final_norm=block.norm)


def _pictures(f: Fields, *, eps: str = "1e-12", function: str = "gelu", tokens: int = 1, biases: bool = True) -> Stack:
    """Return the stack over the patches of an image, with `tokens` learned rows before them."""
    block = _block(f, eps, function)
    (height, width), (patch, across) = _sides(f, "image_size"), _sides(f, "patch_size")
    if patch != across:
        raise f.error("patch_size", f"is {patch} by {across}; patches are read only as squares")
    if min(height, width) < patch:
        raise f.error("patch_size", f"is {patch}, more than image_size {min(height, width)}")
    stem = Patches(
        f.let(size("patch"), patch),
        f.size(size("channels"), "num_channels", 3),
        f.let(size("patches"), (height // patch) * (width // patch)),
        tokens,
        biases,
    )
    return Stack(uniform(f, block), Embedding(stem.rows), final_norm=block.norm, stem=stem)


def _classes(f: Fields) -> Head:
    return Head("classes", classes=f.let(size("classes"), labels(f)))


def _pooled(f: Fields, kind: str) -> Head:
    """Return the scores of classes, or the pooler, whose width must be that of the rows."""
    width = f.whole("hidden_size")
    out = f.whole("pooler_output_size", None, none=True)
    if kind == "pooler" and out not in (None, width):
        raise f.error("pooler_output_size", f"is {out} and not hidden_size, {width}; it has to be equal")
    pooler = activation(f, "pooler_act", "tanh")
    return Head("pooler", activation=pooler) if kind == "pooler" else _classes(f)


def _sides(f: Fields, field: str) -> tuple[int, int]:
    """Return height and width, given as one number or as two."""
    value = f.take(field)
    pair = value if isinstance(value, list) and len(value) == 2 else [value, value]
    sides = [Fields({field: each}, f.name).whole(field) or 1 for each in pair]
    return sides[0], sides[1]
