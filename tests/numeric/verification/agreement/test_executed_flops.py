"""What is counted against what the library `transformers` executes and keeps: products and bytes, as integers.

Every model of `ODD` and those of `MORE` is run with attention in separate steps and experts one by one, its products
added up by PyTorch: over all positions, with its gradient, over a prompt, for one position more behind a cache. Where
the library does something else the difference is a named term, exact; nothing is compared within a tolerance.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from math import isqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from derivations.architectures.description import Model
from derivations.architectures.hugging_face import FAMILIES, read_config
from derivations.architectures.hugging_face.readers.joined import JOINED
from derivations.architectures.hugging_face.readers.towers import CELLS
from derivations.costs.counts import count
from derivations.language.counting.convention import Convention
from derivations.language.counting.memory_counts import saved_residuals
from tests.numeric.verification.agreement.small_families import MADE_OF_MODELS, RECURRENT
from tests.numeric.verification.agreement.test_parameter_counts import (
    BART,
    BERT,
    BLOOM,
    DEEPSEEK,
    FALCON,
    GPT2,
    LLAMA,
    MOE,
    NEOX,
    ODD,
    OPT,
    T5,
    VIT,
    WHISPER,
    class_and_config,
)
from tests.numeric.verification.agreement.test_saved_residuals import bytes_kept

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is asked of a network
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
flop_counter = pytest.importorskip("torch.utils.flop_counter")
dispatch = pytest.importorskip("torch.utils._python_dispatch")
pytestmark = pytest.mark.peers

SIZES = [(1, 7, 5), (2, 9, 11)]  # sequences, positions, positions of an encoder's input
VOCAB = 13
WINDOW = LLAMA | {"sliding_window": 3}  # shorter than the sequences
MIXED = LLAMA | {"use_sliding_window": True, "sliding_window": 2, "max_window_layers": 1}
DISTILBERT = {"dim": 15, "n_heads": 3, "n_layers": 2, "hidden_dim": 7, "vocab_size": VOCAB}
MORE: list[tuple[str, dict[str, Any]]] = [
    ("BertForNextSentencePrediction", BERT),
    ("RobertaForCausalLM", BERT | {"is_decoder": True}),
    ("RobertaForQuestionAnswering", BERT),
    ("DistilBertForTokenClassification", DISTILBERT | {"num_labels": 5}),
    ("ViTForImageClassification", VIT | {"num_labels": 3, "patch_size": 5, "hidden_act": "relu"}),
    ("MistralForCausalLM", WINDOW),
    ("MixtralForCausalLM", WINDOW | {"num_local_experts": 5, "num_experts_per_tok": 3}),
    ("GptOssForCausalLM", WINDOW | {"num_local_experts": 5, "num_experts_per_tok": 3}),
    ("Qwen2ForCausalLM", MIXED),
    ("Qwen3ForCausalLM", MIXED | {"head_dim": 6}),
    (
        "Qwen2MoeForCausalLM",
        MOE | {"num_experts": 7, "moe_intermediate_size": 3, "shared_expert_intermediate_size": 11},
    ),
    ("Qwen3MoeForCausalLM", MIXED | {"num_experts": 5, "num_experts_per_tok": 1, "moe_intermediate_size": 3}),
    ("Gemma2ForCausalLM", WINDOW | {"num_hidden_layers": 3, "head_dim": 10}),
    ("Gemma3ForCausalLM", WINDOW | {"num_hidden_layers": 8, "head_dim": 6}),
    ("Phi3ForCausalLM", WINDOW | {"pad_token_id": 0, "partial_rotary_factor": 0.5}),
]
DENSE = [case for case in ODD if case[0].startswith("Llama4")]  # whose experts all read every row in the library
CASES = [case for case in ODD if case not in [*RECURRENT, *MADE_OF_MODELS, *DENSE]] + MORE
IDS = [f"{i}-{name}" for i, (name, _) in enumerate(CASES)]
WRITERS = ("CausalLM", "LMHeadModel", "ForConditionalGeneration")
READERS = (  # and write nothing, without a head that scores
    "Albert",
    "AltCLIP",
    "AudioFlamingo3",
    "Bert",
    "CLIP",
    "Camembert",
    "ChineseCLIP",
    "Data2Vec",
    "DINOv3",
    "DebertaV2",
    "DeiT",
    "Dinov2",
    "DistilBert",
    "Electra",
    "Ernie",
    "EuroBert",
    "Hubert",
    "IJepa",
    "JinaEmbeddings",
    "MPNet",
    "MegatronBert",
    "MetaClip2",
    "ModernBert",
    "Qwen2AudioEncoder",
    "NomicBert",
    "OwlViT",
    "Owlv2",
    "Roberta",
    "Siglip",
    "Splinter",
    "T5EncoderModel",
    "UniSpeech",
    "ViT",
    "Voxtral",
    "Wav2Vec2",
    "WavLM",
    "XCLIP",
    "XLMRoberta",
)
# GPT keeps no keys and values in the library; GPT-Neo multiplies all of them there, those outside of a window as well;
# without gradients the counter cannot follow how DBRX's experts are cut from one matrix; that of Granite 4 Vision
# makes no cache of its own
OTHER_WRITERS = ("OpenAIGPT", "GPTNeoFor", "Dbrx", "Granite4VisionText")


def writes(name: str) -> bool:
    """Say whether a model puts out one token after the other, and keeps keys and values."""
    return not name.startswith(OTHER_WRITERS) and (name.endswith(WRITERS) or not name.startswith(READERS))


WRITING = [(case, each) for case, each in zip(CASES, IDS, strict=True) if writes(case[0])]


# --- running a model of the library ---------------------------------------------------------------------------------


class Names(dispatch.TorchDispatchMode):  # type: ignore[misc]
    """Collects the operations that are executed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Any] = set()

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note an operation, and do it."""
        self.seen.add(operation.overloadpacket)
        return operation(*args, **(kwargs or {}))


PRODUCT = re.compile(r"mm|mv|addr|conv|dot|einsum|matmul|attention|linear|bilinear|outer|ger\b")


def executed(run: Callable[..., Any], *arguments: Any, **named: Any) -> tuple[Any, int]:
    """Return what a function gives and the FLOPs of the products that it executes, none of which escapes."""
    with flop_counter.FlopCounterMode(display=False) as counter, Names() as names:
        result = run(*arguments, **named)
    escaped = {each for each in names.seen if PRODUCT.search(str(each))} - set(flop_counter.flop_registry)
    assert not escaped, f"nothing counts {escaped}"
    return result, counter.get_total_flops()


def library(name: str, arguments: Mapping[str, Any], dtype: Any = None) -> tuple[Any, Model]:
    """Return a model of the library that takes every step by itself, and what its `config.json` describes."""
    model_class, config = class_and_config(name, dict(arguments))
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    theirs = model_class(config).eval().to(dtype or torch.float32)
    if "Experts" in str(theirs):
        theirs.set_experts_implementation("eager")
    with TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        return theirs, read_config(Path(folder))


def tokens(batch: int, length: int) -> Any:
    """Return numbers of tokens, none of which stands for padding."""
    return torch.randint(2, VOCAB, (batch, length))


def samples(config: Any, rows: int) -> int:
    """Return the samples that the rows of a sound read."""
    for width, stride in zip(config.conv_kernel[::-1], config.conv_stride[::-1], strict=True):
        rows = stride * (rows - 1) + width
    return rows


def inputs(name: str, config: Any, batch: int, n: int, source: int) -> dict[str, Any]:
    """Return what a model reads: pictures, spectra, one or two sequences of tokens."""
    if hasattr(config, "vision_config"):
        texts, pictures = (inputs(name, each, batch, n, source) for each in (config.text_config, config.vision_config))
        return texts | pictures
    if hasattr(config, "conv_stride"):
        return {"input_values": torch.randn(batch, samples(config, n))}
    if hasattr(config, "patch_size"):
        size = config.image_size if isinstance(config.image_size, list | tuple) else [config.image_size] * 2
        return {"pixel_values": torch.randn(batch, config.num_channels, *size)}
    if name in ("VoxtralEncoder", "Qwen2AudioEncoder", "AudioFlamingo3Encoder"):
        frames = 2 * config.max_source_positions
        given = {"input_features": torch.randn(batch, config.num_mel_bins, frames)}
        return given | ({"input_features_mask": torch.ones(batch, frames)} if name.startswith("AudioFl") else {})
    if name.startswith("Whisper"):
        frames = torch.randn(batch, config.num_mel_bins, 2 * config.max_source_positions)
        return {"input_features": frames, "decoder_input_ids": tokens(batch, n)}
    if name.endswith("MultipleChoice"):
        return {"input_ids": tokens(batch, n)[:, None]}
    if config.is_encoder_decoder and name != "T5EncoderModel":
        return {"input_ids": tokens(batch, source), "decoder_input_ids": tokens(batch, n)}
    return {"input_ids": tokens(batch, n)}


SCORES = ("logits", "prediction_logits", "seq_relationship_logits", "start_logits", "end_logits", "pooler_output")
SCORES += ("logits_per_text", "text_embeds", "image_embeds")


def total(output: Any) -> Any:
    """Return the sum of all that a model puts out."""
    wanted = [output[key] for key in SCORES if output.get(key) is not None]
    if "last_hidden_state" in output:
        wanted.append(output["last_hidden_state"])
    return sum(each.sum() for each in wanted)


def matmul(model: Model, **asked: Any) -> int:
    """Return the count of a model."""
    counts = count(model, **{"convention": Convention(input_gradient=False), **asked})
    return counts.number(counts.flops.matmul)


# --- what the library does otherwise --------------------------------------------------------------------------------


def of_latent_vectors(config: Any, batch: int, n: int) -> int:
    """The library keeps the latent vectors of n positions and makes their keys and values again in every step.

    Here these rows were computed before, as `count_decode_flops` says.
    """
    if getattr(config, "kv_lora_rank", None) is None:
        return 0
    columns = config.num_attention_heads * (config.qk_nope_head_dim + config.v_head_dim)
    return 2 * config.num_hidden_layers * batch * n * config.kv_lora_rank * columns


def of_learned_query(config: Any, batch: int) -> int:
    """The library projects the query that pools the rows for every picture; here that is done once."""
    config = getattr(config, "vision_config", config)
    used = config.model_type == "siglip_vision_model" and config.vision_use_head
    return 2 * (batch - 1) * config.hidden_size**2 if used else 0


def of_other_pairs(config: Any, batch: int) -> int:
    """The library scores every text of a batch with every picture; here a text is scored with its own."""
    width = {"clip": "projection_dim", "metaclip_2": "projection_dim", "siglip": "vision_config"}.get(config.model_type)
    if width is None:
        return 0
    columns = getattr(config, width)
    return 2 * (batch - 1) * batch * getattr(columns, "hidden_size", columns)


def of_summed_distances(theirs: Any, batch: int) -> int:
    """The library projects the rows of distances once for a batch, and sums what they get before it goes on backwards.

    Here every text has products of its own there, for the rows and for their projections.
    """
    rows = [each for name, each in theirs.named_parameters() if name.endswith("rel_embeddings.weight")]
    maps = [each for each in theirs.modules() if type(each).__name__ == "DisentangledSelfAttention"]
    terms = sum(len(each.pos_att_type) for each in maps)
    return -sum(2 * 2 * (batch - 1) * terms * table.numel() * table.shape[1] for table in rows)


def of_other_experts(config: Any, batch: int, n: int) -> int:
    """Llama 4 multiplies the rows of experts that are not chosen by 0 in the library, and executes their products."""
    if config.model_type != "llama4_text":
        return 0
    others = (config.num_local_experts - config.num_experts_per_tok) * len(config.moe_layers)
    return others * 2 * batch * n * 3 * config.hidden_size * config.intermediate_size


def of_windows(theirs: Any, batch: int, n: int) -> tuple[int, int]:
    """Return the products of convolutions in groups that are not counted in a pass, and in a pass and its gradient.

    The library convolves one window more where the width is even, and drops what comes of it. PyTorch's counter takes
    each column of the weights' gradient to read those of all groups. The gradient of normed weights has two sums of
    products of all of them, for each sequence, which the library does not compute as products.
    """
    forward, both = 0, 0
    for each in (each for each in theirs.modules() if isinstance(each, torch.nn.Conv1d) and each.groups > 1):
        more = (each.kernel_size[0] + 1) % 2
        weights = each.weight.numel()
        forward += 2 * batch * weights * more
        both += 6 * batch * weights * more + 2 * batch * weights * (each.groups - 1) * (n + more)
        both -= 4 * batch * weights * hasattr(each, "parametrizations")
    return forward, both


# --- products -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), CASES, ids=IDS)
def test_a_pass_and_its_gradient_execute_the_products_that_are_counted(name: str, arguments: dict[str, Any]) -> None:
    theirs, model = library(name, arguments)
    for batch, n, source in SIZES:
        given = inputs(name, theirs.config, batch, n, source)
        output, forward = executed(theirs, **given)
        _, backward = executed(total(output).backward)
        sizes = {"batch": batch, "seq": n, "source": source}
        beside, pairs = of_learned_query(theirs.config, batch), of_other_pairs(theirs.config, batch)
        once, both = of_windows(theirs, batch, n)
        assert forward == matmul(model, **sizes) + beside + pairs + once
        summed = of_summed_distances(theirs, batch)
        assert forward + backward == matmul(model, phase="training", **sizes) + beside + 3 * pairs + both + summed


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), [case for case, _ in WRITING], ids=[each for _, each in WRITING])
def test_a_prompt_and_one_token_more_execute_the_products_that_are_counted(
    name: str, arguments: dict[str, Any]
) -> None:
    theirs, model = library(name, arguments)
    config = theirs.config
    for batch, n, source in [(1, 7, 5), (2, 8, 11)]:
        given = inputs(name, config, batch, n + 1, source)
        key = "decoder_input_ids" if config.is_encoder_decoder else "input_ids"
        written = given.pop(key)
        with torch.no_grad():
            prompt, prefill = executed(theirs, **given, **{key: written[:, :n]}, use_cache=True)
            if config.is_encoder_decoder:
                given = {"encoder_outputs": (prompt.encoder_last_hidden_state,)}
            cache = "cache" if "cache" in signature(theirs.forward).parameters else "past_key_values"  # by release
            past = {cache: prompt[cache], "use_cache": True}
            _, step = executed(theirs, **given, **{key: written[:, n:]}, **past)
        sizes = {"batch": batch, "seq": n, "source": source}
        assert prefill == matmul(model, phase="prefill", **sizes)
        assert step == matmul(model, phase="decode", latent="expanded", **sizes) + of_latent_vectors(config, batch, n)


def with_picture(theirs: Any, batch: int, n: int) -> dict[str, Any]:
    """Return texts of n tokens, each with the tokens of one picture behind the first one."""
    config = theirs.config
    vision, place = config.vision_config, getattr(config, "image_token_id", None)
    if hasattr(vision, "image_size"):
        rows = getattr(config, "mm_tokens_per_image", None) or (vision.image_size // vision.patch_size) ** 2
        tower = "clip" in vision.model_type
        if "llava" in config.model_type:
            rows += tower - (getattr(config, "vision_feature_select_strategy", "default") == "default")
        sides = (vision.num_channels, vision.image_size, vision.image_size)
        given = {"pixel_values": torch.randn(batch, *sides)}
    else:
        each = vision.spatial_merge_size
        rows = vision.num_position_embeddings // each**2 if hasattr(vision, "num_position_embeddings") else CELLS
        side = isqrt(rows) * each
        pixels = vision.in_channels * vision.temporal_patch_size * vision.patch_size**2
        given = {
            "pixel_values": torch.randn(batch * side**2, pixels),
            "image_grid_thw": torch.tensor([[1, side, side]] * batch),
        }
    written = tokens(batch, n)
    written[:, 1 : 1 + rows] = place
    given |= {"input_ids": written, "mm_token_type_ids": (written == place).int()}
    return {each: given[each] for each in given if each in signature(theirs.forward).parameters}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments"), MADE_OF_MODELS, ids=[f"{i}-{n}" for i, (n, _) in enumerate(MADE_OF_MODELS)]
)
def test_a_text_with_a_picture_executes_the_products_that_are_counted(name: str, arguments: dict[str, Any]) -> None:
    theirs, model = library(name, arguments)
    for batch, n in [(1, 260), (2, 263)]:
        given = with_picture(theirs, batch, n)
        output, forward = executed(theirs, **given)
        _, backward = executed(total(output).backward)
        beside = of_learned_query(theirs.config.vision_config, batch)
        assert forward == matmul(model, batch=batch, seq=n) + beside
        assert forward + backward == matmul(model, phase="training", batch=batch, seq=n) + beside
        with torch.no_grad():
            past = theirs(**given, use_cache=True)
            cache = "cache" if "cache" in signature(theirs.forward).parameters else "past_key_values"  # by release
            _, step = executed(theirs, input_ids=tokens(batch, 1), use_cache=True, **{cache: past[cache]})
        assert step == matmul(model, phase="decode", batch=batch, seq=n)


def of_padding(theirs: Any, batch: int) -> int:
    """The library convolves w - 1 rows of padding behind the last position, too, and drops what comes of them."""
    convolutions = (each for each in theirs.modules() if isinstance(each, torch.nn.Conv1d))
    return sum(2 * batch * each.in_channels * (w := each.kernel_size[0]) * (w - 1) for each in convolutions)


def of_chunks(mixer: Any, batch: int, n: int) -> int:
    """The library computes state spaces with heads by chunks, the last one filled up, and not by the recurrence."""
    h, p, s, c = mixer.num_heads, mixer.head_dim, mixer.ssm_state_size, mixer.chunk_size
    chunks = -(-n // c)
    inside = chunks * c * (c * (s + p) + 2 * p * s)  # scores, their rows, the state of a chunk, and what it shows
    return 2 * batch * h * (inside + (chunks + 1) ** 2 * p * s - n * p * s)


def of_corrected(heads: int, k: int, v: int, batch: int, n: int, *, by_columns: bool) -> int:
    """The library solves a triangular system in each chunk of 64 positions; ours reads a state twice at a position."""
    c, chunks = 64, -(-n // 64)
    system = c * c * (k + 2 * v if by_columns else 2 * k + v)  # with decays by column scores are no products
    return 2 * batch * heads * (chunks * (system + 3 * c * k * v) - (2 * n - 1) * k * v)


def of_blocks(mixer: Any, batch: int, n: int) -> int:
    """The library computes lightning attention by blocks, of which the last one may be shorter."""
    d, c = mixer.head_dim, mixer.block_size
    blocks = [min(c, n - start) for start in range(0, n, c)]
    inside = sum(2 * b * b * d + 2 * b * d * d for b in blocks)
    return 2 * batch * mixer.num_attention_heads * (inside - n * d * d)


def of_mixer(mixer: Any, batch: int, n: int) -> int:
    """Return the products that a recurrence of the library executes beside those of the law."""
    kind = type(mixer).__name__
    if kind.endswith("GatedDeltaNet"):
        sizes = mixer.num_v_heads, mixer.head_k_dim, mixer.head_v_dim
        return of_corrected(*sizes, batch, n, by_columns=False)
    if kind.endswith("DeltaAttention"):
        return of_corrected(mixer.num_heads, mixer.head_dim, mixer.head_dim, batch, n, by_columns=True)
    if kind.endswith("LightningAttention"):
        return of_blocks(mixer, batch, n)
    return of_chunks(mixer, batch, n) if hasattr(mixer, "chunk_size") else 0


def beside_recurrences(theirs: Any, batch: int, n: int) -> int:
    """Return the products that a model with recurrences executes and that are not counted."""
    return of_padding(theirs, batch) + sum(of_mixer(mixer, batch, n) for mixer in theirs.modules())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), RECURRENT, ids=[f"{i}-{name}" for i, (name, _) in enumerate(RECURRENT)])
def test_a_pass_over_recurrences_executes_the_products_that_are_counted(name: str, arguments: dict[str, Any]) -> None:
    theirs, model = library(name, arguments)
    for batch, n, _ in SIZES:
        _, forward = executed(theirs, tokens(batch, n), use_cache=False)
        assert forward == matmul(model, batch=batch, seq=n) + beside_recurrences(theirs, batch, n)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), DENSE)
def test_experts_that_are_not_chosen_are_executed_and_not_counted(name: str, arguments: dict[str, Any]) -> None:
    theirs, model = library(name, arguments)
    for batch, n, _ in SIZES:
        beside = of_other_experts(theirs.config, batch, n)
        output, forward = executed(theirs, tokens(batch, n))
        _, backward = executed(total(output).backward)
        assert beside > 0
        assert forward == matmul(model, batch=batch, seq=n) + beside
        assert forward + backward == matmul(model, phase="training", batch=batch, seq=n) + 3 * beside


@pytest.mark.parametrize(("name", "arguments"), [("GPT2LMHeadModel", GPT2), ("Gemma2ForCausalLM", LLAMA)])
def test_scores_of_the_last_position_alone_leave_out_those_of_the_others(name: str, arguments: dict[str, Any]) -> None:
    theirs, model = library(name, arguments)
    batch, n = 2, 7
    _, last = executed(theirs, tokens(batch, n), logits_to_keep=1)
    table = theirs.get_output_embeddings().weight.numel()
    assert last == matmul(model, batch=batch, seq=n, phase="prefill") - 2 * batch * (n - 1) * table


@pytest.mark.parametrize("experts", ["eager", "batched_mm"])
@pytest.mark.parametrize("chosen", [1, 2, 5])
def test_only_the_experts_that_are_chosen_are_executed(experts: str, chosen: int) -> None:
    theirs, model = library("MixtralForCausalLM", MOE | {"num_local_experts": 5, "num_experts_per_tok": chosen})
    theirs.set_experts_implementation(experts)
    _, forward = executed(theirs, tokens(2, 7))
    assert forward == matmul(model, batch=2, seq=7)


# --- bytes that are kept --------------------------------------------------------------------------------------------

Terms = Mapping[str, int]  # bytes that the library keeps beside what is counted, by what they are


@dataclass(frozen=True)
class Run:
    """A model of the library that was run: its sizes, and bytes for one number."""

    config: Any
    batch: int
    n: int
    m: int
    number: int

    @property
    def copy(self) -> int:
        """The bytes of one number in float32, where that is a copy of it."""
        return 0 if self.number == 4 else 4

    @property
    def width(self) -> int:
        """The width of a head."""
        return getattr(self.config, "head_dim", None) or self.config.hidden_size // self.config.num_attention_heads

    @property
    def positions(self) -> int:
        """The number of positions: that of tokens, or of the patches of a picture and one more."""
        if self.config.model_type == "vit":
            return (self.config.image_size // self.config.patch_size) ** 2 + 1
        return self.n

    def softmax_in_float32(self) -> Terms:
        """The weights of every attention, of which the backward pass reads the copy in float32 too."""
        pairs = self.batch * self.config.num_attention_heads * self.positions**2
        return {"weights in float32": self.copy * self.config.num_hidden_layers * pairs}

    def turned(self, columns: int) -> Terms:
        """Cosines and sines of all positions, which no input changes."""
        return {"cosines and sines": 2 * self.n * columns * self.number}

    def repeated(self, heads: int, groups: int, layers: int) -> Terms:
        """Keys and values, copied for every head that shares them."""
        rows = layers * self.batch * self.n
        return {"repeated keys and values": 2 * rows * (heads - groups) * self.width * self.number}


def buffered(run: Run) -> Terms:
    """The numbers of all positions that there are, of which a table is read."""
    return {"positions": 8 * run.config.max_position_embeddings}


def gpt2(run: Run) -> Terms:
    """GELU by tanh: x / 2, tanh(...) and 1 + tanh(...) beside x, of which both can be computed again."""
    hidden = run.config.n_layer * run.batch * run.n * (run.config.n_inner or 4 * run.config.n_embd)
    several = 3 if run.config.activation_function == "gelu_new" else 0
    return {"GELU in several operations": several * hidden * run.number}


def gptj(run: Run) -> Terms:
    """Queries and keys meet in float32; angles are repeated for the queries and for the keys of every layer."""
    c = run.config
    return {
        **gpt2(run),
        "cosines and sines": 4 * c.n_layer * run.n * c.rotary_dim * run.number,
        "queries and keys in float32": (4 - run.number) * 2 * c.n_layer * run.batch * run.n * c.n_embd,
        **run.softmax_in_float32(),
    }


def numbered_positions(run: Run) -> Terms:
    return {"positions": 8 * run.batch * run.n}


def opt(run: Run) -> Terms:
    return {**numbered_positions(run), **run.softmax_in_float32()}


def gpt_neox(run: Run) -> Terms:
    """The values of one sequence are columns of a product that is kept whole, those of several are copied."""
    c = run.config
    whole = 2 * c.num_hidden_layers * run.n * c.hidden_size * run.number
    return {
        "product of which values are columns": whole if run.batch == 1 else 0,
        **run.turned(int(run.width * c.rope_parameters["partial_rotary_factor"])),
        **run.softmax_in_float32(),
    }


def falcon(run: Run) -> Terms:
    """The keys and values of one sequence are not copied; they are found in a product by lists of one number."""
    c = run.config
    shared = run.repeated(c.num_attention_heads, 1, c.num_hidden_layers) if run.batch > 1 else {}
    return {**shared, **run.turned(run.width), "places of keys and values": 2 * 8 * c.num_hidden_layers}


def bart(run: Run) -> Terms:
    return {"positions": 8 * run.batch * run.m + 8 * run.n}


def llama(run: Run) -> Terms:
    """Norms in several operations keep x / sqrt(...) too, and x itself in float32."""
    c = run.config
    normed = (2 * c.num_hidden_layers + 1) * run.batch * run.n * c.hidden_size
    return {
        "normed rows": run.number * normed,
        "rows in float32": (4 - run.number) * normed,
        **run.repeated(c.num_attention_heads, c.num_key_value_heads, c.num_hidden_layers),
        **run.turned(run.width),
        **run.softmax_in_float32(),
    }


def qwen3(run: Run) -> Terms:
    c = run.config
    heads = c.num_attention_heads + c.num_key_value_heads
    normed = c.num_hidden_layers * run.batch * run.n * heads * run.width
    return {**llama(run), "normed queries and keys": run.number * normed, "in float32": (4 - run.number) * normed}


def gemma(run: Run) -> Terms:
    """Norms in float32, with weights that 1 is added to; the factor of the embeddings is an array of one number."""
    c = run.config
    norms = (4 if c.model_type == "gemma2" else 2) * c.num_hidden_layers + 1
    normed = norms * run.batch * run.n * c.hidden_size
    return {
        **llama(run),
        "normed rows": 4 * normed,
        "rows in float32": (4 - run.number) * normed,
        "weights and 1": 4 * norms * c.hidden_size,
        "factor": run.number,
    }


def routed(run: Run, layers: int, experts: int) -> Terms:
    """The rows of each expert and their weights are gathered by lists of places, and what it makes of them is added.

    Scores of experts are in float32; the shares of those chosen take the place of the scores that they are made of.
    """
    c = run.config
    rows = layers * run.batch * run.n
    each = rows * c.num_experts_per_tok
    return {
        "gathered rows": each * c.hidden_size * run.number,
        "added rows": each * c.hidden_size * run.number,
        "gathered weights": each * 4,
        "places": 2 * 8 * each,
        "shares in place of scores": -each * run.number,
        "scores in float32": (4 - run.number) * (rows * (experts + 1) + each),
    }


def mixtral(run: Run) -> Terms:
    c = run.config
    return {**llama(run), **routed(run, c.num_hidden_layers, c.num_local_experts)}


def deepseek(run: Run) -> Terms:
    """Latent keys, where they are no copy in float32, and the values of one sequence are columns of a whole product.

    The turned key is copied for every head. Experts are chosen among those of the best groups: the places of two in
    every group and of the groups are kept, and a mask.
    """
    c = run.config
    sparse = c.num_hidden_layers - c.first_k_dense_replace
    rows = run.batch * run.n
    normed = rows * ((2 * c.num_hidden_layers + 1) * c.hidden_size)
    latent = rows * c.num_hidden_layers * (c.q_lora_rank + c.kv_lora_rank)
    turned = rows * c.num_hidden_layers * c.qk_rope_head_dim
    whole = rows * c.num_hidden_layers * c.num_attention_heads * c.qk_nope_head_dim
    return {
        "normed rows": run.number * (normed + latent),
        "rows in float32": (4 - run.number) * (normed + latent),
        "columns beside the latent keys": 0 if run.copy else turned * run.number,
        "keys beside the values": 0 if run.batch > 1 else whole * run.number,
        "rows and weights of routers in float32": run.copy * sparse * (rows + c.n_routed_experts) * c.hidden_size,
        "turned keys of every head": (c.num_attention_heads - 1) * turned * run.number,
        **run.turned(c.qk_rope_head_dim),
        "places and mask of groups": sparse * rows * (8 * (2 * c.n_group + c.topk_group) + c.n_routed_experts),
        **routed(run, sparse, c.n_routed_experts),
        **run.softmax_in_float32(),
    }


def t5(run: Run) -> Terms:
    """Norms as in Llama, with x in both precisions; the distances of positions by their buckets."""
    c = run.config
    rows = (2 * c.num_layers + 1) * run.m + (3 * c.num_decoder_layers + 1) * run.n
    normed = run.batch * rows * c.d_model
    return {
        "normed rows": run.number * normed,
        "rows in float32": run.copy * normed,
        "buckets": 8 * (run.m**2 + run.n**2),
    }


KEPT: list[tuple[str, dict[str, Any], Callable[[Run], Terms]]] = [
    ("GPT2LMHeadModel", GPT2, lambda run: {**gpt2(run), "positions": 8 * run.n}),
    ("GPT2LMHeadModel", GPT2 | {"activation_function": "gelu"}, lambda run: {"positions": 8 * run.n}),
    ("GPT2LMHeadModel", GPT2 | {"activation_function": "relu"}, lambda run: {"positions": 8 * run.n}),
    ("BertModel", BERT, buffered),
    ("BertForMaskedLM", BERT, buffered),
    ("RobertaForMaskedLM", BERT, numbered_positions),
    ("DistilBertForMaskedLM", DISTILBERT, buffered),
    ("ViTForImageClassification", VIT | {"num_labels": 3}, Run.softmax_in_float32),
    ("OPTForCausalLM", OPT, opt),
    ("GPTJForCausalLM", GPT2 | {"n_embd": 24, "rotary_dim": 4}, gptj),
    ("GPTNeoXForCausalLM", NEOX, gpt_neox),
    ("BloomForCausalLM", BLOOM, Run.softmax_in_float32),
    ("FalconForCausalLM", FALCON, falcon),
    ("BartForConditionalGeneration", BART, bart),
    ("WhisperForConditionalGeneration", WHISPER, numbered_positions),
    ("LlamaForCausalLM", LLAMA, llama),
    ("LlamaForCausalLM", LLAMA | {"num_key_value_heads": 6, "attention_bias": True}, llama),
    ("MistralForCausalLM", WINDOW | {"head_dim": 2}, llama),
    ("Qwen2ForCausalLM", MIXED, llama),
    ("Phi3ForCausalLM", LLAMA | {"pad_token_id": 0}, llama),
    ("Qwen3ForCausalLM", LLAMA | {"head_dim": 6}, qwen3),
    ("GemmaForCausalLM", LLAMA | {"head_dim": 10}, gemma),
    ("Gemma2ForCausalLM", WINDOW | {"num_hidden_layers": 3, "head_dim": 10}, gemma),
    ("MixtralForCausalLM", MOE | {"num_local_experts": 5}, mixtral),
    ("DeepseekV3ForCausalLM", DEEPSEEK, deepseek),
    ("T5ForConditionalGeneration", T5 | {"num_decoder_layers": 3}, t5),
]
IN_FLOAT32 = ("T5", "Llama", "Mistral", "Qwen", "Phi", "Gemma", "Mixtral", "Deepseek")  # what they keep of each row


def saved(name: str, arguments: Mapping[str, Any], number: str, batch: int, n: int, m: int) -> tuple[int, int, Run]:
    """Return the bytes that a pass of the library keeps, those that are counted, and what was run."""
    theirs, model = library(name, arguments, getattr(torch, number))
    given = inputs(name, theirs.config, batch, n, m)
    given |= {key: value.to(getattr(torch, number)) for key, value in given.items() if value.is_floating_point()}
    if name.startswith(("Bert", "Roberta")):
        given["token_type_ids"] = torch.randint(0, 2, (batch, n))
    if writes(name):
        given["use_cache"] = False
    seen, _ = bytes_kept(lambda: theirs(**given), parameters=list(theirs.parameters()))
    counts = count(model, batch=batch, seq=n, source=m, dtype=number)
    each = counts.bytes_per_number
    statistics = saved_residuals(counts.layer, batch=batch).statistics * (4 if name.startswith(IN_FLOAT32) else each)
    return seen, counts.number(counts.activation_bytes + statistics), Run(theirs.config, batch, n, m, each)


@pytest.mark.slow
@pytest.mark.parametrize("number", ["float32", "bfloat16"])
@pytest.mark.parametrize(("name", "arguments", "terms"), KEPT, ids=[f"{i}-{each[0]}" for i, each in enumerate(KEPT)])
def test_a_model_keeps_the_bytes_that_are_counted(
    name: str, arguments: dict[str, Any], terms: Callable[[Run], Terms], number: str
) -> None:
    for sizes in SIZES:
        seen, counted, run = saved(name, arguments, number, *sizes)
        assert seen == counted + sum(terms(run).values()), terms(run)


@pytest.mark.parametrize("term", ["normed rows", "repeated keys and values", "cosines and sines"])
def test_bytes_without_one_of_the_terms_are_refused(term: str) -> None:
    seen, counted, run = saved("LlamaForCausalLM", LLAMA, "float32", 2, 7, 7)
    terms = dict(llama(run))
    assert terms.pop(term) > 0
    assert seen != counted + sum(terms.values())


# --- the comparison says no -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"convention": Convention(causal="halved")},
        {"convention": Convention(causal="visible")},
        {"convention": Convention(lookups="counted")},
        {"convention": Convention(unit="mac")},
        {"batch": 1},
        {"seq": 8},
        {"phase": "training"},
    ],
)
def test_another_count_is_refused(wrong: dict[str, Any]) -> None:
    theirs, model = library("LlamaForCausalLM", LLAMA)
    _, forward = executed(theirs, tokens(2, 7))
    right = {"batch": 2, "seq": 7}
    assert forward == matmul(model, **right) != matmul(model, **(right | wrong))


@pytest.mark.parametrize("field", ["num_experts_per_tok", "num_key_value_heads", "intermediate_size", "hidden_size"])
def test_the_count_of_another_model_is_refused(field: str) -> None:
    sizes = MOE | {"num_local_experts": 5}
    theirs, _ = library("MixtralForCausalLM", sizes)
    _, forward = executed(theirs, tokens(2, 7))
    _, other = library("MixtralForCausalLM", sizes | {field: 6 if field == "num_key_value_heads" else 2 * sizes[field]})
    assert forward != matmul(other, batch=2, seq=7)


def test_a_product_that_nothing_counts_is_refused() -> None:
    with pytest.raises(AssertionError, match=r"nothing counts .*mv"):
        executed(torch.mv, torch.ones(2, 3), torch.ones(3))


def test_every_family_is_executed() -> None:
    compared = {class_and_config(name, arguments)[1].model_type for name, arguments in CASES}
    recurrent = {class_and_config(name, arguments)[1].model_type for name, arguments in RECURRENT}
    compared |= {class_and_config(name, arguments)[1].model_type for name, arguments in DENSE}
    assert compared | recurrent | {*JOINED} == set(FAMILIES)  # their language models are those of other families
    writing = {class_and_config(name, arguments)[1].model_type for (name, arguments), _ in WRITING}
    encoders = {
        "camembert",
        "data2vec-text",
        "deberta-v2",
        "distilbert",
        "ernie",
        "megatron-bert",
        "modernbert",
        "mpnet",
        "roberta-prelayernorm",
    }
    encoders |= {"albert", "bert-generation", "electra", "eurobert", "vit", "xlm-roberta", "xlm-roberta-xl"}
    encoders |= {
        *(
            "altclip_vision_model",
            "chinese_clip_vision_model",
            "clipseg_vision_model",
            "chinese_clip_text_model",
            "clipseg_text_model",
            "xclip_text_model",
            "owlv2_text_model",
            "owlv2_vision_model",
            "owlvit_text_model",
            "owlvit_vision_model",
            "siglip2_text_model",
            "splinter",
        ),
        "clip",
        "clip_text_model",
        "clip_vision_model",
        "metaclip_2",
        "metaclip_2_text_model",
        "metaclip_2_vision_model",
        "deit",
        "dinov2",
        "dinov2_with_registers",
        "dinov3_vit",
        "ijepa",
        "jina_embeddings_v3",
        "nomic_bert",
        "siglip",
        "siglip_text_model",
        "siglip_vision_model",
        "vit_msn",
        *(
            "data2vec-audio",
            "hubert",
            "unispeech",
            "unispeech-sat",
            "wav2vec2",
            "wavlm",
            "qwen2_audio_encoder",
            "audioflamingo3_encoder",
            "voxtral_encoder",
        ),
    }
    assert set(FAMILIES) - writing == encoders | (recurrent - writing) | {
        "dbrx",
        "gpt_neo",
        "granite4_vision_text",
        "llama4_text",
        "openai-gpt",
        *JOINED,
    }
    assert len(CASES) >= 60
