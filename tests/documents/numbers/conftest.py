"""The tests in this folder ask what a check finds, before the policy says what a reader is told of it."""

import pytest


@pytest.fixture(autouse=True)
def as_it_is_found(before_the_policy: None) -> None:
    """Take the policy away."""
