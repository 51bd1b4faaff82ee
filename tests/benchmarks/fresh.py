"""A measurement in a fresh process: what it imports and keeps is its own."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["answer", "in_fresh_process"]

ROOT = Path(__file__).resolve().parent.parent.parent


def in_fresh_process(module: str, *arguments: Any) -> Any:
    """Return what a module of this folder answers when it is run with arguments.

    Raises       RuntimeError with what it wrote on standard error where it fails
    """
    command = [sys.executable, "-m", f"tests.benchmarks.{module}", *map(str, arguments)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    if ran.returncode:
        raise RuntimeError(f"`{' '.join(command)}` failed; run it alone to look into it:\n{ran.stderr}")
    return json.loads(ran.stdout)


def answer(measure: Callable[..., Any]) -> None:
    """Print what a function makes of the arguments of this process; whole numbers are handed over as such."""
    given = [int(each) if each.isdecimal() else each for each in sys.argv[1:]]
    print(json.dumps(measure(*given)))
