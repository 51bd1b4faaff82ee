"""Modules are left out of a collection where what they are written with is not installed."""

from importlib.util import find_spec

PEERS = ("torch", "jax")
collect_ignore = [] if all(map(find_spec, PEERS)) else ["accuracy.py", "accuracy_libraries.py", "accuracy_peers.py"]
collect_ignore += [] if find_spec("pytest_benchmark") else ["bench_judge.py"]
