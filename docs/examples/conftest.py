"""The tests of the example are slow as a whole; what docs/your_own.md says of the example runs in the fast tier."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is collected here, whose file is shown as a user would write it."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("slow")
