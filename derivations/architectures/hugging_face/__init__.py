"""Configurations of the Hugging Face library `transformers` as descriptions: a `config.json` becomes a `Model`."""

from derivations.architectures.hugging_face.configurations import FAMILIES, model_of, read_config

__all__ = ["FAMILIES", "model_of", "read_config"]
