"""Python in the browser: Pyodide as npm installs it, and the package with what it imports, in archives.

The archives are made of what is installed here, unchanged, without tests. Pyodide itself, run once by Node.js, imports
what the pages ask for and puts the bytecode of it beside the sources: a browser then starts in half the time.

The first archive judges documents. Functions need NumPy, which the npm package lacks: where the wheel of Pyodide's full
distribution is beside it, the site ships that wheel, and a second archive of what else is imported then.

Source       Pyodide 0.29 (Python 3.13), https://pyodide.org, which the user installs: `npm install pyodide@0.29`; the
             wheel is in pyodide-0.29.x.tar.bz2, https://github.com/pyodide/pyodide/releases
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import files
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import derivations

__all__ = ["Pyodide", "pyodide_in"]

PROGRAM = Path(__file__).parent / "assets" / "python_archive.js"
LOCK = "pyodide-lock.json"
SHIPPED = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", LOCK, "python_stdlib.zip")
LEFT_OUT = frozenset({"tests", "benchmarks", "__pycache__"})
HOME = Path(derivations.__file__).parent.parent  # of the packages `derivations` and `numeric`
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the date of every file, so that an archive depends on what is in it alone
PLATFORMS = ("pyemscripten", "pyodide")  # what wheels of one ABI have been called


@dataclass(frozen=True)
class Contents:
    """What an archive holds: a package of ours, and installed distributions that are written in Python alone."""

    own: str
    packages: Sequence[str]


ARCHIVES = {
    "package": Contents("derivations", ("sympy", "mpmath", "markdown-it-py", "mdurl")),
    "functions": Contents("numeric", ("threadpoolctl",)),  # beside the first one
}


@dataclass(frozen=True)
class Pyodide:
    """Node.js, the folder of the npm package pyodide, and the wheel of NumPy for it, if there is one."""

    node: str
    folder: Path
    numpy: Path | None = None

    def files(self) -> dict[str, bytes]:
        """Return Pyodide, NumPy and the archives of the package by their paths in a site.

        Raises       ValueError where Pyodide does not run
        """
        found = {name: (self.folder / name).read_bytes() for name in SHIPPED}
        names = ARCHIVES if self.numpy else ("package",)
        sources = {name: archive(ARCHIVES[name]) for name in names}
        bytecode = self._bytecode(sources)
        found |= {f"{name}.zip": _added(packed, bytecode[name]) for name, packed in sources.items()}
        if self.numpy:
            found["numpy.whl"] = self.numpy.read_bytes()
        return {f"assets/pyodide/{name}": content for name, content in found.items()}

    def _bytecode(self, sources: dict[str, bytes]) -> dict[str, bytes]:
        with TemporaryDirectory() as folder:
            for name, packed in sources.items():
                Path(folder, f"{name}.zip").write_bytes(packed)
            if self.numpy:
                Path(folder, "numpy.whl").write_bytes(self.numpy.read_bytes())
            command = [self.node, str(PROGRAM), str(self.folder), folder]
            answer = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
            if answer.returncode != 0:
                last = answer.stderr.strip().splitlines()[-1:]
                raise ValueError(f"Pyodide in {self.folder} does not run: {''.join(last)}; install it again")
            return {name: Path(folder, f"{name}.bytecode.zip").read_bytes() for name in sources}


def pyodide_in(node: str, folder: Path) -> Pyodide:
    """Return Pyodide as installed in `folder`/node_modules, with the wheel of NumPy in `folder` or beside its files.

    Raises       ValueError that says what to install where it is absent, or where the wheel is for another Python
    """
    package = folder / "node_modules" / "pyodide"
    if not all((package / name).is_file() for name in SHIPPED):
        raise ValueError(f"Pyodide 0.29 is not in {folder / 'node_modules'}: run `npm install pyodide@0.29` there")
    wheels = sorted([*folder.glob("numpy-*.whl"), *package.glob("numpy-*.whl")])
    return Pyodide(node, package.resolve(), _fitting(wheels, package / LOCK) if wheels else None)


def _fitting(wheels: Sequence[Path], lock: Path) -> Path:
    """Return the wheel that the Pyodide of a lock file can load."""
    known = json.loads(lock.read_text(encoding="utf-8"))
    told = known["info"]
    python = "cp" + "".join(told["python"].split(".")[:2])
    tags = {f"{python}-{python}-{platform}_{told['abi_version']}_{told['arch']}" for platform in PLATFORMS}
    fitting = [wheel for wheel in wheels if "-".join(wheel.stem.split("-")[-3:]) in tags]
    if not fitting:
        wanted = known["packages"]["numpy"]["file_name"]
        raise ValueError(
            f"{wheels[0].name} is not for this Pyodide: it takes {wanted}, of the ABI {told['abi_version']}"
        )
    return fitting[-1]


def _added(archive: bytes, other: bytes) -> bytes:
    """Return an archive with the files of another, compressed."""
    buffer = BytesIO(archive)
    with ZipFile(buffer, "a", ZIP_DEFLATED) as packed, ZipFile(BytesIO(other)) as given:
        for name in given.namelist():
            packed.writestr(ZipInfo(name, LONG_AGO), given.read(name), ZIP_DEFLATED)
    return buffer.getvalue()


def archive(contents: Contents) -> bytes:
    """Return a package of ours, and the packages that it imports, as a zip archive."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as packed:
        for name, path in sorted((*_own(contents.own), *_installed(contents.packages))):
            packed.writestr(ZipInfo(name, LONG_AGO), path.read_bytes(), ZIP_DEFLATED)
    return buffer.getvalue()


def _own(package: str) -> Iterator[tuple[str, Path]]:
    for path in (HOME / package).rglob("*"):
        name = path.relative_to(HOME)
        if path.is_file() and "__pycache__" not in name.parts:
            yield name.as_posix(), path


def _installed(packages: Iterable[str]) -> Iterator[tuple[str, Path]]:
    for package in packages:
        for found in files(package) or ():
            if found.suffix == ".py" and not LEFT_OUT.intersection(found.parts) and ".." not in found.parts:
                yield found.as_posix(), Path(str(found.locate()))
