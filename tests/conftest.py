"""What all tests share: the same random examples on every run, and no clock."""

import os
import signal
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the workers of the test run share the cores
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="derivations-cache-")  # no test reads what another run stored
settings.register_profile("same_every_time", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("same_every_time")
PEERS = ("torch", "jax", "onnx", "transformers", "safetensors")  # what the extra `peers` installs
MISSING_PEERS = [name for name in PEERS if find_spec(name) is None]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what compares with an implementation written elsewhere where none is installed."""
    if MISSING_PEERS and item.get_closest_marker("peers"):
        pytest.skip(f"the extra `peers` is not installed: {', '.join(MISSING_PEERS)}")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C reach this process and those it starts, also where the run itself ignores it (in the background)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
