"""What all tests share: the same random examples on every run, no clock, and what the judge says of each result.

A test is slow, and marked so, where it is one of these; each of them is shown in the fast tier by a few cases:
    it breaks what is right in many ways (mutants, near misses), or draws its inputs (fuzzing, random expressions);
    it goes through the whole catalogue by a second way: the cross-check, gradients of gradients, executed and
        allocated counts, round trips, source that is compiled for each result, other sizes, batches and seeds;
    it judges a corpus, as most tests of documents do, or fills limits on purpose to see that work ends;
    it takes more than a second of processor time, or needs a package of the extra `dev`.
What stays fast is what convinces a stranger: every result is proved, each refusal, layers against loops and closed
forms, the command line, the docs, the packaging. `tests/test_tiers.py` checks that no test is left out of all tiers.
"""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import tiers
from tests.evidence import shared

gc.set_threshold(50_000, 20, 100)  # trees of expressions hold no circles, and to look for some takes a quarter
# the workers of the test run share the cores: a second thread of PyTorch or MKL would only spin while it waits
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # it compiles each operation at each shape, once
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="derivations-cache-")  # no test reads what another run stored
os.environ["COLUMNS"] = "140"  # commands print as wide as into a file, whatever terminal the tests run in
settings.register_profile("same_every_time", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("same_every_time")
PEERS = ("torch", "jax", "onnx", "transformers", "safetensors")  # what the extra `peers` installs
MISSING_PEERS = [name for name in PEERS if find_spec(name) is None]


RUN = pytest.StashKey[Path]()  # the folder of this run


def pytest_configure(config: pytest.Config) -> None:
    """Give the run one folder: its first process makes it and tells the workers. Collect what its tier needs."""
    config.pluginmanager.register(tiers)
    told = getattr(config, "workerinput", {}).get("run")
    config.stash[RUN] = Path(told or tempfile.mkdtemp(prefix="derivations-run-"))
    (config.stash[RUN] / "evidence").mkdir(exist_ok=True)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker the folder of the run."""
    node.workerinput["run"] = str(node.config.stash[RUN])


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later search for garbage: it stays to the end."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder when the run ends, so that no other reads it."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(config.stash[RUN], ignore_errors=True)


@pytest.fixture(scope="session")
def run_folder(request: pytest.FixtureRequest) -> Path:
    """The folder that all workers of this run share, and that no other run reads."""
    return request.config.stash[RUN]


@pytest.fixture(scope="session", autouse=True)
def evidence_is_shared(run_folder: Path) -> Iterator[None]:
    """Let the judge decide each result of the catalogue once in the run."""
    from derivations.catalogue import names  # deferred: the process that starts the workers runs no test
    from derivations.language.judge import proof
    from derivations.language.results.derivation import RESULTS

    results = {name: RESULTS[name] for name in names()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proof, "_decided", shared(proof._decided, results, run_folder / "evidence"))
        yield


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
