"""The text on which the main job runs: a window of bytes from a file, or from the package's own description.

Definition   the window is the first 512 bytes of a text in UTF-8, or all of a shorter one
Assumes      the first MiB of a file shows whether it is text or binary
"""

from codecs import getincrementaldecoder
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

__all__ = ["WINDOW", "read_window"]

WINDOW = 512
LOOKED_AT = 2**20
PACKAGE = "derivations"


def read_window(file: Path | None) -> bytes:
    """Return the window of a text file, or of the package's description where no file is given.

    Raises       OSError where the file cannot be read, ValueError where it is empty or not text in UTF-8
    """
    if file is None:
        return _window(_description(), "the package's description")
    try:
        with file.open("rb") as stream:
            data = stream.read(LOOKED_AT)
            whole = not stream.read(1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(f"{file} cannot be read ({reason}): give a text file in UTF-8") from error
    return _window(data, str(file), whole)


def _window(data: bytes, origin: str, whole: bool = True) -> bytes:
    if not data:
        raise ValueError(f"{origin} is empty: give a text of at least one byte")
    if b"\0" in data:
        raise ValueError(f"{origin} holds a NUL byte at {data.index(0)}, so it is not text: give a text file in UTF-8")
    try:
        getincrementaldecoder("utf-8")().decode(data, final=whole)
    except UnicodeDecodeError as error:
        raise ValueError(f"{origin} is not UTF-8 at byte {error.start}: give a text file in UTF-8") from None
    return data[:WINDOW]


def _description() -> bytes:
    try:
        text = metadata(PACKAGE)["Description"]
    except PackageNotFoundError:
        text = None
    if not text:
        raise ValueError(f"the package {PACKAGE} is not installed with a description: name a text file to run on")
    return str(text).encode("utf-8")
