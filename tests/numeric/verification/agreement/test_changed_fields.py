"""Every field of a configuration changed by itself: parameters as in the library, or a refusal; never a wrong number.

A model of the library is built without numbers from the changed configuration. Where the library refuses the change
there is nothing to compare. The default model of every family is changed; of a model made of models, every field of
each of them as well.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from derivations.architectures.components import parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.hugging_face import FAMILIES, model_of
from derivations.architectures.hugging_face.readers.joined import JOINED, TEXT_ALONE
from derivations.architectures.reading import ConfigError, read_json
from tests.numeric.verification.agreement.test_parameter_counts import (
    ODD,
    class_and_config,
    library_model,
)

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = [pytest.mark.peers, pytest.mark.slow]

FIRST = {f"{name} {sizes.get('model_type', '')}".rstrip(): sizes for name, sizes in reversed(ODD)}  # of each class
NAMES = ("model_type", "architectures", "transformers_version", "dtype")  # fields that do not describe the model
WORDS = ("gelu", "relu2", "tanh", "sdpa", "layer_norm")


def library_differs(config: dict[str, Any]) -> int:
    """Return the parameters that the library has more, in the two places where its model is not the file's.

    Scores of masked tokens from a matrix of their own have two biases there, of which one is not used. T5's class ties
    its scores whatever the file says, where released files say false and store a matrix.
    """
    if config.get("tie_word_embeddings") is not False:
        return 0
    kind, head = str(config["model_type"]), str(config["architectures"])
    if kind in ("t5", "mt5"):
        return 0 if "Encoder" in head or "Model'" in head else -config["vocab_size"] * config["d_model"]
    return config["vocab_size"] if kind in TWO_BIASES and MASKED.search(head) else 0


TWO_BIASES = (
    "albert",
    "bert",
    "bert-generation",
    "camembert",
    "data2vec-text",
    "deberta-v2",
    "ernie",
    "jina_embeddings_v3",
    "megatron-bert",
    "mpnet",
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
)
MASKED = re.compile("MaskedLM|PreTraining|LMHead|CausalLM|Decoder'")


def changed(value: object) -> Iterator[Any]:
    """Yield other values of the same type, and null; a list or an object loses an entry."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, 2 * value, 0)
    elif isinstance(value, float):
        yield from (value / 2, value + 1)
    elif isinstance(value, str):
        yield from WORDS
    elif isinstance(value, list) and value:
        yield from (value[:-1], [*value[1:], value[0]], [*value, value[-1]])
    elif isinstance(value, dict) and "model_type" in value:
        fields = (field for field in value if field not in NAMES)
        yield from (value | {field: each} for field in fields for each in changed(value[field]))
    elif isinstance(value, dict) and value:
        yield from ({key: each for key, each in value.items() if key != left} for left in value)
    elif value is None:
        yield from (True, 2, 4, 0.5)
    if value is not None:
        yield None


def parameters_there(name: str, config: dict[str, Any]) -> int | None:
    """Return the number of parameters of the library's model, or None if the library refuses the configuration."""
    try:
        theirs = library_model(name, config)
    except Exception:  # whatever the library raises, it has no such model
        return None
    return sum(parameter.numel() for parameter in theirs.parameters())


def parameters_here(name: str, config: dict[str, Any]) -> int | None:
    """Return the number of parameters that are counted; None for a sentence that refuses, or says what is left out."""
    try:
        model = model_of(config, name)
    except ConfigError as error:
        assert "\n" not in str(error)
        return None
    if model.part == TEXT_ALONE:
        return None
    return int(sum(parameters_by_component(build(model.architecture)).values()).subs(model.values))


@pytest.mark.parametrize("name", FIRST)
def test_no_changed_field_gives_a_wrong_number(name: str, tmp_path: Path) -> None:
    sizes, name = FIRST[name], name.partition(" ")[0]
    library_model(name, sizes).config.save_pretrained(tmp_path)
    written = read_json(tmp_path)
    found: Counter[str] = Counter()
    for field, before in written.items():
        for value in changed(before) if field not in NAMES else ():
            config = written | {field: value}
            ours = parameters_here(name, config)
            if ours is None:
                found["refused"] += 1
                continue
            theirs = parameters_there(name, config)
            if theirs is None:
                found["refused there"] += 1
                continue
            assert ours + library_differs(config) == theirs, f"{field} = {value!r}"
            found["exact"] += 1
    print(name, dict(found))
    assert found["exact"] > 10


def test_every_family_is_changed() -> None:
    changed_types = {class_and_config(name.partition(" ")[0], sizes)[1].model_type for name, sizes in FIRST.items()}
    assert changed_types | {*JOINED} == set(FAMILIES)  # their language models are those of other families


def test_a_wrong_number_would_be_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A family that ignores the width of a head is found out by the change of that field."""
    here = parameters_here
    monkeypatch.setitem(
        globals(), "parameters_here", lambda name, config: here(name, {**config, "head_dim": FIRST[name]["head_dim"]})
    )
    with pytest.raises(AssertionError, match="head_dim"):
        test_no_changed_field_gives_a_wrong_number("ArceeForCausalLM", tmp_path)
