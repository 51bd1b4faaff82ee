"""The families of models whose configurations are read: for each `model_type`, its sizes and its heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from derivations.architectures.description import Architecture, Model
from derivations.architectures.hugging_face import decoders, deepseek, encoder_decoders, encoders, gated, gemma, gpt_oss
from derivations.architectures.hugging_face.fields import Fields, shown
from derivations.architectures.hugging_face.shared import Parts
from derivations.architectures.hugging_face.stored import storage_of
from derivations.architectures.reading import read_json

__all__ = ["FAMILIES", "Family", "model_of", "read_config"]


@dataclass(frozen=True)
class Family:
    """How the fields of a configuration are read, and the head of every class that `architectures` may name.

    The first class is meant where none is named.
    """

    read: Callable[[Fields, str], Parts]
    heads: Mapping[str, str]


def _decoder(read: Callable[[Fields, str], Parts], prefix: str, scores: str = "ForCausalLM") -> Family:
    """A family that has scores of tokens, or the rows before them."""
    return Family(read, {prefix + scores: "language_model", prefix + "Model": "none"})


def _encoder(read: Callable[[Fields, str], Parts], prefix: str, usual: str, **other: str) -> Family:
    """A family of encoders of tokens; `usual` is the head of the bare model, `other` adds to the classes."""
    heads = {
        "ForMaskedLM": "masked_language_model",
        "Model": usual,
        "ForSequenceClassification": "pooled_classes",
        "ForTokenClassification": "token_classes",
        "ForQuestionAnswering": "token_classes",
        "ForMultipleChoice": "pooled_classes 1",
    }
    return Family(read, {prefix + suffix: head for suffix, head in (heads | other).items()})


FAMILIES: Mapping[str, Family] = {
    "bert": _encoder(
        encoders.bert,
        "Bert",
        "pooler",
        ForPreTraining="pretraining",
        LMHeadModel="masked_language_model",
        ForNextSentencePrediction="pooled_classes 2",
    ),
    "roberta": _encoder(encoders.roberta, "Roberta", "pooler", ForCausalLM="masked_language_model"),
    "distilbert": _encoder(encoders.distilbert, "DistilBert", "none"),
    "vit": Family(encoders.vit, {"ViTForImageClassification": "classes", "ViTModel": "pooler"}),
    "gpt2": _decoder(decoders.gpt2, "GPT2", "LMHeadModel"),
    "gptj": _decoder(decoders.gptj, "GPTJ"),
    "gpt_neox": _decoder(decoders.gpt_neox, "GPTNeoX"),
    "opt": _decoder(decoders.opt, "OPT"),
    "bloom": _decoder(decoders.bloom, "Bloom"),
    "falcon": _decoder(decoders.falcon, "Falcon"),
    "llama": Family(
        gated.llama,
        {"LlamaForCausalLM": "language_model", "LLaMAForCausalLM": "language_model", "LlamaModel": "none"},
    ),
    "mistral": _decoder(gated.mistral, "Mistral"),
    "mixtral": _decoder(gated.mixtral, "Mixtral"),
    "qwen2": _decoder(gated.qwen2, "Qwen2"),
    "qwen2_moe": _decoder(gated.qwen2_moe, "Qwen2Moe"),
    "qwen3": _decoder(gated.qwen3, "Qwen3"),
    "qwen3_moe": _decoder(gated.qwen3_moe, "Qwen3Moe"),
    "gemma": _decoder(gemma.gemma, "Gemma"),
    "gemma2": _decoder(gemma.gemma2, "Gemma2"),
    "gemma3_text": Family(gemma.gemma3, {"Gemma3ForCausalLM": "language_model", "Gemma3TextModel": "none"}),
    "gemma3": Family(gemma.gemma3_of_text, {"Gemma3ForConditionalGeneration": "language_model"}),
    "phi3": _decoder(gated.phi3, "Phi3"),
    "gpt_oss": _decoder(gpt_oss.gpt_oss, "GptOss"),
    "deepseek_v3": _decoder(deepseek.deepseek_v3, "DeepseekV3"),
    "t5": Family(
        encoder_decoders.t5,
        {
            "T5ForConditionalGeneration": "language_model",
            "T5WithLMHeadModel": "language_model",
            "T5Model": "none",
            "T5EncoderModel": "encoder",
        },
    ),
    "bart": _decoder(encoder_decoders.bart, "Bart", "ForConditionalGeneration"),
    "mbart": _decoder(encoder_decoders.mbart, "MBart", "ForConditionalGeneration"),
    "whisper": _decoder(encoder_decoders.whisper, "Whisper", "ForConditionalGeneration"),
}


def read_config(path: str | Path, ignore: Sequence[str] = ()) -> Model:
    """Return the model that a `config.json` describes, named after its folder; the folder may stand for the file.

    Raises       ConfigError, one sentence with file and field, for what cannot be read or is not understood
    """
    path = Path(path)
    config = read_json(path)
    file = path.resolve() / "config.json" if path.is_dir() else path.resolve()
    name = file.parent.name if file.name == "config.json" else file.stem
    return model_of(config, name or "model", ignore, str(path))


def model_of(config: Mapping[str, object], name: str, ignore: Sequence[str] = (), place: str | None = None) -> Model:
    """Return the model that the fields of a configuration describe; `ignore` names fields to pass over.

    Raises       ConfigError, one sentence that begins with `place` (the name, unless given) and names the field
    """
    fields = Fields(config, place or name, ignore)
    model_type = fields.take("model_type")
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        near = get_close_matches(str(model_type)[:60], FAMILIES, 1)
        known = f"did you mean {near[0]}" if near else f"known are {', '.join(FAMILIES)}"
        raise fields.error("model_type", f"is {shown(model_type)}, an unknown family of models; {known}")
    family = FAMILIES[model_type]
    storage = storage_of(fields, model_type, _inside(config))
    parts = family.read(fields, _head(fields, family))
    fields.finish()
    architecture = Architecture(name, parts.head, parts.encoder, parts.decoder)
    source = f"model_type {model_type}"
    return Model(architecture, dict(fields.values), source, tuple(fields.assumptions), (), fields.part, storage)


def _inside(config: Mapping[str, object]) -> Mapping[str, object]:
    """The fields of the text model inside a model of several kinds of input, where there is one."""
    inner = config.get("text_config")
    return inner if isinstance(inner, dict) else {}


def _head(fields: Fields, family: Family) -> str:
    """The head of the class that `architectures` names."""
    named = fields.take("architectures", None)
    if named is None or named == []:
        usual = next(iter(family.heads))
        fields.assumptions.append(f"architectures is not given: {usual}")
        return family.heads[usual]
    if not isinstance(named, list) or len(named) != 1 or named[0] not in family.heads:
        raise fields.error("architectures", f"is {shown(named)}; known are {', '.join(family.heads)}")
    return family.heads[named[0]]
