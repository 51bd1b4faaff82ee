"""The command that proves a function of a user's file: lifted into equations, and judged against a layer."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from derivations.cli import completion
from derivations.cli.own_modules import function_called, layer_called
from derivations.cli.shared import clean_errors

if TYPE_CHECKING:
    from numeric.lifting import Lifted, Verdict

__all__ = ["prove_command"]

FORMATS = ("text", "latex", "markdown")


@click.command("prove", short_help="Prove that a function is a layer.")
@click.argument("function", metavar="FILE:FUNCTION", shell_complete=completion.files)
@click.argument("layer", required=False, shell_complete=completion.layers)
@click.option("--names", multiple=True, metavar="MINE=LAYER'S", help="A parameter, and the array that it is.")
@click.option("--shape", "shapes", multiple=True, metavar="X=n,d", help="The sizes of an argument.")
@click.option("--or-tested", is_flag=True, help="Test what is not proved; exit 0 if no test fails.")
@click.option("--show", is_flag=True, help="Print the equations of the function.")
@click.option("--format", "form", type=click.Choice(FORMATS), default=None, help="Of --show.  [default: text]")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as an object.")
@clean_errors
def prove_command(
    function: str,
    layer: str | None,
    names: tuple[str, ...],
    shapes: tuple[str, ...],
    or_tested: bool,
    show: bool,
    form: str | None,
    as_json: bool,
) -> None:
    r"""Prove that a function over NumPy, PyTorch or JAX arrays is a layer, for all sizes.

    FILE:FUNCTION is a file of Python and a function or module in it, or module:name; it is imported, which runs it.
    LAYER is a layer of the catalogue or of a module of yours. Exit 0 if it is proved, 1 if not, 2 for bad input.

    \b
    derivations prove model.py:attention scaled_dot_product_attention
    derivations prove model.py:norm layer_norm --names scale=gamma
    derivations prove model.py:scores --show --shape Q=n,d_k --shape K=m,d_k
    """
    if layer is None and not show:
        raise ValueError("name a layer to compare with, such as softmax, or ask for the equations with --show")
    if form and not show:
        raise ValueError("--format is that of --show")
    if as_json and show:
        raise ValueError("choose --json or --show")
    from derivations.language.arrays.shapes import shape_called

    given = {name: shape_called(sizes) for name, sizes in map(_pair, shapes)}
    found = function_called(function)
    if layer is None:
        _print_lifted(_lifted(found, given), form)
        return
    verdict = _verdict(found, layer_called(layer), dict(map(_pair, names)), given, or_tested)
    if show and verdict.lifted is not None:
        _print_lifted(verdict.lifted, form)
    click.echo(json.dumps(verdict.json(), indent=2, ensure_ascii=False) if as_json else str(verdict))
    if verdict.level not in ("proved", "tested"):
        sys.exit(1)


def _pair(text: str) -> tuple[str, str]:
    """Return both sides of `name=value`."""
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise ValueError(f"{text!r} is no pair: write it as name=value")
    return name, value


def _lifted(function: Callable[..., Any], shapes: Mapping[str, Any]) -> "Lifted":
    from numeric.lifting import NotFollowed, lift

    try:
        return lift(function, **shapes)
    except NotFollowed as refusal:
        click.echo(f"not followed: {refusal}", err=True)
        sys.exit(1)
    except TypeError as error:  # an argument without a shape
        raise ValueError(f"{error}: give the sizes of each argument, as in --shape x=n,d") from error


def _print_lifted(lifted: "Lifted", form: str | None) -> None:
    click.echo(str(lifted) if form in (None, "text") else getattr(lifted, str(form))())


def _verdict(
    function: Callable[..., Any], layer: Any, names: Mapping[str, str], shapes: Mapping[str, Any], or_tested: bool
) -> "Verdict":
    from numeric.lifting import Verdict, by_tests, prove

    verdict = prove(function, layer, names, **shapes)
    if not or_tested or verdict.level in ("proved", "refuted"):
        return verdict
    try:
        return by_tests(function, layer, verdict)
    except AssertionError as failure:
        return Verdict("refuted", verdict.function, verdict.target, reason=str(failure), lifted=verdict.lifted)
