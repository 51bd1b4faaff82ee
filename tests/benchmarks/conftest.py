"""Modules that are written with the peers are left out of a collection where the peers are not installed."""

from importlib.util import find_spec

needed = ("torch", "jax")
collect_ignore = [] if all(map(find_spec, needed)) else ["accuracy.py", "accuracy_libraries.py", "accuracy_peers.py"]
