"""Python in the browser: Pyodide as npm installs it, and the package with what it imports, as one archive.

The archive is made of what is installed here, unchanged, without tests. Pyodide itself, run once by Node.js, imports
what the pages ask for and puts the bytecode of it beside the sources: a browser then starts in half the time.

Source       Pyodide 0.29 (Python 3.13), https://pyodide.org, which the user installs: `npm install pyodide@0.29`
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import files
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import derivations

__all__ = ["Pyodide", "pyodide_in"]

PROGRAM = Path(__file__).parent / "assets" / "python_archive.js"
SHIPPED = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip")
PACKAGES = ("sympy", "mpmath", "markdown-it-py", "mdurl")  # that the judge imports; all are written in Python alone
LEFT_OUT = frozenset({"tests", "benchmarks", "__pycache__"})
PACKAGE = Path(derivations.__file__).parent
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the date of every file, so that an archive depends on what is in it alone


@dataclass(frozen=True)
class Pyodide:
    """Node.js, and the folder of the npm package pyodide."""

    node: str
    folder: Path

    def files(self) -> dict[str, bytes]:
        """Return Pyodide and the archive of the package by their paths in a site.

        Raises       ValueError where Pyodide does not run
        """
        shipped = {f"assets/pyodide/{name}": (self.folder / name).read_bytes() for name in SHIPPED}
        sources = archive()
        return {**shipped, "assets/pyodide/package.zip": _added(sources, self._bytecode(sources))}

    def _bytecode(self, sources: bytes) -> bytes:
        with TemporaryDirectory() as folder:
            before, after = Path(folder, "before.zip"), Path(folder, "after.zip")
            before.write_bytes(sources)
            command = [self.node, str(PROGRAM), str(self.folder), str(before), str(after)]
            answer = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
            if answer.returncode != 0:
                last = answer.stderr.strip().splitlines()[-1:]
                raise ValueError(f"Pyodide in {self.folder} does not run: {''.join(last)}; install it again")
            return after.read_bytes()


def pyodide_in(node: str, folder: Path) -> Pyodide:
    """Return Pyodide as installed in `folder`/node_modules.

    Raises       ValueError that says what to install where it is absent
    """
    package = folder / "node_modules" / "pyodide"
    if not all((package / name).is_file() for name in SHIPPED):
        raise ValueError(f"Pyodide 0.29 is not in {folder / 'node_modules'}: run `npm install pyodide@0.29` there")
    return Pyodide(node, package.resolve())


def _added(archive: bytes, other: bytes) -> bytes:
    """Return an archive with the files of another, compressed."""
    buffer = BytesIO(archive)
    with ZipFile(buffer, "a", ZIP_DEFLATED) as packed, ZipFile(BytesIO(other)) as given:
        for name in given.namelist():
            packed.writestr(ZipInfo(name, LONG_AGO), given.read(name), ZIP_DEFLATED)
    return buffer.getvalue()


def archive() -> bytes:
    """Return the package, and the packages that the judge imports, as a zip archive."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as packed:
        for name, path in sorted(_sources()):
            packed.writestr(ZipInfo(name, LONG_AGO), path.read_bytes(), ZIP_DEFLATED)
    return buffer.getvalue()


def _sources() -> Iterator[tuple[str, Path]]:
    for path in PACKAGE.rglob("*"):
        name = path.relative_to(PACKAGE.parent)
        if path.is_file() and "__pycache__" not in name.parts:
            yield name.as_posix(), path
    for package in PACKAGES:
        for found in files(package) or ():
            if found.suffix == ".py" and not LEFT_OUT.intersection(found.parts) and ".." not in found.parts:
                yield found.as_posix(), Path(str(found.locate()))
