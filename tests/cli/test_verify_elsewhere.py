"""Verification by workers that joblib finds elsewhere, a local Dask cluster here, says what this process says."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import joblib
import pytest

from derivations.catalogue import verify

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow  # Dask comes with the extra `dev`
FEW = ["softmax.jacobian", "attention.scores", "layer_norm.mean", "dot_product.variance"]


def cluster() -> str:
    """Return a program that verifies the few on a Dask cluster of two processes and prints what it finds."""
    return textwrap.dedent(
        f"""
        import joblib, os
        from distributed import Client, LocalCluster
        from derivations.catalogue import verify

        if __name__ == "__main__":
            with (
                LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True) as workers,
                Client(workers) as client,
                joblib.parallel_config(backend="dask"),
            ):
                for verdict in verify({FEW!r}, jobs=None):
                    print(verdict.id, verdict.level, verdict.cross_check)
                loaded = client.run(lambda: "derivations.catalogue" in __import__("sys").modules)
                print("workers that were used:", sum(loaded.values()))
        """
    )


def test_a_dask_cluster_says_the_same(tmp_path):
    program = tmp_path / "sweep.py"
    program.write_text(cluster(), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    *verdicts, workers = ran.stdout.splitlines()
    assert verdicts == [f"{v.id} {v.level} {v.cross_check}" for v in verify(FEW)]
    assert workers in ("workers that were used: 1", "workers that were used: 2")


def test_the_surrounding_configuration_is_used():
    """`jobs=None` leaves the workers to the configuration: threads of this process see what this process registered."""
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert [v.id for v in verify(FEW[:2], jobs=None)] == FEW[:2]


def test_verdicts_come_in_the_order_asked_for():
    assert [v.id for v in verify(FEW[::-1], jobs=2)] == FEW[::-1]


def _children(listed: Path) -> int:
    """How many processes a thread has started; any thread of joblib may start them."""
    try:
        return len(listed.read_text(encoding="utf-8").split())
    except OSError:  # the thread has ended
        return 0


GENERATED = 'exec("raise KeyboardInterrupt")'  # as a dataclass is made: the exit would be that of a killed process
FINALISER = """
    class Left:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)
    Left()
    time.sleep(60)"""  # what a finaliser raises is only reported


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("where", [GENERATED, FINALISER], ids=["generated code", "a finaliser"])
def test_an_interruption_is_one_wherever_it_comes(where, tmp_path, repository):
    script = f"""import signal, time
from derivations import cli
def interrupted(**options):
    {where}
cli.cli = interrupted
cli.main()
"""
    (tmp_path / "interrupted.py").write_text(script, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(repository)])
    ended = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
        timeout=30,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (130, "derivations: stopped\n")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="sees the workers through /proc")
@pytest.mark.parametrize("wait", [0, 0.01, 0.02, 0.05, 0.2])
def test_an_interruption_leaves_one_sentence(wait):
    """Ctrl-C during `verify --jobs 2`: exit code 130, one sentence, no trace of a worker, also while they start."""
    running = subprocess.Popen(
        [sys.executable, "-m", "derivations.cli", "verify", "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    threads = Path(f"/proc/{running.pid}/task")
    while running.poll() is None and sum(map(_children, threads.glob("*/children"))) < 2:
        time.sleep(0.002)
    time.sleep(wait)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130, err
    assert err.strip().endswith("derivations: stopped")
    assert "Traceback" not in err and out == ""
