"""How the numbers of a checkpoint are stored: one type for all, and a layout for packed matrices.

Definition   a matrix of i inputs and o outputs is stored as the tensors of its layout, each with a number of entries
             and the bytes of an entry; excluded matrices, and weights that are not matrices of a layer, have the base
             type. b is the number of bits of a packed number, g that of inputs that share a scale, p that of outputs
Assumes      every layout excludes routers, gates of shared experts, embeddings, norms and biases; tables of codes that
             are the same for every tensor, and texts besides the tensors, are not counted
Units        bytes
Source       the tensors that these libraries write: AutoGPTQ and GPTQModel; AutoAWQ; bitsandbytes (Dettmers et al. 2022
             and 2023); the release of DeepSeek-V3 for blocks of fp8; FBGEMM; the Open Compute Project's MX format, as
             the release of gpt-oss stores it
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sympy import Expr, Integer, Symbol, ceiling

from derivations.symbols import size

__all__ = ["BYTES", "METHODS", "Layout", "Method", "Packed", "Storage"]

BYTES: Mapping[str, int] = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
i, o, b, g, p = (size(name) for name in ("inputs", "outputs", "bits", "group", "group_of_outputs"))
ONE = Integer(1)
Where = Literal["layers", "linear", "experts"]


@dataclass(frozen=True)
class Packed:
    """A tensor of a packed matrix: its name, the bytes of an entry, the number of entries."""

    name: str
    bytes: int
    entries: Expr


@dataclass(frozen=True)
class Layout:
    """The tensors of a packed matrix, and the values of fields that select this layout."""

    tensors: tuple[Packed, ...]
    where: Mapping[str, object]


@dataclass(frozen=True)
class Method:
    """A quantisation method, described by the fields of a `quantization_config`.

    `bits` and `group` name the fields with these numbers; `only` has the values that are understood. `left_out` names
    the fields that list unpacked modules; the head is unpacked if there is no such list, and always if `head_too`.
    `harmless` are fields that change no size. Packed are the linear maps of "layers", all "linear" maps, or only those
    of "experts".
    """

    layouts: tuple[Layout, ...]
    packs: Where
    bits: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    only: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ("modules_to_not_convert",)
    head_too: bool = False
    harmless: tuple[str, ...] = ()


# fmt: off
_CALIBRATION = (
    "act_group_aware", "backend", "batch_size", "block_name_to_quantize", "cache_block_outputs", "damp_percent",
    "dataset", "desc_act", "disable_exllama", "do_fuse", "exllama_config", "fuse_max_seq_len", "max_input_length",
    "meta", "model_file_base_name", "model_name_or_path", "model_seqlen", "module_name_preceding_first_block",
    "modules_to_fuse", "pack_dtype", "pad_token_id", "quantizer", "static_groups", "sym", "tokenizer",
    "true_sequential", "use_cuda_fp16", "use_exllama", "version",
)
# fmt: on

_PAIRS = ceiling(i * o / 2)  # bytes of numbers of 4 bits
_BLOCKS_OF_64 = ceiling(i * o / 64)
_FP8 = Packed("weight", 1, i * o)
_STATIC = Packed("activation_scale", 4, ONE)

METHODS: Mapping[str, Method] = {
    "gptq": Method(
        (
            Layout(
                (
                    Packed("qweight", 4, ceiling(i * b / 32) * o),
                    Packed("qzeros", 4, ceiling(i / g) * ceiling(o * b / 32)),
                    Packed("scales", 2, ceiling(i / g) * o),
                    Packed("g_idx", 4, i),
                ),
                {},
            ),
        ),
        "layers",
        bits=("bits",),
        group=("group_size",),
        only={
            "bits": (2, 3, 4, 8),
            "checkpoint_format": (None, "gptq", "gptq_v2"),
            "format": (None, "gptq", "gptq_v2"),
            "is_marlin_format": (None, False),
            "dynamic": (None, {}),
            "lm_head": (None, False),
            "modules_in_block_to_quantize": (None,),
        },
        head_too=True,
        harmless=_CALIBRATION,
    ),
    "awq": Method(
        (
            Layout(
                (
                    Packed("qweight", 4, i * ceiling(o * b / 32)),
                    Packed("qzeros", 4, ceiling(i / g) * ceiling(o * b / 32)),
                    Packed("scales", 2, ceiling(i / g) * o),
                ),
                {},
            ),
        ),
        "layers",
        bits=("bits", "w_bit"),
        group=("group_size", "q_group_size"),
        only={
            "bits": (4,),
            "w_bit": (4,),
            "zero_point": (True,),
            "version": ("gemm", "GEMM"),
            "format": (None, "gemm"),
            "checkpoint_format": (None, "gemm"),
        },
        head_too=True,
        harmless=tuple(each for each in _CALIBRATION if each != "version"),
    ),
    "bitsandbytes": Method(
        (
            Layout((Packed("weight", 1, i * o), Packed("SCB", 4, o)), {"load_in_8bit": True}),
            Layout(
                (
                    Packed("weight", 1, _PAIRS),
                    Packed("absmax", 1, _BLOCKS_OF_64),
                    Packed("nested_absmax", 4, ceiling(i * o / (64 * 256))),
                ),
                {"load_in_4bit": True, "bnb_4bit_use_double_quant": True},
            ),
            Layout((Packed("weight", 1, _PAIRS), Packed("absmax", 4, _BLOCKS_OF_64)), {"load_in_4bit": True}),
        ),
        "linear",
        only={"llm_int8_has_fp16_weight": (None, False), "bnb_4bit_quant_type": (None, "nf4", "fp4")},
        left_out=("llm_int8_skip_modules",),
        harmless=(
            *("_load_in_4bit", "_load_in_8bit", "bnb_4bit_compute_dtype", "bnb_4bit_quant_storage"),
            *("llm_int8_enable_fp32_cpu_offload", "llm_int8_threshold", "load_in_4bit", "load_in_8bit"),
            "bnb_4bit_use_double_quant",
        ),
    ),
    "fp8": Method(
        (
            Layout(
                (_FP8, Packed("weight_scale_inv", 4, ONE), _STATIC),
                {"weight_block_size": None, "activation_scheme": "static"},
            ),
            Layout((_FP8, Packed("weight_scale_inv", 4, ONE)), {"weight_block_size": None}),
            Layout(
                (_FP8, Packed("weight_scale_inv", 4, ceiling(o / p) * ceiling(i / g)), _STATIC),
                {"activation_scheme": "static"},
            ),
            Layout((_FP8, Packed("weight_scale_inv", 4, ceiling(o / p) * ceiling(i / g))), {}),
        ),
        "linear",
        only={
            "activation_scheme": (None, "dynamic", "static"),
            "dequantize": (None, False),
            "expert_dtype": (None, "fp8"),
            "fmt": (None, "e4m3"),
            "scale_fmt": (None, "float"),
        },
        group=("weight_block_size",),
    ),
    "fbgemm_fp8": Method(
        (Layout((_FP8, Packed("weight_scale", 4, o), Packed("input_scale_ub", 4, ONE)), {}),),
        "linear",
        harmless=("activation_scale_ub",),
    ),
    "mxfp4": Method(
        (Layout((Packed("blocks", 16, ceiling(i / 32) * o), Packed("scales", 1, ceiling(i / 32) * o)), {}),),
        "experts",
        only={"dequantize": (None, False)},
    ),
}


@dataclass(frozen=True)
class Storage:
    """How a model is stored: the base type, and the layout of packed matrices, if any.

    `numbers` are the values of the symbols of the layout, without g if all inputs share a scale; `left_out` are the
    names of modules that are not packed. If the bytes are not known, `refused` is the reason.
    """

    dtype: str | None = None
    method: str = ""
    layout: Layout | None = None
    packs: Where = "layers"
    numbers: Mapping[Symbol, int] | None = None
    left_out: tuple[str, ...] = ()
    refused: str = ""

    def matrix(self, inputs: Expr, outputs: Expr) -> Expr:
        """Return the bytes of one packed matrix."""
        assert self.layout is not None
        values: dict[Symbol, Expr] = {s: Integer(v) for s, v in (self.numbers or {}).items()}
        values = {g: inputs, **values, i: inputs, o: outputs}
        total = sum((tensor.bytes * tensor.entries for tensor in self.layout.tensors), Integer(0))
        return total.xreplace(values)
