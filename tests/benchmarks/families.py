"""Every model type of the library `transformers`: exact, wrong or refused, by `python -m tests.benchmarks.families`.

Definition   a type is exact in parameters, in components or in products if every compared model has as many as the
             library allocates or executes; wrong if one has not; refused if its configuration gets one sentence
Compared     the default configuration of the type, with few layers, of which nothing is stored (parameters, and their
             components); the small models that the tests hold (products of one pass, added up by PyTorch)
"""

import argparse
import logging
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is asked of a network

from derivations.architectures.components import parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.hugging_face import FAMILIES, model_of
from derivations.architectures.reading import ConfigError, read_json
from tests.benchmarks.timing import progress

__all__ = ["EXACT", "NONE", "REFUSED", "WRONG", "Row", "rows"]

EXACT, WRONG, REFUSED, NONE, PART = "exact", "wrong", "refused", "not compared", "a part"
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers")
FEW = 4
LONG = 260  # positions of a text with a picture
SIZES = (2, 9, 11)  # sequences, positions, positions of an encoder's input
Components = Mapping[str, int]


@dataclass(frozen=True)
class Row:
    """One model type: its three verdicts, and the sentence of a refusal or the first difference."""

    model_type: str
    parameters: str
    components: str = NONE
    products: str = NONE
    why: str = ""


def verdict(pairs: Sequence[tuple[object, object]]) -> str:
    """Return the verdict over counts, each with that of the library."""
    if not pairs:
        return NONE
    return EXACT if all(ours == theirs for ours, theirs in pairs) else WRONG


def refusal(config: Mapping[str, Any], name: str) -> str:
    """Return the sentence with which a configuration is refused, "" if it is read.

    Raises       AssertionError where the refusal is more than one line
    """
    try:
        model_of(config, name)
    except ConfigError as error:
        assert "\n" not in str(error), f"{name} is refused in several lines"
        return str(error)
    return ""


def components_here(config: Mapping[str, Any], name: str) -> Components:
    """Return the parameters of every component as they are counted."""
    model = model_of(config, name)
    counted = parameters_by_component(build(model.architecture))
    return {part: int(count.subs(model.values)) for part, count in counted.items()}


def default_model(model_type: str) -> tuple[dict[str, Any], Components] | str:
    """Return the library's default configuration as it writes it, and its components; or why there is no such model."""
    import torch
    import transformers

    from tests.numeric.verification.agreement.test_parameter_counts import library_components

    try:
        config = transformers.CONFIG_MAPPING[model_type]()
        for field in LAYERS:
            value = config.to_dict().get(field)
            if isinstance(value, int) and value > FEW and config.to_dict().get("layer_types") is None:
                setattr(config, field, FEW)
        named = [each for each in FAMILIES[model_type].heads if hasattr(transformers, each)]
        config.architectures = named[:1]
        with torch.device("meta"), TemporaryDirectory() as folder:
            theirs = getattr(transformers, named[0])(config)
            config.save_pretrained(folder)
            return read_json(Path(folder)), library_components(theirs)
    except Exception as error:  # whatever the library raises, it has no such model
        return f"the library makes no model of its default configuration: {type(error).__name__}"


