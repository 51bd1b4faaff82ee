r"""User-defined notations, read from a TOML file.

[names]                          # our name = the author's LaTeX; functions and layers too
W_Q = "W_Q^{(#)}"                # the # is replaced by the index of the head
n = "L"

[own]                            # names, functions and layers of your own modules, which are not checked
squareplus = "S_+"

[layers.feed_forward]            # names that hold in one layer only
H = "z_1"

[options]                        # each is optional
base = "vaswani"                 # the notation that the file changes, by default "ours"
transpose = "T"                  # the superscript of a transpose
columns = true                   # vectors are columns: products are written in the reverse order
first_index = 1                  # printed indices count from 1 or 0
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from derivations.language.printing.letters import GREEK, NotationError, parse_name
from derivations.language.printing.notation import NOTATIONS, Notation, notation

__all__ = ["KNOWN_NAMES", "NAMES", "notation_called", "read_notation"]

NAMES = Path(__file__).with_name("names.txt")  # the letters of all layers; `python -m docs.build` writes it
_OTHERS = {
    "i",
    "j",
    "k",
    "l",
    "pos",
    "batch",
    "M_memory",
    "source_visible",
    "target_visible",
}  # indices, masks of models
KNOWN_NAMES = _OTHERS | frozenset(NAMES.read_text(encoding="utf-8").split())
_KINDS = {"base": str, "transpose": str, "columns": bool, "first_index": int}
_IN_WORDS = {str: "a text in quotation marks", bool: "true or false", int: "a number", dict: "a table"}


def read_notation(path: Path | str) -> Notation:
    """Read a notation from a TOML file; it is named after the file.

    Raises `NotationError`, one sentence, for a file that cannot be read, an unknown name or option, or a bad value.
    """
    path = Path(path)
    try:
        return _notation(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise NotationError(f"the notation file {path} cannot be read as UTF-8 text: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise NotationError(f"the notation file {path} is not TOML: {error}") from error
    except NotationError as error:
        raise NotationError(f"the notation file {path}: {error}") from error


def notation_called(name: str) -> Notation:
    """Return the built-in notation of that name, or the one in the TOML file of that name.

    Raises `NotationError`, one sentence, if neither exists.
    """
    return read_notation(name) if name.endswith(".toml") or Path(name).is_file() else notation(name)


def _notation(name: str, table: Mapping[str, Any]) -> Notation:
    _only("section", table, ("names", "own", "layers", "options"))
    for section in table:
        _typed(section, table[section], dict)
    names, own, layers, options = (dict(table.get(each, {})) for each in ("names", "own", "layers", "options"))
    for layer in layers:
        _typed(layer, layers[layer], dict)
        _known("layer", layer, NOTATIONS["ours"].functions)
    for letters in (names, own, *layers.values()):
        for name_of_ours, latex in letters.items():
            _typed(name_of_ours, latex, str)
            if letters is not own:
                _known("name", name_of_ours, KNOWN_NAMES | set(NOTATIONS["ours"].functions))
    _options(options)
    base = NOTATIONS[options.pop("base", "ours")]
    return base.changed(name, names | own, layers, **options)


def _options(options: Mapping[str, Any]) -> None:
    _only("option", options, tuple(_KINDS))
    for option, value in options.items():
        _typed(option, value, _KINDS[option])
    if options.get("first_index", 1) not in (0, 1):
        raise NotationError(f"first_index must be 0 or 1, not {options['first_index']}")
    if options.get("base", "ours") not in NOTATIONS:
        raise NotationError(f"base must be one of {', '.join(NOTATIONS)}, not {options['base']!r}")
    if "transpose" in options and (parse_name(options["transpose"]).sub or parse_name(options["transpose"]).sup):
        raise NotationError(f"transpose must be one letter or sign, not {options['transpose']!r}")


def _typed(entry: str, value: Any, kind: type) -> None:
    # Python counts true as the integer 1
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise NotationError(f"{entry} must be {_IN_WORDS[kind]}, not {value!r}")


def _only(what: str, table: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    for entry in table:
        if entry not in allowed:
            raise NotationError(f"there is no {what} {entry!r}; there are {', '.join(allowed)}")


def _known(what: str, name: str, known: Iterable[str]) -> None:
    candidates = sorted(known)
    if name in candidates or (what == "name" and (name in GREEK or re.fullmatch("[A-Za-z](_?[0-9])?", name))):
        return
    alike = [each for each in candidates if each.lower() == name.lower()]
    near = alike or get_close_matches(name, candidates, n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(candidates)}"
    if what == "name":
        advice += "; names of your own modules stand in [own]"
    raise NotationError(f"there is no {what} called {name!r}; {advice}")
