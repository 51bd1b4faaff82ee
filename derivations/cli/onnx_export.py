"""The output of `derivations export LAYER --onnx FILE`: a layer, or a checkpoint of a model, as an ONNX file."""

from pathlib import Path
from typing import Any

import click

from derivations.cli.optimised import print_rewritings
from derivations.cli.own_modules import layer_called
from derivations.documents.choices import size_of

__all__ = ["write_onnx_file"]


def write_onnx_file(
    name: str,
    file: str,
    settings: tuple[str, ...],
    optimized: bool,
    explain: bool,
    external: bool,
    operators: tuple[str, ...],
) -> None:
    """Write the ONNX file of a layer, or of the model whose checkpoint is in a folder.

    Raises       ValueError where a size is not understood or a package is missing; the errors of `to_onnx`
    """
    # the numeric side is needed for this command alone
    from numeric.exchange.export import to_onnx, write_onnx
    from numeric.models.load import load
    from numeric.optimize.engine import FOR_OWN_CODE

    if explain and not optimized:
        raise ValueError("--explain lists the rewritings of the optimised layer: add --optimized")
    is_model = (Path(name) / "config.json").is_file()
    subject: Any = load(name) if is_model else layer_called(name)
    try:
        model = to_onnx(subject, sizes=dict(map(size_of, settings)), optimized=optimized, operators=operators)
    except ImportError as error:
        raise ValueError(str(error)) from error
    if explain:
        print_rewritings(subject.layer if is_model else subject, tuple(FOR_OWN_CODE), as_json=False)
    files = write_onnx(model, file, external=external or None)
    inputs = [each.name for each in model.graph.input]
    shown = ", ".join(inputs[:8]) + (f" and {len(inputs) - 8} more" if len(inputs) > 8 else "")
    click.echo(f"{len(model.graph.node)} nodes in {' and '.join(map(str, files))}; inputs {shown}", err=True)