def small_models(model_type: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield the small models of a type that the tests hold: a class, its changes, and whether components compare."""
    from tests.numeric.verification.agreement.test_executed_flops import MORE
    from tests.numeric.verification.agreement.test_parameter_counts import ODD, class_and_config

    for cases, sorted_out in ((ODD, True), (MORE, False)):
        for name, arguments in cases:
            if class_and_config(name, arguments)[1].model_type == model_type:
                yield name, arguments, sorted_out


def small_components(name: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], Components]:
    """Return a small model's configuration as the library writes it, and its components."""
    from tests.numeric.verification.agreement.test_parameter_counts import library_components, library_model

    theirs = library_model(name, arguments)
    with TemporaryDirectory() as folder:
        theirs.config.save_pretrained(folder)
        return read_json(Path(folder)), library_components(theirs)


def products(name: str, arguments: Mapping[str, Any]) -> tuple[int, int]:
    """Return the products of one pass, counted and executed."""
    import torch

    from tests.numeric.verification.agreement.small_families import MADE_OF_MODELS, RECURRENT
    from tests.numeric.verification.agreement.test_executed_flops import (
        beside_recurrences,
        executed,
        inputs,
        library,
        matmul,
        of_learned_query,
        of_other_experts,
        of_other_pairs,
        of_windows,
        tokens,
        with_picture,
    )

    theirs, model = library(name, arguments)
    batch, n, source = SIZES
    if (name, arguments) in RECURRENT:
        _, there = executed(theirs, tokens(batch, n), use_cache=False)
        return matmul(model, batch=batch, seq=n) + beside_recurrences(theirs, batch, n), there
    if (name, arguments) in MADE_OF_MODELS:
        given = with_picture(theirs, batch, LONG)
        with torch.no_grad():
            _, there = executed(theirs, **given)
        beside = of_learned_query(theirs.config.vision_config, batch)
        return matmul(model, batch=batch, seq=LONG) + beside, there
    _, there = executed(theirs, **inputs(name, theirs.config, batch, n, source))
    beside = of_learned_query(theirs.config, batch) + of_other_pairs(theirs.config, batch)
    beside += of_other_experts(theirs.config, batch, n) + of_windows(theirs, batch, n)[0]
    return matmul(model, batch=batch, seq=n, source=source) + beside, there


def row(model_type: str, here: Callable[[Mapping[str, Any], str], Components] = components_here) -> Row:
    """Return the verdicts about one type; `here` counts its components."""
    if model_type not in FAMILIES:
        return Row(model_type, REFUSED, why=refusal({"model_type": model_type}, model_type))
    compared: list[tuple[Components, Components]] = []
    why, default = "", default_model(model_type)
    if isinstance(default, str):
        why = default
    elif sentence := refusal(default[0], model_type):
        why = f"its default configuration: {sentence}"
    elif part := model_of(default[0], model_type).part:
        why = f"of its default configuration, {part} is counted"
    else:
        compared.append((here(default[0], model_type), default[1]))
    executed = []
    for name, arguments, sorted_out in small_models(model_type):
        if sorted_out:
            config, there = small_components(name, arguments)
            compared.append((here(config, name), there))
        executed.append(products(name, arguments))
    totals = [(sum(ours.values()), sum(theirs.values())) for ours, theirs in compared]
    if why.endswith("is counted") and not compared:
        return Row(model_type, PART, why=why)
    verdicts = (verdict(totals), verdict(compared), verdict(executed))
    if WRONG in verdicts:
        ours, theirs = next(pair for pair in [*compared, *executed] if pair[0] != pair[1])
        why = f"{ours} here, {theirs} there"
    return Row(model_type, *verdicts, why)


def rows(asked: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the verdicts about the types that are asked for, all of the library and of this package if none."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    for model_type in asked or sorted({*CONFIG_MAPPING_NAMES, *FAMILIES}):
        yield row(model_type)


def main() -> int:
    """Print the table of the types that are read, the refusals in number, and return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.families", description=__doc__.partition("\n")[0])
    parser.add_argument("types", nargs="*", metavar="TYPE", help="model types; all when left out")
    parser.add_argument("--refused", action="store_true", help="print the refused types, too, each with its sentence")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)  # the library's remarks about small sizes
    found: list[Row] = []
    print("| model type | parameters | components | products | |\n|---|---|---|---|---|")
    for each in rows(given.types):
        found.append(each)
        if each.parameters != REFUSED or given.refused:
            print(
                f"| {each.model_type} | {each.parameters} | {each.components} | {each.products} | {each.why} |",
                flush=True,
            )
            progress(each.model_type)
    print(f"\n{len(found)} model types:")
    for column in ("parameters", "components", "products"):
        counted = Counter(getattr(each, column) for each in found)
        print(f"{column}: " + ", ".join(f"{number} {word}" for word, number in sorted(counted.items())))
    in_all = sum((each.parameters, each.components, each.products) == (EXACT,) * 3 for each in found)
    print(f"exact in all three: {in_all}")
    return int(any(WRONG in (each.parameters, each.components, each.products) for each in found))


if __name__ == "__main__":
    raise SystemExit(main())
