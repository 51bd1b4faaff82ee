"""What the figures were measured with: processor, cores, memory, libraries, the threads of each."""

import datetime
import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

__all__ = ["cores", "described", "require_all_cores"]

LIBRARIES = ("numpy", "scipy", "sympy", "torch", "jax", "jaxlib", "transformers")
SET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS")  # they may hold products back
VECTORS = ("avx512f", "avx2", "avx", "asimd")  # the widest vector instructions are named


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def require_all_cores() -> None:
    """Refuse to measure where a library has fewer or more threads than there are cores.

    Raises       RuntimeError, naming the library
    """
    import threadpoolctl
    import torch

    # threads of ours call oneMKL, which has one for each of them
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["internal_api"] != "mkl"]
    threads = {pool["filepath"]: pool["num_threads"] for pool in pools}
    threads["torch"] = torch.get_num_threads()
    for name, number in threads.items():
        if number != cores():
            raise RuntimeError(
                f"{name} has {number} threads for {cores()} cores; unset OPENBLAS_NUM_THREADS, OMP_NUM_THREADS and "
                "MKL_NUM_THREADS, so that every contestant has all cores"
            )


def described(rounds: int) -> dict[str, Any]:
    """Return the date, the number of rounds, and a description of hardware and software."""
    import threadpoolctl
    import torch

    found = threadpoolctl.threadpool_info()
    pools = sorted((pool for pool in found if pool["user_api"] == "blas"), key=lambda pool: pool["version"])
    blas = ", ".join(
        f"{p['internal_api']} {p['version']} ({p.get('architecture', 'kernels not told')}, {p['num_threads']})"
        for p in pools
    )
    held = ", ".join(f"{name}={value}" for name, value in sorted(os.environ.items()) if name in SET)
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "rounds": rounds,
        "processor": _processor(),
        "cores": cores(),
        "memory in GiB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        **({"set for BLAS": held} if held else {}),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "libraries": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES),
        "BLAS of NumPy and SciPy (kernels, threads)": blas,
        "threads of PyTorch": torch.get_num_threads(),
        "load before": round(os.getloadavg()[0], 2),
    }


def _processor() -> str:
    """Return the processor's name, and the widest vector instructions it has."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines) if value}
    flags = facts.get("flags", facts.get("Features", "")).split()
    widest = next((name for name in VECTORS if name in flags), "no vector instructions named")
    return f"{facts.get('model name', platform.processor() or 'unknown')}, {widest}"
