"""The settings of the check of documents, from the table `[tool.derivations.check]` of a TOML file.

Definition   ignore            ids of checks ("shapes") or of results ("softmax.jacobian") whose findings are left out
             per-file-ignores  the same for the files that a pattern fits
             exclude           patterns of files to pass over in folders
             convention        "rows" (x W) or "columns" (W x)
             symbols           what letters mean: sizes "n x d_model", a number "8", "= d_model / h", or words
             functions         names to be read as functions
Result       the table that counts for a file is that of the nearest pyproject.toml above it that has one
Assumes      patterns are relative to the folder of the TOML file, * crosses folders, and a pattern without a slash
             also fits the name of a file
Raises       ValueError with what to write, for a file that is no TOML, an unknown key or a value of another kind
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal

__all__ = ["Settings", "configuration", "names_finding", "read_settings", "settings_near"]

TABLE = "tool.derivations.check"
CONVENTIONS = ("rows", "columns")
_NUMBER = re.compile(r"[0-9][0-9,_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_TIMES = re.compile(r"\s*(?:×|\\times|(?<=\s)x(?=\s))\s*")


@dataclass(frozen=True)
class Settings:
    """The settings of one table. `folder` is the folder of its file."""

    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    convention: Literal["rows", "columns"] | None = None
    symbols: tuple[tuple[str, str], ...] = ()
    functions: frozenset[str] = frozenset()
    folder: Path = Path()

    def ignored(self, file: Path) -> tuple[str, ...]:
        """Return the ids whose findings are left out in a file."""
        own = (name for pattern, names in self.per_file_ignores if self._fits(file, pattern) for name in names)
        return tuple(dict.fromkeys((*self.ignore, *own)))

    def excludes(self, file: Path) -> bool:
        """Return whether a file that was found in a folder is passed over."""
        return any(self._fits(file, pattern) for pattern in self.exclude)

    def _fits(self, file: Path, pattern: str) -> bool:
        whole, folder = file.resolve(), self.folder.resolve()
        path = whole.relative_to(folder) if whole.is_relative_to(folder) else whole
        return fnmatchcase(path.as_posix(), pattern) or ("/" not in pattern and fnmatchcase(path.name, pattern))

    def preamble(self) -> str:
        r"""Return the symbols as an author would declare them in Markdown, so that one reader reads both.

        Result       `$X \in \mathbb{R}^{n \times d_{model}}$` of sizes, `$h = 8$` of a number, `where $d$ is the head
                     width` of words
        """
        return "\n\n".join(_declaration(_latex(name), meaning) for name, meaning in self.symbols)


def names_finding(names: Iterable[str], check: str, result: str | None) -> bool:
    """Return whether one of the ids names a finding: its check, its result, or a part of these before a dot."""
    known = [each for each in (check, result) if each]
    return any(each == name or each.startswith(f"{name}.") for name in names for each in known)


def _latex(name: str) -> str:
    r"""Return a name as LaTeX has it: `d_model` as `d_{model}`."""
    return re.sub(r"([_^])([A-Za-z0-9]{2,})", r"\1{\2}", name)


def _declaration(name: str, meaning: str) -> str:
    sizes = [_latex(size) for size in _TIMES.split(meaning.strip("()[] "))]
    if meaning.startswith("="):
        return f"${name} = {_latex(meaning[1:].strip())}$"
    if _NUMBER.fullmatch(meaning):
        return f"${name} = {meaning.replace('_', '')}$"
    if len(sizes) > 1:
        product = r" \times ".join(sizes)
        return rf"${name} \in \mathbb{{R}}^{{{product}}}$"
    return f"where ${name}$ is the {meaning}."


# --- reading the table ---


def settings_near(folder: Path) -> Settings:
    """Return the settings of the nearest pyproject.toml with the table, in a folder or above it, else the defaults."""
    whole = folder.resolve()
    for above in (whole, *whole.parents):
        path = above / "pyproject.toml"
        if path.is_file() and (table := _table(path)) is not None:
            return _settings(table, path)
    return Settings(folder=whole)


def read_settings(path: Path) -> Settings:
    """Return the settings of one TOML file, which must have the table."""
    table = _table(path)
    if table is None:
        raise ValueError(f"{path} has no table [{TABLE}]: write the settings under that head")
    return _settings(table, path)


def configuration(file: Path | None = None, ignore: Iterable[str] = ()) -> Callable[[Path], Settings]:
    """Return the function that gives the settings of a folder: those of one file if it is given, else the nearest.

    `ignore` are further ids to leave out everywhere. Each folder is looked up once.
    """
    fixed = None if file is None else read_settings(file)

    @cache
    def settings(folder: Path) -> Settings:
        found = fixed or settings_near(folder)
        return replace(found, ignore=(*found.ignore, *ignore))

    return settings


def _table(path: Path) -> Any:
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read as TOML: {error}") from error
    for key in TABLE.split("."):
        if not isinstance(table, dict) or key not in table:
            return None
        table = table[key]
    return table


def _settings(table: Any, path: Path) -> Settings:
    where = f"{path}, [{TABLE}]"
    if not isinstance(table, dict):
        raise ValueError(f"{where} must be a table of settings")
    known = {each.name.replace("_", "-"): each.name for each in fields(Settings) if each.name != "folder"}
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            near = get_close_matches(key, known, 1)
            raise ValueError(f"{where}: there is no setting {key!r}; {_meant(near, known)}")
        values[known[key]] = _READ[key](value, f"{where}: {key}")
    return Settings(folder=path.parent, **values)


def _meant(near: list[str], known: Iterable[str]) -> str:
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
        raise ValueError(f'{where} must be a list of texts, such as ["shapes"]')
    return tuple(each.strip() for each in value)


def _names(value: Any, where: str) -> frozenset[str]:
    return frozenset(_texts(value, where))


def _convention(value: Any, where: str) -> Literal["rows", "columns"]:
    if value not in CONVENTIONS:
        raise ValueError(f'{where} must be "rows" (x W) or "columns" (W x), not {value!r}')
    return "rows" if value == "rows" else "columns"


def _symbols(value: Any, where: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ValueError(f'{where} must be a table of letters and meanings, such as {{ d = "head width" }}')
    pairs = tuple((name.strip(), _meaning(each, f"{where}.{name}")) for name, each in value.items())
    for name, meaning in pairs:
        if not name or not meaning or any(sign in name + meaning for sign in "$`\r\n"):
            raise ValueError(f"{where}.{name} must be one line without $ and `")
    return pairs


def _meaning(value: Any, where: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ValueError(f'{where} must be sizes "n x d_model", a number, "= d_model / h", or words "head width"')
    return value.strip()


def _per_file(value: Any, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError(f'{where} must be a table of patterns and ids, such as {{ "drafts/*" = ["shapes"] }}')
    return tuple((pattern, _texts(names, f"{where}.{pattern!r}")) for pattern, names in value.items())


_READ: dict[str, Callable[[Any, str], Any]] = {
    "ignore": _texts,
    "per-file-ignores": _per_file,
    "exclude": _texts,
    "convention": _convention,
    "symbols": _symbols,
    "functions": _names,
}
