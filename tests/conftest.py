"""What all tests share: the same random examples on every run, and no clock."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the workers of the test run share the cores
settings.register_profile("same_every_time", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("same_every_time")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parent.parent
